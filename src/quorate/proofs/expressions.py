"""What a lemma can speak of: the fields of processes and messages, each as Python and as terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quorate.base.values import show
from quorate.language.pid import Pid
from quorate.proofs.kinds import CONSTANT
from quorate.proofs.leaves import Boolean, Either, Finite, Integer, MapOf, Parts, SetOf, Shape, Slots
from quorate.proofs.terms import TRUE, Term, all_equal, conjunction, equal, ge, lt, modulo, negation, number


@dataclass(frozen=True)
class Expression:
    """A value: how it is written, of which kind, where it is there, and its leaves."""

    text: str
    kind: Any
    terms: tuple[Term, ...]
    present: Term = TRUE
    optional: bool = False
    flow: Any = None
    """Of an integer: its kind (kinds.py)."""

    def when_there(self, tag: Term, whole: str) -> Expression:
        """The same as a part of something that may be None."""
        text = self.text if self.text == whole else f"({self.text} if {whole} is not None else None)"
        return replace(self, text=text, present=conjunction([tag, self.present]), optional=True)


@dataclass(frozen=True)
class Atom:
    """Something that is true or false: how it is written, and as a formula."""

    text: str
    term: Term
    denied: str = ""

    def negated(self) -> Atom:
        return Atom(self.denied or f"not ({self.text})", negation(self.term), self.text)


def expressions(shape: Shape, terms: Sequence[Term], text: str) -> Iterator[Expression]:
    """The values in a field that can be compared; what is indexed by processes comes with the processes."""
    if isinstance(shape, Integer):
        yield Expression(text, "int", tuple(terms))
    elif isinstance(shape, Boolean):
        yield Expression(text, "bool", tuple(terms))
    elif isinstance(shape, Finite):
        if shape.leaves:
            kind = "pid" if isinstance(shape.options[0], Pid) else ("finite", shape.options)
            yield Expression(text, kind, tuple(terms))
    elif isinstance(shape, Parts):
        yield Expression(text, ("parts", shape.cls, len(terms)), tuple(terms))
        for name, part, mine in zip(shape.names, shape.parts, shape._split(terms), strict=True):
            yield from expressions(part, mine, f"{text}[{name}]" if shape.cls is tuple else f"{text}.{name}")
    elif isinstance(shape, Either) and shape.two and not shape.options[0].size:
        inner = shape.options[1]
        yield Expression(text, "optional", (), terms[0], True)
        for each in expressions(inner, terms[1:], text):
            yield each.when_there(terms[0], text)
    elif isinstance(shape, Slots):
        yield Expression(text, "size", (terms[0],))


def entries(shape: Shape, terms: Sequence[Term], text: str, key: Any, key_text: str) -> Iterator[Expression]:
    """What a map or a set says of one process."""
    if isinstance(shape, MapOf) and key in shape.keys:
        _, there, rest = shape._split(terms)[shape.keys.index(key)]
        whole = f"{text}.get({key_text})"
        yield Expression(f"{key_text} in {text}", "holds", (), there)
        for each in expressions(shape.value, rest, whole):
            yield each.when_there(there, whole)
    elif isinstance(shape, SetOf) and key in shape.elements:
        yield Expression(f"{key_text} in {text}", "holds", (), terms[shape.elements.index(key)])


def comparable(one: Expression, two: Expression) -> bool:
    """Whether it makes sense to compare two values."""
    if one.kind != two.kind:
        return False
    return one.kind != "int" or (one.flow is not None and two.flow is not None and _alike(one.flow, two.flow))


def _alike(one: Any, two: Any) -> bool:
    return bool(one == two or (one == CONSTANT) != (two == CONSTANT))


def atoms_of(one: Expression, constants: Sequence[int]) -> Iterator[Atom]:
    """What can be said of one value."""
    if one.kind == "holds":
        yield Atom(one.text, one.present, one.text.replace(" in ", " not in ", 1))
    elif one.kind == "optional":
        yield Atom(f"{one.text} is not None", one.present, f"{one.text} is None")
    elif one.kind == "bool":
        yield Atom(f"{one.text} is True", conjunction([one.present, one.terms[0]]))
        if one.optional:
            yield Atom(f"{one.text} is False", conjunction([one.present, negation(one.terms[0])]))
    elif one.kind == "size":
        yield Atom(f"not {one.text}", equal(one.terms[0], number(0)), f"len({one.text}) > 0")
        yield Atom(f"len({one.text}) <= 1", lt(one.terms[0], number(2)))
    elif one.kind == "int":
        for constant in constants:
            yield Atom(f"{one.text} == {constant}", conjunction([one.present, equal(one.terms[0], number(constant))]))
        if 0 in constants and not one.optional:
            yield Atom(f"{one.text} >= 0", ge(one.terms[0], number(0)))
    elif isinstance(one.kind, tuple) and one.kind[0] == "finite":
        for at, option in enumerate(one.kind[1]):
            text = f"{one.text} == {_written(option)}"
            yield Atom(text, conjunction([one.present, equal(one.terms[0], number(at))]))


def _written(option: Any) -> str:
    return show(option) if not isinstance(option, str) else repr(option)


def atoms_between(one: Expression, two: Expression) -> Iterator[Atom]:
    """What can be said of two values of a kind."""
    if one.kind in ("holds", "optional", "size") or not comparable(one, two):
        return
    there = conjunction([one.present, two.present])
    both = equal(one.present, two.present)
    yield Atom(f"{one.text} == {two.text}", conjunction([both, all_equal(one.terms, two.terms)]))
    if one.kind == "int":
        for a, b in ((one, two), (two, one)):
            text = f"{a.text} <= {b.text}"
            known = [f"{each.text} is not None" for each in (a, b) if each.optional]
            term = conjunction([there, ge(b.terms[0], a.terms[0])])
            yield Atom(f"({' and '.join([*known, text])})" if known else text, term)


def residues(one: Expression, strides: Sequence[int], constants: Sequence[Expression]) -> Iterator[Atom]:
    """That what grows by fixed steps keeps the residue that somebody has for good."""
    for stride in strides:
        for other in constants:
            text = f"{one.text} % {stride} == {other.text}"
            yield Atom(text, conjunction([one.present, equal(modulo(one.terms[0], stride), other.terms[0])]))
