"""What must not be reduced, and is not: each combination that the rules forbid, with a system for which it is wrong.

Three things of each: the true verdict, by the reference; that a check says the same, also where every reduction is
asked for, and why it left them out; and that the reduced graph gives another verdict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quorate import Message, Pid, Process, System, check, multiset, on, quorum, step
from quorate.properties.kinds import Kept
from quorate.reduce.interface import Reduction
from quorate.reduce.partial_orders import PartialOrders, Split
from quorate.reduce.symmetry import Symmetry
from quorate.results.result import Result
from quorate.search.rebuild import ReplayError
from temporal_reduced import Question

EVERYTHING: dict[str, Any] = {"por": "lpor-net", "split": "combined", "symmetry": "auto"}
FINE = "which steps stay possible depends on the order of others; it keeps fairness up to process"
MIXED = "it does not keep fairness, unless all steps are weakly fair and nobody crashes implicitly"
UNEQUAL = "it does not keep who is treated fairly: it keeps --fairness none and progress"
COARSE = ("none", "progress", "process")


def checked(made: System, formula: str, level: str) -> list[Result]:
    """With the options as they are, with every reduction there is, and with none."""
    none = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
    return [check(made, ltl=formula, fairness=level, **options) for options in ({}, EVERYTHING, none)]


def assert_right(made: System, formula: str, level: str, verdict: str, why: str | None = None) -> None:
    """The reference says so, and every check does, with a reason where it leaves partial orders out."""
    assert Question(made, formula).verdict(level) == verdict
    results = checked(made, formula, level)
    assert [each.verdict for each in results] == [verdict] * 3
    told = results[1].reductions
    why = why if why is not None else "" if level in COARSE else FINE
    assert told["por"]["ran"] == told["split"]["ran"] == (not why)
    if why:
        assert told["por"]["why"] == told["split"]["why"] == why
        assert len({each.states for each in results[:2]}) == 1
    assert (told["symmetry"]["why"] == UNEQUAL) == (level not in ("none", "progress"))


# Partial orders with weak fairness of transitions or messages: what is put off makes a step enabled for ever.


class Item(Message): ...


class Credit(Message): ...


class Producer(Process):
    consumer: Pid
    credits: int = 2

    @step(when=lambda self: self.credits > 0)
    def produce(self) -> None:
        self.credits -= 1
        self.send(self.consumer, Item())

    @on(Credit)
    def credit(self, m: Credit) -> None:
        self.credits = min(2, self.credits + 1)  # so that its values are bounded whatever comes


class Consumer(Process):
    done: bool = False

    @on(Item, when=lambda self, m: not self.done)
    def use(self, m: Item) -> None:
        self.reply(Credit())

    @on(Item, when=lambda self, m: not self.done)
    def finish(self, m: Item) -> None:
        self.done = True


class Supply(System):
    """Whoever produces first keeps an item in stock, so that `finish` is always possible; who does not, does not."""

    network = multiset()

    def build(self) -> None:
        self.spawn(Producer, consumer=self.spawn(Consumer))

    def done(self) -> bool:
        return self[Consumer][0].done


@pytest.mark.parametrize("level", ["transition", "message"])
def test_partial_orders_with_weak_fairness_of_transitions(level: str) -> None:
    assert_right(Supply(), "F done", level, "violated")
    question = Question(Supply(), "F done")
    assert question.verdict(level, question.ample(question.columns(Producer))) == "holds", "a violation is missed"


@pytest.mark.parametrize("level", ["none", "progress"])
def test_the_same_partial_orders_are_right_without_it(level: str) -> None:
    """So it is fairness that they do not keep."""
    question = Question(Supply(), "F done")
    reduced = (question.ample(question.columns(Producer)), question.stubborn())
    assert [question.verdict(level, each) for each in (None, *reduced)] == ["violated"] * 3


# Partial orders with strong fairness: the order that never makes it possible is left out.


class Token(Message): ...


class Back(Message): ...


class Toggling(Process):
    judge: Pid
    has: bool = True

    @step(when=lambda self: self.has)
    def offer(self) -> None:
        self.has = False
        self.send(self.judge, Token())

    @on(Back)
    def take_back(self, m: Back) -> None:
        self.has = True


class Judge(Process):
    done: bool = False

    @on(Token, when=lambda self, m: not self.done)
    def refuse(self, m: Token) -> None:
        self.reply(Back())

    @quorum(Token, size=2, when=lambda self: not self.done)
    def accept(self, ms: frozenset[Token]) -> None:
        self.done = True


class Both(System):
    """The judge accepts if both offers are there together, which need never be so."""

    def build(self) -> None:
        self.spawn(Toggling, 2, judge=self.spawn(Judge))

    def done(self) -> bool:
        return self[Judge][0].done


def test_partial_orders_with_strong_fairness() -> None:
    assert_right(Both(), "F done", "strong", "violated")
    question = Question(Both(), "F done")
    reduced = question.ample(question.columns(Toggling))
    assert question.verdict("strong", reduced) == "holds", "a violation is missed"
    assert question.verdict("progress", reduced) == question.verdict("progress") == "violated"


# Partial orders with fairness of processes are right only if what is not explored counts as enabled.


class Clock(Process):
    at: int = 0

    @step(when=lambda self: self.at < 2)
    def tick(self) -> None:
        self.at += 1


class Idler(Process):
    phase: int = 0

    @step(when=lambda self: True)
    def turn(self) -> None:
        self.phase = 1 - self.phase


class Idle(System):
    def build(self) -> None:
        self.spawn(Idler)
        self.spawn(Clock)

    def two(self) -> bool:
        return self[Clock][0].at == 2


def test_what_is_enabled_is_not_what_was_explored() -> None:
    assert_right(Idle(), "F two", "process", "holds")
    question = Question(Idle(), "F two")
    assert question.verdict("process", question.stubborn()) == "holds"
    assert question.verdict("process", question.stubborn(explored_only=True)) == "violated", "a lasso that is not fair"
    # Merged, the idler has one state, which is expanded in full. Unmerged, the clock is left out in one of them.
    for por in ("lpor", "lpor-net"):
        found = check(Idle(), ltl="F two", fairness="process", por=por, quotient="off")
        assert (found.verdict, found.reductions["por"]["ran"], found.transitions) == ("holds", True, 8)


# Partial orders with fairness of processes: steps of one process count as dependent. Otherwise the step that is put
# first may be one that the process could put off for ever, and what it enables must be done then.


class Idling(Process):
    to: Pid
    phase: int = 0
    sent: bool = False

    @step(when=lambda self: not self.sent)
    def tell(self) -> None:
        self.sent = True
        self.send(self.to, Item())

    @step(when=lambda self: True)
    def turn(self) -> None:
        self.phase = 1 - self.phase


class Told(Process):
    done: bool = False

    @on(Item)
    def take(self, m: Item) -> None:
        self.done = True


class PutOff(System):
    """It may turn for ever without ever telling, and then nobody has anything to do."""

    def build(self) -> None:
        self.spawn(Idling, to=self.spawn(Told))

    def done(self) -> bool:
        return self[Told][0].done


def test_steps_of_a_process_that_commute_with_fairness_of_processes() -> None:
    assert_right(PutOff(), "F done", "process", "violated")
    question = Question(PutOff(), "F done")
    assert question.verdict("process", question.stubborn(commuting=False)) == "violated"
    assert question.verdict("process", question.stubborn()) == "holds", "a violation is missed"


class Lazy(Process):
    to: Pid
    sent: bool = False

    @step(when=lambda self: not self.sent, fair=False)
    def tell(self) -> None:
        self.sent = True
        self.send(self.to, Item())


class NeverTold(System):
    """One may tell, but need not; another turns for ever."""

    def build(self) -> None:
        self.spawn(Lazy, to=self.spawn(Told))
        self.spawn(Idler)

    def done(self) -> bool:
        return self[Told][0].done


@pytest.mark.parametrize("level", ["progress", "process"])
def test_partial_orders_where_some_steps_are_not_fair(level: str) -> None:
    verdict = check(NeverTold(), ltl="F done", fairness=level)
    assert verdict.verdict == "violated"
    told = check(NeverTold(), ltl="F done", fairness=level, por="lpor-net").reductions["por"]
    assert (told["ran"], told["why"]) == (False, MIXED)


# Partial orders, whatever is assumed: each condition of the theorem, and a system for which it is needed.


class Showing(System):
    """One turns for ever, and another one's steps are seen."""

    def build(self) -> None:
        self.spawn(Idler)
        self.spawn(Clock)

    def two(self) -> bool:
        return self[Clock][0].at == 2


