"""Fields that a process is given and keeps: configuration, which is no state.

A constant is a field like any other to everything that argues about states: it is a part of the local state, is renamed
with it, and so tells processes apart that symmetry must not exchange. All that differs is that nobody assigns it, that
all initial states agree on it, and that what shows states leaves it out.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeVar, get_args, get_origin

T = TypeVar("T")


class _Mark:
    def __repr__(self) -> str:
        return "quorate.Constant"  # as it is found in annotations that nobody can look up


CONSTANT = _Mark()

Constant = Annotated[T, CONSTANT]
"""`others: Constant[Peers]`: set by `spawn` or `connect`, read by handlers and properties, never assigned."""

_WRITTEN = re.compile(r"\s*(\w+\.)*Constant\s*\[")


def is_constant(annotation: Any) -> bool:
    """Whether an annotation, looked up or still a text, is that of a constant."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    if text is not None:
        return _WRITTEN.match(text) is not None
    return get_origin(annotation) is Annotated and CONSTANT in annotation.__metadata__


def without_mark(annotation: Any) -> Any:
    """The type of a constant as the type of a field."""
    if not (get_origin(annotation) is Annotated and CONSTANT in annotation.__metadata__):
        return annotation
    others = tuple(each for each in annotation.__metadata__ if each is not CONSTANT)
    plain = get_args(annotation)[0]
    return Annotated[(plain, *others)] if others else plain
