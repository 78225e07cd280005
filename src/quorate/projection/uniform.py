"""Whether clients do the same whatever the number of servers: their graphs are compared step by step.

What says how many servers there are, or who they are, may differ: fields that are set in `build`, and that no step
changes. All else is compared as it is written: every local state, request and event, and where each step leads to.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from quorate.base.failures import Failure
from quorate.base.values import encode, show
from quorate.language.process import Process
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Local, Outcome
from quorate.projection.answering import content
from quorate.projection.conditions import UNIFORM, RefusedError

if TYPE_CHECKING:
    from quorate.projection.rounds import Rounds

Varying = Mapping[str, frozenset[int]]
"""By name of a client: its fields that tell the number of servers."""


def varying_fields(definitions: Sequence[Definition], server: type[Process]) -> Varying:
    """The fields of clients that `build` sets to something else with another number of servers."""
    first = definitions[0]
    found: dict[str, set[int]] = {column.name: set() for column in first.processes if column.cls is not server}
    begun = _begun(first, server)
    for definition in definitions[1:]:
        there = _begun(definition, server)
        if [(column.name, len(locals)) for column, locals in there] != [
            (column.name, len(each)) for column, each in begun
        ]:
            raise RefusedError(UNIFORM, "there are other clients or monitors with other numbers of servers")
        for (column, ones), (_, others) in zip(begun, there, strict=True):
            differ = {
                at
                for one, other in zip(ones, others, strict=True)
                for at, (value, another) in enumerate(zip(one, other, strict=True))
                if show(value) != show(another)
            }
            if differ and column.is_monitor:
                name = column.fields[min(differ)]
                raise RefusedError(UNIFORM, f"{column.name}.{name} of a monitor depends on the number of servers")
            found.setdefault(column.name, set()).update(differ)
    return {name: frozenset(fields) for name, fields in found.items()}


def _begun(definition: Definition, server: type[Process]) -> list[tuple[Column, list[Local]]]:
    """The clients and monitors, with their initial states."""
    return [
        (column, [state[column.index] for state in definition.initials])
        for column in definition.columns
        if column.cls is not server
    ]


class Walk:
    """The steps of the clients in the order in which they were met, each as a number."""

    def __init__(self, clients: Sequence[Column], varying: Varying) -> None:
        self._clients = clients
        self._varying = [varying.get(column.name, frozenset()) for column in clients]
        self._configured: list[dict[int, bytes]] = [{} for _ in clients]
        self._texts: dict[tuple[int, bytes], str] = {}
        self._done: dict[int, tuple[Outcome, str]] = {}
        self.steps = array("Q")
        self.who = array("L")
        """By step: the client and its transition."""

    def begin(self, client: int, local: Local) -> str:
        for at in self._varying[client]:
            self._configured[client][at] = encode(local[at])
        return self._text(client, local)

    def note(self, source: int, target: int, client: int, transition: Transition, outcome: Outcome) -> None:
        known = self._done.get(id(outcome))
        if known is None:
            assert outcome.local is not None
            asked = show(content(outcome.sends[0][1])) if outcome.sends else ""
            told = ", ".join(map(show, outcome.events))
            known = self._done[id(outcome)] = outcome, f"{self._text(client, outcome.local)}; {asked}; {told}"
        self._add(f"{source} {target} {client} {transition.index} {known[1]}", client, transition)

    def fail(self, source: int, client: int, transition: Transition, failure: Failure) -> None:
        """A step that fails leads nowhere, and is one that another number of servers may not have."""
        text = f"{source} fails {client} {transition.index} {failure.kind} {failure.file} {failure.line}"
        self._add(text, client, transition)

    def _add(self, text: str, client: int, transition: Transition) -> None:
        self.steps.append(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))
        self.who.append(client << 16 | transition.index)

    def _text(self, client: int, local: Local) -> str:
        """A local state without the fields that tell the number of servers, which nothing may change."""
        key = client, encode(local)
        text = self._texts.get(key)
        if text is None:
            for at, value in self._configured[client].items():
                if encode(local[at]) != value:
                    column = self._clients[client]
                    raise RefusedError(
                        UNIFORM, f"{column.name}.{column.fields[at]} depends on the number of servers, and changes"
                    )
            kept = [show(value) for at, value in enumerate(local) if at not in self._varying[client]]
            text = self._texts[key] = ", ".join(kept)
        return text


def require_uniform(shapes: Sequence[Rounds], parameter: str) -> None:
    """The clients alone, with whatever quorums may answer, do the same whatever the number of servers."""
    one = shapes[0]
    for other in shapes[1:]:
        if one.walk.steps == other.walk.steps and one.begun == other.begun:
            continue
        pairs = zip(one.walk.steps, other.walk.steps, strict=False)
        at = next((at for at, (step, another) in enumerate(pairs) if step != another), None)
        where = ""
        if at is not None:
            client, transition = divmod(one.walk.who[at], 1 << 16)
            where = f": {one.servers.clients[client].spec.transitions[transition]} is where they part"
        raise RefusedError(
            UNIFORM,
            f"the clients do other things with {parameter}={one.number} than with {parameter}={other.number}{where}",
        )
