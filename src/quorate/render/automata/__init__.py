"""Automata of temporal formulas: as a picture, and in the HOA format."""
