"""Checking grids of instances: one process each, results that survive an interruption, tables and pictures of them."""
