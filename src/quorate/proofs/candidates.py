"""Candidates for lemmas: clauses over processes and messages, made from fields of equal type.

The patterns say who is spoken of: one process, two, a message and its sender, its receiver, whom it names or anyone,
two messages. They know roles and types and nothing of any protocol. What can be said of them are atoms
(expressions.py); a candidate is a clause of few literals that holds in all states that were sampled, and no shorter
one of its literals does.
"""

from __future__ import annotations

import random
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal

from quorate.language.message import Crash
from quorate.model.definition import Column
from quorate.proofs.encode import Encoded
from quorate.proofs.expressions import Atom, Expression, atoms_between, atoms_of, entries, expressions
from quorate.proofs.leaves import Integer, MapOf, Parts, Slots
from quorate.proofs.machine import Channel, sent_name
from quorate.proofs.propositions import Claim, Class, Instance, columns_of, senders_of
from quorate.proofs.samples import Sample
from quorate.proofs.solver import Deadline
from quorate.proofs.terms import (
    TRUE,
    Term,
    app,
    boolean,
    compiled,
    conjunction,
    disjunction,
    equal,
    exists,
    functions,
    lt,
    negation,
    number,
    var,
    variables,
)

Relation = Literal[
    "any",
    "other",
    "sender",
    "receiver",
    "not receiver",
    "named",
    "element",
    "same sender",
    "by receiver",
    "elsewhere",
]
MOST_ATOMS = 120
MOST_TRIPLES = 26
MOST_PAIRS = 16
"""Of the messages that a sample holds together, so many are looked at."""


@dataclass(frozen=True)
class Role:
    """Somebody or something that a pattern speaks of."""

    name: str
    kind: Literal["process", "sent", "pending", "element"]
    cls: type
    relation: Relation = "any"
    to: str = ""
    """The role that the relation is to, or the field that names it."""


@dataclass(frozen=True)
class Pattern:
    roles: tuple[Role, ...]

    @property
    def klass(self) -> Class:
        if any(role.kind in ("sent", "pending") for role in self.roles):
            return "MF"
        return "SV" if sum(role.kind == "process" for role in self.roles) > 1 else "D"


@dataclass(frozen=True)
class Bound:
    """What a role is in one instance."""

    role: Role
    column: Column
    channel: Channel | None = None
    leaves: tuple[Term, ...] = ()


@dataclass
class Candidate:
    """A clause that was true in every sample."""

    pattern: Pattern
    places: tuple[tuple[int, bool], ...]
    """The atoms, by number, and whether they are affirmed."""
    text: str


def patterns(encoded: Encoded) -> Iterator[Pattern]:
    """Who may be spoken of together in this system."""
    classes = list(dict.fromkeys(column.cls for column in encoded.definition.processes))
    sent = [cls for cls in dict.fromkeys(each.cls for each in encoded.machine.channels.values()) if cls is not Crash]

    def p(name: str, cls: type, relation: Relation = "any", to: str = "") -> Role:
        return Role(name, "process", cls, relation, to)

    def sets(cls: type) -> list[str]:
        """Fields whose elements are unknown integers."""
        column = next(each for each in encoded.definition.columns if each.cls is cls)
        return [
            each.name
            for each in encoded.machine.fields[column.index]
            if isinstance(each.shape, Slots) and each.shape.kind == "set"
        ]

    for monitor in encoded.definition.monitors:
        yield Pattern((p("w", monitor.cls),))
        for cls in classes:
            yield Pattern((p("w", monitor.cls), p("p", cls)))
    for cls in classes:
        yield Pattern((p("p", cls),))
        for field in sets(cls):
            yield Pattern((p("p", cls), Role("v", "element", cls, "element", field)))
    for one, two in product(classes, repeat=2):
        if one is not two or len(columns_of(encoded, one)) > 1:
            yield Pattern((p("p", one), p("q", two, "other")))
            for field in sets(one):
                yield Pattern((p("p", one), Role("v", "element", one, "element", field), p("q", two, "other")))
    for kind in sent:
        m = Role("m", "sent", kind)
        owners = list(dict.fromkeys(column.cls for column, _ in senders_of(encoded, kind)))
        for owner in owners:
            yield Pattern((m, p("p", owner, "sender")))
        for other in classes:
            yield Pattern((m, p("p", other, "any")))
        for name, part in zip(encoded.machine.message(kind).names, encoded.machine.message(kind).parts, strict=True):
            if any(each.kind == "pid" for each in expressions(part, [var("x", s) for _, s in part.leaves], "x")):
                for other in classes:
                    yield Pattern((m, p("p", other, "named", name)))
        w = Role("m", "pending", kind)
        receivers = list(dict.fromkeys(e.receiver.cls for e in encoded.machine.channels.values() if e.cls is kind))
        for owner in receivers:
            yield Pattern((w, p("p", owner, "receiver")))
            if len(columns_of(encoded, owner)) > 1:
                yield Pattern((w, p("p", owner, "not receiver")))
        for other in owners:
            yield Pattern((w, p("p", other, "sender")))
        for second in sent:
            n = Role("n", "sent", second, "same sender")
            if any(a is b for a, _ in senders_of(encoded, kind) for b, _ in senders_of(encoded, second)):
                yield Pattern((m, n))
            yield Pattern((m, Role("n", "sent", second)))
            yield Pattern((w, Role("n", "sent", second, "by receiver")))
            yield Pattern((w, Role("n", "sent", second)))
            yield Pattern((w, Role("n", "pending", second, "elsewhere")))


