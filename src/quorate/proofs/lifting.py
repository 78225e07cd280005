"""Lending a model's code to unknown integers: its own numbers are made to hash like them, and everything is undone.

A set that holds an unknown integer and a plain one would never compare the two, since their hashes differ. So while a
model runs on unknown integers, the numbers in its code, globals, defaults and closures are lifted, and built-ins that
make numbers make lifted ones. Where a number may still come from elsewhere, and unknown integers are hashed, the model
is refused.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import itertools
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import Any

from quorate.base.errors import Location, ModelError, is_model_file
from quorate.base.places import class_location
from quorate.base.values import ContentSet
from quorate.language.maps import Map
from quorate.language.message import Record
from quorate.language.pid import Pid
from quorate.language.scalar import Scalar
from quorate.language.system import System
from quorate.language.transitions import majority
from quorate.proofs.loans import Loan, change, fill, held, put, removing, restoring
from quorate.proofs.proxies import (
    SymBool,
    SymInt,
    comparing,
    lifted,
)
from quorate.proofs.recompiling import Calls, iterates, recompiled, refuse_unknown, sums
from quorate.proofs.refusal import RefusedError, running
from quorate.proofs.shims import SHIMS, lifted_majority

_NUMBERS = {
    "index", "count", "find", "rfind", "rindex", "encode", "from_bytes", "to_bytes", "bit_length", "bit_count",
    "as_integer_ratio", "_value2member_map_", "__len__", "__index__", "__int__", "__code__", "__dict__",
    "real", "imag", "numerator", "denominator", "conjugate", "__add__", "__radd__", "__sub__", "__rsub__", "__neg__",
    "__invert__", "__lshift__", "__rlshift__", "__subclasses__", "__globals__", "__defaults__", "__kwdefaults__",
    "__closure__", "__annotations__", "indices", "maxlen", "tb_lineno", "f_lineno", "lineno",
}  # fmt: skip
"""Attributes by which plain integers come about."""
_EXACT = {
    "abc", "bisect", "builtins", "collections", "contextlib", "copy", "dataclasses", "decimal", "enum", "fractions",
    "functools", "heapq", "itertools", "math", "numbers", "operator", "string", "struct", "types", "typing",
}  # fmt: skip
"""Modules of the standard library whose functions ask an integer what it is worth by its special methods alone."""
_SAFE = {
    "all", "any", "min", "max", "sorted", "zip", "map", "filter", "issubclass", "tuple", "list", "dict",
    "set", "frozenset", "bool", "str", "repr", "reversed", "next", "iter", "hasattr", "super", "print",
    "property", "callable", "slice", "format",
}  # fmt: skip


_lent: list[dict[str, Any]] = []
"""The modules in which built-ins are not those of Python now."""


@contextmanager
def plainly() -> Iterator[None]:
    """While it lasts, the names in the model's modules mean what its author meant: for reading annotations."""
    taken = [(space, {name: shim for name, shim in SHIMS.items() if space.get(name) is shim}) for space in _lent]
    for space, shims in taken:
        for name in shims:
            del space[name]
    try:
        yield
    finally:
        for space, shims in taken:
            space.update(shims)


