"""Whatever a model's code asks of an integer that is not known: the answer is exact, or the proof is refused.

In every system here x counts 0, 1, 2, ... and the test that it is put to is true for some number (most often 3). So the
invariant that it never is does not hold, and no row may be proved. Each row says whether it is refused, by what words,
or else not proved.
"""

import dataclasses
import enum
import json
import math
import numbers
import operator
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain, count
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import numbers_elsewhere
from quorate import Message, Pid, Process, System, invariant, on, prove, start, step
from quorate.base.errors import ModelError
from quorate.model.define import define
from quorate.proofs.encode import Encoded
from quorate.proofs.induction import Prover
from quorate.proofs.propositions import invariants, obligations
from quorate.proofs.proxies import SymBool, SymInt
from quorate.proofs.refusal import RefusedError
from quorate.proofs.solver import Deadline


class Table:
    limits = frozenset({3})
    names = {3: 1}
    deep = {"a": [(3, "b")]}
    _hidden = (frozenset({3}),)


class Color(enum.IntEnum):
    RED = 3


class Flagged(enum.Enum):
    A = 3
    B = 4

    @property
    def level(self) -> int:
        return 3


class Pair(NamedTuple):
    a: int = 3
    b: int = 1


@dataclasses.dataclass(frozen=True)
class Point:
    a: int = 3


@dataclasses.dataclass(frozen=True)
class Told:
    a: int
    n: int = dataclasses.field(default=0, compare=False, hash=True)


class Config:
    def __init__(self) -> None:
        self.limits = {3}


CONFIG = Config()
THREE = 3
TENTH = Decimal("0.1")
KEYED = {"three": 3}
HALF = partial(operator.add, 1)


@lru_cache
def cached(x: int) -> bool:
    return x == 3


class Number(Message):
    n: int = 3


class Counting(Process):
    _limits = frozenset({3})
    x: int = 0
    bad: bool = False

    @step(when=lambda self: True)
    def count(self) -> None:
        self.x += 1
        if self.test():
            self.bad = True

    def test(self) -> bool:
        return False


ROWS: list[Any] = []


def row(words: str = "") -> Callable[[Any], Any]:
    """A test of x; what it is refused with, if it is."""

    def add(test: Any) -> Any:
        ROWS.append(pytest.param(test, words, id=test.__name__))
        return test

    return add


def system(test: Any) -> type[System]:
    cls = type("Tried", (Counting,), {"test": test, "__module__": __name__, "__annotations__": {}})

    class Trying(System):
        def build(self) -> None:
            self.spawn(cls)

        @invariant
        def good(self) -> bool:
            return all(not each.bad for each in self[Counting])

    return Trying


TEXT = "makes a text"
SETS = "may put others there"
MIXED = "mixes a number that is no integer"


# --- sets and maps ---------------------------------------------------------------------------------------------


@row()
def helper_class_set(self: Any) -> Any:
    return self.x in Table.limits


@row()
def helper_class_map(self: Any) -> Any:
    return self.x in Table.names


@row()
def helper_class_deep(self: Any) -> Any:
    return (self.x, "b") in {*Table.deep["a"]}


@row()
def helper_class_hidden(self: Any) -> Any:
    return self.x in Table._hidden[0]


@row()
def own_hidden_attribute(self: Any) -> Any:
    return self.x in self._limits


@row()
def through_the_class(self: Any) -> Any:
    return self.x in Counting._limits


@row()
def module_set(self: Any) -> Any:
    return self.x in numbers_elsewhere.LIMITS


@row()
def module_map(self: Any) -> Any:
    return numbers_elsewhere.NAMES.get(self.x) is not None


@row(SETS)
def some_object(self: Any) -> Any:
    return self.x in CONFIG.limits


@row()
def values_of_a_map(self: Any) -> Any:
    return self.x in {*KEYED.values()}


@row(SETS)
def int_enum_in_a_set(self: Any) -> Any:
    return self.x in {Color.RED}


@row(SETS)
def int_enum_in_a_map(self: Any) -> Any:
    return {Color.RED: 1}.get(self.x) is not None


@row()
def int_enum_compared(self: Any) -> Any:
    return self.x == Color.RED


@row()
def value_of_an_enum(self: Any) -> Any:
    return self.x in {Flagged.A.value}


@row("a table of enum")
def enum_called(self: Any) -> Any:
    try:
        return Flagged(self.x) is Flagged.A
    except ValueError:
        return False


@row("a table of enum")
def int_enum_called(self: Any) -> Any:
    try:
        return Color(self.x) is Color.RED
    except ValueError:
        return False


@row(SETS)
def enum_by_value(self: Any) -> Any:
    return self.x in Flagged._value2member_map_


