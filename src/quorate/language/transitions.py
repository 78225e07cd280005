"""The decorators that turn methods into transitions, and what they leave on the method.

A decorator only notes what was declared; `definition.py` reads it when a system is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from types import FunctionType, UnionType
from typing import Any, Literal, Never, TypeVar, Union, get_origin, overload

from quorate.base.errors import Location, ModelError, caller, did_you_mean
from quorate.base.values import show
from quorate.language.declared import MARK, PROPERTY_MARK, refuse_twice, require_arguments
from quorate.language.forbidden import refuse_suspended
from quorate.language.lost import note_applied, note_declared, note_waiting
from quorate.language.message import Event, Message
from quorate.language.pid import Pid

M = TypeVar("M", bound=Message)
R = TypeVar("R", bound=Message | Event)
Fair = bool | Literal["strong"]
S = TypeVar("S")


@dataclass(frozen=True)
class Declaration:
    """What a decorator was told."""

    kind: Literal["start", "step", "on", "quorum"]
    message: type[Any] | None = None
    when: Callable[..., Any] | None = None
    keep: bool = False
    size: int | str | Callable[[Any], int] | None = None
    each: str | Callable[[Any], Iterable[Pid]] | None = None
    enough: Callable[[Any, Any], Any] | None = None
    sets: Literal["minimal", "maximal", "any"] = "minimal"
    where: Callable[[Any, Any], Any] | None = None
    same: str | Callable[[Any], Any] | None = None
    fair: Fair = True
    """Taken if it stays possible; "strong": if it is possible again and again; False: it need not be."""


def majority(of: int | Sized) -> int:
    """The smallest number that is more than half: of a count, or of the size of a group."""
    count = of if isinstance(of, int) else len(of)
    return count // 2 + 1


def on(
    message: type[R], *, when: Callable[[Any, R], object] | None = None, keep: bool = False, fair: Fair = True
) -> Callable[[Callable[[S, R], None]], Callable[[S, R], None]]:
    """Consume one message (or, in a monitor, observe one event).

    `when(self, m)` is the guard. With `keep=True` the message is read and stays pending.
    """
    _message_type("on", message, (Message, Event))
    _callable("on", "when", when)
    _fairness("on", fair)
    return _mark(Declaration("on", message, when, keep, fair=fair))


@overload
def quorum(
    message: type[M],
    *,
    size: int | str | Callable[[Any], int],
    when: Callable[[Any], object] | None = None,
    where: Callable[[Any, M], object] | None = None,
    same: str | Callable[[M], object] | None = None,
    keep: bool = False,
    fair: Fair = True,
) -> Callable[[Callable[[S, frozenset[M]], None]], Callable[[S, frozenset[M]], None]]: ...


@overload
def quorum(
    message: type[M],
    *,
    each: str | Callable[[Any], Iterable[Pid]],
    when: Callable[[Any], object] | None = None,
    where: Callable[[Any, M], object] | None = None,
    same: str | Callable[[M], object] | None = None,
    keep: bool = False,
    fair: Fair = True,
) -> Callable[[Callable[[S, frozenset[M]], None]], Callable[[S, frozenset[M]], None]]: ...


@overload
def quorum(
    message: type[M],
    *,
    sets: Literal["any"],
    when: Callable[[Any], object] | None = None,
    where: Callable[[Any, M], object] | None = None,
    same: str | Callable[[M], object] | None = None,
    keep: bool = False,
    fair: Fair = True,
) -> Callable[[Callable[[S, frozenset[M]], None]], Callable[[S, frozenset[M]], None]]: ...


@overload
def quorum(
    message: type[M],
    *,
    enough: Callable[[Any, frozenset[M]], object],
    sets: Literal["minimal", "maximal", "any"] = "minimal",
    when: Callable[[Any], object] | None = None,
    where: Callable[[Any, M], object] | None = None,
    same: str | Callable[[M], object] | None = None,
    keep: bool = False,
    fair: Fair = True,
) -> Callable[[Callable[[S, frozenset[M]], None]], Callable[[S, frozenset[M]], None]]: ...


def quorum(
    message: type[M],
    *,
    size: int | str | Callable[[Any], int] | None = None,
    each: str | Callable[[Any], Iterable[Pid]] | None = None,
    enough: Callable[[Any, frozenset[M]], object] | None = None,
    sets: Literal["minimal", "maximal", "any"] = "minimal",
    when: Callable[[Any], object] | None = None,
    where: Callable[[Any, M], object] | None = None,
    same: str | Callable[[M], object] | None = None,
    keep: bool = False,
    fair: Fair = True,
) -> Callable[[Callable[[S, frozenset[M]], None]], Callable[[S, frozenset[M]], None]]:
    """Consume a set of messages in one indivisible step, never two of one sender.

    `size=n` (or a field's name, or a function of self): exactly n messages. `each=...`: exactly one from each of the
    given senders. `enough=guard`: the minimal sets that satisfy the guard; with sets="maximal" the maximal ones, with
    sets="any" all of them. `sets="any"` without a guard: every set of one message or more.
    `when(self)` is a guard on the process, `where(self, m)` a filter on each message, and with `same` all messages of
    a set agree on that field (or on that function of the message).
    """
    _message_type("quorum", message, (Message,))
    if sets not in ("minimal", "maximal", "any"):
        raise _refuse(f"@quorum(sets={sets!r}): unknown kind of sets", "sets is 'minimal', 'maximal' or 'any'")
    if sets == "any" and size is None and each is None and enough is None:
        enough = _any_set
    if sum(given is not None for given in (size, each, enough)) != 1:
        raise _refuse(
            f"@quorum({message.__name__}, ...) says how many messages it wants in exactly one way",
            "give one of size=, each= and enough=, or sets='any' for sets of any size",
        )
    if enough is None and sets != "minimal":
        raise _refuse(
            f"@quorum(sets={sets!r}) says which of the sets that are enough, and nothing says when they are",
            "with size= or each= there is one kind of sets; give enough= instead, or leave sets= out",
        )
    if isinstance(size, int) and (isinstance(size, bool) or size < 1):
        raise _refuse(f"@quorum(size={size!r}): a quorum has at least one message", "give a size of 1 or more")
    if isinstance(same, str) and same not in message._names and same != "sender":
        raise _refuse(
            f"@quorum(same={same!r}): {message.__name__} has no such field", did_you_mean(same, message._names)
        )
    for name, value in (("when", when), ("where", where), ("enough", enough)):
        _callable("quorum", name, value, when_takes="self")
    for option, given in (("size", size), ("each", each), ("same", same)):
        if not (
            given is None or isinstance(given, str) or callable(given) or (option == "size" and isinstance(given, int))
        ):
            raise _refuse(
                f"@quorum({option}={show(given)}): of type {type(given).__name__}",
                "give the name of a field, or a function" + ("; or an int" if option == "size" else ""),
            )
        require_arguments(given, 1, f"`{option}` of @quorum", "m" if option == "same" else "self")
        refuse_suspended(given, f"`{option}` of @quorum({message.__name__}, ...)")
    _fairness("quorum", fair)
    return _mark(Declaration("quorum", message, when, keep, size, each, enough, sets, where, same, fair))


def _any_set(self: object, messages: frozenset[Any]) -> bool:
    return True


@overload
def start(handler: Callable[[S], None], /) -> Callable[[S], None]: ...


@overload
def start(
    *, when: Callable[[Any], object] = ..., fair: Fair = True
) -> Callable[[Callable[[S], None]], Callable[[S], None]]: ...


def start(handler: Any = None, /, *, when: Callable[[Any], object] | None = None, fair: Fair = True) -> Any:
    """A spontaneous step that happens at most once, whenever its guard holds: `@start`, `@start(when=...)`."""
    _callable("start", "when", when, when_takes="self")
    _fairness("start", fair)
    mark: Callable[[Any], Any] = _mark(Declaration("start", when=when, fair=fair))
    return mark if handler is None else mark(handler)


def step(
    *handler: Never, when: Callable[[Any], object] | None = None, fair: Fair = True
) -> Callable[[Callable[[S], None]], Callable[[S], None]]:
    """A spontaneous step that may happen whenever its guard holds: a timeout, a client's next request.

    Temporal properties assume that it happens if it stays possible; `fair=False`: it need not happen.
    """
    if handler or when is None:
        raise _refuse(
            "@step without a guard", "say when it may happen: `@step(when=lambda self: ...)`; `@start` happens once"
        )
    _callable("step", "when", when, when_takes="self")
    _fairness("step", fair)
    return _mark(Declaration("step", when=when, fair=fair))


P = TypeVar("P")


def invariant(function: Callable[[P], bool]) -> Callable[[P], bool]:
    """A property that must hold in every reachable state."""
    return _property("invariant", function)


def can(function: Callable[[P], bool]) -> Callable[[P], bool]:
    """A property that must hold in some reachable state: it shows that something can happen."""
    return _property("can", function)


def final(function: Callable[[P], bool]) -> Callable[[P], bool]:
    """Which states without an enabled protocol step are fine. With it, all others are reported as deadlocks."""
    return _property("final", function)


def _property(kind: str, function: Callable[[P], bool]) -> Callable[[P], bool]:
    if not isinstance(function, FunctionType):
        raise _refuse(
            f"@{kind} goes on a method of a System, without arguments", f"@{kind}\ndef name(self) -> bool: ..."
        )
    refuse_twice(function, kind)
    refuse_suspended(function, function.__qualname__)
    require_arguments(function, 1, function.__qualname__, "self")
    setattr(function, PROPERTY_MARK, kind)
    note_declared(function)
    return function


def _fairness(kind: str, fair: object) -> None:
    if fair is not True and fair is not False and fair != "strong":
        raise _refuse(
            f"@{kind}(fair={fair!r}): unknown fairness",
            "True (taken if it stays possible), False (it need not be taken) or 'strong' (if possible again and again)",
        )


def _mark(declaration: Declaration) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def mark(handler: Callable[..., None]) -> Callable[..., None]:
        if not isinstance(handler, FunctionType):
            raise _refuse(
                f"@{declaration.kind} goes on a method, not on {handler!r}",
                "write it directly above `def name(self, ...)`",
            )
        if hasattr(handler, MARK):
            raise _refuse(
                f"{handler.__qualname__} is declared as a transition twice",
                "give each transition a method of its own; they may call a common helper",
            )
        refuse_suspended(handler, handler.__qualname__)
        wanted = 2 if declaration.kind in ("on", "quorum") else 1
        code = handler.__code__
        required = code.co_argcount - len(handler.__defaults__ or ())
        if not (code.co_flags & 0x04) and not required <= wanted <= code.co_argcount:
            shape = "(self, m)" if wanted == 2 else "(self)"
            raise ModelError(
                f"{handler.__qualname__} has {code.co_argcount} parameters, @{declaration.kind} passes {wanted}",
                hint=f"write `def {handler.__name__}{shape} -> None`",
                code="Q106",
                location=Location(code.co_filename, code.co_firstlineno),
            )
        setattr(handler, MARK, declaration)
        note_declared(handler)
        note_applied(mark)
        return handler

    note_waiting(mark, f"@{declaration.kind}(...)")
    return mark


def _message_type(decorator: str, message: object, bases: tuple[type, ...]) -> None:
    if not (isinstance(message, type) and issubclass(message, bases)):
        what = "a Message" if len(bases) == 1 else "a Message (or, in a monitor, an Event)"
        hint = f"name {what} subclass: `@{decorator}(Prepare)`"
        plain = get_origin(message)
        if isinstance(plain, type) and issubclass(plain, bases):
            hint = f"leave the brackets out: `@{decorator}({plain.__name__})`"
        elif isinstance(message, (tuple, list, UnionType)) or plain is Union:
            hint = "a transition takes one class: give them a common base, or write one for each that calls a method"
        name = message.__name__ if isinstance(message, type) and plain is None else message
        raise _refuse(f"@{decorator}({name!s}): not a class of messages", hint)


def _callable(decorator: str, name: str, value: object, when_takes: str = "self, m") -> None:
    if value is not None and not callable(value):
        raise _refuse(
            f"@{decorator}({name}={value!r}): a guard is a function", f"write `{name}=lambda self, ...: condition`"
        )
    refuse_suspended(value, f"`{name}` of @{decorator}(...)")
    shape = when_takes if name == "when" else "self, ms" if name == "enough" else "self, m"
    require_arguments(value, len(shape.split(",")), f"`{name}` of @{decorator}", shape)


def _refuse(message: str, hint: str) -> ModelError:
    return ModelError(message, hint=hint, code="Q106", location=caller())