class Lexicon:
    """Atoms of a pattern, the same in every instance."""

    def __init__(self, encoded: Encoded, samples: Sequence[Sample]) -> None:
        self.encoded = encoded
        self.samples = samples
        self.constants = _constants(encoded)
        self.lasting = list(_lasting(encoded))

    def bindings(self, pattern: Pattern) -> Iterator[tuple[Bound, ...]]:
        """The instances of a pattern."""
        machine = self.encoded.machine

        def extend(done: tuple[Bound, ...]) -> Iterator[tuple[Bound, ...]]:
            if len(done) == len(pattern.roles):
                yield done
                return
            role = pattern.roles[len(done)]
            if role.kind == "element":
                owner = done[-1].column
                field = next(each for each in machine.fields[owner.index] if each.name == role.to)
                assert isinstance(field.shape, Slots)
                for at in range(field.shape.slots):
                    leaves = tuple(field.shape._split(field.terms)[at])
                    there = var(f"{field.terms[0].args[0]}", "Int")
                    yield from extend((*done, Bound(role, owner, None, (*leaves, there, number(at)))))
            elif role.kind == "process":
                for column in columns_of(self.encoded, role.cls):
                    if self._fits(role, column, done):
                        yield from extend((*done, Bound(role, column)))
            else:
                shape = machine.message(role.cls)
                leaves = tuple(var(f"{role.name}{suffix}", sort) for suffix, sort in shape.leaves)
                if role.kind == "pending":
                    for channel in machine.channels.values():
                        here = done[0].channel if done else None
                        if role.relation == "elsewhere" and here is not None and channel.receiver is here.receiver:
                            continue
                        if channel.cls is role.cls:
                            yield from extend((*done, Bound(role, channel.sender, channel, leaves)))
                else:
                    for column, _ in senders_of(self.encoded, role.cls):
                        if self._fits(role, column, done):
                            yield from extend((*done, Bound(role, column, None, leaves)))

        yield from extend(())

    @staticmethod
    def _fits(role: Role, column: Column, done: tuple[Bound, ...]) -> bool:
        first = done[0] if done else None
        if role.relation == "other":
            return all(column is not each.column for each in done if each.role.kind == "process")
        if first is None:
            return True
        if role.relation in ("sender", "same sender"):
            return column is first.column
        if role.relation in ("receiver", "by receiver"):
            return first.channel is not None and column is first.channel.receiver
        if role.relation == "not receiver":
            return first.channel is not None and column is not first.channel.receiver
        return True

    def atoms(self, bound: tuple[Bound, ...]) -> list[Atom]:
        """What can be said in one instance; the same in all instances of a pattern, in the same order."""
        machine = self.encoded.machine
        mine: list[list[Expression]] = []
        found: list[Atom] = []
        processes = [each for each in bound if each.role.kind == "process"]
        for each in bound:
            own: list[Expression] = []
            name = each.role.name
            if each.role.kind == "process":
                for field in machine.fields[each.column.index]:
                    if field.index >= each.column.spec.visible:
                        flag = field.name.partition(":")[2]
                        found.append(Atom(f"self.has_started({name}, {flag!r})", field.terms[0]))
                    elif field.shape is not None:
                        own += expressions(field.shape, field.terms, f"{name}.{field.name}")
                        for other in processes:
                            key = other.column.pid
                            if key is not None:
                                whom = f"{other.role.name}.pid"
                                own += entries(field.shape, field.terms, f"{name}.{field.name}", key, whom)
                    elif type(field.constant) is bool:
                        own.append(Expression(f"{name}.{field.name}", "bool", (boolean(field.constant),)))
                    elif type(getattr(field.constant, "known", None)) is int:
                        own.append(Expression(f"{name}.{field.name}", "int", (field.constant.term,)))
                crashed = machine.crashed[each.column.index]
                if crashed is not None:
                    found.append(Atom(f"{name}.crashed", crashed))
            elif each.role.kind == "element":
                own.append(Expression(name, "int", each.leaves[:1])) if len(each.leaves) == 3 else None
            else:
                shape = machine.message(each.role.cls)
                for field_name, part, terms in zip(shape.names, shape.parts, shape._split(each.leaves), strict=True):
                    if each.role.name == "m" and any(
                        r.role.to == field_name and r.role.relation == "named" for r in bound
                    ):
                        continue
                    own += expressions(part, terms, f"{name}.{field_name}")
            mine.append(own)
            for one in own:
                found += atoms_of(one, self.constants)
        everything = [each for own in mine for each in own]
        if any(each.kind == "pid" for each in everything):  # else nobody could be compared with them
            for each in bound:
                if each.role.kind in ("sent", "pending"):
                    everything.append(Expression(f"{each.role.name}.sender", "pid", (number(each.column.index),)))
                    if each.channel is not None:
                        place = number(each.channel.receiver.index)
                        everything.append(Expression(f"{each.role.name}.to", "pid", (place,)))
        for one, two in combinations(everything, 2):
            found += atoms_between(one, two)
        for value in everything:
            if value.kind == "pid" and not value.text.endswith((".sender", ".to")):
                for other in processes:
                    text = f"{value.text} == {other.role.name}.pid"
                    found.append(
                        Atom(text, conjunction([value.present, equal(value.terms[0], number(other.column.index))]))
                    )
        for value in everything:
            found += self._among(value, processes)
        for other in processes:
            found += self._sent(other, everything)
        found += self._sent(None, [value for value in everything if value.text[0] != "q"])
        return found[:MOST_ATOMS]

    def _among(self, one: Expression, processes: Sequence[Bound]) -> Iterator[Atom]:
        """That an integer is one of those in a map or a set of a process, or one that processes of a class have for
        good."""
        if one.kind != "int":
            return
        machine = self.encoded.machine
        for each in processes:
            for field in machine.fields[each.column.index]:
                if isinstance(field.shape, MapOf) and isinstance(field.shape.value, Integer):
                    parts = field.shape._split(field.terms)
                    there = disjunction(conjunction([tag, equal(rest[0], one.terms[0])]) for _, tag, rest in parts)
                    name = f"{each.role.name}.{field.name}"
                    if not one.text.startswith(f"{name}."):
                        yield Atom(f"{one.text} in list({name}.values())", conjunction([one.present, there]))
                elif isinstance(field.shape, Slots) and isinstance(field.shape.element, Integer):
                    there = disjunction(
                        conjunction([lt(number(at), field.terms[0]), equal(part[0], one.terms[0])])
                        for at, part in enumerate(field.shape._split(field.terms))
                    )
                    yield Atom(f"{one.text} in {each.role.name}.{field.name}", conjunction([one.present, there]))
        for cls, name in self.lasting:
            values = [self._lasting(column, name) for column in columns_of(self.encoded, cls)]
            if one.terms[0] not in values:
                text = f"{one.text} in [x.{name} for x in self[{cls.__name__}]]"
                yield Atom(text, conjunction([one.present, disjunction(equal(each, one.terms[0]) for each in values)]))

    def _lasting(self, column: Column, name: str) -> Term:
        field = next(each for each in self.encoded.machine.fields[column.index] if each.name == name)
        return field.terms[0] if field.shape is not None else field.constant.term

    def _sent(self, by: Bound | None, known: Sequence[Expression]) -> Iterator[Atom]:
        """That a process, or any, has sent a message that says what is known."""
        for cls in dict.fromkeys(each.cls for each in self.encoded.machine.channels.values()):
            senders = [column for column, _ in senders_of(self.encoded, cls, by.column if by is not None else None)]
            if cls is Crash or not senders or (by is None and len(senders) < 2):
                continue
            shape = self.encoded.machine.message(cls)
            if not shape.leaves:
                if by is not None:
                    text = f"self.ever_sent({by.role.name}, {cls.__name__}())"
                    yield Atom(text, app(sent_name(cls, by.column), ()))
                continue
            fields = list(zip(shape.names, shape.parts, strict=True))
            for at, (field, part) in enumerate(fields):
                whole = next(iter(expressions(part, [var("x", sort) for _, sort in part.leaves], "x")), None)
                if whole is None:
                    continue
                if whole.kind == "optional":
                    continue
                for each in known:
                    if each.kind != whole.kind or len(each.terms) != part.size:
                        continue
                    there = [self._says(cls, column, shape, at, each, len(fields) == 1) for column in senders]
                    if len(fields) == 1 and by is not None:
                        text = f"self.ever_sent({by.role.name}, {cls.__name__}({each.text}))"
                    else:
                        who = f", by={by.role.name}" if by is not None else ""
                        text = f"self.ever_sent_any({cls.__name__}, lambda x: x.{field} == {each.text}{who})"
                    if each.optional:
                        text = f"({each.text} is not None and {text})"
                    yield Atom(text, conjunction([each.present, disjunction(there)]))

    @staticmethod
    def _says(cls: type, column: Column, shape: Parts, at: int, each: Expression, alone: bool) -> Term:
        name = sent_name(cls, column)
        if alone:
            return app(name, each.terms)
        x = [var(f"x_{each.text}_{name}{suffix}", sort) for suffix, sort in shape.leaves]
        span = shape._split(x)[at]
        return exists(x, conjunction([app(name, x), *(equal(a, b) for a, b in zip(span, each.terms, strict=True))]))


