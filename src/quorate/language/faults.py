"""Faults that are explicit steps of the environment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quorate.language.errors import ModelError, caller


@dataclass(frozen=True)
class Faults:
    """At most so many crashes in a run, of processes of these classes (None: of any)."""

    crashes: int = 0
    of: tuple[type, ...] | None = None


def crashes(at_most: int, *, of: type | Iterable[type] | None = None) -> Faults:
    """Up to `at_most` processes stop for good, each at any moment: `faults = crashes(1, of=Acceptor)`."""
    if type(at_most) is not int or at_most < 0:
        raise ModelError(
            f"crashes({at_most!r}): the number of crashes in a run is an int, 0 or more", code="Q111", location=caller()
        )
    classes = None if of is None else (of,) if isinstance(of, type) else tuple(of)
    for cls in classes or ():
        if not isinstance(cls, type):
            raise ModelError(
                f"crashes(of={cls!r}): name process classes, e.g. of=Acceptor", code="Q111", location=caller()
            )
    return Faults(at_most, classes)
