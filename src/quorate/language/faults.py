"""Faults that are explicit steps of the environment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from quorate.base.errors import ModelError, caller
from quorate.base.values import show


@dataclass(frozen=True)
class Faults:
    """At most so many crashes in a run, of processes of these classes (None: of any)."""

    crashes: int = 0
    of: tuple[type, ...] | None = None
    cut_short: bool = True
    """A crash may come in the midst of a step, when only some of its messages have been sent."""
    recover: bool | Literal["fair"] = False
    """A crashed process may come back, with the fields that are named in its `durable`; fair: it does come back."""


def crashes(
    at_most: int,
    *,
    of: type | Iterable[type] | None = None,
    cut_short: bool = True,
    recover: bool | Literal["fair"] = False,
) -> Faults:
    """Up to `at_most` crashes in a run, each at any moment: `faults = crashes(1, of=Acceptor)`.

    A crash may cut a step short, so that any part of its messages is sent (`cut_short=False`: only between steps). With
    `recover=True` a crashed process may come back; what its class names in `durable` is kept, the rest begins anew.
    With `recover="fair"` temporal properties may rely on it that it does come back.
    Whoever handles the message `Crash` is told of every crash; its sender is the process that crashed.
    """
    if type(at_most) is not int or at_most < 0:
        raise ModelError(
            f"crashes({show(at_most)}): the number of crashes in a run is an int, 0 or more",
            code="Q111",
            location=caller(),
        )
    if type(recover) is not bool and recover != "fair":
        raise ModelError(
            f"crashes(recover={show(recover)}): it is True, False or 'fair'", code="Q111", location=caller()
        )
    classes = None if of is None else tuple(of) if isinstance(of, Iterable) else (of,)
    for cls in classes or ():
        if not isinstance(cls, type):
            raise ModelError(
                f"crashes(of={cls!r}): name process classes, e.g. of=Acceptor", code="Q111", location=caller()
            )
    return Faults(at_most, classes, cut_short, recover)
