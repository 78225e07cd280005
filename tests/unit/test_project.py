"""`quorate project`: what is refused by which condition, and what the command prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import jsonschema
import pytest
from typer.testing import CliRunner

from quorate import (
    Message,
    Peers,
    Process,
    System,
    can,
    crashes,
    ctl,
    fifo,
    invariant,
    majority,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.cli.main import app
from quorate.projection import conditions
from quorate.projection.conditions import RefusedError
from quorate.projection.project import project
from quorate.protocols.paxos import Paxos
from quorate.protocols.safe_storage import SafeStorage


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
    "counts": (variant(reader=Counts), conditions.QUORUMS, "one by one"),
    "enough": (variant(reader=Enough), conditions.QUORUMS, "fixed number"),
    "picky": (variant(reader=Picky), conditions.APART, "what they say"),
    "agreeing": (variant(reader=Agreeing), conditions.APART, "what they say"),
    "again": (variant(reader=Again), conditions.APART, "late answers"),
    "late": (SafeStorage(late=True), conditions.APART, "late answers to Store(time=1)"),
    "to one": (variant(writer=ToOne), conditions.BROADCASTS, "some servers"),
    "endless": (variant(writer=Endless), conditions.ROUNDS, "more than 12 rounds"),
    "posted": (Posted(), conditions.ENVIRONMENT, "at the beginning"),
    "half": (Half(), conditions.MEET, "none in common"),
    "large": (variant(reader=Large), conditions.UNIFORM, "servers=23"),
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
