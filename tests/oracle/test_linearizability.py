"""Linearizability and weak registers, against all orders tried one by one: on every history of small systems."""

from typing import Any

import pytest

import all_orders
import quorate
from quorate import Map, Monitor, Pid, Process, System, can, invariant, on, step
from quorate.histories import (
    Acquire,
    Add,
    Append,
    CasRegister,
    CompareAndSwap,
    Contains,
    Counter,
    Delete,
    Dequeue,
    Enqueue,
    Get,
    Increment,
    KeyValue,
    Lock,
    Log,
    Pop,
    Push,
    Put,
    Queue,
    Read,
    Register,
    Release,
    Remove,
    Set,
    Stack,
    Write,
    linearizable,
    regular_register,
    safe_register,
    sequentially_consistent,
)
from quorate.histories.linearizability import Linearizability
from quorate.language.declared import WATCH_MARK
from quorate.language.operation import Invoked, Returned
from quorate.native.history import NativeHistory

CHOICES: dict[str, tuple[Any, tuple[tuple[Any, tuple[Any, ...]], ...]]] = {
    "register": (Register(0), ((Write(1), (None,)), (Read(), (0, 1)))),
    "cas-register": (CasRegister(0), ((CompareAndSwap(0, 1), (False, True)), (Read(), (0, 1)))),
    "counter": (Counter(), ((Increment(2), (None,)), (Read(), (0, 2)))),
    "set": (Set(), ((Add(1), (False, True)), (Remove(1), (True,)), (Contains(1), (True,)))),
    "queue": (Queue(), ((Enqueue(1), (None,)), (Enqueue(2), (None,)), (Dequeue(), (None, 1)))),
    "stack": (Stack(), ((Push(1), (None,)), (Push(2), (None,)), (Pop(), (None, 1)))),
    "key-value": (KeyValue(), ((Put("a", 1), (None,)), (Delete("a"), (None,)), (Get("a"), (None, 1)))),
    "lock": (Lock(), ((Acquire(), (None,)), (Release(), (None,)))),
    "log": (Log(), ((Append("a"), (0, 1)), (Read(), ((), ("a",))))),
}


class Anything(Process):
    """A client that gets any answer at all."""

    kind: str
    left: int
    doing: int = -1

    @step(when=lambda self: self.doing < 0 and self.left > 0)
    def begin(self) -> None:
        self.left -= 1
        self.doing = self.choose(range(len(CHOICES[self.kind][1])))
        self.invoke(CHOICES[self.kind][1][self.doing][0])

    @step(when=lambda self: self.doing >= 0)
    def end(self) -> None:
        self.returns(self.choose(CHOICES[self.kind][1][self.doing][1]))
        self.doing = -1


class AtOnce(Process):
    """The same with an operation of each identity, which may all be under way."""

    kind: str
    doing: tuple[int, ...]  # by identity: -1 before it has begun, -2 after it has ended

    @step(when=lambda self: -1 in self.doing)
    def begin(self) -> None:
        identity = self.choose([at for at, doing in enumerate(self.doing) if doing == -1])
        choice = self.choose(range(len(CHOICES[self.kind][1])))
        self.invoke(CHOICES[self.kind][1][choice][0], identity=identity)
        self.doing = (*self.doing[:identity], choice, *self.doing[identity + 1 :])

    @step(when=lambda self: any(doing >= 0 for doing in self.doing))
    def end(self) -> None:
        identity = self.choose([at for at, doing in enumerate(self.doing) if doing >= 0])
        self.returns(self.choose(CHOICES[self.kind][1][self.doing[identity]][1]), identity=identity)
        self.doing = (*self.doing[:identity], -2, *self.doing[identity + 1 :])


class Recorder(Monitor):
    events: tuple[Any, ...] = ()

    @on(Invoked)
    def began(self, e: Invoked) -> None:
        self.events += (("began", (e.source, e.identity), e.operation),)

    @on(Returned)
    def ended(self, e: Returned) -> None:
        self.events += (("ended", (e.source, e.identity), e.value),)


def monitor_of(prop: Any) -> type[Linearizability]:
    found: type[Linearizability] = getattr(prop, WATCH_MARK)
    return found


