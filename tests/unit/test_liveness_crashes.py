"""Implicit crashes and temporal properties: where a process that stops for ever stands for one that crashes, and where
it does not. Each model that is refused has another answer with explicit crashes (docs/soundness.md, rule 11)."""

from typing import Any, Literal

import pytest

from quorate import (
    Constant,
    Event,
    Message,
    Monitor,
    Pid,
    Process,
    QuorateError,
    Shared,
    System,
    check,
    crashes,
    fifo,
    multiset,
    on,
    start,
    step,
)


class Ask(Message): ...


class Answer(Message): ...


class Done(Event): ...


# A step that writes a shared cell and sends a message.


class Writing(Process):
    cell: Constant[Shared[int]]
    to: Pid

    @start
    def go(self) -> None:
        self.cell.value = 1
        self.send(self.to, Ask())


class Looking(Process):
    cell: Constant[Shared[int]]
    at: int = 0

    @step(when=lambda self: self.cell.value == 1 and self.at == 0)
    def look(self) -> None:
        self.at = 1

    @on(Ask)
    def hear(self, m: Ask) -> None:
        self.at = 2


class Sharing(System):
    faults = crashes(1, of=Writing)

    def build(self) -> None:
        cell = self.share("cell", 0)
        self.spawn(Writing, cell=cell, to=self.spawn(Looking, cell=cell))

    def fine(self) -> bool:
        return self[Looking][0].at != 1


# A step that tells a monitor something and sends a message.


class Telling(Process):
    to: Pid

    @start
    def go(self) -> None:
        self.emit(Done())
        self.send(self.to, Ask())


class Hearing(Process):
    heard: bool = False

    @on(Ask)
    def hear(self, m: Ask) -> None:
        self.heard = True


class Noting(Monitor):
    done: bool = False

    @on(Done)
    def note(self, m: Done) -> None:
        self.done = True


class Watched(System):
    faults = crashes(1, of=Telling)

    def build(self) -> None:
        self.spawn(Telling, to=self.spawn(Hearing))
        self.watch(Noting)

    def fine(self) -> bool:
        return not self[Noting].done or self[Hearing][0].heard


class WatchedInVain(Watched):
    """Nobody reads what the monitor knows."""

    def fine(self) -> bool:
        return self[Hearing][0].heard


# A step that consumes a message, which makes room, and sends one.


class Eating(Process):
    to: Pid

    @on(Ask)
    def eat(self, m: Ask) -> None:
        self.send(self.to, Answer())


class Feeding(Process):
    to: Pid | None = None
    fed: int = 0
    answered: bool = False

    @step(when=lambda self: self.fed < 2)
    def feed(self) -> None:
        self.fed += 1
        assert self.to is not None
        self.send(self.to, Ask())

    @on(Answer)
    def hear(self, m: Answer) -> None:
        self.answered = True


class Full(System):
    network = fifo(capacity=1)
    faults = crashes(1, of=Eating)

    def build(self) -> None:
        feeding = self.spawn(Feeding)
        self.connect(feeding, to=self.spawn(Eating, to=feeding))

    def fine(self) -> bool:
        return self[Feeding][0].fed < 2 or self[Feeding][0].answered


class FullBag(Full):
    network = multiset(capacity=1)


class NeverFull(Full):
    network = multiset()


class RoomForAll(Full):
    """There is a bound, and nobody ever waits for room."""

    network = fifo(capacity=2)


# A step that changes what is read and sends a message; one that sends two.


class Counting(Process):
    to: Pid
    gone: bool = False

    @start
    def go(self) -> None:
        self.gone = True
        self.send(self.to, Ask())


class Reading(System):
    faults = crashes(1, of=Counting)

    def build(self) -> None:
        self.spawn(Counting, to=self.spawn(Hearing))

    def fine(self) -> bool:
        return not self[Counting][0].gone or self[Hearing][0].heard


class Resting(Process):
    to: Pid
    gone: bool = False
    rested: bool = False

    @start
    def go(self) -> None:
        self.gone = True
        self.send(self.to, Ask())

    @step(when=lambda self: self.gone and not self.rested)
    def rest(self) -> None:
        self.rested = True


class ReadingElse(System):
    """What is read changes in a step that sends nothing: no crash cuts that short."""

    faults = crashes(1, of=Resting)

    def build(self) -> None:
        self.spawn(Resting, to=self.spawn(Hearing))

    def fine(self) -> bool:
        return not self[Resting][0].rested or self[Hearing][0].heard


class Twice(Process):
    to: Constant[tuple[Pid, ...]]

    @start
    def go(self) -> None:
        for pid in self.to:
            self.send(pid, Ask())


class Half(System):
    faults = crashes(1, of=Twice)

    def build(self) -> None:
        self.spawn(Twice, to=tuple(self.spawn(Hearing, 2)))

    def fine(self) -> bool:
        return self[Hearing][0].heard == self[Hearing][1].heard


