"""Running one handler: the only place where a protocol's code is executed.

Every function here is pure and may be asked about combinations that no run ever meets, since the analysis asks about
all that might. A raise is an outcome like any other then: kept, compared, reported where the search gets to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any, TypeVar

from quorate.base.errors import LimitError, ModelError, caller
from quorate.base.failures import Failure, blame, failure_of, is_models
from quorate.base.places import location_of
from quorate.base.values import BadValueError, ContentSet, encode, freeze, show
from quorate.base.watchdog import supervised
from quorate.language.automaton import WATCHING, Automaton, attach, held_by
from quorate.language.forbidden import is_answer, returned
from quorate.language.message import Event, Message
from quorate.language.pid import Pid
from quorate.language.rank import RUNNING, Evaluation
from quorate.language.shared import PRESENT, Shared, Written, is_single, written
from quorate.model.again import require_same, require_unchanged, signature
from quorate.model.choices import MAX_PATHS, Choices, NoOption
from quorate.model.definition import Column, Transition
from quorate.model.outcome import Local, Outcome, Request, Unread, cells_of, is_crashed
from quorate.model.touched import Record

_new = object.__new__
T = TypeVar("T")


class Run:
    """What one run of a handler does besides changing fields."""

    __slots__ = (
        "accesses",
        "cells",
        "choices",
        "closed",
        "events",
        "later",
        "local",
        "messages",
        "opened",
        "pid",
        "reads",
        "sends",
        "single",
        "unread",
    )

    def __init__(
        self,
        pid: Pid | None,
        messages: tuple[Message, ...],
        choices: Choices | None,
        closed: str,
        cells: Cells | None = None,
        reads: dict[int, None] | None = None,
    ) -> None:
        self.pid = pid
        self.local: Local = ()
        self.reads: dict[int, None] = {} if reads is None else reads
        """The fields that were read before they were assigned, in that order."""
        self.opened = False
        """Whether all fields are in the dictionary of the instance, in their order, because it was looked at."""
        self.cells = cells
        self.accesses: dict[tuple[bytes, str], str] = {}
        """To shared cells, each in words."""
        self.single = False
        """Whether one of these cells allows no other access."""
        self.unread: int | None = None
        """A shared cell that was read, and of which it is not known what it holds."""
        self.messages = messages
        self.choices = choices
        self.closed = closed
        self.sends: list[tuple[int, Message]] = []
        self.events: list[Event] = []
        self.later = False
        """Whether a new rank was made."""

    def read_cell(self, cell: Shared[Any]) -> Any:
        """What a shared cell holds: what this step has written, or what it held before."""
        column = self._access(cell, "read")
        cells = self.cells
        assert cells is not None
        if column in cells.written:
            return cells.written[column][1]
        if column not in cells.known:
            self.unread = column
            raise Unread(column)
        return cells.read.setdefault(column, cells.known[column])

    def write_cell(self, cell: Shared[Any], value: Any) -> None:
        if self.closed:
            raise ModelError(
                f"{cell} was written in {self.closed}, which may only read",
                hint="do it in the body of the transition",
                code="Q108",
                location=caller(),
            )
        column = self._access(cell, "written")
        assert self.cells is not None
        try:
            self.cells.written[column] = (cell, freeze(value))
        except BadValueError as bad:
            raise ModelError(
                f"{cell} was given {show(bad.value)}, of type {type(bad.value).__name__}, which no state can hold",
                hint=bad.advice,
                code="Q101",
                location=caller(),
            ) from None

    def _access(self, cell: Shared[Any], how: str) -> int:
        """The column of a cell, if this step may have to do with it."""
        if self.cells is None or self.closed == "`within`":
            raise ModelError(
                f"{cell} was {how} in {self.closed}, which knows its own process alone",
                hint="a bound on shared cells is `within` of the system; a monitor learns of values by events",
                code="Q108",
                location=caller(),
            )
        self.accesses.setdefault((encode(cell), how), f"{cell} {how}")
        self.single |= is_single(cell)
        if self.single and len(self.accesses) > 1:
            raise ModelError(
                f"one step has more than one access to shared cells: {', '.join(self.accesses.values())}",
                hint='access="single" allows one for each step: read into a field, and go on in the next step',
                code="Q126",
                location=caller(),
            )
        return self.cells.columns[encode(cell)]

    def writes(self) -> list[Written]:
        """What was written, in the order of the cells."""
        cells = self.cells
        if cells is None or not cells.written:
            return []
        return [written(*cells.written[column], self.pid) for column in sorted(cells.written)]


class Cells:
    """The shared cells as one run of a handler sees them."""

    __slots__ = ("columns", "known", "read", "written")

    def __init__(self, column: Column, local: Local) -> None:
        self.columns = column.cells
        self.known = cells_of(local)
        self.read: dict[int, Any] = {}
        self.written: dict[int, tuple[Shared[Any], Any]] = {}


def _with_cells(run: Run, work: Callable[[], T]) -> T:
    """Do something with which shared cells may be read; what swallows the signal that one is unknown does not count."""
    PRESENT.memory = run
    try:
        return work()
    finally:
        PRESENT.memory = None
        if run.unread is not None:
            raise Unread(run.unread)


def instance(column: Column, local: Local, run: Run) -> Automaton:
    """An object of the process's class in a local state."""
    self = _new(column.spec.cls)
    run.local = local
    attach(self, run)
    return self


