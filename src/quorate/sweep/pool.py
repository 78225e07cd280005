"""Several checks at a time, each in a process of its own; rows come in the order they were asked for."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from quorate.sweep.row import Row

Point = dict[str, Any]

GRACE = 10.0
"""Seconds that a check has beyond its time, to start and to come to its end."""


@dataclass
class Running:
    """A check under way."""

    point: Point
    process: subprocess.Popen[str]
    listener: threading.Thread
    states: int = 0
    seconds: float = 0.0
    started: float = field(default_factory=time.monotonic)
    overdue: bool = False
    """It did not keep its time, so it was ended."""


@dataclass
class Pool:
    """Hands out instances to as many processes as there may be."""

    target: str
    options: dict[str, Any]
    jobs: int
    watch: Callable[[int, list[Running]], object] = lambda done, running: None
    """Told, a few times a second, how many are done and what is under way."""
    running: dict[int, Running] = field(default_factory=dict)
    _events: queue.Queue[tuple[int, dict[str, Any] | None]] = field(default_factory=queue.Queue)

    def run(self, points: Sequence[tuple[Point, dict[str, Any]]], finished: Callable[[Row], object]) -> Iterator[Row]:
        """The rows in order, each as soon as it and those before it are known; `finished` is told as each one ends.

        `points` has the values of the parameters and, beside them, their JSON. When the iterator is closed or an
        interrupt comes, what runs is ended.
        """
        waiting = list(enumerate(points))[::-1]
        done: dict[int, Row] = {}
        following = 0
        try:
            while following < len(points):
                while waiting and len(self.running) < self.jobs:
                    number, (point, parameters) = waiting.pop()
                    self.running[number] = self._start(number, point, parameters)
                self._end_overdue()
                row = self._next_event(points)
                if row is not None:
                    done[row[0]] = row[1]
                    finished(row[1])
                self.watch(len(done), list(self.running.values()))
                while following in done:
                    yield done[following]
                    following += 1
        finally:
            for each in self.running.values():
                each.process.kill()
                each.process.wait()
                each.listener.join()
            self.running.clear()

    def _end_overdue(self) -> None:
        """End what keeps no limit: code of the model that never comes back to Python cannot look at the time."""
        timeout: float | None = self.options.get("timeout")
        if timeout is None:
            return
        for each in self.running.values():
            if time.monotonic() > each.started + timeout + GRACE and not each.overdue:
                each.overdue = True
                each.process.kill()

    def _start(self, number: int, point: Point, parameters: dict[str, Any]) -> Running:
        process = subprocess.Popen(
            [sys.executable, "-m", "quorate.sweep.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the sweep, which then ends its checks
        )
        assert process.stdin is not None
        json.dump({"target": self.target, "parameters": parameters, "options": self.options}, process.stdin)
        process.stdin.close()
        listener = threading.Thread(target=self._listen, args=(number, process), daemon=True)
        listener.start()
        return Running(point, process, listener)

    def _listen(self, number: int, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._events.put((number, json.loads(line)))
        self._events.put((number, None))

    def _next_event(self, points: Sequence[tuple[Point, dict[str, Any]]]) -> tuple[int, Row] | None:
        try:
            number, event = self._events.get(timeout=0.2)
        except queue.Empty:
            return None
        known = self.running.get(number)
        if known is None:
            return None
        if event is not None and "row" not in event:
            known.states, known.seconds = event["states"], event["seconds"]
            return None
        del self.running[number]
        status = known.process.wait()
        known.listener.join()
        if event is None:
            parameters = points[number][1]
            how = f"by signal {-status}" if status < 0 else f"with status {status}"
            event = {"row": _overdue(self.target, parameters, known) if known.overdue else died(parameters, how)}
        return number, Row(known.point, event["row"])


def _overdue(target: str, parameters: dict[str, Any], known: Running) -> dict[str, Any]:
    """The answer for a process that did not keep its time: what it last said of itself."""
    from quorate.results.result import Result

    seconds = time.monotonic() - known.started
    result = Result(target, "incomplete", target=target, states=known.states, seconds=seconds, stopped_by="time")
    return result.to_json() | {"parameters": parameters}


def died(parameters: dict[str, Any], how: str) -> dict[str, Any]:
    """The answer for a process that ended without one; most likely the system ran out of memory and chose it."""
    hint = "the system may have run out of memory: fewer --jobs, or --max-memory"
    error = {"code": "Q504", "message": f"the check ended {how}", "hint": hint, "file": None, "line": None}
    return {"parameters": parameters, "error": error}
