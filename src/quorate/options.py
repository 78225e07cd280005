"""The options of a check: validated in one place, so that Python and the command line say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quorate.base.errors import QuorateError, did_you_mean
from quorate.base.values import show

Search = Literal["bfs", "dfs"]

CHOICES: dict[str, tuple[str, ...]] = {
    "search": ("bfs", "dfs"),
    "por": ("none", "lpor", "lpor-net", "dpor"),
    "split": ("none", "reply", "quorum", "combined"),
    "symmetry": ("none", "naive", "auto"),
    "quotient": ("on", "off"),
    "dead_messages": ("on", "off"),
    "store": ("exact", "bitstate"),
    "dpor_variant": ("optimal", "classical"),
}

REFINEMENTS = ("conditional", "necessary", "smallest", "commuting", "key", "twins")
"""What makes stubborn sets smaller, each of which can be switched off (docs/partial-orders.md)."""


FARTHEST = 2**63 - 1
"""The core counts in 64 bits. A limit beyond that is never reached, so that it may as well be this one."""


@dataclass(frozen=True)
class Options:
    """How to search. `search=None` is breadth-first, or depth-first where only that is possible."""

    search: Search | None = None
    por: str = "none"
    split: str = "none"
    symmetry: str = "auto"
    quotient: str = "on"
    dead_messages: str = "on"
    store: Literal["exact", "bitstate"] = "exact"
    stateless: bool = False
    threads: int = 1
    max_states: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    shorten: bool = False
    regroup: bool = True
    max_depth: int | None = None
    """Cut the runs of dynamic partial-order reduction there."""
    dpor_variant: str = "optimal"
    self_check: bool = False
    por_without: tuple[str, ...] = ()
    max_behaviours: int | None = None
    """What the analysis may evaluate before the search. By default a little first, and more if the search lasts."""

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if value not in allowed and not (name == "search" and value is None):
                raise _wrong(f"{name}={value!r} is not a valid choice", did_you_mean(str(value), allowed))
        for name in self.por_without:
            if name not in REFINEMENTS:
                raise _wrong(f"por_options={name!r} is not a refinement", did_you_mean(name, REFINEMENTS))
        for name in ("threads", "max_states", "max_memory", "timeout", "max_depth", "max_behaviours"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise _wrong(f"{name}={show(value)}", "it must be more than 0")
            if name.startswith("max_") and value is not None:
                object.__setattr__(self, name, min(value, FARTHEST))
        if self.threads > 1024:
            raise _wrong(f"threads={show(self.threads)}", "at most 1024")
        if self.depth_only and self.search == "bfs":
            what = "a bitstate store" if self.store == "bitstate" else "a stateless search"
            raise _wrong(f"search='bfs' with {what}", "it keeps no levels to walk back through: use search='dfs'")
        if self.por == "dpor" and self.search == "bfs":
            raise _wrong("search='bfs' with por='dpor'", "it follows one run after another: leave out search")
        if self.por == "dpor" and self.store == "bitstate":
            raise _wrong("store='bitstate' with por='dpor'", "it stores no states: leave out store, or use por='none'")
        if self.max_depth is not None and self.por != "dpor":
            raise _wrong(f"max_depth={self.max_depth} with por={self.por!r}", "it applies only to por='dpor'")
        if self.stateless and self.store == "bitstate":
            raise _wrong(
                "stateless=True with store='bitstate'", "a stateless search stores nothing: choose one of them"
            )

    @property
    def depth_only(self) -> bool:
        return self.stateless or self.store == "bitstate"

    @property
    def depth_first(self) -> bool:
        return self.search == "dfs" or self.depth_only


def _wrong(what: str, hint: str) -> QuorateError:
    return QuorateError(what, hint=hint, code="Q600")
