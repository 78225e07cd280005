"""Lemmas: what a proof by induction may rest on, and has to prove itself.

    @lemma
    def voted_before(self, p: Participant, m: Decision) -> bool:
        return not m.commit or p.willing is True

A lemma holds for all values of its parameters: processes of a class, messages of a class that were ever sent (or, with
`Pending[Decision]`, that are pending). `quorate prove` proves it together with the invariants; `quorate check` tests
lemmas about processes like invariants.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from itertools import product
from types import CodeType, FunctionType
from typing import Annotated, Any, NamedTuple, TypeVar

from quorate.base.errors import Location, ModelError, caller
from quorate.base.places import location_of
from quorate.language.automaton import Automaton
from quorate.language.forbidden import refuse_suspended
from quorate.language.lost import note_declared
from quorate.language.message import Message
from quorate.language.monitor import Monitor

LEMMA_MARK = "__quorate_lemma__"
"""The attribute by which a lemma is known."""

F = TypeVar("F", bound=Callable[..., bool])
M = TypeVar("M")


class _Pending: ...


PENDING = _Pending()
Pending = Annotated[M, PENDING]
"""In a lemma: for all messages that are pending, not for all that were ever sent."""


def lemma(function: F) -> F:
    """A property for `quorate prove` to rest on, for all values of its annotated parameters."""
    if not isinstance(function, FunctionType):
        raise ModelError(
            "@lemma goes on a method of a System",
            hint="@lemma\ndef name(self, p: Participant) -> bool: ...",
            code="Q106",
            location=caller(),
        )
    refuse_suspended(function, function.__qualname__)
    code = function.__code__
    for name in code.co_varnames[1 : code.co_argcount]:
        if name not in function.__annotations__:
            raise ModelError(
                f"{function.__qualname__}: the parameter `{name}` has no type, so nobody knows what it ranges over",
                hint=f"annotate it with a class of processes or messages: `{name}: Participant`",
                code="Q106",
                location=Location(code.co_filename, code.co_firstlineno),
            )
    setattr(function, LEMMA_MARK, True)
    note_declared(function)
    return function


def is_lemma(value: Any) -> bool:
    return isinstance(value, FunctionType) and hasattr(value, LEMMA_MARK)


class Parameter(NamedTuple):
    """What a parameter of a lemma ranges over."""

    name: str
    cls: type
    pending: bool = False

    @property
    def is_message(self) -> bool:
        return issubclass(self.cls, Message)


def parameters_of(function: Any) -> list[Parameter]:
    """The parameters of a lemma, by their annotations."""
    place = location_of(function)
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        raise ModelError(
            f"{function.__qualname__}: its annotations cannot be read: {error}",
            hint="define the classes at the top of the module",
            code="Q106",
            location=place,
        ) from None
    found: list[Parameter] = []
    for name in list(inspect.signature(function).parameters)[1:]:
        hint = hints[name]
        pending = typing.get_origin(hint) is typing.Annotated and PENDING in typing.get_args(hint)
        cls = typing.get_args(hint)[0] if pending else hint
        if not (isinstance(cls, type) and issubclass(cls, (Automaton, Message))):
            raise ModelError(
                f"{function.__qualname__}: the parameter `{name}` is neither a process nor a message",
                hint=f"annotate it with a class of processes or messages: `{name}: Participant`, "
                f"`{name}: Pending[Decision]`",
                code="Q106",
                location=place,
            )
        found.append(Parameter(name, cls, pending))
    return found


def lemma_functions(cls: type) -> dict[str, Any]:
    """The lemmas of a system class by name; an override without the decorator takes one away."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found.update({name: value for name, value in vars(base).items() if is_lemma(value)})
    return {name: value for name, value in found.items() if getattr(cls, name, None) is value}


def as_invariant(function: Any) -> Callable[[Any], bool] | None:
    """The lemma for all of its processes; None if it is about messages, of which no state of a search has a history."""
    parameters = parameters_of(function)
    if any(each.is_message for each in parameters) or _names(function.__code__) & {
        "ever_sent",
        "ever_sent_any",
        "has_started",
    }:
        return None

    def holds(self: Any) -> bool:
        ranges = [[self[each.cls]] if issubclass(each.cls, Monitor) else self[each.cls] for each in parameters]
        return all(function(self, *chosen) for chosen in product(*ranges))

    setattr(holds, LEMMA_MARK, True)
    holds.__name__ = function.__name__
    return holds


def _names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found