def prepare(
    column: Column, transition: Transition, local: Local, reads: dict[int, None] | None = None
) -> Request | None:
    """What a quorum transition asks for in this local state; None if its `when` is false.

    If a guard raises, one message is asked for, and `fire` then tells of the failure.
    """
    if is_crashed(local):
        return None
    request = _asked_for(column, transition, local, reads)
    transition.sample.note(_asked_for, (column, transition, local), request)
    return request


def _asked_for(
    column: Column, transition: Transition, local: Local, reads: dict[int, None] | None = None
) -> Request | None:
    try:
        return supervised(partial(_prepare, column, transition, local, reads))
    except Unread:
        raise
    except BaseException as error:
        if not is_models(error):
            raise
        return Request(size=1)


def accepts(
    column: Column, transition: Transition, local: Local, message: Message, reads: dict[int, None] | None = None
) -> bytes | None:
    """None if the `where` of a quorum transition rejects the message, else what the messages of a set must agree on."""
    if is_crashed(local) or not transition.takes(message):
        return None
    declaration = transition.declaration
    if declaration.where is None and declaration.same is None:
        return b""
    group = _group_of(column, transition, local, message, reads)
    if transition.sample.note(_group_of, (column, transition, local, message), group):
        require_unchanged(transition, (message,))
    return group


def _group_of(
    column: Column, transition: Transition, local: Local, message: Message, reads: dict[int, None] | None = None
) -> bytes | None:
    try:
        return supervised(partial(_accepts, column, transition, local, message, reads))
    except Unread:
        raise
    except BaseException as error:
        if not is_models(error):
            raise
        return b""  # taken as accepted, so that `fire` gets to the failure


def allows(column: Column, transition: Transition, local: Local, messages: tuple[Message, ...]) -> bool:
    """Whether the `when` of a transition that is no quorum lets it happen; it is not run. One that raises does."""
    when = transition.declaration.when
    if when is None:
        return True
    run = Run(column.pid, messages, None, "a guard", Cells(column, local))
    self = instance(column, local, run)
    try:
        return supervised(lambda: _with_cells(run, lambda: _holds(transition, "when", when(self, *messages))))
    except BaseException as error:
        if not is_models(error):
            raise
        return True


def fire(
    column: Column,
    transition: Transition,
    local: Local,
    messages: tuple[Message, ...],
    record: Record | None = None,
) -> tuple[Outcome, ...]:
    """All that the transition may do on these messages, given in content order; () if it is not enabled."""
    if record is not None and transition.flag >= 0:
        record.reads[transition.flag] = None
    if is_crashed(local) or (transition.flag >= 0 and local[transition.flag]):
        return ()
    if column.delivers_to is not None:
        return (Outcome(local, ((column.delivers_to, messages[0]),)),)
    outcomes = _paths(column, transition, local, messages, record)
    if column.spec.ends:
        return outcomes
    if transition.sample.note(_paths, (column, transition, local, messages), outcomes):
        require_unchanged(transition, messages)
    count = transition.sample.seen
    # Every power of two: often enough to find a handler that is not a function, rare enough to cost nothing. The sample
    # that is run again at the end finds more; but the search may have no end before this is found.
    if count & (count - 1) == 0:
        require_same(column, transition, messages, outcomes, _paths(column, transition, local, messages))
    return outcomes


