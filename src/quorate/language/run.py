"""Running one handler: the only place where a protocol's code is executed.

Every function here is pure and may be asked about combinations that no run ever meets, since the analysis asks about
all that might. A raise is an outcome like any other then: kept, compared, reported where the search gets to it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from quorate.language.automaton import MISSING, Automaton, attach
from quorate.language.choices import MAX_PATHS, Choices, NoOption
from quorate.language.definition import Column, Transition
from quorate.language.errors import ModelError
from quorate.language.failures import failure_of
from quorate.language.message import Event, Message
from quorate.language.outcome import Failure, Local, Outcome, Request, is_crashed
from quorate.language.pid import Pid
from quorate.language.values import BadValueError, ContentSet, encode
from quorate.language.watchdog import Endless, supervised

_new = object.__new__


class Run:
    """What one run of a handler does besides changing fields."""

    __slots__ = ("choices", "closed", "events", "messages", "pid", "sends")

    def __init__(self, pid: Pid | None, messages: tuple[Message, ...], choices: Choices | None, closed: str) -> None:
        self.pid = pid
        self.messages = messages
        self.choices = choices
        self.closed = closed
        self.sends: list[tuple[int, Message]] = []
        self.events: list[Event] = []


def instance(column: Column, local: Local, run: Run) -> Automaton:
    """An object of the process's class in a local state."""
    self = _new(column.spec.cls)
    # zip stops at the shorter: the hidden flags at the end of the local state are no attributes.
    self.__dict__.update(zip(column.spec.cls._fields, local))  # noqa: B905
    attach(self, run)
    return self


def prepare(column: Column, transition: Transition, local: Local) -> Request | None:
    """What a quorum transition asks for in this local state; None if its `when` is false.

    If a guard raises, one message is asked for, and `fire` then tells of the failure.
    """
    if is_crashed(local):
        return None
    try:
        return supervised(partial(_prepare, column, transition, local))
    except (Exception, SystemExit, Endless):
        return Request(size=1)


def accepts(column: Column, transition: Transition, local: Local, message: Message) -> bytes | None:
    """None if the `where` of a quorum transition rejects the message, else what the messages of a set must agree on."""
    if is_crashed(local) or not transition.takes(message):
        return None
    declaration = transition.declaration
    if declaration.where is None and declaration.same is None:
        return b""
    try:
        return supervised(partial(_accepts, column, transition, local, message))
    except (Exception, SystemExit, Endless):
        return b""  # taken as accepted, so that `fire` gets to the failure


def fire(column: Column, transition: Transition, local: Local, messages: tuple[Message, ...]) -> tuple[Outcome, ...]:
    """All that the transition may do on these messages, given in content order; () if it is not enabled."""
    if is_crashed(local) or (transition.flag >= 0 and local[transition.flag]):
        return ()
    if column.delivers_to is not None:
        return (Outcome(local, ((column.delivers_to, messages[0]),)),)
    outcomes = _paths(column, transition, local, messages)
    count = transition.evaluations = transition.evaluations + 1
    # Every power of two: often enough to find a handler that is not a function, rare enough to cost nothing.
    if count & (count - 1) == 0 and not any(_endless(outcome) for outcome in outcomes):
        difference = _second_run(column, transition, local, messages, outcomes)
        if difference is not None:
            return (Outcome(None, failure=difference),)
    return outcomes


def observe(column: Column, local: Local, event: Event) -> Outcome:
    """What a monitor does about an event: its reactions to that type, in the order they are written."""
    reactions = [transition for transition in column.spec.transitions if transition.takes(event)]
    if not reactions:
        return Outcome(local)
    try:
        return Outcome(supervised(partial(_observe, column, reactions, local, event)))
    except (Exception, SystemExit, Endless) as error:
        return Outcome(None, failure=failure_of(error, reactions[0].location))


def recovered(column: Column, local: Local) -> Local:
    """The local state in which a crashed process comes back: what is durable is kept, the rest begins anew.

    A field without a default was given by `build` and is kept as well; one-time steps may happen again.
    """
    cls = column.spec.cls
    durable: tuple[str, ...] = getattr(cls, "durable", ())
    values = [
        value if name in durable or default is MISSING else default
        for (name, default), value in zip(cls._fields.items(), local, strict=False)
    ]
    return (*values, *(False,) * (len(column.spec.fields) - column.spec.visible))


