"""Sets of what a loop over any number of processes comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from quorate.base.values import ContentSet
from quorate.proofs.parametric_loops import (
    as_term,
    formula,
    loop_over,
    mentions,
    substituted,
    ways,
)
from quorate.proofs.parametric_values import like_integers
from quorate.proofs.proxies import SymInt, Unseen, decide, truth
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    TRUE,
    Term,
    conjunction,
    disjunction,
    exists,
    forall,
    implies,
    negation,
    rebuilt,
    var,
)


def _equal(one: Any, two: Any) -> bool:
    """As sets compare: `True == 1`, and a NamedTuple equals a tuple, whatever their encodings are."""
    return bool(one == two)


class Entry(NamedTuple):
    bound: tuple[Term, ...]
    condition: Term
    value: Any


class Image(Unseen):
    """The set of values that a loop over members comes to."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)

    def apart(self, mark: str) -> Image:
        """The same, with other names of its members."""
        made = []
        for each in self.entries:
            names = {x: var(f"{x.args[0]}{mark}", x.sort) for x in each.bound}
            made.append(Entry(tuple(names.values()), rebuilt(each.condition, names), substituted(each.value, names)))
        return Image(made)

    def holds(self, wanted: Any) -> Term:
        found = []
        for each in self.apart("?").entries:
            equals = formula(lambda each=each: _equal(wanted, each.value), [each.condition])  # type: ignore[misc]
            found.append(exists(each.bound, conjunction([each.condition, equals])))
        return disjunction(found)

    def __contains__(self, wanted: Any) -> bool:
        return decide(self.holds(wanted))

    def __bool__(self) -> bool:
        return decide(disjunction(exists(each.bound, each.condition) for each in self.entries))

    def __sub__(self, others: Any) -> Image:
        if not isinstance(others, (set, frozenset)):
            self._no()
        kept = []
        for each in self.entries:
            gone = [
                formula(lambda each=each, other=other: _equal(each.value, other), [each.condition])  # type: ignore[misc]
                for other in _elements(others)
            ]
            kept.append(Entry(each.bound, conjunction([each.condition, *map(negation, gone)]), each.value))
        return Image(kept)

    def __or__(self, others: Any) -> Image:
        if isinstance(others, Image):
            return Image([*self.entries, *others.entries])
        if isinstance(others, (set, frozenset)):
            return Image([*self.entries, *(Entry((), TRUE, each) for each in _elements(others))])
        return self._no()

    __ror__ = __or__

    def __le__(self, others: Any) -> Any:
        parts = []
        for each in self.apart("'").entries:
            if isinstance(others, Image):
                inside = others.holds(each.value)
            elif isinstance(others, (set, frozenset)):
                inside = disjunction(
                    formula(lambda each=each, other=other: _equal(each.value, other), [each.condition])  # type: ignore[misc]
                    for other in _elements(others)
                )
            else:
                self._no()
            parts.append(forall(each.bound, implies(each.condition, inside)))
        return truth(conjunction(parts))

    issubset = __le__

    def at_most(self, most: int) -> Term:
        """Whether it has no more elements than so many."""
        if most == 0:
            return conjunction(forall(each.bound, negation(each.condition)) for each in self.entries)
        if most != 1:
            raise RefusedError(
                f"compares the size of a set over any number of processes with {most}", "<= 1, == 0 and the like work"
            )
        parts = []
        for one in self.entries:
            for two in self.apart("'").entries:
                given = conjunction([one.condition, two.condition])
                equals = formula(lambda one=one, two=two: _equal(one.value, two.value), [given])  # type: ignore[misc]
                parts.append(forall([*one.bound, *two.bound], implies(given, equals)))
        return conjunction(parts)

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(
            "does with a set over any number of processes what has no formula", "in, -, |, <= and len(...) <= 1 work"
        )

    __and__ = __rand__ = __rsub__ = __xor__ = __iter__ = __lt__ = __gt__ = __ge__ = _no
    __eq__ = __ne__ = __hash__ = _no


def _elements(of: Any) -> list[Any]:
    return list(frozenset.__iter__(of)) if isinstance(of, ContentSet) else list(of)


class Size(Unseen):
    """The number of elements of an image."""

    def __init__(self, image: Image) -> None:
        self.image = image

    def _bound(self, other: Any) -> int:
        known = other.known if isinstance(other, SymInt) else other if type(other) is int else None
        if known is None:
            self.image._no()
        return known

    def __le__(self, other: Any) -> Any:
        most = self._bound(other)
        return truth(self.image.at_most(most)) if most >= 0 else False

    def __lt__(self, other: Any) -> Any:
        return self <= self._bound(other) - 1

    def __gt__(self, other: Any) -> Any:
        return truth(negation(as_term(self <= other)))

    def __ge__(self, other: Any) -> Any:
        return truth(negation(as_term(self < other)))

    def __eq__(self, other: object) -> Any:
        most = self._bound(other)
        return truth(conjunction([as_term(self <= most), as_term(self >= most)]))

    def __ne__(self, other: object) -> Any:
        return truth(negation(as_term(self == other)))

    def __bool__(self) -> bool:
        return bool(self.image)

    def _no(self, *_: Any) -> NoReturn:
        self.image._no()

    __hash__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __index__ = __int__ = _no


def image(argument: Any, plain: type = set) -> Any:
    """A set comprehension, or `set` and `frozenset` of a generator expression."""
    loop = loop_over(argument)
    if loop is None:
        return plain(argument)
    entries = [(way, Entry(way.bound, way.whole, value)) for way in ways(loop) for value in way.values]
    if not any(mentions(entry.value, entry.bound) for _, entry in entries):
        # Whoever it is, the value is the same: an ordinary set.
        return plain(
            entry.value
            for way, entry in entries
            if (way.certain and way.condition is TRUE) or decide(exists(entry.bound, entry.condition))
        )
    return Image([entry for _, entry in entries])


like_integers(Size)
