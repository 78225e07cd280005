"""Reachable states with their histories, for sorting out candidates: by the native core, breadth first and at random.

What was ever sent is what was ever pending: nothing is consumed in the step that sends it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from quorate.language.message import Message
from quorate.language.pid import column_of
from quorate.model.definition import Definition
from quorate.native.model import Model
from quorate.proofs.leaves import Integer, OverflowingError
from quorate.proofs.machine import Channel, Field, Machine
from quorate.proofs.solver import Deadline
from quorate.semantics.state import State

Number = tuple[Any, Any]
WALK, PHASE = 40, 10
"""Steps of a run, and after how many of them others are quick."""
NOTED = 0.15
"""Of the states of a run, so many are kept: neighbours say much the same."""
IN_VAIN = 20
"""After so many runs without a new state there is nothing left to see."""
VARIANTS = 24
"""So many more initial states, where fields may begin with any value."""


class Sample(NamedTuple):
    """A reachable state: variables by name, contents by predicate, `sent:` ones with all that was ever sent."""

    values: dict[str, Any]
    channels: dict[str, dict[tuple[Any, ...], int]]


class Sampler:
    """Walks through a system with the core's own successor function."""

    def __init__(self, definition: Definition, machine: Machine) -> None:
        self.definition, self.machine = definition, machine
        self.model = Model(definition, ())
        self._successors: dict[Any, list[Any]] = {}
        self._contents: dict[Any, dict[tuple[Any, ...], int]] = {}
        self._made: dict[Any, tuple[dict[str, Any], dict[str, Any]]] = {}

    def states(self, most: int, deadline: Deadline, seed: int = 1) -> list[Sample]:
        """A few of them breadth first, the others on random walks; each with one history."""
        found: dict[Any, Sample] = {}
        begins = [self._numbered(state) for state in self._initials()]
        todo = deque((state, frozenset[Any]()) for state in begins)
        seen = set(map(_key, begins))
        while todo and len(found) < most // 8 and not deadline.passed:
            state, history = todo.popleft()
            history = history | self._pending(state)
            self._note(found, state, history)
            for _, each in self._next(state):
                if _key(each) not in seen:
                    seen.add(_key(each))
                    todo.append((each, history))
        dice = random.Random(seed)
        known, in_vain = len(found), 0
        while len(found) < most and in_vain < IN_VAIN and not deadline.passed:
            self._walk(found, dice.choice(begins), dice)
            in_vain = in_vain + 1 if len(found) == known else 0
            known = len(found)
        return list(found.values())

    def _walk(self, found: dict[Any, Sample], state: Number, dice: random.Random) -> None:
        """A run on which some processes are quick and others slow, some messages early and others late, for a while.

        With equal chances for all, those who act by themselves flood the rest, and nothing is ever answered.
        """
        history = frozenset[Any]()
        haste: dict[Any, float] = {}
        for at in range(WALK):
            if at % PHASE == 0:
                haste = {}
            history = history | self._pending(state)
            following = self._next(state)
            if not following or dice.random() < NOTED:
                self._note(found, state, history)
            if not following:
                break
            chances = []
            for column, after in following:
                key = self._cause(column, state[0][column][1], after[0][column][1])
                if key not in haste:
                    haste[key] = dice.choice((0.01, 0.1, 0.5) if len(key) == 1 else (0.02, 1.0, 1.0))
                chances.append(haste[key])
            state = dice.choices(following, chances)[0][1]

    def _cause(self, column: int, before: Sequence[int], after: Sequence[int]) -> tuple[Any, ...]:
        """What a step reacts to: whose it is, and the kinds of messages that are gone."""
        gone = {self._channel(column, each).pending for each in before if each not in after} if before != after else ()
        return (column, *sorted(gone))

    def _initials(self) -> list[State]:
        from quorate.semantics.state import initial_states

        states = list(initial_states(self.definition))
        dice = random.Random(1)
        states = states if len(states) <= 64 else dice.sample(states, 64)
        free = [each for fields in self.machine.fields for each in fields if each.free]
        if not free:
            return states
        return [*states, *(self._other(dice.choice(states), free, dice) for _ in range(VARIANTS))]

    @staticmethod
    def _other(state: State, free: list[Field], dice: random.Random) -> State:
        """The same with other values in the integer fields that may begin with any."""
        locals = [list(local) for local in state.locals]
        for each in free:
            if isinstance(each.shape, Integer):
                locals[each.column.index][each.index] = dice.choice((-7, -1, 0, 1, 2, 5, 11))
        return State(tuple(map(tuple, locals)), state.pending, state.budget)

    def _numbered(self, state: State) -> Number:
        columns = []
        for column in self.definition.columns:
            inbox = [] if column.is_monitor else self.model.arranged(column, state.pending[column.index])
            columns.append((self.model.local_id(column, state.locals[column.index]), inbox))
        return columns, list(state.budget)

    def _next(self, state: Number) -> list[tuple[int, Number]]:
        """What may follow, and whose step it is."""
        key = _key(state)
        found = self._successors.get(key)
        if found is None:
            taken = self.model.engine.preview(self.model, state, False).taken
            found = [(column, following) for column, following in taken if following is not None]
            if len(self._successors) < 200_000:
                self._successors[key] = found
        return found

    def _pending(self, state: Number) -> frozenset[Any]:
        found: set[Any] = set()
        for column, (_, inbox) in zip(self.definition.columns, state[0], strict=True):
            found.update((column.index, number) for number in inbox)
        return frozenset(found)

    def _note(self, found: dict[Any, Sample], state: Number, history: frozenset[Any]) -> None:
        key = _key(state), history
        if key in found:
            return
        with suppress(OverflowingError):  # a state with more elements than slots has no variables to be described by
            found[key] = self._sample(state, history)

    def _sample(self, state: Number, history: frozenset[Any]) -> Sample:
        values: dict[str, Any] = {}
        channels: dict[str, dict[tuple[Any, ...], int]] = {}
        for column, (local, inbox) in zip(self.definition.columns, state[0], strict=True):
            values.update(self._local(column.index, local))
            for number in inbox:
                name, _, leaves = self._message(column.index, number)
                held = channels.setdefault(name, {})
                held[leaves] = held.get(leaves, 0) + 1
        for index, number in history:
            _, name, leaves = self._message(index, number)
            channels.setdefault(name, {})[leaves] = 1
        for name, held in channels.items():  # equal contents are one object, so that they are quickly compared
            channels[name] = self._contents.setdefault((name, frozenset(held.items())), held)
        for budget, _ in self.machine.budgets():
            at = ("budget.losses", "budget.duplicates", "budget.crashes").index(budget.args[0])
            values[budget.args[0]] = state[1][at]
        return Sample(values, channels)

    def _local(self, index: int, number: int) -> dict[str, Any]:
        known = self._made.get((index, number))
        if known is None:
            from quorate.model.outcome import is_crashed

            local = self.model.local(self.definition.columns[index], number)
            values: dict[str, Any] = {}
            for each in self.machine.fields[index]:
                if each.shape is not None:
                    for term, leaf in zip(each.terms, each.shape.lower(local[each.index]), strict=True):
                        values[term.args[0]] = leaf.args[0]
            crashed = self.machine.crashed[index]
            if crashed is not None:
                values[crashed.args[0]] = is_crashed(local)
            known = self._made[index, number] = (values, {})
        return known[0]

    def _message(self, index: int, number: int) -> tuple[str, str, tuple[Any, ...]]:
        known: Any = self._made.get(("m", index, number))
        if known is None:
            channel = self._channel(index, number)
            message = self.model.message(self.definition.columns[index], number)
            leaves = tuple(term.args[0] for term in self.machine.lower_message(message))
            known = self._made["m", index, number] = (channel.pending, channel.sent, leaves)  # type: ignore[assignment]
        return known  # type: ignore[no-any-return]

    def _channel(self, index: int, number: int) -> Channel:
        column = self.definition.columns[index]
        message = self.model.message(column, number)
        assert isinstance(message, Message)
        sender = self.definition.columns[column_of(message.sender)]
        return self.machine.channel(type(message), sender, column)


def _key(state: Number) -> Any:
    return tuple((local, tuple(inbox)) for local, inbox in state[0]), tuple(state[1])
