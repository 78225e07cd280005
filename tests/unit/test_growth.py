"""Where the closure does not end, the report says what grows, who makes it grow, and what to do about it."""

from __future__ import annotations

from quorate import Message, Pid, Process, System, check, invariant, on, start
from quorate.protocols.paxos import Paxos


class Ball(Message):
    count: int


class Player(Process):
    other: Pid
    seen: int = 0

    @start
    def serve(self) -> None:
        self.send(self.other, Ball(0))

    @on(Ball)
    def back(self, m: Ball) -> None:
        self.seen = m.count
        self.send(self.other, Ball(m.count + 1))


class Match(System):
    """A ball that counts how often it was hit: there is no end of it."""

    def build(self) -> None:
        one, two = self.spawn(Player), self.spawn(Player)
        self.connect(one, other=two)
        self.connect(two, other=one)

    @invariant
    def played(self) -> bool:
        return all(p.seen >= 0 for p in self[Player])


def test_what_grows_is_told() -> None:
    found = check(Match(), max_behaviours=200, max_states=500)
    grew = found.reductions["closure"]["grew"]
    by_name = {each["what"]: each for each in grew}
    assert set(by_name) == {"Player.seen", "Ball.count"}
    field = by_name["Player.seen"]
    first, second, third = map(int, field["chain"])
    assert first < second < third
    assert field["by"] == "Player.back"
    assert field["location"]["file"] == __file__
    assert field["values"] >= 8
    assert "`within`" in field["advice"]
    assert "Player.seen grows by Player.back" in str(found)


def test_nothing_grows_where_the_closure_ended() -> None:
    assert "grew" not in check(Paxos()).reductions["closure"]


def test_setting_up_is_told_apart() -> None:
    found = check(Match(), max_behaviours=200, max_states=500)
    assert sum(found.setup.values()) <= found.setup_seconds + found.seconds
