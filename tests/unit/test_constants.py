"""Fields that are given once and never assigned: read everywhere, shown nowhere, and still a part of the process."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest

import quorate
from quorate import Among, Constant, Message, Monitor, Peers, Pid, Process, System, crashes, invariant, on, quorum, step
from quorate.base.errors import ModelError
from quorate.explore.present import position_view
from quorate.explore.session import Session
from quorate.language.constants import Constant as Same
from quorate.model.define import define
from quorate.render.html.run import states

SMALL = Among(1, 2)
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


class Hello(Message):
    rank: int


class Node(Process):
    others: Constant[Peers]
    rank: Constant[int] = 0
    heard: int = 0

    @step(when=lambda self: self.heard == 0)
    def greet(self) -> None:
        self.heard = 1
        self.send(self.others, Hello(self.rank))

    @quorum(Hello, each="others")
    def hear(self, all_of_them: frozenset[Hello]) -> None:
        self.heard = 2 + max(m.rank for m in all_of_them)


class Greetings(System):
    nodes: int = 3
    ranked: bool = False
    crash: int = 0

    def build(self) -> None:
        nodes = self.spawn(Node, self.nodes)
        for number, node in enumerate(nodes):
            self.connect(node, others=nodes - {node}, rank=number if self.ranked else 0)
        self.faults = crashes(self.crash, recover=True)

    @invariant
    def nobody_hears_itself(self) -> bool:
        return all(node.heard <= 1 + self.nodes and len(node.others) == self.nodes - 1 for node in self[Node])


def test_a_constant_is_read_but_not_assigned() -> None:
    assert quorate.check(Greetings()).ok

    class Vain(Node):
        @step(when=lambda self: self.rank == 0)
        def promote(self) -> None:
            self.rank = 7

    class Promoted(System):
        def build(self) -> None:
            self.spawn(Vain, others=Peers())

        @invariant
        def nothing(self) -> bool:
            return True

    with pytest.raises(ModelError, match=r"Vain\.rank was assigned, and is a constant") as caught:
        quorate.check(Promoted())
    assert caught.value.code == "Q102"


def test_it_is_not_shown() -> None:
    session = Session(define(Greetings()))
    view = position_view(session, session.at((0,)))
    assert [[field["name"] for field in process["fields"]] for process in view["processes"]] == [["heard"]] * 3

    class Alarmed(Greetings):
        @invariant
        def silence(self) -> bool:
            return all(node.heard == 0 for node in self[Node])

    result = quorate.check(Alarmed())
    assert result.trace is not None
    cards = states(result.trace)["states"][0]["processes"]
    assert [name for name, _, _ in cards[0]["fields"]] == ["heard"]
    assert "others" not in str(result)
    assert "others" in json.dumps(result.to_json()), "a saved run says all that is known"


@pytest.mark.parametrize("ranked", [False, True])
def test_only_equal_processes_are_exchanged(ranked: bool) -> None:
    """Constants that a renaming maps onto one another do not keep processes apart; ranks do."""
    system = Greetings(ranked=ranked)
    plain, reduced = quorate.check(system, **PLAIN), quorate.check(system, symmetry="auto", quotient="off")
    assert plain.ok
    assert reduced.ok
    assert (reduced.states < plain.states) == (not ranked)


def test_ranks_decide_what_is_found() -> None:
    """As a field and as a constant: the same verdict and the same number of states, with and without symmetry."""

    class Field(Node):
        rank: int = 0

    class Fields(Greetings):
        def build(self) -> None:
            nodes = self.spawn(Field, self.nodes)
            for number, node in enumerate(nodes):
                self.connect(node, others=nodes - {node}, rank=number)

        @invariant
        def highest_is_first(self) -> bool:
            return self[Node][2].heard != 2 + 1

    class Constants(Fields):
        def build(self) -> None:
            Greetings.build(self)

    assert Field._constants == {"others"}
    for options in ({}, PLAIN, {"symmetry": "auto"}):
        one, two = (quorate.check(system, **options) for system in (Fields(), Constants(ranked=True)))
        assert (one.verdict, one.states) == (two.verdict, two.states) == ("violated", one.states)
        assert one.trace is not None
        assert two.trace is not None
        assert len(one.trace.steps) == len(two.trace.steps)


def test_a_process_that_recovers_still_has_it() -> None:
    result = quorate.check(Greetings(nodes=2, ranked=True, crash=1), **PLAIN)
    assert result.ok
    assert not any(column.spec.origin >= 0 for column in define(Greetings(ranked=True, crash=1)).columns)


def test_what_is_chosen_is_no_constant() -> None:
    class Chosen(Greetings):
        def build(self) -> None:
            self.spawn(Node, 2, others=Peers(), rank=self.choose((1, 2)))

    with pytest.raises(ModelError, match=r"node1\.rank is a constant, but not the same") as caught:
        define(Chosen())
    assert caught.value.code == "Q112"


class Count(Monitor):
    limit: Constant[int]
    seen: int = 0


class Other(Process):
    plain: Same[Annotated[int, SMALL]] = 1
    told: quorate.Constant[Pid | None] = None
    names: int = 0  # not Constant[int]

    @on(Hello)
    def nothing(self, m: Hello) -> None: ...


def test_how_it_is_written() -> None:
    assert Count._constants == {"limit"}
    assert Other._constants == {"told"}, "an unevaluated annotation is known by its name"
    evaluated: Any = type("Evaluated", (Process,), {"__annotations__": {"kept": Constant[int], "changed": int}})
    assert evaluated._constants == {"kept"}


def test_types_are_those_of_fields() -> None:
    class Lonely(System):
        def build(self) -> None:
            self.spawn(Other)
            self.watch(Count, limit=1)

    process, monitor = define(Lonely()).columns
    assert process.spec.types == {"plain": Annotated[int, SMALL], "told": Pid | None, "names": int}
    assert monitor.spec.types["limit"] is int
