"""The explorer where the model's code does not come back, and what is left of it when it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MODEL = """
from quorate import Process, System, invariant, step

class A(Process):
    n: int = 0

    @step(when=lambda self: self.n == 0)
    def fine(self) -> None:
        self.n = 1

    @step(when=lambda self: self.n == 1)
    def hang(self) -> None:
        LOOP

class S(System):
    def build(self) -> None:
        self.spawn(A)

    @invariant
    def ok(self) -> bool:
        return True
"""
ENDS = """
import os
from quorate import Process, System, invariant, step

class A(Process):
    n: int = 0

    @step(when=lambda self: self.n < 2)
    def go(self) -> None:
        if self.n == 1: os._exit(0)
        self.n += 1

class S(System):
    def build(self) -> None:
        self.spawn(A)

    @invariant
    def ok(self) -> bool:
        return os.getcwdb() != b""
"""
LOOPS = {"Python": "while True: pass", "C": "sum(range(10**15))"}


def descendants(process: int) -> set[int]:
    """The processes below one, and itself."""
    found, parents = {process}, {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parents[int(each.name)] = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_gone(processes: set[int], within: float = 20) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        if not any(map(alive, processes)):
            return True
        time.sleep(0.05)
    return False


class Explorer:
    def __init__(self, target: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "quorate", "explore", target, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+/", line)
        assert found is not None, line
        self.address = found[0]
        self.every = descendants(self.process.pid)

    def get(self, route: str) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(self.address + route, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


@pytest.fixture(params=LOOPS)
def explorer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Explorer]:
    file = tmp_path / "model.py"
    file.write_text(MODEL.replace("LOOP", LOOPS[request.param]))
    made = Explorer(str(file))
    yield made
    made.process.kill()
    assert all_gone(made.every | descendants(made.process.pid))
    made.process.wait()
    assert made.process.stdout is not None
    made.process.stdout.close()


def test_the_page_goes_on_where_the_model_does_not(explorer: Explorer) -> None:
    assert explorer.get("api/at?path=0")[1]["steps"][0]["name"] == "fine"
    began = time.monotonic()
    status, said = explorer.get("api/at?path=0.0")  # there the page would say what the next step does
    assert status == 400
    assert "the model's code" in said["error"]
    assert time.monotonic() - began < 15
    began = time.monotonic()
    assert explorer.get("api/at?path=0.0") == (status, said)  # not tried again
    assert explorer.get("api/at?path=0")[0] == 200
    assert explorer.get("api/finds")[0] == 200
    assert explorer.get("api/at?path=7")[0] == 400
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to_and_nothing_outlives_it(number: int, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(MODEL.replace("LOOP", LOOPS["C"]))
    explorer = Explorer(str(file))
    assert len(explorer.every) > 4
    os.kill(explorer.process.pid, number)
    assert explorer.process.wait(timeout=30) == 0
    assert all_gone(explorer.every)
    assert explorer.process.stdout is not None
    explorer.process.stdout.close()


def test_a_model_that_ends_its_process_is_not_said_to_be_slow(tmp_path: Path) -> None:
    """Nor is one that has to do with `os` said to draw random numbers: Python does that in every new process."""
    file = tmp_path / "model.py"
    file.write_text(ENDS)
    made = Explorer(str(file))
    try:
        answer = made.get("api/at?path=0")[1]
        assert [step["name"] for step in answer["steps"]] == ["go"]
        assert made.get("api/at?path=0.0")[1]["error"] == "the model's code ended the process that asked it"
        assert made.get("api/at?path=0")[1]["steps"] == answer["steps"]
    finally:
        made.process.kill()
        made.process.communicate()
