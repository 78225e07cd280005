"""The language protocols are written in."""
