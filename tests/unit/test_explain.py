"""Which part of a property failed, and for which values."""

import sys
from textwrap import dedent
from typing import Any

import pytest

from handmade import violation, witness
from models import Everything, Starts
from quorate import Map, Process, System, check, invariant
from quorate.model.define import define
from quorate.properties.explanation import explain
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.two_phase_commit import Participant, TwoPhaseCommit
from quorate.semantics.state import initial_states
from support import here


class Server(Process):
    load: int = 0
    up: bool = False
    log: tuple[int, ...] = ()


class Leader(Server):
    load: int = 4


def overloaded(server: Server) -> bool:
    return server.load > 3


class Base(System):
    most: int = 3

    def build(self) -> None:
        self.spawn(Server, 2)
        self.spawn(Leader)

    @invariant
    def inherited(self) -> bool:
        return 0 <= sum(s.load for s in self[Server]) < self.most


class Explained(Base):
    @invariant
    def inherited(self) -> bool:
        return super().inherited() and self.most > 0

    @invariant
    def conjunction(self) -> bool:
        return self.most > 1 and all(s.load < 4 for s in self[Server])

    @invariant
    def disjunction(self) -> bool:
        return any(s.up for s in self[Server]) or not all(s.load <= 4 for s in self[Leader])

    @invariant
    def chain(self) -> bool:
        return 0 < len(self[Leader]) < len({s.load for s in self[Server]}) < 2

    @invariant
    def loops(self) -> bool:
        for one in self[Server]:
            for two in self[Server]:
                if one.load > two.load and not two.up:
                    return False  # here: loops
        return True

    @invariant
    def variables(self) -> bool:
        loads = {s.load for s in self[Server]}
        fine = len(loads) == 1
        return fine  # noqa: RET504 - this is what people write

    @invariant
    def helpers(self) -> bool:
        return not any(overloaded(s) for s in self[Server])

    @invariant
    def pairs(self) -> bool:
        return all(a.load == b.load for a in self[Server] for b in self[Leader] if a is not b)

    @invariant
    def values(self) -> bool:
        return all(v in {1, 2} for s in self[Leader] for v in (s.load, *s.log))

    @invariant
    def either(self) -> bool:
        one, two, leader = self[Server]
        return one.up if leader.load > 3 else two.up

    @invariant
    def over_several_lines(self) -> bool:
        return (
            self.most == 3
            and max(
                s.load  # the busiest
                for s in self[Server]
            )
            + 1
            <= self.most
        )

    @invariant
    def many(self) -> bool:
        return any(s.load > n for n in range(4, 10) for s in self[Leader])

    @invariant
    def nobody(self) -> bool:
        return any(s.up for s in self[Server] if s.log)

    @invariant
    def a_field(self) -> bool:
        return self[Server][0].up


EXPECTED = {
    "inherited": """
        super().inherited() and self.most > 0
          super().inherited() is false
            0 <= sum(s.load for s in self[Server]) < self.most
              4 < 3 is false
                sum((0, 0, 4)) is 4
                self.most is 3
        """,
    "conjunction": """
        self.most > 1 and all(s.load < 4 for s in self[Server])
          all(s.load < 4 for s in self[Server]) is false
            leader1.load < 4 is false: 4 < 4
        """,
    "disjunction": """
        any(s.up for s in self[Server]) or not all(s.load <= 4 for s in self[Leader])
          any(s.up for s in self[Server]) is false
            server1.up is False
            server2.up is False
            leader1.up is False
          not all(s.load <= 4 for s in self[Leader]) is false
            leader1.load <= 4 is true: 4 <= 4
        """,
    "chain": """
        0 < len(self[Leader]) < len({s.load for s in self[Server]}) < 2
          2 < 2 is false
            len({0, 4}) is 2
        """,
    "loops": """
        returns False in line @loops@
          for one = leader1, two = server1
          leader1.load > server1.load and (not server1.up) is true
            leader1.load > server1.load is true: 4 > 0
            not server1.up is true
              server1.up is False
        """,
    "variables": """
        fine
          fine = len(loads) == 1
            2 == 1 is false
              len({0, 4}) is 2
              loads = {s.load for s in self[Server]}
        """,
    "helpers": """
        not any(overloaded(s) for s in self[Server])
          overloaded(leader1) is true
            server.load > 3
              leader1.load > 3 is true: 4 > 3
        """,
    "pairs": """
        all(a.load == b.load for a in self[Server] for b in self[Leader] if a is not b)
          server1.load == leader1.load is false: 0 == 4
        """,
    "values": """
        all(v in {1, 2} for s in self[Leader] for v in (s.load, *s.log))
          for s = leader1, v = 4: v in {1, 2} is false: 4 in {1, 2}
        """,
    "either": """
        one.up if leader.load > 3 else two.up
          leader1.load > 3 is true: 4 > 3
          server1.up is False
        """,
    "over_several_lines": """
        self.most == 3 and max(s.load for s in self[Server]) + 1 <= self.most
          5 <= 3 is false
            max((0, 0, 4)) is 4
            self.most is 3
        """,
    "many": """
        any(s.load > n for n in range(4, 10) for s in self[Leader])
          for n = 4: leader1.load > n is false: 4 > 4
          for n = 5: leader1.load > n is false: 4 > 5
          for n = 6: leader1.load > n is false: 4 > 6
          for n = 7: leader1.load > n is false: 4 > 7
          and so for 2 more
        """,
    "nobody": """
        any(s.up for s in self[Server] if s.log)
          there is nothing to look at: self[Server]
        """,
    "a_field": """
        self[Server][0].up
        """,
}


