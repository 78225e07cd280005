import itertools
import random
import time
from collections.abc import Callable
from random import choice
from typing import Any

import pytest

from quorate import Event, Message, ModelError, Monitor, Peers, Pid, Process, System, on, quorum, start, step
from quorate.base.failures import Failure
from quorate.base.values import encode
from quorate.language.message import stamped
from quorate.model import choices as choices_module
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.outcome import Crashed, Request
from quorate.model.run import accepts, fire, observe, prepare
from support import alone, column, failure, here, refused, run, transition

one, two, three = (Pid(index, f"server{index + 1}") for index in range(3))


class Note(Message):
    number: int
    word: str = ""


class Counter(Process):
    n: int = 0

    @on(Note, when=lambda self, m: m.number > self.n)
    def count(self, m: Note) -> None:
        self.n = m.number
        self.reply(Note(m.number + 1))

    @start(when=lambda self: self.n == 0)
    def begin(self) -> None:
        self.n = 5

    @step(when=lambda self: self.n > 0)
    def tick(self) -> None:
        self.n -= 1


class TestFire:
    def test_an_outcome_is_the_new_local_state_and_what_was_sent(self) -> None:
        (outcome,) = run(Counter, "count", stamped(Note(3), two))
        assert outcome.local == (3, False)
        assert [(to, message.number, str(message.sender)) for to, message in outcome.sends] == [(1, 4, "counter1")]  # type: ignore[attr-defined]
        assert (outcome.events, outcome.choices, outcome.cut, outcome.failure) == ((), (), False, None)

    def test_a_false_guard_gives_no_outcome(self) -> None:
        assert run(Counter, "count", stamped(Note(0), two)) == ()
        assert run(Counter, "tick") == ()
        assert run(Counter, "begin", n=1) == ()

    def test_a_start_happens_once(self) -> None:
        definition = alone(Counter)
        where, begin = definition.columns[0], transition(definition, "begin")
        (outcome,) = fire(where, begin, (0, False), ())
        assert outcome.local == (5, True)
        assert fire(where, begin, (0, True), ()) == ()

    def test_a_crashed_process_does_nothing(self) -> None:
        definition = alone(Counter)
        where = definition.columns[0]
        for each in definition.transitions(where):
            assert fire(where, each, Crashed(definition.initials[0][0]), ()) == ()

    def test_the_local_state_given_is_left_alone(self) -> None:
        definition = alone(Counter)
        local = definition.initials[0][0]
        before = encode(local)
        fire(definition.columns[0], transition(definition, "begin"), local, ())
        assert encode(local) == before


class Chooser(Process):
    picked: tuple[Any, ...] = ()

    @start
    def two_of_them(self) -> None:
        self.picked = (self.choose((1, 2)), self.choose(("a", "b")))

    @start
    def dependent(self) -> None:
        first = self.choose((0, 2))
        self.picked = tuple(self.choose((True, False)) for _ in range(first))

    @start
    def alike(self) -> None:
        self.picked = (self.choose((1, 2, 3)) % 2,)

    @start
    def none(self) -> None:
        self.choose(())

    @start
    def some_paths(self) -> None:
        if self.choose((True, False)):
            self.choose(frozenset())
        self.picked = (1,)

    @start
    def from_a_set(self) -> None:
        self.picked = (self.choose({"c", "a", "b"}),)

    @start
    def some_fail(self) -> None:
        assert self.choose((1, 2)) == 2, "one"
        self.picked = (2,)

    @start
    def without_end(self) -> None:
        while self.choose((True, False)):  # here: choose
            pass


