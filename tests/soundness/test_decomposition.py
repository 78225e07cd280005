"""Processes taken apart into their roles, held against the whole: a model for each condition of the bisimulation.

Each of them looks as if its roles shared nothing but a name. Without the condition it gets another answer, or none.
"""

from __future__ import annotations

from typing import Any

import pytest

from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    can,
    check,
    final,
    invariant,
    on,
    quorum,
    start,
    step,
)
from quorate.options import Options
from quorate.search.plan import plan


class Vote(Message):
    pass


class First(Vote):
    pass


class Second(Vote):
    pass


class Named(Message):
    who: Pid


class Caller(Process):
    callees: Peers = Peers()

    @start
    def call(self) -> None:
        self.send(self.callees, First())


# Condition 4: on a set, equal messages of two roles are one message of the process.


class Twin(Process):
    n: int = 0
    others: Peers = Peers()

    @start
    def call_too(self) -> None:
        self.send(self.others, First())

    @on(First, when=lambda self, m: self.n < 4)
    def hear(self, m: First) -> None:
        self.n += 1


class EqualMessages(System):
    class Server(Caller, Twin):
        pass

    def build(self) -> None:
        servers = self.spawn(self.Server, 2)
        self.connect(servers, callees=servers.playing(Twin), others=servers.playing(Twin))

    @final
    def all_heard(self) -> bool:
        return all(p.n == 4 for p in self[Twin])


# Condition 4: what is sent to one role, another takes.


class Misled(System):
    class Server(Caller, Twin):
        pass

    def build(self) -> None:
        servers = self.spawn(self.Server, 2)
        self.connect(servers, callees=servers.playing(Caller), others=Peers())

    @can
    def heard(self) -> bool:
        return any(p.n == 2 for p in self[Twin])


# Condition 5: messages of two roles have one sender, and a quorum wants several.


class Gatherer(Process):
    done: bool = False
    others: Peers = Peers()

    @start
    def call_too(self) -> None:
        self.send(self.others, Second())

    @quorum(Vote, size=3)
    def hear(self, votes: frozenset[Vote]) -> None:
        self.done = True


class OneSender(System):
    class Server(Caller, Gatherer):
        pass

    def build(self) -> None:
        servers = self.spawn(self.Server, 2)
        self.connect(servers, callees=servers.playing(Gatherer), others=servers.playing(Gatherer))

    @final
    def all_heard(self) -> bool:
        return all(p.done for p in self[Gatherer])


# Condition 5: `each` names other roles than those that send.


class Judge(Process):
    peers: Peers = Peers()
    done: bool = False

    @quorum(First, each="peers")
    def decide(self, votes: frozenset[First]) -> None:
        self.done = True


class EachOtherRole(System):
    class Server(Caller, Judge):
        pass

    def build(self) -> None:
        servers = self.spawn(self.Server, 2)
        self.connect(servers, callees=servers.playing(Judge), peers=servers.playing(Judge))

    @can
    def decided(self) -> bool:
        return any(p.done for p in self[Judge])


class Doubting(Process):
    peers: Peers = Peers()
    done: bool = False

    @quorum(First, each=lambda self: tuple(self.peers))
    def decide(self, votes: frozenset[First]) -> None:
        self.done = True


class EachNamesTwoRoles(System):
    class Server(Caller, Doubting):
        pass

    def build(self) -> None:
        servers = self.spawn(self.Server, 2)
        both = servers.playing(Caller) | servers.playing(Doubting)
        self.connect(servers, callees=servers.playing(Doubting), peers=Peers(both))

    @can
    def decided(self) -> bool:
        return any(p.done for p in self[Doubting])


# Condition 2: what two roles inherit happens once.


class Up(Event):
    pass


class Node(Process):
    @start
    def boot(self) -> None:
        self.emit(Up())


class Left(Node):
    x: int = 0


class Right(Node):
    y: int = 0


class Boots(Monitor):
    n: int = 0

    @on(Up)
    def up(self, e: Up) -> None:
        self.n += 1 if self.n < 4 else 0


class InheritedTwice(System):
    class Server(Left, Right):
        pass

    def build(self) -> None:
        self.spawn(self.Server, 2)
        self.watch(Boots)

    @final
    def four(self) -> bool:
        return self[Boots].n == 4


# Condition 2: a bound of the whole.


class Ticking(Process):
    ticks: int = 0

    @step(when=lambda self: self.ticks < 3)
    def tick(self) -> None:
        self.ticks += 1


class Tocking(Process):
    tocks: int = 0

    @step(when=lambda self: self.tocks < 3)
    def tock(self) -> None:
        self.tocks += 1


class BoundedTogether(System):
    class Server(Ticking, Tocking):
        def within(self) -> bool:
            return self.ticks + self.tocks < 3

    def build(self) -> None:
        self.spawn(self.Server, 2)

    @invariant
    def bounded(self) -> bool:
        return all(p.ticks < 3 or p.tocks < 3 for p in self[self.Server])


