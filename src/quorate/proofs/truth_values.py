"""Whether truth values may get into the sets of a property: if not, it does not matter that 0 and 1 hash like them.

Told from its code: whatever is true or false in it is returned or decides a jump, at once; and no field that it reads
may hold a truth value. Anything that is not known to be so counts as if they might.
"""

from __future__ import annotations

import dis
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from quorate.language.maps import Map
from quorate.language.pid import Peers, Pid
from quorate.model.definition import Definition
from quorate.model.fields import field_types
from quorate.proofs.lifting import SHIMS
from quorate.proofs.proxies import SymInt

_CONDITIONS = {"COMPARE_OP", "CONTAINS_OP", "IS_OP", "UNARY_NOT"}
_NAMES = {"len", "set", "frozenset", "sum", "max", "min", "sorted", "list", "tuple"}
_ATTRIBUTES = {"pid", "sender", "to", "values", "items", "keys"}
_REFUSED = {"LOAD_NAME", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_NAME", "STORE_GLOBAL"}


def may_be_hashed(definition: Definition, function: Any, messages: Iterable[type] = ()) -> bool:
    """Whether a truth value may be an element of a set or a key of a map in this property, guard or handler."""
    if not isinstance(function, types.FunctionType) or function.__closure__ or function.__defaults__:
        return True
    if any(function.__globals__.get(name, SHIMS.get(name)) is not SHIMS.get(name) for name in _NAMES):
        return True  # its own `len`, and the like
    held: dict[str, list[Any]] = {}
    for column in definition.columns:
        for name in column.fields[: column.spec.visible]:
            held.setdefault(name, []).append(column.spec.types.get(name))
            begins = [state[column.index][column.fields.index(name)] for state in definition.initials]
            if any(isinstance(each, (frozenset, tuple, Map)) and each for each in begins):
                held[name].append(bool)  # of a constant, the elements are hashed once and for all
    for cls in messages:
        for name, hint in field_types(cls).items():
            held.setdefault(name, []).append(hint)
    for hint in [hint for hints in held.values() for hint in hints]:
        if _is_named(hint):
            for name, part in typing.get_type_hints(hint).items():
                held.setdefault(name, []).append(part)
    for name, hints in held.items():  # what else is called so
        owners = [type(definition.system), *(column.cls for column in definition.columns if name not in column.fields)]
        if name in definition.parameters or any(hasattr(owner, name) for owner in owners):
            hints.append(bool)
    return not _safe(function.__code__, held, own=True)


def _safe(code: types.CodeType, held: Mapping[str, list[Any]], *, own: bool) -> bool:
    listed = list(dis.get_instructions(code))
    for at, each in enumerate(listed):
        if each.opname in _REFUSED:
            return False
        if each.opname in _CONDITIONS and not _decides(listed[at + 1 :], own=own):
            return False
        if each.opname == "LOAD_GLOBAL" and not (each.argval in _NAMES or _subscribes(listed[at + 1])):
            return False
        if each.opname == "LOAD_ATTR" and not (
            all(map(_holds_none, held[each.argval])) if each.argval in held else each.argval in _ATTRIBUTES
        ):
            return False
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if not _safe(constant, held, own=False):
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


def _subscribes(following: dis.Instruction) -> bool:
    """Whether it is what is asked for in `self[Participant]`."""
    return following.opname == "BINARY_SUBSCR" or (following.opname == "BINARY_OP" and following.argrepr == "[]")


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