class Lifting:
    """The functions of a model, found by the names that its code uses, and how to lend them."""

    how: type[Calls] = Calls

    def __init__(self, functions: Iterable[Any]) -> None:
        self._functions: dict[types.FunctionType, None] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        self._made: dict[types.FunctionType, None] = {}
        """Functions that Python has made for a class, with the defaults of its fields."""
        self._holders: dict[tuple[int, str], tuple[Any, str]] = {}
        """Classes and modules with attributes that hold numbers."""
        self._attributes: set[str] = set()
        self.doubtful: tuple[str, Location] | None = None
        """Something by which a plain integer may come about all the same."""
        self._foreign: tuple[str, Location] | None = None
        """A function that is not the model's own, and may tell an unknown integer from one."""
        classes: list[type] = []
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
                    code = found.__code__
                    if (sums(code) or iterates(code)) and recompiled(found, self.how) is None:
                        place = Location(code.co_filename, code.co_firstlineno)
                        self._doubt(f"`{found.__name__}`, whose source is not found,", place)
                    self._spaces[id(found.__globals__)] = found.__globals__
                    todo.extend(self._named(found, found.__code__))
                    todo.extend(self._kept(found))
            elif isinstance(found, (classmethod, staticmethod)):
                todo.append(found.__func__)
            elif isinstance(found, property):
                todo.extend(each for each in (found.fget, found.fset, found.fdel) if each is not None)
            elif isinstance(found, type) and found.__module__ != "builtins":
                for base in found.__mro__:
                    if _is_model_class(base):
                        classes.append(base)
                    # `build` has run before anything is unknown.
                    skipped = ("build",) if issubclass(base, System) else ()
                    todo.extend(value for name, value in vars(base).items() if name not in skipped)
                todo.extend(_declared(found))
            elif isinstance(found, types.MethodType):
                todo.append(found.__func__)
            elif isinstance(found, (tuple, list, set, frozenset)):
                todo.extend(found)
            elif isinstance(found, (dict, Map)):
                todo.extend((*found.keys(), *found.values()))
            elif isinstance(found, Record) or dataclasses.is_dataclass(found):
                todo.extend(getattr(found, name, None) for name in _parts_of(found))
        for cls in dict.fromkeys(classes):
            self._class(cls)
            if not self._vouched(cls, self._attributes):
                self._doubt(f"`{cls.__name__}`", _place_of(cls))

    def _kept(self, function: types.FunctionType) -> Iterator[Any]:
        """What a function has in its closure and its defaults."""
        place = Location(function.__code__.co_filename, function.__code__.co_firstlineno)
        for each in (*_contents(function), *_given(function)):
            if not self._vouched(each, self._attributes):
                self._doubt(f"what `{function.__name__}` is given", place, foreign=_is_foreign(each))
            yield each

    def _class(self, cls: type) -> None:
        """The numbers that a class of the model holds."""
        if issubclass(cls, Enum):
            for member in cls if not issubclass(cls, int) else ():
                if lifted(member._value_) is not member._value_:
                    self._holders[id(member), "_value_"] = member, "_value_"
            return
        if dataclasses.is_dataclass(cls) and any(each.hash and not each.compare for each in dataclasses.fields(cls)):
            self._doubt(f"`{cls.__name__}`, whose equal values may have different hashes,", _place_of(cls))
        own = {*getattr(cls, "_fields", ()), *getattr(cls, "_names", ())}
        language = [base for base in cls.__mro__ if base is not object and not _is_model_class(base)]
        for name, value in vars(cls).items():
            function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if isinstance(function, types.FunctionType):
                if not is_model_file(function.__code__.co_filename) and list(_given(function)):
                    self._made[function] = None
                continue
            if name in own or any(name in vars(base) for base in language):
                continue
            if isinstance(value, _METHODS):
                continue
            # What the code does not name may be read all the same, by a pattern of `match`.
            if self._vouched(value, self._attributes):
                if not callable(value) and name[:2] != "__" and lifted(value) is not value:
                    self._holders[id(cls), name] = cls, name
            elif name in self._attributes:
                place = _place_of(cls)
                self._doubt(f"`{cls.__name__}.{name}`", place, foreign=_is_foreign(value))

    def _named(self, function: types.FunctionType, code: types.CodeType) -> Iterator[Any]:
        """What the code refers to by name; doubts about it are noted."""
        place = Location(code.co_filename, code.co_firstlineno)
        names, attributes = set(), set()
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names.add(instruction.argval)
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.add(instruction.argval)
            elif instruction.opname == "IMPORT_NAME":
                self._doubt(f"`{instruction.argval}`", place, foreign=_is_other(instruction.argval))
        self._attributes |= attributes
        for name in sorted(names):
            if name.startswith("@py"):  # pytest's, for the text of an assertion that fails
                continue
            if name in function.__globals__:
                # What `getattr` takes of a module, its names do not show.
                wanted = None if "getattr" in names else attributes
                for each in self._reached(function.__globals__[name], wanted):
                    if not self._vouched(each, attributes):
                        self._doubt(f"`{name}`", place, foreign=_is_foreign(each))
                    yield each
            elif hasattr(builtins, name) and name not in SHIMS and name not in _SAFE:
                value = getattr(builtins, name)
                if not (isinstance(value, type) and issubclass(value, BaseException)):
                    self._doubt(f"`{name}`", place, foreign=name in ("eval", "exec"))
        for name in sorted(attributes & _NUMBERS):
            self._doubt(f"`.{name}`", place)
        if "__hash__" in attributes:
            raise RefusedError("computes with a hash", "compare with ==, or use a set", place)
        for name in sorted(attributes & _INSIDE | names & {"vars", "dir"}):
            raise RefusedError(f"takes an object apart by `{name}`", "name its fields", place)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._named(function, constant)
            elif not _is_clean(constant):
                self._doubt(f"`{constant!r}`", place)

    def _reached(self, value: Any, attributes: set[str] | None, depth: int = 0) -> Iterator[Any]:
        """A value, or of a module what the code takes from it; None if that may be anything."""
        if not isinstance(value, types.ModuleType) or depth > 4:
            yield value
            return
        own = is_model_file(getattr(value, "__file__", None) or "<frozen")
        everything = sorted(name for name in vars(value) if name[:2] != "__")
        for name in everything if attributes is None else sorted(attributes):
            found = vars(value).get(name)
            if found is None or (attributes is None and isinstance(found, types.ModuleType)):
                continue
            for each in self._reached(found, attributes, depth + 1):
                if each is found and not callable(each) and not isinstance(each, type):
                    if own:
                        self._holders[id(value), name] = value, name
                    elif lifted(each) is not each:
                        yield _Foreign
                        continue
                yield each

    def _vouched(self, value: Any, attributes: set[str]) -> bool:
        """Whether no plain integer comes from there: all that it holds is lifted, and it is the model's own code."""
        if value is _Foreign:
            return False
        if isinstance(value, type):
            if issubclass(value, Enum):
                members = list(value)
                if any(isinstance(each, int) for each in members):
                    return False
                given = [
                    part
                    for each in members
                    for name, part in vars(each).items()
                    if name in attributes and name != "_value_"  # which is lifted
                ]
                if attributes & {"value", "_value_"} and not all(_is_clean(each.value) for each in members):
                    return False
                return all(_is_clean(each) and lifted(each) is each for each in given)
            if issubclass(value, (int, float, complex)) and value not in _PLAIN:
                return False
            if value is typing.Any or value.__module__ == "collections.abc":  # in an annotation
                return True
            if value.__module__ == "itertools":  # they pass on what they get, but for one
                return value is not itertools.count
            return _is_model_class(value) or value.__module__.startswith("quorate.") or value in _PLAIN
        if isinstance(value, types.FunctionType):
            held = [each for name, each in vars(value).items() if name in attributes]
            if not all(callable(each) or lifted(each) is each for each in held):
                return False
            return is_model_file(value.__code__.co_filename) or value.__module__.startswith("quorate.")
        if isinstance(value, types.MethodType):
            return self._vouched(value.__func__, attributes)
        return _is_clean(value)

    def _doubt(self, what: str, place: Location, *, foreign: bool = False) -> None:
        self.doubtful = self.doubtful or (what, place)
        if foreign:
            self._foreign = self._foreign or (what, place)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While it lasts, the model runs on unknown integers."""
        if self._foreign is not None:
            what, place = self._foreign
            raise RefusedError(
                f"{what} is not the model's own, and may tell an integer without a bound from a number",
                f"leave it out; what is known to be exact: {', '.join(sorted(_EXACT - {'builtins'}))}",
                place,
            )
        undo: list[Callable[[], None]] = []
        loans: list[Loan] = []
        changed: Loan | None = None
        doubtful, running.doubtful = running.doubtful, self.doubtful
        before = len(_lent)
        _lent.extend(self._spaces.values())
        try:
            for function in self._functions:
                change(function, self._code(function), undo, loans)
            for function in self._made:
                change(function, function.__code__, undo, loans)
            shared = {
                id(cell): (cell, each.__qualname__) for each in self._functions for cell in each.__closure__ or ()
            }
            fill(shared, undo, loans)
            for space in self._spaces.values():
                for name, value in list(space.items()):
                    if value is majority:
                        undo.append(restoring(space, name, value))
                        space[name] = lifted_majority
                    if name.startswith("__") or isinstance(value, (type, types.ModuleType)) or callable(value):
                        continue
                    new = lifted(value)
                    if new is not value:
                        undo.append(restoring(space, name, value))
                        space[name] = new
                        loans.append(Loan(name, partial(space.get, name), new, value))
                for name, shim in SHIMS.items():
                    if name not in space:
                        undo.append(removing(space, name))
                        space[name] = shim
            for holder, name in self._holders.values():
                if id(vars(holder)) in self._spaces:
                    continue  # a module whose names are lent already
                value = vars(holder)[name]
                new = lifted(value)
                if new is not value:
                    undo.append(partial(put, holder, name, value))
                    put(holder, name, new)
                    loans.append(Loan(name, partial(held, holder, name), new, value))
            with comparing():
                yield
        finally:
            running.doubtful = doubtful
            del _lent[before:]
            changed = next((each for each in loans if not each.is_as_it_was()), None)
            for each in reversed(undo):
                each()
        if changed is not None:
            raise ModelError(
                f"`{changed.name}` was changed: the model remembers something outside of its fields",
                hint="only fields are part of a state: use a field of the process, or of a Monitor for a property",
                code="Q104",
            )

    def _code(self, function: types.FunctionType) -> types.CodeType:
        """Its code with what cannot be intercepted otherwise as calls."""
        made = recompiled(function, self.how)
        if made is None:
            refuse_unknown(function.__code__)
        return made or function.__code__


_INSIDE = {"__dict__", "__getattribute__", "__getstate__", "__reduce__", "__reduce_ex__"}
"""Attributes by which code sees what stands for a message or an integer, and not what it stands for."""


class _Foreign:
    """Stands for numbers of a module that is not the model's own."""


