"""The checks of a sweep as tasks of Ray, one instance each, on all machines of a cluster."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from quorate.cluster.ray import Ray
from quorate.sweep.pool import Point, died
from quorate.sweep.row import Row

LOOK = 0.2
"""Seconds between two reports."""


def checked(target: str, parameters: dict[str, Any], options: dict[str, Any], directory: str, path: list[str]) -> Any:
    """One check, in a process of Ray."""
    from quorate.sweep.worker import run_one

    sys.path.extend(each for each in path if each not in sys.path)
    if os.path.isdir(directory):
        os.chdir(directory)
    return run_one(target, parameters, options, None)


class RayPool:
    """Hands out instances to as many workers as there may be."""

    def __init__(
        self,
        target: str,
        options: dict[str, Any],
        ray: Ray,
        watch: Callable[[int, int, float], object] = lambda done, running, seconds: None,
    ) -> None:
        self.target = target
        self.options = options
        self.ray = ray
        self.watch = watch
        """Told, a few times a second, how many are done and how many are under way, since when."""

    def run(self, points: Sequence[tuple[Point, dict[str, Any]]], finished: Callable[[Row], object]) -> Iterator[Row]:
        """The rows in order, each as soon as it and those before it are known; `finished` is told as each one ends."""
        api = self.ray.api
        # A process for each, so that it gives back its memory.
        task = api.remote(max_calls=1, max_retries=0, num_cpus=1)(checked)
        waiting = list(enumerate(points))[::-1]
        running: dict[Any, int] = {}
        done: dict[int, Row] = {}
        following, began = 0, time.monotonic()
        try:
            while following < len(points):
                while waiting and len(running) < self.ray.workers:
                    number, (_, parameters) = waiting.pop()
                    answer = task.remote(self.target, parameters, self.options, os.getcwd(), list(sys.path))
                    running[answer] = number
                ready, _ = api.wait(list(running), num_returns=1, timeout=LOOK)
                for answer in ready:
                    number = running.pop(answer)
                    point, parameters = points[number]
                    try:
                        document = api.get(answer)
                    except api.exceptions.RayError as error:
                        document = died(parameters, f"without an answer: {type(error).__name__}")
                    done[number] = Row(point, document)
                    finished(done[number])
                self.watch(len(done), len(running), time.monotonic() - began)
                while following in done:
                    yield done[following]
                    following += 1
        finally:
            for answer in running:
                api.cancel(answer, force=True)
