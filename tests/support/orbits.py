"""Orbits by brute force: every renaming of every state, straight from the definition of a symmetry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import permutations, product

from quorate.base.values import encode
from quorate.language.message import Message
from quorate.language.pid import column_of
from quorate.model.definition import Column, Definition
from quorate.model.renaming import Names, renamed
from quorate.reduce.families import Family, column_images
from quorate.semantics.state import State


def renamings(families: Sequence[Family]) -> list[Names]:
    """Every element of the group, as what it does to names."""
    each = [
        [dict(zip(map(encode, family.names), image, strict=True)) for image in permutations(family.names)]
        for family in families
    ]
    return [{old: new for part in parts for old, new in part.items()} for parts in product(*each)]


def renamed_state(definition: Definition, state: State, names: Names) -> State:
    """The state after a renaming."""
    columns = column_images(definition, names)
    locals = list(state.locals)
    pending = list(state.pending)
    for index, local in enumerate(state.locals):
        locals[columns[index]] = renamed(local, names)
    for column in definition.processes:
        inbox = [renamed(message, names) for message in state.pending[column.index]]
        target = definition.columns[columns[column.index]]
        pending[target.index] = tuple(sorted(inbox, key=partial(_place, definition, target)))
    return State(tuple(locals), tuple(pending), state.budget)


def _place(definition: Definition, receiver: Column, message: Message) -> tuple[int, bytes]:
    """What pending messages are sorted by."""
    if definition.network.kind != "fifo":
        return 0, encode(message)
    return column_of(message.sender), encode(message) if definition.stands(receiver, message) else b""


def orbits(definition: Definition, families: Sequence[Family], states: Iterable[State]) -> dict[bytes, list[State]]:
    """States by orbit, each orbit under the smallest encoding of a state in it."""
    group = renamings(families)
    found: dict[bytes, list[State]] = {}
    known: dict[bytes, bytes] = {}
    for state in states:
        if state.key not in known:
            keys = {renamed_state(definition, state, names).key for names in group}
            smallest = min(keys)
            known.update(dict.fromkeys(keys, smallest))
        found.setdefault(known[state.key], []).append(state)
    return found
