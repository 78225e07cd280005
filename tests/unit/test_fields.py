"""A definition knows the type that each field is declared with."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, ClassVar, NamedTuple

from quorate import Among, Crash, Event, Map, Message, Monitor, Peers, Pid, Process, System, on, start
from quorate.model.define import define
from quorate.model.fields import field_types
from quorate.protocols.paxos import Paxos

ONE_OR_TWO = Among(1, 2)


class Colour(Enum):
    RED = 1


class Vote(NamedTuple):
    ballot: int
    colour: Colour


class Ask(Message):
    ballot: Annotated[int, ONE_OR_TWO]
    votes: tuple[Vote, ...] = ()


class Urgent(Ask):
    until: int | None = None


class Asked(Event):
    colour: Colour


class Base(Process):
    limit: ClassVar[int] = 3
    peers: Peers
    best: Vote | None = None
    seen: Any = None


class Voter(Base):
    seen: frozenset[Pid] = frozenset()
    names: Map[str, int] = Map()

    @start
    def ask(self) -> None:
        self.send(self.peers, Ask(1))

    @on(Ask)
    def answer(self, m: Ask) -> None:
        self.emit(Asked(Colour.RED))

    @on(Crash)
    def note(self, _: Crash) -> None: ...


class Watch(Monitor):
    count: int = 0

    @on(Asked)
    def saw(self, _: Asked) -> None:
        self.count += 1


class Voting(System):
    def build(self) -> None:
        first = self.spawn(Voter, peers=())
        self.spawn(Voter, peers=(first,))
        self.watch(Watch)


def test_of_processes_and_monitors() -> None:
    definition = define(Voting())
    voter, _, watch = definition.columns
    assert voter.spec.types == {
        "peers": Peers,
        "best": Vote | None,
        "seen": frozenset[Pid],
        "names": Map[str, int],
    }
    assert tuple(voter.spec.types) == voter.fields[: voter.spec.visible]
    assert watch.spec.types == {"count": int}


def test_of_messages_and_events_and_of_what_is_derived_from_them() -> None:
    assert define(Voting()).messages == {
        Ask: {"ballot": Annotated[int, ONE_OR_TWO], "votes": tuple[Vote, ...]},
        Urgent: {"ballot": Annotated[int, ONE_OR_TWO], "votes": tuple[Vote, ...], "until": int | None},
        Crash: {},
        Asked: {"colour": Colour},
    }


def test_a_name_that_cannot_be_looked_up_stays_a_text() -> None:
    class Local(Enum):
        ONE = 1

    class Holds(Message):
        local: Local
        number: int

    assert field_types(Holds) == {"local": "Local", "number": int}


def test_with_delivery_events_a_channel_adds_nothing() -> None:
    from quorate.model.environment import Environment

    assert define(Paxos(), Environment(network_model="grm")).messages == define(Paxos()).messages
    assert {cls.__name__ for cls in define(Paxos()).messages} == {"Prepare", "Promise", "Accept", "Accepted"}
