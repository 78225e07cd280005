"""The plain semantics, rule by rule, on models small enough to work out by hand."""

from typing import Any

import pytest

from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    crashes,
    fifo,
    multiset,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.language.faults import Faults
from quorate.language.network import Network
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.outcome import is_crashed
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import enabled_protocol, steps
from reference import Exploration, explore


class Note(Message):
    number: int


class Sender(Process):
    to: Pid
    script: tuple[int, ...]

    @step(when=lambda self: self.script)
    def say(self) -> None:
        self.send(self.to, Note(self.script[0]))
        self.script = self.script[1:]


class Receiver(Process):
    got: tuple[int, ...] = ()
    wanted: frozenset[int] | None = None

    @on(Note, when=lambda self, m: self.wanted is None or m.number in self.wanted)
    def take(self, m: Note) -> None:
        self.got = (*self.got, m.number)


def talk(network: Network, *scripts: tuple[int, ...], wanted: Any = None, faults: Faults | None = None) -> Definition:
    """Senders that say their scripts to one receiver."""

    class Talk(System):
        def build(self) -> None:
            self.network, self.faults = network, faults or Faults()
            receiver = self.spawn(Receiver, wanted=wanted)
            for script in scripts:
                self.spawn(Sender, to=receiver, script=script)

    return define(Talk())


def reachable(definition: Definition) -> list[State]:
    found = {state.key: state for state in initial_states(definition)}
    level = list(found.values())
    for state in level:
        for each in steps(definition, state):
            if each.next is not None and each.next.key not in found:
                found[each.next.key] = each.next
                level.append(each.next)
    return level


def ends(definition: Definition) -> set[tuple[int, ...]]:
    """What the receiver has got where nothing can happen any more."""
    return {state.locals[0][0] for state in reachable(definition) if not steps(definition, state)}


def figures(definition: Definition) -> tuple[int, int, int, int]:
    found = explore(definition)
    return found.states, found.transitions, found.depth, len(found.deadlocks)


def after(definition: Definition, *path: tuple[str, int]) -> State:
    """Follow steps given by kind (or transition) and column from the initial state."""
    (state,) = initial_states(definition)
    for name, column in path:
        (found,) = [each for each in steps(definition, state) if label(each) == (name, column)]
        assert found.next is not None
        state = found.next
    return state


def label(each: Step) -> tuple[str, int]:
    return (each.transition.name if each.transition else each.kind, each.column)


def labels(definition: Definition, state: State) -> list[tuple[str, int]]:
    return [label(each) for each in steps(definition, state)]


def numbers(state: State) -> list[int]:
    return [message.number for message in state.pending[0] if isinstance(message, Note)]


class TestUnordered:
    def test_messages_arrive_in_any_order(self) -> None:
        definition = talk(unordered(), (1, 2))
        assert ends(definition) == {(1, 2), (2, 1)}
        assert figures(definition) == (8, 8, 4, 2)

    def test_sending_what_is_pending_changes_nothing(self) -> None:
        definition = talk(unordered(), (1, 1))
        assert ends(definition) == {(1,), (1, 1)}
        assert figures(definition) == (7, 6, 4, 2)

    def test_on_a_multiset_every_send_counts(self) -> None:
        definition = talk(multiset(), (1, 1))
        assert ends(definition) == {(1, 1)}
        assert figures(definition) == (6, 6, 4, 1)

    def test_equal_copies_are_consumed_in_one_way(self) -> None:
        definition = talk(multiset(), (1, 1))
        assert labels(definition, after(definition, ("say", 1), ("say", 1))) == [("take", 0)]

    def test_messages_of_two_senders_are_two(self) -> None:
        definition = talk(unordered(), (1,), (1,))
        state = after(definition, ("say", 1), ("say", 2))
        assert numbers(state) == [1, 1]
        assert labels(definition, state) == [("take", 0), ("take", 0)]


