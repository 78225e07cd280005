"""The successors of a plain state by the actions of a proof, to be held against those of the semantics."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

from quorate.model.definition import Definition
from quorate.proofs.actions import Action
from quorate.proofs.encode import Encoded
from quorate.proofs.leaves import Boolean, Either, Finite, Integer, MapOf, Parts, SetOf, Shape, Slots
from quorate.proofs.machine import Machine
from quorate.proofs.terms import compiled
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps

Found = set[tuple[str, bytes]]


class Concretely:
    """Takes actions in plain states."""

    def __init__(self, encoded: Encoded) -> None:
        self.encoded = encoded
        self.machine: Machine = encoded.machine
        self._actions = [(action, self._compiled(action)) for action in encoded.actions]

    def _compiled(self, action: Action) -> Any:
        values = list(action.updates.values())
        leaves = [leaf for put in action.sends for leaf in put.leaves]
        conditions = [put.condition for put in action.sends]
        # What a message that is consumed has in its fields is fixed by which one it is.
        return compiled(action.guard, *values, *leaves, *conditions)

    def successors(self, state: State) -> Found:
        values = self.machine.values_of(state)
        contents = self.machine.contents_of(state)
        found: Found = set()
        for action, run in self._actions:
            for given in self._parameters(action, contents):
                answers = run({**values, **given}, contents)
                if not answers[0]:
                    continue
                if action.kind in ("fail", "overflow"):
                    found.add((action.kind, b""))
                    continue
                kind = {"copy": "duplicate"}.get(action.kind, action.kind)
                found.add((kind, self._after(action, answers[1:], given, values, contents).key))
        return found

    def _parameters(self, action: Action, contents: Any) -> Iterator[dict[str, Any]]:
        held = [list(contents.get(put.channel.pending, ())) for put in action.consumed]
        parts = [each for each in action.parameters if each.args[0].startswith("@sent")]
        for chosen in product(*held):
            given: dict[str, Any] = {}
            for put, leaves in zip(action.consumed, chosen, strict=True):
                given.update({term.args[0]: leaf for term, leaf in zip(put.leaves, leaves, strict=True)})
            for cut in product((False, True), repeat=len(parts)):
                yield {**given, **{each.args[0]: part for each, part in zip(parts, cut, strict=True)}}

    def _after(self, action: Action, answers: Any, given: Any, values: Any, contents: Any) -> State:
        count = len(action.updates)
        new = {**values, **{term.args[0]: answer for term, answer in zip(action.updates, answers, strict=False)}}
        leaves = list(answers[count:])
        inboxes = {name: dict(held) for name, held in contents.items()}
        if not action.stays:
            for put in action.consumed:
                key = tuple(given[term.args[0]] for term in put.leaves)
                inboxes[put.channel.pending][key] -= 1
                if not inboxes[put.channel.pending][key]:
                    del inboxes[put.channel.pending][key]
        sent: list[tuple[Any, tuple[Any, ...]]] = []
        for put in action.sends:
            sent.append((put, tuple(leaves[: len(put.leaves)])))
            del leaves[: len(put.leaves)]
        for (put, key), condition in zip(sent, leaves, strict=True):
            if condition:
                held = inboxes.setdefault(put.channel.pending, {})
                adds = self.machine.adds_up or action.kind == "copy"
                held[key] = held.get(key, 0) + 1 if adds else max(1, held.get(key, 0))
        return self.machine.state(new, inboxes)


def by_semantics(definition: Definition, state: State) -> Found:
    found: Found = set()
    for step in steps(definition, state):
        if step.failure is not None:
            found.add(("fail", b""))
        elif step.next is not None:
            found.add((step.kind, step.next.key))
    return found


def reachable(definition: Definition, most: int, seed: int) -> list[State]:
    """States that random walks come across."""
    dice = random.Random(seed)
    found: dict[bytes, State] = {}
    for _ in range(4 * most):
        state = dice.choice(initial_states(definition))
        for _ in range(30):
            found.setdefault(state.key, state)
            following = [step.next for step in steps(definition, state) if step.next is not None]
            if not following or len(found) >= most:
                break
            state = dice.choice(following)
        if len(found) >= most:
            break
    return list(found.values())


def arbitrary(encoded: Encoded, dice: random.Random) -> State:
    """Any state of the right types, reachable or not."""
    machine = encoded.machine
    values: dict[str, Any] = {}
    for fields in machine.fields:
        for each in fields:
            if each.shape is not None:
                leaves = drawn(each.shape, dice)
                values.update({term.args[0]: leaf for term, leaf in zip(each.terms, leaves, strict=True)})
    for term in machine.crashed:
        if term is not None:
            values[term.args[0]] = dice.random() < 0.2
    for term, most in machine.budgets():
        values[term.args[0]] = dice.randrange(most + 1)
    contents: dict[str, dict[tuple[Any, ...], int]] = {}
    for channel in machine.channels.values():
        for _ in range(dice.choice((0, 0, 1, 1, 2))):
            count = dice.choice((1, 1, 2)) if machine.counting else 1
            contents.setdefault(channel.pending, {})[tuple(drawn(channel.shape, dice))] = count
    return machine.state(values, contents)


def drawn(shape: Shape, dice: random.Random) -> list[Any]:
    """The leaves of a value of a shape."""
    if isinstance(shape, Integer):
        return [dice.choice((-1, 0, 0, 1, 1, 2, 3))]
    if isinstance(shape, Boolean):
        return [dice.random() < 0.5]
    if isinstance(shape, Finite):
        return [dice.choice(shape.numbers)] if shape.leaves else []
    if isinstance(shape, Parts):
        return [leaf for part in shape.parts for leaf in drawn(part, dice)]
    if isinstance(shape, SetOf):
        return [dice.random() < 0.5 for _ in shape.elements]
    if isinstance(shape, Either):
        at = dice.randrange(len(shape.options))
        rest = [drawn(each, dice) if n == at else nothing(each) for n, each in enumerate(shape.options)]
        return [bool(at) if shape.two else at, *(leaf for part in rest for leaf in part)]
    if isinstance(shape, MapOf):
        found: list[Any] = []
        for _ in shape.keys:
            there = dice.random() < 0.5
            found += [there, *(drawn(shape.value, dice) if there else nothing(shape.value))]
        return found
    assert isinstance(shape, Slots)
    items = [tuple(drawn(shape.element, dice)) for _ in range(dice.randrange(shape.slots + 1))]
    if shape.kind != "tuple":
        keys = 1 if shape.kind == "map" else None
        items = [items for _, items in sorted({item[:keys]: item for item in items}.items())]
    found = [len(items), *(leaf for item in items for leaf in item)]
    return found + nothing(shape.element) * (shape.slots - len(items))


def nothing(shape: Shape) -> list[Any]:
    return [False if sort == "Bool" else 0 for _, sort in shape.leaves]
