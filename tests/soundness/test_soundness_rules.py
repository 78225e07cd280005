"""The rules that keep the reductions sound (docs/soundness.md), each with a model that gets a wrong answer without it.

Every test asks twice: as it is, and with the rule left out. A rule whose absence changes nothing would not be tested.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import reference
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
    fifo,
    final,
    invariant,
    on,
    start,
    step,
    unordered,
)
from quorate.base.values import ContentSet, encode
from quorate.model.define import define
from quorate.model.definition import Column
from quorate.model.outcome import Local, Outcome
from quorate.native import numbers as numbers_module
from quorate.native.model import Model
from quorate.options import Options
from quorate.reduce.dead_messages import DeadMessages
from quorate.reduce.reductions import Reductions
from quorate.search.rebuild import ReplayError
from quorate.semantics.state import State
from reference import explore

REDUCED = {"quotient": "on", "dead_messages": "on"}
PLAIN = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


def answer(system: System | type[System], **options: Any) -> tuple[str, str | None, int | None]:
    """Verdict, property and length of the run; or that the run which was found is none of the system's."""
    try:
        result = check(system, **options)
    except ReplayError:
        return "does not replay", None, None
    return result.verdict, result.property, None if result.trace is None else len(result.trace)


def same_with_and_without(system: System | type[System]) -> tuple[str, str | None, int | None]:
    """The answer, which no exact reduction changes."""
    plain = answer(system, **PLAIN)
    for options in ({**PLAIN, "quotient": "on"}, {**PLAIN, "dead_messages": "on"}, REDUCED):
        assert answer(system, **options) == plain
    return plain


def representatives(system: System | type[System], column: int) -> dict[Local, int]:
    """Into which class the quotient puts each local state of a column, when no property reads anything."""
    model = Model(define(system), ())
    Reductions(model, Options(dead_messages="off")).analyse()
    found = model.engine.representatives(column)
    return {local: found[number] for number, local in enumerate(model._locals[column])}


def merge(monkeypatch: pytest.MonkeyPatch, merged: Callable[[Column, Local], Local]) -> None:
    """Take local states for others: what a quotient does that lacks a rule."""
    number = Model.local_id
    monkeypatch.setattr(Model, "local_id", lambda self, column, local: number(self, column, merged(column, local)))


# Rule 2: self-sends count


class Note(Message):
    pass


class Reminder(Process):
    """Comes to the bad state only by a message to itself."""

    bad: bool = False

    @start
    def remember(self) -> None:
        self.send(self.pid, Note())

    @on(Note)
    def recall(self, m: Note) -> None:
        self.bad = True


class SelfSends(System):
    def build(self) -> None:
        self.spawn(Reminder)

    @invariant
    def good(self) -> bool:
        return not self[Reminder][0].bad