class TestFifo:
    def test_each_channel_keeps_its_order(self) -> None:
        assert ends(talk(fifo(), (1, 2))) == {(1, 2)}
        assert figures(talk(fifo(), (1, 2))) == (6, 6, 4, 1)
        assert ends(talk(fifo(), (1, 2), (3,))) == {(1, 2, 3), (1, 3, 2), (3, 1, 2)}

    def test_channels_are_listed_by_sender(self) -> None:
        definition = talk(fifo(), (1, 2), (3,))
        assert numbers(after(definition, ("say", 2), ("say", 1), ("say", 1))) == [1, 2, 3]

    def test_a_head_that_is_not_wanted_blocks(self) -> None:
        definition = talk(fifo(head="block"), (1, 2), (2,), wanted=frozenset({2}))
        assert ends(definition) == {(2,)}

    def test_or_is_skipped(self) -> None:
        definition = talk(fifo(head="skip"), (1, 2, 3), wanted=frozenset({2, 3}))
        assert ends(definition) == {(2, 3)}
        state = after(definition, ("say", 1), ("say", 1), ("say", 1))
        (only,) = steps(definition, state)
        assert only.next is not None
        assert numbers(only.next) == [1, 3]

    def test_or_is_dropped(self) -> None:
        definition = talk(fifo(head="drop"), (1, 2), wanted=frozenset({2}))
        assert ends(definition) == {(2,)}
        state = after(definition, ("say", 1), ("say", 1))
        (only,) = steps(definition, state)
        assert (only.kind, only.column, [m.number for m in only.consumed if isinstance(m, Note)]) == ("discard", 0, [1])
        assert enabled_protocol((only,))
        assert only.next is not None
        assert numbers(only.next) == [2]

    def test_equal_messages_are_dropped_one_by_one(self) -> None:
        definition = talk(fifo(head="drop"), (1, 1), wanted=frozenset({2}))
        state = after(definition, ("say", 1), ("say", 1), ("discard", 0))
        assert numbers(state) == [1]


class TestLosses:
    def test_a_loss_takes_from_the_budget(self) -> None:
        definition = talk(unordered(losses=1), (1, 2))
        assert ends(definition) == {(1, 2), (2, 1), (1,), (2,)}
        state = after(definition, ("say", 1), ("lose", 0))
        assert (numbers(state), state.budget) == ([], (0, 0, 0))
        assert figures(talk(unordered(losses=1), (1,))) == (4, 3, 2, 2)

    def test_losses_without_bound_leave_the_budget_alone(self) -> None:
        definition = talk(unordered(losses="any"), (1, 2))
        assert ends(definition) == {(1, 2), (2, 1), (1,), (2,), ()}
        assert {state.budget for state in reachable(definition)} == {(0, 0, 0)}

    def test_fifo_loses_anywhere(self) -> None:
        definition = talk(fifo(losses=1), (1, 2))
        assert ends(definition) == {(1, 2), (1,), (2,)}
        assert labels(definition, after(definition, ("say", 1), ("say", 1))) == [("take", 0), ("lose", 0), ("lose", 0)]

    def test_equal_neighbours_are_lost_in_one_way(self) -> None:
        definition = talk(fifo(losses=1), (1, 1, 2, 1))
        state = after(definition, *[("say", 1)] * 4)
        lost = [numbers(each.next) for each in steps(definition, state) if each.kind == "lose" and each.next]
        assert lost == [[1, 2, 1], [1, 1, 1], [1, 1, 2]]

    def test_where_only_a_loss_is_left_the_protocol_is_stuck(self) -> None:
        definition = talk(unordered(losses=1), (1,), wanted=frozenset())
        state = after(definition, ("say", 1))
        assert labels(definition, state) == [("lose", 0)]
        assert not enabled_protocol(steps(definition, state))
        assert explore(definition).deadlocks == {state.key, after(definition, ("say", 1), ("lose", 0)).key}


