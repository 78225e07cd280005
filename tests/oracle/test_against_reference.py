"""The native search against the reference explorer: on generated protocols and on every bundled one.

Everything the search reports that can be computed another way is: counts, verdicts, lengths of shortest violations,
deadlocks, what is reachable, with every search, and with every exact reduction alone and together.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import corpus
from generator import Protocol, Tape, fitted, system, without_claims
from quorate import Process, Result, System, Trace, check, final, invariant
from quorate.base.values import encode
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.outcome import is_crashed
from quorate.properties import evaluate
from quorate.properties.purity import Purity
from quorate.protocols import CATALOGUE
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.faulty_paxos_2 import FaultyPaxos2
from quorate.protocols.paxos import Paxos
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import enabled_protocol, steps
from reference import Exploration, explore
from simplify import passes
from small_instances import without_temporal

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")

MOST_STATES = corpus.MOST_STATES
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
REDUCED: dict[str, dict[str, Any]] = {
    "quotient": {"quotient": "on", "dead_messages": "off", "symmetry": "none"},
    "dead messages": {"quotient": "off", "dead_messages": "on", "symmetry": "none"},
    "both": {"quotient": "on", "dead_messages": "on", "symmetry": "none"},
    "default": {},
}


# What the reference says a search must report


@dataclass
class Expected:
    """The outcome of a breadth-first search for some properties."""

    broken: frozenset[str]
    """The violated property, if any: one of these, where several are found at the same distance."""
    length: int
    states: int
    transitions: int
    depth: int
    deadlocks: int
    reached: frozenset[str]
    missed: frozenset[str]


def expect(definition: Definition, found: Exploration, names: Iterable[str], deadlock: bool) -> Expected:
    """A level is finished before the search stops, so its counts are known too.

    Invariants and failures are found on the way to the next level, deadlocks when a level is expanded; `expanded` is
    the last level that is.
    """
    wanted = set(names)
    # (level expanded when it is found, steps to it, order of preference, name)
    findings = [
        (depth - 1, depth, 0, name) for name, depth in found.violations.items() if name in wanted and name != "deadlock"
    ]
    for failure, depth in found.failures.items():
        name = {"assertion": "assertions", "exception": "exceptions"}[failure.kind]
        findings.append((depth, depth + 1, 2, name))
    if deadlock and "deadlock" in found.violations:
        findings.append((found.violations["deadlock"], found.violations["deadlock"], 1, "deadlock"))
    expanded = len(found.levels) - 1
    broken: frozenset[str] = frozenset()
    length = -1
    if findings:
        expanded, length, kind, _ = min(findings)
        broken = frozenset(each[3] for each in findings if each[:3] == (expanded, length, kind))
        if kind == 0:
            order = [prop.name for prop in definition.invariants]
            broken = frozenset([min(broken, key=order.index)])
    cans = [prop.name for prop in definition.cans if prop.name in wanted]
    reached = frozenset(name for name in cans if found.witnesses.get(name, expanded + 2) <= expanded + 1)
    return Expected(
        broken=broken,
        length=length,
        states=sum(level[0] for level in found.levels[: expanded + 2]),
        transitions=sum(level[1] for level in found.levels[: expanded + 1]),
        depth=len(found.levels[: expanded + 2]) - 1,
        deadlocks=sum(level[2] for level in found.levels[: expanded + 1]),
        reached=reached,
        missed=frozenset() if findings else frozenset(cans) - reached,
    )


def all_names(definition: Definition) -> list[str]:
    return [prop.name for prop in definition.properties]


# Comparing


def compare_verdict(result: Result, wanted: Expected) -> None:
    """Verdict, property, length, goals; and that every run shown is one."""
    reached = {each.name for each in result.properties if each.kind == "can" and each.verdict == "holds"}
    missed = {each.name for each in result.properties if each.kind == "can" and each.verdict == "violated"}
    assert reached == wanted.reached
    assert missed == wanted.missed
    if wanted.broken:
        assert (result.verdict, result.property in wanted.broken) == ("violated", True), result.property
        assert result.trace is not None
        assert len(result.trace) == wanted.length
        follow(result.trace)
    else:
        assert result.verdict == ("violated" if missed else "holds")
        assert result.trace is None
    assert set(result.witnesses) == reached
    for witness in result.witnesses.values():
        follow(witness)


def compare_counts(result: Result, wanted: Expected) -> None:
    counted = (result.states, result.transitions, result.depth, result.deadlocks)
    assert counted == (wanted.states, wanted.transitions, wanted.depth, wanted.deadlocks)


def follow(trace: Trace) -> None:
    """Every step is one of the plain semantics, and the end is what the trace claims."""
    definition = trace.definition
    state = trace.initial
    assert state in initial_states(definition)
    for number, step in enumerate(trace.steps):
        assert step in steps(definition, state)
        assert step.next is not None or number == len(trace.steps) - 1
        state = step.next or state
    here = steps(definition, state)
    if trace.property in ("assertions", "exceptions"):
        assert trace.steps[-1].failure is not None
    elif trace.property == "deadlock":
        assert not enabled_protocol(here)
        assert definition.final is None or not evaluate(definition, definition.final, state.locals).value
    else:
        value = evaluate(definition, definition.property(trace.property), state.locals).value
        assert value == (trace.kind == "witness")


def run_of(result: Result) -> tuple[Any, ...]:
    """What has to be the same for every number of threads, every run and every hash seed."""
    trace = None if result.trace is None else result.trace.to_json()
    witnesses = {name: witness.to_json() for name, witness in sorted(result.witnesses.items())}
    outcomes = [each.to_json() for each in result.properties]
    counts = (result.states, result.transitions, result.depth, result.deadlocks)
    return (result.verdict, result.property, counts, outcomes, trace, witnesses, result.bounds)


def compare_searches(make: Callable[[], System], found: Exploration, stateless: bool) -> None:
    """Every search, without reductions."""
    definition = define(make())
    deadlock = definition.final is not None
    names = all_names(definition)
    wanted = expect(definition, found, names, deadlock)
    runs = []
    for threads in (1, 2, 3):
        result = check(make(), threads=threads, **PLAIN)
        compare_verdict(result, wanted)
        compare_counts(result, wanted)
        if not wanted.broken:
            assert result.bounds == tuple(f"{name}.within" for name in cut_classes(definition, found))
        runs.append(run_of(result))
    fingerprints = check(make(), **PLAIN, store="fingerprint")
    assert runs[0] == runs[1] == runs[2] == run_of(check(make(), **PLAIN)) == run_of(fingerprints)
    every = set(found.violations) - ({"deadlock"} if not deadlock else set()) | {
        {"assertion": "assertions", "exception": "exceptions"}[failure.kind] for failure in found.failures
    }
    whole = Exploration(found.states, found.transitions)
    for options in ({"search": "dfs"}, {"stateless": True, "max_states": 30_000}, {"store": "bitstate"}):
        if "stateless" in options and not stateless:
            continue
        result = check(make(), **PLAIN, **options)
        if result.stopped_by == "states":
            continue
        if every:
            assert (result.verdict, result.property in every) == ("violated", True)
            assert result.trace is not None
            follow(result.trace)
            continue
        if "stateless" not in options:
            assert (result.states, result.transitions) == (whole.states, whole.transitions)
            assert result.deadlocks == len(found.deadlocks)
        assert set(result.witnesses) == set(found.witnesses)
        if "store" in options:
            assert result.verdict == "incomplete" if result.properties else True
            assert result.coverage is not None
            assert result.coverage > 0.99
        else:
            assert result.verdict == ("violated" if wanted.missed else "holds")


def cut_classes(definition: Definition, found: Exploration) -> list[str]:
    return list(dict.fromkeys(column.cls.__name__ for column in definition.columns if column.cls.__name__ in found.cut))


# Observations: what properties can see of the reachable states


@dataclass
class Sight:
    """The fields that the properties read somewhere, and what they look like in each reachable state."""

    fields: set[tuple[int, int]] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)
    stuck: set[bytes] = field(default_factory=set)

    def project(self, state: State) -> bytes:
        shown: list[object] = []
        for index, number in sorted(self.fields):
            local = state.locals[index]
            shown.append(is_crashed(local) if number < 0 else local[number])
        return encode(tuple(shown))


@functools.cache
def look_around(known: System) -> tuple[Definition, Exploration, Sight]:
    definition, sight = define(known), Sight()
    states: list[State] = []
    stuck: list[State] = []
    asked = [*definition.properties, *([definition.final] if definition.final is not None else [])]

    def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
        states.append(state)
        if not enabled_protocol(here):
            stuck.append(state)
        for prop in asked:
            if prop.kind != "final" or not enabled_protocol(here):
                sight.fields |= set(evaluate(definition, prop, state.locals).reads)

    found = explore(definition, max_states=4 * MOST_STATES, visit=visit)
    sight.seen, sight.stuck = set(map(sight.project, states)), set(map(sight.project, stuck))
    return definition, found, sight


class Recorder:
    """Properties that note what they see.

    A property is asked once about each combination of values it reads, so what it notes is all that is reachable. With
    the quotient its very first evaluation is void, since it reads fields that were not observed (rule 8).
    """

    def __init__(self, definition: Definition, sight: Sight) -> None:
        self.definition = definition
        self.sight = sight
        self.seen: list[bytes] = []
        self.stuck: list[bytes] = []
        self.ends = 0
        """Deadlocks that the search has counted."""

    def _observe(self, running: Any) -> bytes:
        columns = self.definition.columns
        honest = [c.index for c in columns if issubclass(c.cls, Process) and not c.cls._byzantine]
        views = dict(zip(honest, running[Process], strict=True))
        shown: list[object] = []
        for index, number in sorted(self.sight.fields):
            column = self.definition.columns[index]
            view = running[column.cls] if column.is_monitor else views[index]
            shown.append(view.crashed if number < 0 else getattr(view, column.fields[number]))
        return encode(tuple(shown))

    def check(self, **options: Any) -> Result:
        """Check the system with these properties. They are a memory of the model, which is an error otherwise."""
        with patch.object(Purity, "require"):
            return check(self.attached(), **options)

    def attached(self) -> System:
        """The same system with these properties instead of its own."""

        def noted(running: Any) -> bool:
            self.seen.append(self._observe(running))
            return True

        def stuck(running: Any) -> bool:
            self.stuck.append(self._observe(running))
            return True

        known = self.definition.system
        none = dict.fromkeys([self.definition.final.name] if self.definition.final is not None else [])
        members = {**none, "noted": invariant(noted), "noted_at_the_end": final(stuck)}
        made: type[System] = type("Recorded", (type(known),), members)
        return made(**known.parameters)


def compare_observations(known: System) -> None:
    """The same observations, and the same observations of deadlocks, with and without reductions."""
    definition, found, sight = look_around(known)
    seen, stuck = sight.seen, sight.stuck
    for name, options in {"none": PLAIN, **REDUCED}.items():
        for search in ("bfs", "dfs"):
            recorder = Recorder(definition, sight)
            wanted = ("noted", "deadlock")
            result = recorder.check(property=wanted, search=search, **options)
            assert result.verdict == "holds", name
            void = result.reductions["quotient"]["ran"] and sight.fields
            assert set(recorder.seen[1:] if void else recorder.seen) == seen, name
            assert set(recorder.stuck) == stuck, name
            assert result.states <= found.states, name


def compare_reductions(make: Callable[[], System], found: Exploration) -> None:
    """With each reduction and with both: the same verdict and length for every property, alone and together."""
    definition = define(make())
    deadlock = definition.final is not None
    names = all_names(definition)
    questions: list[tuple[list[str], bool]] = [(names, deadlock), *(([name], False) for name in names)]
    if deadlock:
        questions.append(([], True))
    for options in REDUCED.values():
        for wanted, ends in questions:
            expected = expect(definition, found, wanted, ends)
            asked = [*wanted, "deadlock"] if ends else wanted
            result = check(make(), property=asked, **options)
            compare_verdict(result, expected)
            assert result.states <= expected.states
            assert run_of(result) == run_of(check(make(), property=asked, threads=3, **options))
        result = check(make(), search="dfs", **options)
        expected = expect(definition, found, names, deadlock)
        assert result.verdict == ("violated" if expected.broken or expected.missed else "holds")
        if result.trace is not None:
            follow(result.trace)


# Generated protocols


@corpus.each(corpus.sized)
def test_every_search_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    def compare(protocol: Protocol) -> None:
        found = corpus.explored(protocol)
        compare_searches(lambda: corpus.built(protocol), found, stateless=found.states < 60)

    passes(protocol, compare)


@corpus.each(corpus.sized)
def test_reductions_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    passes(protocol, lambda each: compare_reductions(lambda: corpus.built(each), corpus.explored(each)))


@corpus.each(corpus.sized)
def test_observations_of_generated_protocols(protocol: Protocol, dice: Random) -> None:
    passes(without_claims(protocol), lambda protocol: compare_observations(corpus.built(protocol)))


# Bundled protocols

# Parameters small enough for the reference. Others are tried with their defaults, and left out if they are too large.
SMALL: dict[str, list[dict[str, Any]]] = {
    "paxos": [{"acceptors": 2}, {"acceptors": 2, "majority": 1}, {"proposers": 1, "learners": 2}],
    "faulty-paxos": [{"acceptors": 2}],
    "faulty-paxos-2": [{"proposers": 2, "acceptors": 2}],
    "paxos-single": [{"acceptors": 2, "majority": 1}, {"proposers": 1}],
    "two-phase-commit": [{}, {"crashes": 1}],
    "ping-pong": [{}],
    "lamport-mutex": [{"requests": 1}],
    "paxos-counting": [{"proposers": 1}],
    "two-phase-commit-recovery": [{"participants": 1}],
    "three-phase-commit": [{"participants": 1}],
    "multi-paxos": [{"acceptors": 1}, {"acceptors": 2, "slots": 1}],
    "raft": [{"servers": 2, "terms": 1}, {"terms": 1, "crashes": 0}],
    "viewstamped-replication": [{"views": 0, "requests": 2}],
    "paxos-commit": [{"managers": 1, "acceptors": 2}],
    "saga": [{"services": 1, "crashes": 1}],
    "chang-roberts": [{"nodes": 3}],
    "termination-detection": [{"nodes": 2}],
    "raft-election": [{"servers": 2, "terms": 1}, {"terms": 1, "crashes": 0}],
    "pbft": [{"byzantine": 2, "quorum": 4}],
    "ben-or": [{"processes": 2, "f": 0}],
    "chandra-toueg": [{"rounds": 1, "crashes": 0}],
    "chain-replication": [{"servers": 2, "writes": 1, "reads": 1}],
    "gossip": [{"nodes": 3}],
    "safe-storage": [{"writes": 1}],
    "atomic-storage": [{"bases": 1}],
    "fd-consensus": [{"processes": 2}],
    "faulty-fd-consensus": [{"processes": 2}],
}
INSTANCES = [(name, parameters) for name in CATALOGUE for parameters in SMALL.get(name, [{}])]


@pytest.mark.parametrize(("name", "parameters"), INSTANCES, ids=[f"{each[0]}{each[1]}" for each in INSTANCES])
def test_bundled_protocols(name: str, parameters: dict[str, Any]) -> None:
    module, cls = CATALOGUE[name].split(":")
    made = without_temporal(getattr(import_module(module), cls))
    if name not in SMALL:
        size = check(made(**parameters), property=(), max_states=MOST_STATES, **PLAIN)
        if size.stopped_by is not None:
            pytest.skip(f"more than {MOST_STATES} states with default parameters")
    found = explore(define(made(**parameters)), max_states=4 * MOST_STATES)
    compare_searches(lambda: made(**parameters), found, stateless=found.states < 60)
    compare_reductions(lambda: made(**parameters), found)
    compare_observations(made(**parameters))


@pytest.mark.parametrize(
    ("cls", "options"),
    [(Paxos, PLAIN), (Paxos, {}), (FaultyPaxos, PLAIN), (FaultyPaxos, {}), (FaultyPaxos2, {})],
    ids=["plain", "reduced", "plain, violated", "reduced, violated", "large, violated"],
)
def test_any_number_of_threads_reports_the_same(cls: type[System], options: dict[str, Any]) -> None:
    """Large enough for all threads to have work; a level that holds a violation is finished by all of them."""
    runs = [run_of(check(cls(), threads=threads, **options)) for threads in (1, 2, 3, 5)]
    assert runs[0] == runs[1] == runs[2] == runs[3]


def test_every_hash_seed_reports_the_same() -> None:
    """Rule 13, on generated protocols: in processes of their own, since the seed is chosen when Python starts."""
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", "import test_against_reference; test_against_reference.print_runs()"]
        outputs.add(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 30


def print_runs() -> None:
    """The runs of some generated protocols, for comparison between processes."""
    tapes = Random(13)
    for _ in range(30):
        protocol = fitted(Tape(tapes.randbytes(Tape.LENGTH)).protocol(), MOST_STATES)
        if protocol is not None:
            print(run_of(check(system(protocol))), run_of(check(system(protocol), **PLAIN)))