class TestChoose:
    def picked(self, name: str) -> list[Any]:
        return [outcome.local[0] for outcome in run(Chooser, name) if outcome.local is not None]

    def test_every_option_is_an_outcome_in_order(self) -> None:
        assert self.picked("two_of_them") == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
        assert [outcome.choices for outcome in run(Chooser, "two_of_them")][1] == (1, "b")

    def test_what_is_chosen_may_depend_on_what_was(self) -> None:
        assert self.picked("dependent") == [(), (True, True), (True, False), (False, True), (False, False)]

    def test_outcomes_that_do_the_same_are_one(self) -> None:
        assert [(outcome.local, outcome.choices) for outcome in run(Chooser, "alike")] == [
            (((1,), *(False,) * 2, True, *(False,) * 5), (1,)),
            (((0,), *(False,) * 2, True, *(False,) * 5), (2,)),
        ]

    def test_without_an_option_the_path_does_not_exist(self) -> None:
        assert run(Chooser, "none") == ()
        assert self.picked("some_paths") == [(1,)]

    def test_sets_are_taken_by_content(self) -> None:
        assert self.picked("from_a_set") == [("a",), ("b",), ("c",)]

    def test_one_path_may_fail(self) -> None:
        first, second = run(Chooser, "some_fail")
        assert first.failure is not None
        assert first.failure.text == "one"
        assert first.choices == (1,)
        assert second.failure is None

    def test_a_loop_that_ends_by_choice_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(choices_module, "MAX_DEPTH", 10)
        (outcome,) = run(Chooser, "without_end")
        found = outcome.failure
        assert found is not None
        assert (found.kind, found.code) == ("model", "Q501")
        assert "Chooser chooses more than 10 times in one step" in found.text
        assert (found.file, found.line) == here("choose")


def helper(table: dict[int, int]) -> int:
    return table[7]  # here: helper


