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

    def __post_init__(self) -> None:
        _one_of("full", self.full, ("block", "replace"))
        _one_of("head", self.head, ("block", "skip", "drop"))
        _budget("losses", self.losses)
        _budget("duplicates", self.duplicates)
        if self.capacity is not None and (type(self.capacity) is not int or self.capacity < 1):
            raise _refused(f"capacity={show(self.capacity)}", "it is the number of messages a channel holds: 1 or more")
        if self.kind == "fifo" and self.duplicates == "any":
            raise _refused(
                "fifo with duplicates='any'",
                "a FIFO channel with unlimited duplicates has no finite content; give a number: duplicates=1",
            )
        if self.full == "replace" and self.capacity is None:
            raise _refused("full='replace' without a capacity", "an unbounded channel is never full: capacity=1")
        if self.full == "replace" and self.kind != "fifo" and self.capacity != 1:
            raise _refused(
                f"full='replace' on an unordered network with capacity={self.capacity}",
                "without an order there is no oldest message to replace; use capacity=1 or fifo(...)",
            )

    def __str__(self) -> str:
        name = "unordered" if self.kind == "set" else self.kind
        parts: list[str] = []
        if self.capacity is not None:
            parts += [f"capacity={self.capacity}", f"full={self.full!r}"]
        parts += [f"losses={self.losses!r}"] if self.losses else []
        parts += [f"duplicates={self.duplicates!r}"] if self.duplicates else []
        parts += [f"head={self.head!r}"] if self.kind == "fifo" and self.head != "block" else []
        return f"{name}({', '.join(parts)})"


def unordered(
    *,
    capacity: int | None = None,
    full: Literal["block", "replace"] = "block",
    losses: Budget = 0,
    duplicates: Budget = 0,
) -> Network:
    """The default: what is pending is a set. Sending what is pending already changes nothing."""
    return Network("set", capacity, full, losses, duplicates)


def multiset(
    *,
    capacity: int | None = None,
    full: Literal["block", "replace"] = "block",
    losses: Budget = 0,
    duplicates: Budget = 0,
) -> Network:
    """Unordered, and every send adds a message of its own."""
    return Network("multiset", capacity, full, losses, duplicates)


def fifo(
    *,
    capacity: int | None = None,
    full: Literal["block", "replace"] = "block",
    losses: Budget = 0,
    duplicates: Budget = 0,
    head: Literal["block", "skip", "drop"] = "block",
) -> Network:
    """One queue from each sender to each receiver. `head` says what a message at the front does that is not wanted."""
    return Network("fifo", capacity, full, losses, duplicates, head)


def _refused(what: str, why: str) -> ModelError:
    return ModelError(f"unsupported network: {what}", hint=why, code="Q111", location=caller())


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise _refused(f"{name}={value!r}", f"{name} is one of {', '.join(map(repr, allowed))}")


def _budget(name: str, value: object) -> None:
    if value != "any" and (type(value) is not int or value < 0):
        raise _refused(f"{name}={show(value)}", f"{name} is a number of messages in the whole run, 0 or more, or 'any'")
