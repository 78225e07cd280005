"""The oracle of one check: a definition as numbers, which the native core asks whatever only Python knows.

Numbers are given in `numbers.py`, properties evaluated in `judging.py`, and questions answered in `answers.py`. Here a
definition is told to the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from quorate import _core
from quorate.base.errors import LimitError
from quorate.base.stopwatch import Stopwatch
from quorate.base.values import show
from quorate.language.message import Message
from quorate.language.rank import MOST
from quorate.model.definition import Column, Definition, Property
from quorate.model.renumbering import normal_form
from quorate.native.answers import Answers, mode_of
from quorate.native.history import NativeHistory
from quorate.native.journal import Journal
from quorate.native.numbers import NONE
from quorate.native.told import Told
from quorate.properties.kinds import kind_of
from quorate.semantics.channels import channels
from quorate.semantics.state import State

if TYPE_CHECKING:
    from quorate.reduce.decomposition import Whole


class Model(Answers):
    """A definition, the properties asked for, and what has been numbered so far."""

    def __init__(
        self,
        definition: Definition,
        properties: Sequence[Property],
        stop: Callable[..., bool] = lambda *_: False,
        values: dict[bytes, int] | None = None,
        whole: Whole | None = None,
        journal: Journal | None = None,
    ) -> None:
        super().__init__(definition, properties, stop, values, whole, journal)
        self.spent = Stopwatch()
        """What was done before the search that has the answer, by what took the time."""
        self.told_apart: tuple[int, str] | None = None
        """A family of names that a search in other processes found not to be interchangeable, and why."""
        numbered = _network(definition)
        engine = _core.Engine(numbered)
        told = None if journal is None else Told(engine, numbered)
        # All that the core is told from here on, whatever it is, is noted.
        self.engine = engine if told is None else cast("_core.Engine", told)
        if journal is not None:
            journal.model = self
        if definition.shown:
            self.engine.show_messages()
        if definition.ranked:
            self.engine.use_ranks(MOST)
        for column in definition.columns:
            transitions = [] if column.is_monitor else definition.transitions(column)
            modes = [_core.Transition(mode=mode_of(each), keep=each.keep) for each in transitions]
            self.engine.add_column(column.is_monitor, modes)
            if column.routes is not None:
                self.engine.set_input(column.index, column.clean)
        for column in definition.shared:
            self.engine.set_shared(column.index)
        self.histories = {
            column.index: NativeHistory(self.engine, column, self._value_id)
            for column in definition.columns
            # Else every reaction is compared with the whole's, or noted, or holds ranks.
            if whole is None and journal is None and not definition.ranked and NativeHistory.fits(column)
        }
        for index, messages in definition.standing.items():
            for message in messages:
                self.engine.open_with(index, self.message_id(definition.columns[index], message))
        for column in definition.processes if definition.faults.crashes else ():
            for receiver, notice in definition.notices(column):
                number = self.message_id(definition.columns[receiver], notice)
                self.engine.add_notice(column.index, receiver, number)
        for each in self.properties:
            self.engine.add_property(_core.PropertyKind[kind_of(each).core])
        if definition.bound is not None:
            self.engine.add_property(_core.PropertyKind.bound)
        self.engine.observe(self.observed)
        self.engine.set_initials(
            [
                [self.local_id(column, state[column.index]) for column in definition.columns]
                for state in definition.initials
            ],
            [
                [(receiver, self.message_id(definition.columns[receiver], message)) for receiver, message in sends]
                for sends in definition.posted
            ],
        )
        self.engine = engine
        if journal is not None and told is not None:
            journal.declared(told.lines)

    def reduced(self, state: State) -> tuple[object, object]:
        """The state as the reductions leave it, in the form the core reports states in."""
        columns: list[tuple[int, list[int]]] = []
        if self.definition.ranked:
            normal = normal_form((state.locals, state.pending))
            if normal is None:
                return [], []
            locals, pending = normal
            state = State(locals, pending, state.budget)
        for column in self.definition.columns:
            inbox: list[int] = []
            if not column.is_monitor:
                inbox = self.arranged(column, state.pending[column.index])
            local = self.local_id(column, state.locals[column.index])
            if self.symmetries is not None:
                self.symmetries.admit([(column.index, local)], [(column.index, message) for message in inbox])
            columns.append((local, inbox))
        reduced, left = self.engine.reduced((columns, list(state.budget)))
        return [(local, list(inbox)) for local, inbox in reduced], list(left)

    def arranged(self, column: Column, messages: Sequence[Message]) -> list[int]:
        """In the core's order: as the network arranges it, but by the core's numbers where that is by content."""
        rank = channels(self.definition).rank
        numbered = [(message, self.message_id(column, message)) for message in messages]
        numbered.sort(key=lambda pair: rank(column, pair[0], lambda _: pair[1]))
        return [number for _, number in numbered]

    def poll(self, progress: _core.Progress) -> bool:
        self._figures = progress.states, progress.transitions, progress.frontier, progress.depth
        return self.stop(*self._figures, progress.memory, progress.levels, self._violated(progress))

    def _violated(self, progress: _core.Progress) -> tuple[str, ...]:
        """The names of what a search has met a violation of."""
        names = [self.properties[number].name for number in progress.violated]
        if progress.deadlock:
            names.append("deadlock")
        if progress.failure is not None:
            names.append(self.failures[progress.failure].violates)
        return tuple(names)


def _network(definition: Definition) -> _core.Network:
    """The network and the faults, as the core knows them."""
    network = definition.network
    return _core.Network(
        order=_core.Order[network.kind],
        when_full=_core.WhenFull[network.full],
        head=_core.Head[network.head],
        capacity=None if network.capacity is None else _counted("capacity", network.capacity),
        losses_unlimited=network.losses == "any",
        duplicates_unlimited=network.duplicates == "any",
        losses=0 if network.losses == "any" else _counted("losses", network.losses),
        duplicates=0 if network.duplicates == "any" else _counted("duplicates", network.duplicates),
        crashes_unlimited=definition.faults.crashes == "any",
        crashes=_counted("crashes", definition.faults.left),
        cut_short=definition.faults.cut_short,
        redeliver=definition.faults.redeliver,
        loses_heads=network.lost == "head",
        down=None if definition.faults.down is None else _counted("down", definition.faults.down),
    )


def _counted(name: str, number: int) -> int:
    """A number of messages or crashes, which the core counts in 32 bits."""
    if number >= NONE:
        raise LimitError(f"{name}={show(number)}: at most {NONE - 1:,} are counted", hint="use fewer", code="Q501")
    return number
