"""Every consumed message comes from one send, and every send has one fate, whatever the network does."""

from collections import Counter

import pytest
from hypothesis import given

from quorate import Message, Pid, Process, System, check, fifo, multiset, on, step, unordered
from quorate.base.values import encode
from quorate.language.network import Network
from quorate.model.define import define
from quorate.options import NetworkModel
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.results.trace import Trace
from quorate.semantics.provenance import Letter, _Reader, never_received, passages
from quorate.semantics.state import in_flight
from test_follow import taking
from test_semantics import talk
from walks import traces


def assert_accounted_for(trace: Trace) -> None:
    """Letters and inboxes agree after every step, and letters end where their messages do."""
    definition = trace.definition
    reader = _Reader(definition, trace.initial)
    for number, taken in enumerate(trace.steps, start=1):
        reader.read(number, taken)
        if taken.next is not None:
            there = [[letter.message for letter in inbox] for inbox in reader.letters]
            assert encode(tuple(map(tuple, there))) == encode(taken.next.pending)
    found = passages(definition, trace.initial, trace.steps)
    sent: list[Letter] = []
    for passage in found:
        assert [encode(letter.message) for letter in passage.consumed] == list(map(encode, passage.step.consumed))
        for letter in passage.consumed:
            assert letter.at_will or letter in sent, "what is consumed was sent before"
            assert letter.column == passage.step.column
            if not letter.at_will and passage.step.kind != "duplicate":
                assert passage.number == letter.ended or passage.number in letter.read
        outcome = passage.step.outcome
        if outcome is not None and passage.step.next is not None:
            handed = [(letter.column, encode(letter.message)) for letter in passage.sent]
            assert handed == [(receiver, encode(message)) for receiver, message in outcome.sends]
        sent += [letter for letter in passage.sent if not letter.at_will]
        if passage.step.kind == "duplicate":
            assert passage.copied is not None
            assert passage.copied.copy_of is passage.consumed[0]
            sent.append(passage.copied)
        for letter in passage.consumed:
            if passage.step.kind in ("lose", "discard"):
                assert letter.fate == {"lose": "lost", "discard": "discarded"}[passage.step.kind]
    assert all((letter.ended is None) == (letter.fate == "never") for letter in sent)
    if trace.steps[-1].next is not None:
        left = Counter((letter.column, encode(letter.message)) for letter in sent if letter.fate == "never")
        pending = in_flight(definition, trace.states[-1])
        assert left == Counter((column.index, encode(message)) for column, message in pending)


@given(traces())
def test_letters_and_inboxes_agree(trace: Trace) -> None:
    assert_accounted_for(trace)


@pytest.mark.parametrize("model", ["m", "grm", "rm"])
def test_also_with_delivery_events(model: NetworkModel) -> None:
    trace = check(FaultyPaxos(), network_model=model).trace
    assert trace is not None
    assert_accounted_for(trace)
    fates = {letter.fate for each in passages(trace.definition, trace.initial, trace.steps) for letter in each.consumed}
    assert ("delivered" in fates) == (model != "m")


def test_also_with_attackers() -> None:
    trace = check(TwoPhaseCommit(participants=2), byzantine={"coordinator": 1}).trace
    assert trace is not None
    assert_accounted_for(trace)
    found = passages(trace.definition, trace.initial, trace.steps)
    at_will = [letter for each in found for letter in each.consumed if letter.at_will]
    assert at_will
    assert all(letter.sent == 0 and letter.fate == "never" for letter in at_will)


def fates(network: Network, script: tuple[int, ...], *wanted: tuple[str, int]) -> list[tuple[int, str, int | None]]:
    """What becomes of every message that is sent or copied, in that order."""
    trace = taking(talk(network, script), *wanted)
    assert_accounted_for(trace)
    found: list[tuple[int, str, int | None]] = []
    for passage in passages(trace.definition, trace.initial, trace.steps):
        letters = [*passage.sent, *([passage.copied] if passage.copied is not None else [])]
        found += [(letter.sent, letter.fate, letter.ended) for letter in letters]
    return found


SAY, TAKE = ("say", 0), ("take", 0)


def test_a_set_holds_a_message_once() -> None:
    assert fates(unordered(), (1, 1), SAY, SAY, TAKE) == [(1, "consumed", 3), (2, "merged", 2)]


