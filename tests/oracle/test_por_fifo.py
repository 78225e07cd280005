"""The partial-order reduction of Spin as relations (section 4.7 of the thesis), on a small language of its own.

Holzmann and Peled call a send or receive safe if its process alone writes, or alone reads, the FIFO channel, and only
while the channel is not full, or not empty: their dependence covers enabling. Here the two are apart: a send can enable
a receive, a receive a send, and sends and receives of the same channel are independent always. So exclusive channels
need no rule of their own: dependent are, besides steps of one process, two sends to a channel and two receives from
it, and where a channel has one writer and one reader there are no such pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import pytest

from quorate.por import Reduction, Relations, TransitionSystem, breaches, search, verify_relations
from quorate.por.search import Order

# Local state of each process, content of each channel.
State = tuple[tuple[int, ...], tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class Step:
    process: int
    source: int
    target: int
    action: str = ""  # "" for a silent step, "!" to send, "?" to receive, "=" to ask whether the channel is empty
    channel: int = -1
    message: str = ""

    def __str__(self) -> str:
        return f"{self.process}:{self.source}{self.action}{self.message}@{self.channel}"


def _choice(first: Step, second: Step) -> bool:
    """Steps of a process depend on each other where it has the choice; elsewhere they are never enabled together."""
    return (first.process, first.source) == (second.process, second.source)


def _meet(first: Step, second: Step) -> bool:
    """Steps of two processes that touch the same channel."""
    return first.process != second.process and first.channel == second.channel and first.action != ""


@dataclass(frozen=True)
class Program:
    steps: tuple[Step, ...]
    processes: int
    channels: int
    capacity: int = 2

    def system(self) -> TransitionSystem[State, Step]:
        start: State = ((0,) * self.processes, ((),) * self.channels)
        return TransitionSystem(self.steps, [start], self._successors)

    def _successors(self, state: State, step: Step) -> list[State]:
        local, channels = state
        if local[step.process] != step.source:
            return []
        content = channels[step.channel] if step.action else ()
        if step.action == "!":
            if len(content) == self.capacity:
                return []
            content = (*content, step.message)
        elif step.action == "?":
            if content[:1] != (step.message,):
                return []
            content = content[1:]
        elif step.action == "=" and content:
            return []
        moved = tuple(step.target if i == step.process else x for i, x in enumerate(local))
        return [(moved, tuple(content if i == step.channel else x for i, x in enumerate(channels)))]

    def relations(self) -> Relations[Step]:
        """Spin's rule: opposite ends of a FIFO channel do not interfere, the same end does."""
        return Relations(
            dependent=lambda a, b: _choice(a, b) or (_meet(a, b) and a.action == b.action),
            can_enable=self._can_enable,
            necessary=self._necessary,
            visible=lambda step: False,
            deterministic=lambda step: True,
        )

    def careful(self) -> Relations[Step]:
        """No rule: whoever touches the same channel interferes."""
        return replace(
            self.relations(),
            dependent=lambda a, b: _choice(a, b) or _meet(a, b),
        )

    def _can_enable(self, first: Step, second: Step) -> bool:
        if first.process == second.process:
            return first.target == second.source
        if first.channel != second.channel or not first.action:
            return False
        if first.action == "!":
            return second.action == "?" and second.message == first.message
        return second.action in ("!", "?")  # room for another message, or another message at the head

    def _necessary(self, first: Step, second: Step) -> bool:
        if first.action != "?" or second.action != "!":
            return False
        senders = [x for x in self.steps if (x.action, x.channel, x.message) == ("!", first.channel, first.message)]
        return senders == [second]


def pipeline(length: int, messages: int) -> Program:
    """Each process passes on what it gets; every channel has one writer and one reader."""
    steps = [Step(0, i, i + 1, "!", 0, "m") for i in range(messages)]
    for each in range(1, length):
        for i in range(messages):
            steps.append(Step(each, 2 * i, 2 * i + 1, "?", each - 1, "m"))
            if each < length - 1:
                steps.append(Step(each, 2 * i + 1, 2 * i + 2, "!", each, "m"))
            else:
                steps.append(Step(each, 2 * i + 1, 2 * i + 2))
    return Program(tuple(steps), processes=length, channels=length - 1)


# Two writers, one reader.
SHARED = Program(
    (
        Step(0, 0, 1, "!", 0, "a"),
        Step(1, 0, 1, "!", 0, "b"),
        Step(2, 0, 1, "?", 0, "a"),
        Step(2, 0, 1, "?", 0, "b"),
        Step(2, 1, 2, "?", 0, "a"),
        Step(2, 1, 3, "?", 0, "b"),
    ),
    processes=3,
    channels=1,
)


@pytest.mark.parametrize("program", [pipeline(2, 2), pipeline(3, 2), pipeline(3, 3), SHARED])
def test_the_rule_is_right(program: Program) -> None:
    assert verify_relations(program.system(), program.relations()).wrong == ()


@pytest.mark.parametrize("order", ["depth-first", "breadth-first"])
def test_exclusive_channels_reduce_to_a_single_run(order: Order) -> None:
    program = pipeline(4, 4)
    full = search(program.system())
    spin = search(program.system(), Reduction(program.steps, program.relations(), preserve="deadlocks"), order=order)
    careful = search(program.system(), Reduction(program.steps, program.careful(), preserve="deadlocks"), order=order)
    # 28 steps in a single order; without the rule hardly anything is left out.
    assert (full.states, careful.states, spin.states) == (201, 195, 29)
    assert set(spin.deadlocks) == set(careful.deadlocks) == set(full.deadlocks)


def test_a_send_may_be_executed_alone_even_while_the_channel_is_empty() -> None:
    """In Spin it is safe then too, but a receive is not; by definition 16 both are independent in every state."""
    program = pipeline(2, 2)
    system = program.system()
    reduction = Reduction(program.steps, program.relations(), preserve="deadlocks", seed="first")
    empty = system.initial[0]
    assert list(reduction.choices(system.moves(empty), state=empty)) == []  # there is nothing else to do
    ((one,),) = system.moves(empty).values()
    assert len(system.moves(one)) == 2
    for chosen in reduction.choices(system.moves(one), fired=program.steps[:1], state=one):
        assert len(chosen) == 1
        assert breaches(system, one, chosen) == []


def test_two_writers_are_dependent_on_each_other() -> None:
    sends = SHARED.steps[:2]
    system = SHARED.system()
    forgetful = replace(SHARED.relations(), dependent=_choice)
    assert {each.pair for each in verify_relations(system, forgetful).wrong} == set(product(sends, repeat=2)) - {
        (each, each) for each in sends
    }
    reduction = Reduction(SHARED.steps, SHARED.relations(), preserve="deadlocks")
    assert set(search(system, reduction).deadlocks) == set(search(system).deadlocks)
    assert len(search(system).deadlocks) == 2  # who was first is remembered


def test_a_channel_that_is_asked_for_its_length_is_not_exclusive() -> None:
    """As with Spin's xr and xs: a third process that looks at the channel breaks the rule."""
    watched = Program(
        (Step(0, 0, 1, "!", 0, "m"), Step(1, 0, 1, "?", 0, "m"), Step(2, 0, 1, "=", 0)), processes=3, channels=1
    )
    wrong = verify_relations(watched.system(), watched.relations()).wrong
    assert {(each.claim, str(each.pair[0]), str(each.pair[1])) for each in wrong} == {
        ("dependent", "0:0!m@0", "2:0=@0"),
        ("dependent", "2:0=@0", "0:0!m@0"),
        ("can_enable", "1:0?m@0", "2:0=@0"),
    }