def _lasting(encoded: Encoded) -> Iterator[tuple[type, str]]:
    """Integer fields that no step changes, and in which processes of a class differ."""
    changed = {term for action in encoded.actions for term in action.updates}
    for cls in dict.fromkeys(column.cls for column in encoded.definition.processes):
        columns = columns_of(encoded, cls)
        for name in cls._fields:
            fields = [each for column in columns for each in encoded.machine.fields[column.index] if each.name == name]
            terms = [
                each.terms[0] if each.shape is not None else getattr(each.constant, "term", None)
                for each in fields
                if each.shape is None or isinstance(each.shape, Integer)
            ]
            if len(terms) == len(fields) > 1 and None not in terms and len(set(terms)) > 1 and not changed & {*terms}:
                yield cls, name


def _constants(encoded: Encoded) -> list[int]:
    """The numbers that the handlers mention."""
    found: set[int] = {0}
    for function in encoded.lifting._functions:
        todo = [function.__code__]
        while todo:
            code = todo.pop()
            for constant in code.co_consts:
                if isinstance(constant, types.CodeType):
                    todo.append(constant)
                elif type(constant) is int and -3 <= constant <= 3:
                    found.add(constant)
            for name in code.co_names:
                value = function.__globals__.get(name)
                if type(value) is int and abs(value) < 1000:
                    found.add(value)
    return sorted(found, key=lambda each: (abs(each), each))[:4]


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
            if self.deadline.passed:
                return
            yield from self._of(pattern)

    def _of(self, pattern: Pattern) -> Iterator[Candidate]:
        instances = list(self.lexicon.bindings(pattern))
        if not instances:
            return
        texts = [atom.text for atom in self.lexicon.atoms(instances[0])]
        rows: dict[tuple[bool, ...], None] = {}
        for bound in _some(instances):
            atoms = self.lexicon.atoms(bound)
            assert [atom.text for atom in atoms] == texts
            terms = [atom.term for atom in atoms]
            run = compiled(*terms)
            applies = compiled(*_conditions(bound))
            inside = {each for atom in atoms for each in variables(atom.term)}
            own = {leaf for each in bound for leaf in each.leaves}
            needed = sorted(
                each.args[0] for each in inside if each in own or ("." in each.args[0] and each.args[0][0] != "x")
            )
            channels = sorted(functions(*terms))
            seen: set[Any] = set()
            for sample in self.samples:
                held = tuple(tuple(sorted(sample.channels.get(name, ()))) for name in channels)
                for values in _messages(bound, sample):
                    given = {**sample.values, **values} if values else sample.values
                    if not all(applies(given, {})):
                        continue
                    key = tuple([given.get(each) for each in needed]), held
                    if key in seen:
                        continue
                    seen.add(key)
                    rows[tuple(map(bool, run(given, sample.channels)))] = None
        if not rows:
            if any(role.kind in ("sent", "pending") for role in pattern.roles):
                yield Candidate(pattern, (), "False")  # such messages were never met together
            return
        full = (1 << len(rows)) - 1
        masks = [0] * len(texts)
        for at, row in enumerate(rows):
            for number_, value in enumerate(row):
                if value:
                    masks[number_] |= 1 << at
        yield from self._clauses(pattern, instances[0], masks, full)

    def _clauses(self, pattern: Pattern, bound: tuple[Bound, ...], masks: list[int], full: int) -> Iterator[Candidate]:
        atoms = self.lexicon.atoms(bound)
        literals: list[tuple[int, bool, int]] = []
        by_mask: dict[int, tuple[int, bool]] = {}
        for at, mask in enumerate(masks):
            for affirmed, value in ((True, mask), (False, full & ~mask)):
                self.considered += 1
                if value == full:
                    yield from self._made(pattern, atoms, ((at, affirmed),))
                elif value and value not in by_mask:
                    by_mask[value] = (at, affirmed)
                    literals.append((at, affirmed, value))
                elif value and atoms[at].term is not atoms[by_mask[value][0]].term:
                    # Equivalent so far: that they are is a candidate, the rest is said by one of them.
                    other, way = by_mask[value]
                    yield from self._made(pattern, atoms, ((at, affirmed), (other, not way)))
                    yield from self._made(pattern, atoms, ((at, not affirmed), (other, way)))
        for (a, x, one), (b, y, two) in combinations(literals, 2):
            self.considered += 1
            if one | two == full and a != b:
                yield from self._made(pattern, atoms, ((a, x), (b, y)))
        if self.literals < 3 or len(literals) // 2 > MOST_TRIPLES:
            return
        for chosen in combinations(literals, 3):
            self.considered += 1
            first, second, third = (each[2] for each in chosen)
            if len({each[0] for each in chosen}) < 3 or first | second | third != full:
                continue
            if full in (first | second, first | third, second | third):
                continue
            yield from self._made(pattern, atoms, tuple((each[0], each[1]) for each in chosen))

    def _made(self, pattern: Pattern, atoms: list[Atom], places: tuple[tuple[int, bool], ...]) -> Iterator[Candidate]:
        """The candidate, unless a more general one says it already."""
        parts = [atoms[at].text if affirmed else atoms[at].negated().text for at, affirmed in places]
        keys = [
            _key(pattern, [parts[at] for at in chosen])
            for size in range(1, len(parts) + 1)
            for chosen in combinations(range(len(parts)), size)
        ]
        if any(key in self._said for key in keys) or any(
            key in self._said for each in _wider(pattern) for key in _keys(each, parts)
        ):
            return
        self._said.add(keys[-1])
        yield Candidate(pattern, places, " or ".join(parts))

    def claim(self, candidate: Candidate, name: str) -> Claim:
        """The candidate as a lemma, with a method that says the same."""
        instances: list[Instance] = []
        for bound, atoms in self._instances(candidate.pattern):
            body = disjunction(
                atoms[at].term if affirmed else atoms[at].negated().term for at, affirmed in candidate.places
            )
            unless = conjunction(_conditions(bound))
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
            written(candidate, name),
            "found",
            weight=len(candidate.places),
        )

    def _instances(self, pattern: Pattern) -> list[tuple[tuple[Bound, ...], list[Atom]]]:
        found = self._known.get(pattern)
        if found is None:
            found = [(bound, self.lexicon.atoms(bound)) for bound in self.lexicon.bindings(pattern)]
            self._known[pattern] = found
        return found

    def _guard(self, each: Bound) -> Term:
        if each.channel is not None:
            return self.encoded.machine.held(each.channel, each.leaves)
        return app(sent_name(each.role.cls, each.column), each.leaves)


