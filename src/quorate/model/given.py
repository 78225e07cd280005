"""`-p NAME=VALUE`, and for a sweep `-p NAME=A..B` or `-p NAME=A,B,C`; and `--byzantine ROLE=K`."""

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from quorate.base.errors import ParameterError, did_you_mean
from quorate.language.parameters import Parameter
from quorate.language.system import System

_RANGE = re.compile(r"^(-?\d+)\.\.(-?\d+)$")


def instance(system: type[System], assignments: Iterable[str], presets: Iterable[str] = ()) -> System:
    """The system with the parameters that were typed."""
    known = system.declared_parameters()
    values = {name: known[name].parse(text) for name, text in _pairs(system, assignments)}
    return system.preset(*presets, **values)


def grid(system: type[System], assignments: Iterable[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """The names that were given, and one set of values for every combination; the last name varies fastest."""
    known = system.declared_parameters()
    axes = {name: _values(known[name], text) for name, text in _pairs(system, assignments)}
    points = [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]
    return list(axes), points


def restored(system: type[System], saved: Mapping[str, Any]) -> System:
    """The system with parameters that were saved as JSON."""
    known = system.declared_parameters()
    values: dict[str, Any] = {}
    for name, value in saved.items():
        if name not in known:
            raise _unknown(system, name)
        if isinstance(value, dict) and value.get("$") == "int":
            value = int(value["hex"], 16)
        if isinstance(value, dict):  # an enum member, by its name
            value = known[name].parse(str(value.get("name")))
        values[name] = known[name].check(value)
    return system(**values)


def roles(assignments: Iterable[str]) -> dict[str, int]:
    """`--byzantine ROLE=K`: how many processes of each role."""
    found: dict[str, int] = {}
    for assignment in assignments:
        role, _, number = assignment.partition("=")
        if not role.strip() or not number.strip().isdecimal():
            raise ParameterError(
                f"--byzantine {assignment} is not of the form ROLE=K",
                hint="for example --byzantine acceptor=1",
                code="Q207",
            )
        found[role.strip()] = found.get(role.strip(), 0) + int(number)
    return found


def _pairs(system: type[System], assignments: Iterable[str]) -> list[tuple[str, str]]:
    pairs: dict[str, str] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ParameterError(f"-p {assignment} has no value", hint="write -p NAME=VALUE", code="Q205")
        if name not in system.declared_parameters():
            # Names with dashes are a habit from the shell.
            underscored = name.replace("-", "_")
            if underscored not in system.declared_parameters():
                raise _unknown(system, name)
            name = underscored
        if name in pairs:
            raise ParameterError(f"{name} is given twice: {name}={pairs[name]} and {assignment}", code="Q205")
        pairs[name] = text
    return list(pairs.items())


def _unknown(system: type[System], name: str) -> ParameterError:
    known = system.declared_parameters()
    hint = did_you_mean(name, known) if known else f"{system.__name__} has no parameters"
    return ParameterError(f"{system.__name__} has no parameter `{name}`", hint=hint, code="Q201")


def _values(parameter: Parameter, text: str) -> list[Any]:
    values: list[Any] = []
    for part in text.split(","):
        span = _RANGE.match(part.strip())
        if span is None or parameter.type is not int:
            values.append(parameter.parse(part))
            continue
        first, last = int(span[1]), int(span[2])
        if last < first:
            raise ParameterError(
                f"{parameter.name}={part} is empty", hint=f"did you mean {last}..{first}?", code="Q205"
            )
        values.extend(range(first, last + 1))
    return values
