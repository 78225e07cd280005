"""Crashes as steps and crashes without: the same observations where theorem 2 says so, refused where it does not."""

from pathlib import Path
from typing import Any

import pytest

from agreement import agree
from observations import difference
from quorate import (
    Crash,
    Message,
    Peers,
    Pid,
    Process,
    System,
    can,
    check,
    crashes,
    fifo,
    final,
    invariant,
    multiset,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.base.errors import QuorateError
from quorate.language.network import Network
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.model.target import load
from quorate.protocols.paxos import Paxos
from quorate.protocols.ping_pong import PingPong
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.render.chart.model import chart
from quorate.render.exports.regression import regression_test
from small_instances import SMALL, small

# Protocols that are told of crashes, or come back from them, are about explicit crashes.
ABOUT_CRASHES = {
    "fd-consensus",
    "faulty-fd-consensus",
    "two-phase-commit-recovery",
    "three-phase-commit",
    "raft",
    "raft-election",
    "saga",
    "chain-replication",
}
OTHERS = [name for name in SMALL if name not in ABOUT_CRASHES]


def explicit(number: int) -> Environment:
    return Environment("explicit", number)


@pytest.mark.parametrize("name", OTHERS)
def test_explicit_and_implicit_crashes_show_the_same(name: str) -> None:
    """Theorem 2: label equivalence, up to the idling that it assumes."""
    implicit = define(small(name), Environment("implicit"))
    assert difference(implicit, define(small(name), explicit(1))) == ((), ())


def test_the_same_with_more_processes_and_crashes() -> None:
    system = Paxos(proposers=2, acceptors=2)
    assert difference(define(system), define(system, explicit(2))) == ((), ())


@pytest.mark.parametrize("name", [name for name in OTHERS if not define(small(name)).network.replaces])
def test_both_give_the_same_verdicts(name: str) -> None:
    for each in define(small(name)).properties:
        implicit = check(small(name), property=each.name, crash="implicit")
        assert implicit.verdict == check(small(name), property=each.name, crash="explicit", crashes=1).verdict


@pytest.mark.parametrize("name", OTHERS)
def test_the_search_agrees_with_the_reference_on_explicit_crashes(name: str) -> None:
    agree(small(name), crash="explicit", crashes=1)


@pytest.mark.parametrize("name", sorted(ABOUT_CRASHES))
def test_protocols_about_crashes_have_them_as_steps(name: str) -> None:
    system = load(name)()
    assert define(system).declared.left > 0
    with pytest.raises(QuorateError, match="is notified of crashes|may recover|reads which processes|deadlocks differ"):
        check(system, crash="implicit")


# Networks: which of them one more message can hinder


class Old(Message): ...


class New(Message): ...


class Sender(Process):
    """Says something old to both, and then something new."""

    to: tuple[Pid, ...]
    sent: int = 0

    @step(when=lambda self: self.sent == 0)
    def say_old(self) -> None:
        self.sent = 1
        self.send(self.to, Old())

    @step(when=lambda self: self.sent == 1)
    def say_new(self) -> None:
        self.sent = 2
        self.send(self.to, New())


class Receiver(Process):
    """Knows the last two things it heard."""

    got: tuple[str, ...] = ()

    @on(Old)
    def old(self, _: Old) -> None:
        self.got = (*self.got, "old")[-2:]

    @on(New)
    def new(self, _: New) -> None:
        self.got = (*self.got, "new")[-2:]


def told(network: Network, receivers: int = 2) -> System:
    wanted = network

    class Told(System):
        network = wanted

        def build(self) -> None:
            self.spawn(Sender, to=tuple(self.spawn(Receiver, receivers)))

    return Told()


@pytest.mark.parametrize(
    "network",
    [
        unordered(),
        multiset(),
        unordered(losses=1),
        unordered(duplicates=1),
        unordered(duplicates="any"),
        multiset(losses=1, duplicates=1),
        fifo(),
        fifo(head="skip", losses=1),
        fifo(head="drop", duplicates=1),
        unordered(capacity=1),
        fifo(capacity=1, losses=1),
    ],
    ids=str,
)
def test_networks_that_the_theorem_covers(network: Network) -> None:
    system = told(network)
    assert difference(define(system), define(system, explicit(1))) == ((), ())
    check(system, crash="implicit")
    agree(system, crash="explicit", crashes=1)


@pytest.mark.parametrize("network", [unordered(capacity=1, full="replace"), fifo(capacity=1, full="replace")], ids=str)
def test_channels_that_replace_messages_are_the_exception(network: Network) -> None:
    """Section 3.2.3: the sender crashes when it has replaced the message to one receiver and not to the other."""
    system = told(network)
    nothing, more = difference(define(system), define(system, explicit(1)))
    assert nothing == ()
    last: Any = more[-1]
    assert last[:2] == (("receiver1", ((),)), ("receiver2", (("old",),)))
    assert last[2][1][1] == 2
    # The sender has said what is new, and only then somebody gets to hear what is old.
    with pytest.raises(QuorateError, match="replaces messages") as caught:
        check(system, crash="implicit")
    assert caught.value.code == "Q601"
    assert "--crash explicit" in caught.value.hint
    agree(system, crash="explicit", crashes=1)


class Twice(Process):
    to: Pid

    @start
    def say(self) -> None:
        self.send(self.to, Old())
        self.send(self.to, New())


def test_a_fifo_channel_loses_only_its_end_in_a_crash() -> None:
    class Ordered(System):
        network = fifo()

        def build(self) -> None:
            self.spawn(Twice, to=self.spawn(Receiver))

        @invariant
        def old_comes_first(self) -> bool:
            return self[Receiver][0].got[:1] != ("new",)

    class Unordered(Ordered):
        network = multiset()

    agree(Ordered(), crash="explicit", crashes=1)
    assert check(Ordered(), crash="explicit", crashes=1).ok
    assert not check(Unordered(), crash="explicit", crashes=1).ok
    assert difference(define(Ordered()), define(Ordered(), explicit(1))) == ((), ())


def test_equal_messages_in_one_channel_are_cut_off_by_their_place() -> None:
    """Which of two equal messages was sent makes no difference, so it makes no second step."""

    class Again(Process):
        to: tuple[Pid, ...]

        @start
        def say(self) -> None:
            for pid in self.to:
                self.send(pid, Old())

    class Repeating(System):
        network = fifo()

        def build(self) -> None:
            one, two = self.spawn(Receiver, 2)
            self.spawn(Again, to=(one, two, one))

    agree(Repeating(), crash="explicit", crashes=1)


class Flood(Process):
    """Its second step is not possible before the first receiver has taken something."""

    first: Pid
    second: Pid
    sent: int = 0

    @step(when=lambda self: self.sent < 2)
    def say(self) -> None:
        self.sent += 1
        self.send(self.first, Old())
        if self.sent == 2:
            self.send(self.second, New())


class Deaf(Process):
    """Takes nothing."""


@pytest.mark.parametrize("network", [multiset(capacity=1), fifo(capacity=1)], ids=str)
def test_a_step_that_waits_for_room_is_not_cut_short(network: Network) -> None:
    wanted = network

    class Flooded(System):
        network = wanted

        def build(self) -> None:
            self.spawn(Flood, first=self.spawn(Deaf), second=self.spawn(Receiver))

        @invariant
        def it_waits(self) -> bool:
            return self[Flood][0].sent < 2

    found = agree(Flooded(), crash="explicit", crashes=1)
    assert found.violations == {}
    assert difference(define(Flooded()), define(Flooded(), explicit(1))) == ((), ())


# What implicit crashes do not cover


class Most(Process):
    """Takes all there is, and so notices what is not there."""

    got: int = 0

    @quorum(Old, enough=lambda self, ms: True, sets="maximal")
    def take(self, ms: frozenset[Old]) -> None:
        self.got = len(ms)


class One(Process):
    to: Peers
    sent: bool = False

    @step(when=lambda self: not self.sent)
    def say(self) -> None:
        self.sent = True
        self.send(self.to, Old())


class AllOfThem(System):
    def build(self) -> None:
        taker = self.spawn(Most)
        self.spawn(One, 2, to=Peers([taker]))


def test_maximal_sets_see_what_a_crash_leaves_out() -> None:
    nothing, more = difference(define(AllOfThem()), define(AllOfThem(), explicit(1)))
    assert nothing == ()
    last: Any = more[-1]
    assert last[0] == ("most1", (1,))
    assert [sent for _, (_, sent) in last[1:]] == [True, True]
    with pytest.raises(QuorateError, match=r"Most\.take takes maximal sets"):
        check(AllOfThem(), crash="implicit")


class Watching(Process):
    dead: int = 0

    @on(Crash)
    def notice(self, _: Crash) -> None:
        self.dead += 1


class Informed(System):
    faults = crashes(1)

    def build(self) -> None:
        self.spawn(Watching, 2)


class Recovering(System):
    faults = crashes(1, recover=True)

    def build(self) -> None:
        self.spawn(Deaf)


class Flags(System):
    def build(self) -> None:
        self.spawn(Sender, to=tuple(self.spawn(Receiver, 1)))

    @invariant
    def most_are_up(self) -> bool:
        return all(not each.crashed for each in self[Receiver])


class LateFlags(Flags):
    @invariant
    def most_are_up(self) -> bool:
        return self[Sender][0].sent < 2 or not self[Sender][0].crashed


class Ends(Flags):
    most_are_up = None  # type: ignore[assignment]

    @final
    def all_is_said(self) -> bool:
        return self[Sender][0].sent == 2


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (Informed(), r"Watching\.notice is notified of crashes"),
        (Recovering(), "may recover"),
        (Flags(), "the property `most_are_up` reads which processes have crashed"),
        (LateFlags(), "reads which processes have crashed"),
        (Ends(), "deadlocks differ"),
        (told(unordered(capacity=2, duplicates=1)), "room of duplicates"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, System) else "",
)
def test_implicit_crashes_are_refused_with_the_reason(system: System, reason: str) -> None:
    with pytest.raises(QuorateError, match=reason) as caught:
        check(system, crash="implicit")
    assert caught.value.code == "Q601"


