"""The core as a definition is told to it, with a note of every call: what a checkpoint is compared by.

A definition is compared with a saved one by what the core was told of it, and not by what somebody thought of: a call
that is added to `Model` is noted without further ado, and so is an argument that is added to a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from quorate import _core


class Told:
    """Stands for the engine while a model describes itself. Each call is passed on, and noted as a line."""

    def __init__(self, engine: _core.Engine, network: _core.Network) -> None:
        self._engine = engine
        self.lines = [shown(network)]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._engine, name)

        def told(*given: Any, **named: Any) -> Any:
            self.lines.append(f"{name}{shown(given)}{shown(named) if named else ''}")
            return call(*given, **named)

        return told


def shown(value: Any) -> str:
    """The value in words that are the same in every process. Objects of the core are what can be read of them."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, list | tuple):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, Mapping):
        return f"({', '.join(f'{name}={shown(each)}' for name, each in value.items())})"
    if value is None or isinstance(value, bool | int | str | bytes):
        return repr(value)
    fields = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
    return f"{type(value).__name__}{shown(fields)}"
