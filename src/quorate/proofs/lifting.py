"""Lending a model's code to unknown integers: its own numbers are made to hash like them, and everything is undone.

A set that holds an unknown integer and a plain one would never compare the two, since their hashes differ. So while a
model runs on unknown integers, the numbers in its code, globals, defaults and closures are lifted, and built-ins that
make numbers make lifted ones. Where a number may still come from elsewhere, and unknown integers are hashed, the model
is refused.
"""

from __future__ import annotations

import builtins
import dis
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from quorate.base.errors import Location, is_model_file
from quorate.language.transitions import majority
from quorate.proofs.proxies import SymBool, SymInt, comparing, lifted, running
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import ite, number

_NUMBERS = {"index", "count", "find", "bit_length", "__len__", "__hash__"}
"""Attributes by which plain integers come about."""
_SAFE = {
    "all", "any", "min", "max", "sorted", "zip", "map", "filter", "isinstance", "issubclass", "tuple", "list", "dict",
    "set", "frozenset", "bool", "str", "repr", "reversed", "next", "iter", "getattr", "hasattr", "super", "print",
    "property", "type", "callable", "slice", "format",
}  # fmt: skip


def _len(of: Any) -> SymInt:
    return SymInt(number(builtins.len(of)))


def _sum(of: Iterable[Any], start: Any = 0) -> Any:
    total = lifted(start)
    for each in of:
        total = total + each
    return total


def _range(*bounds: Any) -> list[SymInt]:
    return [lifted(each) for each in builtins.range(*(each.__index__() for each in bounds))]


def _enumerate(of: Iterable[Any], start: Any = 0) -> Iterator[tuple[SymInt, Any]]:
    for at, each in builtins.enumerate(of, int(start)):
        yield lifted(at), each


def _int(value: Any = 0, *more: Any) -> Any:
    if isinstance(value, SymInt):
        return value
    if isinstance(value, SymBool):
        return SymInt(ite(value.term, number(1), number(0)))
    return lifted(builtins.int(value, *more))


def _isinstance(value: Any, kinds: Any) -> bool:
    if isinstance(value, SymInt):
        return kinds is _int or kinds is int or (isinstance(kinds, tuple) and bool({int, _int} & {*kinds}))
    if isinstance(value, SymBool):
        return kinds in (bool, int, _int) or (isinstance(kinds, tuple) and bool({bool, int, _int} & {*kinds}))
    if kinds is _int:
        return isinstance(value, int)
    return isinstance(value, tuple(int if each is _int else each for each in kinds) if type(kinds) is tuple else kinds)


def _shim(name: str) -> Callable[..., Any]:
    plain = getattr(builtins, name)
    return lambda *given: lifted(plain(*given))


SHIMS: dict[str, Any] = {
    "len": _len,
    "sum": _sum,
    "range": _range,
    "enumerate": _enumerate,
    "int": _int,
    "isinstance": _isinstance,
    **{name: _shim(name) for name in ("abs", "divmod", "pow", "round", "ord", "hash")},
}


def _majority(of: Any) -> Any:
    return (of if isinstance(of, SymInt) else _len(of)) // 2 + 1


@contextmanager
def plainly(cls: type) -> Iterator[None]:
    """While it lasts, the names in a class's module mean what its author meant: for reading its annotations."""
    space = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    lent = {name: shim for name, shim in SHIMS.items() if space.get(name) is shim}
    for name in lent:
        del space[name]
    try:
        yield
    finally:
        space.update(lent)


