"""What a model could remember outside of its fields: everything mutable that its functions can reach.

A verdict about a model with such a memory is worthless (docs/soundness.md, rule 19): what handlers do would depend on
which behaviours happened to be evaluated before. So it is written down after `build` and compared at the end.

The walk begins at the handlers, guards, properties and their classes, and follows what Python follows: globals that
the code names, closures, default arguments, attributes of functions, classes and objects, what containers hold. Of a
library it knows the objects that the model holds, with what they hold themselves, and of modules, classes and
functions what the model's code names. What an object written in C holds is asked of its buffer, of its state for
`pickle`, or of its `repr`. Some state is the process's: the environment, the state of `random`, and the like.

What may hold more than that is in `opaque`. Evaluating again finds it (`properties/purity.py`).
"""

from __future__ import annotations

import os
import re
import sys
import threading
from array import array
from collections import deque
from collections.abc import Iterator
from contextvars import ContextVar
from enum import Enum
from functools import _lru_cache_wrapper, cached_property, partial
from types import (
    BuiltinMethodType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from quorate.base.errors import Location, ModelError, is_model_file, is_own_file
from quorate.base.places import location_of
from quorate.histories.checked import Checked
from quorate.language.automaton import Automaton, Field
from quorate.language.maps import Map
from quorate.language.message import Record
from quorate.language.pid import Pid
from quorate.language.system import System
from quorate.model.chance import forbid_chance
from quorate.model.temporal import goals_of

if TYPE_CHECKING:
    from quorate.model.definition import Definition

_ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented)})
_SHORT = 32
"""Longer containers of atoms are only known by a hash."""
_ELSEWHERE = (os.path.join(os.path.dirname(os.__file__), ""), "/site-packages/", "/dist-packages/")
"""What the paths of libraries have in them."""
_OURS = {name for base in (Automaton, Record, System) for cls in base.__mro__[:-1] for name in vars(cls)} | {"_kind_of"}
"""What the language itself keeps in the classes of a model."""
_PYTHONS = frozenset((
    "__module__", "__dict__", "__weakref__", "__annotations__", "__annotate__", "__annotate_func__",
    "__annotations_cache__", "__doc__", "__abstractmethods__", "__dataclass_fields__", "__dataclass_params__",
    "__orig_bases__", "__parameters__", "__type_params__", "__slots__", "__match_args__", "__firstlineno__",
    "__static_attributes__", "__hash__", "__new__", "__slotnames__", "_abc_impl",
))  # fmt: skip
"""What Python itself keeps in classes."""
_BY_NAME = frozenset((
    "globals", "locals", "vars", "exec", "eval", "__import__", "import_module", "modules", "_getframe",
    "currentframe", "f_globals", "__globals__",
))  # fmt: skip
"""By these, code gets at globals that it does not name."""
_HARMLESS = frozenset((
    "__future__", "_abc", "_bisect", "_collections", "_collections_abc", "_functools", "_heapq", "_operator",
    "_sre", "abc", "bisect", "builtins", "cmath", "collections", "copy", "dataclasses", "enum", "fractions",
    "functools", "heapq", "itertools", "json", "keyword", "logging", "math", "numbers", "operator", "quorate", "re",
    "statistics", "string", "types", "typing", "typing_extensions",
))  # fmt: skip
"""Modules with functions that remember nothing, but for caches and what is written to a log."""
_CALLS = frozenset({"open", "input", "breakpoint", *_BY_NAME})
"""Of Python's own functions those that get at something that remembers."""
_SETTERS = ("setattr", "__setattr__", "__dict__", "vars")
_QUOTED = re.compile(r"'\w+'|\"\w+\"")


class Place(NamedTuple):
    """Where something was found: in words, and the name by which code gets at it."""

    words: str
    name: str
    scope: type | FunctionType | None = None
    """Of an attribute its class, of a global the function that names it."""
    root: str = ""
    """Of an attribute of an object, the name of what holds the object."""
    foreign: int = 0
    """How deep this is in objects of libraries; of what belongs to the process, -1."""

    def inside(self, words: str) -> Place:
        return self._replace(words=self.words + words)


_PROCESS = -1
"""Of what belongs to the process, in place of a depth."""
_RANDOM = Place("the state of random", "random", foreign=_PROCESS)


