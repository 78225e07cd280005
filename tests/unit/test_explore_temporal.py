"""The explorer and the sweep on systems that state temporal properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from liveness_models import Counter
from quorate import Process, System, ctl, eventually, ltl, step
from quorate.cli.main import app
from quorate.explore.advice import Adviser
from quorate.explore.answers import drawn
from quorate.explore.finds import Finds
from quorate.explore.graph import explored
from quorate.explore.present import position_view, system_view
from quorate.explore.session import Session
from quorate.model.define import define
from quorate.render.lasso import AGAIN
from test_explore import searched
from test_liveness import Locking


def told(system: System, goals: list[str]) -> list[tuple[str, str, bool]]:
    return [(each["text"], each["status"], each["path"] is not None) for each in searched(system, goals)]


def test_a_lasso_is_a_counterexample_to_walk_along() -> None:
    system = Locking()
    (found,) = searched(system, [])
    assert (found["text"], found["status"]) == ("served[client1] fails", "found")
    session = Session(define(system))
    path = tuple(found["path"])
    views = [position_view(session, session.at(path[:end])) for end in range(1, len(path) + 1)]
    assert [each["name"] for each in views[-1]["properties"]] == ["exclusive"]
    assert [each["name"] for each in system_view(session)["properties"]] == ["exclusive"]
    assert found["loop_from"] == 2
    whole, bent = drawn(session, path), drawn(session, path, found["loop_from"])
    assert whole is not None
    assert bent is not None
    assert AGAIN in bent
    assert AGAIN not in whole


def test_only_the_whole_run_is_drawn_as_a_loop() -> None:
    system = Locking()
    session = Session(define(system))
    finds = Finds(session, system, [], {})
    ((number, known),) = list(_sent(finds))
    vars(finds.entries[number]).update(known)
    path = known["path"]
    assert [finds.loop_of(path[:end]) for end in range(len(path) - 1, len(path) + 1)] == [None, 2]


def _sent(finds: Finds) -> list[tuple[int, dict[str, Any]]]:
    found: list[tuple[int, dict[str, Any]]] = []
    finds._search(found.append)
    return found


def test_goals_beside_temporal_properties() -> None:
    assert told(Locking(), ["self[Lock][0].held", "False"])[1:] == [
        ("self[Lock][0].held", "found", True),
        ("False", "none", False),
    ]


def test_the_map_and_the_advice_are_there() -> None:
    definition = define(Locking())
    assert explored(definition)["status"] == "complete"
    session = Session(definition)
    state = session.at((0,)).state
    advice = Adviser(definition).advice(state, session.steps(state))
    assert {each.name for each in advice} == {"quotient", "dead-messages", "symmetry", "por"}


class Choosing(Process):
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def left(self) -> None:
        self.at = 1

    @step(when=lambda self: self.at == 0)
    def right(self) -> None:
        self.at = 2


class Choice(System):
    def build(self) -> None:
        self.spawn(Choosing)

    def left(self) -> bool:
        return self[Choosing][0].at == 1

    can_still_go_left = ctl("AG EF left")


def test_what_no_single_run_shows_is_not_said_to_hold() -> None:
    assert told(Choice(), []) == [("can_still_go_left fails", "without", False)]


class Counting(System):
    def build(self) -> None:
        self.spawn(Counter)

    @eventually
    def far(self) -> bool:
        return self[Counter][0].n >= 5


def test_what_a_bound_leaves_open_is_not_said_to_hold() -> None:
    assert told(Counting(), []) == [("a counterexample", "open", False)]


class Quiet(System):
    def build(self) -> None:
        self.spawn(Choosing)

    def chosen(self) -> bool:
        return self[Choosing][0].at != 0

    decides = ltl("F chosen")


def test_what_holds_has_no_counterexample() -> None:
    assert told(Quiet(), []) == [("a counterexample", "none", False)]


def test_a_sweep_goes_over_temporal_properties() -> None:
    target = f"{Path(__file__).parents[1] / 'unit' / 'test_liveness.py'}:Locking"
    ran: Any = CliRunner().invoke(app, ["sweep", target, "-p", "clients=1..3", "--csv", "--jobs", "1"])
    rows = [line.split(",") for line in ran.stdout.splitlines()]
    assert [row[0] for row in rows[1:]] == ["1", "2", "3"]
    verdict = rows[0].index("verdict")
    assert [row[verdict] for row in rows[1:]] == ["holds", "violated", "violated"]
