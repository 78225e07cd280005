"""Messages that pile up: sent again and again where a network keeps each of them, so that there is no end of states.

On a set a message that is already pending changes nothing. In a multiset, or a queue without a capacity, it is one
more. A process that goes round in a circle without consuming anything, and sends on the way, fills the network for
ever: a resend, a heartbeat. The closure ends nonetheless, since it does not count, so that nothing else tells why a
search does not. It also knows local states that no run reaches: what is found may pile up, and need not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from quorate._core import Effect
from quorate.base.errors import Location
from quorate.model.definition import Column
from quorate.native.model import Model

MOST_BEHAVIOURS = 50_000
"""Of a closure; a larger one has no time to be looked through."""


class Piling(NamedTuple):
    """A class of messages that one transition may send without an end."""

    message: str
    by: str
    location: Location
    network: str

    def __str__(self) -> str:
        at = f"{self.location.file}:{self.location.line}"
        return (
            f"{self.message} may pile up: {self.by}, {at}, sends it again and again without consuming anything, and "
            f"{self.network} keeps each; let its guard wait for an answer, give the network a `capacity`, or use "
            "`unordered()`, where one that is pending already changes nothing"
        )

    def to_json(self) -> dict[str, Any]:
        place = {"file": self.location.file, "line": self.location.line}
        return {**self._asdict(), "location": place, "told": str(self)}


def piling(model: Model, behaviours: int) -> list[Piling]:
    """What may pile up, by message and transition; for a model whose closure has ended with so many behaviours."""
    network = model.definition.network
    counts = network.kind == "multiset" or network.ordered
    if not counts or network.bounded or behaviours > MOST_BEHAVIOURS:
        return []
    found: dict[tuple[str, str], Piling] = {}
    for column in model.definition.processes:
        if column.index not in model.definition.attackers:
            for message, transition in _repeated(model, column):
                made = model.definition.transitions(column)[transition]
                found.setdefault((message, str(made)), Piling(message, str(made), made.location, str(network)))
    return list(found.values())


def _repeated(model: Model, column: Column) -> Iterator[tuple[str, int]]:
    """The messages that are sent on circles of steps that consume nothing, and the transitions that send them."""
    processes = {each.index for each in model.definition.processes}
    transitions = model.definition.transitions(column)
    after: dict[int, set[int]] = {}
    sending: list[tuple[int, int, int, set[str]]] = []
    for behaviour in model.engine.behaviours(column.index):
        if behaviour.consumed and not transitions[behaviour.transition].keep:
            continue
        for outcome in behaviour.outcomes:
            if outcome.effect != Effect.moves or outcome.local is None:
                continue
            after.setdefault(behaviour.local, set()).add(outcome.local)
            sent = {
                type(model.message(model.definition.columns[receiver], number)).__name__
                for receiver, number in outcome.sends
                if receiver in processes
            }
            if sent:
                sending.append((behaviour.local, outcome.local, behaviour.transition, sent))
    told: set[tuple[str, int]] = set()
    for before, next, transition, sent in sending:
        new = {(message, transition) for message in sent} - told
        if new and _leads(after, next, before):
            told |= new
            yield from sorted(new)


def _leads(after: dict[int, set[int]], source: int, target: int) -> bool:
    """Whether there is a way from one local state to another."""
    seen, waiting = {source}, [source]
    while waiting:
        here = waiting.pop()
        if here == target:
            return True
        new = after.get(here, set()) - seen
        seen |= new
        waiting += new
    return False
