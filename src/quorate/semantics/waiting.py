"""What each process still waits for where nothing happens any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quorate.model.outcome import is_crashed
from quorate.model.run import prepare
from quorate.semantics.firing import protocol_steps
from quorate.semantics.state import looked_at

if TYPE_CHECKING:
    from quorate.model.definition import Column, Definition, Transition
    from quorate.semantics.state import State


class Waiting(NamedTuple):
    """One process at its end."""

    column: Column
    crashed: bool
    can: tuple[str, ...]
    """Transitions that it could still take, if anybody let it."""
    wants: tuple[str, ...]
    """The types of messages on which it would go on. Whether it wants a given one depends on that message."""

    def __str__(self) -> str:
        if self.crashed:
            return f"{self.column.name} has crashed"
        if self.can:
            return f"{self.column.name} could still do: {', '.join(self.can)}"
        return f"{self.column.name} waits for {', '.join(self.wants) if self.wants else 'nothing'}"


def waiting(definition: Definition, state: State) -> list[Waiting]:
    """All processes that follow the protocol, in their order."""
    found: list[Waiting] = []
    for column in definition.processes:
        if column.delivers_to is not None or column.index in definition.attackers:
            continue
        crashed = is_crashed(state.locals[column.index])
        offered = [step for step in protocol_steps(definition, state, column) if not step.cut]
        can = dict.fromkeys(step.transition.name for step in offered if step.transition is not None)
        wants = dict.fromkeys(
            transition.message.__name__
            for transition in definition.transitions(column)
            if transition.message is not None and not crashed and _asks(definition, column, transition, state)
        )
        found.append(Waiting(column, crashed, tuple(can), tuple(wants)))
    return found


def _asks(definition: Definition, column: Column, transition: Transition, state: State) -> bool:
    """Whether messages of its type can enable it: a quorum may not be asked for in every local state."""
    return transition.kind == "on" or prepare(column, transition, looked_at(definition, state, column)) is not None