def _key(pattern: Pattern, parts: Sequence[str]) -> Any:
    return pattern, frozenset(parts)


def _keys(pattern: Pattern, parts: Sequence[str]) -> Iterator[Any]:
    for size in range(1, len(parts) + 1):
        for chosen in combinations(parts, size):
            yield _key(pattern, chosen)


def _wider(pattern: Pattern) -> Iterator[Pattern]:
    """Patterns of which this one is a special case, with the same names: a clause about those is one about these."""
    for at, role in enumerate(pattern.roles):
        if role.relation in ("sender", "receiver", "named", "same sender", "by receiver"):
            wide = Role(role.name, role.kind, role.cls)
            yield Pattern((*pattern.roles[:at], wide, *pattern.roles[at + 1 :]))
        if role.kind == "pending":
            # The receiver of a message is one of those that it was sent to.
            wide = Role(role.name, "sent", role.cls, role.relation, role.to)
            rest = [
                Role(each.name, each.kind, each.cls) if each.relation in ("receiver", "by receiver") else each
                for each in pattern.roles
            ]
            yield Pattern((*rest[:at], wide, *rest[at + 1 :]))
        if len(pattern.roles) > 1:
            fewer = tuple(each for other, each in enumerate(pattern.roles) if other != at)
            if role.kind != "element" and all(each.relation in ("any", "element") for each in fewer[:1]):
                yield Pattern((Role(fewer[0].name, fewer[0].kind, fewer[0].cls), *fewer[1:]))


