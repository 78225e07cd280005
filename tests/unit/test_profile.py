"""`quorate profile`: what multiplies the states, counted on small systems of which everything is known."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from quorate import Message, Pid, Process, System, on, start, step
from quorate.cli.main import app
from quorate.search.profile import profile


class Note(Message): ...


class Counter(Process):
    at: int = 0
    fixed: int = 7

    @step(when=lambda self: self.at < 3)
    def count(self) -> None:
        self.at += 1


class Writer(Process):
    reader: Pid

    @start
    def write(self) -> None:
        self.send(self.reader, Note())


class Reader(Process):
    @on(Note)
    def read(self, m: Note) -> None: ...


class Both(System):
    def build(self) -> None:
        self.spawn(Counter)
        self.spawn(Writer, reader=self.spawn(Reader))


def test_counts_of_a_system_of_which_everything_is_known() -> None:
    found = profile(Both())
    assert (found.states, found.complete) == (12, True)  # 0 to 3, and: not written, pending, read
    roles = {each.role: each for each in found.roles}
    assert (roles["Counter"].saved, roles["Counter"].local_states) == (4.0, 4)
    assert roles["Reader"].cells == 2
    assert [(each.name, each.values, each.saved) for each in found.fields] == [("Counter.at", 4, 4.0)]
    assert [(each.name, each.values, each.saved) for each in found.messages] == [("Note", 1, 1.5)]
    taken = {each.name: each.taken for each in found.transitions}
    assert taken == {"Counter.count": 9, "Writer.write": 4, "Reader.read": 4}


def test_a_sample_is_the_same_every_time() -> None:
    assert profile(Both(), most_states=5) == profile(Both(), most_states=5)
    assert not profile(Both(), most_states=5).complete


def test_the_command() -> None:
    shown = CliRunner().invoke(app, ["profile", "paxos", "--sample", "300"])
    assert shown.exit_code == 0
    assert "Acceptor.promised" in shown.stdout
    assert "times" in shown.stdout
    asked = ["profile", "paxos", "--sample", "300", "--json"]
    document: dict[str, Any] = json.loads(CliRunner().invoke(app, asked).stdout)
    assert document["schema"] == 1
    assert document["states"] >= 300
