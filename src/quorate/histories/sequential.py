"""Sequential consistency (Lamport 1979): an order of all operations that keeps to the order of each process.

Real time does not count, so a read may be explained by a write that begins after it has ended. A history that has no
order yet may get one, and only where a run is over is it known that it has none: the property says where that is.

The monitor keeps what may have been put in order so far: a configuration is the state of the object, and by process
the operations that have ended and are not in the order yet, and the one under way. The set is closed: whatever can be
put in order is, and is left, in all ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from quorate.base.errors import caller
from quorate.histories.checked import Checked
from quorate.histories.linearizability import History, Key, watched
from quorate.language.maps import Map
from quorate.language.operation import Invoked, Operation, Returned
from quorate.language.transitions import on

Waiting = tuple[tuple[Operation, tuple[Any, ...]], ...]
"""Operations of one process in their order, each with its result, or () while it is under way."""
Configuration = tuple[Any, Map[Key, Waiting]]


class Sequentially(History):
    """Which orders are possible that keep to the order of each process."""

    specification: ClassVar[Checked]
    configurations: frozenset[Configuration] = frozenset()
    possible: bool = True

    @on(Invoked)
    def began(self, e: Invoked) -> None:
        key = self.begin(e)
        self._go_on({(state, self._with(queues, key, (e.operation, ()))) for state, queues in self.configurations})

    @on(Returned)
    def ended(self, e: Returned) -> None:
        key, operation = self.end(e)
        last = (operation, (e.value,))
        ended = {(state, queues | {key: (*queues[key][:-1], last)}) for state, queues in self.configurations}
        self._go_on(ended)

    @staticmethod
    def _with(queues: Map[Key, Waiting], key: Key, one: tuple[Operation, tuple[Any, ...]]) -> Map[Key, Waiting]:
        return queues | {key: (*queues.get(key, ()), one)}

    def _go_on(self, configurations: set[Configuration]) -> None:
        found = dict.fromkeys(configurations)
        todo = list(found)
        while todo:
            for one in self._next(todo.pop(), under_way=False):
                if one not in found:
                    found[one] = None
                    todo.append(one)
        self.configurations = frozenset(found)
        self.possible = self._all_in_order(found)

    def _next(self, configuration: Configuration, *, under_way: bool) -> Iterator[Configuration]:
        """With one more operation in order; with `under_way` also one that has not ended, whatever it will return."""
        state, queues = configuration
        for key, (first, *rest) in queues.items():
            operation, result = first
            if not result and not under_way:
                continue
            after = self.specification.apply(state, operation)
            if after is not None and (not result or (after[1],) == result):
                yield after[0], queues | {key: tuple(rest)} if rest else queues.without(key)

    def _all_in_order(self, configurations: dict[Configuration, None]) -> bool:
        """Whether all that has ended can be in order."""
        seen = dict(configurations)
        todo = list(seen)
        while todo:
            one = todo.pop()
            if not any(result for waiting in one[1].values() for _, result in waiting):
                return True
            for more in self._next(one, under_way=True):
                if more not in seen:
                    seen[more] = None
                    todo.append(more)
        return False


def sequentially_consistent(specification: Any, *, where: Callable[[Any], object]) -> Any:
    """A property of a system: where `where` holds, the operations have an order that keeps to that of each process.

    class Storage(System):
        sequential = sequentially_consistent(Register(0), where=lambda self: all(c.done for c in self[Client]))

    It is judged only there, since a later operation may explain an earlier one.
    """
    place = caller()
    checked = Checked(specification, place)
    members = {
        "specification": checked,
        "configurations": frozenset({(checked.initial, Map())}),
        "__module__": Sequentially.__module__,
        "__doc__": Sequentially.__doc__,
    }
    monitor: Any = type("SequentialConsistency", (Sequentially,), members)

    def sequential(self: Any) -> bool:
        return not where(self) or bool(self[monitor].possible)

    sequential.__doc__ = f"The operations are sequentially consistent by the specification {checked.name}."
    return watched(sequential, monitor, place)
