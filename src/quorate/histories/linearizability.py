"""Linearizability inside of a search (Herlihy and Wing 1990): a monitor whose local state is a set of configurations.

A configuration is one way in which the operations so far may have taken effect: the state of the object, and which of
the operations under way have taken effect already, with which results. The set is closed: whatever may have taken
effect by now is in it. When an operation ends, those configurations stay in which it has taken effect with the result
that it returns. If none stays, the operations have no order.

So the monitor remembers no history. Two runs after which the same is possible have the same configurations, and the
number of local states is that of sets of configurations that differ (the just-in-time linearization of Lowe 2017, kept
closed so that equal knowledge is equal).
"""

from __future__ import annotations

from typing import Any, ClassVar

from quorate.base.errors import Location, ModelError, caller
from quorate.base.values import show
from quorate.histories.checked import Checked
from quorate.language.declared import PLACE_MARK, PROPERTY_MARK, WATCH_MARK
from quorate.language.maps import Map
from quorate.language.monitor import Monitor
from quorate.language.operation import Invoked, Operation, Returned, place_of
from quorate.language.pid import Pid
from quorate.language.transitions import on

Key = tuple[Pid, Any]
"""A process, and the identity of one of its operations."""
Configuration = tuple[Any, frozenset[tuple[Key, Any]]]
"""The state of the object, and the results of those operations under way that have taken effect."""


class History(Monitor):
    """What monitors of operations share: the operations under way."""

    under_way: Map[Key, Operation] = Map()

    def begin(self, e: Invoked) -> Key:
        """Note that an operation begins."""
        key = (e.source, e.identity)
        if key in self.under_way:
            raise ModelError(
                f"{e.source} begins {show(e.operation)} while {show(self.under_way[key])} is under way",
                hint="end it first with self.returns(...), or tell them apart: self.invoke(..., identity=...)",
                code="Q121",
                location=place_of(e),
            )
        self.under_way |= {key: e.operation}
        return key

    def end(self, e: Returned) -> tuple[Key, Operation]:
        """Note that an operation ends; which one."""
        key = (e.source, e.identity)
        if key not in self.under_way:
            which = "" if e.identity is None else f" of the identity {show(e.identity)}"
            raise ModelError(
                f"{e.source} returns {show(e.value)}, and no operation{which} is under way",
                hint="begin it with self.invoke(...), and end it once",
                code="Q120",
                location=place_of(e),
            )
        operation = self.under_way[key]
        if not operation.gives(e.value):
            raise ModelError(
                f"{e.source} returns {show(e.value)} from {show(operation)}, which is no result of it by its class",
                hint=f"correct the value, or the class: `class {type(operation).__name__}(Operation, result=...)`",
                code="Q122",
                location=place_of(e),
            )
        self.under_way = self.under_way.without(key)
        return key, operation


class Linearizability(History):
    """Which orders of the operations so far are possible."""

    specification: ClassVar[Checked]
    configurations: frozenset[Configuration] = frozenset()
    possible: bool = True

    @on(Invoked)
    def began(self, e: Invoked) -> None:
        self.begin(e)
        if self.possible:
            self.configurations = closed(self.specification, self.configurations, self.under_way)

    @on(Returned)
    def ended(self, e: Returned) -> None:
        key, _ = self.end(e)
        done = (key, e.value)
        self.configurations = frozenset(
            (state, effects - {done}) for state, effects in self.configurations if done in effects
        )
        self.possible = bool(self.configurations)


def closed(
    specification: Checked, configurations: frozenset[Configuration], under_way: Map[Key, Operation]
) -> frozenset[Configuration]:
    """With all that may have taken effect by now."""
    found = dict.fromkeys(configurations)
    todo = list(found)
    while todo:
        state, effects = todo.pop()
        over = {key for key, _ in effects}
        for key, operation in under_way.items():
            after = specification.apply(state, operation) if key not in over else None
            if after is not None:
                one = (after[0], effects | {(key, after[1])})
                if one not in found:
                    found[one] = None
                    todo.append(one)
    return frozenset(found)


def linearizable(specification: Any) -> Any:
    """A property of a system: its operations appear to happen one by one, each between its begin and its end.

    class Storage(System):
        atomic = linearizable(Register(0))
    """
    place = caller()
    checked = Checked(specification, place)
    members = {
        "specification": checked,
        "configurations": frozenset({(checked.initial, frozenset())}),
        "__module__": Linearizability.__module__,
        "__doc__": Linearizability.__doc__,
    }
    monitor: Any = type("Linearizability", (Linearizability,), members)

    def linearizable(self: Any) -> bool:
        return bool(self[monitor].possible)

    linearizable.__doc__ = f"The operations are linearizable by the specification {checked.name}."
    return watched(linearizable, monitor, place)


def watched(function: Any, monitor: type[Monitor], place: Location | None, kind: str = "invariant") -> Any:
    """A function as a property that brings its own monitor along."""
    setattr(function, PROPERTY_MARK, kind)
    setattr(function, WATCH_MARK, monitor)
    setattr(function, PLACE_MARK, place)
    return function
