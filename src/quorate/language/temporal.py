"""Temporal properties: what must happen, not only what must not.

Decorators for the usual shapes, formulas for the rest.

    @eventually
    def decided(self) -> bool: ...                      # F decided

    @leads_to("served")
    def waiting(self) -> bool: ...                      # G(waiting -> F served)

    no_starvation = ltl("G(waiting -> F !waiting)")     # any formula of LTL without next, over names of methods
    can_always_recover = ctl("AG EF decided")

A name in a formula is a method of the System without parameters that returns a bool. With `each=Client` there is one
property for every client, and the methods it names take that client as their parameter; with `each=Request`, a class of
messages, for everybody who sends such messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal, NamedTuple, TypeVar, overload

from quorate.base.errors import Location, ModelError, caller
from quorate.language.declared import TEMPORAL_MARK, refuse_twice
from quorate.language.forbidden import refuse_suspended
from quorate.language.lost import note_applied, note_declared, note_stated, note_waiting
from quorate.language.message import Message
from quorate.language.process import Process

Shape = Literal["eventually", "leads_to", "repeatedly", "stably", "ltl", "ctl"]
Each = type[Process] | type[Message]
S = TypeVar("S")
F = TypeVar("F", bound=Callable[..., bool])


class Named:
    """Something of a system that formulas can name, with a dot: `w.began` where `w` has a predicate `began`."""

    def predicates(self) -> Mapping[str, Callable[[Any], bool]]:
        """By what stands behind the dot."""
        raise NotImplementedError


class Expanded(NamedTuple):
    """One of the formulas that a property about all operations stands for, and what its names mean."""

    which: str
    formula: str
    methods: Mapping[str, Callable[[Any], bool]]


Expand = Callable[[Any, Callable[[type], int]], Iterable[Expanded]]
"""Given a system and how many processes of a class it has."""


@dataclass(frozen=True)
class Stated:
    """A temporal property as it was written. `formula` is empty for the decorators, whose shape says it."""

    shape: Shape
    formula: str = ""
    goal: str | Callable[..., bool] | None = None
    each: Each | None = None
    location: Location | None = None
    expand: Expand | None = None
    """Of a property that is one formula for each of several things."""


@overload
def eventually(function: F, /) -> F: ...
@overload
def eventually(*, each: Each) -> Callable[[F], F]: ...


def eventually(function: Any = None, /, *, each: Each | None = None) -> Any:
    """It holds at some time in every run: F p."""
    return _decorator("eventually", function, each)


@overload
def repeatedly(function: F, /) -> F: ...
@overload
def repeatedly(*, each: Each) -> Callable[[F], F]: ...


def repeatedly(function: Any = None, /, *, each: Each | None = None) -> Any:
    """It holds again and again in every run: G F p."""
    return _decorator("repeatedly", function, each)


@overload
def stably(function: F, /) -> F: ...
@overload
def stably(*, each: Each) -> Callable[[F], F]: ...


def stably(function: Any = None, /, *, each: Each | None = None) -> Any:
    """From some time on it holds for ever, in every run: F G p."""
    return _decorator("stably", function, each)


def leads_to(goal: str | Callable[..., bool], *, each: Each | None = None) -> Callable[[F], F]:
    """Whenever it holds, the goal holds then or later: G(p -> F goal). The goal is a method's name, or a function."""
    if not isinstance(goal, str | FunctionType):
        raise _refused(
            f"@leads_to({goal!r}): the goal is the name of a method, or a function of the system",
            '@leads_to("served"), or @leads_to(lambda self: ...)',
        )
    if isinstance(goal, FunctionType):
        refuse_suspended(goal, "the goal of @leads_to")
    mark: Callable[[F], F] = _decorator("leads_to", None, each, goal)
    return mark


def ltl(formula: str, *, each: Each | None = None) -> Stated:
    """A formula of LTL without next, true of every run: `name = ltl("G(waiting -> F served)")`."""
    return _formula("ltl", formula, each)


def ctl(formula: str, *, each: Each | None = None) -> Stated:
    """A formula of CTL or CTL* without next, true of every initial state: `name = ctl("AG EF decided")`."""
    return _formula("ctl", formula, each)


def _formula(shape: Literal["ltl", "ctl"], formula: str, each: Each | None) -> Stated:
    if not isinstance(formula, str):
        raise _refused(f"{shape}({formula!r}): a formula is a text", f'{shape}("G(p -> F q)")')
    _process(shape, each)
    stated = Stated(shape, formula, None, each, caller())
    note_stated(stated)
    return stated


def _decorator(shape: Shape, function: Any, each: Each | None, goal: Any = None) -> Any:
    _process(shape, each)

    def mark(method: Any) -> Any:
        if not isinstance(method, FunctionType):
            raise _refused(f"@{shape} goes on a method of a System", f"@{shape}\ndef name(self) -> bool: ...")
        refuse_suspended(method, method.__qualname__)
        refuse_twice(method)
        setattr(method, TEMPORAL_MARK, Stated(shape, "", goal, each))
        note_declared(method)
        note_applied(mark)
        return method

    note_waiting(mark, '@leads_to("goal")' if shape == "leads_to" else f"@{shape}(each=...)")
    return mark if function is None else mark(function)


def _process(shape: str, each: object) -> None:
    if each is not None and not (isinstance(each, type) and issubclass(each, Process | Message)):
        raise _refused(
            f"{shape}(each={each!r}): name a class of processes, or of messages for those who send them",
            "each=Client, after `class Client(Process)`",
        )


def _refused(message: str, hint: str) -> ModelError:
    return ModelError(message, hint=hint, code="Q409", location=caller())