@pytest.mark.parametrize("level", ["none", "progress"])
def test_steps_are_not_put_off_for_ever(level: str) -> None:
    assert_right(Showing(), "G !two", level, "violated")
    question = Question(Showing(), "G !two")
    reduced = question.ample(question.columns(Idler), without="C3")
    assert question.verdict(level, reduced) == "holds", "a violation is missed"


class Ordered(System):
    """Two clocks, and both are seen."""

    def build(self) -> None:
        self.spawn(Clock, 2)

    def one(self) -> bool:
        return self[Clock][0].at > 0

    def other(self) -> bool:
        return self[Clock][1].at > 0


@pytest.mark.parametrize("level", COARSE)
def test_steps_that_are_seen_are_not_put_first(level: str) -> None:
    assert_right(Ordered(), "!other W one", level, "violated")
    question = Question(Ordered(), "!other W one")
    reduced = question.ample(question.columns(Clock)[:1], without="C2")
    assert question.verdict(level, reduced) == "holds", "a violation is missed"


class Undecided(Process):
    """While it wavers it may speak; who has left does not speak any more, who has spoken does not leave."""

    at: str = "wavering"
    spoken: bool = False

    @step(when=lambda self: self.at == "wavering")
    def waver(self) -> None:
        self.at = "wavering" if self.spoken else self.choose(["wavering", "left"])

    @step(when=lambda self: self.at == "wavering" and not self.spoken)
    def speak(self) -> None:
        self.spoken = True


