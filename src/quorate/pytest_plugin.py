"""Under pytest, a check that does not hold fails with its counterexample."""
