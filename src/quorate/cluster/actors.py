"""Workers as actors of Ray: each a process of its own, on this machine or on any of a cluster.

Ray starts them, carries what they say to each other, and starts one again that was killed. A worker expands states in
one thread. What others send arrives in further ones and waits in line (`_Exchange`): the expanding thread takes it in
between two portions, and once it is done, whoever brings it does. A parcel is acknowledged when it was taken in, and no
more than `WINDOW` are under way from one worker to another, which bounds the memory that they take.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import ray
import ray.cloudpickle
import ray.exceptions

from quorate import _core
from quorate.base.machine import default_memory_limit
from quorate.cluster.errors import WorkerLostError
from quorate.cluster.ray import Ray
from quorate.cluster.worker import Job, Parcel, Share, Worker
from quorate.language.system import System

WINDOW = 4
"""Parcels from one worker to another that are not acknowledged yet."""
LOOK = 0.1
"""Seconds between two looks at how far the workers have come."""


@dataclass(frozen=True)
class Source:
    """Where a worker gets the system from: the target and its parameters, or the object as Ray pickles it."""

    target: str | None
    parameters: dict[str, Any]
    pickled: bytes | None
    directory: str
    path: tuple[str, ...]

    @classmethod
    def of(cls, system: System, target: str | None) -> Source:
        from quorate.results.json import value_to_json

        places = os.getcwd(), tuple(sys.path)
        if target is not None:
            parameters = {name: value_to_json(value) for name, value in system.parameters.items()}
            return cls(target, parameters, None, *places)
        return cls(None, {}, ray.cloudpickle.dumps(system), *places)

    def load(self) -> System:
        from quorate.model.given import restored
        from quorate.model.target import load

        sys.path.extend(each for each in self.path if each not in sys.path)
        if os.path.isdir(self.directory):
            os.chdir(self.directory)
        if self.target is not None:
            return restored(load(self.target), self.parameters)
        system: System = ray.cloudpickle.loads(self.pickled)
        return system


class _Arrived:
    def __init__(self, parcel: Parcel) -> None:
        self.parcel = parcel
        self.answer: list[bool] | None = None
        self.error: BaseException | None = None


class _Exchange:
    """What goes from this worker to others and comes from them, in order.

    Of one meeting alone. What was sent before a worker was lost may still arrive when all have begun anew; its numbers
    mean nothing then.
    """

    def __init__(self, worker: Worker, peers: list[Any], meeting: int) -> None:
        self.worker = worker
        self.peers = peers
        self.meeting = meeting
        self.depth = -1
        """The level that is open for what others send."""
        self._changed = threading.Condition()
        self._busy = False
        """Whether somebody has the shard in hand."""
        self._over = False
        self._arrived: dict[int, dict[int, _Arrived]] = defaultdict(dict)
        self._expected: dict[int, int] = defaultdict(int)
        self._numbers: dict[int, int] = defaultdict(int)
        self._under_way: dict[int, deque[tuple[Any, list[int]]]] = defaultdict(deque)
        worker.post = self.post

    @contextmanager
    def in_hand(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._busy)
            self._busy = True
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    # --- what comes ---

    def take(self, sender: int, number: int, parcel: Parcel) -> list[bool]:
        """Whoever brings a parcel waits until it was taken in."""
        arrived = _Arrived(parcel)
        with self._changed:
            self._arrived[sender][number] = arrived
            self._changed.notify_all()
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: arrived.answer is not None or arrived.error or self._over or self._can_take_in()
                )
                if self._over:
                    raise WorkerLostError("another worker was lost")
                if arrived.error is not None:
                    raise arrived.error
                if arrived.answer is not None:
                    return arrived.answer
                self._busy = True
            try:
                self.take_in()
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def end(self) -> None:
        """Nobody asks for what is still on its way: whoever brings it need not wait."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _can_take_in(self) -> bool:
        return not self._busy and self._next() is not None

    def _next(self) -> tuple[int, _Arrived] | None:
        for sender, waiting in self._arrived.items():
            first = waiting.get(self._expected[sender])
            if first is not None and first.parcel.depth == self.depth:
                return sender, first
        return None

    def take_in(self) -> None:
        """Take in what has arrived; the shard is in hand."""
        while True:
            with self._changed:
                found = self._next()
                if found is None:
                    return
                sender, arrived = found
                del self._arrived[sender][self._expected[sender]]
                self._expected[sender] += 1
            try:
                answer = self.worker.absorb(sender, arrived.parcel)
            except BaseException as error:
                with self._changed:
                    arrived.error = error
                    self._changed.notify_all()
                raise
            with self._changed:
                arrived.answer = answer
                self._changed.notify_all()

    # --- what goes ---

    def post(self, to: int, parcel: Parcel, watched: list[int]) -> None:
        under_way = self._under_way[to]
        while len(under_way) >= WINDOW:
            self._wait()
        number = self._numbers[to]
        self._numbers[to] += 1
        answer = self.peers[to].take.remote(self.meeting, self.worker.number, number, parcel)
        under_way.append((answer, list(watched)))

    def _wait(self) -> None:
        """For an answer. Whoever brings something meanwhile takes it in: others may be waiting for that."""
        first = [waiting[0][0] for waiting in self._under_way.values() if waiting]
        with self._lent():
            ready, _ = ray.wait(first, num_returns=1, timeout=LOOK)
        for waiting in self._under_way.values():
            if waiting and waiting[0][0] in ready:
                answer, watched = waiting.popleft()
                further = ray.get(answer)
                if watched:
                    self.worker.answered(watched, further)

    @contextmanager
    def _lent(self) -> Iterator[None]:
        with self._changed:
            self._busy = False
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._changed.wait_for(lambda: not self._busy)
                self._busy = True

    def settle(self) -> None:
        """Until all that was sent was taken in by those it was sent to."""
        while any(self._under_way.values()):
            self._wait()


