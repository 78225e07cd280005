"""What is declared in the body of a class, and would be lost: refused when the class is complete.

    @on(Prepare)
    def receive(self, m: Prepare) -> None: ...

    @on(Commit)
    def receive(self, m: Commit) -> None: ...     # the class has one `receive`, and never takes a Prepare

Python keeps the last of two methods of one name, and of two bases with a method of one name that of the first. A
decorator on top of `@on` may put something else in its place: a function of its own, a `staticmethod`, a `property`.
Either way a model would hold for want of a step, or of a property (docs/soundness.md, rule 43).
"""

from __future__ import annotations

import sys
from types import FrameType, FunctionType
from typing import Any

from quorate.base.errors import Location, ModelError, caller, is_own_file
from quorate.base.places import class_location, location_of

_NOTED = "__quorate_declared__"
"""In the body of a class: the functions that were declared there."""
_STATED = "__quorate_stated__"
"""The same of formulas, which are values."""
_WAITING = "__quorate_waiting__"
"""Of a decorator that stands on no method yet: how it is written, and where it was."""
_OPTIMIZED = 0x1
"""Of the flags of a code object: its variables are those of a function, not of the body of a class."""
_ABSTRACT = 1 << 20
"""Of the flags of a class: some of its methods are abstract."""


def note_declared(function: FunctionType) -> None:
    """Write down that a function was declared, in the body of the class in which it stands."""
    scope = function.__qualname__.rpartition(".")[0]
    frame = sys._getframe(1) if scope else None
    while frame is not None:
        if not frame.f_code.co_flags & _OPTIMIZED and frame.f_locals.get("__qualname__") == scope:
            frame.f_locals.setdefault(_NOTED, []).append(function)
            return
        frame = frame.f_back


def note_waiting(decorator: Any, written: str) -> None:
    """Write down that a decorator was made; if it is kept in a class before it has decorated anything, it is lost."""
    setattr(decorator, _WAITING, (written, caller()))


def note_applied(decorator: Any) -> None:
    vars(decorator).pop(_WAITING, None)


def note_stated(stated: Any) -> None:
    """Write down that a formula was stated, if that is in the body of a class and not in a function."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None and not frame.f_code.co_flags & _OPTIMIZED and "__qualname__" in frame.f_locals:
        frame.f_locals.setdefault(_STATED, []).append(stated)


def refuse_lost(cls: type, language: tuple[type, ...]) -> None:
    """Refuse a class that has lost what was declared in its body, or in that of a mixin.

    `language` are the classes of which this is done for each by itself.
    """
    for base in cls.__mro__:
        if base is cls or not issubclass(base, language):
            _refuse_lost_in(base)
            _refuse_unnamed(base)
            _refuse_waiting(base)
    for noted in (_NOTED, _STATED):
        if noted in vars(cls):
            delattr(cls, noted)


def _refuse_lost_in(cls: type) -> None:
    members = vars(cls)
    kept = {id(function) for value in members.values() for function in _unwrapped(value)}
    for function in members.get(_NOTED, ()):
        name = function.__name__
        if id(function) in kept or name not in members:
            continue
        place = location_of(function)
        there = location_of(members[name]) if isinstance(members[name], FunctionType) else None
        if there is not None and place is not None and there.file == place.file and there.line > place.line:
            raise ModelError(
                f"{cls.__name__}.{name} is declared in line {place.line}, and lost: line {there.line} has another "
                f"`{name}`",
                hint="give each method a name of its own",
                code="Q106",
                location=there,
            )
        raise ModelError(
            f"{cls.__name__}.{name} is declared, and lost: a decorator above it makes something else of it",
            hint="write the decorator of the language first, above all others; or let the others use functools.wraps",
            code="Q106",
            location=place,
        )


def _refuse_unnamed(cls: type) -> None:
    members = [id(value) for value in vars(cls).values()]
    for stated in vars(cls).get(_STATED, ()):
        if id(stated) not in members:
            raise ModelError(
                f'{cls.__name__}: {stated.shape}("{stated.formula}") is stated, and lost: no attribute is this formula',
                hint="give each formula a name of its own in the body of the class",
                code="Q106",
                location=stated.location,
            )


def _refuse_waiting(cls: type) -> None:
    for name, value in vars(cls).items():
        waiting = getattr(value, _WAITING, None) if isinstance(value, FunctionType) else None
        if waiting is not None:
            written, place = waiting
            raise ModelError(
                f"{cls.__name__}.{name}: {written} stands on no method, so nothing is declared",
                hint=f"write {written} above `def {name}(self, ...)`",
                code="Q106",
                location=place,
            )


def _unwrapped(value: Any) -> list[FunctionType]:
    """A function, and what it wraps by `functools.wraps`, which keeps what was declared."""
    found: list[FunctionType] = []
    while isinstance(value, FunctionType) and value not in found:
        found.append(value)
        value = getattr(value, "__wrapped__", None)
    return found


def refuse_hidden(cls: type, name: str, declaring: list[type], language: type, what: str) -> None:
    """Refuse a class that has two bases with something of one name, neither an override of the other: one is lost."""
    first = next(base for base in cls.__mro__ if name in vars(base))
    for base in declaring:
        if issubclass(base, language) and issubclass(first, language) and not issubclass(first, base):
            raise ModelError(
                f"{cls.__name__} has two {what} `{name}`, of {first.__name__} and {base.__name__}: the second is lost",
                hint=f"give one of them another name, or write a `{name}` in {cls.__name__} that stands for both",
                code="Q106",
                location=class_location(cls),
            )


def refuse_undurable(cls: type, process: type) -> None:
    """Refuse a class of two roles that each say what is durable: Python takes what the first says."""
    kept: tuple[str, ...] = getattr(cls, "durable", ())
    first = next(base for base in cls.__mro__ if "durable" in vars(base))
    for base in cls.__mro__:
        lost = [name for name in vars(base).get("durable", ()) if name not in kept]
        if lost and issubclass(base, process) and issubclass(first, process) and not issubclass(first, base):
            raise ModelError(
                f"{cls.__name__} has two `durable`, of {first.__name__} and {base.__name__}: `{lost[0]}` of the second "
                "is lost",
                hint=f"write `durable = (*{first.__name__}.durable, *{base.__name__}.durable)` in {cls.__name__}",
                code="Q106",
                location=class_location(cls),
            )


def refuse_abstract(cls: type, what: str) -> None:
    """Refuse a class that Python makes no objects of."""
    if cls.__flags__ & _ABSTRACT:
        missing = ", ".join(f"`{name}`" for name in sorted(getattr(cls, "__abstractmethods__", ())))
        raise ModelError(
            f"{cls.__name__} is abstract, it lacks {missing}: it cannot be {what}",
            hint="name a subclass that has what is missing",
            code="Q106",
            location=class_location(cls) or Location("", 0),
        )
