"""Resends where each is kept: the closure ends, the search does not, and the report says which message piles up."""

from __future__ import annotations

import pytest

from quorate import Event, Message, Monitor, Pid, Process, System, check, fifo, invariant, multiset, on, step, unordered
from quorate.language.network import Network
from quorate.options import Options
from quorate.protocols.alternating_bit import AlternatingBit
from quorate.search.plan import plan


class Ask(Message): ...


class Answer(Message): ...


class Beat(Event): ...


class Impatient(Process):
    """Goes round in a circle of two steps, and sends in one of them."""

    server: Pid
    armed: bool = False
    done: bool = False

    @step(when=lambda self: not self.done and not self.armed)
    def arm(self) -> None:
        self.armed = True
        self.emit(Beat())

    @step(when=lambda self: not self.done and self.armed)
    def ask(self) -> None:
        self.armed = False
        self.send(self.server, Ask())

    @on(Answer)
    def end(self, m: Answer) -> None:
        self.done = True


class Patient(Impatient):
    """Asks no more than twice: in a circle nothing is sent."""

    asked: int = 0

    @step(when=lambda self: not self.done and self.armed)
    def ask(self) -> None:
        self.armed = False
        if self.asked < 2:
            self.asked += 1
            self.send(self.server, Ask())


class Server(Process):
    @on(Ask)
    def answer(self, m: Ask) -> None:
        self.reply(Answer())


class Beats(Monitor):
    beaten: bool = False

    @on(Beat)
    def beat(self, e: Beat) -> None:
        self.beaten = True


class Asking(System):
    channels: str = "multiset"
    patient: bool = False

    def build(self) -> None:
        self.network = NETWORKS[self.channels]
        self.spawn(Patient if self.patient else Impatient, server=self.spawn(Server))
        self.watch(Beats)

    @invariant
    def fine(self) -> bool:
        return True


NETWORKS: dict[str, Network] = {
    "multiset": multiset(),
    "fifo": fifo(),
    "set": unordered(),
    "narrow": fifo(capacity=2),
    "few": multiset(capacity=2),
}


@pytest.mark.parametrize("channels", ["multiset", "fifo"])
def test_what_piles_up_is_named(channels: str) -> None:
    found = check(Asking(channels=channels), max_states=2_000, max_behaviours=10_000)
    assert found.verdict == "incomplete"
    (told,) = found.reductions["closure"]["piles"]
    assert (told["message"], told["by"]) == ("Ask", "Impatient.ask")
    assert told["location"]["file"] == __file__
    assert "what grows" in str(found)
    assert "Ask may pile up: Impatient.ask" in " ".join(str(found).split())
    assert plan(Asking(channels=channels), Options()).reductions["closure"]["piles"] == [told]


@pytest.mark.parametrize("channels", ["set", "narrow", "few"])
def test_where_there_is_an_end_nothing_is_named(channels: str) -> None:
    found = check(Asking(channels=channels), max_behaviours=10_000)
    assert found.verdict == "holds"
    assert "piles" not in found.reductions["closure"]


@pytest.mark.parametrize("channels", ["multiset", "fifo"])
def test_a_circle_in_which_nothing_is_sent(channels: str) -> None:
    found = check(Asking(channels=channels, patient=True), max_behaviours=10_000)
    assert found.verdict == "holds"
    assert "piles" not in found.reductions["closure"]


def test_a_protocol_with_narrow_channels() -> None:
    assert "piles" not in check(AlternatingBit()).reductions["closure"]