def is_within(column: Column, local: Local) -> bool:
    """Whether a local state satisfies the `within` of its process."""
    within = column.spec.within
    if within is None:
        return True
    return bool(within(instance(column, local, Run(column.pid, (), None, "`within`"))))


def _prepare(column: Column, transition: Transition, local: Local) -> Request | None:
    return _request(instance(column, local, Run(column.pid, (), None, "a guard")), transition)


def _request(self: Automaton, transition: Transition) -> Request | None:
    declaration = transition.declaration
    if declaration.when is not None and not declaration.when(self):
        return None
    if declaration.size is not None:
        size = declaration.size
        size = self.__dict__[size] if type(size) is str else size(self) if callable(size) else size
        if type(size) is not int:
            raise ModelError(
                f"{transition}: size is {size!r}, of type {type(size).__name__}",
                hint="a quorum's size is an int",
                code="Q107",
                location=transition.location,
            )
        return Request(size=size) if size > 0 else None
    if declaration.each is not None:
        each = declaration.each
        pids = self.__dict__[each] if isinstance(each, str) else each(self)
        senders = tuple(dict.fromkeys([pids] if type(pids) is Pid else pids))
        for pid in senders:
            if type(pid) is not Pid:
                raise ModelError(
                    f"{transition}: each names {pid!r}, which is not the identity of a process",
                    hint="each= gives identities: a field of type Peers, or lambda self: self.servers - {self.pid}",
                    code="Q107",
                    location=transition.location,
                )
        return Request(senders=senders) if senders else None
    return Request()


def _accepts(column: Column, transition: Transition, local: Local, message: Message) -> bytes | None:
    declaration = transition.declaration
    if declaration.where is not None:
        self = instance(column, local, Run(column.pid, (), None, "a guard"))
        if not declaration.where(self, message):
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
            if not declaration.where(self, message):
                return False
    if request.size is not None and request.size != len(messages):
        return False
    if declaration.same is not None and len({_key(transition, message) for message in messages}) > 1:
        return False
    return declaration.enough is None or bool(declaration.enough(self, received))


def _key(transition: Transition, message: Message) -> bytes:
    """What the messages of one set must agree on, encoded."""
    same: Any = transition.declaration.same
    value = getattr(message, same) if isinstance(same, str) else same(message)
    try:
        return encode(value)
    except BadValueError as bad:
        raise ModelError(
            f"{transition}: same=... gives {bad.value!r}, of type {type(bad.value).__name__}",
            hint=bad.advice,
            code="Q101",
            location=transition.location,
        ) from None


def _attempt(
    column: Column, transition: Transition, local: Local, messages: tuple[Message, ...], choices: Choices
) -> Outcome | None:
    """One path through the handler; None if a guard is false."""
    run = Run(column.pid, messages, choices, "a guard")
    self: Any = instance(column, local, run)
    declaration = transition.declaration
    kind = transition.kind
    if kind == "on":
        message = messages[0]
        if declaration.when is not None and not declaration.when(self, message):
            return None
        run.closed = ""
        transition.function(self, message)
    elif kind == "quorum":
        received: ContentSet[Message] = ContentSet.ordered(messages)
        if not _enabled(self, transition, messages, received):
            return None
        run.closed = ""
        transition.function(self, received)
    else:
        if declaration.when is not None and not declaration.when(self):
            return None
        run.closed = ""
        transition.function(self)
    spec = column.spec
    if spec.within is not None:
        run.closed = "`within`"
        if not spec.within(self):
            return Outcome(None, choices=tuple(choices.taken), cut=True)
    after = tuple(self.__dict__.values())
    if len(after) != spec.visible:
        error: ModelError = self._undeclared(next(name for name in self.__dict__ if name not in spec.fields))
        error.location = transition.location
        raise error
    if len(local) > spec.visible:
        flags = local[spec.visible :]
        if transition.flag >= 0:
            at = transition.flag - spec.visible
            flags = (*flags[:at], True, *flags[at + 1 :])
        after += flags
    sends = run.sends
    if column.routes is not None:
        sends = [(column.routes[receiver], message) for receiver, message in sends]
    return Outcome(after, tuple(sends), tuple(run.events), tuple(choices.taken))


