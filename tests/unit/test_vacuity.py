"""Invariants that hold for a poor reason are told; those that hold for a good one are not."""

from __future__ import annotations

import pytest

from quorate import Message, Pid, Process, System, check, final, invariant, on, start
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
