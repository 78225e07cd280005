"""What a type checker says about protocols: nothing about good ones, and where the mistake is in bad ones."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

PROTOCOL = """
from quorate import Event, Message, Monitor, Peers, Pid, Process, System, invariant, on, quorum, start, step

class Ping(Message):
    n: int

class Pong(Message):
    n: int

class Happened(Event):
    n: int

class Player(Process):
    peers: Peers
    size: int = 2

    @on(Ping)  # arg-type
    def wrong_message(self, m: Pong) -> None: ...

    @quorum(Ping, size="size")  # arg-type
    def wrong_set(self, m: Ping) -> None: ...

    @start  # arg-type
    def wrong_start(self, m: Ping) -> None: ...

    @start
    def fine(self) -> None:
        number: int = self.choose((1, 2))
        self.send(self.peers - {self.pid}, Ping(number))
        self.emit(Happened(n=number))

    @quorum(Ping, each="peers", where=lambda self, m: m.n > self.size, same="n")
    def also_fine(self, pings: frozenset[Ping]) -> None:
        self.size = max(ping.n for ping in pings)
        self.reply(Pong(self.size))

    @step(when=lambda self: True)
    def go(self) -> None:
        self.send(self.pid, Ping("x"))  # arg-type
        self.send("someone", Ping(1))  # arg-type
        Ping(1).n = 3  # misc
        print(self.pid < self.pid)  # operator
        word: str = self.choose((1, 2))  # assignment
        self.emit(Ping(1))  # arg-type

    @quorum(Ping, size=1, each="peers")  # call-overload untyped-decorator
    def two_ways(self, ms: frozenset[Ping]) -> None: ...

class Watcher(Monitor):
    n: int = 0

    @on(Happened)
    def happened(self, e: Happened) -> None:
        self.n = e.n
        self.send(e.source, Ping(1))  # attr-defined

class Game(System):
    size: int = 1

    def build(self) -> None:
        one: Pid = self.spawn(Player)
        many: Peers = self.spawn(Player, 3, size=2)
        none: Peers = self.spawn(Player)  # assignment
        self.watch(Watcher)
        self.watch(Player)  # arg-type

    @invariant  # arg-type
    def wrong(self) -> int:
        return 1

    @invariant
    def typed(self) -> bool:
        return all(player.size > 0 for player in self[Player]) and self[Watcher].n == 0

    @invariant
    def misspelt(self) -> bool:
        return self[Player][0].sise == 1  # attr-defined no-any-return

Game(size=3)
Game(sizes=3)  # call-arg
Game(size="x")  # arg-type
"""


def test_mistakes_are_found_where_they_are(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "protocol.py"
    file.write_text(PROTOCOL)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", tmp_path / "cache", file],
        env={"MYPYPATH": str(SOURCE), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    found = set(re.findall(r"^protocol\.py:(\d+): error: .*\[([a-z-]+)\]$", run.stdout, re.MULTILINE))
    expected = {
        (str(number), code)
        for number, line in enumerate(PROTOCOL.splitlines(), 1)
        if "  # " in line
        for code in line.partition("  # ")[2].split()
    }
    assert found == expected, run.stdout + run.stderr
