"""What a proof is about: whose variable is whose, which initial values, how many processes, and within which bounds."""

import json
import sys
import typing
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from quorate import (
    Constant,
    Event,
    Map,
    Message,
    Monitor,
    Pid,
    Process,
    Scalar,
    System,
    check,
    crashes,
    invariant,
    lemma,
    on,
    prove,
    start,
    step,
)
from quorate.base.errors import QuorateError
from quorate.model.define import define
from quorate.model.target import load
from quorate.proofs.encode import Encoded
from quorate.proofs.parametric_family import family
from quorate.proofs.propositions import lemmas
from quorate.proofs.prove import Proof
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import variables
from quorate.render.proofs import report


def told(proof: Proof) -> str:
    """What is said of a proof, having seen that the JSON is what the schema says."""
    schema = Path(__file__).parents[2] / "docs/schemas/proof.schema.json"
    jsonschema.validate(json.loads(json.dumps(proof.to_json())), json.loads(schema.read_text(encoding="utf-8")))
    return " ".join(" ".join("".join(piece.text for piece in line) for line in report(proof).lines).split())


# --- names ---------------------------------------------------------------------------------------------------------


class Red:
    class Stop(Message): ...


class Green:
    class Stop(Message): ...


class Sender(Process):
    to: Pid

    @start
    def go(self) -> None:
        self.send(self.to, Red.Stop())
        self.send(self.to, Green.Stop())


class Receiver(Process):
    red: bool = False
    green: bool = False

    @on(Red.Stop)
    def on_red(self, m: Red.Stop) -> None:
        self.red = True

    @on(Green.Stop)
    def on_green(self, m: Green.Stop) -> None:
        self.green = True


class OneName(System):
    n: int = 2

    def build(self) -> None:
        self.spawn(Sender, self.n, to=self.spawn(Receiver))

    @invariant
    def never_both(self) -> bool:
        return all(not (r.red and r.green) for r in self[Receiver])


def test_message_classes_of_one_name_have_channels_of_their_own() -> None:
    assert not check(OneName(n=1)).ok
    assert prove(OneName(n=1), k=6, discover=False, timeout=20).verdict != "proved"
    assert prove(OneName(), number=["Sender=any"], discover=False, timeout=20).verdict != "proved"


class Ping(Event): ...


def watching(name: str) -> type[Monitor]:
    class Watcher(Monitor):
        seen: int = 0

        @on(Ping)
        def note(self, e: Ping) -> None:
            self.seen += 1

    Watcher.__name__ = name
    return Watcher


class Tick(Process):
    n: int = 0

    @step(when=lambda self: True)
    def tick(self) -> None:
        self.n += 1
        self.emit(Ping())


@pytest.mark.parametrize("names", [("Count", "Count"), ("tick1",), ("budget",)], ids=str)
def test_names_that_two_things_have_are_refused(names: tuple[str, ...]) -> None:
    watchers = [watching(each) for each in names]

    class Named(System):
        def build(self) -> None:
            self.spawn(Tick)
            for each in watchers:
                self.watch(each)

        @invariant
        def good(self) -> bool:
            return all(t.n >= 0 for t in self[Tick])

    with pytest.raises(RefusedError, match=f"the name {names[-1]} is that of something else"):
        prove(Named(), timeout=5)


class Bool(Process):
    hit: bool = False


class Sorted(System):
    n: int = 2

    def build(self) -> None:
        self.spawn(Bool, self.n)

    @invariant
    def good(self) -> bool:
        return not any(p.hit for p in self[Bool])


def test_a_role_is_not_called_as_a_sort_of_the_solver() -> None:
    with pytest.raises(RefusedError, match="the name Bool"):
        prove(Sorted(), number=["Bool=any"], timeout=5)


class Much(Message):
    n: int


class Pot(Process):
    n: int = 0

    @on(Much)
    def take(self, m: Much) -> None:
        self.n = m.n


class Giver(Process):
    to: Pid
    n: int = 1

    @step(when=lambda self: True)
    def give(self) -> None:
        self.send(self.to, Much(self.n))
        self.n += 1


class Captured(System):
    def build(self) -> None:
        self.spawn(Giver, to=self.spawn(Pot))

    @invariant
    def good(self) -> bool:
        return all(p.n >= 0 for p in self[Pot])

    @lemma
    def positive(self, giver1: Much, g: Giver) -> bool:
        return 0 < giver1.n < g.n


def test_a_parameter_of_a_lemma_may_be_called_as_a_process() -> None:
    encoded = Encoded(define(Captured()))
    (claim,) = lemmas(encoded)
    (instance,) = claim.instances
    assert instance.bound
    assert not {*instance.bound} & {*encoded.machine.variables()}
    assert len(variables(instance.body)) == 2


# --- initial values --------------------------------------------------------------------------------------------------


