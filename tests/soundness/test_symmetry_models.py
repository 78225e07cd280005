"""Models that look symmetric and are not, and models that are only once they are taken apart or declared so.

Each broken one has a bug that symmetry would hide if the family of processes were not left out, so that a check that is
missing gives a wrong answer and not just other figures.
"""

from __future__ import annotations

from typing import Any

import pytest

from orbits import orbits
from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    QuorateError,
    Scalar,
    System,
    check,
    crashes,
    fifo,
    final,
    invariant,
    on,
    start,
    step,
)
from quorate.model.define import define
from quorate.options import Options
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.om import OralMessages
from quorate.protocols.paxos import Paxos
from quorate.reduce.families import Symmetries
from quorate.search.plan import plan
from quorate.search.rebuild import ReplayError
from quorate.semantics.state import State, Step
from reference import explore
from test_against_reference import follow

PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off"}
EVERYTHING: list[dict[str, Any]] = [PLAIN, {}, {"por": "lpor"}, {"search": "dfs"}, {"threads": 2}]


def left_out(system: System | type[System], **options: Any) -> str:
    """Why nothing, or not everything, is interchangeable."""
    told = check(system, symmetry="auto", **options).reductions["symmetry"]
    return "; ".join(told.get("left_out", [])) or str(told["why"])


def violated_with_symmetry(system: System | type[System], name: str) -> None:
    for options in EVERYTHING:
        result = check(system, symmetry="auto", **options)
        assert (result.verdict, result.property) == ("violated", name), options
        assert result.trace is not None
        follow(result.trace)


class Vote(Message):
    pass


class Voter(Process):
    collector: Pid

    @start
    def vote(self) -> None:
        self.send(self.collector, Vote())


# --- what breaks it ------------------------------------------------------------------------------------------------


class Favourite(Process):
    """Counts the votes of the first of a set: the type allows it, and it tells the voters apart."""

    voters: Peers
    elected: bool = False

    @on(Vote, when=lambda self, m: m.sender == next(iter(self.voters)))
    def hear(self, m: Vote) -> None:
        self.elected = True


class FirstOfASet(System):
    def build(self) -> None:
        collector = self.spawn(Favourite, voters=Peers())
        self.connect(collector, voters=self.spawn(Voter, 3, collector=collector))

    @invariant
    def never(self) -> bool:
        return not any(each.elected for each in self[Favourite])


def test_the_first_of_a_set_is_somebody_in_particular() -> None:
    violated_with_symmetry(FirstOfASet, "never")
    why = left_out(FirstOfASet)
    assert "3 of Voter: Favourite.hear does something else when voter1 and voter2 are exchanged" in why
    assert f"{__file__}:" in why


class Named(Process):
    collector: Pid
    fired: bool = False

    @step(when=lambda self: not self.fired)
    def fire(self) -> None:
        self.fired = True


class OneInParticular(System):
    """The property is about the last process alone."""

    def build(self) -> None:
        first = self.spawn(Named, collector=None)
        others = self.spawn(Named, 2, collector=first)
        self.connect(first, collector=first)
        self.connect(others, collector=first)

    @invariant
    def last_is_quiet(self) -> bool:
        return not self[Named][2].fired


def test_a_property_about_one_process_breaks_its_family() -> None:
    violated_with_symmetry(OneInParticular, "last_is_quiet")
    why = left_out(OneInParticular)
    assert "2 of Named: the property `last_is_quiet`" in why
    assert f"{__file__}:" in why


class NamedLater(OneInParticular):
    """At first it reads one process only, and finds it quiet in all renamings that were judged."""

    @invariant
    def last_is_quiet(self) -> bool:
        return not (self[Named][2].fired and not self[Named][1].fired)


def test_a_property_is_judged_on_every_renaming_of_what_it_may_read() -> None:
    violated_with_symmetry(NamedLater, "last_is_quiet")


class Undecided(Process):
    choice: int = 0

    @step(when=lambda self: self.choice == 0)
    def decide(self) -> None:
        self.choice = self.choose((1, 2))


class EndsWell(System):
    def build(self) -> None:
        self.spawn(Undecided, 3)

    @final
    def all_but_the_first(self) -> bool:
        return self[Undecided][0].choice == 1


