"""Temporal formulas: their language, their automata, and what they say of a run."""
