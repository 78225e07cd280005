"""What ran: counted natively over stored states, and held against an exploration of the plain semantics."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quorate import Message, Peers, Pid, Process, System, check, crashes, invariant, multiset, on, start, unordered
from quorate.base.errors import QuorateError
from quorate.base.values import encode
from quorate.cli.main import app
from quorate.model.define import define
from quorate.semantics.state import State, Step
from reference import explore
from small_instances import SMALL, small


@pytest.mark.parametrize("name", SMALL)
def test_transitions_are_counted_as_in_the_plain_semantics(name: str) -> None:
    system = small(name)
    definition = define(system)
    states: Counter[tuple[str, str]] = Counter()
    steps: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], int] = {}

    def visit(state: State, depth: int, here: tuple[Step, ...]) -> None:
        met = set()
        for step in here:
            if step.transition is None or step.kind != "step":
                continue
            role = definition.columns[step.column].cls.__name__, step.transition.name
            steps[role] += 1
            met.add((role, step.column))
            first.setdefault(role, depth)
        states.update(role for role, _ in met)

    explored = explore(definition, visit=visit)
    if not explored.ok:
        pytest.skip("a violation ends the search")
    covered = check(system, symmetry="none", coverage=True).covered
    assert covered is not None
    assert covered.complete
    told = {(each.role, each.name): each for each in covered.transitions}
    assert {role: each.states for role, each in told.items() if each.states} == states
    assert {role: each.steps for role, each in told.items() if each.steps} == steps
    assert {role: each.depth for role, each in told.items() if each.depth is not None} == first


class Number(Message):
    value: int


class Ack(Message):
    pass


class Never(Message):
    pass


class Source(Process):
    sinks: Peers = Peers()
    acks: int = 0

    @start
    def send_it(self) -> None:
        self.send(self.sinks, Number(1))

    @on(Ack, when=lambda self, m: self.acks < 9)
    def count(self, m: Ack) -> None:
        self.acks += 1

    @on(Never)
    def hear(self, m: Never) -> None:
        self.acks = 0


class Sink(Process):
    source: Pid
    last: int = 0

    @on(Number)
    def store(self, m: Number) -> None:
        if m.value > 0:
            self.last = twice(m.value)
            self.send(m.sender, Ack())
        else:
            self.last = -1


def twice(value: int) -> int:
    if value > 5:
        return 10
    return 2 * value


def unused(value: int) -> int:
    return value


class Relay(System):
    network = unordered()

    def build(self) -> None:
        source = self.spawn(Source)
        sink = self.spawn(Sink, source=source)
        self.connect(source, sinks=Peers([sink]))

    @invariant
    def small(self) -> bool:
        return all(sink.last <= 2 for sink in self[Sink])


def test_what_never_happens_is_told() -> None:
    result = check(Relay, coverage=True)
    covered = result.covered
    assert result.ok
    assert covered is not None
    by_name = {each.name: each for each in covered.transitions}
    assert by_name["hear"].depth is None
    assert by_name["hear"].steps == 0
    assert by_name["count"].guard == "never false"
    assert covered.never_sent == ("Never",)
    assert covered.never_consumed == ()
    (file,) = covered.files
    lines = Path(__file__).read_text().splitlines()
    missing = [lines[line - 1].strip() for line in file.missing]
    assert missing == ["self.acks = 0", "self.last = -1", "return 10"]  # and nothing of a function nobody calls
    assert [lines[line - 1].strip() for line, _ in file.not_taken] == ["if m.value > 0:", "if value > 5:"]
    assert 0 < covered.percent < 100
    report = str(result)
    assert "Source.hear never happens" in report
    assert "Never is waited for, and never sent" in report


class Sly(Process):
    """Its second handler runs in the closure, which forgets that a message is gone, and in no state."""

    seen: int = 0
    other: Pid | None = None

    @on(Number, when=lambda self, m: m.value == 1 and self.seen == 0)
    def one(self, m: Number) -> None:
        self.seen = 1

    @on(Number, when=lambda self, m: m.value == 1 and self.seen == 1)
    def two(self, m: Number) -> None:
        self.seen = 2


class Cunning(System):
    network = multiset()

    def build(self) -> None:
        source = self.spawn(Source)
        self.connect(source, sinks=Peers([self.spawn(Sly)]))


def test_behaviours_of_the_closure_alone_do_not_count() -> None:
    covered = check(Cunning, coverage=True).covered
    assert covered is not None
    by_name = {each.name: each for each in covered.transitions}
    assert by_name["one"].steps == 1
    assert by_name["two"].steps == 0
    (file,) = covered.files
    lines = Path(__file__).read_text().splitlines()
    assert "self.seen = 2" in [lines[line - 1].strip() for line in file.missing]


class Careful(Relay):
    faults = crashes(1)


def test_faults_that_happen_are_counted() -> None:
    covered = check(Careful, coverage=True).covered
    assert covered is not None
    assert covered.faults["crashes"] > 0


def test_coverage_is_of_all_states_or_refused() -> None:
    for options in ({"search": "dfs"}, {"por": "lpor"}, {"stateless": True}):
        with pytest.raises(QuorateError, match="coverage=True"):
            check(Relay, coverage=True, **options)
    covered = check(Relay, coverage=True, max_states=2).covered
    assert covered is not None
    assert not covered.complete


def test_a_pipeline_can_ask_for_a_percentage() -> None:
    target = f"{__file__}:Relay"
    runner = CliRunner()
    assert runner.invoke(app, ["check", target, "--fail-under", "10"]).exit_code == 0
    ended = runner.invoke(app, ["check", target, "--fail-under", "99", "--json"])
    assert ended.exit_code == 4
    document = json.loads(ended.stdout)
    assert document["covered"]["percent"] < 99
    assert document["covered"]["complete"]
    assert encode(document["verdict"]) == encode("holds")
