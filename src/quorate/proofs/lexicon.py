"""What can be said of those that a pattern speaks of: the same in every instance of it, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from quorate.base.values import encode
from quorate.language.message import Crash
from quorate.model.definition import Column
from quorate.proofs.cells import kept
from quorate.proofs.encode import Encoded
from quorate.proofs.expressions import (
    Atom,
    Expression,
    atoms_between,
    atoms_of,
    comparable,
    entries,
    expressions,
    residues,
)
from quorate.proofs.kinds import CONSTANT, Kinds
from quorate.proofs.leaves import Integer, MapOf, Parts, Slots
from quorate.proofs.patterns import Bound
from quorate.proofs.propositions import columns_of, senders_of
from quorate.proofs.samples import Sample
from quorate.proofs.terms import Term, app, boolean, conjunction, disjunction, equal, exists, lt, number, var

MOST_ATOMS = 120


class Lexicon:
    """Atoms of a pattern, the same in every instance."""

    def __init__(self, encoded: Encoded, samples: Sequence[Sample]) -> None:
        self.encoded = encoded
        self.samples = samples
        self.kinds = Kinds(encoded)
        self.lasting = list(_lasting(encoded))

    def atoms(self, bound: tuple[Bound, ...]) -> list[Atom]:
        """What can be said in one instance; the same in all instances of a pattern, in the same order."""
        machine = self.encoded.machine
        mine: list[list[Expression]] = []
        found: list[Atom] = []
        processes = [each for each in bound if each.role.kind == "process"]
        spoken: set[int] = set()
        """Cells that an earlier role speaks of."""
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
                    elif cells := list(kept(field.constant, each.column.pid)):
                        for how, cell in cells:
                            index = self.encoded.definition.columns[0].cells[encode(cell)]
                            (inside,) = machine.fields[index]
                            text = f"{name}.{field.name}{how.format(name)}.value"
                            if inside.shape is not None and index not in spoken:
                                own += expressions(inside.shape, inside.terms, text)
                            spoken.add(index)
                    elif type(field.constant) is bool:
                        own.append(Expression(f"{name}.{field.name}", "bool", (boolean(field.constant),)))
                    elif type(getattr(field.constant, "known", None)) is int:
                        differs = (each.column.cls, field.name) in self.lasting
                        # Where initial states differ, it may be a constant of one process and a variable of another.
                        flow = self.kinds.of_field(each.column.cls, field.name) or (CONSTANT if differs else None)
                        own.append(Expression(f"{name}.{field.name}", "int", (field.constant.term,), flow=flow))
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
            own = [self._typed(each, one) for one in own]
            mine.append(own)
            for one in own:
                found += atoms_of(one, self.kinds.numbers(one.flow) if one.kind == "int" else ())
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
        constants = [each for each in everything if each.flow == CONSTANT]
        for value in everything:
            found += self._among(value, processes)
            if value.kind == "int":
                found += residues(value, self.kinds.strides(value.flow), constants)
        for other in processes:
            found += self._sent(other, everything)
        found += self._sent(None, [value for value in everything if value.text[0] != "q"])
        return found[:MOST_ATOMS]

    def _typed(self, owner: Bound, one: Expression) -> Expression:
        """An integer with its kind."""
        if one.kind != "int" or one.flow is not None or one.terms[0].op != "var":
            return one
        if owner.role.kind in ("sent", "pending"):
            suffix = one.terms[0].args[0].removeprefix(f":{owner.role.name}")
            return replace(one, flow=self.kinds.of_message(owner.role.cls, suffix))
        return replace(one, flow=self.kinds.of(one.terms[0]))

    def _among(self, one: Expression, processes: Sequence[Bound]) -> Iterator[Atom]:
        """That an integer is one of those in a map or a set of a process, or one that processes of a class have for
        good."""
        if one.kind != "int":
            return
        machine = self.encoded.machine
        for each in processes:
            for field in machine.fields[each.column.index]:
                if field.shape is None or not field.terms or self._other(one, field.terms[-1]):
                    continue
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
            if one.flow != CONSTANT and not self._other(one, values[0]) and one.terms[0] not in values:
                text = f"{one.text} in [x.{name} for x in self[{cls.__name__}]]"
                yield Atom(text, conjunction([one.present, disjunction(equal(each, one.terms[0]) for each in values)]))

    def _other(self, one: Expression, term: Term) -> bool:
        """Whether a value is of another kind than a field."""
        kind = self.kinds.of(term)
        return kind is not None and one.flow not in (kind, CONSTANT)

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
                    yield Atom(text, app(self.encoded.machine.sent_name(cls, by.column), ()))
                continue
            fields = list(zip(shape.names, shape.parts, strict=True))
            for at, (field, part) in enumerate(fields):
                whole = next(iter(expressions(part, [var("x", sort) for _, sort in part.leaves], "x")), None)
                if whole is None:
                    continue
                if whole.kind == "optional":
                    continue
                if whole.kind == "int":
                    whole = replace(whole, flow=self.kinds.of_message(cls, f".{field}"))
                for each in known:
                    if not comparable(each, whole) or len(each.terms) != part.size:
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

    def _says(self, cls: type, column: Column, shape: Parts, at: int, each: Expression, alone: bool) -> Term:
        name = self.encoded.machine.sent_name(cls, column)
        if alone:
            return app(name, each.terms)
        x = [var(f":x_{each.text}_{name}{suffix}", sort) for suffix, sort in shape.leaves]
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
