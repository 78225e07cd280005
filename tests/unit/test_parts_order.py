"""A property that tells processes apart by their place in a list is not symmetric, though it is read by parts."""

import pytest

from quorate import Message, Pid, Process, System, can, check, invariant, on, start


class Worker(Process):
    x: int = 0

    @start
    def work(self) -> None:
        self.x = 1


class Line(System):
    def build(self) -> None:
        for _ in range(3):
            self.spawn(Worker)

    @invariant
    def first_comes_first(self) -> bool:
        return [worker.x for worker in self[Worker]] != [0, 1, 0]

    @invariant
    def last_comes_first(self) -> bool:
        return [worker.x for worker in self[Worker]] != [0, 0, 1]

    @invariant
    def middle_comes_first(self) -> bool:
        return [worker.x for worker in self[Worker]] != [1, 0, 0]


class Chooser(Process):
    x: int = 0

    @start
    def work(self) -> None:
        self.x = self.choose([1, True])


class Equals(System):
    """Neither of 1 and True is greater: then `max` returns the first, whoever that is."""

    def build(self) -> None:
        for _ in range(2):
            self.spawn(Chooser)

    @invariant
    def not_true(self) -> bool:
        return (
            any(each.x == 0 for each in self[Chooser])
            or all(each.x is True for each in self[Chooser])
            or max(each.x for each in self[Chooser]) is not True
        )

    @invariant
    def not_one(self) -> bool:
        return (
            any(each.x == 0 for each in self[Chooser])
            or all(each.x is not True for each in self[Chooser])
            or max(each.x for each in self[Chooser]) is True
        )


def test_only_integers_are_compared_in_any_order() -> None:
    for name in ("not_true", "not_one"):
        assert check(Equals, property=name).property == name


def test_each_place_counts() -> None:
    for name in ("first_comes_first", "last_comes_first", "middle_comes_first"):
        result = check(Line, property=name)
        assert result.property == name
        assert result.trace is not None
        assert len(result.trace) == 1


class Picker(Process):
    x: int = 0

    @start
    def work(self) -> None:
        self.x = self.choose([1, 2])


class FirstOf(System):
    """Folds that do not care who is who, and one field of the first process beside them."""

    def build(self) -> None:
        for _ in range(2):
            self.spawn(Picker)

    @invariant
    def not_one(self) -> bool:
        if any(each.x == 0 for each in self[Picker]) or all(each.x == 1 for each in self[Picker]):
            return True
        return self[Picker][0].x != 1

    @invariant
    def not_two(self) -> bool:
        if any(each.x == 0 for each in self[Picker]) or all(each.x == 2 for each in self[Picker]):
            return True
        return self[Picker][0].x != 2


def test_what_is_read_beside_folds_may_tell_processes_apart() -> None:
    for name in ("not_one", "not_two"):
        assert check(FirstOf, property=name).property == name


class Ping(Message):
    pass


class Caller(Process):
    others: frozenset[Pid] = frozenset()
    picked: Pid | None = None

    @start
    def pick(self) -> None:
        self.picked = self.choose(self.others)
        self.send(self.picked, Ping())


class Callee(Process):
    pinged: bool = False

    @on(Ping)
    def ping(self, m: Ping) -> None:
        self.pinged = True


class Picking(System):
    """That one was picked which is not the first looks like nobody was picked, until the two change names."""

    def build(self) -> None:
        others = self.spawn(Callee, 3)
        self.connect(self.spawn(Caller), others=others)

    @can
    def another(self) -> bool:
        return any(each.picked is not None and each.picked != next(iter(each.others)) for each in self[Caller])

    @can
    def the_first(self) -> bool:
        return any(each.picked == next(iter(each.others)) for each in self[Caller])


@pytest.mark.parametrize("name", ["another", "the_first"])
@pytest.mark.parametrize("quotient", ["on", "off"])
def test_what_is_asked_of_one_process_may_tell_others_apart(name: str, quotient: str) -> None:
    assert check(Picking, property=name, quotient=quotient).verdict == "holds"
