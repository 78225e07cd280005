"""The declared types of fields, as they are written in the class and with names looked up.

Nothing is checked against them: a model may put None into a field that says `int`. They are for those who reason about
all values of a field, not only about the ones that occur.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from quorate.language.automaton import Automaton, own_annotations
from quorate.language.constants import without_mark
from quorate.language.message import Event, Message, Record, derived

if TYPE_CHECKING:
    from quorate.model.definition import Spec

FieldTypes = dict[str, Any]
"""By name of the field. A type that cannot be looked up, since its name is local to a function, stays a text."""


def field_types(cls: type[Automaton] | type[Record]) -> FieldTypes:
    """The types that a process, monitor, message or event declares for its fields, inherited ones included."""
    names = cls._names if issubclass(cls, Record) else tuple(cls._fields)
    return {name: _declared(cls, name) for name in names}


def _declared(cls: type, name: str) -> Any:
    owner = next((base for base in cls.__mro__ if name in own_annotations(base)), None)
    if owner is None:  # the annotations were changed after the class was made
        return Any
    annotation = own_annotations(owner)[name]
    alone = type(owner.__name__, (), {"__annotations__": {name: annotation}, "__module__": owner.__module__})
    try:
        return without_mark(typing.get_type_hints(alone, localns=dict(vars(owner)), include_extras=True)[name])
    except Exception:
        return annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", annotation)


def message_types(specs: Iterable[Spec]) -> dict[type[Record], FieldTypes]:
    """The fields of all messages and events that some process or monitor takes, and of those derived from them."""
    found: dict[type[Record], FieldTypes] = {}
    todo = [transition.message for spec in specs for transition in spec.transitions if transition.message is not None]
    for cls in todo:
        if cls not in found and cls not in (Message, Event):  # a channel takes any message
            found[cls] = field_types(cls)
            todo.extend(derived(cls))
    return found
