"""Checks of systems whose numbers are only compared: what is left out there, and what an answer means."""

from __future__ import annotations

from dataclasses import replace

from quorate.base.errors import ParameterError
from quorate.language.rank import MOST
from quorate.model.definition import Definition
from quorate.options import Options
from quorate.properties.asked import Asked
from quorate.properties.temporal.branching import linear
from quorate.results.result import PropertyOutcome, Result

NOT_WITH_NUMBERS = (
    "the search took later() for more than the next number, and found a run that was not found with numbers"
)

TOO_MANY = (
    f"a state holds at most {MOST} ranks beside the first: bound the channels, so that late messages with old ranks do "
    'not pile up, e.g. network = unordered(capacity=1, full="replace")'
)


def ranked_options(definition: Definition, asked: Asked, options: Options) -> Options:
    """The options for a system with ranks: reductions that argue with tables of all that may happen are off."""
    faced = {
        "formulas with branches (ctl)": any(linear(each.formula) is None for each in asked.temporal),
        f"--por {options.por}": options.por != "none",
        "--stateless": options.stateless,
        "--self-check": options.self_check,
        "--coverage": options.coverage,
        "--checkpoint": options.checkpoint is not None,
        "--vacuity": options.vacuity,
        "--workers or --address": options.distributed,
        "Byzantine processes": bool(definition.attackers),
        "a bound of the whole system": definition.bound is not None,
        "delivery events": definition.environment.network_model != "m",
        "same=<function>": any(
            callable(each.declaration.same) for column in definition.columns for each in column.spec.transitions
        ),
    }
    for what, is_there in faced.items():
        if is_there:
            refuse_ranks(definition, what)
    return replace(options.without_reductions(), symmetry=options.symmetry, threads=1)


def refuse_ranks(definition: Definition, what: str) -> None:
    """Refuse what is not argued for with ranks."""
    if definition.ranked:
        raise ParameterError(
            f"{definition.name} has fields of type Rank, which cannot be combined with {what} yet",
            hint="leave that out, or use int and a bound on it",
            code="Q604",
        )


def undecided(definition: Definition, asked: Asked, target: str | None) -> Result:
    """The search has found a run that cannot be taken with `later` as the next number: that decides nothing."""
    return Result(
        definition.name,
        "incomplete",
        definition.parameters,
        target,
        properties=tuple(PropertyOutcome(each.name, each.kind, "incomplete") for each in asked.properties),
        warnings=(f"{NOT_WITH_NUMBERS}: that decides nothing",),
        environment=definition.environment.to_json(),
    )
