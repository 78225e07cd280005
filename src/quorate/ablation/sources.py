"""The functions that a protocol's processes run, as the trees of their source.

Handlers, the methods that they call, and functions of the same file that these name. Code of Quorate and of libraries
is no part of a protocol, and neither are the properties.
"""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from quorate.base.errors import is_model_file
from quorate.language.declared import MARK
from quorate.language.process import Process
from quorate.model.definition import Definition
from quorate.properties.asked import select
from quorate.search.survey import names_in


@dataclass(frozen=True, eq=False)
class Source:
    """One function: where it is kept, and what it was made from."""

    owner: Any
    """The class or module that has it."""
    name: str
    function: FunctionType
    tree: ast.FunctionDef
    lines: tuple[str, ...]
    """The whole file."""
    roles: tuple[type[Any], ...]
    """The classes of processes that run it."""

    overridden: bool = False
    """It is only run by way of `super()`, and what its decorators say does not count."""

    @property
    def is_transition(self) -> bool:
        """Whether what its decorators say counts."""
        return hasattr(self.function, MARK) and not self.overridden

    @property
    def transition(self) -> str | None:
        """The name of the only transition that runs it; None if it may be more."""
        return self.name if hasattr(self.function, MARK) else None

    @property
    def file(self) -> str:
        return self.function.__code__.co_filename

    @property
    def where(self) -> str:
        return self.owner.__name__ if isinstance(self.owner, type) else ""

    def text(self, node: ast.AST) -> str:
        """What is written there, on one line."""
        found = ast.get_source_segment("".join(self.lines), node) or ast.unparse(node)
        return " ".join(found.split())


def sources_of(definition: Definition) -> list[Source]:
    """The functions in the order in which they are written."""
    written = [column for column in definition.processes if column.delivers_to is None and not column.spec.ends]
    classes = list(dict.fromkeys(column.cls for column in written))
    asked = names_in(definition, select(definition, None))
    found: dict[FunctionType, Source] = {}
    for role in classes:
        for name in dict.fromkeys(name for base in role.__mro__ for name in vars(base)):
            above = False
            for owner in role.__mro__:
                function = vars(owner).get(name)
                if owner in Process.__mro__ or name == "within" or not isinstance(function, FunctionType):
                    continue
                # A method that properties ask as well is a part of what is claimed.
                if name not in asked or hasattr(function, MARK):
                    _note(found, owner, name, function, role, overridden=above)
                if "super" not in function.__code__.co_names:
                    break
                above = True
    for each in list(found.values()):
        _note_called(found, each)
    order = {file: number for number, file in enumerate(dict.fromkeys(each.file for each in found.values()))}
    return sorted(found.values(), key=lambda each: (order[each.file], each.tree.lineno))


def _note(
    found: dict[FunctionType, Source],
    owner: Any,
    name: str,
    function: FunctionType,
    *roles: type[Any],
    overridden: bool = False,
) -> Source | None:
    known = found.get(function)
    if known is not None:
        roles = tuple(dict.fromkeys((*known.roles, *roles)))
        found[function] = replace(known, roles=roles, overridden=known.overridden and overridden)
        return None
    read = _tree(function)
    if read is None:
        return None
    found[function] = Source(owner, name, function, *read, roles, overridden)
    return found[function]


def _note_called(found: dict[FunctionType, Source], source: Source) -> None:
    """Functions of the same module that are named in it, and so on."""
    module = sys.modules.get(source.function.__module__)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name):
            function = source.function.__globals__.get(node.id)
            if isinstance(function, FunctionType) and function.__globals__ is source.function.__globals__:
                new = _note(found, module, node.id, function, *source.roles)
                if new is not None:
                    _note_called(found, new)


def _tree(function: FunctionType) -> tuple[ast.FunctionDef, tuple[str, ...]] | None:
    """The function in its file; None if it cannot be made again from what stands there."""
    code = function.__code__
    if not is_model_file(code.co_filename) or "<locals>" in function.__qualname__:
        return None
    lines = tuple(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno and not _mangled(node):
                return node, lines
    return None


def _mangled(node: ast.AST) -> bool:
    """Whether it has names that are private to its class: these only mean something inside of it."""
    names: list[str] = [getattr(each, "attr", "") or getattr(each, "id", "") for each in ast.walk(node)]
    return any(name.startswith("__") and not name.endswith("__") for name in names)
