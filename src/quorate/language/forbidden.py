"""Handlers must be functions of their state and messages: what can be seen of the contrary in their code or answers."""

from __future__ import annotations

from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from quorate.base.errors import Location, ModelError

_IMPURE = {"random", "secrets", "time", "datetime", "uuid"}
_IMPURE_NAMES = {
    "os": {"urandom", "getrandom", "getpid", "getppid", "times", "getloadavg"},
    "posix": {"urandom", "getrandom", "getpid", "getppid", "times", "getloadavg"},
    "sys": {"getallocatedblocks", "getrefcount", "_getframe"},
    "threading": {"get_ident", "get_native_id"},
    "builtins": {"id", "hash"},
}
"""By module: functions that tell the process, the machine or the moment, as the hash of a text does."""
_MOMENTS = {"now", "utcnow", "today"}
"""Of the classes of `datetime`."""
_OF_CHANCE = (
    "instead of chance, use self.choose(options), which explores every case; instead of time, use a @step, which may "
    "happen at any time, or a counter in a field"
)
_OF_HASHES = "Python hashes a text anew in each process: use zlib.crc32(text.encode()), or a number of your own"
_SUSPENDED = {0x20: "a generator: it has `yield`", 0x80: "`async def`", 0x200: "an `async def` with `yield`"}
"""By flag of a code object: functions that run nothing when they are called."""


def refuse_suspended(function: object, what: str) -> None:
    """Refuse a function that only returns something to be run by somebody else: nobody would."""
    while isinstance(function, partial):
        function = function.func
    if not isinstance(function, (FunctionType, MethodType)):
        function = vars(type(function)).get("__call__")  # of an object that can be called
    code: CodeType | None = getattr(function, "__code__", None)
    for flag, kind in _SUSPENDED.items():
        if code is not None and code.co_flags & flag:
            raise ModelError(
                f"{what} is {kind}, so calling it does nothing",
                hint="write a plain `def` without `yield` and `await`",
                code="Q106",
                location=Location(code.co_filename, code.co_firstlineno),
            )


def is_answer(value: object) -> bool:
    """Whether a guard may say this. What is true whatever happens, a generator or a method not called, is a mistake."""
    return not isinstance(value, (FunctionType, MethodType)) and not _is_ongoing(value)


def _is_ongoing(value: object) -> bool:
    cls = type(value)
    return hasattr(cls, "__next__") or hasattr(cls, "__await__") or hasattr(cls, "__anext__")


CONDITION = "return a condition: call the function, use any(...) or all(...)"


def returned(value: Any, function: object, what: str, place: Location | None, hint: str = CONDITION) -> ModelError:
    """The error for a function that gave back something that has no meaning."""
    code: CodeType | None = getattr(function, "__code__", None)
    kind = type(value).__name__
    shown = f"a {kind}" if _is_ongoing(value) else repr(value)
    if kind == "coroutine":
        value.close()  # or Python warns that nobody has awaited it
    return ModelError(
        f"{what} returned {shown}",
        hint=hint,
        code="Q106",
        location=Location(code.co_filename, code.co_firstlineno) if code is not None else place,
    )


def forbid_impure(what: str, *functions: object) -> None:
    """Refuse a handler, guard, bound or property that calls upon chance or the clock by name.

    Running a sample of the evaluations twice finds the rest, but only with luck: a coin falls the same way twice.
    """
    for function in functions:
        if isinstance(function, FunctionType):
            _scan(what, function, function.__code__)


def forbid_classes(what: str, function: FunctionType) -> None:
    """Refuse a property that asks for the class of a variable: a process in a property has a class of its own there.

    So `type(p) is Server` would be false of every server, and an invariant about servers would hold.
    """
    _find_classes(what, function, function.__code__)