def test_rule_2_self_sends_are_part_of_what_a_process_may_receive(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(SelfSends) == ("violated", "good", 2)
    encoded = Model._outcome

    def others_only(self: Model, column: Column, outcome: Outcome) -> Any:
        sends = tuple((receiver, message) for receiver, message in outcome.sends if receiver != column.index)
        return encoded(self, column, outcome._replace(sends=sends))

    monkeypatch.setattr(Model, "_outcome", others_only)
    assert answer(SelfSends, **REDUCED) == ("holds", None, None)


# Rule 5: every network brings its own rules


class Junk(Message):
    pass


class Good(Message):
    pass


class Receiver(Process):
    """Takes what is good; the junk is never taken."""

    got: bool = False

    @on(Good)
    def take(self, m: Good) -> None:
        self.got = True

    @on(Junk, when=lambda self, m: False)
    def never(self, m: Junk) -> None:
        pass


class Sender(Process):
    receiver: Pid
    sent: int = 0

    @step(when=lambda self: self.sent == 0)
    def litter(self) -> None:
        self.sent = 1
        self.send(self.receiver, Junk())

    @step(when=lambda self: self.sent == 1)
    def speak(self) -> None:
        self.sent = 2
        self.send(self.receiver, Good())


class DeadHead(System):
    """The junk stands before the rest for ever."""

    network = fifo()

    def build(self) -> None:
        self.spawn(Sender, receiver=self.spawn(Receiver))

    @invariant
    def nothing_arrives(self) -> bool:
        return not self[Receiver][0].got

    @can
    def all_sent(self) -> bool:
        return self[Sender][0].sent == 2


class DeadButThere(DeadHead):
    """The junk fills the channel for ever."""

    network = unordered(capacity=1)
    all_sent = None  # type: ignore[assignment]


@pytest.mark.parametrize("system", [DeadHead, DeadButThere])
def test_rule_5_dead_messages_stand_before_others_and_take_up_room(
    system: type[System], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert same_with_and_without(system) == ("holds", None, None)
    assert not check(system, **REDUCED).reductions["dead-messages"]["ran"]  # type: ignore[arg-type]
    monkeypatch.setattr(DeadMessages, "why_not", lambda self: "")
    assert answer(system, **REDUCED) == ("does not replay", None, None)


def test_rule_5_on_an_unordered_network_without_bound_dead_messages_go() -> None:
    class Unbounded(DeadHead):
        network = unordered()

    assert same_with_and_without(Unbounded) == ("violated", "nothing_arrives", 3)
    assert check(Unbounded, property="all_sent", **REDUCED).reductions["dead-messages"]["dead"] > 0  # type: ignore[arg-type]


# Rule 6: events are part of the behaviour


class Chose(Event):
    n: int


class Secret(Process):
    """Which number it chose shows in nothing but an event."""

    n: int = 0
    told: bool = False

    @start
    def choose_one(self) -> None:
        self.n = self.choose((1, 2))

    @step(when=lambda self: self.n > 0 and not self.told)
    def tell(self) -> None:
        self.emit(Chose(self.n))
        self.n = 1
        self.told = True


class Watch(Monitor):
    seen: int = 0

    @on(Chose)
    def note(self, e: Chose) -> None:
        self.seen = e.n


class Events(System):
    def build(self) -> None:
        self.spawn(Secret)
        self.watch(Watch)

    @invariant
    def never_two(self) -> bool:
        return self[Watch].seen != 2


def test_rule_6_the_quotient_keeps_apart_what_differs_in_events(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(Events) == ("violated", "never_two", 2)
    one, two = (1, False, True), (2, False, True)
    assert representatives(Events, 0)[one] != representatives(Events, 0)[two]
    encoded = Model._outcome
    with monkeypatch.context() as careless:
        careless.setattr(
            Model, "_outcome", lambda self, column, outcome: encoded(self, column, outcome._replace(events=()))
        )
        assert representatives(Events, 0)[one] == representatives(Events, 0)[two]
    merge(monkeypatch, lambda column, local: one if local == two else local)
    assert answer(Events, **PLAIN) == ("holds", None, None)


class Angry(Watch):
    """Fails instead of taking note: that is behaviour too."""

    @on(Chose)
    def note(self, e: Chose) -> None:
        assert e.n != 2


class AngryEvents(System):
    def build(self) -> None:
        self.spawn(Secret)
        self.watch(Angry)


def test_rule_6_a_monitor_that_fails_is_seen_through_the_quotient(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(AngryEvents) == ("violated", "assertions", 2)
    merge(monkeypatch, lambda column, local: (1, False, True) if local == (2, False, True) else local)
    assert answer(AngryEvents, **PLAIN) == ("holds", None, None)


# Rule 7: budgets are state, and deadlock is about the protocol


class Ball(Message):
    n: int


class Juggler(Process):
    """Comes to phase 3 with a copy in four steps and without in five: only then there is a copy of the second ball."""

    phase: int = 0

    @step(when=lambda self: self.phase in (0, 3))
    def throw(self) -> None:
        self.phase += 1
        self.send(self.pid, Ball(self.phase))

    @on(Ball, when=lambda self, m: (m.n, self.phase) in {(1, 1), (1, 2), (4, 4), (4, 5)})
    def catch(self, m: Ball) -> None:
        self.phase += 1

    @step(when=lambda self: self.phase in (2, -1, -2))
    def dawdle(self) -> None:
        self.phase = {2: -1, -1: -2, -2: 3}[self.phase]


class OneCopy(System):
    network = unordered(duplicates=1)

    def build(self) -> None:
        self.spawn(Juggler)

    @invariant
    def never_six(self) -> bool:
        return self[Juggler][0].phase != 6


def test_rule_7_what_is_left_of_a_budget_is_part_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(OneCopy) == ("violated", "never_six", 9)
    assert explore(define(OneCopy)).violations == {"never_six": 9}
    monkeypatch.setattr(State, "key", property(lambda self: encode((self.locals, self.pending))))
    assert explore(define(OneCopy)).violations == {}


class Stuck(System):
    """The junk can still be lost, but nobody can do anything any more."""

    network = unordered(losses="any")

    def build(self) -> None:
        self.spawn(Litterer)

    @final
    def never(self) -> bool:
        return False


class Litterer(Process):
    @start
    def litter(self) -> None:
        self.send(self.pid, Junk())


def test_rule_7_deadlock_means_that_no_protocol_step_is_enabled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(Stuck) == ("violated", "deadlock", 1)
    assert explore(define(Stuck)).violations == {"deadlock": 1}
    monkeypatch.setattr(reference, "enabled_protocol", bool)  # any step at all
    assert explore(define(Stuck)).violations == {"deadlock": 2}


# Rule 8: what is read outside of the recorded set starts the search again


class Hidden(Process):
    """Its choice matters to nobody but the property, and to that only in the end."""

    choice: int = 0
    open: bool = False

    @start
    def pick(self) -> None:
        self.choice = self.choose((1, 2))

    @step(when=lambda self: self.choice > 0 and not self.open)
    def show(self) -> None:
        self.open = True


class Reads(System):
    """Which of the two choices stands for both is the quotient's affair: wrong is either this or its mirror image."""

    wrong: int = 1

    def build(self) -> None:
        self.spawn(Hidden)

    @invariant
    def not_the_wrong_one(self) -> bool:
        hidden = self[Hidden][0]
        return not (hidden.open and hidden.choice == self.wrong)


class Ends(Reads):
    """The predicate that says which final states are fine is a property too."""

    not_the_wrong_one = None  # type: ignore[assignment]

    @final
    def fine(self) -> bool:
        return self[Hidden][0].choice != self.wrong


@pytest.mark.parametrize(("system", "broken"), [(Reads, "not_the_wrong_one"), (Ends, "deadlock")])
def test_rule_8_a_read_outside_of_the_recorded_set_starts_the_search_again(
    system: type[Reads], broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = [("violated", broken, 2)] * 2
    assert [same_with_and_without(system(wrong=wrong)) for wrong in (1, 2)] == right
    never = property(lambda self: False, lambda self, value: None)
    monkeypatch.setattr(Model, "restart_on_new_reads", never, raising=False)
    assert [answer(system(wrong=wrong), **REDUCED) for wrong in (1, 2)] != right


# Rule 9: handlers run on impossible inputs in the closure


class Once(Process):
    """The note is consumed once, but the closure does not know that."""

    heard: int = 0

    @start
    def remember(self) -> None:
        self.send(self.pid, Note())

    @on(Note)
    def recall(self, m: Note) -> None:
        assert self.heard == 0, "heard it twice"
        self.heard += 1


class Impossible(System):
    def build(self) -> None:
        self.spawn(Once)

    @invariant
    def once_at_most(self) -> bool:
        return self[Once][0].heard <= 1


def test_rule_9_a_failure_on_an_impossible_input_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(Impossible) == ("holds", None, None)
    model = Model(define(Impossible), ())
    Reductions(model, Options()).analyse()
    assert [failure.text for failure in model.failures] == ["heard it twice"]  # the closure did come across it
    encoded = Model._outcome

    def careless(self: Model, column: Column, outcome: Outcome) -> Any:
        assert outcome.failure is None, outcome.failure
        return encoded(self, column, outcome)

    monkeypatch.setattr(Model, "_outcome", careless)
    assert answer(Impossible, **PLAIN) == ("holds", None, None)
    with pytest.raises(AssertionError, match="heard it twice"):
        check(Impossible, **REDUCED)  # type: ignore[arg-type]


class Fragile(Process):
    """Its choice shows in nothing but a failure."""

    choice: int = 0

    @start
    def pick(self) -> None:
        self.choice = self.choose((1, 2))

    @step(when=lambda self: self.choice > 0)
    def end(self) -> None:
        assert self.choice != 2
        self.choice = -1


class Failures(System):
    def build(self) -> None:
        self.spawn(Fragile)


def test_rule_9_the_quotient_keeps_apart_what_differs_in_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(Failures) == ("violated", "assertions", 2)
    one, two = (1, True), (2, True)
    assert representatives(Failures, 0)[one] != representatives(Failures, 0)[two]
    merge(monkeypatch, lambda column, local: one if local == two else local)
    assert answer(Failures, **PLAIN) == ("holds", None, None)


# Rule 12: replay after quotienting


class Wanderer(Process):
    """Two ways that nothing tells apart: one may stand for both at this milestone, the other at the next."""

    way: int = 0
    milestone: int = 0

    @start
    def choose_way(self) -> None:
        self.way = self.choose((1, 2))

    @step(when=lambda self: self.way > 0 and self.milestone < 8)
    def walk(self) -> None:
        self.milestone += 1


class Ways(System):
    def build(self) -> None:
        self.spawn(Wanderer)

    @invariant
    def never_there(self) -> bool:
        return self[Wanderer][0].milestone < 8


def test_rule_12_a_run_is_replayed_up_to_the_reduction(monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_with_and_without(Ways) == ("violated", "never_there", 9)
    classes = representatives(Ways, 0)
    numbers = dict(enumerate(classes))
    standing = {numbers[classes[1, milestone, True]][0] for milestone in range(8)}
    assert standing == {1, 2}
    monkeypatch.setattr(Model, "reduced", unreduced)
    assert answer(Ways, **REDUCED) == ("does not replay", None, None)


def unreduced(self: Model, state: State) -> Any:
    """A state in the form the core reports states in, but not as the reductions leave it."""
    assert not any(state.pending)
    locals = [self.local_id(column, state.locals[column.index]) for column in self.definition.columns]
    return [(number, ()) for number in locals], list(state.budget)


# Rule 13: order is by content


class Vote(Message):
    name: str


class Voter(Process):
    names: frozenset[str]
    peers: Peers = Peers()
    heard: tuple[str, ...] = ()

    @start
    def vote(self) -> None:
        for name in self.names:
            self.send(self.peers - {self.pid}, Vote(name))

    @on(Vote)
    def hear(self, m: Vote) -> None:
        self.heard = (*self.heard, m.name)


class Votes(System):
    """Many runs break it in the same number of steps; which of them is told depends on order alone."""

    network = fifo()

    def build(self) -> None:
        voters = self.spawn(Voter, 2, names=frozenset({"ash", "elm", "oak"}))
        self.connect(voters, peers=voters)

    @invariant
    def few_heard(self) -> bool:
        return all(len(voter.heard) < 2 for voter in self[Voter])


def told(**options: Any) -> str:
    result = check(Votes, **options)
    assert result.trace is not None
    return json.dumps(result.trace.to_json())


def test_rule_13_the_run_that_is_told_is_chosen_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({told(threads=threads) for threads in (1, 2, 3)}) == 1  # with symmetry, one of the renamed runs
    without = {"symmetry": "none"}
    assert len({told(threads=threads, **options) for threads in (1, 2, 3) for options in (without, PLAIN)}) == 1
    by_content = numbers_module._content
    runs: set[str] = set()
    for salt in range(8):
        # Any number in the place of the content: as if it were the order in which things were met.
        monkeypatch.setattr(numbers_module, "_content", lambda *codes, salt=salt: by_content(bytes([salt]), *codes))
        runs.add(told(**without))
    assert len(runs) > 1


def print_run() -> None:
    """The run that is told, for comparison between hash seeds; with sets in Python's own order if asked to."""
    if "RULE_13_LEFT_OUT" in os.environ:
        ContentSet.__iter__ = frozenset.__iter__  # type: ignore[method-assign]
    print(told())


def test_rule_13_sets_iterate_by_content_under_every_hash_seed() -> None:
    def runs(**environment: str) -> set[str]:
        found: set[str] = set()
        for seed in range(1, 6):
            known = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path), **environment}
            command = [sys.executable, "-c", "import test_soundness_rules; test_soundness_rules.print_run()"]
            found.add(subprocess.run(command, env=known, capture_output=True, check=True, text=True).stdout)
        return found

    assert len(runs()) == 1
    assert len(runs(RULE_13_LEFT_OUT="1")) > 1


# Rule 24: without a closure there is no reduction


class Counter(Process):
    """Counts without end in the closure, where a note is never used up; three times in truth."""

    count: int = 0
    left: int = 3

    @step(when=lambda self: self.left > 0)
    def send_one(self) -> None:
        self.left -= 1
        self.send(self.pid, Note())

    @on(Note)
    def hear(self, m: Note) -> None:
        self.count += 1


class Endless(System):
    def build(self) -> None:
        self.spawn(Counter)

    @invariant
    def three_at_most(self) -> bool:
        return self[Counter][0].count <= 3


def test_rule_24_without_a_closure_the_plain_search_answers_and_says_why() -> None:
    assert same_with_and_without(Endless) == ("holds", None, None)
    figures = check(Endless).reductions
    assert [figures[name]["ran"] for name in ("closure", "quotient", "dead-messages")] == [False, False, False]
    assert "budget" in figures["quotient"]["why"]