def system(kind: str, prop: Any, expected: Any) -> type[System]:
    """Every history of a few clients, with an invariant that the property and the definition agree on it."""
    monitor: type[Linearizability] = monitor_of(prop)

    class Histories(System):
        clients: int = 2
        ops: int = 2
        at_once: int = 0  # operations of one more client, each with an identity

        def build(self) -> None:
            self.spawn(Anything, self.clients, kind=kind, left=self.ops)
            if self.at_once:
                self.spawn(AtOnce, kind=kind, doing=(-1,) * self.at_once)
            self.watch(Recorder)

        @invariant
        def agree(self) -> bool:
            return bool(self[monitor].possible == expected(all_orders.operations(self[Recorder].events)))

    Histories.judged = prop  # type: ignore[attr-defined]
    return Histories


@pytest.fixture(params=["native", "python"])
def evaluated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(NativeHistory, "fits", staticmethod(lambda _: False))
    return str(request.param)


@pytest.mark.parametrize("kind", CHOICES)
def test_linearizability_by_definition(kind: str, evaluated: str) -> None:
    specification = CHOICES[kind][0]
    made = system(kind, linearizable(specification), lambda ops: all_orders.linearizable(specification, ops))
    two = evaluated == "native" and kind in ("register", "lock")
    result = quorate.check(made(clients=2, ops=2) if two else made(clients=3, ops=1), property="agree")
    assert result.verdict == "holds", result
    assert quorate.check(made(ops=1), property="judged").verdict == "violated"


@pytest.mark.usefixtures("evaluated")
def test_several_operations_of_a_process_at_once() -> None:
    specification = CHOICES["register"][0]
    made = system("register", linearizable(specification), lambda ops: all_orders.linearizable(specification, ops))
    for clients, at_once in ((0, 3), (1, 2)):
        result = quorate.check(made(clients=clients, ops=1, at_once=at_once), property="agree")
        assert result.verdict == "holds", result
        judged = quorate.check(made(clients=clients, ops=1, at_once=at_once), property="judged")
        assert judged.verdict == "violated"
        # A client with identities has the histories of as many clients, and no others.
        assert judged.trace is not None
        same = quorate.check(made(clients=3, ops=1), property="judged").trace
        assert same is not None
        assert len(judged.trace.steps) == len(same.steps)


@pytest.mark.parametrize("safe", [False, True])
def test_weak_registers_by_definition(safe: bool) -> None:
    prop = (safe_register if safe else regular_register)(0)
    made = system("register", prop, lambda ops: all_orders.regular(ops, 0, safe=safe))
    for clients, ops, at_once in ((2, 2, 0), (3, 1, 0), (1, 1, 2)):
        result = quorate.check(made(clients=clients, ops=ops, at_once=at_once), property="agree")
        assert result.verdict == "holds", result
    assert quorate.check(made(), property="judged").verdict == "violated"


@pytest.mark.parametrize("kind", ["register", "queue"])
def test_sequential_consistency_by_definition(kind: str) -> None:
    specification = CHOICES[kind][0]
    prop = sequentially_consistent(specification, where=lambda _: True)
    made = system(kind, prop, lambda ops: all_orders.linearizable(specification, ops, sequential=True))
    for clients, ops in ((2, 2), (3, 1)) if kind == "register" else ((2, 1),):
        result = quorate.check(made(clients=clients, ops=ops), property="agree")
        assert result.verdict == "holds", result


class Old(System):
    """A read that misses a write which has ended: sequentially consistent, not linearizable."""

    judged = linearizable(Register(0))
    sequential = sequentially_consistent(Register(0), where=lambda self: not any(c.left for c in self[Anything]))

    def build(self) -> None:
        self.spawn(Anything, 2, kind="register", left=1)

    @can
    def only_sequential(self) -> bool:
        return (
            not self[monitor_of(Old.judged)].possible
            and self[monitor_of(Old.sequential)].possible
            and not any(client.left or client.doing >= 0 for client in self[Anything])
        )


def test_sequential_consistency_asks_for_less() -> None:
    assert quorate.check(Old(), property="only_sequential").verdict == "holds"
    assert quorate.check(Old(), property="sequential").verdict == "violated"


class Named(Process):
    """Writes its own name, in a register that may forget."""

    left: int
    doing: str = ""

    @step(when=lambda self: not self.doing and self.left > 0)
    def begin(self) -> None:
        self.left -= 1
        self.doing = self.choose(("read", "write"))
        self.invoke(Write(self.pid) if self.doing == "write" else Read())

    @step(when=lambda self: self.doing == "write")
    def written(self) -> None:
        self.doing = ""
        self.returns()

    @step(when=lambda self: self.doing == "read")
    def found(self) -> None:
        self.doing = ""
        self.returns(self.choose((None, self.pid)))