@row(SETS)
def float_in_a_set(self: Any) -> Any:
    return self.x in {3.0}


@row(SETS)
def truth_value_in_a_set(self: Any) -> Any:
    return (self.x - 2) in {True}


@row()
def keyword_default(self: Any, *, allowed: Any = frozenset({3})) -> Any:
    return self.x in allowed


@row(SETS)
def made_by_a_library(self: Any) -> Any:
    return self.x in {math.isqrt(9)}


@row(SETS)
def a_partial(self: Any) -> Any:
    return self.x in {HALF(2)}


@row(SETS)
def remembered(self: Any) -> Any:
    return cached(self.x)


@row()
def default_of_a_tuple(self: Any) -> Any:
    return (self.x, 1) in {Pair()}


@row()
def default_of_a_dataclass(self: Any) -> Any:
    return self.x in {Point().a}


@row()
def default_of_a_message(self: Any) -> Any:
    return self.x in {Number().n}


@row("a table of collections")
def a_counter(self: Any) -> Any:
    return Counter([3])[self.x] == 1


@row()
def known_numbers_too(self: Any) -> Any:
    return 3 in Table.limits and self.x == 3


@row()
def tuple_in_a_set(self: Any) -> Any:
    return (self.x, 1) in {(3, 1)}


@row()
def set_in_a_set(self: Any) -> Any:
    return frozenset({self.x}) in {frozenset({3})}


@row()
def sets_compared(self: Any) -> Any:
    return {self.x} == {3} and {self.x} <= {3, 4} and bool({self.x} & {3})


@row()
def maps_made_of_ranges(self: Any) -> Any:
    return {i: i for i in range(5)}.get(self.x) == 3


@row()
def keys_made_of_lists(self: Any) -> Any:
    return self.x in dict.fromkeys([3])


# --- texts -----------------------------------------------------------------------------------------------------


@row(TEXT)
def text(self: Any) -> Any:
    return str(self.x) == "3"


@row(TEXT)
def formatted(self: Any) -> Any:
    return f"{self.x}" == "3"


@row(TEXT)
def formatted_by_name(self: Any) -> Any:
    return "{}".format(self.x) == "3"  # noqa: UP032


@row("converts")
def percent(self: Any) -> Any:
    return "%d" % self.x == "3"  # noqa: UP031


@row(TEXT)
def percent_text(self: Any) -> Any:
    return "%s" % self.x == "3"  # noqa: UP031


@row(TEXT)
def length_of_text(self: Any) -> Any:
    return len(str(self.x)) == 1 and self.x > 2


@row(TEXT)
def representation(self: Any) -> Any:
    return repr(self.x) == "3"


@row(TEXT)
def text_of_a_tuple(self: Any) -> Any:
    return str((self.x,)) == "(3,)"


@row(TEXT)
def text_of_an_exception(self: Any) -> Any:
    try:
        raise ValueError(f"{self.x}")
    except ValueError as error:
        return str(error) == "3"


@row()
def text_there_and_back(self: Any) -> Any:
    return int(str(self.x)) == 3


@row()
def text_of_a_condition(self: Any) -> Any:
    return f"{self.x == 3}" == "True"


# --- types and identity ----------------------------------------------------------------------------------------


@row()
def type_is(self: Any) -> Any:
    return type(self.x) is int


@row()
def type_equals(self: Any) -> Any:
    return type(self.x) == int and self.x == 3  # noqa: E721


@row()
def type_in(self: Any) -> Any:
    return type(self.x) in (str, int) and type(self.x == 3) in {bool}


@row()
def class_of(self: Any) -> Any:
    return self.x.__class__.__name__ == "int" and self.x.__class__ is int


@row()
def instances(self: Any) -> Any:
    return (
        isinstance(self.x, int | str)
        and isinstance(self.x, (str, (int, float)))  # type: ignore[redundant-expr]
        and isinstance(self.x, object)  # type: ignore[redundant-expr]
        and isinstance(self.x, numbers.Integral)
        and not isinstance(self.x, bool)
        and not isinstance(self.x, (str, float))
        and isinstance(self.x == 3, bool)
        and isinstance(self.x == 3, int)
        and self.x == 3
    )


@row()
def matched_by_class(self: Any) -> Any:
    match self.x:
        case int(n) if n == 3:
            return True
        case _:
            return False


@row()
def matched_by_value(self: Any) -> Any:
    match self.x:
        case 3:
            return True
        case _:
            return False


@row()
def matched_condition(self: Any) -> Any:
    match (self.x == 3, 1):
        case (True, 1):
            return True
        case _:
            return False


def hashed(self: Any) -> Any:
    return hash(self.x) % 5 == 3


def hashed_by_hand(self: Any) -> Any:
    return self.x.__hash__() == 3