def test_the_other_properties_of_a_system_with_final_can_be_asked_for() -> None:
    with pytest.raises(QuorateError, match="deadlocks differ") as caught:
        check(TwoPhaseCommit(), crash="implicit")
    assert "property=['agreement', 'validity', 'commit']" in caught.value.hint
    assert check(TwoPhaseCommit(), property=["agreement", "validity", "commit"], crash="implicit").ok


def test_room_for_duplicates_is_a_difference() -> None:
    """Why it is refused: two messages that were not sent leave room for a copy of one that was."""

    class Once(Process):
        to: Pid
        sent: bool = False

        @step(when=lambda self: not self.sent)
        def say(self) -> None:
            self.sent = True
            self.send(self.to, Old())
            self.send(self.to, New())

    class Copied(System):
        network = unordered(capacity=2, duplicates=1)

        def build(self) -> None:
            self.spawn(Once, to=self.spawn(Receiver))

    nothing, more = difference(define(Copied()), define(Copied(), explicit(1)))
    assert nothing == ()
    assert len(more) > 0


# How many crash, and how that is said


@pytest.mark.parametrize(
    ("declared", "asked", "number"),
    [
        (None, {}, 0),
        (crashes(2, of=Receiver), {}, 2),
        (crashes(2, of=Receiver), {"crash": "explicit"}, 2),
        (crashes(2, of=Receiver), {"crashes": 1}, 1),
        (crashes(2, of=Receiver), {"crash": "implicit"}, 0),
        (None, {"crash": "explicit", "crashes": 3}, 3),
        (None, {"crashes": 1}, 1),
        (None, {"crash": "implicit", "crashes": 1}, 0),
    ],
)
def test_a_number_replaces_the_declared_one(declared: Any, asked: dict[str, Any], number: int) -> None:
    class Declared(Flags):
        if declared is not None:
            faults = declared

    definition = define(Declared(), Environment(**asked))
    assert definition.faults.crashes == number
    if declared is not None and number:
        assert [column.name for column in definition.columns if column.may_crash] == ["receiver1"]


