"""The workers of a search, as whoever leads them sees them; and workers that are all in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from quorate.cluster.worker import Job, Parcel, Share, Worker
from quorate.language.system import System


class Crew(Protocol):
    """Workers that wait to be told what to do, all of them at once."""

    size: int
    where: str
    """What is told of them: where they run."""

    def each(self, do: str, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> list[Any]:
        """Call a method of every worker; the answers in their order.

        `watch` is called now and then meanwhile; True from it asks the workers to stop. WorkerLostError if one is gone.
        """

    def level(self, number: int, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> None:
        """Have all of them expand a level, and exchange what they find, until nothing is left or under way."""

    def shares(self) -> list[Share]:
        """How far each has come, while they work."""

    def recover(self) -> None:
        """Have workers that are gone started again. All of them have to prepare again."""

    def close(self) -> None: ...


class LocalCrew:
    """Workers in this process, one after another: for tests, and where there is nothing else."""

    def __init__(self, size: int, system: System, job: Job) -> None:
        self.size = size
        self.where = "in this process"
        self.workers = [Worker(number, size, system, job) for number in range(size)]
        for worker in self.workers:
            worker.post = self._posting(worker)

    def _posting(self, sender: Worker) -> Callable[[int, Parcel, Sequence[int]], None]:
        def post(to: int, parcel: Parcel, watched: Sequence[int]) -> None:
            further = self.workers[to].absorb(sender.number, parcel)
            if watched:
                sender.answered(list(watched), further)

        return post

    def each(self, do: str, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> list[Any]:
        stopped = watch is not None and watch()
        for worker in self.workers:
            worker.is_to_stop = watch if watch is not None else lambda: stopped
        return [getattr(worker, do)(*given, **more) for worker in self.workers]

    def level(self, number: int, *given: Any, watch: Callable[[], bool] | None = None, **more: Any) -> None:
        self.each("start_level", *given, watch=watch, **more)
        going = list(self.workers)
        while going:
            # Turn by turn, as if they were at work at the same time.
            going = [worker for worker in going if worker.expand() or worker.expand_in_full()]

    def shares(self) -> list[Share]:
        return [worker.figures() for worker in self.workers]

    def recover(self) -> None:
        raise NotImplementedError("workers of this process do not get lost")

    def close(self) -> None:
        for worker in self.workers:
            worker.close()
        self.workers.clear()
