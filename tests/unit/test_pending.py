"""Properties that read messages in flight: natively as in the plain semantics, with every network, fault and search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, cast

import pytest
from typer.testing import CliRunner

from quorate import (
    Among,
    Message,
    Pid,
    Process,
    System,
    can,
    check,
    crashes,
    fifo,
    final,
    invariant,
    leads_to,
    multiset,
    on,
    step,
    unordered,
)
from quorate.base.errors import ModelError, ParameterError, PropertyError
from quorate.cli.main import app
from quorate.language.faults import Faults
from quorate.language.network import Network
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.properties import evaluate
from quorate.results.replay import replay
from quorate.search.simulate import simulate
from quorate.semantics.state import State, Step
from quorate.semantics.steps import enabled_protocol
from reference import explore


class Ask(Message):
    n: Annotated[int, Among(1, 2)]


class Answer(Message):
    n: Annotated[int, Among(1, 2)]


class Noise(Message):
    """Sent, and consumed by nobody."""


class Client(Process):
    server: Pid
    asked: int = 0
    got: int = 0

    @step(when=lambda self: self.asked < 2)
    def ask(self) -> None:
        self.asked += 1
        self.send(self.server, Ask(self.asked))

    @on(Answer, when=lambda self, m: m.n > self.got)
    def take(self, m: Answer) -> None:
        self.got = m.n


class Server(Process):
    served: int = 0

    @on(Ask)
    def serve(self, m: Ask) -> None:
        self.served = min(self.served + 1, 3)
        self.reply(Answer(m.n))
        self.reply(Noise())


class Service(System):
    clients: int = 2
    most: int = 2

    def build(self) -> None:
        server = self.spawn(Server)
        self.spawn(Client, self.clients, server=server)

    @invariant
    def few_answers(self) -> bool:
        return len(self.pending(Answer)) <= self.most

    @invariant
    def quiet(self) -> bool:
        return self[Server][0].served < 3 or len(self.pending(Noise, to=self[Client][0])) == 0

    @can
    def crowded(self) -> bool:
        return any(m.n == 2 and m.sender == client.pid for client in self[Client] for m in self.pending(Ask))

    @final
    def done(self) -> bool:
        return not self.pending(Ask)


NETWORKS: dict[str, tuple[Network, Faults]] = {
    "set": (unordered(), Faults()),
    "multiset": (multiset(), Faults()),
    "fifo": (fifo(head="skip"), Faults()),
    "lossy": (unordered(losses=1), Faults()),
    "losing heads": (fifo(losses=1, lost="head"), Faults()),
    "doubling": (multiset(duplicates=1), Faults()),
    "bounded": (unordered(capacity=1), Faults()),
    "replacing": (unordered(capacity=1, full="replace"), Faults()),
    "crashing": (unordered(), crashes(1, of=Server)),
    "recovering": (unordered(), crashes(1, of=Server, recover=True, redeliver=True)),
}


def service(name: str, **given: Any) -> System:
    network, faults = NETWORKS[name]
    kind = type("Service", (Service,), {"network": network, "faults": faults})
    return cast(System, kind(**given))


def counted(system: System, **environment: Any) -> tuple[dict[str, tuple[int, int]], int]:
    """By the plain semantics: in how many states each property is violated, from which depth on; and all states."""
    definition = define(system, Environment.of(environment))
    bad: dict[str, list[int]] = {}

    def visit(state: State, depth: int, here: tuple[Step, ...]) -> None:
        for prop in definition.invariants:
            if not evaluate(definition, prop, state.locals, state.pending).value:
                bad.setdefault(prop.name, []).append(depth)
        final = definition.final
        if final is not None and not enabled_protocol(here):
            ends = evaluate(definition, final, state.locals, state.pending).value
            bad.setdefault("deadlock", []).extend([] if ends else [depth])

    states = explore(definition, visit=visit).states
    return {name: (len(depths), min(depths)) for name, depths in bad.items() if depths}, states


@pytest.mark.parametrize("name", NETWORKS)
def test_violations_are_counted_as_in_the_plain_semantics(name: str) -> None:
    expected, states = counted(service(name))
    for threads in (1, 2):
        result = check(service(name), all=True, threads=threads)
        assert result.violations is not None
        assert {each.property: (each.count, len(each.trace or ())) for each in result.violations} == expected
        assert result.states == states
    assert expected  # something to compare
    deep = check(service(name), search="dfs")
    assert deep.property in expected
    assert check(service(name), stateless=True, property="few_answers").verdict == (
        "violated" if "few_answers" in expected else "holds"
    )


def test_the_explanation_names_the_messages_and_a_saved_run_replays(tmp_path: Path) -> None:
    result = check(service("multiset"), property="few_answers")
    trace = result.trace
    assert trace is not None
    assert "pending for client1: Answer(n=1), Answer(n=2)" in str(result)
    again = replay(define(service("multiset")), json.loads(json.dumps(trace.to_json())))
    assert len(again) == len(trace)


def test_random_runs_read_them_too() -> None:
    found = simulate(service("multiset"), property="few_answers", runs=2_000)
    known = check(service("multiset"), property="few_answers")
    assert found.trace is not None
    assert known.trace is not None
    assert len(found.trace) == len(known.trace)
    assert simulate(service("multiset", most=99), property="few_answers", runs=200).ok


class Bounded(Service):
    network = multiset()

    def within(self) -> bool:
        return len(self.pending(Answer)) <= 1


def test_a_bound_of_the_system_may_count_them() -> None:
    expected, states = counted(Bounded())
    result = check(Bounded(), all=True)
    assert result.violations is not None
    assert result.states == states < counted(service("multiset"))[1]
    assert {each.property: (each.count, len(each.trace or ())) for each in result.violations} == expected
    assert result.bounds == ("Bounded.within",)


class Answering(Service):
    network = fifo(head="skip")

    @leads_to(lambda self: not self.pending(Ask))
    def asked(self) -> bool:
        return bool(self.pending(Ask))

    @leads_to(lambda self: not self.pending(Noise))
    def noise(self) -> bool:
        return bool(self.pending(Noise))


def test_temporal_properties_read_them() -> None:
    """Requests are served; noise stays, although `dead_messages` would drop it."""
    assert check(Answering, property="asked").verdict == "holds"
    assert check(Answering, property="noise").verdict == "violated"


class Late(Service):
    """Reads messages only once something has happened."""

    network = multiset()

    @invariant
    def later(self) -> bool:
        return self[Server][0].served < 2 or not self.pending(Noise)


def test_a_property_that_reads_messages_late_is_found() -> None:
    result = check(Late, property="later")
    assert result.property == "later"
    assert result.reductions["messages"]["ran"]
    assert check(Late, property="later", symmetry="none", quotient="off").property == "later"


def test_reductions_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody consumes noise, so it is a dead message: dropped, it is not pending."""

    class Noisy(Service):
        @invariant
        def silent(self) -> bool:
            return not self.pending(Noise)

    assert check(Noisy, property="silent").verdict == "violated"
    monkeypatch.setattr("quorate.search.check.message_options", lambda definition, options: options)
    assert check(Noisy, property="silent", symmetry="none").verdict == "holds"


