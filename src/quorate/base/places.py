"""Where things are written, for errors that show the line: a function knows its own, a class does not tell."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cached_property
from inspect import unwrap
from types import FunctionType
from typing import TYPE_CHECKING, Any

from quorate.base.errors import Location, ModelError, caller, is_model_file

if TYPE_CHECKING:
    import ast


def location_of(function: object) -> Location | None:
    """Where a function is written, from its first decorator on; not where what a decorator put around it is."""
    if isinstance(function, FunctionType):
        function = unwrap(function)
    code = getattr(function, "__code__", None)
    return Location(code.co_filename, code.co_firstlineno) if code is not None else None


def class_location(cls: type) -> Location | None:
    """Where a class is written; if its source cannot be read, the place of a method, or of the class being made."""
    file, node = _source(cls)
    if node is not None:
        return Location(file, node.lineno)
    return next(iter(_methods(cls)), None) or caller()


def member_location(cls: type, name: str) -> Location | None:
    """Where a class, or one that it inherits from, assigns or annotates a name."""
    for base in cls.__mro__[:-1]:
        file, node = _source(base)
        lines = _lines(node, name)
        if lines:
            return Location(file, lines[0])
    return class_location(cls)


def refuse_two_meanings(cls: type, names: Iterable[str], what: str) -> None:
    """Refuse a method with the name of a field (or parameter): the one written last would replace the other."""
    for name in names:
        value = vars(cls).get(name)
        if not isinstance(value, (FunctionType, property, cached_property, classmethod, staticmethod)):
            continue
        parts = [getattr(value, part, None) for part in ("fget", "func", "__func__")]
        method = location_of(next(filter(None, parts), value))
        fields = [
            Location(file, line)
            for file, node in map(_source, cls.__mro__[:-1])
            for line in _lines(node, name)
            if method is None or Location(file, line) != method
        ]
        annotated = next((one for one in fields if method is None or not _inside(one, method)), None)
        raise ModelError(
            f"{cls.__name__}.{name} is a {what}"
            + (f" in line {annotated.line}" if annotated is not None else "")
            + " and a method"
            + (f" in line {method.line}" if method is not None else ""),
            hint="give one of them another name",
            code="Q106",
            location=method or class_location(cls),
        )


def _inside(one: Location, method: Location) -> bool:
    """Whether a line is the `def` below the decorators that a method begins with."""
    import linecache

    return one.line > method.line and linecache.getline(*one).lstrip().startswith(("def", "async def"))


def _methods(cls: type) -> list[Location]:
    """Where methods of a class are written; those that dataclasses make are not."""
    places = map(location_of, vars(cls).values())
    return [place for place in places if place is not None and is_model_file(place.file)]


def _source(cls: type) -> tuple[str, ast.ClassDef | None]:
    """The file of a class, and the part of it that is the class."""
    import ast
    import inspect
    import linecache

    methods = _methods(cls)
    module = sys.modules.get(cls.__module__)
    here = caller()
    file = methods[0].file if methods else getattr(module, "__file__", None) or (here.file if here else "")
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return file, None
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == cls.__name__]

    def fits(node: ast.ClassDef) -> bool:
        """Several classes may have one name: this is the one with the class's own methods and annotations."""
        inside = all(node.lineno <= place.line <= (node.end_lineno or 0) for place in methods if place.file == file)
        return inside and all(_lines(node, name) for name in inspect.get_annotations(cls))

    return file, next(filter(fits, found), None)


def _lines(node: ast.ClassDef | None, name: str) -> list[int]:
    """The lines of a class that bind a name."""
    found: list[int] = []
    for each in node.body if node is not None else ():
        given: Any = each
        targets = getattr(given, "targets", None) or [getattr(given, "target", None)]
        if getattr(given, "name", None) == name or any(getattr(target, "id", None) == name for target in targets):
            found.append(each.lineno)
    return found
