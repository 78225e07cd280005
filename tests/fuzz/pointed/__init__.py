"""Protocols drawn around one thought-out case each; see `point.py`."""

from __future__ import annotations

from . import dynamic, growing, leftovers, orders, others, turns, unknown  # noqa: F401 - each registers its points
from .point import POINTS, Point

__all__ = ["POINTS", "Point"]
