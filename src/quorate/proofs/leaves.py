"""What a field may hold, as integers and truth values: a shape for every type that a model declares.

A shape turns a value into leaves (`lower`), leaves into a value (`lift`, which decides the structure on the path that
is taken), and a solver's numbers back into a value (`back`). A value has exactly one form: what is absent is 0 or
false.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Sequence
from enum import Enum, Flag
from typing import Any

from quorate.base.errors import Location
from quorate.base.values import ContentSet, freeze, in_order, show
from quorate.language.maps import Map
from quorate.language.message import Message
from quorate.language.pid import Peers, Pid, column_of
from quorate.language.scalar import Scalar
from quorate.language.signed import Signed
from quorate.proofs.proxies import Key, SymBool, SymInt, condition_of, decide, lifted, plain_class, term_of, with_items
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    ZERO,
    Sort,
    Term,
    boolean,
    conjunction,
    disjunction,
    equal,
    ge,
    implies,
    lt,
    negation,
    number,
    var,
)

SLOTS = 2
"""Of a set, a tuple or a map whose elements are unknown integers: so many it may have; a step that adds one more is an
obligation to be shown impossible."""


class OverflowingError(Exception):
    """A collection of unknown integers has more members than there are slots."""


class MisfitError(Exception):
    """A value that the declared type does not allow."""


def neutral(sort: Sort) -> Term:
    """What stands where a value is absent."""
    return ZERO if sort == "Int" else FALSE if sort == "Bool" else var(f"nobody:{sort}", sort)


class Shape:
    """How the values of one type are taken apart."""

    leaves: tuple[tuple[str, Sort], ...] = ()
    """The suffix and sort of each leaf."""

    def lift(self, terms: Sequence[Term]) -> Any:
        raise NotImplementedError

    def lower(self, value: Any) -> list[Term]:
        """The leaves of a value; MisfitError if it is none of this shape."""
        raise NotImplementedError

    def wf(self, terms: Sequence[Term]) -> Term:
        """Whether the leaves are those of a value."""
        return TRUE

    def back(self, values: Sequence[Any]) -> Any:
        """The plain value with these leaves, which are those of one."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        return len(self.leaves)

    @property
    def neutral(self) -> list[Term]:
        return [neutral(sort) for _, sort in self.leaves]

    def absent(self, terms: Sequence[Term]) -> Term:
        return conjunction(equal(term, none) for term, none in zip(terms, self.neutral, strict=True))


class Integer(Shape):
    leaves = (("", "Int"),)

    def lift(self, terms: Sequence[Term]) -> Any:
        return SymInt(terms[0])

    def lower(self, value: Any) -> list[Term]:
        term = term_of(value) if type(value) in (int, SymInt) else None  # a member of an IntEnum is no plain number
        if term is None:
            raise MisfitError
        return [term]

    def back(self, values: Sequence[Any]) -> Any:
        return values[0]


class Boolean(Shape):
    leaves = (("", "Bool"),)

    def lift(self, terms: Sequence[Term]) -> Any:
        return decide(terms[0])

    def lower(self, value: Any) -> list[Term]:
        term = condition_of(value)
        if term is None:
            raise MisfitError
        return [term]

    def back(self, values: Sequence[Any]) -> Any:
        return bool(values[0])