class Names(System):
    clients: int = 3
    judged = linearizable(Register())
    weak = regular_register()

    def build(self) -> None:
        self.spawn(Named, self.clients, left=1)

    @invariant
    def anything(self) -> bool:
        """Reads both monitors, so that nothing of them is merged away; always true."""
        return self[monitor_of(Names.judged)].possible in (True, False)


def test_symmetry_counts_what_no_symmetry_visits(evaluated: str) -> None:
    reduced = quorate.check(Names(), property="anything")
    plain = quorate.check(Names(), property="anything", symmetry="none")
    assert reduced.reductions["symmetry"]["group"] == "3! Named"
    assert reduced.states < plain.states == reduced.reductions["symmetry"]["stands_for"]


class Favourite(Register):
    """A register that remembers one client better than others."""

    favourite: Any = None

    def apply(self, state: Any, operation: Any) -> Any:
        if isinstance(operation, Write) and str(operation.value) != "named1":
            return state, None
        return super().apply(state, operation)


class Biased(Names):
    judged = linearizable(Favourite())

    @invariant
    def anything(self) -> bool:
        return self[monitor_of(Biased.judged)].possible in (True, False)


def test_a_specification_that_tells_names_apart_breaks_their_family() -> None:
    reduced = quorate.check(Biased(), property="anything")
    plain = quorate.check(Biased(), property="anything", symmetry="none")
    assert not reduced.reductions["symmetry"]["ran"]
    assert "Favourite" in reduced.reductions["symmetry"]["why"]
    assert reduced.states == plain.states


class Seen(Monitor):
    by: Map[Pid, int] = Map()
    count: int = 0

    @on(Invoked)
    def began(self, e: Invoked) -> None:
        self.count += 1
        self.by |= {e.source: self.count}


class FirstOfAll(Seen):
    @on(Invoked)
    def began(self, e: Invoked) -> None:
        self.count += 1
        self.by = Map({next(iter(self.by | {e.source: 0})): self.count})


class Watched(System):
    clients: int = 3
    fair: bool = True

    def build(self) -> None:
        self.spawn(Named, self.clients, left=2)
        self.watch(Seen if self.fair else FirstOfAll)

    @invariant
    def few(self) -> bool:
        return self[Seen].count <= 6


def test_a_monitor_without_end_leaves_the_reductions_on() -> None:
    reduced = quorate.check(Watched())
    plain = quorate.check(Watched(), symmetry="none", quotient="off", dead_messages="off")
    assert reduced.verdict == plain.verdict == "holds"
    assert reduced.reductions["closure"]["complete"]
    assert reduced.reductions["quotient"]["ran"]
    assert reduced.reductions["symmetry"]["group"] == "3! Named"
    assert reduced.reductions["symmetry"]["stands_for"] == plain.states


class OneRead(Process):
    phase: int = 0

    @step(when=lambda self: self.phase == 0)
    def begin(self) -> None:
        self.phase = 1
        self.invoke(Read())

    @step(when=lambda self: self.phase == 1)
    def end(self) -> None:
        self.phase = 2
        self.returns(0)


class ReadOnce(System):
    sequential = sequentially_consistent(Register(0), where=lambda self: all(c.phase == 2 for c in self[OneRead]))

    def build(self) -> None:
        self.spawn(OneRead)


def test_a_monitor_whose_states_get_larger_and_larger_is_not_closed() -> None:
    """Asked about what no run does, read after read, it takes longer each time."""
    found = quorate.check(ReadOnce(), timeout=60)
    assert (found.verdict, found.states) == ("holds", 3)


def test_a_monitor_without_end_that_tells_names_apart_breaks_their_family() -> None:
    reduced = quorate.check(Watched(fair=False))
    assert not reduced.reductions["symmetry"]["ran"]
    assert "FirstOfAll" in reduced.reductions["symmetry"]["why"]


@pytest.mark.parametrize("por", ["lpor", "lpor-net"])
@pytest.mark.parametrize("cls", [Names, Watched])
def test_partial_orders_keep_the_verdicts(cls: type[System], por: Any) -> None:
    for symmetry in ("auto", "none"):
        plain = quorate.check(cls(clients=2), symmetry=symmetry)
        reduced = quorate.check(cls(clients=2), por=por, symmetry=symmetry)
        assert [(each.name, each.verdict) for each in reduced.properties] == [
            (each.name, each.verdict) for each in plain.properties
        ]
