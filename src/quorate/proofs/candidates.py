"""Candidates for lemmas: clauses of few literals that hold in all states that were sampled, and no shorter one does.

Who is spoken of is a pattern (patterns.py); what can be said of them are atoms (lexicon.py).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from quorate.proofs.encode import Encoded
from quorate.proofs.expressions import Atom
from quorate.proofs.lexicon import Lexicon
from quorate.proofs.patterns import Bound, Pattern, bindings, conditions, patterns, wider, written
from quorate.proofs.propositions import Claim, Instance
from quorate.proofs.samples import Sample
from quorate.proofs.solver import Deadline
from quorate.proofs.terms import (
    TRUE,
    Term,
    app,
    compiled,
    conjunction,
    disjunction,
    functions,
    negation,
    nodes,
    variables,
)

MOST_TRIPLES = 26
_NAMES = re.compile(r"\b[mnpqvw]\b")
MOST_PAIRS = 16
"""Of the messages that a sample holds together, so many are looked at."""


@dataclass
class Candidate:
    """A clause that was true in every sample."""

    pattern: Pattern
    places: tuple[tuple[int, bool], ...]
    """The atoms, by number, and whether they are affirmed."""
    text: str


class Generator:
    """Candidates that every sample satisfies."""

    def __init__(self, encoded: Encoded, samples: Sequence[Sample], deadline: Deadline, *, literals: int = 3) -> None:
        self.encoded, self.samples, self.deadline = encoded, samples, deadline
        self.literals = literals
        self.lexicon = Lexicon(encoded, samples)
        self.considered = 0
        self._known: dict[Pattern, list[tuple[tuple[Bound, ...], list[Atom]]]] = {}
        self._said: set[Any] = set()
        """Clauses that were made, to leave out what follows from one of them."""

    def candidates(self) -> Iterator[Candidate]:
        # The more general first: fewer roles, then those in no relation, what was sent before what is pending.
        ordered = sorted(
            patterns(self.encoded),
            key=lambda each: (
                len(each.roles),
                sum(role.relation not in ("any", "other") for role in each.roles),
                sum(role.kind == "pending" for role in each.roles),
            ),
        )
        for pattern in ordered:
            self.deadline.check()
            yield from self._of(pattern)

    def _of(self, pattern: Pattern) -> Iterator[Candidate]:
        instances = list(bindings(self.encoded, pattern))
        if not instances:
            return
        texts = [atom.text for atom in self.lexicon.atoms(instances[0])]
        rows: dict[tuple[bool, ...], None] = {}
        for bound in _some(instances):
            atoms = self.lexicon.atoms(bound)
            if [atom.text for atom in atoms] != texts:
                return  # of these processes not the same can be said
            self._observe(bound, [atom.term for atom in atoms], rows)
        if not rows:
            if any(role.kind in ("sent", "pending") for role in pattern.roles):
                yield Candidate(pattern, (), "False")  # such messages were never met together
            return
        anyhow = _arbitrary([atom.term for atom in self.lexicon.atoms(instances[0])])
        clauses = _Clauses(_masks(rows, len(texts)), len(rows), _masks(anyhow, len(texts)), len(anyhow))
        yield from self._clauses(pattern, instances[0], clauses)

    def _observe(self, bound: tuple[Bound, ...], terms: list[Term], rows: dict[tuple[bool, ...], None]) -> None:
        """Which atoms hold together in the samples."""
        run, applies = compiled(*terms), compiled(*conditions(bound))
        free = any(conditions(bound))
        inside = variables(*terms)
        own = {leaf for each in bound for leaf in each.leaves}
        needed = sorted(
            each.args[0] for each in inside if each in own or ("." in each.args[0] and each.args[0][0] != ":")
        )
        channels = sorted(functions(*terms))
        seen: set[Any] = set()
        for at, sample in enumerate(self.samples):
            if at % 100 == 0:
                self.deadline.check()
            held = tuple(id(sample.channels.get(name)) for name in channels)
            for values in self._messages(bound, sample):
                given = {**sample.values, **values} if values else sample.values
                key = tuple([given.get(each) for each in needed]), held
                if key in seen:
                    continue
                seen.add(key)
                if not free or all(applies(given, {})):
                    rows[tuple(map(bool, run(given, sample.channels)))] = None

    def _messages(self, bound: tuple[Bound, ...], sample: Sample) -> Iterator[dict[str, Any]]:
        """The messages of a sample that an instance speaks of."""
        messages = [each for each in bound if each.role.kind in ("sent", "pending")]
        held = []
        machine = self.encoded.machine
        for each in messages:
            name = each.channel.pending if each.channel is not None else machine.sent_name(each.role.cls, each.column)
            held.append(list(sample.channels.get(name, ())))
        pairs = list(product(*held))
        stride = 1 + len(pairs) // MOST_PAIRS  # of many messages some; induction has the last word
        for chosen in pairs[::stride]:
            values: dict[str, Any] = {}
            for each, leaves in zip(messages, chosen, strict=True):
                values.update({term.args[0]: leaf for term, leaf in zip(each.leaves, leaves, strict=True)})
            yield values

    def _clauses(self, pattern: Pattern, bound: tuple[Bound, ...], found: _Clauses) -> Iterator[Candidate]:
        atoms = self.lexicon.atoms(bound)
        roles = [frozenset(_NAMES.findall(atom.text)) for atom in atoms]
        wanted = self._spoken_of(pattern)

        def made(*places: tuple[int, bool]) -> Iterator[Candidate]:
            if wanted <= frozenset().union(*(roles[at] for at, _ in places)) and found.new(places):
                yield from self._made(pattern, atoms, places)

        literals: list[tuple[int, bool, int]] = []
        by_mask: dict[int, tuple[int, bool]] = {}
        for at in range(len(atoms)):
            for affirmed in (True, False):
                value = found.mask(at, affirmed)
                self.considered += 1
                if value == found.full:
                    yield from made((at, affirmed))
                elif value and value not in by_mask:
                    by_mask[value] = (at, affirmed)
                    literals.append((at, affirmed, value))
                elif value and atoms[at].term is not atoms[by_mask[value][0]].term:
                    # Equivalent so far: that they are is a candidate, the rest is said by one of them.
                    other, way = by_mask[value]
                    yield from made((at, affirmed), (other, not way))
                    yield from made((at, not affirmed), (other, way))
        for (a, x, one), (b, y, two) in combinations(literals, 2):
            self.considered += 1
            if one | two == found.full and a != b:
                yield from made((a, x), (b, y))
        if self.literals < 3 or len(literals) // 2 > MOST_TRIPLES:
            return
        for chosen in combinations(literals, 3):
            self.considered += 1
            first, second, third = (each[2] for each in chosen)
            if len({each[0] for each in chosen}) < 3 or first | second | third != found.full:
                continue
            if found.full in (first | second, first | third, second | third):
                continue
            yield from made(*((each[0], each[1]) for each in chosen))

    def _spoken_of(self, pattern: Pattern) -> frozenset[str]:
        """The roles that a clause has to mention: what it says without one of them, a smaller pattern says as well."""
        several = len(pattern.roles) > 1
        return frozenset(
            role.name
            for role in pattern.roles
            if role.kind == "element"
            or (several and role.kind == "process")
            or (
                several
                and all(other is role or other.relation in ("any", "elsewhere") for other in pattern.roles)
                and self.encoded.machine.message(role.cls).leaves
            )
        )

    def _made(self, pattern: Pattern, atoms: list[Atom], places: tuple[tuple[int, bool], ...]) -> Iterator[Candidate]:
        """The candidate, unless a more general one says it already."""
        parts = [atoms[at].text if affirmed else atoms[at].negated().text for at, affirmed in places]
        keys = [
            _key(pattern, [parts[at] for at in chosen])
            for size in range(1, len(parts) + 1)
            for chosen in combinations(range(len(parts)), size)
        ]
        if any(key in self._said for key in keys) or any(
            key in self._said for each in wider(pattern) for key in _keys(each, parts)
        ):
            return
        self._said.add(keys[-1])
        yield Candidate(pattern, places, " or ".join(parts))

    def claim(self, candidate: Candidate, name: str) -> Claim:
        """The candidate as a lemma, with a method that says the same."""
        self.deadline.check()
        instances: list[Instance] = []
        everywhere = self._instances(candidate.pattern)
        texts = [[atoms[at].text for at, _ in candidate.places] if atoms else [] for _, atoms in everywhere[:1]]
        for bound, atoms in everywhere:
            if [atoms[at].text for at, _ in candidate.places if at < len(atoms)] != texts[0]:
                return Claim(name, candidate.pattern.klass, (), "", "found")  # not the same everywhere
            body = disjunction(
                atoms[at].term if affirmed else atoms[at].negated().term for at, affirmed in candidate.places
            )
            unless = conjunction(conditions(bound))
            body = disjunction([negation(unless), body])
            if body is TRUE:
                continue
            messages = [each for each in bound if each.role.kind in ("sent", "pending")]
            guards = tuple(self._guard(each) for each in messages)
            instances.append(Instance(tuple(leaf for each in messages for leaf in each.leaves), guards, body))
        return Claim(
            name,
            candidate.pattern.klass,
            tuple(instances),
            written(candidate.pattern, candidate.text, name),
            "found",
            weight=len(candidate.places),
        )

    def _instances(self, pattern: Pattern) -> list[tuple[tuple[Bound, ...], list[Atom]]]:
        found = self._known.get(pattern)
        if found is None:
            found = [(bound, self.lexicon.atoms(bound)) for bound in bindings(self.encoded, pattern)]
            self._known[pattern] = found
        return found

    def _guard(self, each: Bound) -> Term:
        if each.channel is not None:
            return self.encoded.machine.held(each.channel, each.leaves)
        return app(self.encoded.machine.sent_name(each.role.cls, each.column), each.leaves)


class _Clauses:
    """Clauses by where their literals hold: in the samples, and in arbitrary states, reachable or not.

    A clause that holds in all arbitrary states is no news, nor is one that holds wherever another does.
    """

    def __init__(self, masks: list[int], rows: int, anyhow: list[int], tried: int) -> None:
        self._masks, self.full = masks, (1 << rows) - 1
        self._anyhow, self._all = anyhow, (1 << tried) - 1
        self._known: list[int] = []

    def mask(self, at: int, affirmed: bool) -> int:
        return self._masks[at] if affirmed else self.full & ~self._masks[at]

    def new(self, places: Sequence[tuple[int, bool]]) -> bool:
        holds = 0
        for at, affirmed in places:
            holds |= self._anyhow[at] if affirmed else self._all & ~self._anyhow[at]
        if holds == self._all or any(not known & ~holds for known in self._known):
            return False
        self._known.append(holds)
        return True


def _masks(rows: Iterable[tuple[bool, ...]], width: int) -> list[int]:
    masks = [0] * width
    for at, row in enumerate(rows):
        for number, value in enumerate(row):
            if value:
                masks[number] |= 1 << at
    return masks


def _arbitrary(terms: list[Term], most: int = 512) -> list[tuple[bool, ...]]:
    """Which atoms hold in states that nobody has to reach: small numbers and a few messages, at random."""
    dice = random.Random(len(terms))
    names = sorted((each.args[0], each.sort) for each in variables(*terms))
    calls = {each.args[0]: [part.sort for part in each.args[1]] for each in nodes(*terms) if each.op == "app"}
    run = compiled(*terms)

    def value(sort: str) -> Any:
        return dice.random() < 0.5 if sort == "Bool" else dice.choice((-1, 0, 0, 1, 1, 2, 2, 3))

    found = []
    for _ in range(most):
        channels = {
            name: {tuple(map(value, sorts)): 1 for _ in range(dice.randrange(4))} for name, sorts in calls.items()
        }
        found.append(tuple(map(bool, run({name: value(sort) for name, sort in names}, channels))))
    return found


def _key(pattern: Pattern, parts: Sequence[str]) -> Any:
    return pattern, frozenset(parts)


def _keys(pattern: Pattern, parts: Sequence[str]) -> Iterator[Any]:
    for size in range(1, len(parts) + 1):
        for chosen in combinations(parts, size):
            yield _key(pattern, chosen)


def _some(instances: list[tuple[Bound, ...]]) -> list[tuple[Bound, ...]]:
    """Enough instances to sort out candidates: processes of a class behave alike, and induction has the last word."""
    return instances if len(instances) <= 4 else random.Random(len(instances)).sample(instances, 4)