class Memory:
    """What was there after `build`."""

    def __init__(self, definition: Definition) -> None:
        self._roots = list(_roots(definition))
        self._homes = tuple(_homes(definition))
        self._codes: dict[CodeType, None] = {}
        self.caches: list[Any] = []
        """Functions with a `functools.cache`: pure ones may stay, and are asked without it in the end."""
        self.opaque: dict[str, None] = {}
        """What the model has to do with that may remember more than can be seen, in words."""
        self._there = self._look()
        applied = [each.specification.apply for each in specifications(definition)]
        forbid_chance(definition, [*given_to_properties(definition), *applied], self.is_model)

    def require_unchanged(self) -> None:
        """Raise if a part of the model has stored something where only fields should be."""
        now = self._look()
        for place in {**self._there, **now}:
            before, after = self._there.get(place, _ABSENT), now.get(place, _ABSENT)
            if before == after or not self._is_named(place):
                continue
            if place.foreign == _PROCESS and (before is _ABSENT or not self.opaque or threading.active_count() > 1):
                continue  # a module that was imported meanwhile, nothing that the model gets at, or another thread's
            if place is _RANDOM:
                raise ModelError(
                    "the model draws random numbers: the state of `random` has changed",
                    hint="instead of chance, use self.choose(options), which explores every case",
                    code="Q105",
                    location=self._line(place),
                )
            raise ModelError(
                f"`{place.words}` {_shown(before, after)}: the model remembers something outside of its fields",
                hint="only fields are part of a state: use a field of the process, or of a Monitor for a property; "
                "a helper may cache with functools.cache",
                code="Q104",
                location=self._line(place),
            )

    # --- the walk ----------------------------------------------------------------------------------------------

    def _look(self) -> dict[Place, Any]:
        found: dict[Place, Any] = dict(_ambient())
        seen: dict[int, object] = {}  # with the objects, so that no number is used again meanwhile
        todo = list(reversed(self._roots))
        self.caches = []
        while todo:
            place, value = todo.pop()
            if type(value) in _ATOMS:
                found[place] = repr(value)
            elif id(value) not in seen:
                seen[id(value)] = value
                todo += reversed(list(self._parts(place, value, found)))
        return found

    def _parts(self, place: Place, value: Any, found: dict[Place, Any]) -> Iterator[tuple[Place, Any]]:
        """What a value is made of; what it is by itself is noted in `found`."""
        if isinstance(value, FunctionType):
            if self.is_model(value.__code__.co_filename):
                yield from self._function(value, found)
            else:
                self._meets(value)
        elif isinstance(value, type):
            if self.is_model(_file_of(value)):
                yield from self._class(value)
            else:
                self._meets(value)
        elif isinstance(value, (MethodType, staticmethod, classmethod)):
            yield place, value.__func__
            yield place, getattr(value, "__self__", None)
        elif isinstance(value, BuiltinMethodType):
            if not isinstance(value.__self__, (ModuleType, type)):
                yield place, value.__self__  # `note = LOG.append`
            else:
                self._meets(value)
        elif isinstance(value, partial):
            yield from ((place, part) for part in (value.func, *value.args, *value.keywords.values()))
        elif isinstance(value, property):
            yield from ((place, part) for part in (value.fget, value.fset))
        elif isinstance(value, cached_property):
            yield place, value.func
        elif isinstance(value, Field):
            yield place, value.default
        elif isinstance(value, _lru_cache_wrapper):
            self.caches.append(value)
            yield place, value.__wrapped__
        elif isinstance(value, ContextVar):
            try:
                yield place, value.get()
            except LookupError:
                return
        elif isinstance(value, MappingProxyType):
            yield from _contents(place, dict(value), found)
        elif isinstance(value, (list, tuple, set, frozenset, dict, deque)):
            yield from _contents(place, value, found)
            if hasattr(value, "__dict__") and self.is_model(_file_of(type(value))):
                yield from _attributes(place, value)
        elif self.is_model(_file_of(type(value))) or isinstance(value, SimpleNamespace):
            yield from _attributes(place, value)
            yield place, type(value)
        elif hasattr(type(value), "__next__"):
            self.opaque[place.words] = None
            if not place.foreign and self._is_named(place):
                raise ModelError(
                    f"`{place.words}` is an iterator ({type(value).__name__}), which remembers its position",
                    hint="use what it iterates over, a tuple or a range; a counter is a field",
                    code="Q104",
                    location=self._line(place),
                )
        else:
            yield from self._foreign(place, value, found)

    def _foreign(self, place: Place, value: Any, found: dict[Place, Any]) -> Iterator[tuple[Place, Any]]:
        """What an object of a library holds."""
        cls = type(value)
        if isinstance(value, (Map, Pid, int)) and is_own_file(_file_of(cls) or ""):  # a value of ours
            found[place] = repr(value)
            return
        if isinstance(value, ModuleType) or hasattr(cls, "__get__") or is_own_file(_file_of(cls) or ""):
            return
        if isinstance(value, ref):
            yield place, value()
            return
        try:
            # Of what has a buffer, it is the content.
            with memoryview(value) as view:
                content = view.tobytes()
                shown = value if isinstance(value, (bytearray, array)) else content
                found[place] = repr(shown) if view.nbytes <= _SHORT else (view.nbytes, hash(content))
            return
        except (TypeError, ValueError, BufferError):
            pass
        hashed: Any = cls.__hash__
        if hashed is not None and hashed is not object.__hash__:
            return  # what is hashed by its content is a value
        if hasattr(value, "__dict__") or any("__slots__" in vars(base) for base in cls.__mro__):
            if _package(cls) not in _HARMLESS:
                self.opaque[place.words] = None
            if not place.foreign or cls.__module__ == "collections":
                deeper = place._replace(foreign=place.foreign + 1)
                yield from (
                    each for each in _attributes(deeper, value) if not _is_cache(cls, each[0].words.rpartition(".")[2])
                )
            return
        self.opaque[place.words] = None
        try:
            state = value.__reduce_ex__(4)
        except Exception:  # no state that can be had
            found[place] = ("shown as", _repr(value))
        else:
            yield place._replace(foreign=place.foreign + 1), state[1:3] if isinstance(state, tuple) else state

    def _meets(self, value: Any) -> None:
        """Of a function or class of a library: whether it may remember something."""
        if isinstance(value, FunctionType):
            file = value.__code__.co_filename
            if is_own_file(file) and (file != "<string>" or value.__name__.startswith("__")):
                return  # Quorate's own; or a method that a dataclass has written
        if _package(value) not in _HARMLESS:
            self.opaque[f"{value.__module__}.{getattr(value, '__name__', '')}"] = None

    def _function(self, function: FunctionType, found: dict[Place, Any]) -> Iterator[tuple[Place, Any]]:
        code = function.__code__
        self._codes[code] = None
        name = function.__qualname__
        found[Place(f"{name}.__code__", "__code__", function)] = ("code", id(code))
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                yield Place(variable, variable, function), cell.cell_contents
            except ValueError:
                continue  # not yet assigned
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        atoms = [repr(value) if type(value) in _ATOMS else ... for value in defaults]
        found[Place(f"{name}.__defaults__", "__defaults__", function)] = ("defaults", *atoms)
        for value in defaults:
            if type(value) not in _ATOMS:
                yield Place(f"a default argument of {name}", "", function), value
        for attribute, value in vars(function).items():
            if attribute != "__wrapped__":
                yield Place(f"{name}.{attribute}", attribute), value
        if hasattr(function, "__wrapped__"):
            yield Place(name, ""), function.__wrapped__
        names = list(dict.fromkeys(_names(code)))
        for named in names:
            if named in function.__globals__:
                yield from self._global(Place(named, named, function), function.__globals__[named], names)
            elif named in _CALLS and _is_global(code, named):
                self.opaque[named] = None
        by_name = next((named for named in names if named in _BY_NAME), None)
        if by_name is not None:
            for named, value in list(function.__globals__.items()):
                kinds = (ModuleType, FunctionType, type)
                if not (named.startswith("__") or isinstance(value, kinds) or hasattr(type(value), "__next__")):
                    yield Place(named, named, root=by_name), value

    def _global(self, place: Place, value: Any, names: list[str]) -> Iterator[tuple[Place, Any]]:
        """A global; of a module of the model, or whatever is a library's, what the code may mean of it."""
        if isinstance(value, ModuleType):
            model = self.is_model(getattr(value, "__file__", None))
            if not model and value.__name__.partition(".")[0] not in _HARMLESS:
                self.opaque[value.__name__] = None
        elif isinstance(value, (type, FunctionType)) and not self.is_model(_file_of(value)):
            yield place, value
            model = False
        else:
            yield place, value
            return
        for name in names:
            if name in vars(value) and place.words.count(".") < 3:  # modules name one another
                held = vars(value)[name]
                if model:
                    yield from self._global(Place(f"{place.words}.{name}", name), held, names)
                elif isinstance(held, ModuleType):
                    yield from self._global(Place(f"{place.words}.{name}", name, foreign=1), held, names)
                elif held is not sys.modules and not hasattr(held, "write"):
                    yield Place(f"{place.words}.{name}", name, root=place.name), held

    def _class(self, cls: type) -> Iterator[tuple[Place, Any]]:
        for base in (*cls.__mro__[1:], type(cls)):
            yield Place(base.__qualname__, ""), base
        ours = _OURS if issubclass(cls, (Automaton, Record, System)) else ()
        for name, value in vars(cls).items():
            if isinstance(value, FunctionType) or not (
                name in _PYTHONS or name in ours or (name.startswith("_") and issubclass(cls, Enum))
            ):
                yield Place(f"{cls.__qualname__}.{name}", name, cls), value

    def is_model(self, file: str | None) -> bool:
        """Whether a file is the model's: any that is neither ours nor installed, and what is beside its classes."""
        if file is None or not is_model_file(file) or file.startswith("<fro"):
            return False
        return file.startswith(self._homes) or not any(part in file for part in _ELSEWHERE)

    # --- the code that does it -----------------------------------------------------------------------------------

    def _is_named(self, place: Place) -> bool:
        """Whether code really gets at a global by this name, and not at an attribute of something else."""
        if not isinstance(place.scope, FunctionType) or place.name not in place.scope.__globals__:
            return True
        return _is_global(place.scope.__code__, place.name)

    def _line(self, place: Place) -> Location | None:
        """The line that stores it as it is called here, or that stores something of its name, or else names it."""
        if not place.name:
            return location_of(place.scope)
        import linecache

        names = [name for name in (place.name, place.root) if name]
        uses = {name: [use for code in self._codes for use in _uses(code, name)] for name in (*names, *_SETTERS)}
        for name in names:
            storing = [line for one, line in uses[name] if one.opname.startswith(("STORE_", "DELETE_"))]
            exactly = [line for line in storing if place.words in linecache.getline(*line)]
            setting = [line for setter in _SETTERS for _, line in uses[setter]]
            saying = [
                line for line in setting if {f"'{name}'", f'"{name}"'} & {*_QUOTED.findall(linecache.getline(*line))}
            ]
            if exactly or saying or storing:
                return next(iter(exactly + saying + storing))
        # What a library's object calls its parts is nothing that the model says.
        for name in (*(reversed(names) if place.foreign else names), *_SETTERS):
            if uses[name]:
                return uses[name][0][1]
        return location_of(place.scope)


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def _roots(definition: Definition) -> Iterator[tuple[Place, Any]]:
    """The functions and classes of a model. `build` comes last: what it stores is not what changes in the end."""
    classes = dict.fromkeys(column.cls for column in definition.columns)
    for spec in dict.fromkeys(column.spec for column in definition.columns):
        for transition in spec.transitions:
            given = transition.declaration
            functions = (given.when, given.where, given.enough, given.size, given.each, given.same)
            for function in (transition.function, *functions):
                if callable(function):
                    yield Place(str(transition), ""), function
        if spec.within is not None:
            yield Place(f"{spec.cls.__name__}.within", ""), spec.within
    for prop in (*definition.properties, *filter(None, (definition.final, definition.bound))):
        yield Place(prop.name, ""), prop.function
    yield from ((Place(type(definition.system).__name__, ""), each) for each in given_to_properties(definition))
    for specification in specifications(definition):
        yield Place(specification.name, "", root=specification.name), specification.specification
    for cls in (*classes, type(definition.system)):
        yield Place(cls.__name__, ""), cls