def tried(
    column: Column, transition: Transition, local: Local, messages: tuple[Message, ...]
) -> tuple[Outcome, ...] | None:
    """The same, but kept nowhere; None where no code of the model would be run, or cells would have to be known."""
    if is_crashed(local) or (transition.flag >= 0 and local[transition.flag]):
        return None
    if column.delivers_to is not None or column.spec.ends:
        return None
    try:
        return _paths(column, transition, local, messages)
    except Unread:
        return None


def every_path(
    column: Column, transition: Transition, local: Local, messages: tuple[Message, ...]
) -> Iterator[tuple[list[int], Outcome]]:
    """Each path of choices through a handler with its outcome, in the order in which `fire` has them."""
    prefix: list[int] | None = []
    for _ in range(MAX_PATHS):
        if prefix is None:
            return
        choices = Choices(list(prefix))
        outcome = _one_path(column, transition, local, messages, choices)
        if outcome is not None:
            yield prefix, outcome
        prefix = choices.following()


def run_path(
    column: Column, transition: Transition, local: Local, messages: tuple[Message, ...], path: list[int]
) -> None:
    """Run a handler once more, by one path of its choices."""
    _one_path(column, transition, local, messages, Choices(list(path)))


def _one_path(
    column: Column, transition: Transition, local: Local, messages: tuple[Message, ...], choices: Choices
) -> Outcome | None:
    try:
        return supervised(partial(_attempt, column, transition, local, messages, choices, Record()))
    except NoOption:
        return None
    except Unread:
        raise
    except BaseException as error:
        return Outcome(None, choices=tuple(choices.taken), failure=failure_of(error, transition.location))


def observe(column: Column, local: Local, event: Event) -> Outcome:
    """What a monitor does about an event: its reactions to that type, in the order they are written."""
    reactions = [transition for transition in column.spec.transitions if transition.takes(event)]
    if not reactions:
        return Outcome(local)
    outcome = _observed(column, reactions, local, event)
    if reactions[0].sample.note(_observed, (column, reactions, local, event), outcome):
        require_unchanged(reactions[0], (event,))
    return outcome


def _observed(column: Column, reactions: list[Transition], local: Local, event: Event) -> Outcome:
    try:
        return Outcome(supervised(partial(_observe, column, reactions, local, event)))
    except BaseException as error:
        return Outcome(None, failure=failure_of(error, reactions[0].location))


def recovered(column: Column, local: Local) -> Local:
    """The local state in which a crashed process comes back: what is durable is kept, the rest begins anew.

    One-time steps may happen again.
    """
    spec = column.spec
    if spec.origin >= 0:
        beginning: Local = local[spec.origin]
        hidden = (*(False,) * (spec.origin - spec.visible), beginning)
    else:
        beginning = column.beginning
        hidden = (False,) * (len(spec.fields) - spec.visible)
    values = [local[at] if kept else beginning[at] for at, kept in enumerate(spec.durable)]
    return (*values, *hidden)


def is_within(column: Column, local: Local) -> bool:
    """Whether a local state satisfies the `within` of its process."""
    if column.spec.within is None:
        return True
    run = Run(column.pid, (), None, "`within`")
    self = instance(column, local, run)
    return _with_cells(run, lambda: supervised(partial(_bounded, column, self)))


def _bounded(column: Column, self: Automaton) -> bool:
    """Ask `within`. If it raises, that is no finding about the protocol."""
    within = column.spec.within
    assert within is not None
    what = f"{column.cls.__name__}.within"
    try:
        value = within(self)
        if not is_answer(value):
            raise returned(value, within, what, None)
        return bool(value)
    except BaseException as error:
        raise blame(f"`{what}`", error, location_of(within), "a bound needs an answer in every state") from None


def _prepare(column: Column, transition: Transition, local: Local, reads: dict[int, None] | None) -> Request | None:
    run = Run(column.pid, (), None, "a guard", Cells(column, local), reads)
    return _with_cells(run, lambda: _request(instance(column, local, run), transition))