class Keeper(Process):
    durable = ("runs",)
    value: int = 0
    limit: int = 0
    runs: int = 0
    bad: bool = False

    @start
    def begin(self) -> None:
        self.runs += 1

    @step(when=lambda self: self.runs >= 2 and self.value == 7)
    def boom(self) -> None:
        self.bad = True

    @step(when=lambda self: self.runs == 1 and self.value != 0)
    def wipe(self) -> None:
        self.value = 0

    @step(when=lambda self: self.runs >= 2 and self.limit == 7)
    def over(self) -> None:
        self.bad = True


class Recovering(System):
    value: int = 0
    limit: int = 0
    faults = crashes(1, recover=True)

    def build(self) -> None:
        self.spawn(Keeper, value=self.value, limit=self.limit)

    @invariant
    def good(self) -> bool:
        return not any(k.bad for k in self[Keeper])


def test_a_recovery_restores_what_the_process_began_with() -> None:
    assert check(Recovering()).ok
    assert not check(Recovering(value=7)).ok
    with pytest.raises(RefusedError, match="recovers with value as it began") as refused:
        prove(Recovering(), any=["Keeper.value"], timeout=20)
    assert refused.value.location is not None
    assert not check(Recovering(limit=7)).ok
    # Nobody assigns it, so that a recovery leaves it as it is.
    assert prove(Recovering(), any=["Keeper.limit"], timeout=20).verdict != "proved"


class Holder(Process):
    items: frozenset[int] = frozenset()
    queue: tuple[int, ...] = ()
    table: Map[int, int] = Map()
    pair: tuple[int, frozenset[int]] = (0, frozenset())
    maybe: frozenset[int] | None = None
    big: bool = False

    @step(
        when=lambda self: (
            len(self.items) > 2
            or len(self.queue) > 2
            or len(self.table) > 2
            or len(self.pair[1]) > 2
            or (self.maybe is not None and len(self.maybe) > 2)
        )
    )
    def grow(self) -> None:
        self.big = True


class Holding(System):
    def build(self) -> None:
        self.spawn(Holder)

    @invariant
    def good(self) -> bool:
        return not any(h.big for h in self[Holder])


@pytest.mark.parametrize("name", ["items", "queue", "table", "pair", "maybe"])
def test_not_any_collection_has_an_encoding(name: str) -> None:
    with pytest.raises(RefusedError, match=f"Holder.{name} may not begin with any value") as refused:
        prove(Holding(), any=[f"Holder.{name}"], timeout=20)
    assert refused.value.location is not None
    assert prove(Holding(), any=["Holder.big"], timeout=20).verdict == "refuted"


class Value(Scalar): ...


class Chooser(Process):
    mine: Value
    same: bool = True

    @step(when=lambda self: True)
    def look(self) -> None:
        self.same = True


class Twice(System):
    def build(self) -> None:
        (*_, last) = self.scalars(Value, 3)
        self.scalars(Value, 2)
        self.spawn(Chooser, mine=last)

    @invariant
    def good(self) -> bool:
        return all(c.same for c in self[Chooser])


def test_scalars_that_are_made_twice_are_all_that_were_made() -> None:
    assert prove(Twice(), any=["Chooser.mine"], timeout=20).verdict == "proved"


# --- numbers ---------------------------------------------------------------------------------------------------------


class Late(Process):
    late: Constant[bool]
    hit: bool = False

    @step(when=lambda self: self.late)
    def go(self) -> None:
        self.hit = True


class FromEightOn(System):
    n: int = 2
    least: int = 7

    def build(self) -> None:
        self.spawn(Late, self.n, late=self.n > self.least)

    @invariant
    def good(self) -> bool:
        return not any(p.hit for p in self[Late])


@pytest.mark.parametrize("least", [7, 10, 15])
def test_constants_of_a_model_are_found_by_greater_numbers(least: int) -> None:
    with pytest.raises(RefusedError, match=r"Late\.late begins as False here and as True there"):
        prove(FromEightOn(least=least), number=["Late=any"], timeout=20)


def test_every_answer_says_for_which_numbers_the_system_was_built() -> None:
    proof = prove(FromEightOn(least=99), number=["Late=any"], timeout=20)
    assert proof.verdict == "proved"
    assert proof.built == "n = 1 to 8, 11, 16"
    assert "`build` makes more of the same for every number; it was run for n = 1 to 8, 11, 16" in told(proof)
    proof = prove(FromEightOn(least=99), number=["Late=any"], any=["Late.hit"], timeout=20)
    assert proof.verdict != "proved"
    assert "it was run for n = 1 to 8, 11, 16" in told(proof)


class Roles(System):
    n: int = 2
    m: int = 2

    def build(self) -> None:
        if self.n > 9:
            raise RuntimeError
        self.spawn(Late, self.n, late=False)
        self.spawn(Tick, self.m)


def test_of_two_roles_pairs_are_built() -> None:
    with pytest.raises(QuorateError):
        family(Roles(), ["Late=any", "Tick=any"])
    fewer: Any = type("Fewer", (Roles,), {"__module__": __name__, "build": build_pairs, "__annotations__": {}})
    built = family(fewer(), ["Late=any", "Tick=any"]).built
    assert built == "(n, m) = each 1 to 4; (7, 7); (2, 8); (8, 2); (8, 8); (11, 11)"


