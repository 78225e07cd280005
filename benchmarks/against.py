"""Quorate against Spin: the same instances, in turn, each search single-threaded."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from benchmarks import spin
from benchmarks.probe import Instance, Measured, probe
from benchmarks.promela import Dialect
from benchmarks.results import Peer, Row, Section

Say = Callable[[str], None]
Plan = dict[Instance, list[tuple[Dialect, str]]]

ALL_BUILDS: list[tuple[Dialect, str]] = [("messages", build) for build in spin.BUILDS]
FULL: Plan = {
    Instance(2, 3): ALL_BUILDS,
    Instance(2, 4): ALL_BUILDS,
    Instance(3, 3): [*ALL_BUILDS, ("packed", "plain"), ("packed", "noreduce")],
    Instance(2, 5): [*ALL_BUILDS[:3], ("packed", "plain"), ("packed", "noreduce")],
}
QUICK: Plan = {
    Instance(2, 3): ALL_BUILDS[:1],
    Instance(3, 3): [("messages", "plain"), ("messages", "collapse"), ("packed", "plain")],
}
BUG_IN = Instance(2, 3)


def against_spin(quick: bool, say: Say, *, time_limit: float = 150, may_install: bool = True) -> Section:
    obstacle = spin.install() if may_install else "" if spin.version() else "spin is not installed"
    if obstacle:
        return Section("spin", (), notes=(f"Skipped: {obstacle}.",))
    plan = QUICK if quick else FULL
    peers: list[Peer] = []
    for instance, builds in plan.items():
        ours: list[Measured] = []
        theirs: list[Peer] = []
        for dialect, build in builds:  # in turn, so that both meet the machine in the same mood
            say(f"paxos {instance}: Quorate without reductions, then Spin, model `{dialect}`, {build}")
            ours.append(probe(instance, reductions=False))
            theirs.append(_spin(instance, dialect, build, time_limit))
        peers += [_quorate(instance, ours), *theirs]
    rows = [*_ratios(peers, list(plan)[-1]), _agreement(peers), *_bug_found(say, time_limit)]
    notes = (
        f"Spin {spin.version()}. Its partial-order reduction, on unless a build says `noreduce`, reduces nothing here.",
        "Faster, smaller: the factor by which Quorate is. Rates are per second of a core. Bytes are those a state: "
        "Spin's are its own figure for stored states, without hash table and stack; Quorate's are the growth of "
        "resident memory, with everything.",
        *(
            f"{peer.name} on {peer.instance} was stopped by a limit of time or memory."
            for peer in peers
            if not peer.complete
        ),
    )
    return Section("spin", tuple(rows), tuple(peers), notes)


def _agreement(peers: list[Peer]) -> Row:
    """Two tools that count the same states and transitions of two models of one protocol: that is evidence for both."""
    ours = {peer.instance: (peer.states, peer.transitions) for peer in peers if peer.program == "Quorate"}
    finished = [peer for peer in peers if peer.program == "Spin" and peer.complete]
    same = sum((peer.states, peer.transitions) == ours[peer.instance] for peer in finished)
    return Row(
        "searches by Spin with our counts of states and transitions", "", same, better="equal", goal=len(finished)
    )


def _bug_found(say: Say, time_limit: float) -> list[Row]:
    """The models are not vacuous: where a proposer ignores the votes reported to it, Spin finds the violation."""
    rows = []
    dialects: tuple[Dialect, ...] = ("messages", "packed")
    for dialect in dialects:
        say(f"paxos {BUG_IN} with a seeded bug: Spin, model `{dialect}`")
        found = spin.verify(dialect, BUG_IN, "plain", time_limit=time_limit, bug=True)
        rows.append(Row(f"violations in `{dialect}` with a seeded bug", "", found.errors, better="equal", goal=1))
    return rows


def _spin(instance: Instance, dialect: Dialect, build: str, time_limit: float) -> Peer:
    run = spin.verify(dialect, instance, build, time_limit=time_limit, repeat=3)
    return Peer(
        instance=str(instance),
        program="Spin",
        model=dialect,
        build=build,
        states=run.states,
        transitions=run.transitions,
        complete=run.complete,
        seconds=run.seconds,
        core_seconds=run.core_seconds,
        bytes_per_state=run.bytes_per_state,
    )


def _quorate(instance: Instance, runs: list[Measured]) -> Peer:
    return Peer(
        instance=str(instance),
        program="Quorate",
        model="paxos",
        build="plain",
        states=runs[0].states,
        transitions=runs[0].transitions,
        complete=True,
        seconds=median(run.seconds for run in runs),
        core_seconds=median(run.core_seconds for run in runs),
        bytes_per_state=median(run.bytes_per_state for run in runs),
    )


def _ratios(peers: list[Peer], instance: Instance) -> list[Row]:
    """The goals: speed and memory against Spin's plain build of the like-for-like model, on the largest instance."""
    here = {(peer.program, peer.model, peer.build): peer for peer in peers if peer.instance == str(instance)}
    quorate = here["Quorate", "paxos", "plain"]
    peer = here["Spin", "messages", "plain"]
    speed = quorate.states_per_second / peer.states_per_second
    memory = peer.bytes_per_state / quorate.bytes_per_state
    return [
        Row(f"times the states per second of {peer.name}, on {instance}", "x", speed, goal=10),
        Row(f"times less memory a state than {peer.name}, on {instance}", "x", memory, goal=10),
    ]