def specifications(definition: Definition) -> list[Checked]:
    """The sequential specifications of the model that monitors of ours ask."""
    named = dict.fromkeys(getattr(column.cls, "specification", None) for column in definition.columns)
    return [each for each in named if isinstance(each, Checked)]


def given_to_properties(definition: Definition) -> list[Any]:
    """Functions that properties ask beside their own: the goal of `@leads_to`, the `where` of
    `sequentially_consistent`, which is in a closure of ours."""
    found: list[Any] = list(goals_of(type(definition.system)))
    for prop in definition.properties:
        if isinstance(prop.function, FunctionType) and is_own_file(prop.function.__code__.co_filename):
            found += [cell.cell_contents for cell in prop.function.__closure__ or ()]
    return found


def _contents(place: Place, value: Any, found: dict[Place, Any]) -> Iterator[tuple[Place, Any]]:
    items = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    if _ATOMS.issuperset(map(type, items)):
        if len(value) <= _SHORT:
            found[place] = _written(value)
        else:
            atoms = frozenset(items) if isinstance(value, (set, frozenset)) else tuple(items)
            found[place] = (len(value), hash(atoms))
    elif isinstance(value, dict):
        found[place.inside(".keys()")] = len(value)
        for number, (key, item) in enumerate(value.items()):
            yield place.inside(f"[{key!r}]" if type(key) in _ATOMS else f"[key {number}]"), item
            if type(key) not in _ATOMS:
                yield place.inside(f", key {number}"), key
    else:
        if not isinstance(value, (tuple, frozenset)):
            found[place.inside(" (length)")] = len(value)
        yield from ((place.inside(f"[{number}]"), item) for number, item in enumerate(value))


