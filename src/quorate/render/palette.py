"""What all pictures share: fonts, and colours that are told apart on light and on dark paper."""

from __future__ import annotations

SANS = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
MONO = "'JetBrains Mono', 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

LIGHT_HUES = {
    "t0": "#2f5fd0",
    "t1": "#0f7b8a",
    "t2": "#7a4fd0",
    "t3": "#a0561b",
    "t4": "#3d7a2b",
    "t5": "#a8327a",
}
DARK_HUES = {
    "t0": "#86a8ff",
    "t1": "#5cc4d3",
    "t2": "#b79aff",
    "t3": "#e2a36b",
    "t4": "#93cf7d",
    "t5": "#f08cc4",
}