class Wavering(System):
    """What `waver` keeps possible it keeps by one of its outcomes, the one that leads back."""

    def build(self) -> None:
        self.spawn(Undecided)

    def spoken(self) -> bool:
        return self[Undecided][0].spoken


@pytest.mark.parametrize("level", ["none", "progress"])
def test_every_outcome_of_a_step_counts_for_cycles(level: str) -> None:
    """That another outcome leads on is not enough, as it would be if the step had one outcome only."""
    assert_right(Wavering(), "G !spoken", level, "violated")
    question = Question(Wavering(), "G !spoken")
    (column,) = question.columns(Undecided)
    reduced = question.left_with([(column, 0)], without="C3")
    here = [to for _, to in reduced.ways[0]]
    assert sorted(here) == [0, 1], "back, and on"
    assert question.verdict(level, reduced) == "holds", "a violation is missed"


class Halting(Process):
    left: int = 2

    @step(when=lambda self: self.left > 0)
    def count(self) -> None:
        self.left -= 1


class Resting(System):
    """Both come to rest, and one of them is seen."""

    def build(self) -> None:
        self.spawn(Halting)
        self.spawn(Clock)

    def one(self) -> bool:
        return self[Halting][0].left == 1


@pytest.mark.parametrize("level", COARSE)
def test_runs_that_end_are_kept(level: str) -> None:
    verdict = "violated" if level == "none" else "holds"
    assert_right(Resting(), "F(one & F !one)", level, verdict)
    question = Question(Resting(), "F(one & F !one)")
    reduced = question.stubborn()
    assert question.verdict(level, reduced) == verdict
    # Without D2 the set could be one whose steps are not possible, as if the run had come to its end.
    assert reduced.hidden is not None
    assert any(reduced.hidden)
    kept = [[] if hidden else here for here, hidden in zip(reduced.ways, reduced.hidden, strict=True)]
    assert question.verdict(level, replace(reduced, ways=kept, hidden=None)) == "violated"


# Branching time: a set of more than one step, or of one with several outcomes, chooses too early.


class Follower(Process):
    of: Pid
    seen: int = 0

    @step(when=lambda self: self.seen == 0)
    def show(self) -> None:
        self.seen = 1


class Choosing(System):
    """Once it is shown, either way is still open, if the choice has not been made before."""

    def build(self) -> None:
        self.spawn(Follower, of=self.spawn(Reporter))

    def shown(self) -> bool:
        return self[Follower][0].seen == 1

    def first(self) -> bool:
        return self[Reporter][0].at == 3

    def second(self) -> bool:
        return self[Reporter][0].at == 4


class Reporter(Process):
    """It picks a way unseen, and shows it later."""

    at: int = 0

    @step(when=lambda self: self.at == 0)
    def pick(self) -> None:
        self.at = self.choose([1, 2])

    @step(when=lambda self: self.at in (1, 2))
    def report(self) -> None:
        self.at += 2


@pytest.mark.parametrize("level", ["none", "progress"])
def test_branching_time_needs_steps_with_one_outcome(level: str) -> None:
    formula = "EF(shown & !first & !second & EF first & EF second)"
    results = [check(Choosing(), ctl=formula, fairness=level, **options) for options in ({}, EVERYTHING)]
    assert [each.verdict for each in results] == ["holds"] * 2
    assert results[1].reductions["por"]["ran"]
    question = Question(Choosing(), "G !shown")  # for its graph
    (column,) = question.columns(Reporter)
    reduced = question.left_with([(column, 0)])
    both = Question(Choosing(), "F first | F second | G !shown")
    assert both.verdict("progress") == "holds"
    after = {to for at in reduced.initial for _, to in reduced.ways[at]}
    assert len(after) == 2, "nothing is left open after the choice"
    assert all({act[2] for act, _ in reduced.ways[at]} != {0} for at in after)


