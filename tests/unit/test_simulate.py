"""Random runs: reproducible, replayed, and honest about what they have seen."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quorate import (
    Constant,
    Message,
    Peers,
    Pid,
    Process,
    Shared,
    System,
    can,
    check,
    crashes,
    ctl,
    eventually,
    final,
    invariant,
    ltl,
    on,
    start,
    step,
    unordered,
)
from quorate.base.errors import LimitError, QuorateError
from quorate.base.watchdog import Halted
from quorate.cli.main import app
from quorate.model.target import load
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.render.simulation import simulation
from quorate.results.json import trace_to_json
from quorate.results.replay import replay
from quorate.results.simulation import Novelty
from quorate.search.simulate import STRATEGIES, Strategy, simulate
from quorate.search.temporal_walks import TemporalWalks


class Tick(Message):
    n: int


class Clock(Process):
    """Has infinitely many states."""

    others: Peers = Peers()
    time: int = 0

    @step(when=lambda self: True)
    def tick(self) -> None:
        self.time += 1
        self.send(self.others, Tick(self.time))

    @on(Tick, when=lambda self, m: m.n > self.time)
    def adjust(self, m: Tick) -> None:
        self.time = m.n


class Clocks(System):
    limit: int = 60

    def build(self) -> None:
        clocks = [self.spawn(Clock) for _ in range(3)]
        for clock in clocks:
            self.connect(clock, others=Peers(clocks) - {clock})

    @invariant
    def early(self) -> bool:
        return all(clock.time < self.limit for clock in self[Clock])

    @can
    def apart(self) -> bool:
        times = [clock.time for clock in self[Clock]]
        return max(times) - min(times) > 3

    @eventually
    def late(self) -> bool:
        return all(clock.time > 3 for clock in self[Clock])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_runs_on_any_number_of_threads(strategy: Strategy) -> None:
    found = [
        simulate(FaultyPaxos(proposers=3), runs=20_000, depth=60, seed=11, strategy=strategy, threads=threads)
        for threads in (1, 2, 3)
    ]
    assert len({(each.run, each.property, each.runs, each.steps) for each in found}) == 1
    assert found[0].property == "agreement"
    assert found[0].trace is not None
    assert len({json.dumps(each.to_json()["trace"]) for each in found}) == 1


def test_seeds_differ() -> None:
    one, two = (simulate(Paxos(), runs=64, seed=seed) for seed in (1, 2))
    assert (one.steps, one.distinct) != (two.steps, two.distinct)


def test_a_run_is_shortened_to_a_shortest_one() -> None:
    found = simulate(FaultyPaxos(), runs=5_000, seed=3)
    known = check(FaultyPaxos())
    assert found.trace is not None
    assert known.trace is not None
    assert len(found.trace) == len(known.trace)
    long = simulate(FaultyPaxos(), runs=5_000, seed=3, shorten=False)
    assert long.trace is not None
    assert len(long.trace) >= len(found.trace)


def test_states_without_end() -> None:
    found = simulate(Clocks(limit=40), runs=2_000, depth=400)
    assert found.property == "early"
    assert found.trace is not None
    assert found.left_out == ()
    assert found.walks is None  # the invariant was violated before
    assert "apart" in found.reached
    held = simulate(Clocks(limit=100_000), runs=64, depth=50)
    assert held.ok
    assert held.runs == 64
    assert held.steps == 64 * 50
    assert held.ended == 0


class Toggle(Process):
    up: bool = False

    @step(when=lambda self: True)
    def turn(self) -> None:
        self.up = not self.up


class Toggles(System):
    """Has four states, and runs without an end."""

    def build(self) -> None:
        self.spawn(Toggle, 2)

    @invariant
    def few(self) -> bool:
        return sum(toggle.up for toggle in self[Toggle]) <= 2


@pytest.mark.parametrize("threads", [1, 3])
def test_a_run_without_an_end_ends_when_the_time_is_up(threads: int) -> None:
    """Limits were looked at between runs only."""
    found = simulate(Toggles, seconds=0.3, depth=10**12, threads=threads)
    assert (found.ok, found.runs, found.stopped_by) == (True, 0, None)
    assert found.steps > 0
    assert found.unfinished in range(1, threads + 1)
    text = " ".join(simulation(found).plain().split())
    assert "in 0 random runs" not in text
    assert f"{found.unfinished} under way at the end" in text


def _stopped(*_: object) -> None:
    raise Halted


@pytest.mark.parametrize("what", ["quorate.results.shorten.find", "quorate.results.regroup.regroup"])
def test_a_violation_is_told_whatever_becomes_of_shortening_it(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow handlers, or Ctrl-C, stop the model's code: it said "stopped", and nothing of what it had found."""
    known = simulate(FaultyPaxos(), runs=5_000, seed=3, shorten=False)
    monkeypatch.setattr(what, _stopped)
    monkeypatch.setattr("quorate.search.simulate.SHORTER_STATES", 10)
    found = simulate(FaultyPaxos(), runs=5_000, seed=3)
    assert (found.property, found.run) == (known.property, known.run)
    assert found.trace is not None
    assert known.trace is not None
    assert len(found.trace) <= len(known.trace)


