"""Protocols in the grain of the thesis' Murphi models, for the comparison with Rumur on the same steps."""