class Raises(Process):
    n: int = 0

    @start
    def bare(self) -> None:
        assert self.n == 1  # here: bare

    @start
    def worded(self) -> None:
        self.n = 3
        self.send(self.pid, Note(1))
        assert self.n == 1, f"n is {self.n}"

    @start
    def deep(self) -> None:
        helper({})

    @start
    def library(self) -> None:
        next(itertools.islice((), 1, -1))  # here: library

    @start
    def leaves(self) -> None:
        raise SystemExit(3)

    @start
    def recursive(self) -> None:
        def again() -> None:
            again()

        again()

    @start
    def orders(self) -> None:
        sorted([self.pid, self.pid])  # type: ignore[type-var]  # here: orders

    @start(when=lambda self: 1 // self.n)  # here: guard
    def guard(self) -> None: ...

    @start(when=lambda self: self.send(self.pid, Note(1)))  # here: acts
    def acting_guard(self) -> None: ...

    @on(Note)
    def changes(self, m: Note) -> None:
        m.number = 3  # type: ignore[misc]  # here: changes

    @on(Note)
    def forces(self, m: Note) -> None:  # the decorator's line is reported
        object.__setattr__(m, "number", m.number + 1)


class TestFailures:
    @pytest.mark.parametrize(
        ("name", "kind", "text"),
        [
            ("bare", "assertion", "assert "),
            ("worded", "assertion", "n is 3"),
            ("deep", "exception", "KeyError: 7"),
            ("library", "exception", "ValueError: Stop argument for islice()"),
            ("leaves", "model", "SystemExit: 3 would end the program"),
            ("recursive", "model", "RecursionError: maximum recursion depth exceeded"),
            ("orders", "model", "raises1 is the identity of a process, not a number"),
            ("guard", "exception", "ZeroDivisionError"),
            ("acting_guard", "model", "Raises.send(...) was called in a guard, which may only read"),
        ],
    )
    def test_a_raise_is_an_outcome_that_does_nothing_else(self, name: str, kind: str, text: str) -> None:
        found = failure(Raises, name)
        assert found.kind == kind
        assert found.text.startswith(text)
        assert found.file == __file__

    def test_it_is_located_in_the_model(self) -> None:
        assert failure(Raises, "bare")[2:4] == here("bare")
        assert failure(Raises, "deep")[2:4] == here("helper")
        assert failure(Raises, "library")[2:4] == here("library")
        assert failure(Raises, "orders")[2:4] == here("orders")
        assert failure(Raises, "guard")[2:4] == here("guard")
        assert failure(Raises, "acting_guard")[2:4] == here("acts")

    def test_a_received_message_cannot_be_changed(self) -> None:
        found = failure(Raises, "changes", stamped(Note(1), one))
        assert (found.kind, found.code) == ("model", "Q103")
        assert found.text == "Note.number was assigned: a message cannot be changed once it is made"
        assert found[2:4] == here("changes")

    def test_not_even_by_force(self) -> None:
        message = stamped(Note(1), one)
        encode(message)
        found = refused(Raises, "forces", message)
        assert found.code == "Q103"
        assert found.message == "Raises.forces changes the Note it received"


calls = 0


class Impure(Process):
    n: int = 0
    counter: list[int] = ()  # type: ignore[assignment]

    @start
    def counts_calls(self) -> None:
        global calls
        calls += 1
        self.n = calls

    @start
    def sends_another(self) -> None:
        global calls
        calls += 1
        self.send(self.pid, Note(calls))

    @start
    def fails_sometimes(self) -> None:
        global calls
        calls += 1
        assert calls % 2 == 0


class TestPurity:
    def test_a_second_run_that_differs_is_reported(self) -> None:
        found = refused(Impure, "counts_calls")
        assert found.code == "Q104"
        assert found.message.startswith(
            "Impure.counts_calls behaved differently when it was run again on the same state"
        )
        assert "Impure.n became " in found.message
        assert "usual causes: random, time, id()" in found.hint
        assert "self.choose(options)" in found.hint
        assert found.location is not None
        assert found.location.file == __file__
        assert refused(Impure, "sends_another").message.endswith("it sent other messages")
        assert refused(Impure, "fails_sometimes").code == "Q104"

    def test_only_a_sample_is_run_again(self) -> None:
        runs = 0

        class Counted(Process):
            n: int = 0

            @step(when=lambda self: True)
            def go(self) -> None:
                nonlocal runs
                runs += 1

        definition = alone(Counted)
        for _ in range(1000):
            fire(definition.columns[0], transition(definition, "go"), (0,), ())
        assert runs == 1000 + 10  # 1, 2, 4, ... 512

    @pytest.mark.parametrize("name", ["random", "choice", "time"])
    def test_chance_and_the_clock_are_refused_by_name(self, name: str) -> None:
        handlers: dict[str, Callable[[Any], None]] = {
            "random": lambda self: setattr(self, "n", random.randint(1, 6)),  # here: random
            "choice": lambda self: setattr(self, "n", choice((1, 2))),  # here: choice
            "time": lambda self: setattr(self, "n", int(time.time())),  # here: time
        }
        cls = type("Gambler", (Process,), {"__annotations__": {"n": int}, "n": 0, "roll": start(handlers[name])})
        with pytest.raises(ModelError) as caught:
            alone(cls)
        assert caught.value.code == "Q105"
        assert caught.value.message.startswith(f"Gambler.roll uses `{name}`")
        assert "self.choose(options)" in caught.value.hint
        assert caught.value.location == here(name)

    def test_a_field_of_that_name_is_fine(self) -> None:
        class Innocent(Process):
            time: int = 0

            @start
            def go(self) -> None:
                self.time += 1

        alone(Innocent)


class Collector(Process):
    servers: Peers
    size: int = 2
    open: bool = True
    got: tuple[Any, ...] = ()

    @quorum(Note, size="size", when=lambda self: self.open, where=lambda self, m: m.number > 0, same="word")
    def exact(self, notes: frozenset[Note]) -> None:
        self.got = tuple((note.sender, note.number) for note in notes)
        self.reply(Note(9))

    @quorum(Note, size=lambda self: len(self.servers))
    def computed(self, notes: frozenset[Note]) -> None: ...

    @quorum(Note, each="servers", same=lambda m: m.number % 2)
    def each(self, notes: frozenset[Note]) -> None: ...

    @quorum(Note, each=lambda self: next(iter(self.servers)))
    def each_of_one(self, notes: frozenset[Note]) -> None: ...

    @quorum(Note, enough=lambda self, notes: sum(note.number for note in notes) >= 3)
    def enough(self, notes: frozenset[Note]) -> None:
        self.got = tuple(notes)

    @quorum(Note, size=lambda self: "two")  # type: ignore[arg-type, return-value]
    def wrong_size(self, notes: frozenset[Note]) -> None: ...

    @quorum(Note, each=lambda self: [1])  # type: ignore[list-item]
    def wrong_each(self, notes: frozenset[Note]) -> None: ...

    @quorum(Note, size=2, when=lambda self: 1 // 0)
    def wrong_when(self, notes: frozenset[Note]) -> None: ...

    @quorum(Note, size=1, where=lambda self, m: 1 // 0)
    def wrong_where(self, notes: frozenset[Note]) -> None: ...

    @quorum(Note, size=1, same=lambda m: [m.number])
    def wrong_same(self, notes: frozenset[Note]) -> None: ...


class TestQuorums:
    @pytest.fixture
    def definition(self) -> Definition:
        return alone(Collector, servers=Peers([one, two]))

    def ask(self, definition: Definition, name: str, **changes: Any) -> Request | None:
        where = definition.columns[0]
        values = dict(zip(where.fields, definition.initials[0][0], strict=True)) | changes
        return prepare(where, transition(definition, name), tuple(values.values()))

    def test_what_is_asked_for(self, definition: Definition) -> None:
        assert self.ask(definition, "exact") == Request(size=2)
        assert self.ask(definition, "exact", size=5) == Request(size=5)
        assert self.ask(definition, "exact", size=0) == Request(size=1)  # for the failure to be seen
        assert self.ask(definition, "exact", open=False) is None
        assert self.ask(definition, "computed") == Request(size=2)
        assert self.ask(definition, "each") == Request(senders=(one, two))
        assert self.ask(definition, "each", servers=Peers()) is None
        assert self.ask(definition, "each_of_one") == Request(senders=(one,))
        assert self.ask(definition, "enough") == Request()
        assert (
            prepare(definition.columns[0], transition(definition, "exact"), Crashed(definition.initials[0][0])) is None
        )

    def test_which_messages_are_accepted_and_what_they_agree_on(self, definition: Definition) -> None:
        where, local = definition.columns[0], definition.initials[0][0]
        exact, each, enough = (transition(definition, name) for name in ("exact", "each", "enough"))
        assert accepts(where, exact, local, stamped(Note(0), one)) is None
        assert accepts(where, exact, local, stamped(Note(1, "a"), one)) == encode("a")
        assert accepts(where, each, local, stamped(Note(3), one)) == encode(1)
        assert accepts(where, enough, local, stamped(Note(0), one)) == b""
        assert accepts(where, exact, Crashed(local), stamped(Note(1), one)) is None

    def test_firing_on_a_set(self, definition: Definition) -> None:
        where, local = definition.columns[0], definition.initials[0][0]
        exact = transition(definition, "exact")
        notes = tuple(sorted((stamped(Note(5), two), stamped(Note(7), one)), key=encode))
        (outcome,) = fire(where, exact, local, notes)
        assert outcome.local is not None
        assert outcome.local[3] == ((two, 5), (one, 7))
        assert [to for to, _ in outcome.sends] == [1, 0]
        assert fire(where, exact, local, notes[:1]) == ()
        assert fire(where, exact, local, (notes[0], stamped(Note(0), one))) == ()
        assert fire(where, exact, local, (notes[0], stamped(Note(7, "other"), one))) == ()
        enough = transition(definition, "enough")
        assert fire(where, enough, local, (stamped(Note(2), one),)) == ()
        assert len(fire(where, enough, local, (stamped(Note(3), one),))) == 1

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("wrong_size", "Collector.wrong_size: size is 'two', of type str"),
            ("wrong_each", "Collector.wrong_each: each names 1, which is not the identity of a process"),
            ("wrong_when", "ZeroDivisionError"),
            ("wrong_where", "ZeroDivisionError"),
            ("wrong_same", "Collector.wrong_same: same=... gives [1], of type list"),
        ],
    )
    def test_a_guard_that_raises_is_reported_with_the_first_message(
        self, definition: Definition, name: str, text: str
    ) -> None:
        where, local = definition.columns[0], definition.initials[0][0]
        each = transition(definition, name)
        assert prepare(where, each, local) == Request(size=1)
        message = stamped(Note(1), one)
        assert accepts(where, each, local, message) == b""
        (outcome,) = fire(where, each, local, (message,))
        assert outcome.failure is not None
        assert outcome.failure.text.startswith(text)
        assert outcome.failure.file == __file__


class Beep(Event):
    number: int


class LoudBeep(Beep): ...


class Emitter(Process):
    @start
    def beep(self) -> None:
        self.emit(Beep(1))
        self.emit(LoudBeep(2))


class Listener(Monitor):
    heard: tuple[int, ...] = ()
    loud: int = 0
    source: Pid | None = None

    @on(Beep, when=lambda self, e: e.number < 10)
    def hear(self, e: Beep) -> None:
        self.heard = (*self.heard, e.number)
        self.source = e.source
        assert e.number != 3, "three"

    @on(LoudBeep)
    def jump(self, e: LoudBeep) -> None:
        self.loud += 1
        self.heard = (*self.heard, -e.number)


class Silence(Event): ...


class TestMonitors:
    @pytest.fixture
    def definition(self) -> Definition:
        class Watched(System):
            def build(self) -> None:
                self.spawn(Emitter)
                self.watch(Listener)

        return define(Watched())

    def test_events_are_emitted_in_order(self, definition: Definition) -> None:
        emitter = column(definition, "emitter1")
        (outcome,) = fire(emitter, transition(definition, "beep"), definition.initials[0][0], ())
        assert [(str(event), str(event.source)) for event in outcome.events] == [
            ("Beep(number=1)", "emitter1"),
            ("LoudBeep(number=2)", "emitter1"),
        ]

    def test_a_monitor_reacts_to_a_type_and_its_subtypes(self, definition: Definition) -> None:
        listener = column(definition, "Listener")
        local = definition.initials[0][1]
        assert observe(listener, local, stamped(Beep(1), one)).local == ((1,), 0, one)
        assert observe(listener, local, stamped(LoudBeep(2), one)).local == ((2, -2), 1, one)
        assert observe(listener, local, stamped(Beep(10), one)).local == local
        assert observe(listener, local, stamped(Silence(), one)).local is local

    def test_its_assertions_are_failures(self, definition: Definition) -> None:
        listener = column(definition, "Listener")
        outcome = observe(listener, definition.initials[0][1], stamped(Beep(3), one))
        assert outcome.local is None
        assert isinstance(outcome.failure, Failure)
        assert (outcome.failure.kind, outcome.failure.text) == ("assertion", "three")

    def test_a_monitor_cannot_act(self) -> None:
        class Actor(Monitor):
            @on(Beep)
            def act(self, e: Beep) -> None:
                self.choose((1, 2))  # type: ignore[attr-defined]

        class Watched(System):
            def build(self) -> None:
                self.spawn(Emitter)
                self.watch(Actor)

        definition = define(Watched())
        outcome = observe(definition.columns[1], (), stamped(Beep(1), one))
        assert outcome.failure is not None
        assert (outcome.failure.kind, outcome.failure.code) == ("model", "Q108")
        assert outcome.failure.text == "Actor.choose: a monitor only watches"


class Bounded(Process):
    n: int = 0

    @step(when=lambda self: True)
    def up(self) -> None:
        self.n += self.choose((1, 2, 3))
        self.send(self.pid, Note(self.n))

    def within(self) -> bool:
        return self.n <= 2


def test_a_bound_cuts_outcomes() -> None:
    first, second = run(Bounded, "up", n=1)
    assert (first.local, first.cut) == ((2,), False)
    assert (second.local, second.cut, second.sends, second.failure) == (None, True, (), None)
    assert [outcome.cut for outcome in run(Bounded, "up", n=2)] == [True]
    assert [outcome.choices for outcome in run(Bounded, "up", n=2)] == [(1,)]