def test_the_final_predicate_counts_as_a_property() -> None:
    violated_with_symmetry(EndsWell, "deadlock")
    assert "the property `all_but_the_first`" in left_out(EndsWell)


class Token(Message):
    pass


class Link(Process):
    next: Pid
    has: bool = False

    @on(Token)
    def take(self, m: Token) -> None:
        self.has = True
        self.send(self.next, Token())


class Chain(System):
    """Three alike, but each is linked to another one: the links tell them apart."""

    def build(self) -> None:
        links = list(self.spawn(Link, 3, next=None))
        for one, two in zip(links, [*links[1:], links[-1]], strict=True):
            self.connect(one, next=two)

    @invariant
    def fine(self) -> bool:
        return True


def test_different_links_are_no_family() -> None:
    result = check(Chain, symmetry="auto")
    assert result.reductions["symmetry"]["ran"] is False
    assert "the same links" in result.reductions["symmetry"]["why"]


class Arrived(Event):
    pass


class Runner(Process):
    arrived: bool = False

    @step(when=lambda self: not self.arrived)
    def arrive(self) -> None:
        self.arrived = True
        self.emit(Arrived())


class Referee(Monitor):
    """Has a favourite of its own: the first it was told of when it was set up."""

    lane: Pid
    won: bool = False

    @on(Arrived, when=lambda self, e: e.source == self.lane)
    def cheer(self, e: Arrived) -> None:
        self.won = True


class Race(System):
    def build(self) -> None:
        runners = self.spawn(Runner, 3)
        self.watch(Referee, lane=list(runners)[1])

    @invariant
    def never(self) -> bool:
        return not self[Referee].won


def test_a_monitor_that_prefers_one_process() -> None:
    violated_with_symmetry(Race, "never")
    # Two of the three are alike to it, and stay interchangeable.
    assert check(Race, symmetry="auto", **PLAIN).reductions["symmetry"]["group"] == "2! Runner"


class Order(Monitor):
    """Depends on the order in which a set of identities is gone through."""

    last: Pid | None = None

    @on(Arrived)
    def note(self, e: Arrived) -> None:
        self.last = min((e.source, self.last or e.source), key=str)


class Photo(System):
    def build(self) -> None:
        self.spawn(Runner, 3)
        self.watch(Order)

    @invariant
    def not_the_second(self) -> bool:
        return str(self[Order].last) != "runner2"


def test_a_monitor_that_looks_at_the_letters_of_names() -> None:
    violated_with_symmetry(Photo, "not_the_second")
    assert "3 of Runner: " in left_out(Photo)


def test_without_a_closure_there_is_symmetry_too() -> None:
    class Counter(Process):
        peers: Peers = Peers()
        n: int = 0

        @on(Token)
        def count(self, m: Token) -> None:
            self.n += 1
            self.send(self.peers, Token())

        @start
        def begin(self) -> None:
            self.send(self.peers, Token())

    class Endless(System):
        def build(self) -> None:
            counters = self.spawn(Counter, 2)
            self.connect(counters, peers=counters)

    told = check(Endless, symmetry="auto", max_states=1000).reductions["symmetry"]
    assert (told["ran"], told["group"]) == (True, "2! Counter")


class Go(Message):
    pass


class Waiting(Voter):
    @on(Go)
    def go(self, m: Go) -> None:
        self.send(self.collector, Vote())

    vote = None  # type: ignore[assignment]


class Picky(Process):
    """Has one of them begin, and is content with one in particular."""

    voters: Peers
    place: int
    content: bool = False

    @start
    def begin(self) -> None:
        self.send(self.choose(self.voters), Go())

    @on(Vote)
    def hear(self, m: Vote) -> None:
        self.content = m.sender == list(self.voters)[self.place]


class OneBegins(System):
    place: int = 0

    def build(self) -> None:
        picky = self.spawn(Picky, voters=Peers(), place=self.place)
        self.connect(picky, voters=self.spawn(Waiting, 3, collector=picky))

    @invariant
    def never(self) -> bool:
        return not self[Picky][0].content


