"""Protocols written as a newcomer would: what a rich one costs (benchmarks/rich.py)."""