_METHODS = (
    types.FunctionType,
    classmethod,
    staticmethod,
    property,
    type,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_PLAIN = {int, bool, str, bytes, tuple, list, dict, set, frozenset, object, type(None)}


def _parts_of(value: Any) -> Iterable[str]:
    """The names of what a message or a dataclass consists of."""
    return type(value)._names if isinstance(value, Record) else [each.name for each in dataclasses.fields(value)]


def _declared(cls: type) -> Iterator[Any]:
    """The classes that the annotations of a class name: a model may read their values without their names."""
    if not _is_model_class(cls):
        return
    try:
        todo: list[Any] = list(typing.get_type_hints(cls).values())
    except Exception:  # names that only a type checker knows: no field has such a type
        return
    while todo:
        hint = todo.pop()
        todo.extend(each for each in typing.get_args(hint) if not isinstance(each, (int, str, bytes)))
        if isinstance(hint, type):
            yield hint


def _place_of(cls: type) -> Location:
    return class_location(cls) or Location(cls.__module__, 1)


def _is_model_class(cls: type) -> bool:
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if file is None:  # a model may have none, and so have some modules of Python
        return cls.__module__.partition(".")[0] not in sys.stdlib_module_names
    return is_model_file(file)


def _is_foreign(value: Any) -> bool:
    """Whether it is code that is neither the model's nor known to be exact."""
    if value is _Foreign:
        return False
    if isinstance(value, partial):
        return _is_foreign(value.func)
    if isinstance(value, types.FunctionType):
        return not (is_model_file(value.__code__.co_filename) or _is_exact(value.__globals__.get("__name__", "")))
    if isinstance(value, type):
        return not (_is_model_class(value) or _is_exact(value.__module__))
    if isinstance(value, types.BuiltinFunctionType):
        return not _is_exact(value.__module__ or type(value.__self__).__module__)
    return callable(value) and not _is_exact(type(value).__module__) and not _is_model_class(type(value))


def _is_other(module: str) -> bool:
    """Whether a module is neither the model's, nor the language, nor known to be exact."""
    file = getattr(sys.modules.get(module), "__file__", None) or "<frozen"
    return not (module.split(".")[0] == "quorate" or is_model_file(file) or _is_exact(module))


def _is_exact(module: str) -> bool:
    return module.partition(".")[0].lstrip("_") in _EXACT


def _is_clean(value: Any) -> bool:
    """Whether no plain number is left in it that hashes like an integer, once it is lifted."""
    kind = type(value)
    if kind in (int, bool, str, type(None), type(Ellipsis), Pid, SymInt, SymBool, types.CodeType):
        return True
    if isinstance(value, Enum):
        return not isinstance(value, int)
    if isinstance(value, (type, types.FunctionType, types.ModuleType, Scalar)):
        return True
    if kind in (set, frozenset) or isinstance(value, ContentSet):
        parts = list(frozenset(value))
        return not any(type(each) is bool for each in parts) and all(map(_is_clean, parts))
    if kind in (tuple, list) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return all(map(_is_clean, value))
    if kind is dict or isinstance(value, Map):
        items = list(value.items() if kind is dict else value._items.items())
        return not any(type(key) is bool for key, _ in items) and all(
            _is_clean(part) for pair in items for part in pair
        )
    if isinstance(value, Record):
        return all(_is_clean(value.__dict__.get(name)) for name in kind._names)
    if dataclasses.is_dataclass(value):
        return all(_is_clean(getattr(value, field.name)) for field in dataclasses.fields(value))
    return False


def _given(function: types.FunctionType) -> Iterator[Any]:
    """Its defaults."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _contents(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue
