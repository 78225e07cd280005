"""Evaluations that are to be done again, later and in another order, to see whether the answers are the same.

A model that remembers something outside of its fields answers by what it was asked before (docs/soundness.md, rule 19).
Asked the same twice in a row, it may well say the same twice. So a sample of all questions is kept until the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from quorate.base.errors import ModelError
from quorate.base.places import member_location
from quorate.base.values import BadValueError, encode, show
from quorate.language.message import Event, Message, Record, bad_field
from quorate.model.outcome import Local, Outcome

if TYPE_CHECKING:
    from quorate.model.definition import Column, Transition

FIRST = 256
EVERY = 16
MOST = 4096
"""Of every transition and property the first evaluations are kept, which are all that small models have. Then every
16th, so that repeating them costs a sixteenth of what they cost; and if that becomes too many, every 32nd, 64th, ..."""

CAUSES = (
    "usual causes: random, time, id(), a global or class attribute that changes, the order of a set of str; "
    "for chance use self.choose(options), for memory a field"
)


class Evaluation(NamedTuple):
    """What was asked, and what was the answer."""

    ask: Callable[..., Any]
    given: tuple[Any, ...]
    answer: Any


class Sample:
    """Those evaluations of one transition or property that are to be done again."""

    __slots__ = ("_every", "kept", "seen")

    def __init__(self) -> None:
        self.seen = 0
        self.kept: list[Evaluation] = []
        self._every = EVERY

    def note(self, ask: Callable[..., Any], given: tuple[Any, ...], answer: Any) -> bool:
        """Keep an evaluation, or pass it over; whether it is kept."""
        self.seen += 1
        if self.seen > FIRST and self.seen % self._every:
            return False
        self.kept.append(Evaluation(ask, given, answer))
        if len(self.kept) == MOST:
            self.kept = self.kept[1::2]
            self._every *= 2
        return True


def signature(outcome: Outcome) -> bytes:
    """What an outcome does, without the choices that led there. The text of a failure may hold an address: left out."""
    failure = outcome.failure
    why = None if failure is None else (failure.kind, failure.file, failure.line)
    return encode((outcome.local, outcome.sends, outcome.events, outcome.cut, why))


def require_same(
    column: Column,
    transition: Transition,
    messages: tuple[Message, ...],
    outcomes: tuple[Outcome, ...],
    again: tuple[Outcome, ...],
) -> None:
    """Refuse a handler that does something else on the same state and messages.

    At once, not as an outcome that is reported where the search gets to it: which evaluations are done twice is no part
    of what a transition does.
    """
    require_unchanged(transition, messages)
    try:
        if len(outcomes) == len(again) and all(map(alike, outcomes, again)):
            return
    except BadValueError:
        raise smuggled(column, next(one.local for one in outcomes if one.local is not None)) from None
    raise ModelError(
        f"{transition} behaved differently when it was run again on the same state and messages"
        + _first_difference(column, outcomes, again),
        hint=CAUSES,
        code="Q104",
        location=transition.location,
    )


def require_unchanged(transition: Transition, given: Iterable[Message | Event]) -> None:
    """Refuse a handler that changes what it was given. Run a second time, it may have changed it back."""
    for each in given:
        if not _unchanged(each):
            raise ModelError(
                f"{transition} changes the {type(each).__name__} it received",
                hint="messages are immutable, also by way of object.__setattr__: make a new one",
                code="Q103",
                location=transition.location,
            )


def differs(transition: Transition) -> ModelError:
    """The error for a transition that read or did something else where all that it had read was the same."""
    return ModelError(
        f"{transition} behaved differently in two local states that agree on every field it has read",
        hint=CAUSES,
        code="Q104",
        location=transition.location,
    )


def smuggled(column: Column, local: Local) -> ModelError:
    """The error for a value that got into a field past the assignment that would have refused it."""
    for name, value in zip(column.fields, local, strict=True):
        try:
            encode(value)
        except BadValueError as bad:
            error = bad_field(column.cls, name, bad)
            error.location = member_location(column.cls, name)
            return error
    raise AssertionError("only called for values that cannot be encoded")


def alike(one: Outcome, two: Outcome) -> bool:
    """Where a recursion without end gives up, or the memory, depends on what else is there."""
    for limit in ("RecursionError", "MemoryError"):
        if all(each.failure is not None and each.failure.text.startswith(limit) for each in (one, two)):
            return True
    return signature(one) == signature(two)


def _unchanged(value: Any) -> bool:
    """Whether a message, an event, and whatever records are inside of it are still what they were encoded as."""
    if isinstance(value, tuple | frozenset):
        return all(map(_unchanged, value))
    cached = value.__dict__.get("_encoded") if isinstance(value, Record) else None
    if cached is None:
        return True
    fresh = object.__new__(type(value))
    fresh.__dict__.update({name: inside for name, inside in value.__dict__.items() if name != "_encoded"})
    return bool(encode(fresh) == cached) and all(map(_unchanged, fresh.__dict__.values()))


def _first_difference(column: Column, first: tuple[Outcome, ...], second: tuple[Outcome, ...]) -> str:
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
