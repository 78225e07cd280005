"""A system made ready to run."""
