"""Temporal properties keep the limits of a check, and take Ctrl-C, whatever the model's code does meanwhile."""

import signal
import threading
from typing import Any

import pytest

from endless import FOREVER, Unmet, forever
from quorate import Process, System, check, eventually, invariant, ltl, start, step
from quorate.base import watchdog
from quorate.search import limits


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "PATROL_SECONDS", 0.02)


class Worker(Process):
    where: str
    n: int = 0

    @start
    def work(self) -> None:
        if self.where == "handler":
            forever()
        self.n = 1


class Works(System):
    where: str = "predicate"

    def build(self) -> None:
        self.spawn(Worker, where=self.where)

    @invariant
    def small(self) -> bool:
        return all(each.n < 2 for each in self[Worker])

    def begun(self) -> bool:
        return all(each.n == 1 for each in self[Worker])

    @eventually
    def done(self) -> bool:
        done = all(each.n == 1 for each in self[Worker])
        return done if self.where != "predicate" or not done else forever()

    starts = ltl("F begun")


WHAT = {"handler": "Worker.work", "predicate": "Works.done"}


def interrupted(system: System, **options: Any) -> Any:
    interrupt = threading.Timer(0.4, lambda: signal.raise_signal(signal.SIGINT))
    interrupt.start()
    try:
        return check(system, **options)
    finally:
        interrupt.join()


@pytest.mark.parametrize("where", WHAT)
@pytest.mark.parametrize("limit", ["time", "interrupt"])
def test_code_without_end(where: str, limit: str) -> None:
    asked: dict[str, Any] = {"property": ["done", "starts"]}
    system = Works(where=where)
    found = check(system, timeout=0.5, **asked) if limit == "time" else interrupted(system, **asked)
    assert (found.verdict, found.stopped_by) == ("incomplete", limit)
    assert found.running is not None
    assert (found.running.what, *found.running[1:]) == (WHAT[where], *FOREVER)
    assert [(each.name, each.verdict) for each in found.properties] == [
        ("done", "incomplete"),
        ("starts", "incomplete"),
    ]


def test_what_was_decided_before_stays_decided() -> None:
    found = check(Works(), timeout=0.5)
    assert {each.name: each.verdict for each in found.properties} == {
        "small": "holds",
        "done": "incomplete",
        "starts": "incomplete",
    }
    assert found.stopped_by == "time"


def test_nothing_is_stopped_that_ends_in_time() -> None:
    found = check(Works(where=""), timeout=60)
    assert (found.verdict, found.stopped_by, found.running) == ("holds", None, None)


class Counter(Process):
    n: int = 0

    @step(when=lambda self: self.n < 100)
    def count(self) -> None:
        self.n += 1


class Counters(System):
    def build(self) -> None:
        self.spawn(Counter, 6)

    @eventually
    def all_done(self) -> bool:
        return all(each.n == 100 for each in self[Counter])


def test_ctrl_c_ends_the_exploration() -> None:
    found = interrupted(Counters(), symmetry="none")
    assert (found.verdict, found.stopped_by) == ("incomplete", "interrupt")
    assert found.states > 0
    assert found.seconds < 10


class Meeting(System):
    def build(self) -> None:
        self.spawn(Unmet)

    @eventually
    def taken(self) -> bool:
        return all(each.n > 0 for each in self[Unmet])


def test_a_handler_without_end_where_no_run_gets_costs_the_reductions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANALYSIS_SECONDS", 0.3)
    found = check(Meeting(), timeout=60)
    assert (found.verdict, found.stopped_by) == ("holds", None)
    (warning,) = found.warnings
    assert "Unmet.take ran for long" in warning
    (warning,) = check(Meeting(), property="taken", timeout=60).warnings
    assert "Unmet.take ran for long" in warning


class Forever(Process):
    n: int = 0

    @step(when=lambda self: True, fair=False)
    def up(self) -> None:
        self.n += 1


class Counted(System):
    def build(self) -> None:
        self.spawn(Forever)

    def reached(self) -> bool:
        return self[Forever][0].n == -1

    arrives = ltl("F reached")


class Guarded(Counted):
    @invariant
    def positive(self) -> bool:
        return self[Forever][0].n >= 0


def test_a_system_that_states_temporal_properties_alone_is_searched_once() -> None:
    """Else a search for handlers that fail would go on for ever, though the run that breaks the property is near."""
    result = check(Counted)
    assert [(each.name, each.verdict) for each in result.properties] == [("arrives", "violated")]
    assert result.graph is None
    assert "small" not in str(result)
    again = check(Counted, search="dfs", max_states=100)
    assert [each.name for each in again.properties] == ["assertions", "arrives"]


def test_what_is_found_in_as_many_states_as_are_allowed_is_a_violation() -> None:
    result = check(Guarded, max_states=500)
    verdicts = {each.name: each.verdict for each in result.properties}
    assert verdicts == {"positive": "incomplete", "arrives": "violated"}
    assert (result.verdict, result.stopped_by) == ("violated", "states")
