"""What the defaults cost over a plain search, and every reduction option over the defaults: all bundled protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.experiment import PLAIN, Limits, Measured
from benchmarks.probe import measure
from benchmarks.results import Figure, Section
from benchmarks.runner import Say
from quorate.protocols import CATALOGUE

COSTS = "costs"
TABLES = {
    COSTS: """\
## What reductions cost where they gain nothing

Every bundled protocol as it is by default, and the rich ones: seconds of a core with the defaults, over those of a
plain search, and with one option more, over those of the defaults. The worst of all is shown. Ratios are of instances
that take half a second or more one way or the other; of shorter ones, by how much they become longer at the most.
Searches that met a limit either way are left out.""",
}
SLOWER = 1.2
LONG = 0.5  # seconds
LIMITS = Limits(seconds=30, memory_bytes=4 << 30, repeat=1)
DEFAULTS = "the defaults over a plain search"
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "`--quotient off`": {"quotient": "off"},
    "`--dead-messages off`": {"dead_messages": "off"},
    "`--symmetry naive`": {"symmetry": "naive"},
    "`--por lpor`": {"por": "lpor"},
    "`--por lpor-net`": {"por": "lpor-net"},
    "`--por lpor-net --split combined`": {"por": "lpor-net", "split": "combined"},
}
RICH: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("raft:Raft2", {}),
    ("vr:VR", {}),
    ("lamport:Mutex", {}),
    ("twophase:TwoPhase", {"rms": 7}),
    ("paxos_commit:PaxosCommit", {}),
    ("peterson:Peterson", {"n": 4}),
    ("counter:Counted", {"clients": 9}),
    ("folklore:Folklore", {}),
)


class Pair(NamedTuple):
    """One instance searched in two ways."""

    instance: str
    before: Measured
    after: Measured

    @property
    def ratio(self) -> float:
        return self.after.core_seconds / max(self.before.core_seconds, 1e-3)

    @property
    def added(self) -> float:
        return self.after.core_seconds - self.before.core_seconds

    @property
    def long(self) -> bool:
        return max(self.before.core_seconds, self.after.core_seconds) >= LONG


def costs(quick: bool, say: Say) -> Section:
    """With `quick`, the defaults and the rich protocols only."""
    instances: list[tuple[str, str, Mapping[str, Any]]] = []
    instances += () if quick else [(name, name, {}) for name in CATALOGUE]
    instances += [(model, f"benchmarks.protocols.rich.{model}", dict(given)) for model, given in RICH]
    pairs: dict[str, list[Pair]] = {}
    for name, target, given in instances:
        say(f"costs: {name}")

        def one(options: Mapping[str, Any], target: str = target, given: Mapping[str, Any] = given) -> Measured:
            return measure(target, given, {"threads": 1, **options}, LIMITS)

        default = one({})
        pairs.setdefault(DEFAULTS, []).append(Pair(name, one(PLAIN), default))
        for option, options in {} if quick else OPTIONS.items():
            pairs.setdefault(f"{option} over the defaults", []).append(Pair(name, default, one(options)))
    return Section(COSTS, figures=tuple(each for what, found in pairs.items() for each in figures(what, found)))


def figures(what: str, pairs: list[Pair]) -> list[Figure]:
    """The worst ratio of the long ones, and the longest time that is added to a short one."""
    answered = [pair for pair in pairs if pair.before.answered and pair.after.answered]
    told = []
    for pair in pairs:
        # The plain search may meet a limit that reductions stay below; not the other way round.
        if pair.before.answered and not pair.after.answered:
            told.append(f"{pair.instance} is not decided: {pair.after.note}")
    long = [pair for pair in answered if pair.long]
    short = [pair for pair in answered if not pair.long]
    found = []
    if long:
        worst = max(long, key=lambda pair: pair.ratio)
        over = sum(pair.ratio > SLOWER for pair in long)
        note = "; ".join([f"{worst.instance}, of {len(long)}; {over} over the goal", *told])
        found.append(Figure(what, "x", worst.ratio, (worst.ratio,), "lower", SLOWER, note))
    if short:
        most = max(short, key=lambda pair: pair.added)
        note = f"{most.instance}, of {len(short)} shorter ones"
        found.append(Figure(f"{what}, added at the most", "s", most.added, (most.added,), "lower", LONG, note))
    return found
