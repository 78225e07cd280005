"""Handlers must be functions of their state and messages: what can be seen of the contrary in their code."""

from __future__ import annotations

from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from quorate.language.errors import Location, ModelError

if TYPE_CHECKING:
    from quorate.language.definition import Transition

_IMPURE = {"random", "secrets", "time", "datetime", "uuid"}


def forbid_impure(transition: Transition) -> None:
    """Refuse a handler or guard that calls upon chance or the clock by name.

    Running a sample of the evaluations twice finds the rest, but only with luck: a coin falls the same way twice.
    """
    declaration = transition.declaration
    for function in (transition.function, declaration.when, declaration.where, declaration.enough):
        if isinstance(function, FunctionType):
            _scan(transition, function, function.__code__)


def _scan(transition: Transition, function: FunctionType, code: CodeType) -> None:
    suspects = {name for name in code.co_names if _source(function.__globals__.get(name)) in _IMPURE}
    if suspects:
        import dis

        for instruction in dis.get_instructions(code):
            if instruction.opname == "LOAD_GLOBAL" and instruction.argval in suspects:
                line = instruction.positions.lineno if instruction.positions else None
                raise ModelError(
                    f"{transition.owner.__name__}.{transition.name} uses `{instruction.argval}`: "
                    "a handler must do the same whenever it is run on the same state and messages",
                    hint="for chance, explore every case: self.choose(options); for time, a @step that may happen "
                    "at any moment, or a counter in a field",
                    code="Q105",
                    location=Location(code.co_filename, line or code.co_firstlineno),
                )
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _scan(transition, function, constant)


def _source(value: Any) -> str | None:
    """The module a global comes from: `random` itself, or `choice` after `from random import choice`."""
    if isinstance(value, ModuleType):
        return value.__name__
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, (type, ModuleType)):
        return type(owner).__module__
    return getattr(value, "__module__", None) if callable(value) else None
