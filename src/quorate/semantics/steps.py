"""The plain semantics: states and steps straight from the definitions, simple before fast.

Counterexamples are replayed through it before they are shown, and the native search is tested against it. So nothing
here is clever: consumable sets are all subsets that fit the definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from quorate.model.bound import is_inside
from quorate.semantics.environment import crashes, discards, mishaps
from quorate.semantics.firing import protocol_steps

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.semantics.identity import Identity
    from quorate.semantics.state import State, Step


def steps(definition: Definition, state: State) -> tuple[Step, ...]:
    """Everything that can happen in a state: protocol steps by process and transition, then the environment's."""
    found: list[Step] = []
    for column in definition.processes:
        found.extend(protocol_steps(definition, state, column))
    for column in definition.processes:
        found.extend(discards(definition, state, column))
    for column in definition.processes:
        found.extend(mishaps(definition, state, column))
        found.extend(crashes(definition, state, column))
    return tuple(_bounded(definition, found))


def steps_like(definition: Definition, state: State, wanted: Identity) -> Iterator[Step]:
    """The steps of a state among which one of that identity is, if there is one: fewer than all of them."""
    column = definition.columns[wanted.column]
    if wanted.kind == "step":
        offered = protocol_steps(definition, state, column, only=wanted.transition)
    elif wanted.kind == "discard":
        offered = discards(definition, state, column)
    elif wanted.kind in ("crash", "recover"):
        offered = crashes(definition, state, column)
    else:
        offered = mishaps(definition, state, column)
    return _bounded(definition, offered)


def _bounded(definition: Definition, offered: Iterable[Step]) -> Iterator[Step]:
    """The steps, without where those lead that leave the bound of the system."""
    for step in offered:
        then = step.next
        if definition.bound is not None and then and not is_inside(definition, then.locals, then.pending):
            step = step._replace(next=None, outside=True)
        yield step


def enabled_protocol(found: Iterable[Step]) -> bool:
    """Whether the protocol itself can go on: what only the network or a crash could do does not count."""
    return any(step.kind in ("step", "discard") for step in found)
