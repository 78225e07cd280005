from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest

from quorate import Event, Message, ModelError, Monitor, Process, System, invariant, majority, on, quorum, start, step
from quorate.model.define import define
from support import alone, here

T = TypeVar("T")


class Ping(Message):
    number: int


class Beep(Event): ...


class Holding(Message, Generic[T]):
    value: T


def test_majority_is_more_than_half() -> None:
    assert [majority(n) for n in range(1, 7)] == [1, 2, 2, 3, 3, 4]
    assert majority(("a", "b", "c")) == 2


def nothing(self: Any, ping: Any) -> None: ...


@pytest.mark.parametrize(
    ("declare", "message", "hint"),
    [
        (lambda: on(int), "@on(int): not a class of messages", "@on(Prepare)"),  # type: ignore[type-var]
        (lambda: on(Ping | Beep), "Beep): not a class of messages", "a common base"),  # type: ignore[arg-type]
        (lambda: on((Ping, Beep)), "not a class of messages", "a common base"),  # type: ignore[arg-type]
        (lambda: on(Holding[int]), "Holding[int]): not a class of messages", "`@on(Holding)`"),
        (lambda: on(Ping(1)), "not a class of messages", "name a Message"),  # type: ignore[arg-type]
        (lambda: on(Ping, when=True), "@on(when=True): a guard is a function", "lambda self"),  # type: ignore[arg-type]
        (lambda: quorum(Beep, size=1), "@quorum(Beep): not a class of messages", "Message"),  # type: ignore[type-var]
        (lambda: quorum(Ping), "in exactly one way", "one of size=, each= and enough="),  # type: ignore[call-overload]
        (
            lambda: quorum(Ping, size=1, each="peers"),  # type: ignore[call-overload]
            "in exactly one way",
            "one of size=, each= and enough=",
        ),
        (lambda: quorum(Ping, size=0), "@quorum(size=0): a quorum has at least one message", "1 or more"),
        (lambda: quorum(Ping, size=1, same="nummer"), "Ping has no such field", "did you mean `number`?"),
        (
            lambda: quorum(Ping, enough=lambda self, ms: True, sets="all"),  # type: ignore[call-overload]
            "@quorum(sets='all')",
            "'minimal', 'maximal' or 'any'",
        ),
        (
            lambda: quorum(Ping, sets="every"),  # type: ignore[call-overload]
            "@quorum(sets='every')",
            "'minimal', 'maximal' or 'any'",
        ),
        (
            lambda: quorum(Ping, size=2, sets="any"),  # type: ignore[call-overload]
            "@quorum(sets='any') says which of the sets that are enough, and nothing says when they are",
            "give enough= instead",
        ),
        (
            lambda: quorum(Ping, each="peers", sets="maximal"),  # type: ignore[call-overload]
            "@quorum(sets='maximal') says which",
            "leave sets= out",
        ),
        (lambda: on(Ping)(on(Ping)(nothing)), "nothing is declared as a transition twice", "a method of its own"),
        (lambda: on(Ping)(3), "@on goes on a method, not on 3", "directly above"),  # type: ignore[arg-type]
        (lambda: invariant(3), "@invariant goes on a method of a System", "def name(self) -> bool"),  # type: ignore[arg-type]
    ],
)
def test_declarations_that_make_no_sense(declare: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(ModelError) as caught:
        declare()
    assert caught.value.code == "Q106"
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_a_handler_takes_what_its_decorator_passes() -> None:
    with pytest.raises(ModelError) as caught:

        class Wrong(Process):
            @on(Ping)  # type: ignore[arg-type]  # here: parameters
            def receive(self) -> None: ...

    assert caught.value.code == "Q106"
    assert "Wrong.receive has 1 parameters, @on passes 2" in caught.value.message
    assert caught.value.hint == "write `def receive(self, m) -> None`"
    assert caught.value.location == here("parameters")
    with pytest.raises(ModelError, match="has 2 parameters, @start passes 1"):

        class Wrong2(Process):
            @start  # type: ignore[arg-type]
            def begin(self, ping: Ping) -> None: ...


class Base(Process):
    x: int = 0

    @start
    def first(self) -> None: ...

    @on(Ping)
    def second(self, m: Ping) -> None: ...

    @step(when=lambda self: self.x > 0)
    def third(self) -> None: ...


class Derived(Base):
    y: int = 0

    @start
    def fourth(self) -> None: ...

    @on(Ping, keep=True)
    def second(self, m: Ping) -> None: ...


def test_transitions_are_inherited_in_order_and_overridden_in_place() -> None:
    definition = alone(Derived)
    (column,) = definition.columns
    found = [(each.index, each.name, each.kind, each.keep) for each in definition.transitions(column)]
    assert found == [
        (0, "first", "start", False),
        (1, "second", "on", True),
        (2, "third", "step", False),
        (3, "fourth", "start", False),
    ]
    assert column.fields == ("x", "y", "started:first", "started:fourth")
    assert definition.initials == (((0, 0, False, False),),)


def test_an_override_says_what_it_is() -> None:
    class Silent(Base):
        def second(self, m: Ping) -> None: ...  # here: override

    with pytest.raises(ModelError) as caught:
        alone(Silent)
    assert caught.value.code == "Q106"
    assert "Silent.second overrides a transition but is not one itself" in caught.value.message
    assert "`second = None`" in caught.value.hint
    assert caught.value.location == here("override")


def test_none_removes_a_transition() -> None:
    class Without(Base):
        second = None  # type: ignore[assignment]

    definition = alone(Without)
    assert [each.name for each in definition.transitions(definition.columns[0])] == ["first", "third"]


def test_size_and_each_name_fields() -> None:
    class Wrong(Process):
        quorum_size: int = 1

        @quorum(Ping, size="quorumsize")
        def receive(self, pings: frozenset[Ping]) -> None: ...

    with pytest.raises(ModelError) as caught:
        alone(Wrong)
    assert "size='quorumsize' names no field of Wrong" in caught.value.message
    assert caught.value.hint == "did you mean `quorum_size`?"


def test_processes_take_messages_and_monitors_events() -> None:
    class Eavesdropper(Process):
        @on(Beep)
        def hear(self, e: Beep) -> None: ...

    with pytest.raises(ModelError, match="a process cannot react to an event"):
        alone(Eavesdropper)

    class Meddler(Monitor):
        @on(Ping)
        def take(self, m: Ping) -> None: ...

    class Watched(System):
        def build(self) -> None:
            self.spawn(Base)
            self.watch(Meddler)

    with pytest.raises(ModelError, match="a monitor only reacts to events"):
        define(Watched())


def test_modes() -> None:
    class Collector(Process):
        peers: frozenset[int] = frozenset()

        @quorum(Ping, size=2)
        def exact(self, pings: frozenset[Ping]) -> None: ...

        @quorum(Ping, each="peers")
        def each(self, pings: frozenset[Ping]) -> None: ...

        @quorum(Ping, enough=lambda self, pings: len(pings) > 1)
        def minimal(self, pings: frozenset[Ping]) -> None: ...

        @quorum(Ping, enough=lambda self, pings: len(pings) > 1, sets="maximal")
        def maximal(self, pings: frozenset[Ping]) -> None: ...

        @on(Ping)
        def single(self, m: Ping) -> None: ...

    definition = alone(Collector)
    modes = [each.mode for each in definition.transitions(definition.columns[0])]
    assert modes == ["exact", "each", "minimal", "maximal", None]
