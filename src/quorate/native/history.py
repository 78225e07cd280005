"""A monitor of linearizability as numbers: the core works out its reactions from what the specification does.

The monitor in Python (`histories/linearizability.py`) says what is right: replays run it, and tests compare. Here its
states of the object, operations, results and processes get numbers. The core asks what an operation does to a state of
the object, once for each pair; sets of configurations, of which there are many more, it makes itself
(`src/core/model/configurations.hpp`).
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from quorate import _core
from quorate._core import NONE
from quorate.base.values import encode, freeze
from quorate.histories.linearizability import Linearizability
from quorate.language.maps import Map
from quorate.language.message import Event
from quorate.language.operation import Invoked, Operation, Returned
from quorate.model.definition import Column
from quorate.model.outcome import Local


class NativeHistory:
    """One such monitor of one model."""

    def __init__(self, engine: _core.Engine, column: Column, number: Callable[[object], int]) -> None:
        cls: Any = column.cls
        self.column = column
        self.specification = cls.specification
        self.objects: list[Any] = []
        self.whenever_new: Callable[[int], None] = lambda _: None
        """Called with the number of every new object."""
        self.effects: dict[tuple[int, int], tuple[int, int] | None] = {}
        """What is known of operations: by state of the object and operation, the next state and the result."""
        self.apply: Callable[[int, int], None] = self.put_effect
        """Finds out what an operation does to a state of the object."""
        self._ids: dict[Any, int] = {}  # by value: the monitor in Python takes 1 and True for the same as well
        self._engine = engine
        engine.add_configurations(column.index, number(False), number(True))

    @staticmethod
    def fits(column: Column) -> bool:
        return column.is_monitor and issubclass(column.cls, Linearizability)

    def number(self, value: Any) -> int:
        """The number of a state of the object, an operation, a result, or a process with an identity."""
        found = self._ids.get(value)
        if found is None:
            content = int.from_bytes(blake2b(encode(value), digest_size=8).digest(), "little")
            found = self._ids[value] = self._engine.add_object(self.column.index, content)
            self.objects.append(value)
            self.whenever_new(found)
        return found

    def note(self, event: Event, number: int) -> None:
        """A new event: the core is told what begins or ends."""
        assert isinstance(event, Invoked | Returned)
        begins = isinstance(event, Invoked)
        slot = self.number((event.source, event.identity))
        subject = self.number(event.operation if isinstance(event, Invoked) else event.value)
        self._engine.set_operation(self.column.index, number, begins, slot, subject)

    def local_id(self, local: Local) -> int:
        under_way, configurations, _ = local
        slots = list(under_way)
        numbers = [len(slots)]
        for slot in slots:
            numbers += [self.number(slot), self.number(under_way[slot])]
        for state, effects in configurations:
            results = dict(effects)
            numbers.append(self.number(state))
            numbers += [self.number(results[slot]) if slot in results else NONE for slot in slots]
        return self._engine.add_configuration_set(self.column.index, numbers)

    def local(self, number: int) -> Local:
        """The fields of the monitor; nothing if it failed."""
        numbers = self._engine.configuration_set(self.column.index, number)
        if numbers is None:
            return ()
        objects = self.objects
        count = numbers[0]
        slots = [objects[each] for each in numbers[1 : 1 + 2 * count : 2]]
        operations = [objects[each] for each in numbers[2 : 1 + 2 * count : 2]]
        found = []
        for at in range(1 + 2 * count, len(numbers), 1 + count):
            results = zip(slots, numbers[at + 1 : at + 1 + count], strict=True)
            effects = frozenset((slot, objects[each]) for slot, each in results if each != NONE)
            found.append((objects[numbers[at]], effects))
        configurations: Any = freeze(frozenset(found))
        return (freeze(Map(zip(slots, operations, strict=True))), configurations, bool(found))

    def answer(self, local: int, event: int, value: Event) -> bool:
        """Tell the core what it does not know for a reaction; False if the monitor fails there."""
        under_way = self.local(local)[0]
        key = (value.source, value.identity)  # type: ignore[attr-defined]
        if isinstance(value, Returned):
            operation = under_way.get(key)
            if operation is None or not operation.gives(value.value):
                return False
            self._engine.put_result(self.column.index, self.number(operation), self.number(value.value))
            return True
        if key in under_way:
            return False
        missing = self._engine.missing_effects(self.column.index, local, event)
        while missing:
            for state, operation in missing:
                self.apply(state, operation)
            missing = self._engine.missing_effects(self.column.index, local, event)
        return True

    def put_effect(self, state: int, operation: int) -> None:
        """Tell the core what an operation does to a state of the object."""
        if (state, operation) in self.effects:
            return
        wanted: Operation = self.objects[operation]
        found = self.specification.apply(self.objects[state], wanted)
        effect = None if found is None else (self.number(found[0]), self.number(found[1]))
        self.effects[state, operation] = effect
        self._engine.put_effect(self.column.index, state, operation, effect)
