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


class Turn(Message): ...


class Turner(Process):
    next: Pid
    begins: bool = False
    turns: int = 0

    @step(when=lambda self: self.begins and not self.turns)
    def begin(self) -> None:
        self.turns = 1
        self.send(self.next, Turn())

    @on(Turn)
    def turn(self, m: Turn) -> None:
        self.turns += 1
        if self.turns < 3:
            self.send(self.next, Turn())


class Turns(System):
    """The closure does not know that a message is consumed once: it counts the turns without an end."""

    def build(self) -> None:
        one, two = self.spawn(Turner, begins=True), self.spawn(Turner)
        self.connect(one, next=two)
        self.connect(two, next=one)

    @invariant
    def few(self) -> bool:
        return all(each.turns <= 3 for each in self[Turner])


def test_what_counts_gets_little_before_the_search() -> None:
    """It had 4,000 answers, where the search needs a handful."""
    found = check(Turns())
    assert found.verdict == "holds"
    assert not found.reductions["closure"]["ran"]
    assert found.python_calls < 1_500
    assert check(Turns(), max_behaviours=4_000).python_calls > 3_000


class Log(Message):
    entries: tuple[int, ...]


class Copier(Process):
    other: Pid
    log: tuple[int, ...] = ()

    @step(when=lambda self: True)
    def append(self) -> None:
        self.log += (1234567,)
        self.send(self.other, Log(self.log))

    @on(Log)
    def copy(self, m: Log) -> None:
        self.log += m.entries


class Copies(System):
    """Logs double, and are soon too long for a line."""

    def build(self) -> None:
        one, two = self.spawn(Copier), self.spawn(Copier)
        self.connect(one, other=two)
        self.connect(two, other=one)


def test_what_is_shown_of_it_can_be_told_apart() -> None:
    grew = check(Copies(), max_states=2_000).reductions["closure"]["grew"]
    assert [each["what"] for each in grew] == ["Copier.log", "Log.entries"]
    for each in grew:
        assert len(set(each["chain"])) == len(each["chain"]) == 3
        assert not any(value.endswith("…") for value in each["chain"])
