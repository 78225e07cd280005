"""Invariants that hold for a poor reason are told; those that hold for a good one are not."""

from __future__ import annotations

import pytest

from quorate import Event, Message, Monitor, Pid, Process, System, check, final, invariant, on, start
from quorate.model.target import load
from small_instances import SMALL, small


class Given(Message):
    n: int


class Giver(Process):
    taker: Pid
    x: int = 0
    flag: bool = False

    @start
    def give(self) -> None:
        self.x = 1
        self.send(self.taker, Given(1))


class Taker(Process):
    got: int = 0
    note: tuple[int, ...] | None = None

    @on(Given)
    def take(self, m: Given) -> None:
        self.got = m.n
        self.note = (m.n,)


class Gift(System):
    def build(self) -> None:
        self.spawn(Giver, taker=self.spawn(Taker))

    @invariant
    def left_side_never_true(self) -> bool:
        return all(not giver.flag or giver.x == 7 for giver in self[Giver])

    @invariant
    def over_nothing(self) -> bool:
        return all(taker.got < 0 for taker in self[Taker] if taker.got > 3)

    @invariant
    def second_part_idle(self) -> bool:
        return all(taker.got < 5 or taker.got == 99 for taker in self[Taker])

    @invariant
    def below_not(self) -> bool:
        return not any(taker.got > 5 and taker.got < 9 for taker in self[Taker])

    @invariant
    def guarded(self) -> bool:
        return all(taker.note is None or taker.note[0] == 1 for taker in self[Taker])

    @invariant
    def needed(self) -> bool:
        return all(taker.got <= giver.x for giver in self[Giver] for taker in self[Taker])

    @invariant
    def by_cases(self) -> bool:
        if any(taker.got for taker in self[Taker]):
            return all(giver.x == 1 for giver in self[Giver])
        return True

    @invariant
    def never_come_to(self) -> bool:
        for giver in self[Giver]:
            if giver.x > 1:
                return giver.flag
        return True

    @final
    def done(self) -> bool:
        return all(taker.got == 1 for taker in self[Taker])


def test_parts_that_do_not_matter_are_told_and_no_others() -> None:
    result = check(Gift, vacuity=True)
    assert result.ok
    told = [warning.partition(",")[0] for warning in result.warnings]
    assert told[:-1] == ["left_side_never_true", "over_nothing", "second_part_idle", "below_not", "never_come_to"]
    assert result.warnings[0].splitlines()[1:] == [
        "return all(not giver.flag or giver.x == 7 for giver in self[Giver])",
        "                             ^^^^^^^^^^^^",
    ]
    assert "                             ^^^^^^^^^^^^" in str(result)
    assert told[-1] == "left_side_never_true reads only fields that never change"
    texts = " ".join(result.warnings)
    assert "`giver.x == 7` does not matter; with False there" in texts
    assert "`taker.got == 99` does not matter; with False there" in texts
    assert "`taker.got < 9` does not matter; with True there" in texts
    assert not check(Gift).warnings


class Broken(Gift):
    @invariant
    def wrong(self) -> bool:
        return all(giver.x == 0 for giver in self[Giver])


def test_a_violation_says_nothing_about_the_others() -> None:
    result = check(Broken, vacuity=True)
    assert result.property == "wrong"
    assert not [each for each in result.warnings if "does not matter" in each]


@pytest.mark.parametrize("options", [{"por": "lpor"}, {"symmetry": "none", "quotient": "off"}, {"search": "dfs"}])
def test_it_is_the_same_with_every_search(options: dict[str, str]) -> None:
    assert check(Gift, vacuity=True, **options).warnings == check(Gift, vacuity=True).warnings  # type: ignore[arg-type]


def test_a_search_that_is_stopped_does_not_guess() -> None:
    result = check(load("paxos")(), vacuity=True, max_states=20)
    assert not [each for each in result.warnings if "does not matter" in each]


@pytest.mark.parametrize("name", ["paxos", "two-phase-commit", "regular-storage", "lamport-mutex"])
def test_verdicts_stay_as_they_are(name: str) -> None:
    assert name in SMALL
    assert check(small(name), vacuity=True).verdict == check(small(name)).verdict


class Nested(Gift):
    @invariant
    def small(self) -> bool:
        def bad(p: Taker) -> bool:
            if p.got == 7:
                return True
            return p.got > 3

        return not any(bad(p) for p in self[Taker])