def test_branching_time_with_fairness_of_processes_is_not_reduced() -> None:
    told = check(Choosing(), ctl="AG EF shown", fairness="process", por="lpor-net").reductions["por"]
    assert told["why"] == "it does not keep branching time together with fairness of processes"


# Symmetry with fairness of processes: two processes that take turns look like one that moves.


class Wanderer(Process):
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def out(self) -> None:
        self.at = 2

    @step(when=lambda self: self.at == 2)
    def home(self) -> None:
        self.at = 0

    @step(when=lambda self: self.at == 0)
    def commit(self) -> None:
        self.at = 1

    @step(when=lambda self: self.at == 1)
    def finish(self) -> None:
        self.at = 3


class Wandering(System):
    number: int = 2

    def build(self) -> None:
        self.spawn(Wanderer, self.number)

    def committed(self) -> bool:
        return any(each.at == 1 for each in self[Wanderer])

    def finished(self) -> bool:
        return any(each.at == 3 for each in self[Wanderer])


def test_symmetry_with_fairness_of_processes() -> None:
    formula = "G(committed -> F finished)"
    assert_right(Wandering(), formula, "process", "holds")
    question = Question(Wandering(), formula)
    assert question.verdict("process", question.renamed(question.columns(Wanderer))) == "violated", (
        "a lasso that is not fair"
    )


@pytest.mark.parametrize("level", ["none", "progress"])
def test_symmetry_is_right_with_symmetric_fairness(level: str) -> None:
    formula = "G(committed -> F finished)"
    question = Question(Wandering(), formula)
    assert (
        question.verdict(level, question.renamed(question.columns(Wanderer))) == question.verdict(level) == "violated"
    )
    assert_right(Wandering(), formula, level, "violated")
    result = check(Wandering(), ltl=formula, fairness=level)
    told = result.reductions["symmetry"]
    assert (told["ran"], result.states, told["stands_for"]) == (True, 10, 16)
    assert result.trace is not None, "and it was followed through the plain semantics"


class Impatient(System):
    """One may commit, but whoever has gone out need not come home. Both may wander for ever."""

    def build(self) -> None:
        self.spawn(Wanderer, 2)
        self.spawn(Lazy, to=self.spawn(Told))

    def done(self) -> bool:
        return self[Told][0].done

    def nobody(self) -> bool:
        return all(each.at == 0 for each in self[Wanderer])


def test_symmetry_where_some_steps_are_not_fair() -> None:
    """Which steps are fair is the same for all of a role, so progress is symmetric then too; partial orders are off."""
    for formula in ("F done", "G F nobody", "F !nobody"):
        assert (
            Question(Impatient(), formula).verdict("progress")
            == check(Impatient(), ltl=formula, fairness="progress").verdict
        )
    told = check(Impatient(), ltl="F done", fairness="progress", por="lpor-net").reductions
    assert (told["symmetry"]["ran"], told["por"]["ran"], told["por"]["why"]) == (True, False, MIXED)


class Turn(Message): ...


class Chair(Process):
    members: frozenset[Pid]
    turn: Pid | None = None

    @step(when=lambda self: self.turn is None)
    def give(self) -> None:
        self.turn = self.choose(self.members)
        self.send(self.turn, Turn())

    @on(Back)
    def again(self, m: Back) -> None:
        self.turn = None


class Speaker(Process):
    spoken: bool = False

    @on(Turn)
    def speak(self, m: Turn) -> None:
        self.spoken = not self.spoken
        self.reply(Back())


class Meeting(System):
    """A loop up to names: each round another one may have the turn, and somebody's opinion changes."""

    def build(self) -> None:
        self.spawn(Chair, members=frozenset(self.spawn(Speaker, 3)))

    def all_spoken(self) -> bool:
        return all(each.spoken for each in self[Speaker])

    def some_spoken(self) -> bool:
        return any(each.spoken for each in self[Speaker])


