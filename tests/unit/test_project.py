"""`quorate project`: what is refused by which condition, and what the command prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import jsonschema
import pytest
from typer.testing import CliRunner

from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Process,
    Rank,
    Shared,
    System,
    can,
    check,
    crashes,
    ctl,
    fifo,
    final,
    invariant,
    ltl,
    majority,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.base.errors import ModelError, ParameterError
from quorate.cli.main import app
from quorate.projection import conditions
from quorate.projection.conditions import RefusedError
from quorate.projection.project import _sparse, _told, project
from quorate.protocols.paxos import Paxos
from quorate.protocols.safe_storage import SafeStorage
from quorate.render.projection import report


class Store(Message):
    time: int


class Stored(Message): ...


class Query(Message): ...


class Answer(Message):
    time: int


class Server(Process):
    time: int = 0

    @on(Store)
    def store(self, m: Store) -> None:
        self.time = max(self.time, m.time)
        self.reply(Stored())

    @on(Query)
    def answer(self, _: Query) -> None:
        self.reply(Answer(self.time))


class Writer(Process):
    servers: Peers
    size: int
    time: int
    done: bool = False

    @start
    def write(self) -> None:
        self.send(self.servers, Store(self.time))

    @quorum(Stored, size="size")
    def written(self, _: frozenset[Stored]) -> None:
        self.done = True


class Reader(Process):
    servers: Peers
    size: int
    found: int | None = None

    @start
    def read(self) -> None:
        self.send(self.servers, Query())

    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = max(m.time for m in answers)


class Storage(System):
    servers: int = 3

    server: ClassVar[type[Server]] = Server
    writer: ClassVar[type[Writer]] = Writer
    reader: ClassVar[type[Reader]] = Reader

    def build(self) -> None:
        cls = type(self)
        servers = self.spawn(cls.server, self.servers)
        size = self.quorum(self.servers)
        self.spawn(cls.writer, servers=servers, size=size, time=1)
        self.spawn(cls.writer, servers=servers, size=size, time=2)
        self.spawn(cls.reader, servers=servers, size=size)

    def quorum(self, servers: int) -> int:
        return majority(servers)

    @invariant
    def nothing_else(self) -> bool:
        return all(reader.found in (None, 0, 1, 2) for reader in self[Reader])


# --- one change each, and the condition that notices ------------------------------------------------------------


class Tell(Message): ...


class Gossiping(Server):
    peers: Peers

    @on(Store)
    def store(self, m: Store) -> None:
        super().store(m)
        self.send(self.peers, Tell())

    @on(Tell)
    def told(self, m: Tell) -> None: ...


class Gossips(Storage):
    server = Gossiping

    def build(self) -> None:
        super().build()

    def spawn(self, process, count=None, /, **fields):  # type: ignore[no-untyped-def]
        made = super().spawn(process, *(() if count is None else (count,)), **fields)
        if process is Gossiping:
            self.connect(made, peers=made)
        return made


class Silent(Server):
    @on(Store, when=lambda self, m: m.time > self.time)
    def store(self, m: Store) -> None:
        super().store(m)


class Overwriting(Server):
    @on(Store)
    def store(self, m: Store) -> None:
        self.time = m.time
        self.reply(Stored())


class Swapping(Server):
    @on(Query)
    def answer(self, _: Query) -> None:
        self.reply(Answer(self.time))
        self.time = 0


class Unsure(Server):
    @on(Query)
    def answer(self, _: Query) -> None:
        self.reply(Answer(self.choose([self.time, 0])))


class CountsEqual(Reader):
    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        times = [m.time for m in answers]
        self.found = max((time for time in times if times.count(time) > 1), default=0)


class Lowest(Reader):
    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = min(m.time for m in answers)


class Counts(Reader):
    heard: int = 0
    collect = None  # type: ignore[assignment]

    @on(Answer)
    def one(self, m: Answer) -> None:
        self.heard += 1


class Enough(Reader):
    @quorum(Answer, enough=lambda self, answers: len(answers) >= self.size, when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        super().collect(answers)


class Picky(Reader):
    @quorum(Answer, size="size", when=lambda self: self.found is None, where=lambda self, m: m.time > 0)
    def collect(self, answers: frozenset[Answer]) -> None:
        super().collect(answers)


class Agreeing(Reader):
    @quorum(Answer, size="size", when=lambda self: self.found is None, same="time")
    def collect(self, answers: frozenset[Answer]) -> None:
        super().collect(answers)


class Again(Reader):
    """Reads twice, and nothing tells the answers apart."""

    reads: int = 0

    @quorum(Answer, size="size", when=lambda self: self.reads < 2)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.reads += 1
        self.found = max(m.time for m in answers)
        self.send(self.servers, Query())


class ToOne(Writer):
    @start
    def write(self) -> None:
        self.send(next(iter(self.servers)), Store(self.time))


class Endless(Writer):
    @step(when=lambda self: True)
    def write(self) -> None:
        self.send(self.servers, Store(self.time))


class Large(Reader):
    """Does something else with many answers."""

    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = 0 if len(answers) > 3 else max(m.time for m in answers)


class CountsOthers(Reader):
    """Gives way to four answers that are lower: a quorum of that many and one more needs eight servers."""

    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        best = max(m.time for m in answers)
        self.found = 7 if sum(m.time < best for m in answers) >= 4 else best


class JustFive(Reader):
    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = 7 if len(answers) == 5 else max(m.time for m in answers)


class Telegraphic(Server):
    """Says the value without its time stamp, and values come back: 1, 0, 1."""

    @on(Query)
    def answer(self, _: Query) -> None:
        self.reply(Answer((self.time + 1) % 2))


class ReadsOne(System):
    """Written to all servers and read from one, so a read returns one answer, whatever the others would say."""

    servers: int = 3

    def build(self) -> None:
        servers = self.spawn(Telegraphic, self.servers)
        self.spawn(Writer, servers=servers, size=self.servers, time=1)
        self.spawn(Writer, servers=servers, size=self.servers, time=2)
        self.spawn(Reader, servers=servers, size=1)

    @invariant
    def never_read(self) -> bool:
        return not any(self[Writer][0].done and not self[Writer][1].done and each.found == 0 for each in self[Reader])


class FarOne(Server):
    """The sixth server forgets."""

    @on(Query)
    def answer(self, _: Query) -> None:
        self.reply(Answer(0 if str(self.pid).endswith("6") else self.time))


class Posted(Storage):
    def spawn(self, process, count=None, /, **fields):  # type: ignore[no-untyped-def]
        made = super().spawn(process, *(() if count is None else (count,)), **fields)
        if process is Writer:
            self.send(fields["servers"], Store(1), sender=made)
        return made


class Half(Storage):
    def quorum(self, servers: int) -> int:
        return max(1, servers // 2)


class Peeks(Storage):
    @invariant
    def first_server_knows(self) -> bool:
        return any(reader.found for reader in self[Reader]) <= (self[Server][0].time in range(3))


class Meddles(Storage):
    @invariant
    def servers_know(self) -> bool:
        return all(server.time in range(3) for server in self[Server])


class CountingStores(Server):
    """Keeps the highest, and counts what it was given."""

    stores: int = 0

    @on(Store)
    def store(self, m: Store) -> None:
        self.stores = min(2, self.stores + 1)
        super().store(m)


class ReadsBack(Writer):
    """Asks once it has stored, so that what was stored before it is known."""

    found: int | None = None

    @quorum(Stored, size="size", when=lambda self: not self.done)
    def written(self, _: frozenset[Stored]) -> None:
        self.done = True
        self.send(self.servers, Query())

    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = max(m.time for m in answers)


class LateStored(Writer):
    """Stores with one server and asks all of them: `written` may happen again while it waits for them."""

    times: int = 0
    seen: int | None = None

    @quorum(Stored, size=1, when=lambda self: self.seen is None)
    def written(self, _: frozenset[Stored]) -> None:
        self.times += self.times < 2
        if self.times == 1:
            self.send(self.servers, Query())

    @quorum(Answer, size=lambda self: len(self.servers), when=lambda self: self.seen is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.seen = max(m.time for m in answers)


class LateStorage(System):
    servers: int = 3

    def build(self) -> None:
        self.spawn(LateStored, servers=self.spawn(Server, self.servers), size=1, time=1)

    @invariant
    def once(self) -> bool:
        return all(writer.times < 2 for writer in self[LateStored])


class TwoOpen(Writer):
    """Asks before its store has ended, and takes the answers to the store while it waits for the others."""

    begun: bool = False
    asking: bool = False
    seen: int | None = None

    @start
    def write(self) -> None:
        self.begun = True
        super().write()

    @step(when=lambda self: self.begun and not self.asking)
    def ask(self) -> None:
        self.asking = True
        self.send(self.servers, Query())

    @quorum(Answer, size="size", when=lambda self: self.seen is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.seen = max(m.time for m in answers)


class WithFour(Reader):
    """Does something else with four servers, in a graph of the same size."""

    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = max(m.time for m in answers) + 7 * (len(self.servers) == 4)


class Growing(Reader):
    """A field that tells the number of servers, and changes."""

    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = max(m.time for m in answers)
        self.size = 0


class Small(Storage):
    """Quorums stop growing: they meet with 3, 4 and 5 servers, not with 6."""

    def quorum(self, servers: int) -> int:
        return min(3, majority(servers))


class Bounded(Storage):
    """Quorums stop growing where nobody looks at each number: they meet up to 27."""

    def quorum(self, servers: int) -> int:
        return min(servers, 14)


class ReadsNumber(Storage):
    @invariant
    def not_with_four(self) -> bool:
        return self.servers != 4 or all(reader.found != 2 for reader in self[Reader])


class ReadsParameters(Storage):
    @invariant
    def not_with_four(self) -> bool:
        return self.parameters["servers"] != 4 or all(reader.found != 2 for reader in self[Reader])


class ReadsValues(Storage):
    @invariant
    def not_with_four(self) -> bool:
        return self.__dict__["_values"]["servers"] != 4 or all(reader.found != 2 for reader in self[Reader])


class ReadsPeers(Storage):
    @invariant
    def not_with_four(self) -> bool:
        return all(len(reader.servers) != 4 or reader.found != 2 for reader in self[Reader])


class Wrote(Event): ...


class Telling(Writer):
    @quorum(Stored, size="size")
    def written(self, _: frozenset[Stored]) -> None:
        self.done = True
        self.emit(Wrote())


class Counted(Monitor):
    number: int
    wrong: bool = False

    @on(Wrote)
    def wrote(self, _: Wrote) -> None:
        self.wrong = self.number == 4


class ToldNumber(Storage):
    writer = Telling

    def build(self) -> None:
        super().build()
        self.watch(Counted, number=self.servers)

    @invariant
    def right(self) -> bool:
        return not self[Counted].wrong


class Waits(Storage):
    """With two of three servers down, nobody is done: a deadlock that no subsystem has."""

    faults = crashes(2, of=Server)

    @final
    def all_done(self) -> bool:
        return all(writer.done for writer in self[Writer]) and all(each.found is not None for each in self[Reader])


class NeverComes(Storage):
    """Waits for one more server than there are; in the subsystem, only for those of its pairs."""

    def quorum(self, servers: int) -> int:
        return servers + 1

    @final
    def all_done(self) -> bool:
        return all(writer.done for writer in self[Writer])


class Fails(Reader):
    """With four servers there is a step that fails, which leads nowhere."""

    @step(when=lambda self: len(self.servers) == 4)
    def four(self) -> None:
        raise AssertionError


class CountsMessages(Storage):
    @invariant
    def few(self) -> bool:
        return len(self.pending(Stored)) <= 3


class AwaitsMessages(Storage):
    few = ltl("G !many")

    def many(self) -> bool:
        return len(self.pending(Stored)) > 3


class EndsEmpty(Storage):
    @final
    def nothing_in_flight(self) -> bool:
        return not self.pending(Stored)


class NamesSenders(Storage):
    """One formula for each server, since these send the messages."""

    never_the_third = ltl("G other", each=Stored)

    def other(self, server: Server) -> bool:
        return str(server.pid) != "server3"


class BoundedByMessages(Storage):
    def within(self) -> bool:
        return len(self.pending(Stored)) <= 1


class BoundedByClients(Storage):
    """What is wrong lies outside of the bound."""

    def within(self) -> bool:
        return not any(writer.done for writer in self[Writer])

    @invariant
    def never_done(self) -> bool:
        return not any(writer.done for writer in self[Writer])


class ReadsFaults(Storage):
    def build(self) -> None:
        super().build()
        self.faults = crashes((self.servers - 1) // 2, of=Server)

    @invariant
    def few(self) -> bool:
        return self.faults.left < 2


class Sharing(Writer):
    cell: Shared[int]

    @quorum(Stored, size="size")
    def written(self, _: frozenset[Stored]) -> None:
        self.cell.value = 1


class Shares(Storage):
    def build(self) -> None:
        super().build()
        self.spawn(Sharing, servers=Peers(), size=1, time=3, cell=self.share("cell", 0))


class AtMostSeven(Storage):
    def build(self) -> None:
        self.require(self.servers <= 7, "at most seven")
        super().build()


class NoAnswers(Storage):
    def quorum(self, servers: int) -> int:
        return 0


def variant(**changed: object) -> System:
    made: System = type("Variant", (Storage,), changed)()
    return made


REFUSED = {
    "gossip": (Gossips(), conditions.ANSWERS, "who has not asked"),
    "silent": (variant(server=Silent), conditions.ANSWERS, "nobody gets an answer"),
    "unsure": (variant(server=Unsure), conditions.ANSWERS, "several ways"),
    "overwriting": (variant(server=Overwriting), conditions.STAMPS, "highest value"),
    "swapping": (variant(server=Swapping), conditions.KINDS, "depends on that state"),
    "counts equal": (variant(reader=CountsEqual), conditions.HIGHEST, "CountsEqual.collect"),
    "lowest": (variant(reader=Lowest), conditions.HIGHEST, "Lowest.collect"),
    "telegraphic": (ReadsOne(), conditions.HIGHEST, "reader1.1 does not tell how high"),
    "counts": (variant(reader=Counts), conditions.QUORUMS, "one by one"),
    "enough": (variant(reader=Enough), conditions.QUORUMS, "fixed number"),
    "picky": (variant(reader=Picky), conditions.APART, "what they say"),
    "agreeing": (variant(reader=Agreeing), conditions.APART, "what they say"),
    "again": (variant(reader=Again), conditions.APART, "late answers"),
    "late": (SafeStorage(late=True), conditions.APART, "late answers to Store(time=1)"),
    "to one": (variant(writer=ToOne), conditions.BROADCASTS, "some servers"),
    "endless": (variant(writer=Endless), conditions.ROUNDS, "more than 12 rounds"),
    "posted": (Posted(), conditions.ENVIRONMENT, "at the beginning"),
    "counting stores": (
        variant(server=CountingStores, writer=ReadsBack),
        conditions.STAMPS,
        "so servers do not keep the highest",
    ),
    "late stored": (LateStorage(), conditions.APART, "in another round, with late answers to Store(time=1)"),
    "two open": (variant(writer=TwoOpen), conditions.APART, "in another round"),
    "with four": (variant(reader=WithFour), conditions.UNIFORM, "servers=4: WithFour.collect is where they part"),
    "growing": (variant(reader=Growing), conditions.UNIFORM, "growing1.size depends on the number of servers"),
    "small": (Small(), conditions.MEET, "with 6 servers, 3 that answer"),
    "reads number": (ReadsNumber(), conditions.PROPERTIES, "a property reads servers,"),
    "reads parameters": (ReadsParameters(), conditions.PROPERTIES, "a property reads servers,"),
    "reads values": (ReadsValues(), conditions.PROPERTIES, "a property reads servers,"),
    "reads peers": (ReadsPeers(), conditions.PROPERTIES, "a property reads Reader.servers,"),
    "told number": (ToldNumber(), conditions.UNIFORM, "Counted.number of a monitor"),
    "waits": (Waits(), conditions.ENVIRONMENT, "a quorum that stays up"),
    "half": (Half(), conditions.MEET, "none in common"),
    "never comes": (NeverComes(), conditions.QUORUMS, "waits for 4 answers, and there are 3 servers"),
    "fails": (variant(reader=Fails), conditions.UNIFORM, "than with servers=4"),
    "counts messages": (CountsMessages(), conditions.PROPERTIES, "reads messages in flight"),
    "awaits messages": (AwaitsMessages(), conditions.PROPERTIES, "reads messages in flight"),
    "names senders": (NamesSenders(), conditions.PROPERTIES, "a property reads Server"),
    "ends empty": (EndsEmpty(), conditions.PROPERTIES, "reads messages in flight"),
    "bounded by messages": (BoundedByMessages(), conditions.PROPERTIES, "reads messages in flight"),
    "bounded by clients": (BoundedByClients(), conditions.ENVIRONMENT, "BoundedByClients.within cuts runs off"),
    "reads faults": (ReadsFaults(), conditions.PROPERTIES, "a property reads faults,"),
    "shared cells": (Shares(), conditions.ENVIRONMENT, "shared cells"),
    "at most seven": (AtMostSeven(), conditions.SERVERS, "servers=8 is none of the numbers"),
    "large": (variant(reader=Large), conditions.UNIFORM, "servers=6: Large.collect is where they part"),
    "counts others": (
        variant(reader=CountsOthers),
        conditions.HIGHEST,
        "4 times Answer(time=0), 1 times Answer(time=1)",
    ),
    "just five": (variant(reader=JustFive), conditions.UNIFORM, "servers=8: JustFive.collect is where they part"),
    "bounded": (Bounded(), conditions.MEET, "with 43 servers, 14 that answer"),
    "odd one": (
        variant(quorum=lambda self, servers: 3 if servers == 7 else majority(servers)),
        conditions.MEET,
        "with 7",
    ),
    "far one": (variant(server=FarOne), conditions.SERVERS, "do different things with Query()"),
    "reads a server": (Peeks(), conditions.PROPERTIES, "Server"),
    "reads servers": (Meddles(), conditions.PROPERTIES, "Server"),
    "losses": (variant(network=unordered(losses=1)), conditions.ENVIRONMENT, "reliable"),
    "fifo": (variant(network=fifo()), conditions.ENVIRONMENT, "without order"),
    "clients crash": (variant(faults=crashes(1)), conditions.ENVIRONMENT, "may crash"),
    "recovery": (variant(faults=crashes(1, of=Server, recover=True)), conditions.ENVIRONMENT, "forgotten"),
    "goal": (variant(found=can(lambda self: True)), conditions.PROPERTIES, "can happen"),
    "branching": (variant(back=ctl("AG EF nothing_else")), conditions.PROPERTIES, "can happen"),
    "paxos": (Paxos(), conditions.ANSWERS, "Prepare(ballot=1)"),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_outside_of_the_class_is_refused_by_name(name: str) -> None:
    system, condition, text = REFUSED[name]
    named = "found" if name == "goal" else None
    with pytest.raises(RefusedError) as refused:
        project(system, property=named)
    assert refused.value.condition == condition
    assert refused.value.code == "Q603"
    assert text in refused.value.message


@pytest.mark.parametrize(
    "system",
    [
        LateStorage(),
        ReadsOne(),
        type(variant(reader=WithFour))(servers=4),
        ReadsNumber(servers=4),
        ReadsPeers(servers=4),
        NeverComes(),
        type(variant(reader=Fails))(servers=4),
        type(variant(reader=JustFive))(servers=8),
        CountsMessages(),
        AwaitsMessages(),
        EndsEmpty(),
        ReadsFaults(servers=5),
    ],
    ids=lambda system: repr(system),
)
def test_what_looks_as_if_it_were_in_the_class_is_wrong_with_real_servers(system: System) -> None:
    assert check(system).verdict == "violated"


class AllButTwo(Storage):
    """Quorums meet from five servers on."""

    servers: int = 5

    def quorum(self, servers: int) -> int:
        return max(1, servers - 2)


class AtLeastThree(Storage):
    def build(self) -> None:
        self.require(self.servers >= 3, "three or more")
        super().build()


def test_the_verdict_says_from_which_number_of_servers_on() -> None:
    found = project(AllButTwo())
    assert (found.verdict, found.least) == ("holds", 5)
    assert found.below is not None
    assert found.below.startswith("quorums meet: with 4 servers, 2 that answer")
    assert "holds for 5 servers or more" in str(report(found))
    found = project(variant(faults=crashes(1, of=Server), all_done=NeverComes.all_done))
    assert (found.verdict, found.least) == ("holds", 3)
    assert "stays up" in str(found.below)


@pytest.mark.parametrize(("system", "least"), [(Storage(), 1), (Storage(servers=2), 1), (AtLeastThree(), 3)])
def test_every_smaller_number_of_which_there_is_a_system_is_covered(system: System, least: int) -> None:
    found = project(system)
    assert (found.verdict, found.least, found.below) == ("holds", least, None)
    assert found.numbers[-1] == 5
    assert found.sampled == (*range(6, system.parameters["servers"] + 21), *found.sampled[-2:])
    assert "holds for any number of servers" in str(report(found))


def test_of_far_numbers_some_are_left_out_where_there_is_much_to_explore() -> None:
    far = [*range(6, 24), 43, 83]
    assert _sparse(far, 40) == far
    assert _sparse(far, 1_000) == [6, 7, 8, 9, 10, 23, 43, 83]
    assert _sparse(far, 200_000) == [6, 23, 43, 83]
    assert _told([1, 2, 3, 5, 6, 9]) == "1 to 3, 5 to 6 and 9"
    assert _told([4]) == "4"


class Calling(Reader):
    """One transition calls another."""

    @start
    def read(self) -> None:
        self.ask()

    @step(when=lambda self: False)
    def ask(self) -> None:
        self.send(self.servers, Query())


def test_a_transition_that_calls_another_one_takes_one_step() -> None:
    assert project(variant(reader=Calling)).verdict == "holds"


class Raises(Reader):
    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = [0, 1][max(m.time for m in answers)]


def test_a_handler_that_raises_is_shown_with_real_servers() -> None:
    found = project(variant(reader=Raises))
    assert (found.verdict, found.shown is not None and found.shown.property) == ("violated", "exceptions")


def test_a_mistake_in_the_model_is_an_error_as_in_a_check() -> None:
    for decide in (check, project):
        with pytest.raises(ModelError, match="Writer.written: size is 0") as wrong:
            decide(NoAnswers())
        assert wrong.value.code == "Q107"


def test_properties_are_evaluated_where_it_is_noted_what_they_read() -> None:
    for options in ({"workers": 2}, {"checkpoint": "folder"}):
        with pytest.raises(ParameterError, match="takes no option"):
            project(Storage(), **options)


def test_faults_belong_to_the_system() -> None:
    with pytest.raises(ParameterError, match="takes no option `crashes`"):
        project(Storage(), crashes=2, ltl="F nothing_else")


def test_ranks_are_refused() -> None:
    with pytest.raises(ParameterError, match="Rank"):
        project(variant(writer=type("Ranked", (Writer,), {"__annotations__": {"rank": Rank}, "rank": Rank()})))


def test_the_storage_itself_is_in_the_class() -> None:
    found = project(Storage())
    assert found.verdict == "holds"
    assert (found.parameter, found.server, found.numbers, found.quorums) == ("servers", "Server", (3, 4, 5), (2, 3, 3))
    assert [(pair.store, pair.query) for pair in found.pairs] == [
        ("writer1.1", "reader1.1"),
        ("writer2.1", "reader1.1"),
    ]
    assert len(found.conditions) == 13
    assert project(variant(faults=crashes(1, of=Server))).verdict == "holds"


def test_a_goal_is_left_out_unless_it_is_named() -> None:
    found = project(variant(found=can(lambda self: True)))
    assert [each.name for each in found.result.properties if each.name == "found"] == []


def test_more_crashes_than_a_quorum_bears_are_refused_for_temporal_properties() -> None:
    system = variant(faults=crashes(2, of=Server))
    assert project(system).verdict == "holds"
    with pytest.raises(RefusedError, match="a quorum that stays up"):
        project(system, ltl="F nothing_else")
    with pytest.raises(RefusedError, match="fairness `message` alone"):
        project(system, ltl="F nothing_else", fairness="strong")


def test_time_that_is_up_decides_nothing() -> None:
    found = project(Storage(), timeout=0.0)
    assert (found.verdict, found.conditions, found.result.stopped_by) == ("incomplete", (), "time")


# --- the command --------------------------------------------------------------------------------------------------


def test_the_command_tells_verdict_numbers_conditions_and_pairs() -> None:
    found = CliRunner().invoke(app, ["project", "regular-storage", "--needed"])
    assert found.exit_code == 0
    assert found.output.startswith("✓ RegularStorage(readers=1, writes=1) holds for any number of bases")
    for condition in (
        "✓ quorums meet",
        "2 of 3; 3 of 4; 3 of 5",
        "writer1.1 stores, reader1.1 asks",
        "needed for regularity",
    ):
        assert condition in found.output


def test_the_command_shows_a_real_run() -> None:
    found = CliRunner().invoke(app, ["project", "atomic-storage", "-p", "write_back=false"])
    assert found.exit_code == 1
    assert "violates atomicity with\n  bases=3" in found.output
    assert "The shortest run that breaks atomicity: 10 steps" in found.output


def test_the_command_refuses_and_stops() -> None:
    refused = CliRunner().invoke(app, ["project", "paxos"])
    assert refused.exit_code == 2
    assert CliRunner().invoke(app, ["project", "regular-storage", "--timeout", "0.000001"]).exit_code == 3


def test_the_command_prints_json() -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/project.schema.json").read_text(encoding="utf-8"))
    for arguments in (["regular-storage", "--needed"], ["atomic-storage", "-p", "write_back=false"]):
        told = json.loads(CliRunner().invoke(app, ["project", *arguments, "--json"]).output)
        jsonschema.validate(told, schema)
        assert told["quorums"] == [2, 3, 3]