def build_pairs(self: Any) -> None:
    self.spawn(Late, self.n, late=False)
    self.spawn(Tick, self.m)


class Carrier(Process):
    value: Value
    other: Value | None = None

    @step(when=lambda self: self.other is None)
    def go(self) -> None:
        self.other = self.value


class ByNumber(System):
    n: int = 3

    def build(self) -> None:
        for value in self.scalars(Value, self.n):
            self.spawn(Carrier, value=value)

    @invariant
    def few(self) -> bool:
        return len({c.value for c in self[Carrier]}) <= 2


class Posted(System):
    n: int = 3

    def build(self) -> None:
        (first, *_) = pots = list(self.spawn(Pot, self.n))
        if self.n == 3:
            self.send(first, Much(-1), sender=pots[-1])

    @invariant
    def good(self) -> bool:
        return all(p.n == 0 for p in self[Pot])


@pytest.mark.parametrize(
    ("system", "number", "free"),
    [(ByNumber(), "Carrier=any", ["Carrier.value"]), (Posted(), "Pot=any", [])],
    ids=["scalars", "messages"],
)
def test_scalars_and_messages_must_not_depend_on_the_number(system: System, number: str, free: list[str]) -> None:
    assert not check(system).ok
    with pytest.raises(RefusedError):
        prove(system, number=[number], any=free, timeout=20)


# --- bounds ----------------------------------------------------------------------------------------------------------


class Bounded(Process):
    x: int = 0

    @step(when=lambda self: True)
    def go(self) -> None:
        self.x += 1

    def within(self) -> bool:
        return self.x <= 2


class WithinBounds(System):
    def build(self) -> None:
        self.spawn(Bounded)

    @invariant
    def good(self) -> bool:
        return all(c.x < 4 for c in self[Bounded])


def test_a_proof_within_bounds_names_them() -> None:
    proof = prove(WithinBounds(), timeout=20)
    assert proof.verdict == "proved"
    assert proof.within == ("Bounded.within",)
    assert proof.to_json()["within"] == ["Bounded.within"]
    assert "within the bounds of the model" in told(proof)
    assert "bounded by Bounded.within" in told(proof)
    assert "bounded" not in told(prove(Holding(), timeout=20))


class Overflowing(Process):
    n: int = 0
    s: frozenset[int] = frozenset()
    to: Pid | None = None

    @step(when=lambda self: self.n < 3)
    def go(self) -> None:
        self.s |= {self.n}
        self.n += 1


class Filling(System):
    def build(self) -> None:
        self.spawn(Overflowing)

    @invariant
    def good(self) -> bool:
        return all(len(o.s) <= 3 for o in self[Overflowing])


def test_states_with_more_elements_than_slots_are_no_samples() -> None:
    assert prove(Filling(), timeout=20).verdict == "not proved"


class Wrong(Process):
    to: Pid | None = None

    @step(when=lambda self: True)
    def go(self) -> None:
        self.send(self.pid, Much(None))  # type: ignore[arg-type]


class Mistyped(System):
    def build(self) -> None:
        self.spawn(Wrong)

    @invariant
    def good(self) -> bool:
        return all(w.to is None for w in self[Wrong])


def test_a_refusal_without_a_line_of_the_model_has_that_of_the_transition() -> None:
    with pytest.raises(RefusedError, match=r"Much\.n is given None") as refused:
        prove(Mistyped(), timeout=20)
    place = refused.value.location
    assert place is not None
    lines = Path(place.file).read_text(encoding="utf-8").splitlines()
    assert "def go(self)" in "".join(lines[place.line - 1 : place.line + 1])


# --- annotations that are texts ------------------------------------------------------------------------------------

LATER = """
from __future__ import annotations

import typing
from typing import NamedTuple

from quorate import Message, Pid, Process, System, invariant, on, start


class Pair(NamedTuple):
    a: int
    b: int


class Note(Message):
    pair: Pair


class Writer(Process):
    reader: Pid

    @start
    def write(self) -> None:
        self.send(self.reader, Note(Pair(int(len([1])), 2)))


class Reader(Process):
    found: int = 0

    @on(Note)
    def read(self, m: Note) -> None:
        self.found = m.pair.a


class Reading(System):
    def build(self) -> None:
        self.spawn(Writer, reader=self.spawn(Reader))

    @invariant
    def small(self) -> bool:
        return all(each.found < 2 for each in self[Reader])
"""


def test_annotations_that_are_texts_mean_what_they_did_when_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "later.py"
    path.write_text(LATER, encoding="utf-8")
    system = load(f"{path}:Reading")
    assert prove(system(), timeout=20).verdict == "proved"
    pair = sys.modules[system.__module__].Pair
    assert all(hint is int for hint in typing.get_type_hints(pair).values())
