"""A chart as PNG, drawn from its SVG by resvg: a library without system dependencies, installed if it is wanted."""

from __future__ import annotations

from quorate.base.errors import TargetError
from quorate.render.chart.layout import Drawing
from quorate.render.chart.svg import svg

SCALE = 2
"""Pixels for every unit, so that it is sharp on today's screens and in print."""


def png(drawing: Drawing) -> bytes:
    """The picture in light colours."""
    try:
        import resvg_py
    except ImportError:
        raise missing() from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg(drawing, dark=False), zoom=SCALE))


def missing() -> TargetError:
    """What to say where the library is not installed."""
    return TargetError(
        "a chart as PNG needs the library resvg-py, which is not installed",
        hint="pip install 'quorate[png]', or write an SVG: --chart out.svg",
        code="Q315",
    )