class Finite(Shape):
    """One of finitely many plain values, by its number."""

    def __init__(self, options: Sequence[Any], numbers: Sequence[int] | None = None) -> None:
        self.options = tuple(options)
        self.numbers = tuple(numbers if numbers is not None else range(len(self.options)))
        self.leaves = (("", "Int"),) if len(self.options) != 1 else ()
        self._at = {self._key(each): at for at, each in enumerate(self.options)}
        self._types = {type_ for type_, _ in self._at}

    def _key(self, value: Any) -> Any:
        if isinstance(value, SymInt):
            value = value.known if value.known is not None else value
        return type(value), value

    def lift(self, terms: Sequence[Term]) -> Any:
        if not self.leaves:
            return lifted(self.options[0])
        for option, at in zip(self.options[:-1], self.numbers, strict=False):
            if decide(equal(terms[0], number(at))):
                return lifted(option)
        return lifted(self.options[-1])

    def lower(self, value: Any) -> list[Term]:
        if isinstance(value, SymBool):
            value = bool(value)
        if isinstance(value, SymInt) and value.known is None:
            for option in self.options:
                if type(option) is int and value == option:
                    value = option
                    break
        key = self._key(value)
        # What is of another type is not looked up: not everything has a hash.
        at = self._at.get(key) if key[0] in self._types else None
        if at is None:
            raise MisfitError
        return [number(self.numbers[at])] if self.leaves else []

    def wf(self, terms: Sequence[Term]) -> Term:
        if not self.leaves:
            return TRUE
        low, high = min(self.numbers), max(self.numbers)
        inside = conjunction([ge(terms[0], number(low)), ge(number(high), terms[0])])
        if len(self.numbers) == high - low + 1:
            return inside
        return disjunction(equal(terms[0], number(each)) for each in self.numbers)

    def back(self, values: Sequence[Any]) -> Any:
        return self.options[self.numbers.index(values[0])] if self.leaves else self.options[0]