class TestDuplicates:
    def test_a_copy_is_a_message_of_its_own(self) -> None:
        definition = talk(unordered(duplicates=1), (1,))
        assert ends(definition) == {(1,), (1, 1)}
        assert figures(definition) == (6, 5, 4, 2)
        assert after(definition, ("say", 1), ("duplicate", 0)).budget == (0, 0, 0)

    def test_a_send_to_a_set_that_holds_a_copy_still_changes_nothing(self) -> None:
        definition = talk(unordered(duplicates=1), (1, 1))
        assert numbers(after(definition, ("say", 1), ("duplicate", 0), ("say", 1))) == [1, 1]

    def test_without_bound_consuming_never_removes(self) -> None:
        definition = talk(unordered(duplicates="any"), (1,))
        state = after(definition, ("say", 1), ("take", 0), ("take", 0))
        assert (state.locals[0][0], numbers(state)) == ((1, 1), [1])
        assert labels(definition, state) == [("take", 0)]

    def test_fifo_copies_stand_behind_the_original(self) -> None:
        definition = talk(fifo(duplicates=1), (1, 2))
        assert ends(definition) == {(1, 2), (1, 1, 2), (1, 2, 2)}

    def test_a_copy_needs_room(self) -> None:
        definition = talk(unordered(duplicates=1, capacity=1), (1,))
        assert labels(definition, after(definition, ("say", 1))) == [("take", 0)]


class TestCapacity:
    def test_a_full_channel_blocks(self) -> None:
        definition = talk(unordered(capacity=1), (1, 2))
        assert ends(definition) == {(1, 2)}
        assert figures(definition) == (5, 4, 4, 1)
        assert labels(definition, after(definition, ("say", 1))) == [("take", 0)]

    def test_sending_again_what_is_pending_in_a_set_needs_no_room(self) -> None:
        definition = talk(unordered(capacity=1), (1, 1))
        assert numbers(after(definition, ("say", 1), ("say", 1))) == [1]

    def test_capacity_is_per_sender(self) -> None:
        definition = talk(multiset(capacity=1), (1, 2), (3,))
        assert numbers(after(definition, ("say", 1), ("say", 2))) == [1, 3]

    def test_a_full_channel_replaces_its_only_message(self) -> None:
        definition = talk(unordered(capacity=1, full="replace"), (1, 2))
        assert ends(definition) == {(1, 2), (2,)}
        assert numbers(after(definition, ("say", 1), ("say", 1))) == [2]

    def test_or_its_oldest(self) -> None:
        definition = talk(fifo(capacity=2, full="replace"), (1, 2, 3))
        assert numbers(after(definition, ("say", 1), ("say", 1), ("say", 1))) == [2, 3]

    def test_consuming_makes_room_in_the_same_step(self) -> None:
        class Echo(Process):
            @start
            def begin(self) -> None:
                self.send(self.pid, Note(0))

            @on(Note, when=lambda self, m: m.number < 2)
            def again(self, m: Note) -> None:
                self.reply(Note(m.number + 1))

        class Alone(System):
            network = fifo(capacity=1)

            def build(self) -> None:
                self.spawn(Echo)

        assert figures(define(Alone())) == (4, 3, 3, 1)


class TestCrashes:
    def test_a_crash_leaves_fields_and_messages_as_they_are(self) -> None:
        definition = talk(unordered(), (1, 2), faults=crashes(1, of=Receiver))
        assert [column.may_crash for column in definition.columns] == [True, False]
        state = after(definition, ("say", 1), ("crash", 0))
        assert is_crashed(state.locals[0])
        assert tuple(state.locals[0]) == definition.initials[0][0]
        assert (len(state.pending[0]), state.budget) == (1, (0, 0, 0))

    def test_the_channel_of_a_crashed_process_fills_up_and_blocks(self) -> None:
        definition = talk(unordered(capacity=1), (1, 2), faults=crashes(1, of=Receiver))
        state = after(definition, ("say", 1), ("crash", 0))
        assert (len(state.pending[0]), labels(definition, state)) == (1, [])

    def test_the_budget_is_global(self) -> None:
        definition = talk(unordered(), (1,), (2,), faults=crashes(2))
        assert max(sum(is_crashed(local) for local in state.locals) for state in reachable(definition)) == 2
        assert explore(definition).states == len(reachable(definition))


