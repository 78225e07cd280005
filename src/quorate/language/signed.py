"""Signatures: values of which everyone can tell who vouches for them.

    class Vote(Message):
        ballot: Signed[int]

    self.send(others, Vote(self.sign(1)))      # m.ballot.value == 1, m.ballot.signer == the one who signed

Nobody can sign for somebody else, but everyone can hand on what was signed. A message that was received and is handed
on inside of another is signed as well, by its sender.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from quorate.base.errors import ModelError, caller
from quorate.base.values import DATACLASS, Kind, fields_kind, freeze, register, show
from quorate.language.pid import Pid

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, init=False)
class Signed(Generic[T_co]):
    """A value and who signed it; made by `self.sign(value)` in a handler."""

    value: T_co
    signer: Pid

    def __init__(self, *_: Any, **__: Any) -> None:
        raise ModelError(
            "Signed(...) was called: only the signer itself can sign",
            hint="write self.sign(value) in a handler; pass on what others have signed unchanged",
            code="Q108",
            location=caller(),
        )


def signed(value: Any, signer: Pid) -> Signed[Any]:
    """A signature; for the language, not for models."""
    made: Signed[Any] = object.__new__(Signed)
    made.__dict__.update(value=freeze(value), signer=signer)
    return made


def _rebuilt(_: Any, items: list[Any]) -> Signed[Any]:
    return signed(*items)


_plain = fields_kind(Signed, ("value", "signer"), DATACLASS, _rebuilt)
register(Signed, Kind(_plain.freeze, _plain.encode, lambda one: f"{show(one.value)} signed by {one.signer}"))
