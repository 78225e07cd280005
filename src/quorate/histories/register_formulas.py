"""Registers as formulas over operations (Attie and Chockler 2006), where the monitors of `registers.py` are quicker.

Both say the same, and each is a check of the other. What is printed in the paper is corrected in three ways. Formulas
are read from the beginning of a run: below the outer G of the paper, `w -> r` becomes true of concurrent operations as
well, once all have ended. For the same reason no F stands before `w1 -> w2` in the third. And the initial value is
write 0, which precedes everything. Where an operation never ends nothing is claimed; that it ends is another formula.

They are also turned round: where the paper says what a read returns if nothing else was written in between, here it is
said of each value that it is not returned if something was. For one writer that is the same; with several, writes that
overlap may both be the last one, and the read returns either. Values that are written differ from each other and from
the initial one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from quorate.base.errors import ModelError, caller
from quorate.base.values import encode, freeze
from quorate.histories.named import One, Operations
from quorate.histories.specifications import Read, Write
from quorate.language.temporal import Expanded, Stated

Predicates = dict[str, Callable[[Any], bool]]


def safe_formula(writes: Operations, reads: Operations, initial: Any = None) -> Stated:
    """A property for each read: if no write overlaps it, it returns what was written last."""
    return _stated(writes, reads, initial, _Register.safe)


def regular_formula(writes: Operations, reads: Operations, initial: Any = None) -> Stated:
    """A property for each read: it returns what was written last, or something that is written meanwhile."""
    return _stated(writes, reads, initial, _Register.regular)


def atomic_formula(writes: Operations, reads: Operations, initial: Any = None) -> Stated:
    """As `regular_formula`, and no two reads see two writes in the wrong order. For one writer."""
    return _stated(writes, reads, initial, _Register.atomic)


def operations_end(*families: Operations) -> Stated:
    """A property for each operation: once begun it ends."""
    place = caller()

    def expand(system: Any, processes: Callable[[type], int]) -> Iterator[Expanded]:
        for family in families:
            for number, one in enumerate(family.of(system, processes(family.by))):
                name = f"{family.ledger.records.__name__} {number + 1}"
                names = {"o.began": _function(one.began), "o.ended": _function(one.ended)}
                yield Expanded(name, "G(o.began -> F o.ended)", names)

    return Stated("ltl", "", location=place, expand=expand)


class _Written(NamedTuple):
    """A write, or the initial value, which is write 0."""

    name: str
    one: One | None


class _Register:
    """The formulas of one instance."""

    def __init__(self, writes: list[One], reads: list[One], writers: int, initial: Any) -> None:
        self.writers = writers
        self.initial = freeze(initial)
        self.writes = [_Written("w0", None), *(_Written(f"w{at + 1}", one) for at, one in enumerate(writes))]
        self.reads = {f"r{at + 1}": one for at, one in enumerate(reads)}
        self.names: Predicates = {}
        for name, one in [*((each.name, each.one) for each in self.writes), *self.reads.items()]:
            if one is not None:
                self.names |= {f"{name}.began": _function(one.began), f"{name}.ended": _function(one.ended)}
        for read, one in self.reads.items():
            self.names |= {f"{read}_{write.name}": self._returns(one, write.one) for write in self.writes}

    def _returns(self, read: One, write: One | None) -> Callable[[Any], bool]:
        """Whether the read has returned what the write has written."""

        def returns(system: Any) -> bool:
            call = read.call(system)
            if call is None or not call[2]:
                return False
            if write is None:
                return bool(encode(call[3]) == encode(self.initial))
            written = write.call(system)
            return written is not None and encode(call[3]) == encode(written[0].value)  # type: ignore[attr-defined]

        return returns

    def precedes(self, first: str, second: str) -> str:
        if first == "w0":
            return "true"
        return "false" if second == "w0" else f"precedes({first}, {second})"

    def superseded(self, read: str, write: _Written) -> Iterator[tuple[str, str]]:
        """Why a read must not return what this write has written: in words, and as a formula."""
        if write.one is not None:
            yield f"{write.name} after {read}", self.precedes(read, write.name)
        for other in self.writes[1:]:
            if other != write:
                between = f"{self.precedes(write.name, other.name)} & {self.precedes(other.name, read)}"
                yield f"{write.name} before {other.name} before {read}", between

    def returned(self, read: str, premise: str) -> Iterator[Expanded]:
        """The paper's second formula, turned round and taken apart, so that its automata are small: a read returns
        something that was written, and if it returns what one write has written, that one is not superseded."""
        written = " | ".join(f"F {read}_{write.name}" for write in self.writes)
        yield self._of(f"{read} returns a written value", f"(F {read}.ended & {premise}) -> ({written})")
        for write in self.writes:
            for which, reason in self.superseded(read, write):
                yield self._of(which, f"!(F {read}_{write.name} & {premise} & {reason})")

    def regular(self) -> Iterator[Expanded]:
        for read in self.reads:
            yield from self.returned(read, "true")

    def safe(self) -> Iterator[Expanded]:
        for read in self.reads:
            apart = [f"!concurrent({write.name}, {read})" for write in self.writes[1:]]
            yield from self.returned(read, " & ".join(apart) or "true")

    def atomic(self) -> Iterator[Expanded]:
        if self.writers > 1:
            raise ModelError(
                "atomic_formula is for one writer: writes that overlap have no order that a formula could name",
                hint="use atomic_register(initial), which is for any number of them",
                code="Q409",
            )
        yield from self.regular()
        for one in self.reads:
            for two in self.reads:
                for old in self.writes:
                    for new in self.writes[1:]:
                        if one == two or old == new:
                            continue
                        seen = f"precedes({one}, {two}) & F {two}.ended & F {one}_{new.name} & F {two}_{old.name}"
                        order = self.precedes(old.name, new.name)
                        yield self._of(f"{one} {new.name}, {two} {old.name}", f"({seen}) -> !({order})")

    def _of(self, which: str, formula: str) -> Expanded:
        return Expanded(which, formula, self.names)


def _stated(
    writes: Operations, reads: Operations, initial: Any, formulas: Callable[[_Register], Iterable[Expanded]]
) -> Stated:
    place = caller()
    given: tuple[Any, ...] = (writes, reads)
    if not all(isinstance(each, Operations) for each in given):
        raise ModelError(
            "a register's formulas are about operations",
            hint="writes = operations(Write, by=Writer, count=2)",
            code="Q409",
            location=place,
        )
    for given_as, family, wanted in (("first", writes, Write), ("second", reads, Read)):
        if not issubclass(family.ledger.records, wanted):
            name = wanted.__name__
            what = f"the {given_as} operations of a register's formulas are {name.lower()}s"
            raise ModelError(what, hint=f"operations({name}, by=...)", code="Q409", location=place)

    def expand(system: Any, processes: Callable[[type], int]) -> Iterable[Expanded]:
        writers = processes(writes.by)
        register = _Register(writes.of(system, writers), reads.of(system, processes(reads.by)), writers, initial)
        return formulas(register)

    return Stated("ltl", "", location=place, expand=expand)


def _function(method: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda system: method(system)
