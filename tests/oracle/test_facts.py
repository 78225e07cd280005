"""What the closure tells of transitions: exact on a protocol done by hand, and never less than what runs show."""

from __future__ import annotations

from random import Random

import pytest

import corpus
from generator import Protocol
from quorate import Event, Message, Monitor, Peers, Pid, Process, System, invariant, on, quorum, start, step
from quorate.language.pid import column_of
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.native.model import Model
from quorate.protocols import CATALOGUE
from quorate.reduce.facts import Facts, TransitionFacts
from quorate.semantics.state import State, Step
from reference import explore
from small_instances import small
from test_against_reference import MOST_STATES


class Ask(Message): ...


class Yes(Message): ...


class Bye(Message): ...


class Happened(Event): ...


class Server(Process):
    asked: int = 0

    @on(Ask)
    def answer(self, m: Ask) -> None:
        self.asked += 1
        assert self.asked < 3, "never more than two clients"
        self.reply(Yes())

    @step(when=lambda self: self.asked > 5)
    def rest(self) -> None:
        self.asked = 0


class Client(Process):
    servers: Peers
    first: Pid
    done: bool = False

    @start
    def ask(self) -> None:
        self.send(self.servers, Ask())

    @quorum(Yes, size=2, when=lambda self: not self.done)
    def end(self, answers: frozenset[Yes]) -> None:
        self.done = True
        self.emit(Happened())
        self.send(self.first, Bye())


class Watch(Monitor):
    happened: bool = False

    @on(Happened)
    def note(self, _: Happened) -> None:
        self.happened = True


class Asking(System):
    def build(self) -> None:
        servers = self.spawn(Server, 3)
        self.spawn(Client, servers=servers, first=min(servers, key=str))
        self.watch(Watch)

    @invariant
    def fine(self) -> bool:
        return True


def facts_of(definition: Definition) -> Facts | None:
    model = Model(definition, ())
    closed = model.engine.close(model, 60_000).complete
    return Facts(model, True) if closed else None


@pytest.fixture(scope="module")
def facts() -> dict[str, TransitionFacts]:
    found = facts_of(define(Asking()))
    assert found is not None
    return {fact.name: fact for fact in found.transitions}


def test_a_reply(facts: dict[str, TransitionFacts]) -> None:
    fact = facts["Server.answer"]
    assert (fact.mode, fact.keep, fact.processes) == ("on", False, ["server1", "server2", "server3"])
    assert fact.consumes == {"Ask": ["client1"]}
    assert fact.sends == {"Yes": ["client1"]}
    assert fact.reply
    assert fact.may_fail  # the closure ignores that consuming removes: it asks a third time
    assert (fact.local_states, fact.behaviours) == (9, 9)


def test_a_quorum_that_is_no_reply(facts: dict[str, TransitionFacts]) -> None:
    fact = facts["Client.end"]
    assert (fact.mode, fact.sizes, fact.sender_sets) == ("exact", [2], 3)
    assert fact.consumes == {"Yes": ["server1", "server2", "server3"]}
    assert fact.sends == {"Bye": ["server1"]}
    assert fact.emits == ["Happened"]
    assert not fact.reply


def test_a_transition_that_is_never_enabled(facts: dict[str, TransitionFacts]) -> None:
    assert (facts["Server.rest"].behaviours, facts["Server.rest"].reply) == (0, False)


def test_who_enables_whom() -> None:
    found = facts_of(define(Asking()))
    assert found is not None
    assert [one.to_json() for one in found.enabling] == [
        {"from": "Server.answer", "to": "Client.end", "kind": "message", "by": ["Yes"]}
        | {"senders": ["server1", "server2", "server3"], "receivers": ["client1"]},
        {"from": "Client.ask", "to": "Server.answer", "kind": "message", "by": ["Ask"]}
        | {"senders": ["client1"], "receivers": ["server1", "server2", "server3"]},
    ]
    assert found.never_consumed() == {"Bye": ["server1"]}


class Light(Process):
    red: bool = True

    @step(when=lambda self: self.red)
    def go(self) -> None:
        self.red = False

    @step(when=lambda self: not self.red)
    def stop(self) -> None:
        self.red = True


class Lights(System):
    def build(self) -> None:
        self.spawn(Light, 2)


def test_enabling_within_a_process() -> None:
    found = facts_of(define(Lights()))
    assert found is not None
    assert [(one.source, one.target, one.kind) for one in found.enabling] == [
        ("Light.go", "Light.stop", "local"),
        ("Light.stop", "Light.go", "local"),
    ]
    assert found.enabling[0].senders == ["light1", "light2"]


def never_less_than_runs_show(definition: Definition) -> None:
    """Every step of every run is among the facts, and so is who sent what it consumes."""
    found = facts_of(definition)
    if found is None:
        return
    facts = {fact.name: fact for fact in found.transitions}
    by_message = {(one.source, one.target) for one in found.enabling if one.kind == "message"}
    names = [column.name for column in definition.columns]
    senders: dict[tuple[str, str], set[str]] = {}  # of a message at its receiver: the transitions that sent it

    def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
        for taken in here:
            if taken.kind != "step" or taken.transition is None or taken.outcome is None:
                continue
            fact = facts[str(taken.transition)]
            for message in taken.consumed:
                assert names[column_of(message.sender)] in fact.consumes[type(message).__name__]
            assert fact.may_fail or taken.outcome.failure is None
            for receiver, message in taken.outcome.sends:
                assert names[receiver] in fact.sends[type(message).__name__]
                assert not fact.reply or receiver in {column_of(one.sender) for one in taken.consumed}
                senders.setdefault((names[receiver], repr((message, message.sender))), set()).add(fact.name)
            for message in taken.consumed:
                for sender in senders.get((names[taken.column], repr((message, message.sender))), ()):
                    assert (sender, fact.name) in by_message

    explore(definition, max_states=4 * MOST_STATES, visit=visit)


@pytest.mark.parametrize("name", CATALOGUE)
def test_facts_of_bundled_protocols(name: str) -> None:
    never_less_than_runs_show(define(small(name)))


@corpus.each(corpus.sized)
def test_facts_of_generated_protocols(protocol: Protocol, dice: Random) -> None:
    never_less_than_runs_show(define(corpus.built(protocol._replace(crashes=0))))