@pytest.mark.parametrize(
    "asked",
    [{"crash": "explicit"}, {"crash": "sometimes"}, {"crashes": -1}, {"crashes": True}],
    ids=str,
)
def test_senseless_requests_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(QuorateError) as caught:
        check(Flags(), **asked)
    assert caught.value.code == "Q601"


def test_the_result_says_what_was_assumed() -> None:
    result = check(PingPong(), property="they_take_turns", crash="implicit")
    assert result.to_json()["environment"] == {"crash": "implicit"}
    assert "takes no further step" in str(result)
    result = check(PingPong(), property="they_take_turns", crashes=2)
    assert result.to_json()["environment"] == {"crashes": 2}
    assert "explicit, at most 2" in str(result)
    assert check(PingPong()).to_json()["environment"] == {}


# Crashes with everything else


class Durable(Process):
    """Counts what it hears; of the two counters one survives a crash."""

    durable = ("kept",)
    kept: int = 0
    lost: int = 0

    @on(Old)
    def hear(self, _: Old) -> None:
        self.kept = min(self.kept + 1, 2)
        self.lost = min(self.lost + 1, 2)


@pytest.mark.parametrize(
    "network",
    [
        unordered(),
        unordered(losses=1, duplicates=1),
        unordered(losses="any", duplicates="any"),
        multiset(losses=1, duplicates=1),
        fifo(losses=1, duplicates=1),
        fifo(capacity=1, full="replace", losses=1),
        unordered(capacity=1, losses="any"),
    ],
    ids=str,
)
def test_crashes_with_recovery_losses_and_duplicates(network: Network) -> None:
    wanted = network

    class Harsh(System):
        network = wanted
        faults = crashes(1, recover=True)

        def build(self) -> None:
            self.spawn(One, 2, to=self.spawn(Durable, 1))

        @invariant
        def both_count(self) -> bool:
            return all(each.kept == each.lost for each in self[Durable])

        @invariant
        def what_is_kept_is_never_behind(self) -> bool:
            return all(each.kept >= each.lost for each in self[Durable])

    found = agree(Harsh())
    assert set(found.violations) == {"both_count"}
    agree(Harsh(), crashes=2)