def _some(instances: list[tuple[Bound, ...]]) -> list[tuple[Bound, ...]]:
    """Enough instances to sort out candidates: processes of a class behave alike, and induction has the last word."""
    return instances if len(instances) <= 4 else random.Random(len(instances)).sample(instances, 4)


def _conditions(bound: tuple[Bound, ...]) -> Iterator[Term]:
    """What has to be so for the roles to be related as the pattern says, where that is not certain."""
    for each in bound:
        if each.role.kind == "element":
            yield lt(each.leaves[-1], each.leaves[-2])
        if each.role.relation == "named":
            first = bound[0]
            named = [leaf for leaf in first.leaves if leaf.args[0].startswith(f"m.{each.role.to}")]
            yield equal(named[0], number(each.column.index))


def _messages(bound: tuple[Bound, ...], sample: Sample) -> Iterator[dict[str, Any]]:
    """The messages of a sample that an instance speaks of."""
    messages = [each for each in bound if each.role.kind in ("sent", "pending")]
    held = []
    for each in messages:
        name = each.channel.pending if each.channel is not None else sent_name(each.role.cls, each.column)
        held.append(list(sample.channels.get(name, ())))
    pairs = list(product(*held))
    stride = 1 + len(pairs) // MOST_PAIRS  # of many messages some; induction has the last word
    for chosen in pairs[::stride]:
        values: dict[str, Any] = {}
        for each, leaves in zip(messages, chosen, strict=True):
            values.update({term.args[0]: leaf for term, leaf in zip(each.leaves, leaves, strict=True)})
        yield values


