"""Which parts of a protocol are needed: each is taken out in turn, and the properties are checked again."""
