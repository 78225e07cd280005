"""Other model checkers on the same instances: getting them, their models of our protocols, running them."""