@row("compares integers with `is`")
def identical(self: Any) -> Any:
    return self.x is THREE


@row("compares integers with `is`")
def identical_to_an_enum(self: Any) -> Any:
    return self.x is not Color.RED and self.x == 3


@row("in a chain")
def identical_in_a_chain(self: Any) -> Any:
    return self.x is self.x is THREE


@row()
def condition_is_true(self: Any) -> Any:
    reached = self.x == 3
    return reached is True


@row()
def condition_is_true_in_a_lambda(self: Any) -> Any:
    one, two = lambda: (self.x == 3) is True, lambda: (self.x == 4) is not True
    return one() and two()  # type: ignore[no-untyped-call]


@row()
def conditions_identical(self: Any) -> Any:
    return (self.x == 3) is (self.x > 0)


# --- attributes and operations ---------------------------------------------------------------------------------


@row()
def attributes(self: Any) -> Any:
    return hasattr(self.x, "real") and getattr(self.x, "numerator", 0) == 3 and self.x.denominator == 1


@row("computes with the bits")
def attribute_refused(self: Any) -> Any:
    return hasattr(self.x, "bit_count") and self.x == 3


@row(MIXED)
def float_compared(self: Any) -> Any:
    return self.x == 3.0


@row(MIXED)
def float_in_a_tuple(self: Any) -> Any:
    return self.x in (3.0, 4.5)


@row(MIXED)
def complex_compared(self: Any) -> Any:
    return self.x == complex(3)


@row(MIXED)
def decimal_compared(self: Any) -> Any:
    return self.x == TENTH * 30


@row(MIXED)
def fraction_compared(self: Any) -> Any:
    return self.x == Fraction(3)


@row()
def arithmetic(self: Any) -> Any:
    return (
        divmod(self.x, 2) == (1, 1)
        and -self.x // 2 == -2
        and round(self.x) == 3
        and ~self.x == -4
        and abs(-self.x) == 3
        and math.floor(self.x) == 3
        and (self.x > 2) + (self.x > 3) * 2 - True == 0
        and (self.x == 3) > False
    )


@row("counts or indexes")
def indexed(self: Any) -> Any:
    return "abcdef"[min(self.x, 5)] == "d"


@row("repeats a sequence")
def repeated(self: Any) -> Any:
    return "".join(["a"] * min(self.x, 9)) == "aaa"


@row()
def in_a_range(self: Any) -> Any:
    return self.x in range(3, 10**9, 3) and self.x not in range(4, 10**9)


@row("counts or indexes")
def packed(self: Any) -> Any:
    return struct.pack("b", self.x) == b"\x03"


@row()
def sorted_and_greatest(self: Any) -> Any:
    return sorted([self.x, 2, 9])[1] == 3 and max((self.x, "a"), (2, "b"), key=lambda each: each[0]) == (3, "a")


@row()
def counted_in_a_list(self: Any) -> Any:
    return [1, 3].count(self.x) > 0 and any(self.x == i for i in (3,)) and operator.eq(self.x, 3)


# --- what is caught --------------------------------------------------------------------------------------------


@row("multiplies two integers")
def caught(self: Any) -> Any:
    try:
        return self.x * self.x == 9
    except Exception:
        return False


@row("multiplies two integers")
def caught_bare(self: Any) -> Any:
    try:
        return self.x * self.x == 9
    except:  # noqa: E722
        return False


@row("multiplies two integers")
def caught_in_the_end(self: Any) -> Any:
    found = False
    try:
        found = self.x * self.x == 9
    finally:
        return found  # noqa: B012


@row("multiplies two integers")
def suppressed(self: Any) -> Any:
    with suppress(Exception):
        return self.x * self.x == 9
    return False


@row("computes with the bits")
def caught_bits(self: Any) -> Any:
    try:
        return self.x & 3 == 3
    except Exception:
        return False


@row(MIXED)
def caught_type(self: Any) -> Any:
    try:
        return self.x > 2.5
    except TypeError:
        return False


@row("computes with the bits")
def caught_attribute(self: Any) -> Any:
    try:
        return self.x.bit_count() == 2
    except AttributeError:
        return False


@row("is not the model's own")
def caught_in_a_library(self: Any) -> Any:
    try:
        return json.dumps(self.x) == "3"
    except TypeError:
        return False


@row()
def a_set_of_dataclasses(self: Any) -> Any:
    return len({Point(self.x), Point(3)}) == 1


@row("whose equal values may have different hashes")
def a_set_of_equals_with_other_hashes(self: Any) -> Any:
    return len({Told(3, self.x), Told(3, 5)}) == 2


@row("`count` may put others there")
def counted_from_zero(self: Any) -> Any:
    return self.x in {number for number, _ in zip(count(), "abcd", strict=False)}