def _find_classes(what: str, function: FunctionType, code: CodeType) -> None:
    if "type" in code.co_names and "type" not in function.__globals__:
        import dis

        steps = [each for each in dis.get_instructions(code) if each.opname not in ("PRECALL", "PUSH_NULL", "CACHE")]
        for asked, variable, call, then in zip(steps, steps[1:], steps[2:], steps[3:], strict=False):
            named = asked.opname == "LOAD_GLOBAL" and asked.argval == "type" and call.opname == "CALL"
            if named and variable.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) and then.opname != "LOAD_ATTR":
                line = asked.positions.lineno if asked.positions else None
                raise ModelError(
                    f"{what} uses `type({variable.argval})`: for processes a property has classes of its own",
                    hint=f"write isinstance({variable.argval}, ...)",
                    code="Q108",
                    location=Location(code.co_filename, line or code.co_firstlineno),
                )
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _find_classes(what, function, constant)


def is_impure(value: Any) -> bool:
    """Whether a value is chance or the clock itself: their module, or a function that is not the model's code."""
    if isinstance(value, ModuleType):
        return value.__name__ in _IMPURE
    owner = getattr(value, "__self__", None)
    if isinstance(owner, type):
        return owner.__module__ == "datetime" and getattr(value, "__name__", None) in _MOMENTS
    if isinstance(value, type) or not callable(value):
        return type(value).__module__ == "random"
    source = _source(value)
    return source in _IMPURE or getattr(value, "__name__", None) in _IMPURE_NAMES.get(source or "", ())


def impure_by_way_of(function: FunctionType | None, value: Any) -> ModelError:
    """The error for a function that names what holds chance or the clock: a table, a default, a closure."""
    code = function.__code__ if function is not None else None
    name = getattr(value, "__qualname__", getattr(value, "__name__", type(value).__name__))
    what = function.__qualname__ if function is not None else "the model"
    return ModelError(
        f"{what} gets at `{name}`: it must do the same whenever it is run on the same state and messages",
        hint=_OF_HASHES if value is hash else _OF_CHANCE,
        code="Q105",
        location=Location(code.co_filename, code.co_firstlineno) if code is not None else None,
    )


def _scan(what: str, function: FunctionType, code: CodeType) -> None:
    suspects = {name for name in code.co_names if name in _IMPURE or _tells(function, name) is not None}
    suspects |= {"__hash__"} & {*code.co_names} if function.__name__ != "__hash__" else set()
    if suspects:
        import dis

        instructions = list(dis.get_instructions(code))
        for instruction, following in zip(instructions, [*instructions[1:], None], strict=True):
            name = instruction.argval
            if name not in suspects:
                continue
            impure = instruction.opname == "IMPORT_NAME" and name in _IMPURE
            impure = impure or (name == "__hash__" and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"))
            if instruction.opname == "LOAD_GLOBAL":
                telling = _tells(function, name)
                impure = telling is not None and not telling
                if telling and following is not None and following.argval in telling:
                    impure, name = True, f"{name}.{following.argval}"
            if impure:
                line = instruction.positions.lineno if instruction.positions else None
                raise ModelError(
                    f"{what} uses `{name}`: it must do the same whenever it is run on the same state and messages",
                    hint=_OF_HASHES if name in ("hash", "__hash__") else _OF_CHANCE,
                    code="Q105",
                    location=Location(code.co_filename, line or code.co_firstlineno),
                )
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _scan(what, function, constant)


def _tells(function: FunctionType, name: str) -> set[str] | None:
    """None for a global that is fine; of a module, its functions that are chance or the clock; no names if all are."""
    if name not in function.__globals__:
        of_a_value = name == "hash" and function.__name__ == "__hash__"
        return set() if name in _IMPURE_NAMES["builtins"] and not of_a_value else None
    value = function.__globals__[name]
    source = _source(value)
    if source is None or source in _IMPURE:
        return None if source is None else set()
    telling = _IMPURE_NAMES.get(source)
    if isinstance(value, ModuleType) or telling is None:
        return telling
    return set() if getattr(value, "__name__", None) in telling else None


def _source(value: Any) -> str | None:
    """The module a global comes from: `random` itself, or `choice` after `from random import choice`."""
    if isinstance(value, ModuleType):
        return value.__name__
    if type(value).__module__ == "random":
        return "random"  # a generator of one's own
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, (type, ModuleType)):
        return type(owner).__module__
    return getattr(value, "__module__", None) if callable(value) else None
