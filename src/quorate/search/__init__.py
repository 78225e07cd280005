"""Searches: how a verdict is reached, and what it looks like."""
