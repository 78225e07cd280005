"""Messages that are there at the beginning: `self.send(..., sender=...)` in `build`."""

from typing import Annotated, Any

import pytest

from agreement import agree
from quorate import Among, Message, Pid, Process, System, can, check, fifo, final, invariant, on, unordered
from quorate.base.errors import ModelError
from quorate.model.define import define
from quorate.results.json import trace_to_json
from quorate.results.replay import replay
from quorate.semantics.state import in_flight, initial_states


class Token(Message):
    round: Annotated[int, Among(0, 1)] = 0


class Node(Process):
    following: Pid
    seen: tuple[int, ...] = ()

    @on(Token, when=lambda self, m: len(self.seen) < 2)
    def pass_on(self, m: Token) -> None:
        self.seen = (*self.seen, m.round)
        self.send(self.following, Token(m.round))


class Ring(System):
    """Nobody starts: two tokens are under way."""

    network = fifo()

    def build(self) -> None:
        one, two = self.spawn(Node), self.spawn(Node)
        self.connect(one, following=two)
        self.connect(two, following=one)
        self.send(one, Token(1), sender=two)
        self.send(one, Token(2), sender=two)

    @invariant
    def in_order(self) -> bool:
        return all(node.seen in ((), (1,), (1, 2)) for node in self[Node])

    @can
    def all_seen(self) -> bool:
        return all(node.seen == (1, 2) for node in self[Node])


def test_a_queue_begins_filled_and_in_order() -> None:
    result = check(Ring())
    assert result.verdict == "holds"
    assert len(result.witnesses["all_seen"]) == 4
    (state,) = initial_states(define(Ring()))
    assert [(column.name, message.round) for column, message in in_flight(define(Ring()), state)] == [  # type: ignore[attr-defined]
        ("node1", 1),
        ("node1", 2),
    ]


@pytest.mark.parametrize("network", [fifo(), unordered(), fifo(losses=1, lost="head"), fifo(capacity=2)])
def test_the_core_agrees_with_the_plain_semantics(network: Any) -> None:
    agree(type("Other", (Ring,), {"network": network})())


def test_a_run_with_initial_messages_replays() -> None:
    class Never(Ring):
        @invariant
        def nothing_seen(self) -> bool:
            return not any(node.seen for node in self[Node])

    result = check(Never())
    assert result.trace is not None
    assert len(result.trace) == 1
    entry = trace_to_json(result.trace)
    assert [sent["to"] for sent in entry["initial"]["in_flight"]] == ["node1", "node1"]
    assert len(replay(define(Never()), entry)) == 1


class Started(Process):
    done: bool = False

    @on(Token)
    def begin(self, m: Token) -> None:
        self.done = True


class OneOfThree(System):
    """Which process has the token tells it from the others: there is nothing to exchange but the other two."""

    to_all: bool = False

    def build(self) -> None:
        pids = self.spawn(Started, 3)
        first = min(pids, key=str)
        self.send(pids if self.to_all else first, Token(), sender=first)

    @invariant
    def the_first_alone(self) -> bool:
        return not any(each.done for each in self[Started][1:])


def test_what_is_pending_is_part_of_the_symmetry() -> None:
    result = check(OneOfThree(), property=["the_first_alone"])
    assert result.verdict == "holds"
    agree(OneOfThree())
    agree(OneOfThree(to_all=True))


def test_what_is_pending_may_depend_on_a_choice() -> None:
    class Chosen(System):
        def build(self) -> None:
            pid = self.spawn(Started)
            if self.choose((False, True)):
                self.send(pid, Token(), sender=pid)

        @can
        def done(self) -> bool:
            return self[Started][0].done

        @final
        def quiet(self) -> bool:
            return True

    assert len(initial_states(define(Chosen()))) == 2
    result = check(Chosen(), quotient="off", dead_messages="off", symmetry="none")
    assert (result.verdict, result.states) == ("holds", 3)


def test_attackers_send_what_they_like() -> None:
    class Go(Message):
        pass

    class Corrupted(System):
        def build(self) -> None:
            one, two = self.spawn(Started), self.spawn(Started)
            self.send(one, Go(), sender=one)
            self.send(one, Go(), sender=two)
            self.corrupt(two)

    definition = define(Corrupted())
    assert [[str(message.sender) for _, message in sends] for sends in definition.posted] == [["started1"]]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda self, pid: self.send("x", Token(), sender=pid), "is not the identity of a process"),
        (lambda self, pid: self.send(pid, Token(), sender=None), "names no sender"),
        (lambda self, pid: self.send(pid, Token(), sender="x"), "is not the identity of a process"),
        (lambda self, pid: self.send(pid, Token, sender=pid), "is not a message"),
        (lambda self, pid: [self.send(pid, Token(n), sender=pid) for n in range(2)], "the channel holds 1"),
    ],
)
def test_what_cannot_be_sent_is_refused(wrong: Any, told: str) -> None:
    class Wrong(System):
        network = fifo(capacity=1)

        def build(self) -> None:
            wrong(self, self.spawn(Started))

    with pytest.raises(ModelError, match=told) as refused:
        define(Wrong())
    assert refused.value.code == "Q109"
    with pytest.raises(ModelError, match="outside of `build`"):
        Wrong().send(Pid(0, "nobody"), Token(), sender=Pid(0, "nobody"))


def test_a_message_without_a_sender_says_what_is_missing() -> None:
    class Anonymous(System):
        def build(self) -> None:
            self.send(self.spawn(Process), Message())

    with pytest.raises(ModelError, match="names no sender") as refused:
        check(Anonymous)
    assert refused.value.code == "Q109"
