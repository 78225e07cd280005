"""Workers that are all in one process, with batches and memories so small that everything happens to few states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from quorate import System
from quorate.cluster.crew import Crew, LocalCrew
from quorate.cluster.errors import WorkerLostError
from quorate.cluster.worker import Job
from quorate.native.model import Model
from quorate.options import Options
from quorate.results.result import Result
from quorate.search import distributed
from quorate.search.check import check


class LosingCrew(LocalCrew):
    """Loses a worker in the midst of some levels. All of them are new afterwards, as if they were other processes."""

    def __init__(self, size: int, system: System, job: Job) -> None:
        super().__init__(size, system, job)
        self.given = system, job
        self.lost = 0
        self.after = 2
        """How many more levels until one is lost."""

    def level(self, number: int, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> None:
        self.after -= 1
        if self.after == 0 and self.lost < 4:
            self.lost += 1
            self.each("start_level", *given, watch=watch, **more)
            for worker in self.workers[1:]:
                worker.expand()
            raise WorkerLostError("a test")
        super().level(number, *given, watch=watch, **more)

    def recover(self) -> None:
        lost, self.after = self.lost, 3
        self.close()
        LocalCrew.__init__(self, self.size, *self.given)
        self.lost = lost


class FragileCrew(LosingCrew):
    """Loses a worker the first times that it is asked for one of these."""

    at: tuple[str, ...] = ("finish_level",)
    times = 1

    def __init__(self, size: int, system: System, job: Job) -> None:
        super().__init__(size, system, job)
        self.left = [*self.at] * self.times

    def each(self, do: str, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> list[Any]:
        if do in self.left:
            self.left.remove(do)
            self.lost += 1
            raise WorkerLostError("a test")
        return super().each(do, *given, watch=watch, **more)

    def level(self, number: int, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> None:
        LocalCrew.level(self, number, *given, watch=watch, **more)


@contextmanager
def in_one_process(
    batch_bytes: int = 300, sent_states: int = 16, crew: type[LocalCrew] = LocalCrew
) -> Iterator[list[LocalCrew]]:
    """Checks with `workers=N` have all of them here; gives the crews that were started."""
    started: list[LocalCrew] = []

    def start(model: Model, options: Options, target: str | None) -> Callable[[Job], Crew]:
        def launch(job: Job) -> Crew:
            small = replace(job, batch_bytes=batch_bytes, sent_states=sent_states)
            started.append(crew(options.workers or 1, model.definition.system, small))
            return started[-1]

        return launch

    with patch.object(distributed, "start", start):
        yield started


def same_answer(system: System | type[System], workers: int, **options: Any) -> Result:
    """The answer of workers, which has to be that of one thread."""
    given = {name: each for name, each in options.items() if not name.startswith("checkpoint")}
    one = check(system, **given)
    if needs_one_process(one):
        given["symmetry"] = options["symmetry"] = "none"
        one = check(system, **given)
    many = check(system, workers=workers, **options)
    wanted, got = answer(one), answer(many)
    different = {name: (wanted[name], got[name]) for name in wanted if wanted[name] != got[name]}
    assert different == {}, (workers, options)
    assert many.workers is not None
    assert len(many.workers["states"]) == workers
    return many


def needs_one_process(result: Result) -> bool:
    """Whether symmetry is compared as the search goes on: without a closure, which workers leave out."""
    return not result.reductions["closure"]["ran"]


def answer(result: Result) -> dict[str, Any]:
    """All of a result but what it cost."""
    told = result.to_json()
    for name in ("seconds", "setup_seconds", "setup", "peak_memory_bytes", "bytes_per_state", "python_calls"):
        del told[name]
    for name in ("repeated_calls", "cells", "messages", "workers"):
        del told[name]
    told.pop("checkpoint", None)
    told["reductions"].get("closure", {}).pop("grew", None)  # an example of it, from what the search met too
    told["warnings"].sort()  # in the order in which somebody met their causes
    return told
