"""What running a handler gives: plain data that every later layer shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from quorate.base.errors import Signal
from quorate.base.failures import Failure
from quorate.base.values import CRASH, SEEN, Kind, encode, register
from quorate.language.message import Event, Message
from quorate.language.pid import Pid

Local = tuple[Any, ...]
"""A local state: the values of a process's or monitor's fields in order, hidden ones last."""


class Crashed(tuple[Any, ...]):
    """The local state of a crashed process: its fields keep their last values, but it does nothing any more."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Crashed({super().__repr__()})"


def is_crashed(local: Local) -> bool:
    """Whether this is the local state of a crashed process."""
    return type(local) is Crashed


register(Crashed, Kind(lambda value: value, lambda value: CRASH + encode(tuple(value)), lambda _: "crashed"))


class Seen(tuple[Any, ...]):
    """A local state together with what the process has read of shared cells: by column, their values.

    No state holds it. It is what a transition is evaluated on where it depends on more than its own process.
    """

    cells: Mapping[int, Any]


def seen(local: Local, cells: Mapping[int, Any]) -> Local:
    made = Seen(local)
    made.cells = cells
    return made


def cells_of(local: Local) -> Mapping[int, Any]:
    """What is known of shared cells there."""
    return local.cells if type(local) is Seen else _NOTHING


_NOTHING: Mapping[int, Any] = {}

register(
    Seen,
    Kind(
        lambda value: value,
        lambda value: SEEN + encode((tuple(value), tuple(sorted(value.cells.items())))),
        lambda value: f"{tuple(value)} having read {dict(value.cells)}",
    ),
)


class Unread(Signal):
    """A transition reads a shared cell of which it is not known what it holds: the column."""

    def __init__(self, column: int) -> None:
        super().__init__(column)
        self.column = column


class Outcome(NamedTuple):
    """One thing a transition may do. A failed or cut one does nothing else: no local state, nothing sent."""

    local: Local | None
    sends: tuple[tuple[int, Message], ...] = ()
    events: tuple[Event, ...] = ()
    choices: tuple[Any, ...] = ()
    cut: bool = False
    failure: Failure | None = None
    reads: tuple[tuple[int, Any], ...] = ()
    """What it has read of shared cells: columns and values. That is why it is so, and no part of what is done."""


class Request(NamedTuple):
    """What a quorum transition asks for in a local state: so many messages, or one from each of these senders."""

    size: int | None = None
    senders: tuple[Pid, ...] | None = None