class Actor:
    """One worker, as Ray runs it."""

    def __init__(self, number: int, workers: int, source: Source, job: Job) -> None:
        if job.max_memory is None:
            share = default_memory_limit() // job.neighbours
            job = replace(job, max_memory=share + _core.resident_bytes())
        self.given = number, workers, source, job
        self.peers: list[Any] = []
        self.stopping = False
        self.published = Share()
        self.worker: Worker | None = None
        self.exchange: _Exchange | None = None

    def process(self) -> int:
        return os.getpid()

    def meet(self, peers: list[Any], meeting: int) -> None:
        """Begin anew, with these others."""
        number, workers, source, job = self.given
        self.peers = peers
        self.stopping = False
        if self.exchange is not None:
            self.exchange.end()
        if self.worker is not None:
            self.worker.close()
        self.worker = Worker(number, workers, source.load(), job)
        self.worker.is_to_stop = self._is_to_stop
        self.exchange = _Exchange(self.worker, peers, meeting)

    def _is_to_stop(self) -> bool:
        assert self.worker is not None
        states, transitions = self.worker.reported
        self.published.states, self.published.transitions = states, transitions
        return self.stopping

    def call(self, do: str, given: tuple[Any, ...], more: dict[str, Any]) -> Any:
        """Anything but a level."""
        worker, exchange = self._met()
        if do == "begin":
            self.stopping = False
        with exchange.in_hand():
            answer = getattr(worker, do)(*given, **more)
            if do in ("begin", "end"):
                exchange.depth = -1
            self.published = worker.figures()
            return answer

    def level(self, number: int, given: tuple[Any, ...], more: dict[str, Any]) -> None:
        worker, exchange = self._met()
        with exchange.in_hand():
            worker.start_level(*given, **more)
            exchange.depth = number
            while True:
                if self.stopping:
                    worker.halt()
                going = worker.expand()
                exchange.take_in()
                if not going:
                    exchange.settle()
                    going = worker.expand_in_full()
                self.published = worker.figures()
                if not going:
                    return

    def _met(self) -> tuple[Worker, _Exchange]:
        """Ray hands what was asked of a worker that is gone to the one that it starts in its place."""
        if self.worker is None or self.exchange is None:
            raise WorkerLostError("it was started again")
        return self.worker, self.exchange

    def take(self, meeting: int, sender: int, number: int, parcel: Parcel) -> list[bool]:
        _, exchange = self._met()
        if exchange.meeting != meeting:
            raise WorkerLostError("a worker was lost since this was sent")
        return exchange.take(sender, number, parcel)

    def figures(self) -> Share:
        return self.published

    def stop(self) -> None:
        self.stopping = True