def test_a_violation_that_is_not_replayed_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quorate.search.simulate.rebuild", _stopped)
    with pytest.raises(LimitError, match="stopped while it was replayed that run [0-9]+ violates something"):
        simulate(FaultyPaxos(), runs=5_000, seed=3)


def test_what_makes_the_same_runs_again_is_said_in_full() -> None:
    found = simulate(FaultyPaxos(), runs=5_000, seed=3, strategy="pct", changes=2, depth=40)
    assert found.run is not None
    text = " ".join(simulation(found).plain().split())
    assert f"run {found.run} of --seed 3 --strategy pct --changes 2 --depth 40" in text


class Waiting(Process):
    ready: bool = False

    @start
    def fail(self) -> None:
        assert not self.ready, "never"


class Waits(System):
    def build(self) -> None:
        self.spawn(Waiting)

    @final
    def done(self) -> bool:
        return all(each.ready for each in self[Waiting])


class Failing(Process):
    n: int = 0

    @step(when=lambda self: self.n < 5)
    def go(self) -> None:
        self.n += 1
        assert self.n < 5, "five"


class Fails(System):
    def build(self) -> None:
        self.spawn(Failing)


class Mover(Process):
    moved: bool = False

    @start
    def move(self) -> None:
        self.moved = True


class Sender(Process):
    to: Pid
    moved: bool = False

    @start
    def move(self) -> None:
        self.moved = True
        self.send(self.to, Tick(1))
        self.send(self.to, Tick(2))


class Crowd(System):
    """Somebody moves, which is forbidden."""

    network = unordered(capacity=1)

    def build(self) -> None:
        movers = self.spawn(Mover, 3)
        self.spawn(Sender, to=next(iter(movers)))

    @invariant
    def still(self) -> bool:
        return not any(each.moved for each in self[Mover])


def test_deadlocks_and_failures_are_found() -> None:
    assert simulate(Waits, runs=10).property == "deadlock"
    found = simulate(Fails, runs=10)
    assert found.property == "assertions"
    assert found.trace is not None
    assert len(found.trace) == 5


def test_nothing_found_where_nothing_is() -> None:
    small = Paxos(proposers=2, acceptors=2)
    known = check(small, symmetry="none", quotient="off", dead_messages="off")
    found = simulate(small, runs=20_000)
    assert found.ok
    assert found.ended == found.runs == 20_000
    # All states are met, and counted.
    assert found.exact
    assert found.distinct == known.states
    assert found.novelty.probability < 0.01


def test_every_step_is_as_likely_as_any_other_that_is_possible() -> None:
    """Three of four processes can move; the fourth has a step for which there is no room."""
    counts = dict.fromkeys(range(3), 0)
    for seed in range(300):
        found = simulate(Crowd, runs=1, depth=1, seed=seed, shorten=False)
        assert found.trace is not None
        (step,) = found.trace.steps
        counts[step.column] += 1
    assert min(counts.values()) > 70  # of 100 each


class Order(Message):
    pass


class Bill(Message):
    pass


class Shop(Process):
    """May crash before anything is sent, after either message, and after both."""

    customer: Pid

    @start
    def deliver(self) -> None:
        self.send(self.customer, Order())
        self.send(self.customer, Bill())


class Customer(Process):
    bills: int = 0

    @on(Bill)
    def pay(self, m: Bill) -> None:
        self.bills += 1


class Shopping(System):
    faults = crashes(1, of=Shop)

    def build(self) -> None:
        self.spawn(Shop, customer=self.spawn(Customer))

    @invariant
    def fine(self) -> bool:
        return True


class OnlyOrdered(Shopping):
    @invariant
    def billed(self) -> bool:
        return not self.pending(Order) or bool(self.pending(Bill)) or self[Customer][0].bills == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_crash_cuts_a_step_short_anywhere(strategy: Strategy) -> None:
    """Crashes in the midst of one step differ in nothing but what is still sent."""
    plain = {"symmetry": "none", "quotient": "off", "dead_messages": "off"}
    assert simulate(Shopping, runs=300, strategy=strategy).distinct == check(Shopping, **plain).states  # type: ignore[arg-type]
    assert simulate(OnlyOrdered, runs=300, strategy=strategy).property == "billed"