# --- recovery: what is volatile is as it was at the beginning of the run (rule 20) ------------------------------------


class Charge(Message): ...


class Bank(Process):
    charges: int = 0

    @on(Charge)
    def charge(self, m: Charge) -> None:
        self.charges += 1


class Worker(Process):
    """Its links have a default, so that what `connect` sets is not what the class says."""

    banks: Peers = Peers()
    given: int = 0
    done: bool = False

    @step(when=lambda self: not self.done)
    def work(self) -> None:
        self.done = True
        self.send(self.banks, Charge())


class Forgetful(System):
    network = multiset()
    faults = crashes(1, of=Worker, recover=True)

    def build(self) -> None:
        worker = self.spawn(Worker, given=7)
        self.connect(worker, banks=self.spawn(Bank, 1))

    @invariant
    def never_twice(self) -> bool:
        return all(bank.charges <= 1 for bank in self[Bank])

    @invariant
    def connected(self) -> bool:
        return all(worker.given == 7 and len(worker.banks) == 1 for worker in self[Worker])


def test_a_recovered_process_has_what_spawn_and_connect_gave_it() -> None:
    assert set(agree(Forgetful()).violations) == {"never_twice"}
    ways: list[dict[str, Any]] = [{}, {"quotient": "off", "symmetry": "none"}, {"por": "lpor-net"}]
    for options in ways:
        result = check(Forgetful(), property="never_twice", **options)
        assert (result.verdict, len(result.trace or ())) == ("violated", 6)


class Member(Process):
    """Notes durably with which mode it began, and forgets the mode."""

    durable = ("first",)
    mode: int = 0
    friends: Peers = Peers()
    first: int = 0

    @step(when=lambda self: self.first == 0)
    def note(self) -> None:
        self.first = self.mode
        self.mode = 9
        self.friends = Peers()


class Choosing(System):
    """Several initial states, which differ in volatile fields, identities among them."""

    members: int = 2
    faults = crashes(1, recover=True)

    def build(self) -> None:
        members = [self.spawn(Member, mode=self.choose((1, 2))) for _ in range(self.members)]
        for one in members:
            self.connect(one, friends=self.choose((Peers([one]), Peers(members))))

    @invariant
    def as_at_the_beginning(self) -> bool:
        return all(member.mode in (9, member.first) for member in self[Member] if member.first)

    @invariant
    def with_friends(self) -> bool:
        return all(bool(member.friends) == (member.mode != 9) for member in self[Member])

    @can
    def back_with_one(self) -> bool:
        return any(member.first == member.mode == 1 for member in self[Member])

    @can
    def back_with_two(self) -> bool:
        return any(member.first == member.mode == 2 and len(member.friends) == self.members for member in self[Member])


@pytest.mark.parametrize("members", [2, 3])
def test_the_beginning_is_that_of_the_run(members: int) -> None:
    agree(Choosing(members=members))
    plain = check(Choosing(members=members), symmetry="none", quotient="off")
    assert plain.ok
    exchanged = check(Choosing(members=members), quotient="off")
    assert exchanged.ok
    assert exchanged.reductions["symmetry"]["ran"]
    assert exchanged.reductions["symmetry"]["stands_for"] == plain.states
    assert check(Choosing(members=members), self_check=True).ok