# Condition 3: a flag of the whole, a method that it overrides, an identity that is compared, counted or shown.


class Eager(Process):
    most: int = 1
    ticks: int = 0
    HURRY = 0

    @step(when=lambda self: self.ticks < self.most + self.HURRY)
    def tick(self) -> None:
        self.ticks += self.much()

    def much(self) -> int:
        return 1


class Flagged(System):
    class Server(Eager, Tocking):
        HURRY = 1

    def build(self) -> None:
        self.spawn(self.Server, 2)

    @invariant
    def few(self) -> bool:
        return all(p.ticks < 2 for p in self[Eager])


class Overridden(System):
    class Server(Eager, Tocking):
        def much(self) -> int:
            return 2

    def build(self) -> None:
        self.spawn(self.Server, 2)

    @invariant
    def few(self) -> bool:
        return all(p.ticks < 2 for p in self[Eager])


class Asking(Process):
    helpers: Peers = Peers()

    @start
    def ask(self) -> None:
        for helper in self.helpers:
            self.send(helper, Named(self.pid))


class Helping(Process):
    met: frozenset[Pid] = frozenset()

    @on(Named)
    def hear(self, m: Named) -> None:
        self.met |= {m.who, self.pid}


class Counted(System):
    """A set holds one identity where it would hold two: nobody asks how many, but for the property."""

    class Server(Asking, Helping):
        pass

    def build(self) -> None:
        servers = self.spawn(self.Server, 2)
        self.connect(servers, helpers=servers.playing(Helping))

    @invariant
    def few(self) -> bool:
        return all(len(p.met) < 3 for p in self[Helping])


class Compared(System):
    class Server(Asking, Helping):
        pass

    def build(self) -> None:
        servers = self.spawn(self.Server, 2)
        self.connect(servers, helpers=servers.playing(Helping))

    @can
    def meets_itself(self) -> bool:
        return any(len(p.met) == 1 for p in self[Helping])


class Watching(Monitor):
    """Knows who was up, and that it was nobody else."""

    last: Pid | None = None
    twice: bool = False

    @on(Up)
    def up(self, e: Up) -> None:
        self.twice |= self.last == e.source
        self.last = e.source


class Upper(Process):
    done: bool = False

    @start
    def rise(self) -> None:
        self.emit(Up())


class Riser(Process):
    gone: bool = False

    @start
    def rise_too(self) -> None:
        self.emit(Up())


class MonitorCompares(System):
    class Server(Upper, Riser):
        pass

    def build(self) -> None:
        self.spawn(self.Server, 2)
        self.watch(Watching)

    @invariant
    def never_twice(self) -> bool:
        return not self[Watching].twice


REASONS: dict[type[System], str] = {
    EqualMessages: "two roles of one process send the same First",
    Misled: "another role takes it",
    OneSender: "Gatherer.hear takes messages of several roles of one process",
    EachOtherRole: "Judge.decide takes messages of several roles of one process",
    EachNamesTwoRoles: "each= of Doubting.decide names several roles of one process",
    InheritedTwice: "roles of Server share the",
    BoundedTogether: "Server.within bounds the whole process",
    Flagged: "Eager.tick does something else if Server is not taken apart",
    Overridden: "Eager.tick does something else if Server is not taken apart",
    MonitorCompares: "Watching tells the roles of a process apart",
}


@pytest.mark.parametrize("model", REASONS)
def test_processes_stay_whole_where_their_roles_have_one_identity(model: type[System]) -> None:
    wanted = check(model, symmetry="none", quotient="off", dead_messages="off")
    found = check(model)
    assert found.verdict == wanted.verdict
    assert REASONS[model] in found.reductions["symmetry"]["not_decomposed"]
    assert REASONS[model] in plan(model, Options()).reductions["symmetry"]["not_decomposed"]


@pytest.mark.parametrize("model", [Counted, Compared])
def test_what_makes_no_difference_to_handlers_makes_none_to_properties(model: type[System]) -> None:
    """Identities are merged in the whole; a property is asked about the whole, and so gets it right."""
    wanted = check(model, symmetry="none", quotient="off", dead_messages="off")
    found = check(model)
    assert found.verdict == wanted.verdict
    assert found.reductions["symmetry"]["decomposed"] == ["Asking", "Helping"]
    for trace in (found.trace, *found.witnesses.values()):
        assert trace is None or trace.definition.columns[0].name == "server1"


class Accused(System):
    class Server(Upper, Riser):
        pass

    def build(self) -> None:
        self.spawn(self.Server, 3)

    @invariant
    def fine(self) -> bool:
        return not any(p.gone and not p.done for p in self[self.Server])


@pytest.mark.parametrize("symmetry", ["none", "naive", "auto"])
@pytest.mark.parametrize("asked", [{"crash": "implicit"}, {"byzantine": {"server": 1}}], ids=["implicit", "byzantine"])
def test_what_is_asked_of_whole_processes_is_not_refused_for_their_roles(asked: Any, symmetry: Any) -> None:
    assert check(Accused, symmetry=symmetry, **asked).ok
