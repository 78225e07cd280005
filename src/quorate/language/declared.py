"""Declarations that would be taken for something else, or for nothing at all: refused where they are written.

A property in a process would never be asked, a handler in a system never run; a guard that takes other arguments would
fail where a run gets to it, and look like a fault of the protocol.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from types import FunctionType
from typing import Any

from quorate.base.errors import Location, ModelError, caller, is_model_file
from quorate.base.places import class_location, location_of, member_location
from quorate.base.values import show

MARK = "__quorate_transition__"
PROPERTY_MARK = "__quorate_property__"
TEMPORAL_MARK = "__quorate_temporal__"
"""The attributes by which decorated functions are known."""
WATCH_MARK = "__quorate_watch__"
"""Of a property that a function has made: the monitor that it reads, which comes along with it."""
PLACE_MARK = "__quorate_place__"
"""The same: where the model has it made."""

_MEANINGS = {
    "deadlock": "the deadlock check",
    "assertions": "assertions in handlers that fail",
    "exceptions": "handlers that raise",
}
"""Names by which results tell what is no property of a model."""
_MAKING = ("__init__", "__post_init__")
_OF_META = ("__prepare__", "__new__", "__init__")
"""Methods of a metaclass that make a class."""
_ESSENTIAL = ("__setattr__", "__delattr__", "__getattribute__", "__new__")


def refuse_strangers(cls: type, mark: str) -> None:
    """Refuse the decorators of the other kind: those of processes in a system, of systems in a process."""
    for base in cls.__mro__:
        for name, value in base.__dict__.items():
            if isinstance(value, FunctionType) and hasattr(value, mark):
                raise stranger(base, name, location_of(value), handler=mark == MARK)


def stranger(cls: type, name: str, location: Location | None, *, handler: bool) -> ModelError:
    """A transition in a system, or a property elsewhere."""
    return ModelError(
        f"{cls.__name__}.{name} is a {'transition' if handler else 'property'}, but {cls.__name__} is "
        + ("a system: it takes no steps" if handler else "none of a system's, so nobody would ask it"),
        hint="write it in the process that takes it" if handler else "write it in the System",
        code="Q106",
        location=location,
    )


def refuse_reserved(cls: type, name: str, location: Location | None) -> None:
    """Refuse a property whose name has a meaning already."""
    meaning = _MEANINGS.get(name) or next((f"System.{name}" for base in cls.__mro__ if name in _of_system(base)), None)
    if meaning is not None:
        hint = "use @final to say where a run may end, or give" if name == "deadlock" else "give"
        raise ModelError(
            f"{cls.__name__}.{name}: the name is reserved for {meaning}",
            hint=f"{hint} the property another name",
            code="Q106",
            location=location,
        )


def _of_system(cls: type) -> Collection[str]:
    """What the language itself has put there."""
    return vars(cls) if cls.__module__ == "quorate.language.system" else ()


def forgotten(cls: type, name: str, what: str, decorator: str) -> ModelError:
    """An override without a decorator is as likely a slip as an intention, so it has to be said; None removes."""
    return ModelError(
        f"{cls.__name__}.{name} overrides a {what} but is not one itself",
        hint=f"write {decorator} again above the overriding method, or `{name} = None` to leave the {what} out",
        code="Q106",
        location=member_location(cls, name),
    )


def refuse_overrides(cls: type) -> None:
    """Refuse methods by which a process would keep its fields in another way."""
    refuse_making(
        cls, "declare fields with their initial values, `ballot: int = 0`, and give the others to self.spawn", *_MAKING
    )
    metaclass: Any = type(cls)
    for owner, name in [(cls, "__init_subclass__"), *((meta, name) for meta in metaclass.__mro__ for name in _OF_META)]:
        made = vars(owner).get(name)
        made = getattr(made, "__func__", made)
        if isinstance(made, FunctionType) and is_model_file(made.__code__.co_filename) and not _takes_options(made):
            raise ModelError(
                f"{owner.__name__}.{name} takes no options",
                hint=f"take **options and pass them on: super().{name}(..., **options)",
                code="Q106",
                location=location_of(made) or class_location(cls),
            )
    for name in _ESSENTIAL:
        if name in cls.__dict__:
            raise ModelError(
                f"{cls.__name__} defines {name}: fields are read and assigned as the language does it",
                hint="use a plain method or a @property for what is computed",
                code="Q106",
                location=location_of(cls.__dict__[name]) or member_location(cls, name),
            )


def refuse_decorated(cls: type) -> None:
    """Refuse @dataclass, which replaces what the language has given the class."""
    if "__dataclass_fields__" in vars(cls):
        raise ModelError(
            f"{cls.__name__} is made a dataclass, and has fields without that",
            hint="leave @dataclass out; of messages, events and values inside of them, fields are compared and kept",
            code="Q106",
            location=class_location(cls),
        )


def refuse_taken(cls: type, declared: Iterable[str], kept: Collection[str] = ()) -> None:
    """Refuse names by which the language or Python keep something: what stands there last would replace the other.

    `declared` are the fields or parameters, `kept` what the language keeps in objects.
    """
    home = cls.__module__.partition(".")
    if home[0] == "quorate" and not home[2].startswith("protocols."):
        return
    names = [*declared, *vars(cls)]
    ours = {name for base in cls.__mro__ if base.__module__.startswith("quorate.language") for name in vars(base)}
    for name in names:
        pythons = name.startswith("__") and name.endswith("__")
        marked = any(hasattr(vars(cls).get(name), mark) for mark in (MARK, PROPERTY_MARK, TEMPORAL_MARK))
        if (name in declared or marked) if pythons else name.startswith("_") and (name in ours or name in kept):
            raise ModelError(
                f"{cls.__name__}.{name}: the name is reserved for {'Python' if pythons else 'the language'}",
                hint="give it another name",
                code="Q106",
                location=member_location(cls, name),
            )


def refuse_making(cls: type, hint: str, *names: str) -> None:
    """Refuse methods by which objects would be made."""
    for name in names:
        if name in cls.__dict__:
            made = location_of(cls.__dict__[name])
            raise ModelError(
                f"{cls.__name__} defines {name}, which is never called",
                hint=hint,
                code="Q106",
                location=made if made is not None and is_model_file(made.file) else class_location(cls),
            )


def _takes_options(function: Any) -> bool:
    import inspect

    return any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values())


def refuse_twice(function: FunctionType, kind: str = "") -> None:
    """Refuse a method that is a property already: of another kind, or a temporal one, of which the last would stay."""
    if hasattr(function, TEMPORAL_MARK) or getattr(function, PROPERTY_MARK, kind) != kind:
        raise ModelError(
            f"{function.__qualname__} is declared as a property twice",
            hint="give each property a method of its own; they may call a common helper",
            code="Q106",
            location=caller(),
        )


def require_arguments(function: Any, count: int, what: str, shape: str) -> None:
    """Refuse a function that cannot be called with so many arguments."""
    import inspect

    if function is None or not callable(function):
        return
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        raise ModelError(
            f"{what} is called with {shape}, and takes other arguments",
            hint=f"write `lambda {shape}: ...`, or `def name({shape})`",
            code="Q106",
            location=_place(function),
        ) from None
    except ValueError:  # of some built-in functions nobody knows what they take
        return


def require_setting(cls: type, name: str, value: object, wanted: type, example: str) -> None:
    """Refuse a network or faults that are something else."""
    if not isinstance(value, wanted):
        raise ModelError(
            f"{cls.__name__}.{name} = {show(value)}",
            hint=f"e.g. {name} = {example}",
            code="Q111",
            location=member_location(cls, name),
        )


def refuse_misspelt(cls: type, settings: dict[str, type]) -> None:
    """Refuse a network or faults under a name that nobody reads, and that is nearly the right one."""
    for base in cls.__mro__:
        for name, value in vars(base).items():
            if name not in settings and isinstance(value, tuple(settings.values())):
                meant = next(each for each, kind in settings.items() if isinstance(value, kind))
                if meant.startswith(name) or name.startswith(meant) or sorted(name) == sorted(meant):
                    raise ModelError(
                        f"{base.__name__}.{name} is no setting, so it has no effect",
                        hint=f"did you mean `{meant}`?",
                        code="Q111",
                        location=member_location(base, name),
                    )


def _place(function: Any) -> Location | None:
    found = location_of(function)
    return found if found is not None and is_model_file(found.file) else caller()