@pytest.mark.parametrize("model", ["grm", "rm"])
def test_messages_on_their_way_and_delivered_ones_are_pending(model: Any) -> None:
    expected, states = counted(service("set", clients=1, most=0), network_model=model)
    result = check(service("set", clients=1, most=0), all=True, network_model=model)
    assert result.violations is not None
    assert {each.property: (each.count, len(each.trace or ())) for each in result.violations} == expected
    assert result.states == states


def test_attackers_messages_do_not_count() -> None:
    system = service("set", most=3)
    expected, states = counted(system, byzantine={"Client": 1})
    result = check(system, all=True, byzantine={"Client": 1})
    assert result.states == states
    assert result.violations is not None
    assert {each.property: (each.count, len(each.trace or ())) for each in result.violations} == expected


@pytest.mark.parametrize(
    "options", [{"por": "lpor"}, {"self_check": True}, {"workers": 2}, {"crash": "implicit"}], ids=str
)
def test_what_does_not_go_with_messages_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"self.pending\(") as refused:
        check(service("set"), property="few_answers", **options)
    assert refused.value.code == "Q605"


class Wrong(Service):
    @invariant
    def odd(self) -> bool:
        return not self.pending(Client)  # type: ignore[type-var]


class Lost(Service):
    @invariant
    def odd(self) -> bool:
        return not self.pending(Ask, to=cast(Any, "server1"))


def test_mistakes_are_told() -> None:
    with pytest.raises(PropertyError, match="not a class of messages"):
        check(Wrong, property="odd")
    with pytest.raises(PropertyError, match="not a process"):
        check(Lost, property="odd")
    with pytest.raises(ModelError, match="outside of a property"):
        Service().pending(Ask)


@pytest.mark.parametrize("command", ["plan", "profile", "flows", "check --coverage", "check --vacuity", "sweep"])
def test_every_command_has_an_answer(command: str) -> None:
    name, *options = command.split()
    ended = CliRunner().invoke(app, [name, f"{__file__}:Service", "-p", "most=9", *options])
    assert ended.exit_code in (0, 1, 2, 3)
    assert "internal error" not in ended.output
    assert not isinstance(ended.exception, BaseException) or isinstance(ended.exception, SystemExit)