def test_without_the_check_a_violation_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = [OneBegins(place=place) for place in range(3)]
    assert {check(each, symmetry="auto").verdict for each in systems} == {"violated"}
    monkeypatch.setattr(Symmetries, "_check", _believe)
    # One of the three stands for all. Where it is the right one, the run that was found is none of the system's.
    assert sorted(map(believed, systems)) == ["does not replay", "holds", "holds"]


def believed(system: System) -> str:
    try:
        return check(system, symmetry="auto", **PLAIN).verdict
    except ReplayError:
        return "does not replay"


def _believe(self: Symmetries, family: Any, failures: list[int]) -> str:
    for one, two in zip(family.names, family.names[1:], strict=False):
        self._exchange(family, one, two)
    return ""


# --- scalarsets ----------------------------------------------------------------------------------------------------


class Value(Scalar):
    pass


class Say(Message):
    value: Value


class Speaker(Process):
    values: frozenset[Value]
    others: Peers = Peers()
    said: Value | None = None
    heard: frozenset[Value] = frozenset()

    @step(when=lambda self: self.said is None)
    def say(self) -> None:
        self.said = self.choose(self.values)
        self.send(self.others, Say(self.said))

    @on(Say)
    def hear(self, m: Say) -> None:
        self.heard |= {m.value}


class Speakers(System):
    values: int = 3
    speakers: int = 2

    def build(self) -> None:
        speakers = self.spawn(Speaker, self.speakers, values=self.scalars(Value, self.values))
        self.connect(speakers, others=speakers)

    @invariant
    def heard_what_was_said(self) -> bool:
        said = {each.said for each in self[Speaker]}
        return all(value in said for each in self[Speaker] for value in each.heard)


def test_declared_values_are_interchangeable() -> None:
    result = check(Speakers, symmetry="auto", **PLAIN)
    plain = check(Speakers, **PLAIN, symmetry="none")
    told = result.reductions["symmetry"]
    assert (result.verdict, told["group"], told["order"]) == ("holds", "2! Speaker x 3! Value", 12)
    assert told["stands_for"] == plain.states
    definition = define(Speakers())
    states: list[State] = []

    def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
        states.append(state)

    explore(definition, visit=visit)
    from test_symmetry import families_of

    assert result.states == len(orbits(definition, families_of(Speakers()), states))


def test_values_of_a_scalarset_have_no_order() -> None:
    class Sorter(Speaker):
        @step(when=lambda self: self.said is None)
        def say(self) -> None:
            self.said = min(self.values)  # type: ignore[type-var]

    class Sorters(System):
        def build(self) -> None:
            self.spawn(Sorter, values=self.scalars(Value, 2))

    with pytest.raises(QuorateError, match="cannot be ordered or used in arithmetic"):
        check(Sorters)


# --- taking apart --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "naive", "auto"),
    [
        (lambda: Paxos(colocated=True), None, "3! Acceptor"),
        (lambda: Paxos(colocated=True, any_order=True), "2! Server", "2! Proposer x 3! Acceptor"),
        (lambda: OralMessages(colocated=True), "2! Lieutenant", "3! Lieutenant"),
        (lambda: FaultyPaxos(colocated=True), None, "3! Acceptor"),
        (lambda: OralMessages(colocated=True, traitors=2), "2! Lieutenant", "3! Lieutenant"),
    ],
    ids=["paxos", "paxos in any order", "om", "faulty paxos", "om with two traitors"],
)
def test_processes_are_taken_apart_into_their_roles(make: Any, naive: str | None, auto: str) -> None:
    for options in (PLAIN, {}):
        whole = check(make(), symmetry="none", **options)
        kept = check(make(), symmetry="naive", **options)
        apart = check(make(), symmetry="auto", **options)
        assert whole.verdict == kept.verdict == apart.verdict
        assert kept.reductions["symmetry"].get("group") == naive
        assert apart.reductions["symmetry"]["group"] == auto
        assert apart.reductions["symmetry"]["decomposed"]
        assert "decomposed" not in kept.reductions["symmetry"]
        if whole.verdict == "holds":
            assert apart.reductions["symmetry"]["stands_for"] == whole.states
        else:
            assert apart.trace is not None
            assert whole.trace is not None
            assert len(apart.trace) == len(whole.trace)
        for trace in (kept.trace, apart.trace):
            if trace is not None:
                assert trace.definition.columns[0].cls is define(make()).columns[0].cls
                follow(trace)


