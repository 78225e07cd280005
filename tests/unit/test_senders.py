"""Who sends a type of messages, and temporal properties for each of them."""

from __future__ import annotations

import pytest

from quorate import Message, Pid, Process, System, check, leads_to, ltl, on, step
from quorate.base.errors import ModelError
from quorate.model.define import define
from quorate.model.senders import senders


class Request(Message): ...


class Urgent(Request): ...


class Reply(Message): ...


class Unsent(Message): ...


def urgent() -> Urgent:
    return Urgent()


class Client(Process):
    server: Pid
    waiting: bool = False

    @step(when=lambda self: not self.waiting)
    def ask(self) -> None:
        self.waiting = True
        self.send(self.server, Request())

    @on(Reply)
    def answered(self, m: Reply) -> None:
        self.waiting = False


class Guest(Client):
    @step(when=lambda self: not self.waiting)
    def ask(self) -> None:
        self.waiting = True
        self.send(self.server, urgent())


class Server(Process):
    @on(Request)
    def serve(self, m: Request) -> None:
        self.reply(Reply())


class Serving(System):
    def build(self) -> None:
        server = self.spawn(Server)
        self.spawn(Client, 2, server=server)
        self.spawn(Guest, server=server)

    @leads_to("idle", each=Request)
    def waiting(self, client: Client) -> bool:
        return client.waiting

    def idle(self, client: Client) -> bool:
        return not client.waiting


def test_those_whose_code_names_it() -> None:
    definition = define(Serving())
    assert [each.name for each in senders(definition, Request)] == ["client1", "client2", "guest1"]
    assert [each.name for each in senders(definition, Urgent)] == ["guest1"], "by a function that it calls"
    assert [each.name for each in senders(definition, Reply)] == ["server1"]
    assert senders(definition, Unsent) == []


def test_a_property_for_each_sender() -> None:
    result = check(Serving)
    assert [each.name for each in result.properties] == ["waiting[client1]", "waiting[client2]", "waiting[guest1]"]
    assert result.verdict == "holds"
    assert check(Serving, fairness="process").verdict == "violated"


class Hidden(Process):
    """Its code does not say what it sends."""

    server: Pid
    kind: str = "Request"
    sent: bool = False

    @step(when=lambda self: not self.sent)
    def ask(self) -> None:
        self.sent = True
        self.send(self.server, globals()[self.kind]())


class Hiding(Serving):
    def build(self) -> None:
        server = self.spawn(Server)
        self.spawn(Client, server=server)
        self.spawn(Hidden, server=server)


def test_a_sender_that_was_not_found_leaves_it_open() -> None:
    result = check(Hiding)
    assert result.verdict == "incomplete"
    assert [(each.name, each.note) for each in result.properties] == [
        (
            "waiting[client1]",
            "not decided: hidden1 may send Request too, and no property is about it; use each= of its class",
        )
    ]


class Nobody(Serving):
    never = ltl("G !waiting", each=Unsent)


def test_what_nobody_sends() -> None:
    with pytest.raises(ModelError, match="nobody sends Unsent in Nobody"):
        check(Nobody)
