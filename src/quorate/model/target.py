"""From what is typed to what is checked: TARGET and `-p NAME=VALUE` to a System.

A TARGET is a bundled protocol's name, `path/to/file.py:System`, `path/to/file.py` where the file has one System, or
`package.module:System`.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from functools import partial
from types import ModuleType

from quorate.base.errors import Location, QuorateError, TargetError, did_you_mean
from quorate.base.failures import described, innermost, is_models
from quorate.base.watchdog import supervised
from quorate.language.system import System


def load(target: str, like: str | None = None) -> type[System]:
    """The System class that a TARGET names. A file that was `like` this one before is imported under its name then."""
    from quorate.protocols import CATALOGUE

    if target in CATALOGUE:
        module, _, name = CATALOGUE[target].partition(":")
        found = getattr(importlib.import_module(module), name)
        assert isinstance(found, type)
        assert issubclass(found, System)
        return found
    place, name = _split(target)
    if place.endswith(".py") or os.sep in place or "/" in place:
        return _choose(_from_file(place, _module_of(place if like is None else _split(like)[0])), name, place)
    if name:
        return _choose(_from_module(place), name, place)
    if os.path.isfile(target + ".py"):
        hint = f"did you mean `{target}.py`?"
    else:
        hint = did_you_mean(target, CATALOGUE) + "; a protocol of your own is path/to/file.py or package.module:System"
    raise TargetError(f"there is no bundled protocol {target!r}", hint=hint, code="Q301")


def _split(target: str) -> tuple[str, str]:
    place, colon, name = target.rpartition(":")
    # A colon in front of a path separator belongs to the path.
    return (place, name) if colon and not any(sign in name for sign in "/\\") else (target, "")


# --- importing -------------------------------------------------------------------------------------------------


def _module_of(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _from_file(path: str, name: str) -> ModuleType:
    if not os.path.isfile(path):
        if os.path.exists(path):
            raise TargetError(f"{path} is no ordinary file", hint="name a file of Python", code="Q302")
        raise TargetError(f"there is no file {path}", hint=_similar_file(path), code="Q302")
    # The file's own directory comes first, as it does for `python file.py`, so that it can import its neighbours.
    directory = os.path.dirname(os.path.abspath(path))
    if directory not in sys.path:
        sys.path.insert(0, directory)
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == os.path.abspath(path):
        return sys.modules[name]
    unique = _free_name(name)
    spec = importlib.util.spec_from_file_location(unique, os.path.abspath(path))
    if spec is None or spec.loader is None:  # Python goes by the end of the name
        raise TargetError(f"{path} is no file of Python", hint="the name of such a file ends in .py", code="Q302")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    try:
        supervised(partial(spec.loader.exec_module, module))
    except BaseException as error:
        del sys.modules[unique]
        raise _import_failed(path, error) from None
    return module


def _free_name(name: str) -> str:
    """The obvious name unless it is taken: a model called `random.py` must not replace the library's."""
    unique, number = name, 1
    while unique in sys.modules or (number == 1 and name in sys.stdlib_module_names):
        number += 1
        unique = f"{name}_{number}"
    return unique


def _from_module(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return supervised(partial(importlib.import_module, name))
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            hint = "modules are looked for in the working directory and among the installed packages"
            raise TargetError(f"there is no module {name}", hint=hint, code="Q302") from None
        raise _import_failed(name, error) from None
    except BaseException as error:
        raise _import_failed(name, error) from None


def _import_failed(place: str, error: BaseException) -> Exception:
    """What went wrong while the user's file ran, with the line of that file."""
    if isinstance(error, QuorateError):
        return error  # it names its own line
    if not is_models(error):
        raise error
    if isinstance(error, SyntaxError) and error.filename:
        where = Location(error.filename, error.lineno or 1)
        return TargetError(f"{place} is not valid Python: {error.msg}", code="Q303", location=where)
    location = innermost(error.__traceback__)
    return TargetError(f"{place} cannot be imported: {described(error)}", code="Q303", location=location)


def _similar_file(path: str) -> str:
    directory = os.path.dirname(path) or "."
    if not os.path.isdir(directory):
        return f"there is no directory {directory} either"
    files = [name for name in os.listdir(directory) if name.endswith(".py")]
    return did_you_mean(os.path.basename(path), files) if files else f"{directory} has no Python file"


# --- choosing the system in a module ---------------------------------------------------------------------------


def _choose(module: ModuleType, name: str, place: str) -> type[System]:
    own = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, System) and value.__module__ == module.__name__
    }
    if name:
        chosen = getattr(module, name, None)
        if isinstance(chosen, type) and issubclass(chosen, System):
            return chosen
        if chosen is not None:
            raise TargetError(f"{name} in {place} is not a System", hint=_systems(own), code="Q304")
        raise TargetError(f"{place} has no {name}", hint=did_you_mean(name, own), code="Q304")
    if len(own) == 1:
        return next(iter(own.values()))
    if not own:
        raise TargetError(f"{place} defines no System", hint="write `class Name(System): ...`", code="Q304")
    raise TargetError(
        f"{place} defines {len(own)} systems, so say which: {place}:{next(iter(own))}", hint=_systems(own), code="Q304"
    )


def _systems(own: Iterable[str]) -> str:
    names = sorted(own)
    return f"it defines {', '.join(names)}" if names else "it defines no System"
