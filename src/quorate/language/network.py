"""Networks: what may happen to a message between its sender and its receiver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quorate.base.errors import ModelError, caller
from quorate.base.values import show

Budget = int | Literal["any"]


@dataclass(frozen=True)
class Network:
    """How messages travel; made by `unordered`, `multiset` and `fifo`."""

    kind: Literal["set", "multiset", "fifo"] = "set"
    capacity: int | None = None
    full: Literal["block", "replace"] = "block"
    losses: Budget = 0
    duplicates: Budget = 0
    head: Literal["block", "skip", "drop"] = "block"
    lost: Literal["anywhere", "head"] = "anywhere"
    """Of a queue: whether any message may be lost, or only the oldest."""
    fair: bool = False
    """What is sent again and again is received, although messages may be lost: for temporal properties."""

    def __post_init__(self) -> None:
        _one_of("full", self.full, ("block", "replace"))
        _one_of("head", self.head, ("block", "skip", "drop"))
        _one_of("lost", self.lost, ("anywhere", "head"))
        _budget("losses", self.losses)
        _budget("duplicates", self.duplicates)
        _one_of("fair", self.fair, (True, False))
        if self.fair and self.losses != "any":
            raise _refused(
                "fair=True without losses='any'",
                "it says what is not lost for ever where anything may be lost: unordered(losses='any', fair=True)",
            )
        if self.lost == "head" and not self.losses:
            raise _refused(
                "lost='head' without losses", "say how many messages may be lost: fifo(losses=1, lost='head')"
            )
        if self.capacity is not None and (type(self.capacity) is not int or self.capacity < 1):
            raise _refused(f"capacity={show(self.capacity)}", "it is the number of messages a channel holds: 1 or more")
        if self.ordered and self.copies_for_ever:
            raise _refused(
                "fifo with duplicates='any'",
                "a FIFO channel with unlimited duplicates has no finite content; give a number: duplicates=1",
            )
        if self.full == "replace" and not self.bounded:
            raise _refused("full='replace' without a capacity", "an unbounded channel is never full: capacity=1")
        if self.full == "replace" and not self.ordered and self.capacity != 1:
            raise _refused(
                f"full='replace' on an unordered network with capacity={self.capacity}",
                "without an order there is no oldest message to replace; use capacity=1 or fifo(...)",
            )

    @property
    def ordered(self) -> bool:
        """Whether a channel keeps the order in which messages were sent."""
        return self.kind == "fifo"

    @property
    def bounded(self) -> bool:
        """Whether a channel can be full."""
        return self.capacity is not None

    @property
    def replaces(self) -> bool:
        """Whether a message makes room for itself in a full channel."""
        return self.full == "replace"

    @property
    def copies_for_ever(self) -> bool:
        """Whether every message may be duplicated without end: then consuming one removes nothing."""
        return self.duplicates == "any"

    @property
    def passes_over(self) -> bool:
        """Whether a message that is not wanted may be passed over or thrown away at the head of its channel."""
        return self.ordered and self.head != "block"

    def __str__(self) -> str:
        name = "unordered" if self.kind == "set" else self.kind
        parts: list[str] = []
        if self.capacity is not None:
            parts += [f"capacity={self.capacity}", f"full={self.full!r}"]
        parts += [f"losses={self.losses!r}"] if self.losses else []
        parts += [f"lost={self.lost!r}"] if self.lost != "anywhere" else []
        parts += [f"duplicates={self.duplicates!r}"] if self.duplicates else []
        parts += [f"head={self.head!r}"] if self.passes_over else []
        parts += ["fair=True"] if self.fair else []
        return f"{name}({', '.join(parts)})"


def unordered(
    *,
    capacity: int | None = None,
    full: Literal["block", "replace"] = "block",
    losses: Budget = 0,
    duplicates: Budget = 0,
    fair: bool = False,
) -> Network:
    """The default: what is pending is a set. Sending what is pending already changes nothing."""
    return Network("set", capacity, full, losses, duplicates, fair=fair)


def multiset(
    *,
    capacity: int | None = None,
    full: Literal["block", "replace"] = "block",
    losses: Budget = 0,
    duplicates: Budget = 0,
    fair: bool = False,
) -> Network:
    """Unordered, and every send adds a message of its own."""
    return Network("multiset", capacity, full, losses, duplicates, fair=fair)


def fifo(
    *,
    capacity: int | None = None,
    full: Literal["block", "replace"] = "block",
    losses: Budget = 0,
    duplicates: Budget = 0,
    head: Literal["block", "skip", "drop"] = "block",
    lost: Literal["anywhere", "head"] = "anywhere",
    fair: bool = False,
) -> Network:
    """One queue from each sender to each receiver. `head` says what a message at the front does that is not wanted.

    With `lost="head"` only the message at the front of a queue may be lost.
    """
    return Network("fifo", capacity, full, losses, duplicates, head, lost, fair)


def _refused(what: str, why: str) -> ModelError:
    return ModelError(f"unsupported network: {what}", hint=why, code="Q111", location=caller())


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise _refused(f"{name}={value!r}", f"{name} is one of {', '.join(map(repr, allowed))}")


def _budget(name: str, value: object) -> None:
    if value != "any" and (type(value) is not int or value < 0):
        raise _refused(f"{name}={show(value)}", f"{name} is a number of messages in the whole run, 0 or more, or 'any'")
