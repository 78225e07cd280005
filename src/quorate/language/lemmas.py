"""Lemmas: what a proof by induction may rest on, and has to prove itself.

    @lemma
    def voted_before(self, p: Participant, m: Decision) -> bool:
        return not m.commit or p.willing is True

A lemma holds for all values of its parameters: processes of a class, messages of a class that were ever sent (or, with
`Pending[Decision]`, that are pending). `quorate prove` proves it together with the invariants; `quorate check` tests
lemmas about processes like invariants.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Annotated, Any, TypeVar

from quorate.base.errors import Location, ModelError, caller
from quorate.language.forbidden import refuse_suspended

LEMMA_MARK = "__quorate_lemma__"
"""The attribute by which a lemma is known."""

F = TypeVar("F", bound=Callable[..., bool])
M = TypeVar("M")


class _Pending: ...


PENDING = _Pending()
Pending = Annotated[M, PENDING]
"""In a lemma: for all messages that are pending, not for all that were ever sent."""


def lemma(function: F) -> F:
    """A property for `quorate prove` to rest on, for all values of its annotated parameters."""
    if not isinstance(function, FunctionType):
        raise ModelError(
            "@lemma goes on a method of a System",
            hint="@lemma\ndef name(self, p: Participant) -> bool: ...",
            code="Q106",
            location=caller(),
        )
    refuse_suspended(function, function.__qualname__)
    code = function.__code__
    for name in code.co_varnames[1 : code.co_argcount]:
        if name not in function.__annotations__:
            raise ModelError(
                f"{function.__qualname__}: the parameter `{name}` has no type, so nobody knows what it ranges over",
                hint=f"annotate it with a class of processes or messages: `{name}: Participant`",
                code="Q106",
                location=Location(code.co_filename, code.co_firstlineno),
            )
    setattr(function, LEMMA_MARK, True)
    return function


def is_lemma(value: Any) -> bool:
    return isinstance(value, FunctionType) and hasattr(value, LEMMA_MARK)
