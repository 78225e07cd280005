"""What stands for an integer, a message or a process must not be told from it, and no plain number gets past it.

As in `test_prove_values`: each test is true for some number or message, so nothing here may be proved. In the plain
semantics each is true for 3.
"""

import builtins
import dataclasses
import enum
import errno
import json
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import pytest

import numbers_elsewhere
from quorate import Message, Pid, Process, System, check, invariant, on, prove, step
from quorate.model.define import define
from quorate.proofs.encode import Encoded
from quorate.proofs.induction import Prover
from quorate.proofs.propositions import invariants, obligations
from quorate.proofs.refusal import RefusedError
from quorate.proofs.solver import Deadline
from test_prove_values import SETS, TEXT, refusal

ALIAS = TypeError
SEVERAL = (ValueError, TypeError)
ROWS: list[Any] = []


def row(words: str = "") -> Callable[[Any], Any]:
    def add(test: Any) -> Any:
        ROWS.append(pytest.param(test, words, id=test.__name__))
        return test

    return add


class Table:
    LIMIT = 3
    ROWS = (3, 4)


class Large(int):
    pass


class Kind(enum.IntFlag):
    A = 1
    B = 2


class Quiet:
    """Swallows every exception."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        return True


@dataclasses.dataclass(frozen=True)
class Loose:
    found: Callable[[], set[int]]


LOOSE = Loose(lambda: {3})


class Base:
    LIMITS: frozenset[int] = frozenset()


class Derived(Base):
    LIMITS = frozenset({3})


def helper() -> int:
    return 3


helper.limit = 3  # type: ignore[attr-defined]


# --- plain numbers, by ways that the code does not name ---------------------------------------------------------


@row()
def attribute_by_name(self: Any) -> Any:
    return self.x in {getattr(Table, "LIMIT")}  # noqa: B009 - the very thing that is tested


@row()
def attribute_by_a_name_that_is_computed(self: Any) -> Any:
    return any(self.x in {getattr(Table, f"{part}IMIT")} for part in "L")


@row()
def attribute_by_a_pattern(self: Any) -> Any:
    match Table():
        case Table(LIMIT=limit):
            return self.x in {limit}
    return False


@row(SETS)
def attribute_of_a_function(self: Any) -> Any:
    return self.x in {helper.limit}  # type: ignore[attr-defined]


@row(SETS)
def subclass_of_int(self: Any) -> Any:
    return self.x in {Large(3)}


@row(SETS)
def flags(self: Any) -> Any:
    return self.x in {Kind.A | Kind.B}


@row()
def function_of_a_module_by_name(self: Any) -> Any:
    return self.x in getattr(numbers_elsewhere, "limits")()  # noqa: B009 - as above


@row()
def function_in_a_dataclass(self: Any) -> Any:
    return self.x in LOOSE.found()


@row(SETS)
def number_of_a_library(self: Any) -> Any:
    return self.x in {errno.ESRCH}


@row(SETS)
def found_by_its_base(self: Any) -> Any:
    return any(self.x in each.LIMITS for each in Base.__subclasses__())


# --- methods of int, which want an int --------------------------------------------------------------------------


@row("calls `int.__add__`")
def method_of_int(self: Any) -> Any:
    try:
        return int.__add__(self.x, 1) == 4
    except TypeError:
        return False


@row("calls `int.bit_length`")
def method_of_int_by_name(self: Any) -> Any:
    with Quiet():
        return getattr(int, "bit_length")(self.x) == 2  # noqa: B009 - as above
    return False


# --- what only an integer does not raise ------------------------------------------------------------------------

CAUGHT = "catches TypeError"
WIDE = "%*d"
"""Python wants an int for the width."""


@row(CAUGHT)
def caught(self: Any) -> Any:
    try:
        return len(WIDE % (self.x, 5)) == 3
    except TypeError:
        return False


@row(CAUGHT)
def caught_by_another_name(self: Any) -> Any:
    try:
        return len(WIDE % (self.x, 5)) == 3
    except ALIAS:
        return False


@row(CAUGHT)
def caught_with_others(self: Any) -> Any:
    try:
        return len(WIDE % (self.x, 5)) == 3
    except SEVERAL:
        return False


@row(CAUGHT)
def caught_as_an_attribute(self: Any) -> Any:
    try:
        return len(WIDE % (self.x, 5)) == 3
    except builtins.TypeError:
        return False


@row(CAUGHT)
def caught_in_a_group(self: Any) -> Any:
    found = False
    try:
        found = len(WIDE % (self.x, 5)) == 3
    except* TypeError:
        pass
    return found


@row(CAUGHT)
def swallowed(self: Any) -> Any:
    with Quiet():
        return len(WIDE % (self.x, 5)) == 3
    return False


@row(CAUGHT)
def dropped_in_the_end(self: Any) -> Any:
    found = False
    try:
        found = len(WIDE % (self.x, 5)) == 3
    finally:
        return found  # noqa: B012 - the very thing that is tested


@row()
def raised_by_the_model(self: Any) -> Any:
    try:
        if self.x == 3:
            raise TypeError
    except TypeError:
        return True
    return False


@row("`json` is not the model's own")
def told_apart_by_a_library(self: Any) -> Any:
    return json.dumps(self.x, default=lambda _: "no integer") == "3"


DUMP = partial(json.dumps, default=lambda _: "no integer")


@row("`DUMP` is not the model's own")
def told_apart_by_a_part_of_one(self: Any) -> Any:
    return DUMP(self.x) == "3"


@row("takes an object apart by `__dict__`")
def taken_apart(self: Any) -> Any:
    return self.__dict__["x"] == 3


@pytest.mark.parametrize(("test", "words"), ROWS)
def test_no_test_of_an_unknown_integer_is_taken_for_false(test: Any, words: str) -> None:
    assert test(SimpleNamespace(x=3))
    refused = refusal(test)
    assert (refused is not None) == bool(words), refused
    if refused is not None:
        assert words in refused.message
        assert refused.hint
        assert refused.location is not None
        assert refused.location.file == __file__


# --- messages and processes -------------------------------------------------------------------------------------


class Number(Message):
    n: int

    @classmethod
    def is_mine(cls) -> bool:
        return cls is Number


class Sender(Process):
    to: Pid
    n: int = 0

    @step(when=lambda self: self.n < 3)
    def count(self) -> None:
        self.n += 1
        self.send(self.to, Number(self.n))


class Receiver(Process):
    bad: bool = False

    @on(Number)
    def take(self, m: Number) -> None:
        self.bad = self.test(m)

    def test(self, m: Number) -> bool:
        return False

    @classmethod
    def itself(cls) -> type[Process]:
        return cls


def class_of_a_message(self: Any, m: Number) -> bool:
    return m.is_mine() and m.n == 3


def class_of_a_process(self: Any, m: Number) -> bool:
    return self.itself() is type(self) and self.itself() in {type(self)} and m.n == 3


def text_of_a_message(self: Any, m: Number) -> bool:
    return repr(m) == "Number(n=3)"


def format_of_a_message(self: Any, m: Number) -> bool:
    return f"{m}" == "Number(n=3)"


def fields_of_a_message(self: Any, m: Number) -> bool:
    return bool(vars(m).get("n") == 3)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (class_of_a_message, ""),
        (class_of_a_process, ""),
        (text_of_a_message, TEXT),
        (format_of_a_message, TEXT),
        (fields_of_a_message, "takes an object apart by `vars`"),
    ],
)
def test_no_test_of_an_unknown_message_is_taken_for_false(test: Any, words: str) -> None:
    cls = type("Tried", (Receiver,), {"test": test, "__module__": __name__, "__annotations__": {}})

    class Trying(System):
        def build(self) -> None:
            self.spawn(Sender, to=self.spawn(cls))

        @invariant
        def good(self) -> bool:
            return all(not each.bad for each in self[Receiver])

    assert check(Trying()).verdict == "violated"
    if words:
        with pytest.raises(RefusedError, match=words):
            Encoded(define(Trying()))
        return
    encoded = Encoded(define(Trying()))
    nodes = Prover(encoded, Deadline(20)).prove([*invariants(encoded, None), *obligations(encoded)], [])
    assert any(node.status != "proved" for node in nodes.values())


class Types(System):
    """In a property, processes are views, in a check as well."""

    def build(self) -> None:
        self.spawn(Receiver)

    @invariant
    def class_of(self) -> bool:
        return all(each.__class__ is Receiver for each in self[Receiver])

    @invariant
    def instance_of(self) -> bool:
        return all(isinstance(each, (Receiver, Sender)) for each in self[Process])

    @invariant
    def another_class(self) -> bool:
        return all(issubclass(each.__class__, Sender) for each in self[Receiver])


@pytest.mark.parametrize("name", ["class_of", "instance_of", "another_class"])
def test_the_class_of_a_process_is_in_a_proof_what_it_is_in_a_check(name: str) -> None:
    checked, proved = check(Types(), property=name), prove(Types(), property=name, discover=False)
    assert checked.ok == proved.ok == (name != "another_class")