@row("`.indices` may put others there")
def indices_of_a_slice(self: Any) -> Any:
    return self.x in set(slice(3, 5).indices(9)) - {1}


@row()
def chained_numbers(self: Any) -> Any:
    return self.x in set(chain((3,), (4,)))


def refusal(test: Any) -> RefusedError | None:
    """Why it is refused; if it is not, it is at least not proved."""
    try:
        encoded = Encoded(define(system(test)()))
        nodes = Prover(encoded, Deadline(20)).prove([*invariants(encoded, None), *obligations(encoded)], [])
    except RefusedError as refused:
        return refused
    assert any(node.status != "proved" for node in nodes.values())
    return None


@pytest.mark.parametrize(("test", "words"), ROWS)
def test_what_is_asked_of_an_unknown_integer_is_exact_or_refused(test: Any, words: str) -> None:
    refused = refusal(test)
    assert (refused is not None) == bool(words), refused
    if refused is not None:
        assert words in refused.message
        assert refused.hint
        assert refused.location is not None
        assert refused.location.file == __file__


@pytest.mark.parametrize("test", [hashed, hashed_by_hand])
def test_hashes_are_refused_before_anything_is_proved(test: Any) -> None:
    with pytest.raises(ModelError, match="hash") as refused:
        refusal(test)
    assert refused.value.code == "Q105"


def test_every_row_is_true_of_some_plain_number() -> None:
    for each in ROWS:
        (test, _) = each.values
        assert any(test(SimpleNamespace(x=x, _limits=frozenset({3}))) for x in range(1, 10)), each.id


class Careful(Counting):
    def test(self) -> bool:
        assert self.x > 0, f"{self.x} is not above zero"
        if self.x < 0:
            raise ValueError(f"{self.x}")
        return self.x < 1


class Asserting(System):
    def build(self) -> None:
        self.spawn(Careful)

    @invariant
    def good(self) -> bool:
        return all(not each.bad and each.x >= 0 for each in self[Counting])


def test_texts_of_exceptions_are_no_matter() -> None:
    assert prove(Asserting(), timeout=20).verdict == "proved"


@pytest.mark.parametrize("proxy", [SymInt, SymBool])
def test_unknown_integers_have_every_special_method_of_integers(proxy: type) -> None:
    own = {name for name in dir(int) if name.startswith("__") and name not in dir(object)}
    assert own - set(dir(proxy)) <= {"__getnewargs__"}


class Asked(Message):
    pass


class Asker(Process):
    hub: Pid

    @start
    def ask(self) -> None:
        self.send(self.hub, Asked())


class Hub(Process):
    bad: bool = False

    @on(Asked)
    def take(self, m: Asked) -> None:
        self.bad = self.bad or self.test(m)

    def test(self, m: Asked) -> bool:
        return False


def hub_text(self: Any, m: Asked) -> Any:
    return str(m.sender) == "asker4"


def hub_formatted(self: Any, m: Asked) -> Any:
    return f"{m.sender}" == "asker4"


def hub_type(self: Any, m: Asked) -> Any:
    return isinstance(m.sender, Pid) and type(m.sender) is Pid and type(m) is Asked  # type: ignore[redundant-expr]


def hub_caught(self: Any, m: Asked) -> Any:
    try:
        return hash(m.sender) > 2
    except Exception:
        return False


@pytest.mark.parametrize(
    ("test", "words"),
    [(hub_text, TEXT), (hub_formatted, TEXT), (hub_type, ""), (hub_caught, "hub_caught uses `hash`")],
)
def test_what_is_asked_of_one_of_any_number_is_exact_or_refused(test: Any, words: str) -> None:
    cls = type("Asked_", (Hub,), {"test": test, "__module__": __name__, "__annotations__": {}})

    class Asking(System):
        n: int = 2

        def build(self) -> None:
            self.spawn(Asker, self.n, hub=self.spawn(cls))

        @invariant
        def good(self) -> bool:
            return all(not each.bad for each in self[Hub])

    try:
        verdict: Any = prove(Asking(), number=["Asker=any"], timeout=20, discover=False).verdict
    except (RefusedError, ModelError) as refused:
        verdict = refused.message
    assert words in verdict if words else verdict in ("refuted", "not proved")


class Failing(System):
    def build(self) -> None:
        self.spawn(Asker, hub=self.spawn(Hub))

    @invariant
    def never(self) -> bool:
        return not self.ever_sent_any(Asked, lambda m: {}[m.sender] == 1)  # type: ignore[index]


def test_a_condition_on_messages_that_fails_is_not_just_untrue() -> None:
    encoded = Encoded(define(Failing()))
    (node,) = Prover(encoded, Deadline(20)).prove(invariants(encoded, None), []).values()
    assert node.status != "proved"