@pytest.mark.parametrize("level", ["none", "progress"])
@pytest.mark.parametrize(
    "formula", ["F all_spoken", "G F !some_spoken", "F G some_spoken", "G(some_spoken -> F !all_spoken)"]
)
def test_a_loop_up_to_names_is_gone_round_until_it_closes(level: str, formula: str) -> None:
    verdict = Question(Meeting(), formula).verdict(level)
    assert_right(Meeting(), formula, level, verdict)
    result = check(Meeting(), ltl=formula, fairness=level)
    assert result.reductions["symmetry"]["ran"]
    assert (result.trace is not None) == (verdict == "violated")


# A run that ends goes on for ever where it is.


class Once(Process):
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def left(self) -> None:
        self.at = 1

    @step(when=lambda self: self.at == 0)
    def right(self) -> None:
        self.at = 2


class Choice(System):
    def build(self) -> None:
        self.spawn(Once)

    def lucky(self) -> bool:
        return self[Once][0].at == 2


@pytest.mark.parametrize("level", ["none", "progress", "process", "transition", "message", "strong"])
def test_a_run_that_ends_is_a_run(level: str) -> None:
    assert_right(Choice(), "F lucky", level, "violated")
    assert Question(Choice(), "F lucky").without_ends(level) == "holds", "a violation is missed"


# What a bound ends has not ended.


class Bounded(Process):
    at: int = 0

    def within(self) -> bool:
        return self.at < 3

    @step(when=lambda self: True)
    def count(self) -> None:
        self.at += 1


class Counting(System):
    def build(self) -> None:
        self.spawn(Bounded)

    def far(self) -> bool:
        return self[Bounded][0].at >= 5


def test_a_run_that_a_bound_ends_decides_nothing() -> None:
    assert_right(Counting(), "F far", "message", "incomplete")
    cut = "no relation is proven for whole runs that a bound cuts short"
    assert_right(Counting(), "F far", "progress", "incomplete", cut)
    question = Question(Counting(), "F far")
    assert question.verdict("message", question.without_bounds()) == "violated", "a run that does not end"


class Slow(Process):
    to: Pid
    sent: int = 0

    @step(when=lambda self: self.sent < 2)
    def fill(self) -> None:
        self.sent += 1
        self.send(self.to, Item())


class Deaf(Process):
    heard: bool = False

    @on(Credit)
    def hear(self, m: Credit) -> None:
        self.heard = True


class Filling(System):
    network = multiset(capacity=1)

    def build(self) -> None:
        self.spawn(Slow, to=self.spawn(Deaf))

    def sent(self) -> bool:
        return self[Slow][0].sent == 2


def test_a_run_that_a_full_channel_ends_decides_nothing() -> None:
    assert_right(Filling(), "F sent", "message", "incomplete")
    question = Question(Filling(), "F sent")
    assert question.verdict("message", question.without_bounds()) == "violated"


class Busy(Deaf):
    at: int = 0

    @step(when=lambda self: True)
    def turn(self) -> None:
        self.at = 1 - self.at


class Never(Filling):
    def build(self) -> None:
        self.spawn(Slow, to=self.spawn(Busy))


@pytest.mark.parametrize("level", ["process", "message", "strong"])
def test_what_a_full_channel_holds_up_is_not_possible(level: str) -> None:
    """Nobody ever makes room, so that the loop in which it waits is fair."""
    assert [each.verdict for each in checked(Never(), "F sent", level)] == ["violated"] * 3
    assert Question(Never(), "F sent").verdict(level) == "violated"


def test_these_tests_see_symmetry_that_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Symmetry, "keeps", frozenset(Kept))
    monkeypatch.setattr(Symmetry, "_reason", Reduction._reason)
    with pytest.raises(ReplayError, match="it is not fair: wanderer"):
        check(Wandering(number=3), ltl="G(committed -> F finished)", fairness="process")


@pytest.mark.parametrize("level", ["progress", "process"])
def test_a_check_that_reduces_where_steps_are_not_fair_misses_a_violation(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the reason stands for, in the engine itself."""
    assert check(NeverTold(), ltl="F done", fairness=level, por="lpor-net").verdict == "violated"
    for reduction in (PartialOrders, Split):
        monkeypatch.setattr(reduction, "_reason", lambda self, wanted: "" if self.wanted else "switched off")
    result = check(NeverTold(), ltl="F done", fairness=level, por="lpor-net")
    assert result.reductions["por"]["ran"]
    assert (result.verdict == "holds") == (level == "process"), "a violation is missed"


def test_a_check_that_lets_steps_of_a_process_commute_misses_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(PutOff(), ltl="F done", fairness="process", por="lpor-net").verdict == "violated"
    monkeypatch.setattr(PartialOrders, "of_processes", False)
    assert check(PutOff(), ltl="F done", fairness="process", por="lpor-net").verdict == "holds"
