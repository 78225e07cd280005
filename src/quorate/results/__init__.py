"""What a check found: results and runs, as data."""
