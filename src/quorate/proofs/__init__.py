"""Proofs of invariants for unboundedly many states, by induction over the handlers as they are written."""