class RayCrew:
    """Workers that Ray runs."""

    def __init__(self, source: Source, job: Job, started: Ray) -> None:
        self.size = started.workers
        self.where = started.where
        self._started = started
        self._meetings = 0
        self.actors = self._made(source, job)
        self._meet()

    def _made(self, source: Source, job: Job) -> list[Any]:
        made: Any = ray.remote(
            max_restarts=-1 if job.restarts else 0,
            num_cpus=1,
            scheduling_strategy="SPREAD",
            concurrency_groups={"exchange": max(1, (self.size - 1) * WINDOW), "control": 1},
        )(_grouped(Actor))
        return [made.remote(number, self.size, source, job) for number in range(self.size)]

    def _meet(self) -> None:
        self._meetings += 1
        self._results([actor.meet.remote(self.actors, self._meetings) for actor in self.actors], None)

    def each(self, do: str, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> list[Any]:
        return self._results([actor.call.remote(do, given, more) for actor in self.actors], watch)

    def level(self, number: int, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> None:
        self._results([actor.level.remote(number, given, more) for actor in self.actors], watch)

    def _results(self, answers: list[Any], watch: Callable[[], bool] | None) -> list[Any]:
        told = False
        left = list(answers)
        try:
            while left:
                _, left = ray.wait(left, num_returns=len(left), timeout=LOOK)
                if left and watch is not None and watch() and not told:
                    told = True
                    for actor in self.actors:
                        actor.stop.remote()
            return ray.get(answers)  # type: ignore[no-any-return]
        except ray.exceptions.RayError as error:
            raise _cause(error) from None

    def shares(self) -> list[Share]:
        try:
            return ray.get([actor.figures.remote() for actor in self.actors], timeout=5)  # type: ignore[no-any-return]
        except (ray.exceptions.RayError, TimeoutError):
            return []  # who is lost is seen where it was asked for something

    def recover(self) -> None:
        """Ray has started the lost ones again; all of them forget what they did."""
        for attempt in range(10):
            try:
                self._meet()
                return
            except WorkerLostError:
                time.sleep(0.2 * (attempt + 1))
        raise WorkerLostError("Ray does not start it again")

    def close(self) -> None:
        for actor in self.actors:
            ray.kill(actor, no_restart=True)
        self.actors = []
        self._started.end()


def _grouped(cls: type) -> type:
    """The methods that others call while it works, in threads of their own."""
    ray.method(concurrency_group="exchange")(cls.take)  # type: ignore[attr-defined]
    for name in ("figures", "stop"):
        ray.method(concurrency_group="control")(getattr(cls, name))
    return cls


def _cause(error: BaseException) -> BaseException:
    """What a worker said went wrong; or that there is none any more who could say it."""
    while isinstance(error, ray.exceptions.RayTaskError) and isinstance(error.cause, BaseException):
        error = error.cause
    is_theirs = isinstance(error, ray.exceptions.RayTaskError)
    return WorkerLostError(_how(error)) if isinstance(error, ray.exceptions.RayError) and not is_theirs else error


def _how(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def launched(source: Source, job: Job, started: Ray) -> RayCrew:
    """The workers of a check, in this Ray."""
    try:
        return RayCrew(source, job, started)
    except BaseException:
        started.end()
        raise