class Chooser(Process):
    chosen: int | None = None

    @start
    def choose_one(self) -> None:
        self.chosen = self.choose((0, 1))


class Choosers(System):
    def build(self) -> None:
        self.spawn(Chooser, 3)

    @invariant
    def fine(self) -> bool:
        return all(chooser.chosen != 5 for chooser in self[Chooser])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_steps_of_several_processes_have_dice_of_their_own(strategy: Strategy) -> None:
    """The first choice of one process is not thrown with the dice of the second choice of another."""
    found = simulate(Choosers, runs=500, strategy=strategy)
    assert found.distinct == check(Choosers, symmetry="none", quotient="off").states == 27


class Sleeper(Process):
    woken: int = 0
    durable = ("woken",)

    @start
    def wake(self) -> None:
        self.woken = min(self.woken + 1, 2)


class Sleepers(System):
    """Both are awake and have nothing to do, until one crashes and begins again. There is always a next step."""

    faults = crashes("any", recover=True, down=1)

    def build(self) -> None:
        self.spawn(Sleeper, 2)

    @final
    def somebody_is_down(self) -> bool:
        return any(sleeper.crashed for sleeper in self[Sleeper])


class Restless(Sleepers):
    """It may end where it does."""

    @final
    def somebody_is_down(self) -> bool:
        return all(sleeper.crashed or sleeper.woken for sleeper in self[Sleeper])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_where_only_faults_can_happen_is_a_deadlock(strategy: Strategy) -> None:
    known = check(Sleepers)
    assert known.property == "deadlock"
    found = simulate(Sleepers, runs=50, depth=30, strategy=strategy)
    assert found.property == "deadlock"
    assert found.trace is not None
    assert known.trace is not None
    assert len(found.trace) == len(known.trace)
    assert check(Restless).ok
    assert simulate(Restless, runs=50, depth=30, strategy=strategy).ok


def test_pct_has_its_change_points_where_runs_are() -> None:
    """With change points among 1,000 steps of which runs take 20, hardly any would matter."""
    found = simulate(Paxos(), runs=256, strategy="pct")
    assert found.span < 40
    assert found.changes == 3
    assert found.probability == pytest.approx(1 / (6 * found.span**2))
    told = str(simulation(found).plain()).replace("\n             ", " ")
    assert "the next run has any given order of depth 3" in told
    assert f"in runs of {found.span} steps at most" in " ".join(told.split())
    one, two = (simulate(Paxos(), runs=256, strategy="pct", seed=5, threads=threads) for threads in (1, 3))
    assert (one.steps, one.span, one.distinct) == (two.steps, two.span, two.distinct)


class Twice(Process):
    done: int = 0
    seen: Constant[Shared[int]]

    @step(when=lambda self: self.done < 2)
    def go(self) -> None:
        self.done += 1
        self.seen.value = 3 * self.seen.value + 1


class Once(Process):
    done: bool = False
    seen: Constant[Shared[int]]

    @step(when=lambda self: not self.done)
    def go(self) -> None:
        self.done = True
        self.seen.value = 3 * self.seen.value + 2


class Between(System):
    """One comes between the two steps of the other, which is an order of depth 2."""

    def build(self) -> None:
        seen = self.share("seen", 0)
        self.spawn(Twice, seen=seen)
        self.spawn(Once, seen=seen)

    @invariant
    def never_between(self) -> bool:
        return bool(self.shared("seen") != 3 * (3 * 1 + 2) + 1)


def test_the_bound_of_pct_is_kept() -> None:
    """Here it is exact: the other one must come first, and be overtaken after the first of three steps."""
    given: dict[str, Any] = {"strategy": "pct", "changes": 2, "runs": 1, "depth": 3, "shorten": False}
    found = [simulate(Between, seed=seed, **given) for seed in range(240)]
    assert {(each.processes, each.span) for each in found} == {(2, 3)}  # the cell never moves
    assert all(each.probability == pytest.approx(1 / 6) for each in found)
    often = sum(each.property is not None for each in found)
    deviation = math.sqrt(240 / 6 * 5 / 6)
    assert abs(often - 240 / 6) < 4 * deviation


def test_few_states_are_counted_and_many_estimated() -> None:
    few = simulate(Waits, runs=10, property="assertions")
    assert (few.exact, few.distinct) == (True, 2)
    assert few.novelty.probability == 0.0
    many = simulate(Paxos(acceptors=5), runs=40_000)
    assert not many.exact
    assert "about" in str(simulation(many).plain())