def test_where_all_initial_states_agree_nothing_is_added_to_the_state() -> None:
    assert define(Forgetful()).columns[0].fields == ("banks", "given", "done")
    assert define(Choosing()).columns[0].fields == ("mode", "friends", "first", "began:as")


class Job(Message):
    pass


class Done(Message):
    pass


class Consumer(Process):
    durable = ("client", "done")
    client: Pid
    done: int = 0

    @on(Job)
    def work(self, m: Job) -> None:
        self.done = min(self.done + 1, 2)
        self.send(self.client, Done())


class Client(Process):
    answers: int = 0

    @on(Done)
    def answered(self, m: Done) -> None:
        self.answers = min(self.answers + 1, 3)


class Broker(System):
    """One job for each of two consumers, who acknowledge it when they are done."""

    network = multiset()
    faults = crashes(1, of=Consumer, recover=True, redeliver=True)

    def build(self) -> None:
        client = self.spawn(Client)
        for consumer in self.spawn(Consumer, 2, client=client):
            self.send(consumer, Job(), sender=client)

    @invariant
    def once_each(self) -> bool:
        return all(each.done <= 1 for each in self[Consumer])

    @invariant
    def answered_once_each(self) -> bool:
        return self[Client][0].answers <= 2

    @invariant
    def one_is_up(self) -> bool:
        return not all(each.crashed for each in self[Consumer])


class Lossless(Broker):
    """What was consumed is gone, whether or not the consumer crashed over it."""

    faults = crashes(1, of=Consumer, recover=True)


class Restless(Lossless):
    """However often they crash, one of them is up."""

    faults = crashes("any", of=Consumer, recover=True, down=1)


class CrashTwice(Lossless):
    faults = crashes(2, of=Consumer, recover=True, down=1)


class BothDown(Lossless):
    faults = crashes("any", of=Consumer, recover=True, down=2)


def test_what_a_crash_left_unacknowledged_is_consumed_again() -> None:
    agree(Broker())
    agree(Lossless())
    result = check(Broker(), property="once_each")
    assert result.trace is not None
    assert [step.kind for step in result.trace.steps] == ["crash", "recover", "step"]
    assert result.trace.steps[0].redelivered
    assert not check(Broker(), property="answered_once_each").ok
    assert check(Lossless()).ok


def test_a_run_says_what_a_crash_leaves_in_flight(tmp_path: Path) -> None:
    """Otherwise a message is consumed twice and nobody sees why; and a test of the run is one of another run."""
    trace = check(Broker(), property="once_each").trace
    assert trace is not None
    assert "leaves Job() in flight" in str(trace)
    assert "leaves Job() in flight" in chart(trace).happenings[0].notes
    text = regression_test(trace, tmp_path / "test_it.py", f"{__file__}:Broker")
    space: dict[str, Any] = {"__file__": str(tmp_path / "test_it.py")}
    exec(text, space)
    (replayed,) = (each for name, each in space.items() if name.startswith("test_"))
    replayed()


def test_at_most_so_many_are_down_at_once() -> None:
    bounded: tuple[Broker, ...] = (Restless(), CrashTwice())
    for system in bounded:
        agree(system)
        assert check(system, property="one_is_up").ok
    assert not check(BothDown(), property="one_is_up").ok
    for system in (Broker(), Restless()):
        result = check(system, por="lpor-net", property="one_is_up")
        assert not result.reductions["por"]["ran"]
        assert "no relation is proven" in result.reductions["por"]["why"]
    dynamic = check(Restless(), por="dpor", property="one_is_up")
    assert not dynamic.reductions["por"]["ran"]


def test_without_recovery_who_is_down_stays_down() -> None:
    assert crashes(3, down=2) == crashes(2)
    assert crashes(1, down=2) == crashes(1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"at_most": "any"},
        {"at_most": "any", "down": 1},
        {"at_most": "many"},
        {"at_most": 1, "down": 0},
        {"at_most": 1, "redeliver": True},
        {"at_most": 1, "redeliver": True, "recover": True, "cut_short": False},
        {"at_most": 1, "redeliver": 1, "recover": True},
    ],
)
def test_faults_that_make_no_sense_are_refused(arguments: Any) -> None:
    with pytest.raises(QuorateError) as refused:
        crashes(**arguments)
    assert refused.value.code == "Q111"
