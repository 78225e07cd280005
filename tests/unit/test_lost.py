"""What is declared is part of the model, or an error with its line: never lost without a word."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from quorate import (
    Monitor,
    Process,
    System,
    can,
    check,
    crashes,
    ctl,
    eventually,
    fifo,
    invariant,
    leads_to,
    ltl,
    stably,
    start,
    step,
)
from quorate.base.errors import ModelError
from quorate.model.define import read_class

FINE = """class Worker(Process):
    @start
    def begin(self) -> None: ...
"""


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that keeps nothing of what it is given."""

    def around(self: Any) -> Any:
        return function(self)

    return around


def careful(function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def around(self: Any) -> Any:
        return function(self)

    return around


@pytest.mark.parametrize(
    "above", [bare, staticmethod, classmethod, property, functools.cache, functools.cached_property]
)
def test_decorators_above_that_keep_nothing(above: Callable[..., Any]) -> None:
    with pytest.raises(ModelError, match="Worker.work is declared, and lost") as process:

        class Worker(Process):
            x: int = 0

            @above
            @step(when=lambda self: True)
            def work(self) -> None:
                self.x = 1

    assert process.value.location is not None
    with pytest.raises(ModelError, match="Works.fine is declared, and lost"):

        class Works(System):
            @above
            @invariant
            def fine(self) -> bool:
                return False

    with pytest.raises(ModelError, match="Later.fine is declared, and lost"):

        class Later(System):
            @above
            @eventually
            def fine(self) -> bool:
                return False


def test_a_mixin_loses_nothing_either() -> None:
    class Mixin:
        @bare
        @start
        def begin(self) -> None:
            pass

    with pytest.raises(ModelError, match="Mixin.begin is declared, and lost"):

        class Worker(Mixin, Process):
            pass


class Counter(Process):
    x: int = 0

    @careful
    @step(when=lambda self: self.x < 2)
    def count(self) -> None:
        self.x += 1

    if True:

        @start
        def begin(self) -> None:
            self.x = 0

    renamed = begin
    del begin


class Counting(System):
    def build(self) -> None:
        self.spawn(Counter)

    @can
    def two(self) -> bool:
        return any(counter.x == 2 for counter in self[Counter])


def test_what_is_kept_is_no_error() -> None:
    result = check(Counting)
    assert result.ok
    assert result.states == 6


def test_a_class_whose_body_failed_leaves_nothing_behind() -> None:
    known: dict[str, Any] = {"Process": Process, "start": start}
    with pytest.raises(ZeroDivisionError):
        exec(FINE + "    1 / 0\n", known)
    exec("\n\n" + FINE, known)
    assert issubclass(known["Worker"], Process)


class Sender(Process):
    x: int = 0

    @start
    def begin(self) -> None:
        self.x = 1


class Listener(Process):
    y: int = 0

    @start
    def begin(self) -> None:
        self.y = 1


class Hidden(Sender, Listener):
    pass


class Shown(Sender, Listener):
    @start
    def begin(self) -> None:
        Sender.begin(self)
        Listener.begin(self)


class Politely:
    @start
    def begin(self) -> None:
        pass


class Polite(Politely, Listener):
    pass


class Playing(System):
    role: str = ""

    def build(self) -> None:
        self.spawn({"hidden": Hidden, "shown": Shown, "polite": Polite}[self.role])

    @invariant
    def silent(self) -> bool:
        return all(listener.y == 0 for listener in self[Listener])


def test_two_roles_with_a_handler_of_one_name() -> None:
    with pytest.raises(ModelError, match="Hidden has two transitions `begin`, of Sender and Listener: the second is"):
        check(Playing(role="hidden"))
    assert check(Playing(role="shown")).verdict == "violated"
    assert check(Playing(role="polite")).verdict == "holds", "a mixin overrides"


class Voting(Process):
    durable: ClassVar[tuple[str, ...]] = ("ballot",)
    ballot: int = 0


class Storing(Process):
    durable: ClassVar[tuple[str, ...]] = ("log",)
    log: int = 0


class Forgetful(Voting, Storing):
    """Comes back without its log."""


class Careful(Voting, Storing):
    durable = (*Voting.durable, *Storing.durable)


class Bold(Voting):
    durable = ()


class Same(Voting, Process):
    pass


@pytest.mark.parametrize(("role", "kept"), [(Careful, 2), (Bold, 0), (Same, 1), (Voting, 1)])
def test_what_is_durable_may_be_said_anew(role: type[Process], kept: int) -> None:
    assert sum(read_class(role).durable) == kept


def test_two_roles_that_each_say_what_is_durable() -> None:
    with pytest.raises(ModelError, match="Forgetful has two `durable`, of Voting and Storing: `log` of the second is"):
        read_class(Forgetful)


class Calm(System):
    @invariant
    def safe(self) -> bool:
        return True


class Nervous(System):
    @invariant
    def safe(self) -> bool:
        return False


class Mixed(Calm, Nervous):
    def build(self) -> None:
        self.spawn(Sender)


def test_two_systems_with_a_property_of_one_name() -> None:
    with pytest.raises(ModelError, match="Mixed has two properties `safe`, of Calm and Nervous"):
        check(Mixed)


class Misspelt(Playing):
    fault = crashes(1)


class Named(Playing):
    lossy = fifo(losses=1)


def test_a_setting_under_another_name() -> None:
    with pytest.raises(ModelError, match="Misspelt.fault is no setting, so it has no effect") as error:
        check(Misspelt)
    assert "did you mean `faults`?" in str(error.value)
    assert check(Named(role="shown")).verdict == "violated", "a network may have a name"


def test_a_property_of_two_kinds() -> None:
    with pytest.raises(ModelError, match=r"fine is declared as a property twice"):

        class Both(System):
            @can
            @invariant
            def fine(self) -> bool:
                return True


@pytest.mark.parametrize("pair", [(eventually, stably), (eventually, invariant), (invariant, eventually)])
def test_a_temporal_property_and_another(pair: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
    first, second = pair
    with pytest.raises(ModelError, match=r"fine is declared as a property twice"):

        class Both(System):
            @first
            @second
            def fine(self) -> bool:
                return True


def test_a_formula_that_no_attribute_keeps() -> None:
    with pytest.raises(ModelError, match=r'Twice: ltl\("F safe"\) is stated, and lost') as error:

        class Twice(Calm):
            again = ltl("F safe")
            again = ctl("AG safe")  # noqa: PIE794 - it is what is refused

    assert error.value.location is not None
    assert "ltl(" in Path(error.value.location.file).read_text().splitlines()[error.value.location.line - 1]

    class Anew(Calm):  # to override in a subclass is no loss, nor is a formula with two names
        again = also = ltl("G safe")

    class Once(Anew):
        again = ltl("F safe")

        def build(self) -> None:
            self.spawn(Sender)

    assert {each.name for each in check(Once).properties} == {"safe", "again", "also"}


class Sooner(Calm):
    in_the_end = ltl("F safe")


class Later(Calm):
    in_the_end = ltl("F G safe")


class Either(Sooner, Later):
    def build(self) -> None:
        self.spawn(Sender)


def test_two_systems_with_a_temporal_property_of_one_name() -> None:
    with pytest.raises(ModelError, match="Either has two properties `in_the_end`, of Sooner and Later"):
        check(Either)


class Lacking(Process, ABC):
    @abstractmethod
    def by(self) -> int: ...


class Silent(Monitor, ABC):
    @abstractmethod
    def by(self) -> int: ...


@pytest.mark.parametrize("abstract", [Lacking, Silent])
def test_an_abstract_class_is_not_part_of_a_system(abstract: type[Any]) -> None:
    class Unfinished(System):
        def build(self) -> None:
            self.spawn(Counter)
            if issubclass(abstract, Monitor):
                self.watch(abstract)
            else:
                self.spawn(abstract)

        @invariant
        def fine(self) -> bool:
            return True

    with pytest.raises(ModelError, match=f"{abstract.__name__} is abstract, it lacks `by`: it cannot be part") as error:
        check(Unfinished)
    assert error.value.location is not None


def test_an_abstract_system_is_not_checked() -> None:
    class Unfinished(System, ABC):
        @abstractmethod
        def size(self) -> int: ...

    with pytest.raises(ModelError, match="Unfinished is abstract, it lacks `size`: it cannot be checked"):
        check(Unfinished)


def test_a_decorator_without_its_arguments_is_not_lost() -> None:
    """`@leads_to` takes the method for its goal, and leaves a decorator in its place."""
    with pytest.raises(ModelError, match=r'Bare.waiting: @leads_to\("goal"\) stands on no method') as error:

        class Bare(Calm):
            @leads_to
            def waiting(self) -> bool:  # type: ignore[misc]  # lost
                return False

    assert error.value.location is not None


@pytest.mark.parametrize(
    ("decorator", "written"), [(start(when=lambda self: True), "@start"), (eventually(each=Process), "@eventually")]
)
def test_a_decorator_that_stands_on_no_method(decorator: Any, written: str) -> None:
    with pytest.raises(ModelError, match=f"Odd.work: {written}.* stands on no method, so nothing is declared"):
        type("Odd", (Process,), {"work": decorator})


def test_a_decorator_with_a_name_may_be_used_more_than_once() -> None:
    class Twice(Process):
        often: ClassVar[Callable[[Any], Any]] = step(when=lambda self: self.n < 2)
        n: int = 0

        @often
        def up(self) -> None:
            self.n += 1

        @often
        def again(self) -> None:
            self.n += 1

    class Counting(System):
        def build(self) -> None:
            self.spawn(Twice)

    assert check(Counting).transitions == 4
