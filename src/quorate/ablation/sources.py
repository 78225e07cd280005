"""The functions that a protocol's processes run, as the trees of their source.

Handlers, the methods that they call, and functions of the model that these name. Code of Quorate and of libraries is no
part of a protocol, and neither are the properties.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

from quorate.base.errors import is_model_file
from quorate.language.automaton import Automaton
from quorate.language.declared import MARK
from quorate.language.process import Process
from quorate.language.system import System
from quorate.model.definition import Definition
from quorate.properties.asked import select
from quorate.search.survey import names_in


@dataclass(frozen=True, eq=False)
class Source:
    """One function: where it is kept, and what it was made from."""

    owner: Any
    """The class or module that has it."""
    name: str
    kept: Any
    """What is kept there: the function, or what a decorator has made of it."""
    function: FunctionType
    tree: ast.FunctionDef
    lines: tuple[str, ...]
    """The whole file."""
    roles: tuple[type[Any], ...]
    """The classes of processes that run it."""

    overridden: bool = False
    """It is only run by way of `super()`, and what its decorators say does not count."""
    called: bool = False
    """Functions of another name call it, as far as can be seen."""

    @property
    def is_transition(self) -> bool:
        """Whether what its decorators say counts."""
        return hasattr(self.kept, MARK) and not self.overridden

    @property
    def transition(self) -> str | None:
        """The name of the only transition that runs it; None if it may be more."""
        return self.name if hasattr(self.kept, MARK) and not self.called else None

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


class Sources:
    """The functions of one protocol."""

    def __init__(self, definition: Definition) -> None:
        written = [column for column in definition.processes if column.delivers_to is None and not column.spec.ends]
        self.unread: dict[str, None] = {}
        """Functions of the model that cannot be made again from what stands in their file."""
        self._asked = names_in(definition, select(definition, None))
        self._found: dict[FunctionType, Source] = {}
        for role in dict.fromkeys(column.cls for column in written):
            self._note_role(role)
        for each in list(self._found.values()):
            self._note_called(each)
        for function, each in self._found.items():
            others = [other.tree for other in self._found.values() if other.name != each.name]
            calls = any(getattr(node, "attr", "") == each.name for tree in others for node in ast.walk(tree))
            self._found[function] = replace(each, called=calls)

    def in_order(self) -> list[Source]:
        """In the order in which they are written."""
        found = self._found.values()
        order = {file: number for number, file in enumerate(dict.fromkeys(each.file for each in found))}
        return sorted(found, key=lambda each: (order[each.file], each.tree.lineno))

    def _note_role(self, role: type[Any]) -> None:
        for name in dict.fromkeys(name for base in role.__mro__ for name in vars(base)):
            above = False
            for owner in role.__mro__:
                kept = vars(owner).get(name)
                function = _function_of(kept)
                if owner in Process.__mro__ or name == "within" or function is None:
                    continue
                # A method that properties ask as well is a part of what is claimed.
                if name not in self._asked or hasattr(kept, MARK):
                    self._note(owner, name, kept, function, role, overridden=above)
                if "super" not in function.__code__.co_names:
                    break
                above = True

    def _note(
        self, owner: Any, name: str, kept: Any, function: FunctionType, *roles: type[Any], overridden: bool = False
    ) -> Source | None:
        """The function, if it is new here or new for a role."""
        known = self._found.get(function)
        if known is not None:
            more = tuple(dict.fromkeys((*known.roles, *roles)))
            self._found[function] = replace(known, roles=more, overridden=known.overridden and overridden)
            return self._found[function] if more != known.roles else None  # what it calls is run by more as well
        read = _tree(function)
        if read is None:
            if is_model_file(function.__code__.co_filename):
                self.unread[f"{owner.__name__}.{name}" if isinstance(owner, type) else name] = None
            return None
        self._found[function] = Source(owner, name, kept, function, *read, roles, overridden)
        return self._found[function]

    def _note_called(self, source: Source) -> None:
        """Functions of the model that are named in it, and so on."""
        for node in ast.walk(source.tree):
            for owner, name, kept in _named(node, source.function.__globals__):
                function = _function_of(kept)
                if function is None or name in self._asked or not is_model_file(function.__code__.co_filename):
                    continue
                new = self._note(owner or sys.modules[function.__module__], name, kept, function, *source.roles)
                if new is not None:
                    self._note_called(new)


def _function_of(kept: Any) -> FunctionType | None:
    """The function that is written in the file, below what decorators have made of it."""
    if isinstance(kept, property):
        kept = kept.fget
    elif isinstance(kept, staticmethod | classmethod):
        kept = kept.__func__
    elif not isinstance(kept, FunctionType) and not hasattr(kept, "cache_info"):
        return None
    kept = inspect.unwrap(kept)
    return kept if isinstance(kept, FunctionType) else None


def _named(node: ast.AST, names: dict[str, Any]) -> Iterator[tuple[Any, str, Any]]:
    """What a name may stand for: its owner, if that is a class, how it is called there, and what is kept there."""
    if isinstance(node, ast.Name):
        yield None, node.id, names.get(node.id)
    if not isinstance(node, ast.Attribute):
        return
    holder = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if isinstance(holder, ModuleType):
        yield None, node.attr, vars(holder).get(node.attr)
    elif holder is None or isinstance(holder, type):  # else of a value: a message, a named tuple
        values = [
            each for each in names.values() if isinstance(each, type) and not issubclass(each, Automaton | System)
        ]
        for cls in values if holder is None else holder.__mro__:
            if node.attr in vars(cls):
                yield cls, node.attr, vars(cls)[node.attr]


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
