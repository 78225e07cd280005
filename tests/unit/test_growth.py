"""Where the closure does not end, the report says what grows, who makes it grow, and what to do about it."""

from __future__ import annotations

from quorate import Map, Message, Pid, Process, System, check, invariant, on, start, step
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


class Term(Message):
    number: int


class Voter(Process):
    other: Pid
    term: int = 0
    voted: Map[int, Pid] = Map()

    @step(when=lambda self: True)
    def time_out(self) -> None:
        self.term += 1
        self.voted |= {self.term: self.pid}
        self.send(self.other, Term(self.term))

    @on(Term, when=lambda self, m: m.number > self.term)
    def vote(self, m: Term) -> None:
        self.term = m.number
        self.voted |= {m.number: m.sender}


class Elections(System):
    """Maps of terms have far more values than there are terms; but it is the terms that have no end."""

    def build(self) -> None:
        one, two = self.spawn(Voter), self.spawn(Voter)
        self.connect(one, other=two)
        self.connect(two, other=one)


def test_a_counter_comes_before_what_it_is_a_key_of() -> None:
    grew = check(Elections(), max_states=2_000).reductions["closure"]["grew"]
    assert [each["what"] for each in grew] == ["Voter.term", "Voter.voted", "Term.number"]
    assert grew[0]["values"] < grew[1]["values"]
