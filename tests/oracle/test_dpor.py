"""Dynamic partial-order reduction against the reference explorer, and against counting the traces of all runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import factorial
from random import Random
from typing import Any, Literal

import pytest
from typer.testing import CliRunner

import corpus
from byzantine_models import GullibleMulticast, Multicast, Payment, Voting
from generator import Protocol, Role, without_claims
from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    Result,
    System,
    _core,
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
)  # fmt: skip
from quorate.base.errors import QuorateError
from quorate.base.values import encode
from quorate.cli.main import app
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import steps
from reference import Exploration, explore
from small_instances import SMALL, small
from test_against_reference import Recorder, all_names, expect, follow, look_around

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")

Variant = Literal["optimal", "classical"]
VARIANTS: tuple[Variant, ...] = ("optimal", "classical")
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
COMBINATIONS: list[dict[str, Any]] = [
    {"por": "dpor", "dpor_variant": variant, "max_states": 20_000, **reductions}
    for variant in VARIANTS
    for reductions in (PLAIN, {})
]
MOST_STATES = corpus.FEW_STATES

NETWORKS = [
    unordered(),
    unordered(),
    multiset(),
    fifo(),
    fifo(head="skip"),
    fifo(head="drop"),
    unordered(duplicates="any"),
]


def without_maximal(role: Role) -> Role:
    rules = [rule._replace(kind="minimal") if rule.kind == "maximal" else rule for rule in role.rules]
    return role._replace(rules=tuple(rules))


def reducible(protocol: Protocol, dice: Random) -> Protocol:
    """With what is reduced alone, and with few enough states for all their orders to be tried."""
    roles = tuple(map(without_maximal, protocol.roles))
    return corpus.smaller(protocol._replace(network=dice.choice(NETWORKS), crashes=0, roles=roles), MOST_STATES)


REDUCIBLE = corpus.Kind("for dynamic partial orders", reducible)


def ran(result: Result) -> bool:
    """Whether the reduction ran to the end."""
    return bool(result.reductions["por"]["ran"]) and result.stopped_by is None


def is_cyclic(definition: Definition) -> bool:
    """Whether some run comes back to a state it has been in."""
    after: dict[State, list[State]] = {}

    def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
        after[state] = [each.next for each in here if each.next is not None]

    explore(definition, visit=visit)
    left = {state: set(following) for state, following in after.items()}
    while ended := [state for state, following in left.items() if not following & left.keys()]:
        for state in ended:
            del left[state]
    return bool(left)


# --- against the reference explorer -------------------------------------------------------------------------------


def compare_verdicts(make: Callable[[], System], found: Exploration, **environment: Any) -> int:
    """The number of searches that were not cut short."""
    definition = define(make(), Environment(**environment))
    complete = 0
    names = all_names(definition)
    deadlock = ["deadlock"] if definition.final is not None else []
    failing = {{"assertion": "assertions", "exception": "exceptions"}[each.kind] for each in found.failures}
    for asked in ([*names, *deadlock], *([name] for name in [*names, *deadlock])):
        wanted = expect(definition, found, [name for name in asked if name != "deadlock"], "deadlock" in asked)
        for options in COMBINATIONS:
            result = check(make(), property=asked, **options, **environment)
            complete += ran(result)
            if result.stopped_by == "cycle":
                assert is_cyclic(definition)
            if result.stopped_by is None:
                assert result.verdict == ("violated" if wanted.broken or wanted.missed else "holds"), (asked, options)
            if result.trace is not None:
                assert result.property in ({*asked} & {*found.violations}) | failing
            for run in ([] if result.trace is None else [result.trace]) + list(result.witnesses.values()):
                follow(run)
    return complete


def compare_observations(known: System) -> None:
    definition, _, sight = look_around(known)
    seen, stuck = sight.seen, sight.stuck
    for options in COMBINATIONS:
        recorder, alone = Recorder(definition, sight), Recorder(definition, sight)
        for noting, asked in ((recorder, ("noted", "deadlock")), (alone, ("deadlock",))):
            result = noting.check(property=asked, **options)
            if result.stopped_by is None:
                # The first evaluation may be void: it reads fields that were not observed before (rule 8).
                if "noted" in asked:
                    assert seen <= set(noting.seen), options
                    assert set(noting.seen[1:]) <= seen, options
                assert stuck <= set(noting.stuck), options
                assert set(noting.stuck[1:]) <= stuck, options


# Every protocol is checked in many ways.


@corpus.each(REDUCIBLE, 25)
def test_verdicts_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_verdicts(lambda: corpus.built(protocol), corpus.explored(protocol))


@corpus.each(REDUCIBLE, 25, first=50)
def test_source_sets_where_there_is_no_room_for_sequences(protocol: Protocol, dice: Random) -> None:
    thresholds: Any = _core.thresholds
    before = thresholds.most_sequenced
    thresholds.most_sequenced = dice.choice((0, 3))
    try:
        compare_verdicts(lambda: corpus.built(protocol), corpus.explored(protocol))
        compare_observations(corpus.built(without_claims(protocol)))
    finally:
        thresholds.most_sequenced = before


@corpus.each(REDUCIBLE, 25, first=25)
def test_observations_and_deadlocks_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_observations(corpus.built(without_claims(protocol)))


@corpus.each(corpus.few_states, 25)
def test_verdicts_on_generated_protocols_of_any_network(protocol: Protocol, dice: Random) -> None:
    compare_verdicts(lambda: corpus.built(protocol), corpus.explored(protocol))


@pytest.mark.parametrize("name", SMALL)
def test_bundled_protocols(name: str) -> None:
    definition = define(small(name))
    found = explore(definition)
    compare_verdicts(lambda: small(name), found)
    if not found.failures:
        compare_observations(small(name))


@pytest.mark.parametrize(
    "made",
    [
        Voting(voters=3, byzantine=1, quorum=2),
        Voting(voters=3, byzantine=1, quorum=3),
        Multicast(receivers=2),
        GullibleMulticast(receivers=2),
        Payment(),
        Payment(broker=False),
    ],
    ids=repr,
)
def test_attackers(made: System) -> None:
    """What they may say stands, some of it from the beginning, and is sent in bundles."""
    assert compare_verdicts(lambda: made, explore(define(made))) >= 4


@pytest.mark.parametrize("name", ["paxos", "faulty-paxos", "two-phase-commit", "multi-paxos", "ping-pong"])
def test_delivery_events(name: str) -> None:
    """A channel passes on what others have sent; it is a process like any other."""
    found = explore(define(small(name), Environment(network_model="grm")))
    assert compare_verdicts(lambda: small(name), found, network_model="grm") >= 4


# --- against all runs ---------------------------------------------------------------------------------------------


def feeds(sender: Step, receiver: Step) -> bool:
    sent = [] if sender.outcome is None else sender.outcome.sends
    consumed = [encode(message) for message in receiver.consumed]
    return any(column == receiver.column and encode(message) in consumed for column, message in sent)


def emits(definition: Definition, done: Step) -> bool:
    events = () if done.outcome is None else done.outcome.events
    reactions = [each for monitor in definition.monitors for each in definition.transitions(monitor)]
    return any(reaction.takes(event) for reaction in reactions for event in events)


def dependent(definition: Definition, one: Step, two: Step) -> bool:
    """As in dpor.hpp, for deadlocks alone."""
    if one.column == two.column or (emits(definition, one) and emits(definition, two)):
        return True
    return feeds(one, two) or feeds(two, one)


def trace_of(definition: Definition, run: list[Step]) -> tuple[tuple[bytes, ...], ...]:
    """The normal form of Cartier and Foata: what can come first, what can come then, and so on."""
    levels: list[int] = []
    form: dict[int, list[bytes]] = {}
    for number, each in enumerate(run):
        before = [levels[at] for at in range(number) if dependent(definition, run[at], each)]
        levels.append(1 + max(before, default=0))
        choices = () if each.outcome is None else each.outcome.choices
        label = (each.kind, each.column, str(each.transition), each.consumed, tuple(map(encode, choices)))
        form.setdefault(levels[-1], []).append(encode(label))
    return tuple(tuple(sorted(form[level])) for level in sorted(form))


def count_traces(definition: Definition) -> int:
    """How many maximal traces there are; runs from different initial states are different."""
    return sum(
        len({trace_of(definition, run) for run in runs_from(definition, state)}) for state in initial_states(definition)
    )


def runs_from(definition: Definition, initial: State) -> Iterator[list[Step]]:
    stack: list[tuple[list[Step], State]] = [([], initial)]
    while stack:
        run, state = stack.pop()
        here = [(each, each.next) for each in steps(definition, state) if each.next is not None]
        stack += [([*run, each], after) for each, after in here]
        if not here:
            yield run


def executions(made: System, variant: Variant = "optimal") -> int:
    result = check(made, property="assertions", por="dpor", dpor_variant=variant, **PLAIN)
    assert result.stopped_by is None
    assert result.reductions["por"]["ran"], result.reductions["por"]["why"]
    assert "given_up" not in result.reductions["por"]
    count: int = result.reductions["por"]["executions"]
    return count


def compare_counts(made: System) -> None:
    definition = define(made)
    every = check(made, property="assertions", stateless=True, max_states=3_000, **PLAIN)
    corpus.require(every.stopped_by is None)
    found = check(made, property="assertions", por="dpor", max_states=3_000, **PLAIN)
    corpus.require(found.stopped_by is None and found.reductions["por"]["ran"])
    assert found.reductions["por"]["executions"] == count_traces(definition)
    assert "given_up" not in found.reductions["por"]
    classical = check(made, property="assertions", por="dpor", dpor_variant="classical", **PLAIN)
    assert found.states <= every.states
    assert classical.states <= every.states
    assert found.reductions["por"]["executions"] <= classical.reductions["por"]["executions"]


@corpus.each(REDUCIBLE, 25)
def test_every_trace_is_run_once(protocol: Protocol, dice: Random) -> None:
    made = corpus.built(without_claims(protocol))
    corpus.require(not is_cyclic(define(made)))
    compare_counts(made)


# --- classic examples ---------------------------------------------------------------------------------------------


class Go(Message):
    pass


class Count(Message):
    n: int


class Loner(Process):
    done: bool = False

    @start
    def work(self) -> None:
        self.done = True


class Writers(System):
    """Nobody meets anybody."""

    number: int = 4

    def build(self) -> None:
        self.spawn(Loner, self.number)


class Sender(Process):
    server: Pid
    n: int = 0

    @start
    def send_it(self) -> None:
        self.send(self.server, Count(self.n))


class Server(Process):
    last: int = 0

    @on(Count)
    def take(self, m: Count) -> None:
        self.last = m.n


class Contended(System):
    """All write to one register: every order is different."""

    number: int = 4

    def build(self) -> None:
        server = self.spawn(Server)
        for n in range(self.number):
            self.spawn(Sender, server=server, n=n)


class Writer(Process):
    readers: Peers

    @start
    def write(self) -> None:
        self.send(self.readers, Go())


class Reader(Process):
    saw: str = ""

    @step(when=lambda self: not self.saw)
    def too_early(self) -> None:
        self.saw = "old"

    @on(Go, when=lambda self, m: not self.saw)
    def in_time(self, m: Go) -> None:
        self.saw = "new"


class ReadersAndWriter(System):
    """Each reader reads before the write, or after it, and nobody else can tell when."""

    readers: int = 4

    def build(self) -> None:
        self.spawn(Writer, readers=self.spawn(Reader, self.readers))


class Collector(Process):
    got: int = 0

    @quorum(Count, size=2)
    def collect(self, ms: frozenset[Count]) -> None:
        self.got += 1


class Quorums(System):
    """Of three messages two are taken, and then one is left over: three choices."""

    senders: int = 3

    def build(self) -> None:
        server = self.spawn(Collector)
        self.spawn(Sender, self.senders, server=server)


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_known_numbers_of_traces(number: int) -> None:
    assert executions(Writers(number=number)) == 1
    assert executions(Contended(number=number)) == factorial(number)
    assert executions(ReadersAndWriter(readers=number)) == 2**number
    assert executions(Writers(number=number), "classical") == 1


def test_every_set_of_a_quorum_is_a_choice() -> None:
    assert [executions(Quorums(senders=senders)) for senders in (1, 2, 3, 4)] == [1, 1, 3, 6]
    assert executions(Quorums(senders=4), "classical") >= 6


def test_independent_steps_are_taken_in_one_order() -> None:
    result = check(Writers(number=20), property="assertions", por="dpor")
    assert (result.states, result.transitions, result.depth) == (21, 20, 20)
    assert result.search == "stateless"
    assert result.deadlocks == 1


@pytest.mark.parametrize("made", [Contended(), ReadersAndWriter(), Quorums(), Paxos(acceptors=2)], ids=repr)
def test_no_more_than_all_runs(made: System) -> None:
    every = check(made, property="assertions", stateless=True, **PLAIN)
    optimal = check(made, property="assertions", por="dpor", **PLAIN)
    classical = check(made, property="assertions", por="dpor", dpor_variant="classical", **PLAIN)
    assert optimal.states < every.states
    assert classical.states <= every.states
    assert optimal.reductions["por"]["executions"] <= classical.reductions["por"]["executions"] <= every.deadlocks


# --- models that careless versions get wrong ----------------------------------------------------------------------


class Twice(Process):
    server: Pid
    left: int = 2

    @step(when=lambda self: self.left > 0)
    def again(self) -> None:
        self.left -= 1
        self.send(self.server, Count(1))


class Adder(Process):
    total: int = 0

    @on(Count)
    def add(self, m: Count) -> None:
        self.total += m.n


class Resend(System):
    """Rule 1: on a set, the second message is lost if the first is still pending."""

    def build(self) -> None:
        self.spawn(Twice, server=self.spawn(Adder))

    @final
    def both_counted(self) -> bool:
        return self[Adder][0].total == 2


class Hasty(Process):
    """Takes one message in its first state, and no other one after that."""

    first: int = -1

    @on(Count, when=lambda self, m: self.first < 0)
    def take(self, m: Count) -> None:
        self.first = m.n


class OnlyTheFirst(System):
    """A run in which the other message comes too late has no step that shows the race."""

    def build(self) -> None:
        hasty = self.spawn(Hasty)
        self.spawn(Sender, server=hasty, n=1)
        self.spawn(Sender, server=hasty, n=2)

    @invariant
    def never_two(self) -> bool:
        return self[Hasty][0].first != 2


class Pair(Process):
    taken: int = 0

    @step(when=lambda self: self.taken == 0)
    def give_up(self) -> None:
        self.taken = -1

    @quorum(Count, size=2, when=lambda self: self.taken == 0)
    def both(self, ms: frozenset[Count]) -> None:
        self.taken = 2


class NoneAlone(System):
    """Neither message alone gives the process another choice; both do."""

    def build(self) -> None:
        server = self.spawn(Pair)
        self.spawn(Sender, 2, server=server)

    @invariant
    def never_both(self) -> bool:
        return self[Pair][0].taken != 2


class Told(Event):
    n: int


class Teller(Process):
    n: int = 0

    @start
    def tell(self) -> None:
        self.emit(Told(self.n))


class Listener(Monitor):
    last: int = 0

    @on(Told)
    def told(self, e: Told) -> None:
        assert e.n > self.last, "out of order"
        self.last = e.n


class Told12(System):
    """Rule 6: the tellers share nothing but the monitor, which wants the first to come first."""

    def build(self) -> None:
        self.spawn(Teller, n=1)
        self.spawn(Teller, n=2)
        self.watch(Listener)


class Fork(Process):
    way: str = ""

    @step(when=lambda self: not self.way)
    def quietly(self) -> None:
        self.way = "quiet"

    @step(when=lambda self: not self.way)
    def openly(self) -> None:
        self.way = "open"
        self.emit(Told(1))


class QuietAlternative(System):
    """The quiet step commutes with the teller's, and so seems to cover all runs in which the teller comes first. But it
    excludes the open step, which does not commute."""

    def build(self) -> None:
        self.spawn(Fork)
        self.spawn(Teller, n=2)
        self.watch(Listener)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("made", "broken"),
    [
        (Resend(), "deadlock"),
        (OnlyTheFirst(), "never_two"),
        (NoneAlone(), "never_both"),
        (Told12(), "assertions"),
        (QuietAlternative(), "assertions"),
    ],
    ids=repr,
)
def test_violations_that_are_easily_missed(made: System, broken: str, variant: Variant) -> None:
    result = check(made, por="dpor", dpor_variant=variant)
    assert result.reductions["por"]["ran"]
    assert (result.verdict, result.property) == ("violated", broken)
    assert result.trace is not None
    follow(result.trace)


# --- runs without end, and limits ---------------------------------------------------------------------------------


class Ping(Process):
    other: Pid
    first: bool = False
    turns: int = 0

    @start(when=lambda self: self.first)
    def serve(self) -> None:
        self.send(self.other, Go())

    @on(Go)
    def back(self, m: Go) -> None:
        self.turns = (self.turns + 1) % 3
        self.send(self.other, Go())


class Endless(System):
    def build(self) -> None:
        one, two = self.spawn(Ping, first=True), self.spawn(Ping)
        self.connect(one, other=two)
        self.connect(two, other=one)

    @invariant
    def never_three(self) -> bool:
        return all(ping.turns < 3 for ping in self[Ping])

    @invariant
    def never_two(self) -> bool:
        return all(ping.turns < 2 for ping in self[Ping])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_run_without_end_is_reported(variant: Variant) -> None:
    result = check(Endless(), property="never_three", por="dpor", dpor_variant=variant)
    assert (result.verdict, result.stopped_by) == ("incomplete", "cycle")
    text = " ".join(str(result).split())
    assert "a run comes back to a state it has been in: nothing was violated in" in text
    assert "use another --por, or cut runs with --max-depth" in text
    found = check(Endless(), property="never_two", por="dpor", dpor_variant=variant)
    assert (found.verdict, found.property) == ("violated", "never_two")


@pytest.mark.parametrize("variant", VARIANTS)
def test_runs_are_cut_at_a_depth(variant: Variant) -> None:
    result = check(Endless(), property="never_three", por="dpor", dpor_variant=variant, max_depth=50)
    assert (result.verdict, result.stopped_by, result.depth) == ("incomplete", "depth", 50)
    assert "longer runs were cut: nothing was violated" in str(result)
    assert check(Endless(), property="never_two", por="dpor", max_depth=3).verdict == "incomplete"
    assert check(Endless(), property="never_two", por="dpor", max_depth=4).verdict == "violated"
    enough = check(Contended(), por="dpor", max_depth=8)
    assert (enough.verdict, enough.stopped_by) == ("holds", None)


@corpus.each(corpus.few_states, 25)
def test_runs_cut_at_a_depth_break_only_what_can_be_broken(protocol: Protocol, dice: Random) -> None:
    found = corpus.explored(protocol)
    for variant in VARIANTS:
        options: dict[str, Any] = {"dpor_variant": variant, "max_depth": 6, "max_states": 5_000}
        result = check(corpus.built(protocol), por="dpor", **options)
        if result.verdict == "holds":
            assert not found.violations
            assert not found.failures
        if result.trace is not None:
            follow(result.trace)


def test_limits_and_progress() -> None:
    seen: list[int] = []
    result = check(Contended(number=9), por="dpor", max_states=200_000, progress=lambda at: seen.append(at.states))
    assert (result.verdict, result.stopped_by, result.states) == ("incomplete", "states", 200_000)
    assert check(Contended(number=12), por="dpor", timeout=0.3).stopped_by == "time"
    assert seen == sorted(seen)


# --- asking for it ------------------------------------------------------------------------------------------------


class Bounded(Contended):
    network = unordered(capacity=1)


class Lossy(Contended):
    network = unordered(losses="any")


class Lossy1(Contended):
    network = unordered(losses=1)


class Crashing(Contended):
    faults = crashes(1)


class Greedy(Process):
    got: int = 0

    @quorum(Count, enough=lambda self, ms: len(ms) >= 1, sets="maximal")
    def take(self, ms: frozenset[Count]) -> None:
        self.got += len(ms)


class Maximal(System):
    def build(self) -> None:
        self.spawn(Sender, 2, server=self.spawn(Greedy))


@pytest.mark.parametrize(
    ("made", "options", "why"),
    [
        (Bounded(), {}, "a full channel of a bounded network"),
        (Lossy(), {}, "messages can still be lost"),
        (Lossy1(), {}, "draw on a common budget"),
        (Crashing(), {}, "draw on a common budget"),
        (Maximal(), {}, "a maximal quorum may be disabled"),
        (Contended(), {"network_model": "rm"}, "with clean channels"),
    ],
    ids=["bounded", "lossy", "one loss", "crashes", "maximal", "rm"],
)
def test_where_it_is_left_out_the_plain_search_runs(made: System, options: dict[str, Any], why: str) -> None:
    result = check(made, por="dpor", **options)
    assert result.reductions["por"]["ran"] is False
    assert why in result.reductions["por"]["why"]
    assert (result.search, result.states) == ("bfs", check(made, **options).states)


def test_counterexamples_are_replayed_and_can_be_shortened() -> None:
    result = check(FaultyPaxos(), por="dpor")
    assert (result.verdict, result.property) == ("violated", "agreement")
    assert result.trace is not None
    assert not result.trace.shortest
    follow(result.trace)
    shortened = check(FaultyPaxos(), por="dpor", shorten=True)
    assert shortened.trace is not None
    assert len(shortened.trace) <= len(result.trace)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"por": "dpor", "search": "bfs"}, "search='bfs' with por='dpor'"),
        ({"por": "dpor", "store": "bitstate"}, "store='bitstate' with por='dpor'"),
        ({"por": "lpor", "max_depth": 5}, "max_depth=5 with por='lpor'"),
        ({"por": "dpor", "max_depth": 0}, "max_depth=0"),
        ({"por": "dpor", "dpor_variant": "optimum"}, "dpor_variant='optimum' is not a valid choice"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], message: str) -> None:
    with pytest.raises(QuorateError, match=message):
        check(Contended(), **options)


def test_on_the_command_line() -> None:
    run = CliRunner()
    done = run.invoke(app, ["check", "paxos", "-p", "acceptors=2", "--por", "dpor", "--json"])
    document = json.loads(done.stdout)
    assert (done.exit_code, document["verdict"], document["search"]) == (0, "holds", "stateless")
    assert document["reductions"]["por"]["executions"] > 1
    done = run.invoke(app, ["check", "ping-pong", "-p", "rally=9", "--por", "dpor", "--max-depth", "4"])
    assert done.exit_code == 3
    assert "longer runs were cut" in done.stdout
