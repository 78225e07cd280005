"""`--all`: every violation is counted, and each property gets a shortest run; held against the reference."""

from __future__ import annotations

from collections import Counter

import pytest

from quorate import Process, System, can, check, eventually, final, invariant, start, step
from quorate.base.errors import QuorateError
from quorate.model.define import define
from quorate.properties import evaluate
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.wrong_regular_storage import WrongRegularStorage
from quorate.render.report import outcome
from quorate.semantics.state import State, Step
from quorate.semantics.steps import enabled_protocol
from reference import explore


class Walker(Process):
    x: int = 0
    y: int = 0

    @start
    def jump(self) -> None:
        self.y = 1

    @step(when=lambda self: self.x < 4)
    def walk(self) -> None:
        self.x += 1
        assert self.x < 4 or self.y == 0, "too far"


class Walk(System):
    def build(self) -> None:
        self.spawn(Walker)
        self.spawn(Walker)

    @invariant
    def low(self) -> bool:
        return all(walker.x < 3 for walker in self[Walker])

    @invariant
    def flat(self) -> bool:
        return sum(walker.y for walker in self[Walker]) < 2

    @invariant
    def fine(self) -> bool:
        return all(walker.x < 9 for walker in self[Walker])

    @can
    def apart(self) -> bool:
        return {walker.x for walker in self[Walker]} == {0, 3}

    @final
    def done(self) -> bool:
        return all(walker.x == 4 for walker in self[Walker]) and any(walker.y for walker in self[Walker])


@pytest.mark.parametrize("system", [Walk(), FaultyPaxos(), WrongRegularStorage()], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("threads", [1, 3])
def test_violations_are_counted_as_in_the_plain_semantics(system: System, threads: int) -> None:
    definition = define(system)
    invariants = [each for each in definition.properties if each.kind == "invariant"]
    bad: Counter[str] = Counter()
    first: dict[str, int] = {}

    def note(name: str, depth: int) -> None:
        bad[name] += 1
        first.setdefault(name, depth)

    def visit(state: State, depth: int, here: tuple[Step, ...]) -> None:
        for each in invariants:
            if not evaluate(definition, each, state.locals).value:
                note(each.name, depth)
        for taken in here:
            if taken.failure is not None:
                note("assertions", depth + 1)
        fine = definition.final is None or evaluate(definition, definition.final, state.locals).value
        if not fine and not enabled_protocol(here):
            note("deadlock", depth)

    explored = explore(definition, visit=visit)
    result = check(system, all=True, quotient="off", dead_messages="off", symmetry="none", threads=threads)
    assert result.violations is not None
    assert result.states == explored.states
    assert {each.property: each.count for each in result.violations} == dict(bad)
    assert {each.property: len(each.trace) for each in result.violations if each.trace is not None} == first
    assert result.verdict == "violated"
    assert result.property == result.violations[0].property
    assert {each.name for each in result.properties if each.verdict == "violated"} == set(bad)
    assert all(each.verdict == "holds" for each in result.properties if each.name not in bad)
    # With reductions the counts are of fewer states, but the properties and the lengths are the same.
    reduced = check(system, all=True, threads=threads)
    assert reduced.violations is not None
    assert {each.property: len(each.trace) for each in reduced.violations if each.trace is not None} == first


def test_the_report_counts_them() -> None:
    report = str(check(Walk, all=True, symmetry="none", quotient="off"))
    assert "violated in" in report
    assert "first after" in report


class Crowd(Process):
    x: int = 0

    @step(when=lambda self: self.x < 4)
    def walk(self) -> None:
        self.x += 1


class Crowds(System):
    def build(self) -> None:
        self.spawn(Crowd, 3)
        self.spawn(Walker)

    @invariant
    def low(self) -> bool:
        return all(each.x < 3 for each in self[Crowd])

    @invariant
    def together(self) -> bool:
        return len({each.x for each in self[Crowd]} | {self[Walker][0].x}) < 4

    @eventually
    def over(self) -> bool:
        return all(each.x == 3 for each in self[Crowd])


@pytest.mark.parametrize("threads", [1, 2])
def test_with_symmetry_one_of_each_kind_is_counted(threads: int) -> None:
    """A state stands for all that differ in names: the bad ones are counted once for each multiset of the crowd."""
    definition = define(Crowds())
    kinds: dict[str, set[object]] = {"low": set(), "together": set()}

    def visit(state: State, _: int, __: tuple[Step, ...]) -> None:
        for each in definition.properties:
            if each.name in kinds and not evaluate(definition, each, state.locals).value:
                kinds[each.name].add((tuple(sorted(map(str, state.locals[:3]))), str(state.locals[3:])))

    every = explore(definition, visit=visit)
    result = check(Crowds, all=True, quotient="off", dead_messages="off", threads=threads)
    assert result.states < every.states
    counts = {each.property: each.count for each in result.violations or ()}
    assert {name: counts[name] for name in kinds} == {name: len(found) for name, found in kinds.items()}
    told = {each.name: outcome(each, result) for each in result.properties}
    assert str(told["low"]).startswith(
        f"violated in {counts['low']:,} of {result.states:,} states, first after 3 steps"
    )
    assert "--all counts states" in str(told["over"])


def test_a_system_that_holds_has_none() -> None:
    result = check(Walk, property=["fine"], all=True)
    assert result.violations == () or {each.property for each in result.violations or ()} == {"assertions"}
    assert check(Walk, property=["fine"]).violations is None


def test_it_counts_states_so_it_needs_them() -> None:
    with pytest.raises(QuorateError, match="all=True"):
        check(Walk, all=True, search="dfs")


class Wrong(Walk):
    @invariant
    def never(self) -> bool:
        return any(walker.x for walker in self[Walker])


def test_a_run_without_steps_is_a_run() -> None:
    for everything in (False, True):
        result = check(Wrong, all=everything)
        assert result.trace is not None
        assert (result.property, len(result.trace)) == ("never", 0)


class Two(System):
    """Of a state that is new, one property is known before the other one."""

    def build(self) -> None:
        self.spawn(Walker)
        self.spawn(Walker)

    @invariant
    def first_low(self) -> bool:
        return self[Walker][0].x < 2

    @invariant
    def low(self) -> bool:
        return all(walker.x < 3 for walker in self[Walker])


@pytest.mark.parametrize("threads", [1, 2])
def test_fingerprints_count_a_state_once(threads: int) -> None:
    plain = {"all": True, "quotient": "off", "dead_messages": "off", "symmetry": "none", "threads": threads}
    exact = check(Two, **plain)  # type: ignore[arg-type]
    found = check(Two, store="fingerprint", **plain)  # type: ignore[arg-type]
    assert exact.violations is not None
    assert found.violations is not None
    assert {each.property: each.count for each in found.violations} == {
        each.property: each.count for each in exact.violations
    }


class Whole(Walk):
    @eventually
    def both(self) -> bool:
        return all(walker.x == 4 for walker in self[Walker])


def test_what_is_about_whole_runs_is_not_counted() -> None:
    outcome = {each.name: each for each in check(Whole, all=True).properties}["both"]
    assert outcome.verdict == "incomplete"
    assert "--all counts states" in outcome.note
