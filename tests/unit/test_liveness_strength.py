"""Steps of different strength at the levels whose groups hold several transitions: what is said of one step says
nothing about the others."""

from itertools import pairwise
from typing import Any

import pytest

from quorate import Message, Pid, Process, System, check, crashes, on, step, unordered
from quorate.model.define import define
from quorate.properties.temporal.fairness import assumed

LEVELS = ("none", "progress", "process", "transition", "message", "strong")


class Data(Message): ...


class Talking(Process):
    to: Pid

    @step(when=lambda self: True, fair=False)
    def say(self) -> None:
        self.send(self.to, Data())


class Weak(Process):
    odd: bool = False
    done: bool = False

    @on(Data)
    def take(self, m: Data) -> None:
        self.odd = not self.odd

    @step(when=lambda self: not self.done)
    def finish(self) -> None:
        self.done = True


class Strong(Weak):
    @on(Data, fair="strong")
    def take(self, m: Data) -> None:
        self.odd = not self.odd


class Mixed(System):
    strong: bool = False

    def build(self) -> None:
        self.spawn(Talking, to=self.spawn(Strong if self.strong else Weak))

    def done(self) -> bool:
        return self[Weak][0].done

    def odd(self) -> bool:
        return self[Weak][0].odd


@pytest.mark.parametrize("strong", [False, True])
def test_a_strong_step_does_not_make_the_others_of_its_group_fair(strong: bool) -> None:
    # The receiver takes what it is sent for ever, and never finishes: it has gone on.
    found = [check(Mixed(strong=strong), ltl="F done", fairness=level).verdict for level in LEVELS]
    assert found == ["violated", "violated", "violated", "holds", "holds", "holds"]


class Sending(Process):
    to: Pid

    @step(when=lambda self: True)
    def say(self) -> None:
        self.send(self.to, Data())


class Idle(Process):
    heard: bool = False

    @on(Data)
    def hear(self, m: Data) -> None:
        self.heard = True


class Lossy(System):
    fair: bool = True

    def build(self) -> None:
        self.network = unordered(losses="any", fair=self.fair)
        self.spawn(Sending, to=self.spawn(Idle))

    def heard(self) -> bool:
        return self[Idle][0].heard


def test_a_fair_channel_is_fair_at_every_level() -> None:
    assert [check(Lossy(), ltl="F heard", fairness=level).verdict for level in LEVELS] == ["violated"] + ["holds"] * 5
    unfair = [check(Lossy(fair=False), ltl="F heard", fairness=level).verdict for level in LEVELS]
    assert unfair == ["violated"] * 5 + ["holds"]


@pytest.mark.parametrize("formula", ["F done", "G F odd", "F G done", "G(odd -> F done)", "F G !odd"])
def test_to_ask_for_more_never_takes_away(formula: str) -> None:
    order = {"violated": 0, "holds": 1}
    for level in LEVELS:
        made = [Mixed(strong=strong) for strong in (False, True)]
        verdicts = [order[check(each, ltl=formula, fairness=level).verdict] for each in made]
        assert all(before <= after for before, after in pairwise(verdicts)), level


class Turning(Process):
    odd: bool = False

    @step(when=lambda self: True, fair=False)
    def turn(self) -> None:
        self.odd = not self.odd


class TurningBack(Turning):
    @step(when=lambda self: not self.odd, fair=False)
    def turn(self) -> None:
        self.odd = True

    @step(when=lambda self: self.odd, fair="strong")
    def back(self) -> None:
        self.odd = False


class Several(System):
    strong: bool = False

    def build(self) -> None:
        self.spawn(TurningBack if self.strong else Turning, 2)

    def odd(self) -> bool:
        return any(each.odd for each in self[Turning])


def test_symmetry_is_off_where_steps_are_strong() -> None:
    # Who has to go on is told apart then: a loop up to names may be another one's turn.
    asked: dict[str, Any] = {"ltl": "G F !odd", "fairness": "progress"}
    assert check(Several(), **asked).reductions["symmetry"]["ran"]
    told = check(Several(strong=True), **asked).reductions["symmetry"]
    assert not told["ran"]
    assert "a step is strongly fair" in told["why"]


