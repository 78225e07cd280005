"""The options of a check, each declared once: Python, the command line, JSON and docs/cli.md are made from this table.

An option is a field with what is told of it. `Environment` (model/environment.py) declares those about faults in the
same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, Self

from quorate.base.errors import QuorateError, did_you_mean
from quorate.base.values import show

Search = Literal["bfs", "dfs"]
Store = Literal["exact", "fingerprint", "bitstate"]
STORES: tuple[Store, ...] = ("exact", "fingerprint", "bitstate")
Panel = Literal[
    "Temporal properties",
    "Coverage",
    "Search",
    "Reductions",
    "Limits",
    "Faults",
    "The run that shows it",
    "Checkpoints",
]
Reads = Literal[
    "choice", "switch", "flag", "number", "count", "positive", "size", "seconds", "names", "roles", "path", "text"
]

REFINEMENTS = ("conditional", "necessary", "smallest", "commuting", "key", "twins")
"""What makes stubborn sets smaller, each of which can be switched off (docs/partial-orders.md)."""


class Told(NamedTuple):
    """What is told of an option, and how it is read from the command line."""

    panel: Panel
    help: str
    reads: Reads
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    """Where the choices would be too long for a line of help."""


def option(
    default: Any,
    panel: Panel,
    help: str,
    reads: Reads = "choice",
    *,
    choices: tuple[str, ...] = (),
    metavar: str | None = None,
) -> Any:
    """A field of a dataclass that is an option."""
    told = Told(panel, help, reads, choices, metavar)
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={"told": told})
    return field(default=default, metadata={"told": told})


def told(table: type) -> dict[str, Told]:
    """The options that a dataclass declares, by their names in Python."""
    return {each.name: each.metadata["told"] for each in fields(table) if "told" in each.metadata}


FARTHEST = 2**63 - 1
"""The core counts in 64 bits. A limit beyond that is never reached, so that it may as well be this one."""

SWITCH = ("on", "off")

LEVELS = ("none", "progress", "process", "transition", "message", "strong")
"""Of fairness, from the weakest assumption to the strongest (docs/temporal.md)."""

NetworkModel = Literal["rm", "grm", "m"]
MODELS: tuple[NetworkModel, ...] = ("rm", "grm", "m")


@dataclass(frozen=True)
class Options:
    """How to search. `search=None` is breadth-first, or depth-first where only that is possible."""

    ltl: tuple[str, ...] = option(
        (),
        "Temporal properties",
        "Check a formula of LTL over names of methods; repeatable.",
        "names",
        metavar="FORMULA",
    )
    ctl: tuple[str, ...] = option(
        (), "Temporal properties", "Check a formula of CTL or CTL*; repeatable.", "names", metavar="FORMULA"
    )
    fairness: str = option(
        "message",
        "Temporal properties",
        "Fairness: none, progress, process, transition, message or strong.",
        choices=LEVELS,
        metavar="LEVEL",
    )
    all: bool = option(
        False, "Coverage", "Go on after a violation: count them, and show the shortest run of each property.", "flag"
    )
    vacuity: bool = option(False, "Coverage", "Warn of parts of invariants that do not matter for the verdict.", "flag")
    coverage: bool = option(
        False, "Coverage", "Tell which transitions, messages and lines of handlers ran in what was reached.", "flag"
    )
    shorten: bool = option(False, "The run that shows it", "Look for a shorter run that shows the same.", "flag")
    regroup: bool = option(
        True,
        "The run that shows it",
        "Reorder independent steps so that each process does what it can in one go.",
        "switch",
        choices=SWITCH,
    )
    search: Search | None = option(
        None, "Search", "Breadth-first (finds shortest runs) or depth-first.", choices=("bfs", "dfs")
    )
    store: Store = option(
        "exact",
        "Search",
        "Exact; a fingerprint per state, or a few bits, which may miss states.",
        choices=STORES,
    )
    spill: str | None = option(
        None, "Search", "Keep the states in files there: exact, with memory for the index alone.", "path", metavar="DIR"
    )
    stateless: bool = option(False, "Search", "Store no states: little memory, much time.", "flag")
    threads: int = option(1, "Search", "How many; the answer does not depend on it.", "positive", metavar="N")
    workers: int | None = option(
        None,
        "Search",
        "Share the states among this many processes, by Ray (docs/cluster.md); the answer does not depend on it.",
        "positive",
        metavar="N",
    )
    address: str | None = option(
        None,
        "Search",
        "The Ray cluster to use, for example 10.0.0.1:6379; without it, this machine.",
        "text",
        metavar="HOST",
    )
    quotient: str = option(
        "on", "Reductions", "Merge local states that no property and no run can tell apart.", choices=SWITCH
    )
    dead_messages: str = option(
        "on", "Reductions", "Drop messages that their receiver will never consume.", choices=SWITCH
    )
    por: str = option(
        "none",
        "Reductions",
        "Partial-order reduction: none, lpor, lpor-net or dpor.",
        choices=("none", "lpor", "lpor-net", "dpor"),
        metavar="KIND",
    )
    por_without: tuple[str, ...] = option(
        (),
        "Reductions",
        "Switch off a refinement of --por (docs/partial-orders.md).",
        "names",
        metavar="NAME",
    )
    dpor_variant: str = option(
        "optimal",
        "Reductions",
        "For --por dpor: optimal, or classical as first published.",
        choices=("optimal", "classical"),
        metavar="KIND",
    )
    split: str = option(
        "none",
        "Reductions",
        "For --por: none, reply, quorum or combined.",
        choices=("none", "reply", "quorum", "combined"),
        metavar="KIND",
    )
    symmetry: str = option(
        "auto", "Reductions", "Symmetry: none, naive or auto.", choices=("none", "naive", "auto"), metavar="KIND"
    )
    self_check: bool = option(
        False, "Reductions", "Test the reductions against their definition and an unreduced search.", "flag"
    )
    max_states: int | None = option(None, "Limits", "For example 1000000 or 10M.", "number", metavar="N")
    max_memory: int | None = option(None, "Limits", "For example 4GB or 512M.", "size", metavar="SIZE")
    max_depth: int | None = option(None, "Limits", "Cut the runs of --por dpor at this depth.", "number", metavar="N")
    max_behaviours: int | None = option(
        None, "Limits", "Behaviours to evaluate before the search.", "number", metavar="N"
    )
    """By default a little first, and more if the search lasts."""
    timeout: float | None = option(None, "Limits", "For example 30 or 10m.", "seconds", metavar="SECONDS")
    checkpoint: str | None = option(
        None,
        "Checkpoints",
        "Save the search in this folder now and then, and when it is stopped.",
        "path",
        metavar="DIR",
    )
    checkpoint_every: float = option(
        60.0, "Checkpoints", "How often, for example 60s or 10m.", "seconds", metavar="SECONDS"
    )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From the keywords of `quorate.check`, among which there may be others."""
        without = tuple(name for name, on in (given.get("por_options") or {}).items() if not on)
        texts = {name: _texts(given.get(name)) for name in ("ltl", "ctl")}
        rest = {name: given[name] for name in told(cls) if name in given and name not in texts}
        return cls(**rest, ltl=texts["ltl"], ctl=texts["ctl"], por_without=without)

    def __post_init__(self) -> None:
        for name, (_, _, reads, allowed, _) in told(Options).items():
            value = getattr(self, name)
            if allowed == SWITCH:  # on and off, True and False: either may be written for the other
                if type(value) is bool:
                    value = "on" if value else "off"
                if value in SWITCH:
                    object.__setattr__(self, name, value == "on" if reads == "switch" else value)
            fine = value in allowed or (name == "search" and value is None)
            if allowed and not fine:
                raise _wrong(f"{name}={value!r} is not a valid choice", did_you_mean(str(value), allowed))
        for name in self.por_without:
            if name not in REFINEMENTS:
                raise _wrong(f"por_options={name!r} is not a refinement", did_you_mean(name, REFINEMENTS))
        for name in (
            "threads",
            "workers",
            "max_states",
            "max_memory",
            "timeout",
            "max_depth",
            "max_behaviours",
            "checkpoint_every",
        ):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise _wrong(f"{name}={show(value)}", "it must be greater than 0")
            if name.startswith("max_") and value is not None:
                object.__setattr__(self, name, min(value, FARTHEST))
        if self.workers is not None and self.workers > 4096:
            raise _wrong(f"workers={show(self.workers)}", "at most 4096")
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
        for name in ("all", "coverage"):
            if getattr(self, name) and (self.depth_first or self.por != "none"):
                what = f"por={self.por!r}" if self.por != "none" else "a depth-first search"
                raise _wrong(f"{name}=True with {what}", "it counts all reachable states, breadth-first: leave one out")
        if self.spill is not None and (self.depth_first or self.por == "dpor"):
            raise _wrong(
                f"spill={self.spill!r} with a depth-first search", "it is for breadth-first search with an exact store"
            )
        if self.store == "fingerprint":
            self._require_levels_alone()
        if self.distributed:
            self._require_shared_search()
        if self.stateless and self.store == "bitstate":
            raise _wrong(
                "stateless=True with store='bitstate'", "a stateless search stores nothing: choose one of them"
            )

    def _require_levels_alone(self) -> None:
        """Raises for what needs more of the states than their fingerprints, once they were expanded."""
        why = {
            "search='dfs'": (self.search == "dfs", "it is for breadth-first search"),
            "stateless=True": (self.stateless, "a stateless search stores nothing"),
            f"por={self.por!r}": (self.por != "none", "partial orders ask in which level a known state lies"),
            f"spill={self.spill!r}": (self.spill is not None, "it keeps no states that could lie in files"),
            "coverage=True": (self.coverage, "it looks at all states in the end"),
            "self_check=True": (self.self_check, "it looks at all states in the end"),
            "workers": (self.distributed, "workers have exact stores"),
        }
        for what, (given, reason) in why.items():
            if given:
                raise _wrong(f"store='fingerprint' with {what}", f"{reason}: leave one out")

    def _require_shared_search(self) -> None:
        """Raises for what workers cannot do together: they go breadth-first, with an exact store each."""
        what = "workers" if self.workers is not None else "address"
        if self.depth_first:
            how = "stateless=True" if self.stateless else "search='dfs'"
            how = "store='bitstate'" if self.store == "bitstate" else how
            raise _wrong(f"{what} with {how}", "workers search breadth-first, with exact stores: leave one out")
        if self.por == "dpor":
            raise _wrong(f"{what} with por='dpor'", "it follows one run after another: leave one out")
        if self.threads > 1:
            raise _wrong(f"{what} with threads={self.threads}", "a worker has one thread: ask for more workers instead")
        if self.spill is not None:
            raise _wrong(f"{what} with spill={self.spill!r}", "workers keep their states in memory: leave one out")
        for name in ("coverage", "self_check"):
            if getattr(self, name):
                raise _wrong(f"{what} with {name}=True", "it looks at all states in one process: leave one out")

    @property
    def distributed(self) -> bool:
        """Whether the states are shared among workers."""
        return self.workers is not None or self.address is not None

    @property
    def depth_only(self) -> bool:
        return self.stateless or self.store == "bitstate"

    @property
    def depth_first(self) -> bool:
        return self.search == "dfs" or self.depth_only

    @property
    def kind(self) -> Literal["bfs", "dfs", "stateless"]:
        """How a result calls the search."""
        return "stateless" if self.stateless or self.por == "dpor" else "dfs" if self.depth_first else "bfs"

    @property
    def of_states(self) -> bool:
        """Whether anything is asked that only a search for invariants does: counts, another store, workers."""
        asked = self.all or self.coverage or self.vacuity or self.self_check or self.checkpoint is not None
        another = self.depth_first or self.store != "exact" or self.por != "none" or self.spill is not None
        return asked or another or self.distributed

    def for_coverage(self) -> Self:
        """Merged local states behave alike, but perhaps by different lines; and a guard may be there for messages that
        nobody would consume."""
        return replace(self, quotient="off", dead_messages="off") if self.coverage else self

    def without_reductions(self) -> Self:
        return replace(self, quotient="off", dead_messages="off", symmetry="none", por="none", split="none")


def _texts(given: str | Iterable[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _wrong(what: str, hint: str) -> QuorateError:
    return QuorateError(what, hint=hint, code="Q600")
