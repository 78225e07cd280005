"""Which integers can be told apart: those that no handler ever copies into one another or compares are of two kinds.

A ballot and a value are both `int`, but no step compares one with the other, so a lemma that does says nothing. Two
fields are of a kind if a step copies one to the other, computes it from the other, or compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from quorate.proofs.actions import Action, Put
from quorate.proofs.cells import cell_of
from quorate.proofs.encode import Encoded
from quorate.proofs.terms import Term, nodes, value_of, variables

CONSTANT = "constant"
"""Of a field that no step assigns, and in which processes of a class differ: it is compared with everything."""
MOST_CONSTANTS = 4


class Kinds:
    """The kinds of all integers of a system, the numbers that each is compared with, and by how much it grows."""

    def __init__(self, encoded: Encoded) -> None:
        self.encoded = encoded
        self._keys: dict[Term, Any] = {}
        self._parents: dict[Any, Any] = {}
        self._numbers: dict[Any, set[int]] = {}
        self._strides: dict[Any, set[int]] = {}
        for fields in encoded.machine.fields:
            for each in fields:
                if each.shape is not None:
                    for term, (suffix, _) in zip(each.terms, each.shape.leaves, strict=True):
                        owner = cell_of(encoded.definition, each.column) or each.column.cls
                        self._keys[term] = owner, _plain(f".{each.name}{suffix}")
        for action in encoded.actions:
            self._take(action)
        self._begin()

    def of(self, term: Term) -> Any:
        """The kind of a field of a process."""
        key = self._keys.get(term)
        return None if key is None else self._root(key)

    def of_field(self, cls: type, name: str) -> Any:
        """The kind of a field that some process of the class may change, or begin with otherwise; None if none does."""
        key = cls, f".{name}"
        return self._root(key) if key in self._keys.values() else None

    def of_message(self, cls: type, suffix: str) -> Any:
        return self._root((cls, _plain(suffix)))

    def numbers(self, kind: Any) -> list[int]:
        """What values of a kind are compared with, or begin as; the smallest few."""
        found = {each for key, some in self._numbers.items() if self._root(key) == kind for each in some}
        return sorted(found, key=lambda each: (abs(each), each))[:MOST_CONSTANTS]

    def strides(self, kind: Any) -> list[int]:
        """By what fixed numbers greater than one values of a kind grow: their residues last."""
        return sorted({each for key, some in self._strides.items() if self._root(key) == kind for each in some})

    def _root(self, key: Any) -> Any:
        while key in self._parents:
            key = self._parents[key]
        return key

    def _join(self, keys: Iterable[Any]) -> None:
        roots = sorted({self._root(each) for each in keys}, key=str)
        for other in roots[1:]:
            self._parents[other] = roots[0]

    def _take(self, action: Action) -> None:
        known = dict(self._keys)
        for put in action.consumed:
            known.update(zip(put.leaves, self._leaves(put), strict=True))

        def inside(term: Term) -> list[Any]:
            return [known[each] for each in variables(term) if each in known and each.sort == "Int"]

        def flow(key: Any, value: Term) -> None:
            self._join([key, *inside(value)])
            constant = value_of(value)
            if constant is not None:
                self._note(key, constant)

        for each in nodes(action.guard, *action.updates.values()):
            if each.op in ("ge0", "eq0"):
                self._join(inside(each))
                constant, atoms = each.args[0].args if each.args[0].op == "lin" else (0, ((each.args[0], 1),))
                if len(atoms) == 1 and atoms[0][0] in known:
                    bound = -constant * atoms[0][1]
                    self._note(known[atoms[0][0]], bound)
        for target, value in action.updates.items():
            if target.sort == "Int" and target in known:
                flow(known[target], value)
                if value.op == "lin" and value.args[1] == ((target, 1),) and abs(value.args[0]) > 1:
                    self._strides.setdefault(known[target], set()).add(abs(value.args[0]))
        for put in action.sends:
            for key, value in zip(self._leaves(put), put.leaves, strict=True):
                if value.sort == "Int":
                    flow(key, value)

    @staticmethod
    def _leaves(put: Put) -> list[Any]:
        return [(put.channel.cls, _plain(suffix)) for suffix, _ in put.channel.shape.leaves]

    def _begin(self) -> None:
        """What all processes of a class begin with."""
        found: dict[Any, set[int | None]] = {}
        for known in self.encoded.machine.initial_terms():
            for term, value in known.items():
                key = self._keys.get(term)
                if key is not None and term.sort == "Int":
                    found.setdefault(key, set()).add(value_of(value))
        for key, values in found.items():
            if len(values) == 1:
                for one in values:
                    if one is not None:
                        self._note(key, one)

    def _note(self, key: Any, constant: int) -> None:
        if abs(constant) < 1000:
            self._numbers.setdefault(key, set()).add(constant)


def _plain(suffix: str) -> str:
    return re.sub(r"\[[^\]]*\]", "[]", suffix)