class Toggling(Process):
    odd: bool = False
    done: bool = False

    @step(when=lambda self: True, fair=False)
    def toggle(self) -> None:
        self.odd = not self.odd

    @step(when=lambda self: not self.done)
    def finish(self) -> None:
        self.done = True


class Alone(System):
    def build(self) -> None:
        self.spawn(Toggling)

    def done(self) -> bool:
        return self[Toggling][0].done


class Winding(Process):
    at: int = 0
    done: bool = False

    @step(when=lambda self: not self.done and self.at != 1)
    def home(self) -> None:
        self.at = 1 if self.at == 0 else 0

    @step(when=lambda self: not self.done and self.at == 1)
    def on(self) -> None:
        self.at = self.choose((0, 2))

    @step(when=lambda self: not self.done and self.at == 2, fair="strong")
    def leave_there(self) -> None:
        self.done = True

    @step(when=lambda self: not self.done and self.at != 2)
    def leave_here(self) -> None:
        self.done = True


class Leaving(System):
    def build(self) -> None:
        self.spawn(Winding)

    def done(self) -> bool:
        return self[Winding][0].done


@pytest.mark.parametrize("level", ["transition", "message"])
def test_what_is_left_of_a_component_is_judged_anew(level: str) -> None:
    """Who keeps away from where the strong step is possible stays where the weak one is, and has to take that."""
    assert check(Leaving, ltl="F done", fairness=level).verdict == "holds"


class Returning(System):
    faults = crashes("any", down=2, recover="fair")

    def build(self) -> None:
        self.spawn(Toggling, 2)

    def first_is_up(self) -> bool:
        return not self[Toggling][0].crashed


@pytest.mark.parametrize(("level", "verdict"), [("progress", "violated"), ("process", "holds")])
def test_who_comes_back(level: str, verdict: str) -> None:
    """Where all recoveries count as one, the other process may always be the one that comes back."""
    assert check(Returning, ltl="G F first_is_up", fairness=level).verdict == verdict


class Falling(Process):
    @step(when=lambda self: False)
    def never(self) -> None: ...


class Restless(Alone):
    faults = crashes("any", down=1, of=Falling, recover="fair")

    def build(self) -> None:
        self.spawn(Toggling)
        self.spawn(Falling)


def test_who_only_comes_back_has_done_nothing() -> None:
    """A recovery is not the step that some process takes as long as one is possible."""
    assert check(Restless, ltl="F done", fairness="progress").verdict == "holds"


@pytest.mark.parametrize(
    ("system", "level", "told"),
    [
        (
            Returning(),
            "progress",
            "some step is taken as long as one is possible, but Toggling.toggle does not count; one of those that have "
            "crashed comes back",
        ),
        (
            Returning(),
            "process",
            "a process that can always go on does go on (weak fairness of processes), but Toggling.toggle does not "
            "count; a crashed process comes back",
        ),
        (Alone(), "none", "nothing: a run may stop at any time"),
        (Alone(), "progress", "some step is taken as long as one is possible, but Toggling.toggle does not count"),
        (
            Alone(),
            "process",
            "a process that can always go on does go on (weak fairness of processes), but Toggling.toggle does not "
            "count",
        ),
        (
            Alone(),
            "message",
            "every step that stays possible is taken (weak fairness), but Toggling.toggle need not be",
        ),
        (
            Mixed(strong=True),
            "progress",
            "some step is taken as long as one is possible, but Talking.say does not count; Strong.take is taken if "
            "possible again and again",
        ),
        (
            Mixed(strong=True),
            "message",
            "every step that stays possible is taken (weak fairness), but Talking.say need not be; Strong.take also if "
            "possible again and again",
        ),
        (
            Lossy(),
            "progress",
            "some step is taken as long as one is possible; a transition that can receive again and again does",
        ),
        (
            Lossy(),
            "message",
            "every step that stays possible is taken (weak fairness); what is sent again and again is received",
        ),
    ],
)
def test_the_assumption_is_told_in_full(system: System, level: str, told: str) -> None:
    assert assumed(define(system), level) == told


def test_what_does_not_count_is_nothing_done() -> None:
    found = [check(Alone, ltl="F done", fairness=level).verdict for level in LEVELS]
    assert found == ["violated", "holds", "holds", "holds", "holds", "holds"]