def _request(self: Automaton, transition: Transition) -> Request | None:
    declaration = transition.declaration
    if declaration.when is not None and not _holds(transition, "when", declaration.when(self)):
        return None
    if declaration.size is not None:
        size = declaration.size
        size = getattr(self, size) if type(size) is str else size(self) if callable(size) else size
        if type(size) is not int or size < 1:
            what = show(size) if type(size) is int else f"{show(size)}, of type {type(size).__name__}"
            raise ModelError(
                f"{transition}: size is {what}",
                hint="a quorum has at least one message; when=lambda self: ... says when none is wanted",
                code="Q107",
                location=transition.location,
            )
        return Request(size=size)
    if declaration.each is not None:
        each = declaration.each
        pids = getattr(self, each) if isinstance(each, str) else each(self)
        senders = tuple(dict.fromkeys(pids if type(pids) is not Pid and isinstance(pids, Iterable) else [pids]))
        for pid in senders:
            if type(pid) is not Pid:
                raise ModelError(
                    f"{transition}: each names {pid!r}, which is not the identity of a process",
                    hint="each= gives identities: a field of type Peers, or lambda self: self.servers - {self.pid}",
                    code="Q107",
                    location=transition.location,
                )
        # A size below 1 is a mistake. A group that is empty now is not: nobody may have joined yet, or all may have
        # answered. Then there is nothing to consume.
        return Request(senders=senders) if senders else None
    return Request()


def _holds(transition: Transition, name: str, value: object) -> bool:
    """What a guard of a transition said."""
    if type(value) is bool:
        return value
    if not is_answer(value):
        guard = getattr(transition.declaration, name)
        raise returned(value, guard, f"`{name}` of {transition}", transition.location)
    return bool(value)


def _done(transition: Transition, value: object) -> None:
    """A handler gives nothing back. What does is often not run at all, like a coroutine that a decorator returns."""
    if value is not None:
        hint = "a handler changes fields and sends messages; its return value is ignored"
        raise returned(value, transition.function, str(transition), transition.location, hint)


def _accepts(
    column: Column, transition: Transition, local: Local, message: Message, reads: dict[int, None] | None
) -> bytes | None:
    declaration = transition.declaration
    if declaration.where is not None:
        where = declaration.where
        run = Run(column.pid, (), None, "a guard", Cells(column, local), reads)
        self = instance(column, local, run)
        if not _with_cells(run, lambda: _holds(transition, "where", where(self, message))):
            return None
    return b"" if declaration.same is None else _key(transition, message)


def _enabled(self: Any, transition: Transition, messages: tuple[Message, ...], received: ContentSet[Message]) -> bool:
    """The guards of a quorum transition on a whole set."""
    request = _request(self, transition)
    if request is None:
        return False
    declaration = transition.declaration
    if declaration.where is not None:
        for message in messages:
            if not _holds(transition, "where", declaration.where(self, message)):
                return False
    if request.size is not None and request.size != len(messages):
        return False
    if declaration.same is not None and len({_key(transition, message) for message in messages}) > 1:
        return False
    return declaration.enough is None or _holds(transition, "enough", declaration.enough(self, received))


def _key(transition: Transition, message: Message) -> bytes:
    """What the messages of one set must agree on, encoded."""
    same: Any = transition.declaration.same
    value = getattr(message, same) if isinstance(same, str) else same(message)
    try:
        return encode(value)
    except BadValueError as bad:
        raise ModelError(
            f"{transition}: same=... gives {show(bad.value)}, of type {type(bad.value).__name__}",
            hint=bad.advice,
            code="Q101",
            location=transition.location,
        ) from None


def _attempt(
    column: Column,
    transition: Transition,
    local: Local,
    messages: tuple[Message, ...],
    choices: Choices,
    record: Record,
) -> Outcome | None:
    """One path through the handler; None if a guard is false."""
    cells = Cells(column, local) if column.cells else None
    run = Run(column.pid, messages, choices, "a guard", cells, record.reads)
    RUNNING.now = Evaluation(run, column.ranks)
    try:
        if cells is None:
            return _run(column, transition, local, messages, choices, run, record)
        return _with_cells(run, lambda: _run(column, transition, local, messages, choices, run, record))
    finally:
        RUNNING.now = None


