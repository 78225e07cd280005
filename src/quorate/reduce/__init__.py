"""The reductions."""