def test_coverage_of_what_ran() -> None:
    covered = simulate(Paxos(), runs=500, coverage=True).covered
    known = check(Paxos(), coverage=True).covered
    assert covered is not None
    assert known is not None
    assert covered.percent == known.percent == 100.0
    assert not covered.complete


def test_novelty_has_an_interval() -> None:
    few, many = Novelty.of(100, 10), Novelty.of(1_000_000, 100_000)
    assert few.probability == many.probability == 0.1
    assert few.high - few.low > many.high - many.low > 0


@pytest.mark.parametrize(
    "wrong", [{"runs": 0}, {"depth": 0}, {"seconds": -1}, {"seed": -1}, {"strategy": "best"}, {"threads": 0}]
)
def test_wrong_requests_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(QuorateError):
        simulate(Paxos(), **wrong)  # type: ignore[arg-type]


def test_the_command() -> None:
    runner = CliRunner()
    found = runner.invoke(app, ["simulate", "faulty-paxos", "--runs", "2000", "--json"])
    document = json.loads(found.stdout)
    assert found.exit_code == 1
    assert document["property"] == "agreement"
    assert document["trace"] is not None
    held = runner.invoke(app, ["simulate", "paxos", "--runs", "100", "--strategy", "pct", "--depth", "30"])
    assert held.exit_code == 0
    assert "proves nothing" in held.stdout
    assert "probability" in held.stdout


def test_a_time_that_is_none_is_refused_as_elsewhere() -> None:
    runner = CliRunner()
    for command in (["simulate", "paxos", "--time", "abc"], ["check", "paxos", "--timeout", "abc"]):
        ended = runner.invoke(app, command)
        assert ended.exit_code == 2
        assert "internal error" not in ended.output
    assert runner.invoke(app, ["simulate", "paxos", "--time", "0.2s"]).exit_code == 0


class Ending(TwoPhaseCommit):
    ends = ltl("F decided")


class Branching(Clocks):
    can_be_late = ctl("AG EF late")


UNENDING = """
from quorate import Process, System, invariant, start


class Counter(Process):
    left: int = 3

    @start
    def count(self):
        while True:
            self.left += 1


class Counting(System):
    def build(self):
        self.spawn(Counter)

    @invariant
    def positive(self):
        return all(each.left >= 0 for each in self[Counter])
"""


@pytest.mark.parametrize(
    ("body", "stopped_by", "says"),
    [
        ("self.left += 1", "time", "at the limit on time, before the first run had come to its end"),
        ("raise MemoryError", "memory", "at the limit on memory"),
    ],
)
def test_where_no_run_got_anywhere_that_is_said_with_the_line(
    tmp_path: Path, body: str, stopped_by: str, says: str
) -> None:
    """It said that nothing was found, in no runs, with status 0."""
    path = tmp_path / "unending_model.py"
    path.write_text(UNENDING.replace("self.left += 1", body), encoding="utf-8")
    found = CliRunner().invoke(app, ["simulate", str(path), "--time", "1s", "--json"])
    told = json.loads(found.stdout)
    assert (found.exit_code, told["runs"], told["stopped_by"]) == (3, 0, stopped_by)
    assert told["running"]["what"] == "Counter.count"
    assert told["running"]["line"] in (10, 11)
    shown = CliRunner().invoke(app, ["simulate", str(path), "--time", "1s"])
    assert shown.exit_code == 3
    text = " ".join(shown.stdout.split())
    assert f"stopped {says} Counter.count was running, in " in text


def test_temporal_properties_without_a_violation_say_what_was_looked_at() -> None:
    found = simulate(Branching(limit=100_000), runs=5, depth=30, seed=4)
    assert found.ok
    assert found.left_out == ("can_be_late",)
    assert found.walks is not None
    assert found.walks.properties == ("late",)
    assert (found.walks.runs, found.walks.steps, found.walks.property) == (5, 150, None)
    told = str(simulation(found).plain())
    assert "late: 5 runs of 30 steps at most" in told
    assert "holds" not in told


def test_a_random_run_that_goes_round_is_a_lasso() -> None:
    """It is fair and replays; unshortened too. With a queue, or under strong fairness, nothing is found."""
    for shorten in (True, False):
        found = simulate(load("lock")(queue=False), runs=50, depth=200, seed=1, shorten=shorten)
        assert found.property is not None
        assert found.property.startswith("waiting")
        trace = found.trace
        assert trace is not None
        assert trace.loop_from is not None
        assert trace.loop_from < len(trace.steps)
        again = replay(trace.definition, json.loads(json.dumps(trace_to_json(trace))))
        assert again.loop_from == trace.loop_from
    for system, fairness in ((load("lock")(), "message"), (load("lock")(queue=False), "strong")):
        held = simulate(system, runs=50, depth=200, seed=1, fairness=fairness)
        assert held.ok
        assert held.walks is not None
        assert held.walks.loops > 100


