"""Styles of their own: protocols of one shape each, for what seldom comes about where anything may meet anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .drawn_ballots import ballots
from .drawn_cheats import cheats
from .drawn_cut import cut
from .drawn_hidden import hidden
from .drawn_modes import modes
from .drawn_roles import parties
from .drawn_symmetry import callers
from .drawn_values import values
from .protocol import Protocol

if TYPE_CHECKING:
    from .draw import Drawing

SHAPES: dict[str, Callable[[Drawing], Protocol]] = {"callers": callers, "hidden": hidden, "cut": cut, "modes": modes}
SHAPES |= {"cheats": cheats, "parties": parties, "ballots": ballots, "values": values}
