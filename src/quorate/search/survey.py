"""What happens in the reachable states of a system, as far as two versions of it can be compared by that.

The states are those of a search that measures coverage, without the reductions that merge what handlers do
(coverage.py). Whether a system without one of its parts behaves the same is asked of the handlers alone, in the local
states and on the messages that were met with all parts in place: if every guard says the same there and every step does
the same, then by induction over its runs it reaches the same states. No search is needed for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from quorate import _core
from quorate.base.values import encode, show
from quorate.language.operation import Invoked, Returned
from quorate.model.again import signature
from quorate.model.define import define
from quorate.model.definition import Column, Definition, Transition
from quorate.model.environment import Environment
from quorate.model.outcome import Unread, is_crashed
from quorate.model.renumbering import in_places
from quorate.model.run import accepts, fire, prepare
from quorate.native.backend import Found
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.asked import Asked, select
from quorate.results.coverage import Coverage
from quorate.search.limits import Watcher
from quorate.search.safety import Safety

SYMBOLS = (bool, str, type(None))
"""Of values of these types it tells something that one is never taken any more; numbers and sets have too many."""


@dataclass(frozen=True)
class Survey:
    """What happened in the states that were reached."""

    happens: frozenset[str]
    """In words: transitions, events, operations; values of fields that a property names."""
    moves: Moves | None
    """Steps as they were taken; None if processes were exchanged, so that not all of them were seen."""
    states: int


@dataclass(frozen=True)
class Moves:
    """What every transition does in the local states that were met, with what was pending in them.

    It is all written down, since a helper that two versions of a handler call is one and the same function: changed,
    it would be changed for both.
    """

    initials: bytes
    shape: tuple[tuple[type, tuple[str, ...]], ...]
    """The class of each column, and the names of its transitions."""
    visited: tuple[tuple[int, Any, tuple[Any, ...], tuple[Any, ...]], ...]
    """Column, local state, pending messages, and what is enabled by each transition."""
    taken: tuple[tuple[int, int, Any, tuple[Any, ...], Any], ...]
    """Steps that consumed a quorum: column, transition, local state, messages, and what they did."""

    def same(self, other: Definition, roles: Iterable[type], name: str | None) -> bool:
        """Whether the transition of that name of these classes, or all of theirs, do the same in the other system.

        Everything else about the two systems is the same.
        """
        wanted = tuple(roles)
        if _beginning(other) != self.initials or _shape(other) != self.shape:
            return False

        def concerned(column: Column, transition: Transition) -> bool:
            return issubclass(column.cls, wanted) and name in (None, transition.name)

        columns = in_places(other)
        for place, local, pending, enabled in self.visited:
            column = columns[place]
            for transition, before in zip(column.spec.transitions, enabled, strict=True):
                if concerned(column, transition):
                    if name is None and transition.declaration.enough is not None:
                        return False  # which sets it would be asked about is not known here
                    if _enabled(column, transition, local, pending) != before:
                        return False
        for place, number, local, messages, before in self.taken:
            column = columns[place]
            transition = column.spec.transitions[number]
            if concerned(column, transition) and _done(column, transition, local, messages) != before:
                return False
        return True


def _beginning(definition: Definition) -> bytes:
    """The initial states, and what is on its way in them."""
    return encode((definition.initials, definition.posted))


def _shape(definition: Definition) -> tuple[tuple[type, tuple[str, ...]], ...]:
    return tuple((each.cls, tuple(one.name for one in each.spec.transitions)) for each in definition.columns)


READS_MORE = b"reads more"
"""What a variant does that reads a shared cell which the system itself has not read there."""


def _enabled(column: Column, transition: Transition, local: Any, pending: tuple[Any, ...]) -> Any:
    """What a transition does in a local state; of a quorum: which messages it takes, and how many of them."""
    if is_crashed(local) or (transition.flag >= 0 and local[transition.flag]):
        return ()
    mine = [message for message in pending if transition.takes(message)]
    if transition.kind == "on":
        return [_done(column, transition, local, (message,)) for message in mine]
    if transition.kind != "quorum":
        return _done(column, transition, local, ())
    declaration = transition.declaration
    try:
        request = prepare(column, transition, local)
    except Unread:
        return READS_MORE
    taken = [accepts(column, transition, local, message) for message in mine] if request is not None else []
    return transition.kind, transition.mode, request, taken, getattr(declaration.enough, "__code__", None)


def _done(column: Column, transition: Transition, local: Any, messages: tuple[Any, ...]) -> list[bytes]:
    try:
        return [signature(outcome) for outcome in fire(column, transition, local, messages)]
    except Unread:
        return [READS_MORE]


class _Survey(Safety):
    """A search that keeps what it counted."""

    census: _core.Census | None = None

    def covered(self, found: Found) -> Coverage | None:
        self.census = found.census
        return None


def survey(
    system: Any, environment: Environment, names: list[str], *, symmetry: str = "auto", **limits: Any
) -> Survey | None:
    """Look at all reachable states; None if there are more than the limits allow."""
    options = Options.of({"symmetry": symmetry, "coverage": True, **limits}).for_coverage()
    watcher = Watcher(limits.get("timeout"), None, options.max_memory)
    with watcher:
        definition = define(system, environment)
        asked = select(definition, names)
        # Properties would only end the search, and have been asked before. Monitors watch all the same.
        nothing = Asked((), False, True)
        search = _Survey(Model(definition, (), watcher), nothing, options, watcher, False, None)
        result = search.run()
        if search.census is None or not search.census.complete or result.stopped_by is not None:
            return None
        with watcher.lifted():
            named = names_in(definition, asked)
            return _surveyed(search.model, search.census, named, result.states, whole=symmetry == "none")


def _surveyed(model: Model, census: _core.Census, named: frozenset[str], states: int, *, whole: bool) -> Survey:
    definition = model.definition
    columns = in_places(definition)
    happens: set[str] = set()
    visited: list[tuple[int, Any, tuple[Any, ...], tuple[Any, ...]]] = []
    taken: list[tuple[int, int, Any, tuple[Any, ...], Any]] = []
    values: dict[tuple[str, str], dict[bytes, Any]] = {}
    for each in census.visited:
        column = columns[each.column]
        if column.delivers_to is not None:
            continue
        local = model.local(column, each.local)
        if not is_crashed(local):
            for at, name in column.shown:
                if name in named:
                    values.setdefault((column.cls.__name__, name), {})[encode(local[at])] = local[at]
        if whole and not column.is_monitor:
            pending = tuple(model.message(column, number) for number in each.pending)
            enabled = tuple(_enabled(column, one, local, pending) for one in column.spec.transitions)
            visited.append((each.column, local, pending, enabled))
    for reached in census.behaviours:
        column = columns[reached.column]
        if column.delivers_to is not None or column.is_monitor:
            continue
        transition = definition.transitions(column)[reached.transition]
        local = model.local(column, reached.local)
        messages: Any = tuple(model.message(column, number) for number in reached.consumed)
        if whole and transition.kind == "quorum":
            done = _done(column, transition, local, messages)
            taken.append((reached.column, reached.transition, local, messages, done))
        happens.add(f"{column.cls.__name__}.{transition.name} never happens")
        for outcome in fire(column, transition, local, messages):
            happens.update(f"{_event(column, event)}" for event in outcome.events)
    for (role, name), found in values.items():
        if len(found) > 1:
            happens.add(f"{role}.{name} never changes")
            happens.update(
                f"{role}.{name} is never {show(value)}" for value in found.values() if isinstance(value, SYMBOLS)
            )
    moves = Moves(_beginning(definition), _shape(definition), tuple(visited), tuple(taken)) if whole else None
    return Survey(frozenset(happens), moves, states)


def _event(column: Column, event: Any) -> str:
    role = column.cls.__name__
    if isinstance(event, Invoked):
        return f"{role} never begins {type(event.operation).__name__}"
    return f"no operation of {role} ends" if isinstance(event, Returned) else f"{type(event).__name__} never happens"


def names_in(definition: Definition, asked: Asked) -> frozenset[str]:
    """The names that occur in properties, and in functions that they call by name: fields among them may be read."""
    system = type(definition.system)
    functions: list[Any] = [each.function for each in asked.properties]
    for formula in asked.temporal:
        functions += [each.function for each in formula.predicates.values()]
    owners: list[Mapping[str, Any]] = [vars(base) for base in system.__mro__]
    owners += [vars(base) for column in definition.columns for base in column.cls.__mro__]
    found: set[str] = set()
    waiting = functions
    seen: list[Any] = []
    while waiting:
        each = waiting.pop()
        each = getattr(each, "__func__", getattr(each, "fget", each))
        if any(each is one for one in seen):
            continue
        seen.append(each)
        if isinstance(each, partial):  # of one process, as in leads_to(..., each=Client)
            waiting += each.args
        elif isinstance(each, FunctionType):
            waiting += [each.__code__, *_nonlocals(each)]
        elif isinstance(each, CodeType):
            found.update(each.co_names)
            waiting += each.co_consts
            waiting += [owner[name] for name in each.co_names for owner in owners if name in owner]
    return frozenset(found)


def _nonlocals(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # nothing was ever assigned to it
            yield cell.cell_contents
