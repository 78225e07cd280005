"""Chance and the clock in what handlers call: helpers, methods, functions made by others (docs/soundness.md, rule 19).

What nobody calls may use chance: a script beside the model that draws parameters, say. So this follows names. A
function is called if code that is called names it, as a global or as an attribute of a class of the model's. What is
not Python code, such as `time.time` itself, is refused where it is held by what is named: a table, a default, say.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import _lru_cache_wrapper, cached_property, partial
from types import CodeType, FunctionType, MethodType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any

from quorate.language.forbidden import forbid_impure, impure_by_way_of, is_impure

if TYPE_CHECKING:
    from quorate.model.definition import Definition


_Found = tuple[Any, FunctionType | None, bool]
"""A value, the function that names it or what holds it, and whether it is held by something else."""
_VALUES = frozenset({NoneType, bool, int, float, str, bytes})
_HEAP = 1 << 9
"""Of the flags of a class: it was made by Python code. No code of a model can be in any other."""


def forbid_chance(definition: Definition, asked: list[Any], is_model: Callable[[str | None], bool]) -> None:
    """Refuse a function that a handler, a guard or a property calls, or one of `asked`, and that names chance or the
    clock."""
    for function in _called(definition, asked, is_model):
        forbid_impure(function.__qualname__, function)


def _called(definition: Definition, asked: list[Any], is_model: Callable[[str | None], bool]) -> Iterator[FunctionType]:
    classes: dict[type, None] = dict.fromkeys(column.cls for column in definition.columns)
    classes |= dict.fromkeys([type(definition.system), *definition.messages])
    first: list[Any] = [each for cls in list(classes) for each in cls.__mro__]
    first += asked
    first += [
        each.function for each in (*definition.properties, definition.final, definition.bound) if each is not None
    ]
    for spec in dict.fromkeys(column.spec for column in definition.columns):
        for transition in spec.transitions:
            given = transition.declaration
            first += [transition.function, given.when, given.where, given.enough, given.size, given.each, given.same]
        first.append(spec.within)
    todo: list[_Found] = [(each, None, False) for each in first]
    seen: dict[int, Any] = {}
    names: dict[str, None] = {}
    members: dict[str, list[_Found]] = {}
    """What the classes have that no code has named yet."""
    while todo:
        value, by, held = todo.pop()
        if held and is_impure(value):
            raise impure_by_way_of(by, value)
        if id(value) in seen or type(value) in _VALUES or (isinstance(value, type) and not value.__flags__ & _HEAP):
            continue
        seen[id(value)] = value
        if isinstance(value, FunctionType) and is_model(value.__code__.co_filename):
            yield value
            inner = [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
            inner += (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
            inner.append(getattr(value, "__wrapped__", None))
            todo += [(each, value, True) for each in inner]
            named = dict.fromkeys(_names(value.__code__))
            for name in named:
                if name in value.__globals__:
                    todo += [(each, value, False) for each in _means(value.__globals__[name], named)]
                if name not in names:
                    names[name] = None
                    todo += members.pop(name, ())
        elif isinstance(value, type):
            todo.append((type(value), by, False))
            todo += _named(vars(value), names, members, by)
        else:
            todo += [(each, by, True) for each in _inside(value)]
            if not isinstance(value, ModuleType):
                todo.append((type(value), by, False))
                if type(value).__flags__ & _HEAP:  # an object of the model's
                    todo += _named(getattr(value, "__dict__", {}), names, members, by)


def _named(
    held: Mapping[str, Any], names: dict[str, None], members: dict[str, list[_Found]], by: FunctionType | None
) -> list[_Found]:
    """The members of a class or an object that code has named; the others wait until some does."""
    found: list[_Found] = []
    for name, member in held.items():
        if name in names or (name.startswith("__") and name != "__init_subclass__"):
            found.append((member, by, True))
        elif type(member) not in _VALUES:
            members.setdefault(name, []).append((member, by, True))
    return found


def _means(value: Any, names: dict[str, None]) -> list[Any]:
    if isinstance(value, ModuleType):
        return [vars(value)[name] for name in names if name in vars(value)]
    return list(value.__mro__) if isinstance(value, type) else [value]


def _inside(value: Any) -> list[Any]:
    """The functions that a value calls when it is called."""
    if isinstance(value, (MethodType, staticmethod, classmethod)):
        return [value.__func__]
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if value is sys.modules:  # of everybody; what a model stores there is found as its memory (rule 19)
        return []
    if isinstance(value, (tuple, list, set, frozenset, dict)):  # a table of functions
        held = value.values() if isinstance(value, dict) else value
        return [each for each in held if type(each) not in _VALUES]
    if isinstance(value, _lru_cache_wrapper):
        return [value.__wrapped__]
    if isinstance(value, property):
        return [value.fget]
    if isinstance(value, cached_property):
        return [value.func]
    return []


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
