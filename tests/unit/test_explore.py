"""The explorer without a browser: positions, what is said about them, and who gets an answer. See test_browser.py."""

import http.client
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import PLAIN
from handmade import violation
from models import Everything
from quorate import Process, QuorateError, System, check, final, invariant, step
from quorate.explore.answers import Answers, drawn
from quorate.explore.consult import Consultation
from quorate.explore.finds import Finds, with_goals
from quorate.explore.graph import MOST_STATES, SAMPLED, Graph, explored
from quorate.explore.present import position_view, short
from quorate.explore.server import LOOPBACK, Server, parse_path
from quorate.explore.session import Path, Session, WrongPathError
from quorate.model.define import define
from quorate.model.target import load
from quorate.protocols import CATALOGUE
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.semantics.steps import steps
from walks import walked


def session_of(system: System) -> Session:
    return Session(define(system))


# --- positions -------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 30), max_size=10))
def test_a_path_leads_where_its_steps_lead(choices: list[int]) -> None:
    session = session_of(Everything())
    trace = walked(session.definition, choices)
    path = session.path_of(trace)
    assert len(path) == len(trace) + 1
    assert session.at(path).state == trace.states[-1]
    fresh = session_of(Everything())  # a link means the same in another session
    assert fresh.at(path).state == trace.states[-1]
    assert [step.kind for step in fresh.run(path).steps] == [step.kind for step in trace.steps]


