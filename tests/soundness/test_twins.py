"""What is kept of deadlocks where a step stands for others (`twins`): the local states, not the messages left over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from composition import ALL_WAYS, Unreduced
from quorate import Message, Peers, Pid, Process, System, check, final, on, quorum, start
from quorate.protocols.paxos import Paxos

COMMON = {"por": "lpor-net", "split": "combined", "search": "bfs", "symmetry": "none"}
WAYS = [each for each in ALL_WAYS if each.items() >= COMMON.items() and each["por_options"] in ({}, {"twins": False})]


class Vote(Message):
    pass


class Voter(Process):
    clerk: Peers

    @start
    def votes(self) -> None:
        self.send(self.clerk, Vote())


class Clerk(Process):
    """Two of three votes will do. What is left over is never asked for."""

    done: bool = False

    @quorum(Vote, size=2, when=lambda self: not self.done)
    def counts(self, votes: frozenset[Vote]) -> None:
        self.done = True


class Curious(Clerk):
    """Looks at what is left over, and remembers who sent it: it matters which two votes were counted."""

    late: Pid | None = None

    @on(Vote, when=lambda self, m: self.done and self.late is None)
    def looks(self, m: Vote) -> None:
        self.late = m.sender


class Thrifty(Clerk):
    """Counts again if two are left over: with three or four votes it does not matter which, with five one is left."""

    again: bool = False

    @quorum(Vote, size=2, when=lambda self: self.done and not self.again)
    def recounts(self, votes: frozenset[Vote]) -> None:
        self.again = True


class Count(System):
    voters: int = 3

    CLERK = Clerk

    def build(self) -> None:
        clerk = self.spawn(self.CLERK, 1)
        self.spawn(Voter, self.voters, clerk=clerk)

    @final
    def done(self) -> bool:
        return all(clerk.done for clerk in self[self.CLERK])


class CuriousCount(Count):
    CLERK = Curious


class ThriftyCount(Count):
    CLERK = Thrifty


class Number(Message):
    number: int


class Echo(Message):
    pass


class Maximum(Process):
    """Takes a number that is above all it has seen, and echoes it: after 2, nothing becomes of 1."""

    top: int = 0

    @on(Number, when=lambda self, m: m.number > self.top)
    def rises(self, m: Number) -> None:
        self.top = m.number
        self.reply(Echo())


class Asker(Process):
    """Asks for a number, and may hear its echo."""

    maximum: Peers
    number: int
    heard: bool = False

    @start
    def asks(self) -> None:
        self.send(self.maximum, Number(self.number))

    @on(Echo)
    def hears(self, m: Echo) -> None:
        self.heard = True


class Deaf(Asker):
    @on(Echo, when=lambda self, m: self.number == 0)
    def hears(self, m: Echo) -> None:
        self.heard = True


class Rising(System):
    ASKER = Asker

    def build(self) -> None:
        maximum = self.spawn(Maximum, 1)
        for number in (1, 2):
            self.spawn(self.ASKER, maximum=maximum, number=number)

    @final
    def fine(self) -> bool:
        """Reads who has heard something, and not what the maximum is: otherwise each of its steps would be seen."""
        return all(asker.heard in (True, False) for asker in self[self.ASKER])


class DeafRising(Rising):
    ASKER = Deaf


@pytest.mark.parametrize(
    ("made", "ends", "local_ends"),
    # How many deadlocks there are, and how many that differ in local states.
    [
        (Count, 3, 1),
        (CuriousCount, 3, 3),
        (ThriftyCount, 3, 1),
        (lambda: ThriftyCount(voters=5), 5, 1),
        (Rising, 2, 2),
        (DeafRising, 2, 1),
        (Paxos, 1152, 3),
    ],
    ids=["count", "curious", "thrifty", "thrifty five", "rising", "deaf", "paxos"],
)
def test_deadlocks_are_kept_as_local_states(made: Callable[[], System], ends: int, local_ends: int) -> None:
    """With twins too. Without them they are kept one by one, which `Unreduced.compare` sees to."""
    wanted = Unreduced(made(), {})
    assert (wanted.plain_ends, len(wanted.local_ends)) == (ends, local_ends)
    for each in WAYS:
        wanted.compare(each)


@pytest.mark.parametrize("made", [Count, ThriftyCount, DeafRising, Paxos])
def test_twins_leave_out_deadlocks_that_differ_in_messages(made: type[System]) -> None:
    """Otherwise the test above would compare nothing."""
    dead = "on" if made is DeafRising else "off"
    options: dict[str, Any] = {**COMMON, "property": "deadlock", "dead_messages": dead}
    assert check(made(), **options).states < check(made(), por_options={"twins": False}, **options).states
