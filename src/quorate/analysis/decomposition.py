"""Processes taken apart into their roles: whether that is the same system, and what its states are of the whole one.

Definition 8 of the thesis asks for a bisimulation: states of the whole process are pairs of states of its roles, and
messages go to either. `language/roles.py` makes sure that roles share no fields, methods and types of messages. What is
left is the name: several roles have one, and taken apart they have one each. Nobody may notice. So roles of one process
must never be compared (`Pid.__eq__` refuses), and wherever an identity stands in a field or a message, it must be that
of one kind of role. Then joining the names again merges nothing: no two local states, messages or sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quorate.analysis.model import Model
from quorate.language.definition import Definition, define
from quorate.language.environment import Environment
from quorate.language.message import Message
from quorate.language.pid import NotDecomposed, Pid, column_of, server_of
from quorate.language.renaming import Name, fields_of, parts_of, renamed
from quorate.language.system import System
from quorate.language.values import encode
from quorate.semantics import State

Place = tuple[str, ...]


def taken_apart(system: System | type[System], environment: Environment) -> tuple[Definition | None, str]:
    """The system with its processes taken apart into their roles, if there is anything to take apart; or why not."""
    try:
        definition = define(system, environment, decomposed=True)
    except NotDecomposed as reason:
        return None, str(reason)
    return (definition, "") if roles(definition) else (None, "")


def roles(definition: Definition) -> list[str]:
    """The classes that processes were taken apart into."""
    return list(dict.fromkeys(column.cls.__name__ for column in definition.processes if column.server is not None))


def parts(definition: Definition) -> list[list[int]]:
    """The columns that make up each process of the whole system, in its order."""
    found: list[list[int]] = []
    last: int | None = None
    for column in definition.processes:
        assert column.pid is not None, "channels and roles do not go together"
        if column.server is not None and column.server == last:
            found[-1].append(column.index)
        else:
            found.append([column.index])
        last = column.server
    return found


def require_equivalence(model: Model) -> None:
    """Look at all that the closure holds. Raises NotDecomposed if the whole system may do something else."""
    definition = model.definition
    siblings = {index: group for group in parts(definition) for index in group}
    kinds: dict[Place, type] = {}
    for column, locals in zip(definition.columns, model.numbered_locals, strict=True):
        for local in locals:
            for name, value in zip(column.fields, local, strict=False):
                _note(kinds, (column.cls.__name__, name), value, definition)
    for column, messages in zip(definition.columns, model.numbered_messages, strict=True):
        for message in messages:
            _note(kinds, (), message, definition)
            for other in siblings.get(column.index, ()):
                takers = definition.transitions(definition.columns[other])
                if other != column.index and any(each.takes(message) for each in takers):
                    raise NotDecomposed(f"{type(message).__name__} is sent to {column.name}, but another role takes it")


def _note(kinds: dict[Place, type], place: Place, value: Any, definition: Definition) -> None:
    for where, pid in _identities(place, value):
        role = definition.columns[column_of(pid)].cls
        if kinds.setdefault(where, role) is not role:
            raise NotDecomposed(
                f"{'.'.join(where)} holds identities of both {kinds[where].__name__} and {role.__name__}, "
                "which are roles of one process"
            )


def _identities(place: Place, value: Any) -> Iterator[tuple[Place, Pid]]:
    """The roles in a value, with where they stand. Elements of sets and tuples, keys and values all count as one."""
    if type(value) is Pid:
        if server_of(value) is not None:
            yield place, value
        return
    names = fields_of(value)
    if names:
        for name, part in zip((*names, "sender"), parts_of(value), strict=False):
            yield from _identities((type(value).__name__, name), part)
    elif isinstance(value, (tuple, frozenset)) or hasattr(value, "items"):
        for part in parts_of(value):
            yield from _identities(place, part)


class Whole:
    """The states of the whole system that those of a decomposed one stand for."""

    def __init__(self, apart: Definition, whole: Definition) -> None:
        self.apart = apart
        self.whole = whole
        self.parts = parts(apart)
        self._names: dict[bytes, Name] = {}
        for number, group in enumerate(self.parts):
            for index in group:
                pid, joined = apart.columns[index].pid, whole.columns[number].pid
                assert pid is not None
                assert joined is not None
                self._names[encode(pid)] = joined

    def column(self, index: int) -> int:
        """The process or monitor of the whole system that a column belongs to."""
        for number, group in enumerate(self.parts):
            if index in group:
                return number
        return index - len(self.apart.processes) + len(self.parts)

    def state(self, state: State) -> State:
        """The state with the roles put together again."""
        locals: list[tuple[Any, ...]] = []
        pending: list[tuple[Message, ...]] = []
        for number, group in enumerate(self.parts):
            values: dict[str, Any] = {}
            inbox: list[Message] = []
            for index in group:
                fields = self.apart.columns[index].fields
                values |= dict(zip(fields, self.renamed(state.locals[index]), strict=True))
                inbox += [self.renamed(message) for message in state.pending[index]]
            locals.append(tuple(values[name] for name in self.whole.columns[number].fields))
            pending.append(tuple(sorted(inbox, key=encode)))
        for monitor in self.apart.monitors:
            locals.append(self.renamed(state.locals[monitor.index]))
        return State(tuple(locals), tuple(pending), state.budget)

    def renamed(self, value: Any) -> Any:
        return renamed(value, self._names)