def _written(value: Any) -> str:
    """The content without anything that a subclass may do about it; of sets in no order."""
    if isinstance(value, dict):
        return repr(dict(dict.items(value)))
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(repr, value))) + "}"
    return repr(tuple(value) if isinstance(value, tuple) else list(value))


def _attributes(place: Place, value: Any) -> Iterator[tuple[Place, Any]]:
    root, foreign = place.root or place.name, place.foreign
    for name, held in list(getattr(value, "__dict__", {}).items()):
        yield Place(f"{place.words}.{name}", name, root=root, foreign=foreign), held
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in ("__dict__", "__weakref__"):
                yield Place(f"{place.words}.{name}", name, root=root, foreign=foreign), getattr(value, name)


def _is_cache(cls: type, name: str) -> bool:
    """Whether an object of a library keeps there what it could compute again."""
    return "cache" in name or "memo" in name or isinstance(getattr(cls, name, None), cached_property)


def _package(value: Any) -> str:
    """Where a class or function comes from, if it says so."""
    module = getattr(value, "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else ""


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return ""


def _ambient() -> Iterator[tuple[Place, Any]]:
    """What the process itself remembers, and model code can get at by functions of Python's library."""
    yield Place("os.environ", "environ", root="os", foreign=_PROCESS), ("environment", hash(tuple(os.environ.items())))
    yield (
        Place("sys.getrecursionlimit()", "setrecursionlimit", root="sys", foreign=_PROCESS),
        repr(sys.getrecursionlimit()),
    )
    yield (
        Place("sys.getswitchinterval()", "setswitchinterval", root="sys", foreign=_PROCESS),
        repr(sys.getswitchinterval()),
    )
    random, decimal = sys.modules.get("random"), sys.modules.get("decimal")
    if random is not None:
        yield _RANDOM, ("random", hash(random.getstate()))
    if decimal is not None:
        now = decimal.getcontext()
        traps = tuple(flag.__name__ for flag, on in now.traps.items() if on)
        held = (now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, traps)
        yield Place("decimal.getcontext()", "getcontext", root="decimal", foreign=_PROCESS), held


def _names(code: CodeType) -> Iterator[str]:
    """The globals and attributes that code names, that of functions inside of it too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_global(code: CodeType, name: str) -> bool:
    return any(one.opname.endswith(("_GLOBAL", "_NAME")) for one, _ in _uses(code, name))


def _uses(code: CodeType, name: str) -> Iterator[tuple[Any, Location]]:
    """The instructions that name something, with their lines."""
    import dis

    for one in dis.get_instructions(code):
        if one.argval == name and not one.opname.startswith("LOAD_CONST"):
            line = one.positions.lineno if one.positions else None
            yield one, Location(code.co_filename, line or code.co_firstlineno)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _uses(constant, name)


def _homes(definition: Definition) -> Iterator[str]:
    """The packages that the classes of a model are in, or their files: a model may be installed like a library."""
    for cls in dict.fromkeys((*(column.cls for column in definition.columns), type(definition.system))):
        file = _file_of(cls)
        if file is not None and is_model_file(file):
            package = getattr(sys.modules.get(cls.__module__), "__package__", "")
            yield os.path.join(os.path.dirname(file), "") if package else file


def _file_of(cls: type | FunctionType) -> str | None:
    if isinstance(cls, FunctionType):
        return cls.__code__.co_filename
    module = sys.modules.get(cls.__module__)
    if cls.__module__ == "__main__":
        return getattr(module, "__file__", "<stdin>")
    return getattr(module, "__file__", None)


def _shown(before: Any, after: Any) -> str:
    if isinstance(before, str) and isinstance(after, str):
        return f"was {_cut(before)} and is {_cut(after)}"
    if isinstance(before, _Absent):
        return f"is new: {_cut(after)}" if isinstance(after, str) else "is new"
    return "is gone" if isinstance(after, _Absent) else "has changed"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
