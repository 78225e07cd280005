"""Runs in the forms of other tools. The name of a file says which form it has."""