class Vote(Message):
    value: int


class Voter(Process):
    to: Pid
    votes: tuple[int, ...]

    @start
    def vote(self) -> None:
        for value in self.votes:
            self.send(self.to, Vote(value))


class Box(Process):
    senders: Peers = Peers()
    done: bool = False
    got: frozenset[Vote] = frozenset()

    def note(self, votes: frozenset[Vote]) -> None:
        self.got, self.done = votes, True


class Two(Box):
    @quorum(Vote, size=2, when=lambda self: not self.done)
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


class TwoSame(Box):
    @quorum(Vote, size=2, same="value", when=lambda self: not self.done)
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


class TwoLarge(Box):
    @quorum(Vote, size=2, where=lambda self, m: m.value > 1, when=lambda self: not self.done)
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


class Each(Box):
    @quorum(Vote, each="senders", when=lambda self: not self.done)
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


class Minimal(Box):
    @quorum(Vote, enough=lambda self, votes: sum(v.value for v in votes) >= 3, when=lambda self: not self.done)
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


class Maximal(Box):
    @quorum(
        Vote,
        enough=lambda self, votes: sum(v.value for v in votes) >= 3,
        sets="maximal",
        when=lambda self: not self.done,
    )
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


class MaximalBelow(Box):
    @quorum(
        Vote,
        enough=lambda self, votes: sum(v.value for v in votes) <= 3,
        sets="maximal",
        when=lambda self: not self.done,
    )
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


class Keeping(Box):
    @quorum(Vote, size=2, keep=True, when=lambda self: not self.done)
    def count(self, votes: frozenset[Vote]) -> None:
        self.note(votes)


def election(box: type[Box], *votes: tuple[int, ...]) -> tuple[Definition, State]:
    """All voters have voted."""

    class Election(System):
        def build(self) -> None:
            target = self.spawn(box)
            voters = Peers([self.spawn(Voter, to=target, votes=each) for each in votes])
            self.connect(target, senders=voters)

    definition = define(Election())
    return definition, after(definition, *[("vote", index + 1) for index in range(len(votes))])


def consumed(box: type[Box], *votes: tuple[int, ...]) -> list[str]:
    """The consumable sets, written as voter:value."""
    definition, state = election(box, *votes)
    return sorted(
        " ".join(sorted(f"{str(m.sender)[-1]}:{m.value}" for m in each.consumed if isinstance(m, Vote)))
        for each in steps(definition, state)
    )


class TestQuorums:
    def test_exact_sets_have_distinct_senders(self) -> None:
        assert consumed(Two, (1,), (1,), (2,)) == ["1:1 2:1", "1:1 3:2", "2:1 3:2"]
        assert consumed(Two, (1, 2), (3,)) == ["1:1 2:3", "1:2 2:3"]
        assert consumed(Two, (1, 2)) == []

    def test_same_and_where(self) -> None:
        assert consumed(TwoSame, (1, 2), (1,), (2,)) == ["1:1 2:1", "1:2 3:2"]
        assert consumed(TwoLarge, (1, 2), (3,), (1,)) == ["1:2 2:3"]

    def test_one_from_each(self) -> None:
        assert consumed(Each, (1, 2), (3,)) == ["1:1 2:3", "1:2 2:3"]
        assert consumed(Each, (1,), ()) == []

    def test_minimal_sets(self) -> None:
        assert consumed(Minimal, (1,), (2,), (3,)) == ["1:1 2:2", "3:3"]
        assert consumed(Minimal, (1, 2), (1,)) == ["1:2 2:1"]

    def test_maximal_sets(self) -> None:
        assert consumed(Maximal, (1,), (2,), (3,)) == ["1:1 2:2 3:3"]
        assert consumed(Maximal, (1, 2), (2,)) == ["1:1 2:2", "1:2 2:2"]
        assert consumed(MaximalBelow, (1,), (2,), (3,), (4,)) == ["1:1 2:2", "3:3"]

    def test_the_set_is_taken_in_one_step(self) -> None:
        definition, state = election(Two, (1,), (1,), (2,))
        (first, *_) = steps(definition, state)
        assert first.next is not None
        assert len(first.next.pending[0]) == 1

    def test_keep_leaves_the_messages(self) -> None:
        definition, state = election(Keeping, (1,), (1,))
        (only,) = steps(definition, state)
        assert only.next is not None
        assert only.next.pending == state.pending
        assert only.next.locals[0][1] is True

    def test_a_fifo_offers_one_message_of_each_channel(self) -> None:
        class Election(System):
            network = fifo()

            def build(self) -> None:
                box = self.spawn(TwoLarge)
                self.spawn(Voter, to=box, votes=(1, 2))
                self.spawn(Voter, to=box, votes=(2, 3))

        class Skipping(Election):
            network = fifo(head="skip")

        blocked, skipping = define(Election()), define(Skipping())
        assert steps(blocked, after(blocked, ("vote", 1), ("vote", 2))) == ()
        (only,) = steps(skipping, after(skipping, ("vote", 1), ("vote", 2)))
        assert sorted(m.value for m in only.consumed if isinstance(m, Vote)) == [2, 2]