def test_what_a_function_inside_returns_is_no_part() -> None:
    assert not [each for each in check(Nested, property="small", vacuity=True).warnings if each.startswith("small")]


class Styles(Gift):
    """Invariants as people write them, with conditions outside of what is returned. After Gift, got is 0 or 1."""

    @invariant
    def by_loop(self) -> bool:
        for taker in self[Taker]:
            note = taker.note
            if taker.got > 3 and note is None:
                return False
        return True

    @invariant
    def needed_by_name(self) -> bool:
        bad = any(taker.got == 5 for taker in self[Taker])
        return not bad

    @invariant
    def counted(self) -> bool:
        return sum(taker.got == 1 for taker in self[Taker]) <= 1

    @invariant
    def counted_where(self) -> bool:
        return len([taker for taker in self[Taker] if taker.got]) < 2

    @invariant
    def one_or_other(self) -> bool:
        return all(taker.got < 2 if taker.note else taker.got < 3 for taker in self[Taker])

    @invariant
    def needed_loop(self) -> bool:
        for taker in self[Taker]:
            note = taker.note
            if taker.got == 1 and note is None:
                return False
        return True

    @invariant
    def needed_skip(self) -> bool:
        for taker in self[Taker]:
            if taker.note is None:
                continue
            if taker.note != (1,):
                return False
        return True

    @invariant
    def needed_count(self) -> bool:
        return sum(taker.got == 1 for taker in self[Taker]) == sum(taker.note is not None for taker in self[Taker])

    @invariant
    def needed_equal(self) -> bool:
        taker = self[Taker][0]
        return (taker.got == 1) == (taker.note == (1,))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("by_loop", ["note is None"]),
        ("needed_by_name", []),
        ("counted", ["taker.got == 1"]),
        ("counted_where", ["taker.got"]),
        ("one_or_other", ["taker.note"]),
        ("needed_loop", []),
        ("needed_skip", []),
        ("needed_count", []),
        ("needed_equal", []),
    ],
)
def test_conditions_outside_of_what_is_returned_are_parts_too(name: str, parts: list[str]) -> None:
    told = [each for each in check(Styles, property=name, vacuity=True).warnings if each.startswith(name)]
    assert [each.split("`")[1] for each in told if "`" in each] == parts


class Told(Event):
    n: int


class Unheard(Event):
    pass


class Flag(Monitor):
    """Its flag stays as it is as long as nothing is wrong, which is no reason to warn."""

    wrong: bool = False

    @on(Told)
    def told(self, e: Told) -> None:
        self.wrong = self.wrong or e.n > 1

    @on(Unheard)
    def unheard(self, e: Unheard) -> None:
        self.wrong = True


class Teller(Process):
    done: bool = False

    @start
    def tell(self) -> None:
        self.done = True
        self.emit(Told(1))


class Flagged(System):
    def build(self) -> None:
        self.spawn(Teller)
        self.watch(Flag)

    @invariant
    def nothing_wrong(self) -> bool:
        return not self[Flag].wrong


def test_a_flag_of_a_monitor_that_stays_down_is_no_warning() -> None:
    assert check(Flagged, vacuity=True).warnings == ("Flag.unheard never happens",)


class Spread(Gift):
    # fmt: off
    @invariant
    def over_several_lines(self) -> bool:
        return all(
            taker.got < 5
            or (
                taker.got == 99
                and taker.note is None
            )
            for taker in self[Taker]
        )
    # fmt: on


def test_parts_of_a_part_that_is_told_are_not_told_again() -> None:
    warnings = check(Spread, property="over_several_lines", vacuity=True).warnings
    parts = [warning.partition("`")[2].partition("`")[0] for warning in warnings]
    assert parts == ["taker.got == 99 and taker.note is None"]


class Constants(Gift):
    @invariant
    def with_what_changes_nothing(self) -> bool:
        return all(taker.got < 5 for taker in self[Taker]) or False

    @invariant
    def with_cases(self) -> bool:
        return all(taker.got == 1 if taker.note else True for taker in self[Taker])

    @invariant
    def over_nothing_at_all(self) -> bool:
        return all(False for taker in self[Taker] if taker.got > 5)


def test_a_constant_is_no_part_if_it_is_put_in_its_own_place() -> None:
    """`False` did not matter, since with False there it held as well."""
    asked = ["with_what_changes_nothing", "with_cases", "over_nothing_at_all"]
    assert not check(Constants, property=asked, vacuity=True).warnings
