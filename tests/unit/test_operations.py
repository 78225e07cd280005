"""Operations in handlers, histories that cannot be, and specifications that break their promises."""

import random
from typing import Any

import pytest

import quorate
from quorate import ModelError, Operation, Process, System, step
from quorate.histories import Read, Register, Write, linearizable, regular_register, sequentially_consistent
from quorate.histories.checked import Checked
from quorate.render.report import report
from quorate.results.history import calls_of


class Client(Process):
    does: str
    at: int = 0

    @step(when=lambda self: self.at < len(self.does))
    def go(self) -> None:
        what = self.does[self.at]
        self.at += 1
        if what == "w":
            self.invoke(Write(self.at))
        elif what == "r":
            self.invoke(Read())
        elif what == "i":
            self.invoke(Read(), identity=self.at)
        elif what == "e":
            self.returns(0, identity=1)
        elif what == "t":
            self.returns("text")
        else:
            self.returns(None if what == "-" else int(what))


class One(System):
    does: str = "w-r1"
    atomic = linearizable(Register(0))
    regular = regular_register(0)

    def build(self) -> None:
        self.spawn(Client, does=self.does)


def failed(does: str, prop: str = "atomic") -> tuple[str, str, int]:
    with pytest.raises(ModelError) as caught:
        quorate.check(One(does=does), property=prop)
    return told(caught.value)


def told(error: ModelError) -> tuple[str, str, int]:
    assert error.location is not None
    assert error.location.file == __file__
    return error.code, error.message, error.location.line


def line_of(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, start=1) if text in line)


@pytest.mark.parametrize("prop", ["atomic", "regular"])
def test_an_operation_that_ends_without_having_begun(prop: str) -> None:
    code, text, line = failed("w-3", prop)
    assert (code, line) == ("Q120", line_of("self.returns(None if"))
    assert "client1 returns 3, and no operation is under way" in text


def test_the_same_with_an_identity() -> None:
    assert "no operation of the identity 1 is under way" in failed("re")[1]


def test_two_operations_at_once() -> None:
    code, text, line = failed("wr")
    assert (code, line) == ("Q121", line_of("self.invoke(Read())"))
    assert "client1 begins Read() while Write(value=1) is under way" in text


def test_several_operations_with_identities() -> None:
    assert failed("iie0")[0] == "Q120"
    assert quorate.check(One(does="iie"), property="atomic").ok


def test_a_result_of_the_wrong_type() -> None:
    code, text, line = failed("wt")
    assert (code, line) == ("Q122", line_of('self.returns("text")'))
    assert "'text'" in text


def test_a_run_that_holds_and_one_that_does_not() -> None:
    assert quorate.check(One(does="w-r1")).ok
    broken = quorate.check(One(does="w-r0"), property="atomic")
    assert broken.verdict == "violated"
    assert broken.trace is not None
    assert [(call.lines, call.result) for call in calls_of(broken.trace)] == [((1, 2), None), ((3, 4), 0)]
    page = report(broken).plain()
    assert "no order of the operations explains Read() = 0 of client1; it could have returned 1" in page.replace(
        "\n          ", " "
    )
    assert "┣━ Write(1) ━┫ ┣━ Read() = 0 ━┫" in page
    assert "Linearizability.configurations" not in page


class Forgetful:
    initial = 0

    def __init__(self) -> None:
        self.calls = 0

    def apply(self, state: int, operation: Operation) -> tuple[int, Any]:
        self.calls += 1
        return self.calls, None


class Listed:
    initial = 0

    def apply(self, state: Any, operation: Operation) -> Any:
        return [state, None]


class Lists:
    initial = 0

    def apply(self, state: Any, operation: Operation) -> Any:
        return [state], None


class Raises:
    initial = 0

    def apply(self, state: Any, operation: Operation) -> Any:
        raise ZeroDivisionError("no such thing")


class WrongResult:
    initial = 0

    def apply(self, state: Any, operation: Operation) -> Any:
        return state, "text"


@pytest.mark.parametrize(
    ("specification", "text"),
    [
        (Listed(), "returned [0, None]"),
        (Lists(), "which cannot be part of a state"),
        (WrongResult(), "are of another type"),
    ],
)
def test_a_specification_that_breaks_its_promises(specification: Any, text: str) -> None:
    class Judged(One):
        atomic = linearizable(specification)

    with pytest.raises(ModelError) as caught:
        quorate.check(Judged(), property="atomic")
    code, message, line = told(caught.value)
    assert (code, line) == ("Q123", line_of(f"class {type(specification).__name__}:"))
    assert text in message


SEEN: list[int] = []


class Remembers:
    """Asked twice at a time it says the same twice: 1 is a value that nobody has written."""

    initial = 0

    def apply(self, state: int, operation: Operation) -> tuple[int, Any]:
        SEEN.append(1)
        return 0, (None if isinstance(operation, Write) else int(len(SEEN) > 2))


