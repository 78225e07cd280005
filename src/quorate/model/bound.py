"""The bound of a whole system: `within` of a System says which states are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from types import FunctionType

from quorate.base.errors import MessagesRead, ModelError
from quorate.base.failures import blame
from quorate.base.places import location_of, member_location
from quorate.base.watchdog import supervised
from quorate.language.declared import require_arguments
from quorate.language.forbidden import forbid_impure, is_answer, refuse_suspended, returned
from quorate.language.message import Message
from quorate.language.shared import PRESENT
from quorate.language.system import System
from quorate.model.definition import Definition, Property
from quorate.model.outcome import Local
from quorate.model.views import Panel


def read_bound(cls: type[System]) -> Property | None:
    """The bound that a system declares."""
    function = getattr(cls, "within", None)
    if function is None:
        return None
    location = location_of(function) if isinstance(function, FunctionType) else None
    if location is None:
        raise ModelError(
            f"{cls.__name__}.within is not a method",
            hint="def within(self) -> bool: ... says which states are looked at",
            code="Q106",
            location=member_location(cls, "within"),
        )
    require_arguments(function, 1, f"{cls.__name__}.within", "self")
    refuse_suspended(function, f"{cls.__name__}.within")
    forbid_impure(f"{cls.__name__}.within", function)
    return Property("within", "bound", (function.__doc__ or "").strip(), function, location)


def is_inside(
    definition: Definition,
    locals: tuple[Local, ...],
    pending: Sequence[Sequence[Message]] | None = None,
    only: tuple[type, ...] | None = None,
) -> bool:
    """Whether a state lies inside the bound of the system. If that raises, it is no finding about the protocol."""
    bound = definition.bound
    if bound is None:
        return True
    panel: Panel | None = definition.panel
    if panel is None:
        panel = definition.panel = Panel(definition)
    what = f"{definition.name}.within"
    shown = panel.show(locals, pending, only)
    PRESENT.memory = panel
    try:
        value: object = supervised(partial(bound.function, shown))
        if not is_answer(value):
            raise returned(value, bound.function, what, None)
        return bool(value)
    except MessagesRead:
        raise
    except BaseException as error:
        raise blame(f"`{what}`", error, bound.location, "a bound needs an answer in every state") from None
    finally:
        PRESENT.memory = None


def bounds_of(definition: Definition, cut: Iterable[int]) -> list[str]:
    """The bounds that cut something: of these columns, and of the system, which comes behind them."""
    names = [definition.columns[at].cls.__name__ if at < len(definition.columns) else definition.name for at in cut]
    return [f"{name}.within" for name in dict.fromkeys(names)]


def require_initials_inside(definition: Definition) -> None:
    """Refuse a bound that excludes the beginning."""
    initials = enumerate(definition.initials if definition.bound is not None else ())
    if not all(is_inside(definition, state, _posted(definition, number)) for number, state in initials):
        raise ModelError(
            f"{definition.name}.within excludes an initial state",
            hint="the bound must hold initially, or nothing is explored",
            code="Q115",
            location=definition.bound.location if definition.bound is not None else None,
        )


def _posted(definition: Definition, number: int) -> list[list[Message]]:
    """What is pending in an initial state, by process: a set of it where the network knows no more."""
    inboxes: list[list[Message]] = [[] for _ in definition.processes]
    for receiver, message in definition.posted[number] if definition.posted else ():
        if definition.network.kind != "set" or message not in inboxes[receiver]:
            inboxes[receiver].append(message)
    return inboxes
