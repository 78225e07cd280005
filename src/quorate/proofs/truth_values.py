"""Whether truth values may get into the sets of a property: if not, it does not matter that 0 and 1 hash like them.

Told from its code: whatever is true or false in it is returned or decides a jump, at once; no field that it reads may
hold a truth value; and no other code of the model is run by it, be it a property or an operator of a class. Anything
that is not known to be so counts as if they might.
"""

from __future__ import annotations

import dis
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from quorate.language.maps import Map
from quorate.language.message import Record
from quorate.language.pid import Peers, Pid
from quorate.model.definition import Definition
from quorate.model.fields import field_types
from quorate.proofs.proxies import SymInt
from quorate.proofs.shims import SHIMS

_CONDITIONS = {"COMPARE_OP", "CONTAINS_OP", "IS_OP", "UNARY_NOT"}
_NAMES = {"len", "set", "frozenset", "sum", "max", "min", "sorted", "list", "tuple"}
_EXCHANGED = {"__item__", "__caught__", "__ordered__"}
"""What stands for a subscript, a look at an exception, and a set in some order (recompiling.py)."""
_ATTRIBUTES = {"pid", "sender", "to", "values", "items", "keys"}
_LOADS = {"LOAD_CONST", "LOAD_SMALL_INT", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_GLOBAL", "LOAD_ATTR"}
"""Ways to come by a value, besides `LOAD_FAST` and its variants, of which it is known what they give."""
_LIBRARY = (Map, Pid, frozenset, tuple, str)
_COUNTS = {"count", "index"}
"""What sequences have by this name gives integers."""
_HARMLESS = {"__new__", "__init__", "__repr__", "__str__", "__getnewargs__", "__replace__"}


def may_be_hashed(definition: Definition, function: Any, messages: Iterable[type] = ()) -> bool:
    """Whether a truth value may be an element of a set or a key of a map in this property, guard or handler."""
    if not isinstance(function, types.FunctionType) or function.__closure__ or any(_given(function)):
        return True
    if any(function.__globals__.get(name, SHIMS.get(name)) is not SHIMS.get(name) for name in _NAMES):
        return True  # its own `len`, and the like
    held: dict[str, list[Any]] = {}
    owners: dict[type, Iterable[str]] = {type(definition.system): ()}
    for column in definition.columns:
        owners[column.cls] = column.fields
        for name in column.fields[: column.spec.visible]:
            held.setdefault(name, []).append(column.spec.types.get(name, bool))
            begins = [state[column.index][column.fields.index(name)] for state in definition.initials]
            if any(type(each) is bool or (isinstance(each, (frozenset, tuple, Map)) and each) for each in begins):
                held[name].append(bool)  # a constant may be what its type is not; its elements are hashed before
    for cls in messages:
        owners[cls] = declared = field_types(cls)
        for name, hint in declared.items():
            held.setdefault(name, []).append(hint)
    for part in _parts(hint for hints in held.values() for hint in hints):
        if _is_named(part):
            owners[part] = part._fields
            for name, hint in typing.get_type_hints(part).items():
                held.setdefault(name, []).append(hint)
    if any(_computes(cls) for cls in owners):
        return True
    known = {name: hints for name, hints in held.items() if name not in definition.parameters}
    known.update({name: [] for name in _ATTRIBUTES if name not in held})
    for name, hints in known.items():  # what else is called so
        if any(_is_own(cls, name) for cls, fields in owners.items() if name not in fields):
            hints.append(bool)
        if name not in _ATTRIBUTES | _COUNTS and any(hasattr(cls, name) for cls in _LIBRARY):
            hints.append(bool)
    safe = {name for name, hints in known.items() if all(map(_holds_none, hints))}
    return not _safe(function.__code__, safe, function.__globals__, own=True)


def _given(function: types.FunctionType) -> Iterator[Any]:
    yield from function.__defaults__ or ()
    yield from function.__kwdefaults__ or ()


def _parts(hints: Iterable[Any]) -> Iterator[Any]:
    for hint in list(hints):
        yield hint
        yield from _parts(typing.get_args(hint))


def _of_model(cls: type) -> Iterator[type]:
    return (base for base in cls.__mro__ if base is not object and base.__module__.split(".")[:2] != _LANGUAGE)


_LANGUAGE = Map.__module__.split(".")[:2]


def _computes(cls: type) -> bool:
    """Whether the class says what its operators do."""
    harmless = _HARMLESS | {"__setattr__", "__delattr__"} if issubclass(cls, Record) else _HARMLESS  # these are frozen
    return any(
        name[:2] == "__" == name[-2:] and name not in harmless and isinstance(value, _METHODS)
        for base in _of_model(cls)
        if base is not tuple
        for name, value in vars(base).items()
    )


_METHODS = (types.FunctionType, classmethod, staticmethod, property)


def _is_own(cls: type, name: str) -> bool:
    """Whether the class has a method or another attribute of this name that its author has written."""
    if any(name in vars(base) for base in _of_model(cls) if base is not tuple):
        return True
    return name not in _ATTRIBUTES and hasattr(cls, name) and not (name in _COUNTS and issubclass(cls, tuple))


def _safe(code: types.CodeType, attributes: Set[str], space: Mapping[str, Any], *, own: bool) -> bool:
    listed = list(dis.get_instructions(code))
    for at, each in enumerate(listed):
        name = each.opname
        if name.startswith(("LOAD_", "IMPORT_")) and name not in _LOADS and not name.startswith("LOAD_FAST"):
            return False
        if name.startswith(("STORE_", "DELETE_")) and name.endswith(("_GLOBAL", "_NAME")):
            return False
        if name in _CONDITIONS and not _decides(listed[at + 1 :], own=own):
            return False
        if name == "LOAD_GLOBAL" and not (
            each.argval in _NAMES | _EXCHANGED or _subscribes(listed[at + 1], space.get(each.argval))
        ):
            return False
        if name.endswith("_ATTR") and each.argval not in attributes:
            return False
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if not _safe(constant, attributes, space, own=False):
                return False
        elif not (constant is None or type(constant) in (int, str, SymInt)):
            return False
    return True


def _decides(following: list[dis.Instruction], *, own: bool) -> bool:
    """Whether what comes of a condition is returned or jumped by, and nothing else."""
    name = following[0].opname
    if name == "TO_BOOL":
        return _decides(following[1:], own=own)
    return name.startswith("POP_JUMP") or name == "UNARY_NOT" or (own and name == "RETURN_VALUE")


def _subscribes(following: dis.Instruction, value: Any) -> bool:
    """Whether it is what is asked for in `self[Participant]`."""
    subscript = following.opname == "BINARY_SUBSCR" or (following.opname == "BINARY_OP" and following.argrepr == "[]")
    return subscript and isinstance(value, type)


def _holds_none(hint: Any) -> bool:
    """Whether no value of the type has a truth value in it."""
    if hint in (int, None, type(None), Pid, Peers, Ellipsis):
        return True
    if _is_named(hint):
        return all(part in (int, Pid) for part in typing.get_type_hints(hint).values())
    if typing.get_origin(hint) in (tuple, frozenset, Map, typing.Union, types.UnionType):
        return all(map(_holds_none, typing.get_args(hint)))
    return False


def _is_named(hint: Any) -> bool:
    """Whether it is a NamedTuple."""
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")