def _run(
    column: Column,
    transition: Transition,
    local: Local,
    messages: tuple[Message, ...],
    choices: Choices,
    run: Run,
    record: Record,
) -> Outcome | None:
    self: Any = instance(column, local, run)
    declaration = transition.declaration
    kind = transition.kind
    if kind == "on":
        message = messages[0]
        if declaration.when is not None and not _holds(transition, "when", declaration.when(self, message)):
            return None
        run.closed = ""
        done = transition.function(self, message)
    elif kind == "quorum":
        received: ContentSet[Message] = ContentSet.ordered(messages)
        if not _enabled(self, transition, messages, received):
            return None
        run.closed = ""
        done = transition.function(self, received)
    else:
        if declaration.when is not None and not _holds(transition, "when", declaration.when(self)):
            return None
        run.closed = ""
        done = transition.function(self)
    if done is not None:
        _done(transition, done)
    spec = column.spec
    if spec.within is not None:
        run.closed = "`within`"
        if not _bounded(column, self):
            return Outcome(None, choices=tuple(choices.taken), cut=True)
    after = _fields_of(self, transition)
    record.moved(map(self._places.__getitem__, held_by(self)))
    if len(local) > spec.visible:
        flags = local[spec.visible :]
        if transition.flag >= 0:
            at = transition.flag - spec.visible
            flags = (*flags[:at], True, *flags[at + 1 :])
        after += flags
    sends = run.sends
    if column.routes is not None:
        sends = [(column.routes[receiver], message) for receiver, message in sends]
    reads = tuple(run.cells.read.items()) if run.cells is not None else ()
    return Outcome(after, tuple(sends), (*run.events, *run.writes()), tuple(choices.taken), reads=reads)


def _paths(
    column: Column,
    transition: Transition,
    local: Local,
    messages: tuple[Message, ...],
    record: Record | None = None,
) -> tuple[Outcome, ...]:
    """One outcome per path of choices, those that do the same only once."""
    noted = Record() if record is None else record
    found: list[Outcome] = []
    prefix: list[int] | None = []
    paths = 0
    while prefix is not None:
        paths += 1
        choices: Choices | None = None

        def attempt(prefix: list[int] = prefix) -> Outcome | None:
            nonlocal choices
            choices = Choices(list(prefix))
            return _attempt(column, transition, local, messages, choices, noted)

        try:
            outcome = supervised(attempt)
        except NoOption:
            outcome = None
        except Unread:
            raise
        except BaseException as error:
            taken = tuple(choices.taken) if choices is not None else ()
            outcome = Outcome(None, choices=taken, failure=failure_of(error, transition.location))
            if isinstance(error, LimitError):
                return (*found, outcome)  # most likely the other ways, which may be countless, reach that limit as well
        if outcome is not None:
            found.append(outcome)
        prefix = choices.following() if choices is not None else None
        if paths >= MAX_PATHS and prefix is not None:
            text = f"{transition} has more than {MAX_PATHS} ways through its choices"
            place = transition.location
            failure = Failure("model", text, place.file, place.line, "choose among fewer options", "Q501")
            return (Outcome(None, failure=failure),)
    if len(found) < 2:
        return tuple(found)
    distinct: dict[bytes, Outcome] = {}
    for outcome in found:
        distinct.setdefault(signature(outcome), outcome)
    return tuple(distinct.values())


def _observe(column: Column, reactions: list[Transition], local: Local, event: Event) -> Local:
    self: Any = instance(column, local, Run(None, (), None, WATCHING))
    for transition in reactions:
        when = transition.declaration.when
        if when is None or _holds(transition, "when", when(self, event)):
            _done(transition, transition.function(self, event))
    return _fields_of(self, reactions[-1])


def _fields_of(self: Automaton, transition: Transition) -> Local:
    """The local state after a run: the fields, in their order, and nothing beside them.

    What else got into the object would be lost with it: every run has a new one. So it is refused, also what
    `functools.cached_property` puts there: `within` would be asked about values of before the step.
    """
    held, fields, run = held_by(self), self._fields, self._run
    name = next((name for name in held if name not in fields), "")
    if not name and not run.opened:
        places = self._places
        after = list(run.local[: len(fields)])
        for assigned, value in held.items():
            after[places[assigned]] = value
        return tuple(after)
    if list(held) == list(fields):
        return tuple(held.values())
    error = self._undeclared(name) if name else self._rearranged()
    if isinstance(getattr(type(self), name, None), cached_property):
        error.message = f"{type(self).__name__}.{name} is a cached_property, which keeps its value beside the fields"
        error.hint = "use @property: a handler is run once for each distinct state and messages"
    error.location = transition.location
    raise error