LEVELS = ("process", "message", "strong")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("system", "why"),
    [
        (Sharing, "Writing.go short, which writes a shared cell and sends a message"),
        (Watched, "Telling.go short, which sends a message and an event to Noting, which a predicate reads"),
        (Full, "Eating.eat short, which sends a message, when what it consumed has made room for another"),
        (FullBag, "Eating.eat short, which sends a message, when what it consumed has made room for another"),
        (Reading, "Counting.go short, which sends a message and changes what a predicate reads of counting1"),
        (Half, "Twice.go short, which sends several messages"),
    ],
)
def test_a_step_that_a_crash_leaves_visibly_unfinished(system: type[System], why: str, level: str) -> None:
    assert check(system, ltl="G F fine", fairness=level).verdict == "violated"
    found = check(system, ltl="G F fine", fairness=level, crash="implicit")
    assert found.verdict == "incomplete"
    wanted = f"not decided: a crash may cut {why}; make crashes steps of their own: --crash explicit"
    assert found.properties[0].note == wanted


@pytest.mark.parametrize("system", [Sharing, Watched, Full, Reading, Half])
def test_it_is_seen_without_the_analysis_as_well(system: type[System]) -> None:
    for options in ({"max_behaviours": 1}, {"quotient": "off", "dead_messages": "off", "symmetry": "none"}):
        given: dict[str, Any] = {**options, "ltl": "G F fine", "crash": "implicit"}
        assert check(system, **given).verdict == "incomplete"


@pytest.mark.parametrize("level", ["none", "progress", "process", "transition", "message", "strong"])
@pytest.mark.parametrize("formula", ["F fine", "G F fine", "F G fine", "G(fine -> F !fine)"])
@pytest.mark.parametrize("system", [WatchedInVain, NeverFull, RoomForAll, ReadingElse])
def test_where_nobody_sees_the_rest_of_the_step(system: type[System], formula: str, level: str) -> None:
    explicit = check(system, ltl=formula, fairness=level).verdict
    assert check(system, ltl=formula, fairness=level, crash="implicit").verdict == explicit


class BetweenSteps(Reading):
    faults = crashes(1, of=Counting, cut_short=False)


def test_crashes_between_steps_cut_nothing_short() -> None:
    for formula in ("G F fine", "F G fine", "F !fine"):
        explicit = check(BetweenSteps, ltl=formula).verdict
        assert check(BetweenSteps, ltl=formula, crash="implicit").verdict == explicit


class Flags(BetweenSteps):
    def down(self) -> bool:
        return self[Counting][0].crashed

    def down_later(self) -> bool:
        return self[Hearing][0].heard and self[Counting][0].crashed


@pytest.mark.parametrize("formula", ["G F !down", "G F !down_later"])
def test_who_has_crashed_is_not_to_be_asked(formula: str) -> None:
    assert check(Flags, ltl=formula).verdict == "violated"
    with pytest.raises(QuorateError, match="reads which processes have crashed") as refused:
        check(Flags, ltl=formula, crash="implicit")
    assert refused.value.code == "Q601"


def test_how_many_may_crash() -> None:
    assert check(NeverFull, ltl="F fine", crash="implicit", crashes=0).verdict == "holds"
    assert check(NeverFull, ltl="G F fine", crash="implicit", crashes=0).verdict == "holds"
    assert check(NeverFull, ltl="G F fine", crash="implicit").verdict == "violated"

    class Undeclared(NeverFull):
        faults = crashes(0)

    found = check(Undeclared, ltl="G F fine", crash="implicit")
    assert found.verdict == "incomplete"
    assert "--crashes 1" in (found.properties[0].note or "")


class Ticking(Process):
    odd: bool = False
    heard: bool = False

    @step(when=lambda self: True)
    def tick(self) -> None:
        self.odd = not self.odd

    @on(Ask)
    def hear(self, m: Ask) -> None:
        self.heard = True


class Posted(System):
    faults = crashes(1)

    def build(self) -> None:
        ticking = self.spawn(Ticking)
        self.send(ticking, Ask(), sender=ticking)

    def odd(self) -> bool:
        return self[Ticking][0].odd

    def heard(self) -> bool:
        return self[Ticking][0].heard


@pytest.mark.parametrize("model", ["m", "grm", "rm"])
def test_channels_do_not_crash(model: Literal["m", "grm", "rm"]) -> None:
    # Who goes on for ever has not crashed, and what was sent to it arrives.
    formula = "G F odd & G F !odd -> F heard"
    wanted = check(Posted, ltl=formula, network_model=model).verdict
    assert check(Posted, ltl=formula, network_model=model, crash="implicit").verdict == wanted == "holds"


class Called(Process):
    heard: bool = False

    @on(Ask)
    def hear(self, m: Ask) -> None:
        self.heard = True


class Calling(Process):
    to: Pid
    odd: bool = False

    @step(when=lambda self: True)
    def call(self) -> None:
        self.odd = not self.odd
        self.send(self.to, Ask())


class Unheard(System):
    network = multiset(losses="any", capacity=1, full="block")
    faults = crashes(1, of=Called, cut_short=False)

    def build(self) -> None:
        self.spawn(Calling, to=self.spawn(Called))

    def odd(self) -> bool:
        return self[Calling][0].odd

    def heard(self) -> bool:
        return self[Called][0].heard


@pytest.mark.parametrize(("crash", "verdict"), [(0, "holds"), (1, "violated")])
def test_what_is_sent_to_the_crashed_may_still_be_lost(crash: int, verdict: str) -> None:
    # Room is made by losses alone: the caller goes on, and nobody hears it.
    formula = "G F odd & G F !odd -> F heard"
    for options in ({}, {"crash": "implicit"}):
        asked: dict[str, Any] = {**options, "crashes": crash, "fairness": "strong"}
        assert check(Unheard, ltl=formula, **asked).verdict == verdict