class Lifting:
    """The functions of a model, found by the names that its code uses, and how to lend them."""

    def __init__(self, functions: Iterable[Any]) -> None:
        self._functions: dict[types.FunctionType, None] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        self.doubtful: tuple[str, Location] | None = None
        """Something by which a plain integer may come about all the same."""
        todo = [each for each in functions if each is not None]
        seen: set[int] = set()
        while todo:
            found = todo.pop()
            if id(found) in seen:
                continue
            seen.add(id(found))
            if isinstance(found, types.FunctionType):
                if is_model_file(found.__code__.co_filename):
                    self._functions[found] = None
                    self._spaces[id(found.__globals__)] = found.__globals__
                    todo.extend(self._named(found, found.__code__))
                    todo.extend(_contents(found))
                    todo.extend(found.__defaults__ or ())
            elif isinstance(found, (classmethod, staticmethod)):
                todo.append(found.__func__)
            elif isinstance(found, property):
                todo.extend(each for each in (found.fget,) if each is not None)
            elif isinstance(found, type) and found.__module__ != "builtins":
                todo.extend(each for base in found.__mro__ for each in vars(base).values())
            elif isinstance(found, types.MethodType):
                todo.append(found.__func__)

    def _named(self, function: types.FunctionType, code: types.CodeType) -> Iterator[Any]:
        """What the code refers to by name; doubts about it are noted."""
        place = Location(code.co_filename, code.co_firstlineno)
        names, attributes = set(), set()
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names.add(instruction.argval)
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.add(instruction.argval)
        for name in sorted(names):
            if name in function.__globals__:
                value = function.__globals__[name]
                found = [value]
                if isinstance(value, types.ModuleType):
                    found = [getattr(value, each) for each in sorted(attributes) if hasattr(value, each)]
                for each in found:
                    if not self._vouched(each, attributes):
                        self._doubt(f"`{name}`", place)
                yield from found
            elif hasattr(builtins, name) and name not in SHIMS and name not in _SAFE:
                value = getattr(builtins, name)
                if not (isinstance(value, type) and issubclass(value, BaseException)):
                    self._doubt(f"`{name}`", place)
        for name in sorted(attributes & _NUMBERS):
            self._doubt(f"`.{name}`", place)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._named(function, constant)

    def _vouched(self, value: Any, attributes: set[str]) -> bool:
        """Whether no plain integer comes from there."""
        if isinstance(value, type):
            if issubclass(value, Enum):
                return "value" not in attributes or not any(isinstance(each.value, int) for each in value)
            return True
        if isinstance(value, types.FunctionType):
            return is_model_file(value.__code__.co_filename) or value.__module__.startswith("quorate.")
        return not callable(value) or isinstance(value, SymInt)

    def _doubt(self, what: str, place: Location) -> None:
        self.doubtful = self.doubtful or (what, place)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While it lasts, the model runs on unknown integers."""
        undo: list[Callable[[], None]] = []
        try:
            for function in self._functions:
                _change(function, undo)
            for space in self._spaces.values():
                for name, value in list(space.items()):
                    if value is majority:
                        undo.append(_restoring(space, name, value))
                        space[name] = _majority
                    if name.startswith("__") or isinstance(value, (type, types.ModuleType)) or callable(value):
                        continue
                    new = lifted(value)
                    if new is not value:
                        undo.append(_restoring(space, name, value))
                        space[name] = new
                for name, shim in SHIMS.items():
                    if name not in space:
                        undo.append(_removing(space, name))
                        space[name] = shim
            with comparing():
                yield
        finally:
            for each in reversed(undo):
                each()

    def vouch(self) -> None:
        """Refuse a run in which a set may have held unknown integers beside plain ones."""
        if running.hashed and self.doubtful is not None:
            what, place = self.doubtful
            raise RefusedError(
                f"integers without a bound are put into a set, and {what} may put others there that Python would not "
                "compare with them",
                "compute it in `build` and keep it in a field, or compare with == instead of sets",
                place,
            )


def _contents(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _change(function: types.FunctionType, undo: list[Callable[[], None]]) -> None:
    code, defaults = function.__code__, function.__defaults__

    def restore() -> None:
        function.__code__, function.__defaults__ = code, defaults

    undo.append(restore)
    function.__code__ = _lifted_code(code)
    if defaults:
        function.__defaults__ = lifted(defaults)
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if isinstance(value, type) or callable(value):
            continue
        new = lifted(value)
        if new is not value:
            undo.append(_refilling(cell, value))
            cell.cell_contents = new


def _refilling(cell: types.CellType, value: Any) -> Callable[[], None]:
    def restore() -> None:
        cell.cell_contents = value

    return restore


def _restoring(space: dict[str, Any], name: str, value: Any) -> Callable[[], None]:
    def restore() -> None:
        space[name] = value

    return restore


def _removing(space: dict[str, Any], name: str) -> Callable[[], None]:
    def restore() -> None:
        space.pop(name, None)

    return restore


def _lifted_code(code: types.CodeType) -> types.CodeType:
    constants = tuple(
        _lifted_code(each) if isinstance(each, types.CodeType) else lifted(each) for each in code.co_consts
    )
    return code.replace(co_consts=constants)
