"""What ran: counted natively over stored states, and held against an exploration of the plain semantics."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quorate import (
    Constant,
    Crash,
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    Shared,
    System,
    check,
    crashes,
    fifo,
    invariant,
    multiset,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.base.errors import QuorateError
from quorate.base.values import encode
from quorate.cli.main import app
from quorate.model.define import define
from quorate.model.target import load
from quorate.results.coverage import Coverage
from quorate.search.coverage import _traced, _written
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
        for taken in here:
            if taken.transition is None or taken.kind != "step" or taken.cut:
                continue
            role = definition.columns[taken.column].cls.__name__, taken.transition.name
            steps[role] += 1
            met.add((role, taken.column))
            first.setdefault(role, depth)
        states.update(role for role, _ in met)

    explored = explore(definition, visit=visit)
    if not explored.ok:
        pytest.skip("a violation ends the search")
    covered = check(system, symmetry="none", coverage=True).covered
    assert covered is not None
    assert covered.complete
    told = {(each.role, each.name): each for each in covered.transitions if not each.monitor}
    assert {role: each.states for role, each in told.items() if each.states} == states
    assert {role: each.steps for role, each in told.items() if each.steps} == steps
    assert {role: each.depth for role, each in told.items() if each.depth is not None} == first


@pytest.mark.parametrize("name", SMALL)
def test_lines_are_those_that_the_plain_semantics_runs(name: str) -> None:
    """Which runs handlers in reachable states alone; nothing else of it is in the files of the model."""
    definition = define(small(name))
    if definition.network.bounded:
        pytest.skip("there it also tries what has no room")
    if any(column.spec.within is not None for column in definition.processes):
        pytest.skip("and what a bound cuts")

    def run() -> None:
        explore(definition)

    expected = _traced(_written(definition, monitors=True), run)
    for options in ({}, {"symmetry": "none", "threads": 2}):
        result = check(small(name), coverage=True, **options)  # type: ignore[arg-type]
        if not result.ok:
            pytest.skip("a violation ends the search")
        assert result.covered is not None
        assert result.covered.files == expected


@pytest.mark.parametrize("options", [{"coverage": True}, {"vacuity": True}], ids=str)
@pytest.mark.parametrize("name", ["ticket-lock", "peterson"])
def test_processes_that_read_cells_one_after_another(name: str, options: dict[str, Any]) -> None:
    """Three of them: one reads the cells of two others in the order of their names, and stops at the first."""
    assert check(load(name)(), property="mutual_exclusion", **options).verdict == "holds"


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


class Blocked(Process):
    """Sends more than a channel holds."""

    other: Pid
    n: int = 0

    @start
    def both(self) -> None:
        self.n = 1
        self.send(self.other, Number(1))
        self.send(self.other, Number(2))


class Behind(Process):
    """Waits for what stands behind a message that nobody takes away."""

    n: int = 0

    @on(Number, when=lambda self, m: m.value == 2)
    def second(self, m: Number) -> None:
        self.n = 2


class Front(Process):
    other: Pid

    @start
    def both(self) -> None:
        self.send(self.other, Number(1))
        self.send(self.other, Number(2))


class Full(System):
    network = unordered(capacity=1)

    def build(self) -> None:
        self.spawn(Blocked, other=self.spawn(Behind))


class Queue(System):
    network = fifo()

    def build(self) -> None:
        self.spawn(Front, other=self.spawn(Behind))


def missing(covered: Coverage) -> list[str]:
    lines = Path(__file__).read_text().splitlines()
    return [lines[line - 1].strip() for file in covered.files for line in file.missing]


def test_a_handler_that_is_tried_and_has_no_room_has_not_run() -> None:
    covered = check(Full, coverage=True).covered
    assert covered is not None
    assert covered.percent == 0.0  # and not 100% of nothing
    assert "self.n = 1" in missing(covered)
    by_name = {each.name: each for each in covered.transitions}
    assert by_name["both"].depth is None
    assert by_name["both"].blocked == 1
    warnings = check(Full, vacuity=True).warnings
    assert "Blocked.both never happens: the channels that it sends to are full" in warnings
    assert CliRunner().invoke(app, ["check", f"{__file__}:Full", "--fail-under", "1"]).exit_code == 4


def test_a_message_behind_another_one_is_not_taken() -> None:
    covered = check(Queue, coverage=True).covered
    assert covered is not None
    assert missing(covered) == ["self.n = 2"]


class Hello(Message):
    pass


class Caller(Process):
    host: Pid

    @on(Ack)
    def call(self, m: Ack) -> None:
        self.send(self.host, Hello())


class Host(Process):
    """Does the same whoever calls, by other lines for each."""

    callers: Peers = Peers()
    heard: int = 0

    @start
    def invite(self) -> None:
        self.send(self.choose(self.callers), Ack())

    @on(Hello)
    def hear(self, m: Hello) -> None:
        first, *_, last = sorted(self.callers, key=str)
        if m.sender == last:  # noqa: SIM114
            self.heard = 1
        elif m.sender == first:
            self.heard = 1
        else:
            self.heard = 1


class Party(System):
    def build(self) -> None:
        host = self.spawn(Host)
        self.connect(host, callers=self.spawn(Caller, 3, host=host))


def test_lines_that_only_a_renamed_state_runs_count() -> None:
    """Interchangeable processes do the same, but perhaps by different lines."""
    full, reduced = (check(Party, coverage=True, symmetry=each) for each in ("none", "auto"))
    assert reduced.states < full.states
    assert full.covered is not None
    assert reduced.covered is not None
    assert full.covered.percent == 100.0
    assert reduced.covered.files == full.covered.files


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


class Chooser(Process):
    to: Pid
    x: int = 0

    @step(when=lambda self: self.x < 2)
    def go(self) -> None:
        if self.choose((True, False)):
            self.send(self.to, Number(1))
            self.send(self.to, Number(2))
            self.x = 9
        else:
            self.x += 1


class Idle(Process):
    pass


class NoRoom(System):
    network = fifo(capacity=1)

    def build(self) -> None:
        self.spawn(Chooser, to=self.spawn(Idle))


class Outside(System):
    def build(self) -> None:
        self.spawn(Chooser, to=self.spawn(Idle))

    def within(self) -> bool:
        return all(each.x < 5 for each in self[Chooser])


@pytest.mark.parametrize("system", [NoRoom, Outside])
def test_of_several_choices_only_those_that_are_possible_count(system: type[System]) -> None:
    covered = check(system, coverage=True).covered
    assert covered is not None
    lines = Path(__file__).read_text().splitlines()
    missing = [lines[line - 1].strip() for file in covered.files for line in file.missing]
    assert "self.x = 9" in missing
    assert "self.x += 1" not in missing
    assert covered.never_consumed == ()
    (go,) = covered.transitions
    assert (go.states, go.steps) == (2, 2)
    assert (go.cut > 0) == (system is Outside)


class Bounded(Process):
    n: int = 0

    @step(when=lambda self: True)
    def ask(self) -> None:
        self.n += 1

    @step(when=lambda self: self.n == 2)
    def leave(self) -> None:
        self.n = 50

    def within(self) -> bool:
        return self.n <= 2


class Bounds(System):
    def build(self) -> None:
        self.spawn(Bounded)

    @invariant
    def low(self) -> bool:
        return all(each.n <= 2 for each in self[Bounded])


def test_what_a_bound_cuts_was_not_taken() -> None:
    result = check(Bounds, coverage=True, vacuity=True)
    assert result.covered is not None
    by_name = {each.name: each for each in result.covered.transitions}
    assert (by_name["ask"].steps, by_name["ask"].cut) == (2, 1)
    assert (by_name["leave"].steps, by_name["leave"].cut, by_name["leave"].depth) == (0, 1, None)
    assert "Bounded.leave never happens: a bound (`within`) cuts it" in result.warnings


class Noticing(Process):
    seen: int = 0

    @on(Crash)
    def notice(self, m: Crash) -> None:
        self.seen += 1


class Noticed(System):
    faults = crashes(1)

    def build(self) -> None:
        self.spawn(Noticing, 2)


def test_what_was_consumed_was_sent_by_somebody() -> None:
    covered = check(Noticed, coverage=True).covered
    assert covered is not None
    assert covered.never_sent == ()


class Heard(Event):
    n: int


class Unheard(Event):
    n: int


class Ears(Monitor):
    a: int = 0

    @on(Heard)
    def hear(self, event: Heard) -> None:
        self.a = min(self.a + 1, 3)

    @on(Unheard)
    def miss(self, event: Unheard) -> None:
        self.a = 7


class Speaker(Process):
    x: int = 0

    @step(when=lambda self: self.x < 3)
    def speak(self) -> None:
        self.x += 1
        self.emit(Heard(1))


class Spoken(System):
    def build(self) -> None:
        self.spawn(Speaker)
        self.watch(Ears)


def test_monitors_are_covered_by_what_they_heard() -> None:
    covered = check(Spoken, coverage=True).covered
    assert covered is not None
    by_name = {each.name: each for each in covered.transitions}
    assert (by_name["hear"].steps, by_name["hear"].monitor) == (3, True)
    assert by_name["miss"].depth is None
    lines = Path(__file__).read_text().splitlines()
    assert [lines[line - 1].strip() for file in covered.files for line in file.missing] == ["self.a = 7"]
    assert covered.never_sent == ("Unheard",)


class Voting(Process):
    to: Pid

    @start
    def vote(self) -> None:
        self.send(self.to, Number(1))


class Collector(Process):
    got: int = 0

    @quorum(Number, size=2, where=lambda self, m: m.value > 5)
    def never(self, ms: frozenset[Number]) -> None:
        self.got = 9

    @quorum(Number, size=2, where=lambda self, m: m.value > 0)
    def always(self, ms: frozenset[Number]) -> None:
        self.got = 1

    @quorum(Number, size=3, where=lambda self, m: m.value > 0)
    def more(self, ms: frozenset[Number]) -> None:
        self.got = 2


class Collected(System):
    def build(self) -> None:
        self.spawn(Voting, 2, to=self.spawn(Collector))


def test_filters_that_are_always_the_same_are_told() -> None:
    covered = check(Collected, coverage=True).covered
    assert covered is not None
    by_name = {each.name: each for each in covered.transitions}
    assert (by_name["never"].where, by_name["always"].where) == ("never true", "never false")
    assert by_name["more"].why_never == ": there were never enough messages"


def limited(handler: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(handler)
    def wrapper(self: Process, m: Number) -> None:
        if m.value > 99:
            self.fail_loudly()  # type: ignore[attr-defined]
        handler(self, m)

    return wrapper


def bare(handler: Callable[..., None]) -> Callable[..., None]:
    def wrapper(self: Process, m: Number) -> None:
        handler(self, m)

    return wrapper


class Wrapped(Process):
    last: int = 0

    @on(Number)
    @limited
    def store(self, m: Number) -> None:
        if m.value > 0:
            self.last = 1
        else:
            self.last = 2  # a wrapped handler never stores this

    @on(Ack)
    @bare
    def forget(self, m: Ack) -> None:
        if self.last == 7:
            self.last = 8  # nor does one that is wrapped without functools


class Wraps(System):
    def build(self) -> None:
        wrapped = self.spawn(Wrapped)
        self.send(wrapped, Number(1), sender=wrapped)
        self.send(wrapped, Ack(), sender=wrapped)


def test_a_decorated_handler_is_what_the_user_wrote() -> None:
    covered = check(Wraps(), coverage=True).covered
    assert covered is not None
    assert missing(covered) == [
        "self.fail_loudly()  # type: ignore[attr-defined]",
        "self.last = 2  # a wrapped handler never stores this",
        "self.last = 8  # nor does one that is wrapped without functools",
    ]
    lines = Path(__file__).read_text().splitlines()
    (store,) = [each for each in covered.transitions if each.name == "store"]
    assert lines[store.line].strip() == "@limited"


class Waiting(Process):
    flag: Constant[Shared[bool]]
    gone: bool = False

    @start(when=lambda self: self.flag.value)
    def go(self) -> None:
        self.gone = True


class NobodyLooks(System):
    """It is violated at once, so that no state is expanded and no cell is read."""

    def build(self) -> None:
        self.spawn(Waiting, flag=self.share("flag", True))

    @invariant
    def never(self) -> bool:
        return self[Waiting][0].gone


def test_a_guard_on_a_cell_that_nobody_has_read() -> None:
    result = check(NobodyLooks(), coverage=True)
    assert result.verdict == "violated"
    assert result.covered is not None
    assert [each.states for each in result.covered.transitions] == [0]
