"""What running a handler gives: plain data that every later layer shares."""

from __future__ import annotations

from typing import Any, NamedTuple

from quorate.base.failures import Failure
from quorate.base.values import CRASH, Kind, encode, register
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


class Outcome(NamedTuple):
    """One thing a transition may do. A failed or cut one does nothing else: no local state, nothing sent."""

    local: Local | None
    sends: tuple[tuple[int, Message], ...] = ()
    events: tuple[Event, ...] = ()
    choices: tuple[Any, ...] = ()
    cut: bool = False
    failure: Failure | None = None


class Request(NamedTuple):
    """What a quorum transition asks for in a local state: so many messages, or one from each of these senders."""

    size: int | None = None
    senders: tuple[Pid, ...] | None = None
