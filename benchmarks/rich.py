"""Rich protocols, written naturally: logs, hubs, histories, counters. What they cost with the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.experiment import PLAIN, Limits, Measured
from benchmarks.probe import measure
from benchmarks.results import Better, Figure, Section
from benchmarks.runner import Say

RICH = "rich"
TABLES = {
    RICH: """\
## Rich protocols

Protocols as somebody new would write them (`benchmarks/protocols/rich`): Raft with logs, Viewstamped Replication, a
process that everybody talks to, a monitor that counts. No option is given unless the row is about it. Goals are what
such a model was seen to need with the right options, or with its processes written otherwise. Seconds are those of a
core. Rates of Stateright and TLC are for their own models of the same protocols, on two cores: Stateright 0.31
two-phase commit with 9 managers in 29 s, TLC Paxos Commit in 95 s. Where two ways are compared, the slower may cost
1.2 times as much.""",
}

MODELS = "benchmarks.protocols.rich"
LIMITS = Limits(seconds=120, memory_bytes=6 << 30, repeat=1)
SLOWER = 1.2
STATERIGHT = 10_340_352 / 29  # states/s of two-phase commit with 9 managers
TLC = 1_321_761 / 95  # of Paxos Commit


@dataclass(frozen=True)
class Ask:
    """One way to check one instance."""

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def measured(self) -> Measured:
        return measure(f"{MODELS}.{self.model}", self.parameters, {"threads": 1, **self.options}, LIMITS)


@dataclass(frozen=True)
class Row:
    """A figure: of one way to check, or of one compared with another."""

    what: str
    unit: str
    ask: Ask
    goal: float | None = None
    better: Better = "lower"
    beside: Ask | None = None
    verdict: str = "holds"
    quick: bool = True


RAFT = Ask("raft:Raft2", {"log": 2})
VR = Ask("vr:VR")
LAMPORT = Ask("lamport:Mutex")
TWO_PHASE = Ask("twophase:TwoPhase", {"rms": 9}, PLAIN)
PAXOS_COMMIT = Ask("paxos_commit:PaxosCommit", {}, PLAIN)
FOLKLORE = Ask("folklore:Folklore", {}, {"por": "lpor"})
COUNTED = Ask("counter:Counted", {"clients": 12})
BUG = Ask("raft:Raft2", {"servers": 5, "check_log": False})
DYNAMIC = Ask("raft:Raft2", {}, {"por": "dpor", "max_depth": 40, "timeout": 20})

ROWS = (
    Row("Raft with logs, 5 servers, no log check: time to the counterexample", "s", BUG, 17, verdict="violated"),
    Row("Viewstamped Replication, 3 replicas: states", "states", VR, 110_034),
    Row("Raft with logs, 2 entries: states", "states", RAFT, 1_641_213),
    Row("linked list, 6 remotes: time", "s", Ask("newlist:Newlist", {"remotes": 6}), 45, quick=False),
    Row("two-phase commit, 12 managers: time", "s", Ask("twophase:TwoPhase", {"rms": 12}), 38),
    Row("two-phase commit, 9 managers, plain", "states/s", TWO_PHASE, 10 * STATERIGHT, "higher", quick=False),
    Row("Paxos Commit, one leader, plain", "states/s", PAXOS_COMMIT, 100 * TLC, "higher"),
    Row("Paxos Commit, one leader, plain: bytes per state", "bytes", PAXOS_COMMIT, 30),
    Row("n-Peterson through a memory process, n = 5", "states/s", Ask("peterson:Peterson", {"n": 5}), None, "higher"),
    Row("a monitor that counts, 12 clients: states", "states", COUNTED, 325),
    Row("a trivial type invariant, partial orders: states", "states", FOLKLORE, 752),
    Row("Lamport's mutex: the defaults over plain", "x", LAMPORT, SLOWER, beside=Ask("lamport:Mutex", {}, PLAIN)),
    Row(
        "Lamport's mutex: `lpor-net` over the defaults",
        "x",
        Ask("lamport:Mutex", {}, {"por": "lpor-net"}),
        SLOWER,
        beside=LAMPORT,
    ),
    Row(
        "Viewstamped Replication: `lpor-net` over the defaults",
        "x",
        Ask("vr:VR", {}, {"por": "lpor-net"}),
        SLOWER,
        beside=VR,
    ),
    Row("Raft with logs, `dpor`, 20 s: megabytes at most", "", DYNAMIC, 500, verdict="incomplete"),
)


def rich(quick: bool, say: Say) -> Section:
    known: dict[int, Measured] = {}

    def measured(ask: Ask) -> Measured:
        if id(ask) not in known:
            known[id(ask)] = ask.measured()
        return known[id(ask)]

    figures = []
    for row in ROWS:
        if quick and not row.quick:
            continue
        say(f"rich: {row.what}")
        figures.append(_figure(row, measured(row.ask), measured(row.beside) if row.beside is not None else None))
    return Section(RICH, figures=tuple(figures))


def _figure(row: Row, found: Measured, beside: Measured | None) -> Figure:
    if found.status != row.verdict:
        raise ValueError(f"{row.what}: {found.status} {found.note}")
    if beside is not None:
        value = found.core_seconds / beside.core_seconds
    else:
        value = {
            "s": found.core_seconds,
            "states": float(found.states),
            "states/s": found.states_per_second,
            "bytes": found.bytes_per_state,
            "": found.peak_memory_bytes / 2**20,
        }[row.unit]
    note = f"{found.states:,} states, {found.core_seconds:.1f} s" + (
        "" if beside is None else f"; beside it {beside.states:,} states, {beside.core_seconds:.1f} s"
    )
    return Figure(row.what, row.unit, value, (value,), row.better, row.goal, note)
