"""Random runs: reproducible, replayed, and honest about what they have seen."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from quorate import Message, Peers, Process, System, can, check, eventually, final, invariant, on, start, step
from quorate.base.errors import QuorateError
from quorate.cli.main import app
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.results.simulation import Novelty
from quorate.search.simulate import STRATEGIES, Strategy, simulate


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
    assert one.steps != two.steps


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
    assert found.left_out == ("late",)
    assert "apart" in found.reached
    held = simulate(Clocks(limit=100_000), runs=64, depth=50)
    assert held.ok
    assert held.runs == 64
    assert held.steps == 64 * 50
    assert held.ended == 0


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
    # All states are met, and the estimates say so.
    assert abs(found.distinct - known.states) <= 0.03 * known.states
    assert found.novelty.probability < 0.01


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