class Parts(Shape):
    """A fixed number of parts: a tuple, a NamedTuple, a frozen dataclass, a message inside of another value."""

    def __init__(self, names: Sequence[str], parts: Sequence[Shape], cls: type) -> None:
        self.names, self.parts, self.cls = tuple(names), tuple(parts), cls
        self.leaves = tuple(
            (f".{name}{suffix}", sort) for name, part in zip(names, parts, strict=True) for suffix, sort in part.leaves
        )

    def _split(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        found, at = [], 0
        for part in self.parts:
            found.append(items[at : at + part.size])
            at += part.size
        return found

    def lift(self, terms: Sequence[Term]) -> Any:
        return self._made([part.lift(each) for part, each in zip(self.parts, self._split(terms), strict=True)])

    def _made(self, items: list[Any]) -> Any:
        if self.cls is tuple:
            return tuple(items)
        if issubclass(self.cls, tuple):
            return self.cls(*items)
        new = object.__new__(self.cls)
        for name, item in zip(self.names, items, strict=True):
            object.__setattr__(new, name, item)
        return new

    def lower(self, value: Any) -> list[Term]:
        if plain_class(value) is not self.cls or (self.cls is tuple and len(value) != len(self.parts)):
            raise MisfitError
        items = list(value) if isinstance(value, tuple) else [getattr(value, name) for name in self.names]
        return [term for part, item in zip(self.parts, items, strict=True) for term in part.lower(item)]

    def wf(self, terms: Sequence[Term]) -> Term:
        return conjunction(part.wf(each) for part, each in zip(self.parts, self._split(terms), strict=True))

    def back(self, values: Sequence[Any]) -> Any:
        return self._made([part.back(each) for part, each in zip(self.parts, self._split(values), strict=True)])


class Either(Shape):
    """One of several shapes, by a tag."""

    def __init__(self, options: Sequence[Shape]) -> None:
        self.options = tuple(options)
        self.two = len(self.options) == 2
        tag: Sort = "Bool" if self.two else "Int"
        self.leaves = (
            ("?", tag),
            *(
                (f"{'' if self.two and not self.options[0].size else f'/{at}'}{suffix}", sort)
                for at, option in enumerate(self.options)
                for suffix, sort in option.leaves
            ),
        )

    def _is(self, tag: Term, at: int) -> Term:
        if self.two:
            return tag if at else negation(tag)
        return equal(tag, number(at))

    def _split(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        found, at = [], 1
        for option in self.options:
            found.append(items[at : at + option.size])
            at += option.size
        return found

    def lift(self, terms: Sequence[Term]) -> Any:
        parts = self._split(terms)
        for at in range(len(self.options) - 1):
            if decide(self._is(terms[0], at)):
                return self.options[at].lift(parts[at])
        return self.options[-1].lift(parts[-1])

    def lower(self, value: Any) -> list[Term]:
        for at, option in enumerate(self.options):
            try:
                mine = option.lower(value)
            except MisfitError:
                continue
            tag = boolean(bool(at)) if self.two else number(at)
            rest = [mine if other == at else shape.neutral for other, shape in enumerate(self.options)]
            return [tag, *(term for part in rest for term in part)]
        raise MisfitError

    def wf(self, terms: Sequence[Term]) -> Term:
        parts = self._split(terms)
        rules = [] if self.two else [ge(terms[0], ZERO), lt(terms[0], number(len(self.options)))]
        for at, (option, part) in enumerate(zip(self.options, parts, strict=True)):
            chosen = self._is(terms[0], at)
            rules += [implies(chosen, option.wf(part)), implies(negation(chosen), option.absent(part))]
        return conjunction(rules)

    def back(self, values: Sequence[Any]) -> Any:
        at = int(values[0])
        return self.options[at].back(self._split(values)[at])


def _shown(values: Sequence[Any]) -> list[str]:
    """How values are called in the names of leaves; of several that look alike, each has its number."""
    texts = [show(each) for each in values]
    return [f"{text}#{at}" if texts.count(text) > 1 else text for at, text in enumerate(texts)]


class SetOf(Shape):
    """A set of finitely many possible elements: a truth value for each."""

    def __init__(self, elements: Sequence[Any], cls: type) -> None:
        self.elements, self.cls = tuple(elements), cls
        self.leaves = tuple((f"[{each}]", "Bool") for each in _shown(self.elements))
        self._keys = [Finite([each])._key(each) for each in self.elements]

    def lift(self, terms: Sequence[Term]) -> Any:
        return self.cls(lifted(each) for each, term in zip(self.elements, terms, strict=True) if decide(term))

    def lower(self, value: Any) -> list[Term]:
        if not isinstance(value, frozenset):
            raise MisfitError
        finite = Finite(self.elements)
        held = {int(finite.lower(each)[0].args[0]) if finite.leaves else _alone(finite, each) for each in value}
        return [boolean(at in held) for at in range(len(self.elements))]

    def back(self, values: Sequence[Any]) -> Any:
        return freeze(self.cls(each for each, held in zip(self.elements, values, strict=True) if held))


def _alone(finite: Finite, value: Any) -> int:
    finite.lower(value)
    return 0


class MapOf(Shape):
    """A map from finitely many possible keys."""

    def __init__(self, keys: Sequence[Any], value: Shape) -> None:
        self.keys, self.value = tuple(in_order(keys)), value
        leaves: list[tuple[str, Sort]] = []
        for key in _shown(self.keys):
            leaves.append((f"[{key}]?", "Bool"))
            leaves += [(f"[{key}]{suffix}", sort) for suffix, sort in value.leaves]
        self.leaves = tuple(leaves)

    def _split(self, items: Sequence[Any]) -> list[tuple[Any, Any, Sequence[Any]]]:
        width = 1 + self.value.size
        return [(key, items[at * width], items[at * width + 1 : (at + 1) * width]) for at, key in enumerate(self.keys)]

    def lift(self, terms: Sequence[Term]) -> Any:
        return with_items(
            {lifted(key): self.value.lift(rest) for key, there, rest in self._split(terms) if decide(there)}
        )

    def lower(self, value: Any) -> list[Term]:
        if not isinstance(value, Map):
            raise MisfitError
        finite = Finite(self.keys)
        held: dict[int, Any] = {}
        for key, item in value._items.items():
            leaf = finite.lower(key)
            held[int(leaf[0].args[0]) if leaf else 0] = item
        found: list[Term] = []
        for at in range(len(self.keys)):
            found.append(boolean(at in held))
            found += self.value.lower(held[at]) if at in held else self.value.neutral
        return found

    def wf(self, terms: Sequence[Term]) -> Term:
        return conjunction(
            conjunction([implies(there, self.value.wf(rest)), implies(negation(there), self.value.absent(rest))])
            for _, there, rest in self._split(terms)
        )

    def back(self, values: Sequence[Any]) -> Any:
        return freeze(Map({key: self.value.back(rest) for key, there, rest in self._split(values) if there}))


class Slots(Shape):
    """Up to so many elements: a tuple of any length, or a set or map of unknown integers in ascending order."""

    def __init__(self, kind: str, element: Shape, slots: int) -> None:
        self.kind, self.element, self.slots = kind, element, slots
        self.leaves = (
            ("#", "Int"),
            *((f"[{at}]{suffix}", sort) for at in range(slots) for suffix, sort in element.leaves),
        )

    def _split(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        width = self.element.size
        return [items[1 + at * width : 1 + (at + 1) * width] for at in range(self.slots)]

    def lift(self, terms: Sequence[Term]) -> Any:
        size = next((n for n in range(self.slots) if decide(equal(terms[0], number(n)))), self.slots)
        items = [self.element.lift(each) for each in self._split(terms)[:size]]
        if self.kind == "map":
            return with_items(dict(items))
        return tuple(items) if self.kind == "tuple" else ContentSet(items)

    def lower(self, value: Any) -> list[Term]:
        if self.kind == "tuple":
            if type(value) is not tuple:
                raise MisfitError
            items = list(value)
        elif self.kind == "map":
            if not isinstance(value, Map):
                raise MisfitError
            items = [(key, value._items[key]) for key in sorted(value._items, key=Key)]
        else:
            if not isinstance(value, frozenset):
                raise MisfitError
            items = sorted(frozenset.__iter__(frozenset(value)), key=Key)
        if len(items) > self.slots:
            for each in items:
                self.element.lower(each)  # a misfit says more
            raise OverflowingError
        found = [number(len(items))]
        for each in items:
            found += self.element.lower(each)
        return found + self.element.neutral * (self.slots - len(items))

    def wf(self, terms: Sequence[Term]) -> Term:
        rules = [ge(terms[0], ZERO), ge(number(self.slots), terms[0])]
        parts = self._split(terms)
        for at, part in enumerate(parts):
            there = lt(number(at), terms[0])
            rules += [implies(there, self.element.wf(part)), implies(negation(there), self.element.absent(part))]
            if at and self.kind != "tuple":
                keys = self.element.parts[0].size if isinstance(self.element, Parts) and self.kind == "map" else None
                rules.append(implies(there, _ascending(parts[at - 1][:keys], part[:keys])))
        return conjunction(rules)

    def back(self, values: Sequence[Any]) -> Any:
        items = [self.element.back(each) for each in self._split(values)[: values[0]]]
        if self.kind == "map":
            return freeze(Map(items))
        return tuple(items) if self.kind == "tuple" else freeze(frozenset(items))


def is_cut(shape: Shape) -> bool:
    """Whether a type has values of which the shape has none: those with more elements than there are slots."""
    if isinstance(shape, Parts):
        return any(map(is_cut, shape.parts))
    if isinstance(shape, Either):
        return any(map(is_cut, shape.options))
    return isinstance(shape, Slots) or (isinstance(shape, MapOf) and is_cut(shape.value))


def _ascending(one: Sequence[Term], two: Sequence[Term]) -> Term:
    """Leaf by leaf, as sets are ordered. The shapes that may be elements have leaves in the order of their content."""
    result = FALSE
    for a, b in zip(reversed(one), reversed(two), strict=True):
        less = lt(a, b) if a.sort == "Int" else conjunction([negation(a), b])
        result = disjunction([less, conjunction([equal(a, b), result])])
    return result


class Reader:
    """From declared types to shapes, in a system."""

    def __init__(self, pids: Iterable[Pid], scalars: dict[str, tuple[Any, ...]], slots: int = SLOTS) -> None:
        self.pids = tuple(pids)
        self.scalars = scalars
        self.slots = slots

    def shape(self, hint: Any, what: str, place: Location | None, seen: tuple[Any, ...] = ()) -> Shape:
        """The shape of a type; refused if there is none."""

        def again(part: Any) -> Shape:
            return self.shape(part, what, place, (*seen, hint))

        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            return again(arguments[0])
        if hint is int:
            return Integer()
        if hint is bool:
            return Boolean()
        if hint is None or hint is type(None):
            return Finite([None])
        finite = self._finite(hint)
        if finite is not None:
            if hint is Pid:
                return Finite(finite, [column_of(each) for each in finite])
            return Finite(finite)
        if origin in (typing.Union, types.UnionType):
            return Either([again(part) for part in sorted(arguments, key=lambda part: part is not type(None))])
        if hint in seen:
            raise self._no(hint, what, place, "it holds values of its own type")
        if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
            hints = typing.get_type_hints(hint)
            return Parts(hint._fields, [again(hints[name]) for name in hint._fields], hint)
        if origin is tuple and Ellipsis not in arguments:
            return Parts([str(at) for at in range(len(arguments))], [again(part) for part in arguments], tuple)
        if origin is tuple:
            return Slots("tuple", again(arguments[0]), max(self.slots, len(self.pids) if arguments[0] is Pid else 0))
        if hint is Peers:
            return SetOf(self.pids, Peers)
        if origin is frozenset:
            elements = self._finite(arguments[0])
            if elements is not None or arguments[0] is bool:
                return SetOf(elements if elements is not None else (False, True), ContentSet)
            return Slots("set", self._ordered(again(arguments[0]), hint, what, place), self.slots)
        if origin is Map:
            keys = self._finite(arguments[0])
            if keys is not None or arguments[0] is bool:
                return MapOf(keys if keys is not None else (False, True), again(arguments[1]))
            key = self._ordered(again(arguments[0]), hint, what, place)
            return Slots("map", Parts(["key", "value"], [key, again(arguments[1])], tuple), self.slots)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint) and not issubclass(hint, Message):
            hints = typing.get_type_hints(hint)
            names = [field.name for field in dataclasses.fields(hint)]
            return Parts(names, [again(hints[name]) for name in names], hint)
        if origin is Signed or hint is Signed:
            raise self._no(hint, what, place, "signatures are not supported")
        raise self._no(hint, what, place, "")

    def _finite(self, hint: Any) -> tuple[Any, ...] | None:
        """The values of a type that are finitely many by themselves, integers and truth values excepted."""
        if typing.get_origin(hint) is typing.Literal:
            return tuple(in_order(typing.get_args(hint)))
        if hint is Pid:
            return self.pids
        if isinstance(hint, type) and issubclass(hint, Enum) and not issubclass(hint, Flag):
            return tuple(hint)
        if isinstance(hint, type) and issubclass(hint, Scalar):
            made = self.scalars.get(hint.__name__, ())
            return made if made and all(type(each) is hint for each in made) else None
        return None

    def _ordered(self, shape: Shape, hint: Any, what: str, place: Location | None) -> Shape:
        """Elements of sets have to be in one order, which is that of their leaves."""
        if isinstance(shape, (Integer, Finite)):
            return shape
        if isinstance(shape, Parts) and all(isinstance(part, (Integer, Finite, Boolean)) for part in shape.parts):
            return shape
        raise self._no(hint, what, place, "its elements are no integers, enums or tuples of them")

    def _no(self, hint: Any, what: str, place: Location | None, why: str) -> RefusedError:
        written = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
        return RefusedError(
            f"{what} is declared as {written.replace('typing.', '')}" + (f": {why}" if why else ""),
            "what works: int, bool, None, enums, Literal, Pid, Peers, tuples, NamedTuple, frozen dataclasses, and "
            "frozenset and Map of these; or a field that is never assigned",
            place,
        )
