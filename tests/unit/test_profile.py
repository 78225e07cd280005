"""`quorate profile`: what multiplies the states, counted on small systems of which everything is known."""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from typer.testing import CliRunner

from quorate import Message, Pid, Process, System, on, start, step
from quorate.cli.main import app
from quorate.render.profile import profile_picture
from quorate.search.profile import profile

SVG = "{http://www.w3.org/2000/svg}"


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


def test_the_picture(tmp_path: Path) -> None:
    """A bar for each role, field and message: twice the length for the square."""
    file = tmp_path / "both.svg"
    shown = CliRunner().invoke(app, ["profile", "paxos", "--sample", "300", "--svg", str(file)])
    assert shown.exit_code == 0
    assert "Acceptor.promised" in file.read_text()
    drawn = ElementTree.fromstring(profile_picture(profile(Both())))
    texts = ["".join(each.itertext()) for each in drawn.iter(f"{SVG}text")]
    assert "times fewer states there would be; 12 states" in texts
    bars = [float(each.get("width", "")) for each in drawn.iter(f"{SVG}rect") if each.get("rx")]
    told = [float(text.split()[0]) for text in texts if " times; " in text]
    assert len(bars) == len(told) == 5
    longest = max(bars)
    assert all(abs(bar - max(2, longest * log(times) / log(4))) < 1 for bar, times in zip(bars, told, strict=True))
    taken = CliRunner().invoke(app, ["profile", "paxos", "--sample", "30", "--svg", str(tmp_path / "no" / "such.svg")])
    assert taken.exit_code == 2
