"""All variants of a protocol, on all cores: processes that are given one part after the other.

A process that does not keep its time, or dies, loses the variant it was at; another one takes its place.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from quorate.base.errors import LimitError
from quorate.base.watchdog import Running
from quorate.base.whereabouts import where
from quorate.results.ablation import Finding, Part

GRACE = 10.0
"""Seconds that a variant has beyond its time, to come to its end."""
CHECKS = 4
"""So many times the limit of a variant may be used up on one: checked twice, and looked at."""
READY = 8
"""So many times it may be used up before the first variant: all parts in place are checked, and looked at."""


@dataclass
class _Worker:
    process: subprocess.Popen[str]
    listener: threading.Thread
    dump: int
    """Where it says which line it is in."""
    at: int | None = None
    """The part that it is at; None while it gets ready."""
    since: float = field(default_factory=time.monotonic)
    ready: bool = False
    overdue: bool = False
    """It was ended, as it did not keep its time."""
    running: Running | None = None
    """What it was doing then."""


@dataclass
class Pool:
    """Hands out parts to as many processes as there may be."""

    request: dict[str, Any]
    parts: tuple[Part, ...]
    jobs: int
    each: float
    watch: Callable[[int, list[int]], object] = lambda done, at: None
    """Told, a few times a second, how many are done and which are under way."""
    _workers: dict[int, _Worker] = field(default_factory=dict)
    _events: queue.Queue[tuple[int, dict[str, Any] | None]] = field(default_factory=queue.Queue)
    _started: int = 0

    def run(self) -> Iterator[Finding]:
        """The findings as they come. When the iterator is closed, what runs is ended."""
        waiting = [part.number for part in self.parts][::-1]
        done = failures = 0
        try:
            while done < len(self.parts):
                while len(self._workers) < min(self.jobs, len(self.parts) - done):
                    self._start()
                for each in self._workers.values():
                    if each.ready and each.at is None and waiting:
                        self._give(each, waiting.pop())
                self._end_overdue()
                number, event = self._next()
                worker = self._workers.get(number)
                if worker is not None:
                    if event is None:  # it ended
                        finding = self._lost(worker)
                        self._close(worker)
                        del self._workers[number]
                        failures += finding is None
                        if failures > 3:
                            raise LimitError(
                                "processes that check variants end before they are ready",
                                hint="the system may have run out of memory: fewer --jobs",
                                code="Q504",
                            )
                    else:
                        worker.ready = worker.ready or "ready" in event
                        finding = Finding.from_json(event["finding"]) if "finding" in event else None
                        if finding is not None:
                            worker.at = None
                    if finding is not None:
                        done += 1
                        yield finding
                self.watch(done, [each.at for each in self._workers.values() if each.at is not None])
        finally:
            for each in self._workers.values():
                each.process.kill()
                self._close(each)
            self._workers.clear()

    def _start(self) -> None:
        dump, to_dump = os.pipe()
        os.set_blocking(dump, False)
        process = subprocess.Popen(
            [sys.executable, "-m", "quorate.ablation.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the command, which then ends its processes
            pass_fds=[to_dump],
        )
        os.close(to_dump)
        self._started += 1
        listener = threading.Thread(target=self._listen, args=(self._started, process), daemon=True)
        self._workers[self._started] = _Worker(process, listener, dump)
        self._tell(process, json.dumps(self.request | {"dump": to_dump}))
        listener.start()

    def _give(self, worker: _Worker, part: int) -> None:
        worker.at, worker.since = part, time.monotonic()
        self._tell(worker.process, str(part))

    def _tell(self, process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, which the listener tells
            process.stdin.write(line + "\n")
            process.stdin.flush()

    def _listen(self, number: int, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._events.put((number, json.loads(line)))
        self._events.put((number, None))

    def _next(self) -> tuple[int, dict[str, Any] | None]:
        try:
            return self._events.get(timeout=0.2)
        except queue.Empty:
            return 0, None  # of nobody

    def _end_overdue(self) -> None:
        """End what keeps no limit: code of the model that never comes back to Python cannot look at the time."""
        for each in self._workers.values():
            times = READY if each.at is None else CHECKS
            waits = each.at is None and each.ready
            if not waits and not each.overdue and time.monotonic() > each.since + times * self.each + GRACE:
                each.overdue, each.running = True, where(each.process.pid, each.dump)
                each.process.kill()

    def _close(self, worker: _Worker) -> None:
        worker.process.wait()
        worker.listener.join()
        os.close(worker.dump)
        assert worker.process.stdin is not None
        with suppress(BrokenPipeError):
            worker.process.stdin.close()

    def _lost(self, worker: _Worker) -> Finding | None:
        status = worker.process.wait()
        at = f" in {worker.running.what}, line {worker.running.line}," if worker.running is not None else ""
        if worker.at is None:
            if worker.overdue:
                raise LimitError(
                    f"stopped{at} before the first variant: a process that checks variants did not get ready in time",
                    hint="more time with --each",
                    code="Q504",
                )
            return None
        part = self.parts[worker.at - 1]
        seconds = time.monotonic() - worker.since
        if worker.overdue:  # how long it takes says nothing about whether it ends
            note = f"stopped{at} which did not come back in time" if at else "stopped, as it did not keep its time"
        else:
            how = f"by signal {-status}" if status < 0 else f"with status {status}"
            note = f"the check ended {how}: out of memory?"
        return Finding(part, "undecided", note=note, seconds=seconds)