def test_of_loops_that_look_the_same_one_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a walk that goes round again and again takes the square of its length."""
    looked: list[int] = []
    violated = TemporalWalks._violated

    def counted(self: TemporalWalks, walk: Any, loop_from: int) -> Any:
        looked.append(len(walk.taken) - loop_from)
        return violated(self, walk, loop_from)

    monkeypatch.setattr(TemporalWalks, "_violated", counted)
    held = simulate(load("lock")(), property=["waiting"], runs=1, depth=300, seed=1)
    assert held.walks is not None
    assert held.walks.loops > 200
    assert 10 < len(looked) < held.walks.loops / 2
    assert max(looked) > 100, "long loops are looked at too"


def test_a_random_run_that_ends_is_a_lasso() -> None:
    found = simulate(Ending(participants=2, crashes=1), property="ends", runs=200, depth=50, seed=2)
    assert found.property == "ends"
    assert found.trace is not None
    assert found.trace.loop_from == len(found.trace.steps)


def test_a_bound_does_not_end_a_random_run() -> None:
    """Beyond `within` a run goes on: where it is cut, nothing is violated."""
    found = simulate(load("paxos-duel")(retries=1), runs=30, depth=60, seed=3)
    assert found.ok
    assert found.walks is not None
    assert found.walks.runs == 30


class Faller(Process):
    x: int = 0
    y: int = 0

    @step(when=lambda self: self.y < 60)
    def idle(self) -> None:
        self.y += 1

    @step(when=lambda self: self.y > 5 and self.x == 0)
    def fall(self) -> None:
        if self.y % 7 == 0:
            self.x = 1
        else:
            self.y -= 1


class Ticker(Process):
    z: int = 0

    @step(when=lambda self: self.z < 500)
    def tick(self) -> None:
        self.z += 1


class BothFall(System):
    """Two properties are violated in the same states, and the first one reads more."""

    def build(self) -> None:
        self.spawn(Faller)
        self.spawn(Ticker)

    @invariant
    def a(self) -> bool:
        return not (self[Faller][0].x == 1 and self[Ticker][0].z >= 0)

    @invariant
    def b(self) -> bool:
        return self[Faller][0].x == 0


def test_of_two_violations_the_same_is_named_on_any_number_of_threads() -> None:
    for seed in range(3):
        found = [simulate(BothFall, runs=64, seed=seed, threads=n, shorten=False) for n in (1, 2, 3)]
        assert {each.property for each in found} == {"a"}


class Number(Message):
    n: int


class Reader(Process):
    seen: tuple[int, ...] = ()

    @on(Number)
    def read(self, m: Number) -> None:
        self.seen = (*self.seen, m.n)


class Ordered(System):
    def build(self) -> None:
        reader = self.spawn(Reader)
        for n in range(8):
            self.send(reader, Number(n), sender=reader)

    @invariant
    def not_sorted(self) -> bool:
        return self[Reader][0].seen != tuple(range(8))


def test_the_bound_of_pct_says_what_it_is_about() -> None:
    found = simulate(Ordered, strategy="pct", changes=1, runs=20)
    assert (found.processes, found.probability, found.property) == (1, 1.0, None)
    said = " ".join(simulation(found).plain().split())
    assert "shows a bug" not in said
    assert "any given order of depth 1, of 1 process in runs of 8 steps at most, with probability 1 at least" in said
    assert "which of its messages or choices a process takes is drawn beside that" in said
    assert "no run so far took more steps, and of longer ones the bound says nothing" in said


def test_random_runs_do_not_count_states_in_which_a_step_is_possible() -> None:
    found = simulate(Ordered, runs=5, coverage=True)
    assert found.covered is not None
    (read,) = found.covered.transitions
    assert (read.states, read.steps) == (None, 40)
    assert "possible " not in simulation(found).plain()


def test_a_page_and_a_percentage(tmp_path: Path) -> None:
    page = tmp_path / "runs.html"
    given = ["simulate", "paxos", "--runs", "1", "--depth", "1", "--fail-under", "99", "--report", str(page)]
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 4
    written = page.read_text()
    assert "nothing was violated in 1 random run" in written
    assert "in what was searched" in written
