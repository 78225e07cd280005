"""Faults that are explicit steps of the environment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from quorate.base.errors import ModelError, caller
from quorate.base.values import show
from quorate.language.network import Budget


@dataclass(frozen=True)
class Faults:
    """At most so many crashes in a run, of processes of these classes (None: of any)."""

    crashes: Budget = 0
    of: tuple[type, ...] | None = None
    cut_short: bool = True
    """A crash may come in the midst of a step, when only some of its messages have been sent."""
    recover: bool | Literal["fair"] = False
    """A crashed process may come back, with the fields that are named in its `durable`; fair: it does come back."""
    down: int | None = None
    """At most so many processes are crashed at the same time."""
    redeliver: bool = False
    """What a step has consumed that a crash cuts short may be delivered again."""

    @property
    def left(self) -> int:
        """The budget at the beginning of a run, 0 if there is none or no bound."""
        return 0 if self.crashes == "any" else self.crashes


def crashes(
    at_most: Budget,
    *,
    of: type | Iterable[type] | None = None,
    cut_short: bool = True,
    recover: bool | Literal["fair"] = False,
    down: int | None = None,
    redeliver: bool = False,
) -> Faults:
    """Up to `at_most` crashes in a run, each at any moment: `faults = crashes(1, of=Acceptor)`.

    A crash may cut a step short, so that any part of its messages is sent (`cut_short=False`: only between steps). With
    `recover=True` a crashed process may come back; what its class names in `durable` is kept, the rest begins anew.
    With `recover="fair"` temporal properties may rely on it that it does come back. `down=k` bounds how many are down
    at the same time; then there may be any number of crashes in a run: `crashes("any", down=1, recover=True)`. With
    `redeliver=True` the messages that a step has consumed when a crash cuts it short may be delivered again.
    Whoever handles the message `Crash` is told of every crash; its sender is the process that crashed.
    """
    if at_most != "any" and (type(at_most) is not int or at_most < 0):
        raise _refused(f"crashes({show(at_most)}): the number of crashes in a run is an int, 0 or more, or 'any'")
    if down is not None and (type(down) is not int or down < 1):
        raise _refused(f"crashes(down={show(down)}): how many may be down at the same time is an int, 1 or more")
    if at_most == "any" and (down is None or not recover):
        raise _refused(
            "crashes('any') without an end of them",
            "say how many may be down at the same time, and that they come back: crashes('any', down=1, recover=True)",
        )
    if type(redeliver) is not bool:
        raise _refused(f"crashes(redeliver={show(redeliver)}): it is True or False")
    if redeliver and not (recover and cut_short):
        raise _refused(
            "crashes(redeliver=True) where no message could be delivered again",
            "a crash cuts a step short, and the process comes back: crashes(1, recover=True, redeliver=True)",
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
    if down is not None and not recover:  # nobody who is down comes back: it is a bound on all of the run
        at_most, down = min(down, at_most if at_most != "any" else down), None
    return Faults(at_most, classes, cut_short, recover, down, redeliver)


def _refused(what: str, hint: str = "") -> ModelError:
    return ModelError(what, hint=hint, code="Q111", location=caller())
