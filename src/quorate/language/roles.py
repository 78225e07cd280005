"""Processes that play several roles: `class Server(Proposer, Acceptor)` is one process made of two.

Where the roles share no state, the process can be taken apart into one process per role (definition 8 of the thesis):
the same system, in which more processes are interchangeable. What is written down can be looked at beforehand, here;
what only shows when it is run, in `analysis/decomposition.py`.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from quorate.language.pid import NotDecomposed
from quorate.language.process import Process
from quorate.language.transitions import MARK, Declaration


def roles_of(cls: type[Process]) -> tuple[type[Process], ...]:
    """The roles a class is composed of; empty if it is a role itself."""
    bases = tuple(base for base in cls.__bases__ if issubclass(base, Process) and base is not Process)
    return bases if len(bases) > 1 else ()


def require_disjoint(cls: type[Process], roles: tuple[type[Process], ...]) -> None:
    """Refuse to take a class apart whose roles share fields, messages or methods, or look at one another."""
    own = {name for name, value in cls.__dict__.items() if not name.startswith("__") and name != "_fields"}
    if own:
        raise NotDecomposed(f"{cls.__name__} adds {', '.join(sorted(own))} to its roles")
    for role in roles:
        if getattr(role, "within", None) is not None:
            raise NotDecomposed(f"{role.__name__}.within bounds the whole process")
        if roles_of(role):
            raise NotDecomposed(f"{role.__name__}, a role of {cls.__name__}, is composed of roles itself")
    for number, one in enumerate(roles):
        for two in roles[number + 1 :]:
            _require_apart(cls, one, two)
            _require_apart(cls, two, one)


def _require_apart(cls: type[Process], one: type[Process], two: type[Process]) -> None:
    names = f"{one.__name__} and {two.__name__}, roles of {cls.__name__},"
    shared = set(one._fields) & set(two._fields)
    if shared:
        raise NotDecomposed(f"{names} share the field {', '.join(sorted(shared))}")
    mine, its = _members(one), _members(two)
    for name in mine.keys() & its.keys():
        if mine[name] is not its[name]:
            raise NotDecomposed(f"{names} both define `{name}`")
    for here in _messages(one):
        for there in _messages(two):
            if issubclass(here, there) or issubclass(there, here):
                raise NotDecomposed(f"{names} both take {here.__name__}")
    others = set(two._fields) - set(one._fields)
    for name, member in mine.items():
        seen = {word for function in _functions(member) for word in _uses_of_self(function)} & (others | {_HANDED_ON})
        if seen:
            what = "hands itself on" if _HANDED_ON in seen else f"uses `{min(seen)}` of {two.__name__}"
            raise NotDecomposed(f"{one.__name__}.{name} {what}: the roles of {cls.__name__} may share more than a name")


def _members(role: type[Process]) -> dict[str, Any]:
    """What a role defines or inherits, short of what every process has."""
    found: dict[str, Any] = {}
    for base in reversed(role.__mro__):
        if issubclass(base, Process) and base is not Process:
            found.update({name: value for name, value in base.__dict__.items() if isinstance(value, FunctionType)})
    return found


def _messages(role: type[Process]) -> list[type]:
    declared = [getattr(member, MARK, None) for member in _members(role).values()]
    return [each.message for each in declared if isinstance(each, Declaration) and each.message is not None]


def _functions(member: FunctionType) -> list[FunctionType]:
    """A method and the guards declared with it."""
    declared: Declaration | None = getattr(member, MARK, None)
    guards = [] if declared is None else [value for value in vars(declared).values() if isinstance(value, FunctionType)]
    return [member, *guards]


def _uses_of_self(function: FunctionType) -> Iterator[str]:
    """The attributes of its process that a function names, also in functions inside of it; or that it hands it on."""
    if function.__code__.co_argcount == 0:
        return
    me = function.__code__.co_varnames[0]
    todo = [function.__code__]
    while todo:
        code = todo.pop()
        todo += [each for each in code.co_consts if isinstance(each, CodeType)]
        steps = [step for step in dis.get_instructions(code) if step.opname not in _NO_MATTER]
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            loaded = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            if "LOAD" not in step.opname or step.opname == "LOAD_CLOSURE" or me not in loaded:
                continue
            named = following is not None and following.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")
            yield following.argval if named and following is not None and loaded[-1] == me else _HANDED_ON


_HANDED_ON = "self"
_NO_MATTER = {"COPY", "DUP_TOP", "CACHE", "PRECALL", "EXTENDED_ARG"}
