"""The parameters of a system: annotated class attributes, checked by name and by type."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from enum import Enum
from typing import Any

from quorate.base.errors import ModelError, ParameterError
from quorate.base.places import class_location, member_location, refuse_two_meanings
from quorate.base.values import show
from quorate.language.automaton import MISSING, own_annotations

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a system: `acceptors: int = 3`."""

    name: str
    type: type
    optional: bool
    default: Any

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def type_name(self) -> str:
        return self.type.__name__ + (" | None" if self.optional else "")

    def check(self, value: Any) -> Any:
        """The value, or a ParameterError if it is not of the declared type."""
        # isinstance would take True for an int.
        if (value is None and self.optional) or type(value) is self.type:
            return value
        raise ParameterError(
            f"{self.name}={show(value)} is of type {type(value).__name__}, the parameter is of type {self.type_name}",
            hint=self._example(),
            code="Q202",
        )

    def parse(self, text: str) -> Any:
        """The value a person wrote on the command line."""
        word = text.strip()
        if self.optional and word.lower() in ("none", "null", ""):
            return None
        try:
            if self.type is bool:
                return _WORDS[word.lower()]
            if self.type is int:
                return int(word)
            if issubclass(self.type, Enum):
                members = {name.lower(): member for name, member in self.type.__members__.items()}
                return members[word.lower()]
            return text
        except (KeyError, ValueError):
            given = text if len(text) <= 60 else f"{text[:60]}…"
            raise ParameterError(
                f"{self.name}={given} is not of type {self.type_name}",
                hint=self._example(),
                code="Q202",
            ) from None

    def _example(self) -> str:
        if issubclass(self.type, Enum):
            return f"one of {', '.join(member.name for member in self.type)}"
        value = {int: "3", bool: "true", str: "text"}.get(self.type, "...")
        return f"for example {self.name}={value if self.required or self.default is None else _written(self.default)}"


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def collect(cls: type, stop: type, ignored: set[str]) -> dict[str, Parameter]:
    """The parameters of a system class, inherited ones first."""
    found: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        if base is stop or not issubclass(base, stop):
            continue
        names = [name for name in own_annotations(base) if name not in ignored and not name.startswith("_")]
        hints = _hints(base) if names else {}
        for name in names:
            found[name] = _parameter(base, stop, name, hints.get(name))
    result: dict[str, Parameter] = {}
    for name, parameter in found.items():
        refuse_two_meanings(cls, [name], "parameter")
        default = getattr(cls, name, MISSING)
        result[name] = Parameter(name, parameter.type, parameter.optional, default)
        if default is not MISSING:
            try:
                result[name].check(default)
            except ParameterError as error:
                raise ModelError(
                    f"{cls.__name__}: the default {error.message}",
                    hint="make the annotation and the default agree",
                    code="Q106",
                    location=member_location(cls, name),
                ) from None
    return result


def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except Exception as error:
        raise ModelError(
            f"the annotations of {cls.__name__} cannot be read: {error}",
            hint="parameters are of type int, bool, str or an enum defined at the top of the module",
            code="Q106",
            location=class_location(cls),
        ) from None


def _parameter(cls: type, stop: type, name: str, hint: Any) -> Parameter:
    if hasattr(stop, name):
        raise ModelError(
            f"{cls.__name__}.{name}: the name is reserved by the language",
            hint="give the parameter another name",
            code="Q106",
            location=member_location(cls, name),
        )
    options = [hint]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        options = list(typing.get_args(hint))
    rest = [option for option in options if option is not type(None)]
    if len(rest) == 1 and isinstance(rest[0], type) and (rest[0] in (int, bool, str) or issubclass(rest[0], Enum)):
        return Parameter(name, rest[0], len(rest) < len(options), MISSING)
    raise ModelError(
        f"{cls.__name__}.{name}: {hint!r} cannot be the type of a parameter",
        hint="annotated attributes of a System are its parameters: int, bool, str, an enum, or one of these `| None`; "
        "leave the annotation out for a constant",
        code="Q106",
        location=member_location(cls, name),
    )