@pytest.mark.parametrize("specification", [Remembers(), Forgetful()])
def test_a_specification_that_remembers_is_no_specification(specification: Any) -> None:
    class Judged(One):
        atomic = linearizable(specification)

    SEEN.clear()
    with pytest.raises(ModelError, match="the model remembers something outside of its fields") as caught:
        quorate.check(Judged(does="w-r1"), property="atomic")
    where = "SEEN.append(1)" if isinstance(specification, Remembers) else "self.calls = 0"
    assert told(caught.value)[::2] == ("Q104", line_of(where))


def test_what_a_condition_remembers_is_found() -> None:
    def over(system: Any) -> bool:
        SEEN.append(1)
        return len(SEEN) < 3

    class Judged(One):
        sequential = sequentially_consistent(Register(0), where=over)

    SEEN.clear()
    with pytest.raises(ModelError, match="the model remembers something outside of its fields"):
        quorate.check(Judged(does="w-r1"), property="sequential")


def test_a_specification_is_asked_once_more_in_the_end() -> None:
    """Where it remembers cannot be seen, as in an object of a library that is written in C."""

    class Changes:
        initial = 0
        result = 0

        def apply(self, state: int, operation: Operation) -> tuple[int, Any]:
            return state, self.result

    specification = Checked(Changes(), None)
    specification.apply(0, Read())
    specification.require_same()
    specification.apply(0, Read())
    Changes.result = 1
    with pytest.raises(ModelError, match=r"gave \(0, 0\), and later \(0, 1\)") as caught:
        specification.require_same()
    assert caught.value.code == "Q123"


def tossed() -> int:
    return random.choice([0, 1])  # in a helper


class Tosses:
    initial = 0

    def apply(self, state: int, operation: Operation) -> tuple[int, Any]:
        return state, tossed()


def test_chance_in_what_a_specification_calls_is_found() -> None:
    class Judged(One):
        atomic = linearizable(Tosses())

    with pytest.raises(ModelError, match="tossed uses `random`") as caught:
        quorate.check(Judged(), property="atomic")
    assert told(caught.value)[::2] == ("Q105", line_of("# in a helper"))


class Coin:
    initial = 0

    def apply(self, state: int, operation: Operation) -> tuple[int, Any]:
        return state, random.choice([0, 1])


def test_chance_in_a_specification_is_found_without_luck() -> None:
    """Asked twice, a coin falls the same way every other time."""
    with pytest.raises(ModelError, match="uses `random`") as caught:
        linearizable(Coin())
    assert told(caught.value)[::2] == ("Q123", line_of("return state, random.choice"))


def test_a_specification_that_raises_fails_where_it_does() -> None:
    class Judged(One):
        atomic = linearizable(Raises)

    result = quorate.check(Judged(), property="atomic")
    assert result.trace is not None
    failure = result.trace.steps[-1].failure
    assert failure is not None
    assert "no such thing" in failure.text
    assert failure.line == line_of("raise ZeroDivisionError")


class Exits:
    initial = 0

    def apply(self, state: Any, operation: Operation) -> Any:
        raise SystemExit(0)


def test_a_specification_does_not_end_the_program() -> None:
    class Judged(One):
        atomic = linearizable(Exits)

    with pytest.raises(ModelError, match="would end the program") as caught:
        quorate.check(Judged(), property="atomic")
    assert told(caught.value)[::2] == ("Q119", line_of("raise SystemExit(0)"))


def test_what_is_no_specification_is_refused_where_it_is_given() -> None:
    with pytest.raises(ModelError, match="is not a specification") as caught:
        linearizable(3)
    assert caught.value.code == "Q123"
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_what_is_no_operation_is_refused() -> None:
    class Wrong(Process):
        @step(when=lambda self: True)
        def go(self) -> None:
            self.invoke(3)  # type: ignore[arg-type]

    class Wrongly(System):
        def build(self) -> None:
            self.spawn(Wrong)

    with pytest.raises(ModelError) as caught:
        quorate.check(Wrongly())
    assert told(caught.value)[:2] == ("Q107", "Wrong.invoke(3): not an operation")


def test_the_type_of_a_result_is_a_type() -> None:
    with pytest.raises(ModelError, match="is not a type"):

        class Odd(Operation, result=3):
            pass


class Numbers:
    """Says 1 where its client says True, which is the same to Python."""

    initial = 0

    def apply(self, state: int, operation: Operation) -> tuple[int, Any]:
        return (True, None) if isinstance(operation, Write) else (state, 1 if state == 1 else state)


def test_what_python_takes_for_equal_is_equal() -> None:
    class Judged(One):
        atomic = linearizable(Numbers)

    assert quorate.check(Judged(does="w-r1"), property="atomic").ok
    assert quorate.check(Judged(does="w-r0"), property="atomic").verdict == "violated"