class Ping(Message):
    pass


class Pong(Message):
    pass


class Pinger(Process):
    to: Peers
    pongs: int = 0

    @start
    def ping(self) -> None:
        self.send(self.to, Ping())

    @on(Pong, when=lambda self, m: self.pongs < 2)
    def count(self, m: Pong) -> None:
        self.pongs += 1


class Ponger(Process):
    pinged: bool = False

    @on(Ping)
    def pong(self, m: Ping) -> None:
        self.pinged = True
        self.reply(Pong())


class Both(Pinger, Ponger):
    pass


class Curious(Ponger):
    @on(Ping, when=lambda self, m: m.sender != self.pid)
    def pong(self, m: Ping) -> None:
        super().pong(m)


class BothCurious(Pinger, Curious):
    pass


class Peeping(Ponger):
    @on(Ping)
    def pong(self, m: Ping) -> None:
        if self.pongs == 0:  # type: ignore[attr-defined]
            super().pong(m)


class BothPeeping(Pinger, Peeping):
    pass


class Counting(Ponger):
    pongs: int = 0


class BothCounting(Pinger, Counting):
    pass


class Extended(Pinger, Ponger):
    more: int = 0


class Ring(System):
    """Everybody pings everybody, and nobody is pinged in the end if the property is right: it is not."""

    kind: str = "Both"
    servers: int = 2
    role: bool = True

    def build(self) -> None:
        servers = self.spawn(KINDS[self.kind], self.servers, to=Peers())
        self.connect(servers, to=servers.playing(ROLES[self.kind]) if self.role else servers)

    @invariant
    def few(self) -> bool:
        return sum(each.pongs for each in self[Pinger]) < 4


class FifoRing(Ring):
    network = fifo()


class CrashRing(Ring):
    faults = crashes(1)


class WholeRing(Ring):
    @invariant
    def few(self) -> bool:
        return sum(each.pongs for each in self[Both]) < 4


KINDS: dict[str, type[Process]] = {
    "Both": Both,
    "BothCurious": BothCurious,
    "BothPeeping": BothPeeping,
    "BothCounting": BothCounting,
    "Extended": Extended,
}
ROLES: dict[str, type[Process]] = {
    "Both": Ponger,
    "BothCurious": Curious,
    "BothPeeping": Peeping,
    "BothCounting": Counting,
    "Extended": Ponger,
}


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Ring(role=False), "Pinger.to does not say which role of a process it leads to"),
        (lambda: Ring(kind="BothCurious"), "Curious.pong does something else if BothCurious is not taken apart"),
        (lambda: Ring(kind="BothPeeping"), "Peeping.pong uses `pongs` of another role of BothPeeping"),
        (lambda: Ring(kind="BothCounting"), "share the field `pongs`"),
        (lambda: Ring(kind="Extended"), "Extended adds the field `more` to its roles"),
        (FifoRing, "one channel"),
        (CrashRing, "crash together"),
    ],
    ids=["whole identity", "compared", "other's field", "shared field", "extended", "fifo", "crashes"],
)
def test_processes_are_kept_whole_where_their_roles_have_more_in_common(make: Any, why: str) -> None:
    result = check(make(), symmetry="auto")
    assert why in result.reductions["symmetry"]["not_decomposed"]
    assert why in plan(make(), Options()).reductions["symmetry"]["not_decomposed"]
    assert result.verdict == check(make(), symmetry="none").verdict
    if result.trace is not None:
        follow(result.trace)


@pytest.mark.parametrize("ring", [Ring, WholeRing])
def test_what_can_be_taken_apart_is(ring: type[System]) -> None:
    """Also where a property looks at whole processes: it always does."""
    told = check(ring(), symmetry="auto").reductions["symmetry"]
    assert told["decomposed"] == ["Pinger", "Ponger"]
    assert told["group"] == "2! Pinger x 2! Ponger"


def test_the_place_is_where_the_difference_begins() -> None:
    """Later local states differ too, but what makes them differ is that messages are sent in a fixed order."""
    from quorate.protocols.paxos_counting import PaxosCounting

    assert "Proposer.prepare does something else" in left_out(PaxosCounting())
