"""The workers of a check: what they are given, and how they are started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from quorate.base.errors import ParameterError
from quorate.cluster.backend import DistributedBackend
from quorate.cluster.crew import Crew
from quorate.cluster.kept import Kept
from quorate.cluster.ray import Ray
from quorate.cluster.worker import Job
from quorate.model.definition import Definition
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.asked import Asked
from quorate.reduce.reductions import MOST_BEHAVIOURS
from quorate.search.limits import Watcher


def by_ray(model: Model, options: Options, target: str | None) -> Callable[[Job], Crew]:
    """Workers that Ray starts."""

    def launch(job: Job) -> Crew:
        started = Ray.started(options.workers, options.address)
        from quorate.cluster.actors import Source, launched

        return launched(
            Source.of(model.definition.system, target), job.among(started.workers, started.machines), started
        )

    return launch


start = by_ray
"""How workers are started; tests have them all in one process."""


def require_shareable(definition: Definition) -> None:
    """Refuse what workers cannot decide together."""
    if definition.bound is not None:
        raise ParameterError(
            f"{definition.name}.within bounds the whole system, which workers do not know yet",
            hint="leave --workers and --address out, or bound the processes",
            code="Q600",
        )
    if definition.cells:
        raise ParameterError(
            f"{definition.name} has shared cells ({definition.cells[0]}), which workers do not know yet",
            hint="leave --workers and --address out",
            code="Q600",
        )


def distributed(
    model: Model, asked: Asked, options: Options, watcher: Watcher, target: str | None
) -> DistributedBackend:
    """What searches with workers."""
    properties = tuple(each.name for each in model.properties)
    final = asked.deadlock and model.definition.final is not None
    job = Job(
        environment=model.definition.environment,
        options=replace(options, workers=None, address=None, checkpoint=None),
        properties=properties,
        final=final,
        apart=model.whole is not None,
        behaviours=options.max_behaviours or MOST_BEHAVIOURS,
        deadlock=asked.deadlock,
        max_memory=options.max_memory,
        restarts=options.checkpoint is not None,
    )
    kept = None if options.checkpoint is None else Kept(options.checkpoint, options.checkpoint_every)

    def tell(shares: Sequence[int]) -> None:
        watcher.shares = tuple(shares)

    return DistributedBackend(model, job, start(model, options, target), tell, kept)
