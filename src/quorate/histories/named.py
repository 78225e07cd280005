"""Operations that temporal formulas can name: when each begins, when it ends, and with what.

    class Storage(System):
        w = operation(Write, by=Writer)             # the first Write of the first writer
        r = operation(Read, by=Reader, process=1)   # the first Read of the second reader

        in_time = ltl("precedes(w, r) -> F r.ended")

`w.began` and `w.ended` turn true at the first and the last step of the operation, and stay so. `precedes(w, r)` is
G(r.began -> w.ended), `concurrent(w, r)` says that neither precedes the other (Attie and Chockler 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

from quorate.base.errors import Location, ModelError, caller
from quorate.base.values import show
from quorate.histories.linearizability import History
from quorate.language.declared import WATCH_MARK
from quorate.language.maps import Map
from quorate.language.operation import Invoked, Operation, Returned, place_of
from quorate.language.pid import Peers, Pid
from quorate.language.process import Process
from quorate.language.temporal import Named
from quorate.language.transitions import on

Call = tuple[Operation, Any, bool, Any]
"""An operation, its identity while it is under way, whether it has ended, and its result."""


class Ledger(History):
    """The first operations of a class, by process of a role."""

    records: ClassVar[type[Operation]]
    by: ClassVar[type[Process]]
    count: ClassVar[int | str]
    """How many of each process, or the parameter that says so."""
    only: ClassVar[int | None] = None
    """The place of the one process that counts. What is said of that one operation says nothing of others; but what
    is said of all of them must be said of all."""
    place: ClassVar[Location | None]

    who: Peers
    most: int
    calls: Map[Pid, tuple[Call, ...]] = Map()

    @classmethod
    def _brought(cls, system: Any, playing: Callable[[type], Peers]) -> dict[str, Any]:
        who = playing(cls.by)
        if cls.only is not None and cls.only >= len(who):
            raise cls.wrong(f"there is no {cls.by.__name__} number {cls.only}", f"{len(who)} are spawned, from 0 on")
        return {"who": who, "most": cls.number(system)}

    @classmethod
    def number(cls, system: Any) -> int:
        """How many operations of each process there are in an instance."""
        found = getattr(system, cls.count, None) if isinstance(cls.count, str) else cls.count
        if type(found) is not int or found < 0:
            raise cls.wrong(
                f"count={cls.count!r} is {show(found)} in {type(system).__name__}, which is no number of operations",
                "count= is a number, or the name of a parameter that is one",
            )
        return found

    @classmethod
    def wrong(cls, what: str, hint: str, place: Location | None = None) -> ModelError:
        return ModelError(what, hint=hint, code="Q409", location=place or cls.place)

    @on(Invoked)
    def began(self, e: Invoked) -> None:
        self.begin(e)
        if not isinstance(e.operation, self.records) or e.source not in self.who:
            return
        mine = self.calls.get(e.source, ())
        if len(mine) < self.most:
            self.calls |= {e.source: (*mine, (e.operation, e.identity, False, None))}
        elif self.only is None:
            named = f"operations({self.records.__name__}, by={self.by.__name__}, count={self.count!r})"
            raise self.wrong(
                f"{e.source} begins {show(e.operation)}, which is one more than {named} says",
                "let count= be as many as each process begins: formulas are about all of them",
                place_of(e),
            )

    @on(Returned)
    def ended(self, e: Returned) -> None:
        self.end(e)
        if e.source not in self.calls:
            return
        mine = self.calls[e.source]
        for place, (operation, identity, over, _) in enumerate(mine):
            if not over and identity == e.identity:
                done = (operation, None, True, e.value)
                self.calls |= {e.source: (*mine[:place], done, *mine[place + 1 :])}


class One(NamedTuple):
    """One operation of an instance: in which ledger, of which process of a role, the how manieth of its class."""

    ledger: type[Ledger]
    role: type[Process]
    process: int
    nth: int

    def call(self, system: Any) -> Call | None:
        """What is known of it in a state; None before it has begun."""
        calls: tuple[Call, ...] = system[self.ledger].calls.get(system[self.role][self.process].pid, ())
        return calls[self.nth] if self.nth < len(calls) else None

    def began(self, system: Any) -> bool:
        return self.call(system) is not None

    def ended(self, system: Any) -> bool:
        call = self.call(system)
        return call is not None and call[2]


class Operations(Named):
    """All operations of a class by the processes of a role: the first `count` of each."""

    def __init__(self, cls: type[Operation], by: type[Process], count: int | str, only: int | None = None) -> None:
        members = {"records": cls, "by": by, "count": count, "only": only, "place": caller(), "__module__": __name__}
        self.ledger: Any = type(f"{cls.__name__}Ledger", (Ledger,), members)
        self.by = by
        setattr(self, WATCH_MARK, self.ledger)

    def of(self, system: Any, processes: int) -> list[One]:
        """Those of an instance with that many processes of the role."""
        count = self.ledger.number(system)
        return [One(self.ledger, self.by, process, nth) for process in range(processes) for nth in range(count)]

    def predicates(self) -> dict[str, Callable[[Any], bool]]:
        return {}


class OneOperation(Operations):
    """A single operation, which formulas name."""

    def __init__(self, cls: type[Operation], by: type[Process], process: int, nth: int) -> None:
        super().__init__(cls, by, nth + 1, process)
        self.one = One(self.ledger, by, process, nth)

    def of(self, system: Any, processes: int) -> list[One]:
        return [self.one]

    def predicates(self) -> dict[str, Callable[[Any], bool]]:
        # Functions of their own, since a bound method has no place in the source that could be told.
        one = self.one
        return {"began": lambda system: one.began(system), "ended": lambda system: one.ended(system)}


def operation(cls: type[Operation], *, by: type[Process], process: int = 0, nth: int = 0) -> OneOperation:
    """One operation: the first of its class, or the `nth` after that, of the first process of a role, or another."""
    _require(cls, by, (process, nth))
    return OneOperation(cls, by, process, nth)


def operations(cls: type[Operation], *, by: type[Process], count: int | str = 1) -> Operations:
    """All operations of a class: the first `count` (a number, or a parameter of the system) of each process of it."""
    _require(cls, by, (count,) if isinstance(count, int) else ())
    return Operations(cls, by, count)


def _require(cls: object, by: object, numbers: Iterable[object]) -> None:
    fine = isinstance(cls, type) and issubclass(cls, Operation) and isinstance(by, type) and issubclass(by, Process)
    if not fine or not all(type(number) is int and number >= 0 for number in numbers):
        raise ModelError(
            "an operation is named by its class, a class of processes, and numbers from 0 on",
            hint="operation(Write, by=Writer, process=0, nth=0)",
            code="Q409",
            location=caller(),
        )