def written(candidate: Candidate, name: str) -> str:
    """The lemma as a method that can be pasted into the system."""
    parameters, unless = [], []
    first = candidate.pattern.roles[0]
    processes = [role for role in candidate.pattern.roles if role.kind == "process"]
    element = next((role for role in candidate.pattern.roles if role.kind == "element"), None)
    for role in candidate.pattern.roles:
        if role.kind == "element":
            continue
        shown = f"Pending[{role.cls.__name__}]" if role.kind == "pending" else role.cls.__name__
        parameters.append(f"{role.name}: {shown}")
        if role.relation == "other":
            unless += [
                f"{role.name} is {each.name}"
                for each in processes
                if each is not role and processes.index(each) < processes.index(role) and _alike(each.cls, role.cls)
            ]
        elif role.relation == "sender":
            unless.append(f"{first.name}.sender != {role.name}.pid")
        elif role.relation == "receiver":
            unless.append(f"{first.name}.to != {role.name}.pid")
        elif role.relation == "not receiver":
            unless.append(f"{first.name}.to == {role.name}.pid")
        elif role.relation == "elsewhere":
            unless.append(f"{first.name}.to == {role.name}.to")
        elif role.relation == "named":
            unless.append(f"{first.name}.{role.to} != {role.name}.pid")
        elif role.relation == "same sender":
            unless.append(f"{first.name}.sender != {role.name}.sender")
        elif role.relation == "by receiver":
            unless.append(f"{first.name}.to != {role.name}.sender")
    body = candidate.text
    if element is not None:
        body = f"all({body} for {element.name} in {first.name}.{element.to})"
    body = " or ".join(unless) if unless and body == "False" else " or ".join([*unless, body])
    return f"@lemma\ndef {name}(self, {', '.join(parameters)}) -> bool:\n    return {body}\n"


def _alike(one: type, two: type) -> bool:
    return issubclass(one, two) or issubclass(two, one)