def _paths(column: Column, transition: Transition, local: Local, messages: tuple[Message, ...]) -> tuple[Outcome, ...]:
    """One outcome per path of choices, those that do the same only once."""
    found: list[Outcome] = []
    prefix: list[int] | None = []
    paths = 0
    while prefix is not None:
        paths += 1
        choices: Choices | None = None

        def attempt(prefix: list[int] = prefix) -> Outcome | None:
            nonlocal choices
            choices = Choices(list(prefix))  # afresh, since the watchdog may run it twice
            return _attempt(column, transition, local, messages, choices)

        try:
            # What attackers learn can let them say so much that the patrol would take it for endless.
            outcome = attempt() if column.spec.ends else supervised(attempt)
        except NoOption:
            outcome = None
        except (Exception, SystemExit, Endless) as error:
            taken = tuple(choices.taken) if choices is not None else ()
            outcome = Outcome(None, choices=taken, failure=failure_of(error, transition.location))
        if outcome is not None:
            found.append(outcome)
        prefix = choices.following() if choices is not None else None
        if paths >= MAX_PATHS and prefix is not None:
            text = f"{transition} has more than {MAX_PATHS} ways through its choices"
            place = transition.location
            return (
                Outcome(None, failure=Failure("model", text, place.file, place.line, "choose among fewer options")),
            )
    if len(found) < 2:
        return tuple(found)
    distinct: dict[bytes, Outcome] = {}
    for outcome in found:
        distinct.setdefault(signature(outcome), outcome)
    return tuple(distinct.values())


def _endless(outcome: Outcome) -> bool:
    return outcome.failure is not None and outcome.failure.code == "Q114"


def signature(outcome: Outcome) -> bytes:
    """What an outcome does, without the choices that led there. The text of a failure may hold an address: left out."""
    failure = outcome.failure
    why = None if failure is None else (failure.kind, failure.file, failure.line)
    return encode((outcome.local, outcome.sends, outcome.events, outcome.cut, why))


def _second_run(
    column: Column,
    transition: Transition,
    local: Local,
    messages: tuple[Message, ...],
    outcomes: tuple[Outcome, ...],
) -> Failure | None:
    again = _paths(column, transition, local, messages)
    place = transition.location
    for message in messages:
        if not _unchanged(message):
            return Failure(
                "model",
                f"{transition} changes the {type(message).__name__} it received",
                place.file,
                place.line,
                "messages are immutable, also by way of object.__setattr__: make a new one",
                "Q103",
            )
    if [signature(outcome) for outcome in outcomes] == [signature(outcome) for outcome in again]:
        return None
    return Failure(
        "model",
        f"{transition} did something else when it was run again on the same state and messages"
        + _first_difference(column, outcomes, again),
        place.file,
        place.line,
        "usual causes: random, time, id(), a global or class attribute that changes, the order of a set of str; "
        "for chance use self.choose(options), for memory a field",
        "Q104",
    )


def _unchanged(message: Message) -> bool:
    cached = message.__dict__.get("_encoded")
    if cached is None:
        return True
    fresh = _new(type(message))
    fresh.__dict__.update({name: value for name, value in message.__dict__.items() if name != "_encoded"})
    return bool(encode(fresh) == cached)


def _first_difference(column: Column, first: tuple[Outcome, ...], second: tuple[Outcome, ...]) -> str:
    from quorate.language.values import show

    for one, two in zip(first, second, strict=False):
        if one.local is not None and two.local is not None:
            for name, before, after in zip(column.fields, one.local, two.local, strict=True):
                if encode(before) != encode(after):
                    return f": {column.cls.__name__}.{name} became {show(before)} first and {show(after)} then"
        if encode(one.sends) != encode(two.sends):
            return ": it sent other messages"
        if encode(one.events) != encode(two.events):
            return ": it emitted other events"
    return ""


def _observe(column: Column, reactions: list[Transition], local: Local, event: Event) -> Local:
    self: Any = instance(column, local, Run(None, (), None, "a monitor"))
    for transition in reactions:
        when = transition.declaration.when
        if when is None or when(self, event):
            transition.function(self, event)
    return tuple(self.__dict__.values())