def test_going_back_takes_no_step_again(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(FaultyPaxos())
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    path = session.path_of(trace)
    position_view(session, session.at(path))

    def never(*_: object) -> tuple[()]:
        raise AssertionError("asked again")

    monkeypatch.setattr("quorate.explore.session.steps", never)
    for end in range(len(path), 0, -1):
        position_view(session, session.at(path[:end]))


@pytest.mark.parametrize("path", [(7,), (0, 99), (0, 0, 99), (0,) * 6000])
def test_a_path_that_leads_nowhere(path: Path) -> None:
    with pytest.raises(WrongPathError):
        session_of(FaultyPaxos()).at(path)


@pytest.mark.parametrize("text", ["x", "0.-1", "0..1", "0.1e3", "0;1", "٣", "1" * 9])
def test_a_path_is_numbers_and_dots(text: str) -> None:
    with pytest.raises(WrongPathError):
        parse_path(text)


def test_a_failing_step_is_a_position_without_steps() -> None:
    session = session_of(Everything())
    path = session.path_of(violation(Everything(), "assertion"))
    view = position_view(session, session.at(path))
    assert view["failed"]["text"] == "an answer was 2"
    assert view["steps"] == []
    with pytest.raises(WrongPathError):
        session.at((*path, 0))


# --- what is said ----------------------------------------------------------------------------------------------


def test_a_position_says_all_there_is() -> None:
    session = session_of(TwoPhaseCommit(participants=2, crashes=1))
    view = position_view(session, session.at((0,)))
    assert [process["name"] for process in view["processes"]] == ["participant1", "participant2", "coordinator1"]
    assert view["budget"] == {"crashes": 1}
    assert [(step["process"], step["name"], step["kind"]) for step in view["steps"]][:2] == [
        ("coordinator1", "prepare", "step"),
        ("coordinator1", "crashes", "crash"),
    ]
    prepared = position_view(session, session.at((0, 0)))
    assert prepared["processes"][0]["pending"] == [{"text": "Prepare()", "from": "coordinator1", "new": True}]
    assert prepared["way"] == [
        {"text": "start", "state": view["state"]},
        {"text": "coordinator1 prepare", "state": prepared["state"]},
    ]
    voted = position_view(session, session.at((0, 0, 0)))
    assert {"name": "willing", "value": "True", "changed": True} in voted["processes"][0]["fields"]


def test_a_step_that_breaks_a_property_is_known_before_it_is_taken() -> None:
    session = session_of(FaultyPaxos())
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    path = session.path_of(trace)
    before = position_view(session, session.at(path[:-1]))
    assert before["steps"][path[-1]]["breaks"] == ["agreement"]
    after = position_view(session, session.at(path))
    assert [each["name"] for each in after["properties"] if each["bad"]] == ["agreement"]
    assert all(step["breaks"] == [] for step in after["steps"])  # it is broken already


def test_a_deadlock_is_said_to_be_one() -> None:
    session = session_of(TwoPhaseCommit(crashes=1))
    view = position_view(session, session.at((0, 1)))
    assert view["properties"][-1] == {
        "name": "deadlock",
        "kind": "deadlock",
        "value": "nothing more can happen",
        "bad": True,
        "why": [
            "all(p.committed is not None for p in self[Participant])",
            "  participant1.committed is not None is false: None is not None",
        ],
    }


def calls_and_returns(work: Callable[[], object]) -> int:
    """How much Python does: a hundred thousand take about 10 ms, and 100 ms at the most, however busy a machine is."""
    counted = 0

    def count(*_: object) -> None:
        nonlocal counted
        counted += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_bundled_protocol_answers_within_100_ms(name: str) -> None:
    session = session_of(load(name)())
    path: Path = (0,)
    for turn in range(25):
        views: list[dict[str, Any]] = []
        assert calls_and_returns(partial(look, session, path, views)) < 100_000
        assert calls_and_returns(partial(drawn, session, path)) < 100_000
        if not views[0]["steps"]:
            break
        path = (*path, (7 * turn + 3) % len(views[0]["steps"]))


def look(session: Session, path: Path, views: list[dict[str, Any]]) -> None:
    views.append(position_view(session, session.at(path)))
    json.dumps(views)


# --- runs and the map ------------------------------------------------------------------------------------------


def searched(system: System, goals: list[str]) -> list[dict[str, Any]]:
    """What the search beside the server finds, without a process of its own."""
    finds = Finds(session_of(system), system, goals, {})
    sent: list[Any] = []
    finds._search(sent.append)
    for number, changes in sent:
        vars(finds.entries[number]).update(changes)
    return finds.to_json()


def test_a_counterexample_and_goals_are_found() -> None:
    found = searched(FaultyPaxos(), ["any(learner.learned for learner in self[Learner])", "False", "nonsense"])
    assert [(each["text"], each["status"]) for each in found] == [
        ("agreement fails", "found"),
        ("any(learner.learned for learner in self[Learner])", "found"),
        ("False", "none"),
        ("nonsense", "failed"),
    ]
    session = session_of(FaultyPaxos())
    learner = session.at(tuple(found[1]["path"])).state.locals[0]
    assert learner[1] == frozenset({1}) or learner[1] == frozenset({2})


def test_where_there_is_no_counterexample_it_says_so() -> None:
    (found,) = searched(TwoPhaseCommit(participants=2), [])
    assert found["status"] == "none"


def test_a_goal_that_is_no_expression_is_refused_at_once() -> None:
    with pytest.raises(QuorateError, match="is not a Python expression"):
        with_goals(FaultyPaxos(), ["x ="])


def test_the_map_has_every_state_and_every_step() -> None:
    definition = define(TwoPhaseCommit(participants=2, crashes=1))
    found = explored(definition)
    assert found["status"] == "complete"
    states = check(TwoPhaseCommit(participants=2, crashes=1), property="agreement", **PLAIN)
    assert len(found["nodes"]) == states.states
    session = Session(definition)
    for node in found["nodes"]:
        state = session.at(tuple(node["path"])).state
        assert short(state) == node["id"]
        assert node["depth"] == len(node["path"]) - 1
        assert node["end"] == (not any(step.kind == "step" for step in steps(definition, state)))
    assert any(node["bad"] and node["end"] for node in found["nodes"])  # the crash that leaves them waiting


def test_a_large_system_has_a_map_of_some_states_of_each_level() -> None:
    definition = define(FaultyPaxos())
    found = explored(definition)
    assert (found["status"], found["most"]) == ("sample", SAMPLED)
    assert SAMPLED < len(found["nodes"]) <= MOST_STATES
    levels = Counter(node["depth"] for node in found["nodes"])
    assert max(levels.values()) == SAMPLED
    assert sorted(levels) == list(range(len(levels)))
    assert len({node["id"] for node in found["nodes"]}) == len(found["nodes"])
    session = Session(definition)
    for number, node in enumerate(found["nodes"]):
        assert short(session.at(tuple(node["path"])).state) == node["id"]
        assert node["depth"] == 0 or any(to == number for _, to in found["edges"])
    assert explored(definition) == found  # the same map every time


def test_goals_by_the_names_of_the_model() -> None:
    system = Named()
    finds = Finds(session_of(system), system, [], {})
    assert finds.offers == {"not few": "not self.few()", "both": "self.both()", "done": "self.done()"}
    assert not finds.look_for("self.both()")  # a name, and nothing that would be evaluated
    assert not finds.look_for("helper")
    assert finds.look_for("both")
    assert finds.look_for("both")  # once is enough
    assert finds.look_for("not few")
    sent: list[Any] = []
    finds._search(sent.append)
    for number, changes in sent:
        vars(finds.entries[number]).update(changes)
    assert [(each["text"], each["status"], len(each["path"] or [])) for each in finds.to_json()] == [
        ("a counterexample", "none", 0),
        ("both", "found", 3),
        ("not few", "none", 0),
    ]


class Stepping(Process):
    most: int
    label: str = "some words"
    at: int = 0

    @step(when=lambda self: self.at < self.most)
    def go(self) -> None:
        self.at += 1


class Named(System):
    def build(self) -> None:
        self.spawn(Stepping, 2, most=1)

    def both(self) -> bool:
        return self.helper(2)

    def helper(self, least: int) -> bool:
        return sum(each.at for each in self[Stepping]) >= least

    @invariant
    def few(self) -> bool:
        return sum(each.at for each in self[Stepping]) <= 2

    @final
    def done(self) -> bool:
        return self.both()


def test_what_never_changes_is_told_apart() -> None:
    session = session_of(Named())
    process = position_view(session, session.at((0,)))["processes"][0]
    assert [each["name"] for each in process["fields"]] == ["at"]
    assert process["constants"] == [{"name": "most", "value": "1"}, {"name": "label", "value": "'some words'"}]


def test_a_violation_is_explained_as_in_a_report() -> None:
    system = FaultyPaxos()
    trace = check(system).trace
    assert trace is not None
    assert trace.explanation is not None
    session = session_of(system)
    view = position_view(session, session.at(session.path_of(trace)))
    (bad,) = [each for each in view["properties"] if each["bad"]]
    assert bad["why"] == list(trace.explanation.lines())
    assert position_view(session, session.at((0,)))["properties"][0]["why"] == []


def test_a_saved_run_is_there_to_be_walked_along() -> None:
    system = FaultyPaxos()
    trace = check(system).trace
    assert trace is not None
    session = session_of(system)
    saved, *others = Finds(session, system, [], {}, trace).to_json()
    assert (saved["kind"], saved["status"]) == ("saved", "found")
    assert session.at(tuple(saved["path"])).state == trace.states[-1]
    assert [each["kind"] for each in others] == ["violation"]


# --- the server ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    system = FaultyPaxos()
    session = session_of(system)
    made = Server(Answers(session), Finds(session, system, [], {}), Graph(session.definition), Consultation(session))
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def get(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(LOOPBACK, server.port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), content


def test_it_listens_on_this_machine_only(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_and_its_answers(server: Server) -> None:
    for file in ("", "explore.js", "explore.css"):
        status, headers, content = get(server, f"/{server.token}/{file}")
        assert status == 200
        assert content
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
    status, _, content = get(server, f"/{server.token}/api/at?path=0.1")
    assert status == 200
    assert json.loads(content)["path"] == [0, 1]
    status, _, content = get(server, f"/{server.token}/api/chart?path=0.1")
    assert json.loads(content)["svg"].startswith("<svg ")
    status, _, content = get(server, f"/{server.token}/api/system")
    assert json.loads(content)["name"] == "FaultyPaxos"


def test_without_the_token_there_is_nothing(server: Server) -> None:
    for path in (
        "/",
        "/api/at?path=0",
        "/wrong/",
        f"/{server.token[:-1]}/",
        f"/{server.token}x/api/at",
        "/../etc/passwd",
    ):
        assert get(server, path)[0] == 404


def test_under_another_name_there_is_nothing(server: Server) -> None:
    """A page elsewhere may give this machine a name of its own (DNS rebinding)."""
    assert get(server, f"/{server.token}/", Host="evil.example")[0] == 404
    assert get(server, f"http://[::1/{server.token}/", Host=f"localhost:{server.port}")[0] == 404  # no address at all
    assert get(server, f"/{server.token}/", Host=f"localhost:{server.port}")[0] == 200


def test_a_connection_that_is_not_used_holds_nobody_up(server: Server) -> None:
    """Browsers open connections in advance."""
    import socket

    with socket.create_connection((LOOPBACK, server.port)):
        assert get(server, f"/{server.token}/api/system")[0] == 200


def test_there_is_nothing_but_reading(server: Server) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert get(server, f"/{server.token}/api/at", method)[0] == 501


@pytest.mark.parametrize(
    "route",
    [
        "api/at?path=__import__('os')",
        "api/at?path=0.x",
        "api/at?path=0.9999",
        "api/at?path=" + "0." * 20 + "0",
        "api/chart?path=0;1",
    ],
)
def test_what_is_sent_is_never_more_than_numbers(server: Server, route: str) -> None:
    status, _, content = get(server, f"/{server.token}/{route}")
    assert status == 400
    assert "error" in json.loads(content)


@pytest.mark.parametrize("route", ["api/eval?code=1", "api/", "../session.py", "page/explore.js", "explore.js/"])
def test_no_other_route(server: Server, route: str) -> None:
    assert get(server, f"/{server.token}/{route}")[0] == 404