class Moved(Event):
    n: int


class Mover(Process):
    n: int = 0

    @step(when=lambda self: self.n < 5)
    def move(self) -> None:
        self.n += self.choose((1, 2))
        self.emit(Moved(self.n))
        self.emit(Moved(-self.n))

    def within(self) -> bool:
        return self.n <= 4


class Track(Monitor):
    seen: tuple[int, ...] = ()

    @on(Moved)
    def moved(self, e: Moved) -> None:
        self.seen = (*self.seen, e.n)
        assert e.n != -4, "four"


class Moving(System):
    def build(self) -> None:
        self.spawn(Mover)
        self.watch(Track)


class TestMonitorsAndBounds:
    def test_a_monitor_sees_events_in_order_within_the_step(self) -> None:
        definition = define(Moving())
        (state,) = initial_states(definition)
        one, two = steps(definition, state)
        assert one.next is not None
        assert one.next.locals == ((1,), ((1, -1),))
        assert two.outcome is not None
        assert two.outcome.choices == (2,)

    def test_its_failure_is_the_steps_failure(self) -> None:
        definition = define(Moving())
        found = explore(definition)
        assert [(failure.kind, failure.text, depth) for failure, depth in found.failures.items()] == [
            ("assertion", "four", 1)
        ]
        # n is 0, 1, 2 (twice: by 1+1 and by 2), 3 (three ways) with their histories; 4 always fails.
        assert found.states == 1 + 1 + 2 + 3
        # Two steps each from 0, 1 and 2; from 3 one that fails and one that is cut.
        assert found.transitions == 2 + 2 + 2 * 2 + 3
        assert found.cut == {"Mover"}
        assert found.deadlocks == set()

    def test_a_cut_step_is_enabled_but_leads_nowhere(self) -> None:
        class Unwatched(System):
            def build(self) -> None:
                self.spawn(Mover, n=4)

        definition = define(Unwatched())
        (state,) = initial_states(definition)
        (only,) = steps(definition, state)
        assert (only.next, only.failure, only.cut) == (None, None, True)
        assert enabled_protocol((only,))
        assert figures(definition) == (1, 0, 0, 0)


class TestStates:
    def test_states_are_told_apart_by_type(self) -> None:
        assert State(((1,),), ((),), (0, 0, 0)) != State(((True,),), ((),), (0, 0, 0))
        assert State(((1,),), ((),), (0, 0, 0)) == State(((1,),), ((),), (0, 0, 0))
        assert len({State(((n,),), ((),), (0, 0, 0)) for n in (1, True, 1)}) == 2

    @pytest.mark.parametrize("network", [unordered(), multiset(), fifo(), unordered(losses=1, duplicates=1)])
    def test_steps_come_in_a_fixed_order(self, network: Network) -> None:
        first: Exploration = explore(talk(network, (1, 2), (2,)))
        second = explore(talk(network, (1, 2), (2,)))
        assert first == second