class Replica(Process):
    log: tuple[int, ...] = (1, 2)
    votes: frozenset[int] = frozenset({1, 2})
    known: Map[int, str] = Map({1: "a"})


class Stray(Replica):
    log: tuple[int, ...] = (1, 3)
    votes: frozenset[int] = frozenset({2, 3})
    known: Map[int, str] = Map({1: "a", 2: "b"})


class Different(System):
    def build(self) -> None:
        self.spawn(Replica)
        self.spawn(Stray)

    @invariant
    def a_part(self) -> bool:
        return all(r.votes <= {1, 2} for r in self[Replica])

    @invariant
    def both_ways(self) -> bool:
        return self[Replica][0].votes == self[Stray][0].votes

    @invariant
    def in_order(self) -> bool:
        return self[Replica][0].log == self[Stray][0].log

    @invariant
    def a_start(self) -> bool:
        return self[Stray][0].log == (1,)

    @invariant
    def by_key(self) -> bool:
        return self[Replica][0].known == self[Stray][0].known

    @invariant
    def by_method(self) -> bool:
        return self[Stray][0].votes.issubset({1, 2})

    @invariant
    def by_case(self) -> bool:
        match self[Stray][0].log:
            case (1, _):
                return False  # here: case
            case _:
                return True


DIFFERENT = {
    "a_part": """
        all(r.votes <= {1, 2} for r in self[Replica])
          stray1.votes <= {1, 2} is false: {2, 3} <= {1, 2}
            only on the left: {3}
        """,
    "both_ways": """
        self[Replica][0].votes == self[Stray][0].votes
          replica1.votes == stray1.votes is false: {1, 2} == {2, 3}
            only on the left: {1}
            only on the right: {3}
        """,
    "in_order": """
        self[Replica][0].log == self[Stray][0].log
          replica1.log == stray1.log is false: (1, 2) == (1, 3)
            they differ at [1]: 2 and 3
        """,
    "a_start": """
        self[Stray][0].log == (1,)
          stray1.log == (1,) is false: (1, 3) == (1,)
            the left one goes on with 3
        """,
    "by_key": """
        self[Replica][0].known == self[Stray][0].known
          replica1.known == stray1.known is false: {1: 'a'} == {1: 'a', 2: 'b'}
            they differ at 2: nothing and 'b'
        """,
    "by_method": """
        self[Stray][0].votes.issubset({1, 2})
          stray1.votes is {2, 3}
        """,
    "by_case": """
        returns False in line @case@
          stray1.log is (1, 3)
        """,
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_it_is_said_where_collections_differ(name: str) -> None:
    expected = dedent(DIFFERENT[name]).strip().replace("@case@", str(here("case")[1]))
    assert explanation(Different(), name) == expected


def explanation(system: System, name: str) -> str | None:
    definition = define(system)
    part = explain(definition, definition.property(name), initial_states(definition)[0])
    return "\n".join(part.lines()) if part is not None else None


@pytest.mark.parametrize("name", EXPECTED)
def test_an_expression_is_taken_apart(name: str) -> None:
    expected = dedent(EXPECTED[name]).strip().replace("@loops@", str(here("loops")[1]))
    assert explanation(Explained(), name) == expected


def test_every_property_above_is_tried() -> None:
    assert {each.name for each in define(Explained()).invariants} == set(EXPECTED)


def test_a_run_carries_its_explanation() -> None:
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    assert trace.explanation is not None
    assert list(trace.explanation.lines()) == [
        "len({v for learner in self[Learner] for v in learner.learned}) <= 1",
        "  2 <= 1 is false",
        "    len({1, 2}) is 2",
    ]
    assert trace.to_json()["explanation"]["parts"][0]["text"] == "2 <= 1 is false"


def test_a_deadlock_is_explained_by_what_was_to_be_final() -> None:
    trace = violation(TwoPhaseCommit(crashes=1), "deadlock")
    assert trace.explanation is not None
    assert list(trace.explanation.lines())[1] == "  participant1.committed is not None is false: None is not None"


def test_a_witness_is_explained_too_and_a_failure_explains_itself() -> None:
    reached = witness(Everything(), "served").explanation
    assert reached is not None
    assert list(reached.lines())[1] == "  asker1.answers is {helper1: 1, helper2: 1}"
    assert violation(Everything(), "assertion").explanation is None


def test_long_values_are_cut() -> None:
    class Long(TwoPhaseCommit):
        @invariant
        def sums(self) -> bool:
            return sum(n for p in self[Participant] for n in range(100)) == 0

    text = explanation(Long(), "sums")
    assert text is not None
    assert "…" in text
    assert max(map(len, text.splitlines())) < 120


def test_without_source_there_is_no_explanation() -> None:
    scope: dict[str, Any] = {"System": System, "Process": Process, "invariant": invariant, "Server": Server}
    exec(
        "class Made(System):\n"
        "    def build(self): self.spawn(Server)\n"
        "    @invariant\n"
        "    def fails(self): return self[Server][0].up\n",
        scope,
    )
    assert explanation(scope["Made"](), "fails") is None


def test_iterators_that_are_used_up_are_not_explained() -> None:
    class Iterating(Starts):
        @invariant
        def used_up(self) -> bool:
            loads = (n for n in (1, 0))
            return all(loads)

    assert explanation(Iterating(), "used_up") is None


def test_a_debugger_keeps_its_place() -> None:
    def tracer(*_: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert explanation(Explained(), "pairs") is not None
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


class Guarded(System):
    """Operands that raise wherever Python would not evaluate them."""

    def build(self) -> None:
        self.spawn(Server, 2)

    @invariant
    def conjunction(self) -> bool:
        return all(len(s.log) >= 1 and s.log[0] == 7 for s in self[Server])

    @invariant
    def disjunction(self) -> bool:
        return not any(len(s.log) == 0 or s.log[0] == 7 for s in self[Server])

    @invariant
    def conditional(self) -> bool:
        return all((s.log[0] == 7 if s.log else s.up) for s in self[Server])

    @invariant
    def conditions(self) -> bool:
        return any(s.log[0] == 7 for s in self[Server] if s.log)

    @invariant
    def nobody(self) -> bool:
        return len(self[Leader]) > 0 and self[Leader][0].up

    @invariant
    def nested(self) -> bool:
        return all(
            any(len(t.log) > n and t.log[n] == s.load for n in range(2)) for s in self[Server] for t in self[Server]
        )

    @invariant
    def same_name(self) -> bool:
        (s, _) = self[Server]
        return len(s.log) > 0 or any(s.log[0] for s in self[Server] if s.log)

    @invariant
    def chained(self) -> bool:
        (s, _) = self[Server]
        return 0 < len(s.log) < s.log[0]

    @invariant
    def since_changed(self) -> bool:
        (s, _) = self[Server]
        place = 0
        first = (1, 2)[place]
        place = 5
        return first == s.load


GUARDED = {
    "conjunction": "all(len(s.log) >= 1 and s.log[0] == 7 for s in self[Server])\n"
    "  len(server1.log) >= 1 and server1.log[0] == 7 is false\n    0 >= 1 is false\n      len(()) is 0",
    "disjunction": "not any(len(s.log) == 0 or s.log[0] == 7 for s in self[Server])\n"
    "  len(server1.log) == 0 or server1.log[0] == 7 is true\n    0 == 0 is true\n      len(()) is 0",
    "conditional": "all(s.log[0] == 7 if s.log else s.up for s in self[Server])\n"
    "  server1.log[0] == 7 if server1.log else server1.up is false\n"
    "    server1.log is ()\n    server1.up is False",
    "conditions": "any(s.log[0] == 7 for s in self[Server] if s.log)\n  there is nothing to look at: self[Server]",
    "nobody": "len(self[Leader]) > 0 and self[Leader][0].up\n  0 > 0 is false\n    len(()) is 0",
    "chained": "0 < len(s.log) < s.log[0]\n  0 < 0 is false\n    len(()) is 0",
}


@pytest.mark.parametrize("name", GUARDED)
def test_a_guarded_operand_is_evaluated_only_where_python_does(name: str) -> None:
    assert explanation(Guarded(), name) == GUARDED[name]


@pytest.mark.parametrize("name", ["nested", "same_name", "since_changed"])
def test_what_cannot_be_taken_apart_costs_no_more_than_itself(name: str) -> None:
    assert explanation(Guarded(), name) is not None
