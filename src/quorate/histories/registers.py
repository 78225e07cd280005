"""Registers that promise less than linearizability (Lamport 1986), as monitors; for any number of writers.

A write is superseded for a read if another one began after it had ended, and ended before the read began. A regular
register returns a value of a write that is not superseded and did not begin after the read had ended. A safe one does
so only if no write overlaps the read, and returns anything otherwise. An atomic one is linearizable. The initial value
counts as a write that ended before all others.

With one writer that is what Lamport says, and what the formulas of Attie and Chockler (2006) mean once their operators
are read from the beginning of a run. Of the notions for several writers it is the weakest of Shao, Welch, Pierce and
Lee (2011): each read is judged alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

from quorate.base.errors import ModelError, caller
from quorate.base.values import freeze, show
from quorate.histories.linearizability import History, Key, linearizable, watched
from quorate.histories.specifications import Read, Register, Write
from quorate.language.maps import Map
from quorate.language.operation import Invoked, Returned, place_of
from quorate.language.transitions import on


class WeakRegister(History):
    """What a read may return, for every read under way."""

    overlap_frees: ClassVar[bool] = False
    """Safe: a read that overlaps a write may return anything."""

    latest: frozenset[tuple[Any, frozenset[Key]]] = frozenset()
    """Values of writes that ended and that no later one superseded; each with the writes under way that began after."""
    allowed: Map[Key, frozenset[Any] | None] = Map()
    """By read under way, what it may return; None for anything."""
    possible: bool = True

    @on(Invoked)
    def began(self, e: Invoked) -> None:
        key = self.begin(e)
        match e.operation:
            case Write(value=value):
                self.latest = frozenset((old, later | {key}) for old, later in self.latest)
                self.allowed = Map({read: self._more(values, value) for read, values in self.allowed.items()})
            case Read():
                written = [one.value for one in self.under_way.values() if isinstance(one, Write)]
                free = self.overlap_frees and bool(written)
                values = None if free else frozenset([*(old for old, _ in self.latest), *written])
                self.allowed |= {key: values}
            case _:
                raise ModelError(
                    f"{e.source} begins {show(e.operation)}: a register is read and written",
                    hint="use Read and Write of quorate.histories",
                    code="Q123",
                    location=place_of(e),
                )

    def _more(self, values: frozenset[Any] | None, value: Any) -> frozenset[Any] | None:
        return None if values is None or self.overlap_frees else values | {value}

    @on(Returned)
    def ended(self, e: Returned) -> None:
        key, operation = self.end(e)
        if isinstance(operation, Write):
            rest = frozenset(one for one in self.latest if key not in one[1])
            self.latest = rest | {(operation.value, frozenset())}
        else:
            values = self.allowed[key]
            self.possible = self.possible and (values is None or e.value in values)
            self.allowed = self.allowed.without(key)


class Sources(WeakRegister):
    """In which of the two ways reads have returned what a regular register may return."""

    before: Map[Key, frozenset[Any]] = Map()
    """By read under way, the values that were written last before it began."""
    last: bool = False
    meanwhile: bool = False

    @on(Invoked)
    def began(self, e: Invoked) -> None:
        super().began(e)
        if isinstance(e.operation, Read):
            self.before |= {(e.source, e.identity): frozenset(old for old, _ in self.latest)}

    @on(Returned)
    def ended(self, e: Returned) -> None:
        key = e.source, e.identity
        values = self.allowed.get(key)
        super().ended(e)
        if values is not None:
            if e.value in self.before[key]:
                self.last = True
            elif e.value in values:
                self.meanwhile = True
            self.before = self.before.without(key)


def reads_last(initial: Any = None) -> Any:
    """A goal of a system, with a run that shows it: a Read returns what was written last before it began."""
    place = caller()
    monitor = _monitor(Sources, "Sources", initial, Sources.__doc__ or "")

    def reads(self: Any) -> bool:
        return bool(self[monitor].last)

    reads.__doc__ = "A read returns what was written last before it began."
    return watched(reads, monitor, place, "can")


def reads_meanwhile(initial: Any = None) -> Any:
    """A goal of a system, with a run that shows it: a Read returns something that is written meanwhile."""
    place = caller()
    monitor = _monitor(Sources, "Sources", initial, Sources.__doc__ or "")

    def reads(self: Any) -> bool:
        return bool(self[monitor].meanwhile)

    reads.__doc__ = "A read returns something that is written meanwhile."
    return watched(reads, monitor, place, "can")


def regular_register(initial: Any = None) -> Any:
    """A property of a system: each Read returns what was written last, or something that is written meanwhile."""
    return _weak("Regular", False, initial, "Each read returns what was written last, or what is written meanwhile.")


def safe_register(initial: Any = None) -> Any:
    """A property of a system: each Read that no Write overlaps returns what was written last."""
    return _weak("Safe", True, initial, "Each read that no write overlaps returns what was written last.")


def atomic_register(initial: Any = None) -> Any:
    """A property of a system: reads and writes appear to happen one by one, as `linearizable(Register(...))` says."""
    return linearizable(Register(initial))


def _weak(name: str, overlap_frees: bool, initial: Any, told: str) -> Any:
    place = caller()
    monitor = _monitor(WeakRegister, f"{name}Register", initial, told, overlap_frees=overlap_frees)

    def register(self: Any) -> bool:
        return bool(self[monitor].possible)

    register.__doc__ = told
    return watched(register, monitor, place)


def _monitor(base: type[WeakRegister], name: str, initial: Any, told: str, **members: Any) -> Any:
    latest = frozenset({(freeze(initial), frozenset[Key]())})
    return type(name, (base,), {**members, "latest": latest, "__module__": base.__module__, "__doc__": told})
