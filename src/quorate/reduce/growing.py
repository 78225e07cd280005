"""Monitors without a finished table, under renamings: what symmetry needs of them is found while the search goes on.

A monitor that counts or remembers may have no end of local states, so it is not part of the closure (docs/soundness.md,
rule 32). For the group to act on it, each local state that a state may hold gets its images under the exchanges of
neighbouring names, and with it its whole orbit does. That its reactions commute with renaming is not trusted either
(rule 10). When the search asks for the reaction to one event in one local state, the whole orbit of that pair is
evaluated, and every exchange compared. Any run of the full system takes a renaming of a pair that the search asked for,
and from one renaming to another the generators lead through the orbit: so what was compared is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from quorate.model.definition import Column
from quorate.model.renaming import exchanging, names_in, renamed
from quorate.native.answers import Reaction
from quorate.native.history import NativeHistory
from quorate.native.model import Model

if TYPE_CHECKING:
    from quorate.reduce.families import Family, Marking

MOST_REACTIONS = 100_000
"""Reactions, and local states, of all monitors that are evaluated under renamings before the symmetry is given up."""


class GrowingMonitors:
    """The monitors of one model that grow, under the exchanges of neighbouring names, family by family."""

    def __init__(self, model: Model, families: Sequence[Family], marking: Marking) -> None:
        exchanges = [
            (number, exchanging(one, two))
            for number, family in enumerate(families)
            for one, two in zip(family.names, family.names[1:], strict=False)
        ]
        # As the core counts them: any two names of a family.
        self._pairs = [
            exchanging(one, two)
            for family in families
            for place, two in enumerate(family.names)
            for one in family.names[:place]
        ]
        self.columns = frozenset(set(model.engine.growing()) - set(model.histories) if exchanges else ())
        self.why = ""
        """Why a family was broken, if one was."""
        self.broken = 0
        """Its number."""
        self._model = model
        self._exchanges = exchanges
        self._marking = marking
        self._images: dict[tuple[int, int], list[int]] = {}
        self._events: dict[tuple[int, int], list[int]] = {}
        self._reactions: dict[tuple[int, int, int], Reaction] = {}
        for index in sorted(self.columns):
            column = model.definition.columns[index]
            for state in model.definition.initials:
                self.admit(column, model.local_id(column, state[index]))
        for history in model.histories.values():
            history.whenever_new, history.apply = self._marking_objects(history), self._comparing_effects(history)

    def admit(self, column: Column, local: int) -> None:
        """Make the orbit of a local state known to the core."""
        todo = [local]
        while todo:
            number = todo.pop()
            if (column.index, number) in self._images:
                continue
            if len(self._images) > MOST_REACTIONS:
                self._give_up(column)
                return
            value = self._model.local(column, number)
            held = names_in(value)
            images = [
                number if held.isdisjoint(names) else self._model.local_id(column, renamed(value, names))
                for _, names in self._exchanges
            ]
            base, marks = self._marking.of(value)
            self._images[column.index, number] = images
            self._model.engine.add_image(column.index, number, images, base, marks)
            todo += images

    # Monitors of linearizability: the core renames sets of configurations, if it knows how to rename what they are made
    # of. What a specification does has to commute with renaming; the rest of the monitor does by what it is.

    def _marking_objects(self, history: NativeHistory) -> Callable[[int], None]:
        def mark(number: int) -> None:
            value = history.objects[number]
            base, marks = self._marking.of(value)
            held = names_in(value)
            images = [
                number if held.isdisjoint(names) else history.number(renamed(value, names)) for names in self._pairs
            ]
            self._model.engine.mark_object(history.column.index, number, images, base, marks)

        for number in range(len(history.objects)):
            mark(number)
        return mark

    def _comparing_effects(self, history: NativeHistory) -> Callable[[int, int], None]:
        compared: set[tuple[int, int]] = set()

        def images(pair: tuple[int, int]) -> list[tuple[int, int]]:
            one, two = (history.objects[number] for number in pair)
            return [(history.number(renamed(one, by)), history.number(renamed(two, by))) for _, by in self._exchanges]

        def put(state: int, operation: int) -> None:
            history.put_effect(state, operation)
            todo = [(state, operation)]
            while todo and not self.why:
                pair = todo.pop()
                if pair in compared:
                    continue
                compared.add(pair)
                mine = history.effects[pair]
                wanted = [None] * len(self._exchanges) if mine is None else images(mine)
                for number, image in enumerate(images(pair)):
                    todo.append(image)
                    try:
                        history.put_effect(*image)
                        alike = history.effects[image] == wanted[number]
                    except Exception:  # the specification's, which does not fail for the other
                        alike = False
                    if not alike:
                        self._break(number, f"the specification {history.specification.name}")
                        return

        for pair in list(history.effects):
            put(*pair)
        return put

    def react(self, column: Column, local: int, event: int) -> None:
        """Evaluate a reaction and all its renamings; a family whose names the monitor tells apart is broken."""
        index = column.index
        self.admit(column, local)
        orbit: list[tuple[int, int]] = []
        todo = [(local, event)]
        while todo and not self.why:
            pair = todo.pop()
            if (index, *pair) in self._reactions:
                continue
            if len(self._reactions) > MOST_REACTIONS:
                self._give_up(column)
                return
            reaction = self._reactions[index, *pair] = self._model.react(column, *pair)
            if reaction.failure is None:
                self.admit(column, reaction.local)
            orbit.append(pair)
            todo += self._renamed(column, pair)
        for pair in orbit if not self.why else ():
            mine = self._reactions[index, *pair]
            for number, image in enumerate(self._renamed(column, pair)):
                if not self._alike(index, number, mine, self._reactions[index, *image]):
                    place = self._model.definition.transitions(column)[0].location
                    self._break(number, f"the monitor {column.cls.__name__} ({place.file}:{place.line})")
                    return

    def _renamed(self, column: Column, pair: tuple[int, int]) -> list[tuple[int, int]]:
        local, event = pair
        events = self._events.get((column.index, event))
        if events is None:
            value = self._model.message(column, event)
            events = [self._model.message_id(column, renamed(value, names)) for _, names in self._exchanges]
            self._events[column.index, event] = events
        return list(zip(self._images[column.index, local], events, strict=True))

    def _alike(self, index: int, exchange: int, mine: Reaction, its: Reaction) -> bool:
        if mine.failure is None or its.failure is None:
            both = mine.failure is None and its.failure is None
            return both and self._images[index, mine.local][exchange] == its.local
        one, two = mine.failure, its.failure  # what they say may hold names
        return (one.kind, one.file, one.line, one.code) == (two.kind, two.file, two.line, two.code)

    def _break(self, exchange: int, who: str) -> None:
        self.why = f"{who} does not treat all of them alike: it depends on which is which"
        self.broken = self._exchanges[exchange][0]
        self._model.engine.break_family(self.broken)

    def _give_up(self, column: Column) -> None:
        sizes: dict[int, int] = {}
        for family, _ in self._exchanges:
            sizes[family] = sizes.get(family, 0) + 1
        self.why = f"the monitor {column.cls.__name__} remembers too much to compare all renamings of it"
        self.broken = max(sizes, key=lambda family: (sizes[family], -family))
        self._model.engine.break_family(self.broken)