def test_of_equal_messages_the_oldest_is_consumed_first() -> None:
    assert fates(multiset(), (1, 1), SAY, SAY, TAKE) == [(1, "consumed", 3), (2, "never", None)]


def test_a_full_channel_replaces() -> None:
    assert fates(fifo(capacity=1, full="replace"), (1, 2), SAY, SAY, TAKE) == [(1, "replaced", 2), (2, "consumed", 3)]


def test_a_full_channel_replaces_even_an_equal_message() -> None:
    """Charts took the two for one, and drew the message that was received as sent by the earlier step."""
    assert fates(fifo(capacity=1, full="replace"), (1, 1), SAY, SAY, TAKE) == [(1, "replaced", 2), (2, "consumed", 3)]


def test_a_copy_is_consumed_after_what_it_was_copied_from() -> None:
    found = fates(multiset(duplicates=1), (1, 1), SAY, ("duplicate", 0), SAY, TAKE, TAKE)
    assert found == [(1, "consumed", 4), (2, "consumed", 5), (3, "never", None)]


def test_a_copy_in_a_queue_stands_behind_its_original() -> None:
    found = fates(fifo(duplicates=1), (1, 2, 1), SAY, SAY, SAY, ("duplicate", 0), TAKE, TAKE)
    assert found == [(1, "consumed", 5), (2, "never", None), (3, "never", None), (4, "consumed", 6)]


def test_the_message_that_is_lost_is_the_one_at_its_place() -> None:
    """Not the oldest equal one, which stands before the other message in the queue."""
    found = fates(fifo(losses=1), (1, 2, 1), SAY, SAY, SAY, ("lose", 1), TAKE)
    assert found == [(1, "consumed", 5), (2, "never", None), (3, "lost", 4)]


def test_what_may_be_copied_without_end_stays_when_it_is_consumed() -> None:
    trace = taking(talk(unordered(duplicates="any"), (1,)), SAY, TAKE, TAKE)
    (letter,) = passages(trace.definition, trace.initial, trace.steps)[0].sent
    assert (letter.fate, letter.read) == ("never", [2, 3])


def test_a_run_may_start_with_messages_in_flight() -> None:
    whole = taking(talk(multiset(), (1, 2)), SAY, SAY, TAKE)
    found = passages(whole.definition, whole.states[1], whole.steps[1:])
    assert [(letter.sent, letter.fate, letter.ended) for each in found for letter in each.consumed] == [
        (0, "consumed", 2)
    ]


class Token(Message): ...


class Player(Process):
    next: Pid | None = None
    has: bool = False

    @step(when=lambda self: self.has)
    def play(self) -> None:
        self.has = False
        assert self.next is not None
        self.send(self.next, Token())

    @on(Token)
    def catch(self, _: Token) -> None:
        self.has = True


class Ring(System):
    network = fifo()

    def build(self) -> None:
        players = [self.spawn(Player, has=True), self.spawn(Player)]
        self.connect(players[0], next=players[1])
        self.connect(players[1], next=players[0])


def test_what_is_pending_in_a_loop_may_be_received_when_it_comes_round_again() -> None:
    definition = define(Ring())
    trace = taking(definition, ("play", 0), ("catch", 0), ("play", 0), ("catch", 0), ("play", 0))
    assert trace.states[1] == trace.states[5]
    *_, last = passages(definition, trace.initial, trace.steps, loop_from=1)
    (letter,) = last.sent
    assert (letter.fate, letter.ended) == ("later", None)
    *_, last = passages(definition, trace.initial, trace.steps)
    assert last.sent[0].fate == "never"


class Lossy(Ring):
    """What is lost when the loop comes round again is never received."""

    network = fifo(losses="any")

    def build(self) -> None:
        player = self.spawn(Giver)
        self.connect(player, next=self.spawn(Player))


class Giver(Process):
    next: Pid | None = None

    @step(when=lambda self: True)
    def give(self) -> None:
        assert self.next is not None
        self.send(self.next, Token())


def test_what_is_lost_when_the_loop_comes_round_again_is_never_received() -> None:
    definition = define(Lossy())
    trace = taking(definition, ("give", 0), ("lose", 0), ("give", 0))
    assert trace.states[1] == trace.states[3]
    *_, last = passages(definition, trace.initial, trace.steps, loop_from=1)
    assert (last.sent[0].fate, last.sent[0].ended) == ("never", None)
    assert [letter.sent for letter in never_received(definition, trace.initial, trace.steps, loop_from=1)] == [3]
