"""Registers in two forms: monitors, and formulas over operations. They agree on every history and on every register."""

import random
from typing import Any

import pytest

from quorate import (
    Constant,
    Message,
    ModelError,
    Peers,
    Pid,
    Process,
    QuorateError,
    System,
    check,
    crashes,
    ltl,
    majority,
    on,
    quorum,
    start,
    step,
)
from quorate.histories import (
    Read,
    Write,
    atomic_formula,
    atomic_register,
    operation,
    operations,
    operations_end,
    reads_last,
    reads_meanwhile,
    regular_formula,
    regular_register,
    safe_formula,
    safe_register,
)
from quorate.language.declared import PROPERTY_MARK
from quorate.language.temporal import Stated
from quorate.protocols import multi_writer_storage, regular_storage
from quorate.protocols.atomic_storage import AtomicStorage
from quorate.protocols.multi_writer_storage import MultiWriterStorage
from quorate.protocols.regular_storage import RegularStorage
from quorate.protocols.safe_storage import SafeStorage
from quorate.protocols.wrong_regular_storage import WrongRegularStorage

# --- histories: one run each -----------------------------------------------------------------------------------


class Turn(Message):
    time: int


class Client(Process):
    """Does what its script says, in its turn."""

    script: Constant[tuple[tuple[int, str, int], ...]]
    turns: Constant[tuple[Pid, ...]] = ()

    @start(when=lambda self: self.turns[0] == self.pid)
    def first(self) -> None:
        self.do(0)

    @on(Turn)
    def turn(self, m: Turn) -> None:
        self.do(m.time)

    def do(self, time: int) -> None:
        what, value = next((what, value) for at, what, value in self.script if at == time)
        if what == "write":
            self.invoke(Write(value))
        elif what == "read":
            self.invoke(Read())
        else:
            self.returns(value if what == "returns" else None)
        if time + 1 < len(self.turns):
            self.send(self.turns[time + 1], Turn(time + 1))


class Writer(Client): ...


class Reader(Client): ...


class History(System):
    events: str  # w1 begins, W ends; r begins, R2 ends; each with the client's letter: "a:w1 b:r a:W b:R0"
    writes: int = 2

    wrote = operations(Write, by=Writer, count="writes")
    read = operations(Read, by=Reader, count=2)
    safe, regular = safe_register(0), regular_register(0)
    safe_ltl, regular_ltl = safe_formula(wrote, read, 0), regular_formula(wrote, read, 0)

    def build(self) -> None:
        scripts: dict[str, list[tuple[int, str, int]]] = {}
        order = []
        for time, event in enumerate(self.events.split()):
            client, _, what = event.partition(":")
            order.append(client)
            words = {"w": "write", "r": "read", "W": "wrote", "R": "returns"}
            scripts.setdefault(client, []).append((time, words[what[0]], int(what[1:] or 0)))
        pids = {
            client: self.spawn(Writer if client in "abc" else Reader, script=tuple(script))
            for client, script in sorted(scripts.items())
        }
        for pid in pids.values():
            self.connect(pid, turns=tuple(pids[client] for client in order))


class OneWriter(History):
    atomic = atomic_register(0)
    atomic_ltl = atomic_formula(History.wrote, History.read, 0)


def drawn(seed: int, writers: str) -> str:
    """A history of writes of different values, and of reads that return anything."""
    chance = random.Random(seed)
    left = {client: 2 if client in "xy" else 2 // len(writers) for client in [*writers, "x", "y"]}
    under_way: dict[str, bool] = {}
    events, value = [], 0
    while any(left.values()) or under_way:
        client = chance.choice([client for client in left if left[client] or client in under_way])
        if client in under_way:
            del under_way[client]
            events.append(f"{client}:W" if client in writers else f"{client}:R{chance.randint(0, max(1, value))}")
        else:
            left[client] -= 1
            under_way[client] = True
            value += client in writers
            events.append(f"{client}:w{value}" if client in writers else f"{client}:r")
    return " ".join(events)


PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
"""There is one run, and no need to know what else the monitors could see."""


def verdicts(system: System, **options: Any) -> dict[str, str]:
    """Of each property by itself; of one that is a formula for each operation, of all of them."""
    found: dict[str, str] = {}
    names = dict.fromkeys(
        name for base in type(system).__mro__ for name, value in vars(base).items()
        if isinstance(value, Stated) or hasattr(value, PROPERTY_MARK)
    )  # fmt: skip
    for name in names:
        found[name] = check(system, property=name, trace=False, **options).verdict
    return found


def agree(found: dict[str, str], *names: str) -> None:
    assert {name: found[name] for name in names} == {name: found[f"{name}_ltl"] for name in names}
    assert set(found.values()) <= {"holds", "violated"}


@pytest.mark.parametrize("seed", range(10))
def test_both_forms_agree_on_histories_of_one_writer(seed: int) -> None:
    events = drawn(seed, "a")
    agree(verdicts(OneWriter(events=events), **PLAIN), "safe", "regular", "atomic")


@pytest.mark.parametrize("seed", range(5))
def test_both_forms_agree_on_histories_of_two_writers(seed: int) -> None:
    agree(verdicts(History(events=drawn(seed, "ab"), writes=1), **PLAIN), "safe", "regular")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("a:w1 a:W x:r x:R1", "+++"),
        ("a:w1 x:r x:R0 a:W", "+++"),  # violates the formulas as they are printed, once all have ended
        ("a:w1 a:W x:r x:R0", "---"),
        ("a:w1 x:r x:R7 a:W", "+--"),
        ("a:w1 x:r x:R1 y:r y:R0 a:W", "++-"),  # new-old inversion, to the initial value
        ("a:w1 x:r x:R0 y:r y:R1 a:W", "+++"),
        ("a:w1 a:W x:r a:w2 a:W x:R1", "+++"),
        ("x:r x:R1 a:w1 a:W", "---"),  # from the future
    ],
)
def test_what_each_register_allows(events: str, expected: str) -> None:
    found = verdicts(OneWriter(events=events, writes=max(1, events.count("w"))), **PLAIN)
    told = ["violated" if sign == "-" else "holds" for sign in expected]
    assert [found["safe"], found["regular"], found["atomic"]] == told
    agree(found, "safe", "regular", "atomic")


def test_two_writes_at_once_before_a_read() -> None:
    """Either is the last one; asking for each of them, as for one writer, would refuse both."""
    for value, verdict in ((1, "holds"), (2, "holds"), (0, "violated")):
        found = verdicts(History(events=f"a:w1 b:w2 a:W b:W x:r x:R{value}", writes=1), **PLAIN)
        assert found["regular"] == verdict
        agree(found, "safe", "regular")


def test_the_formula_of_order_is_for_one_writer() -> None:
    class Two(History):
        atomic_ltl = atomic_formula(History.wrote, History.read, 0)

    with pytest.raises(ModelError, match="atomic_formula is for one writer"):
        check(Two(events="a:w1 b:w2 a:W b:W x:r x:R1", writes=1))


# --- the register of Attiya, Bar-Noy and Dolev, and ways to get it wrong ------------------------------------------


class Store(Message):
    time: int


class Stored(Message): ...


class Ask(Message): ...


class Answer(Message):
    time: int


class Server(Process):
    time: int = 0

    @on(Store)
    def store(self, m: Store) -> None:
        self.time = max(self.time, m.time)
        self.reply(Stored())

    @on(Ask)
    def answer(self, m: Ask) -> None:
        self.reply(Answer(self.time))


class StoreWriter(Process):
    servers: Peers
    size: int
    early: bool
    over: bool = False

    @start
    def write(self) -> None:
        self.invoke(Write(1))
        self.send(self.servers, Store(1))
        if self.early:
            self.returns()

    @quorum(Stored, size="size", when=lambda self: not self.early and not self.over)
    def written(self, stored: frozenset[Stored]) -> None:
        self.over = True
        self.returns()


class StoreReader(Process):
    servers: Peers
    size: int
    rounds: int
    lowest: bool
    found: int | None = None
    over: bool = False

    @start
    def read(self) -> None:
        self.invoke(Read())
        self.send(self.servers, Ask())

    @quorum(Answer, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = (min if self.lowest else max)(m.time for m in answers)
        if self.rounds == 2:
            self.send(self.servers, Store(self.found))
        else:
            self.returns(self.found)

    @quorum(Stored, size="size", when=lambda self: self.found is not None and not self.over)
    def stored(self, stored: frozenset[Stored]) -> None:
        self.over = True
        self.returns(self.found)


class Storage(System):
    servers: int = 3
    readers: int = 2
    size: int | None = None
    rounds: int = 2
    early: bool = False  # a write returns at once
    lowest: bool = False  # a read returns the lowest stamp it finds

    wrote = operations(Write, by=StoreWriter)
    read = operations(Read, by=StoreReader)
    safe, regular, atomic = safe_register(0), regular_register(0), atomic_register(0)
    safe_ltl, regular_ltl = safe_formula(wrote, read, 0), regular_formula(wrote, read, 0)
    atomic_ltl = atomic_formula(wrote, read, 0)
    all_end = operations_end(wrote, read)

    def build(self) -> None:
        servers = self.spawn(Server, self.servers)
        size = self.size or majority(self.servers)
        self.spawn(StoreWriter, servers=servers, size=size, early=self.early)
        self.spawn(StoreReader, self.readers, servers=servers, size=size, rounds=self.rounds, lowest=self.lowest)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"readers": 2}, "++++"),
        ({"rounds": 1}, "++-+"),
        ({"servers": 2, "size": 1}, "---+"),
        ({"servers": 2, "early": True}, "---+"),
        ({"servers": 2, "readers": 1, "lowest": True}, "++++"),  # both servers are asked
        ({"servers": 3, "readers": 1, "rounds": 1, "lowest": True}, "---+"),
    ],
)
def test_both_forms_agree_on_registers(parameters: dict[str, Any], expected: str) -> None:
    found = verdicts(Storage(**parameters))
    told = ["violated" if sign == "-" else "holds" for sign in expected]
    assert [found["safe"], found["regular"], found["atomic"], found["all_end"]] == told
    agree(found, "safe", "regular", "atomic")


# --- registers that were drawn, most of them wrong -----------------------------------------------------------------


class Put(Message):
    time: int


class Done(Message): ...


class Get(Message): ...


class Got(Message):
    time: int


class DrawnServer(Process):
    keeps: Constant[str]
    time: int = 0

    @on(Put)
    def put(self, m: Put) -> None:
        kept = {"higher": max(self.time, m.time), "last": m.time, "first": self.time or m.time}
        self.time = kept[self.keeps]
        self.reply(Done())

    @on(Get)
    def get(self, m: Get) -> None:
        self.reply(Got(self.time))


class DrawnWriter(Process):
    servers: Peers
    size: int
    values: Constant[tuple[int, ...]]
    at: int = 0
    busy: bool = False

    @step(when=lambda self: not self.busy and self.at < len(self.values))
    def begin(self) -> None:
        self.busy = True
        self.invoke(Write(self.values[self.at]))
        self.send(self.servers, Put(self.values[self.at]))

    @quorum(Done, size="size", when=lambda self: self.busy)
    def end(self, _: frozenset[Done]) -> None:
        self.busy, self.at = False, self.at + 1
        self.returns()


class DrawnReader(Process):
    servers: Peers
    size: int
    takes: Constant[str]
    backs: Constant[int]  # how many servers it writes back to before it returns
    found: int | None = None
    over: bool = False

    @start
    def begin(self) -> None:
        self.invoke(Read())
        self.send(self.servers, Get())

    @quorum(Got, size="size", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Got]) -> None:
        times = [m.time for m in answers]
        self.found = {"highest": max(times), "lowest": min(times), "any": self.choose(sorted({*times}))}[self.takes]
        if self.backs:
            self.send(self.servers, Put(self.found))
        else:
            self.end()

    @quorum(Done, size="backs", when=lambda self: self.found is not None and self.backs > 0 and not self.over)
    def stored(self, _: frozenset[Done]) -> None:
        self.end()

    def end(self) -> None:
        self.over = True
        self.returns(self.found)


class Drawn(System):
    servers: int = 2
    keeps: str = "higher"
    takes: str = "highest"
    writing: int = 2  # how many servers a write waits for
    reading: int = 2
    backs: int = 0
    readers: int = 2
    writers: int = 1

    wrote = operations(Write, by=DrawnWriter)
    read = operations(Read, by=DrawnReader)
    safe, regular, atomic = safe_register(0), regular_register(0), atomic_register(0)
    safe_ltl, regular_ltl = safe_formula(wrote, read, 0), regular_formula(wrote, read, 0)

    def build(self) -> None:
        servers = self.spawn(DrawnServer, self.servers, keeps=self.keeps)
        for number in range(self.writers):
            self.spawn(DrawnWriter, servers=servers, size=self.writing, values=(number + 1,))
        self.spawn(DrawnReader, self.readers, servers=servers, size=self.reading, takes=self.takes, backs=self.backs)


class DrawnByOne(Drawn):
    atomic_ltl = atomic_formula(Drawn.wrote, Drawn.read, 0)


def drawn_register(seed: int) -> Drawn:
    chance = random.Random(seed)
    many = seed % 3 == 2
    return (Drawn if many else DrawnByOne)(
        keeps=chance.choice(["higher", "higher", "last", "first"]),
        takes=chance.choice(["highest", "highest", "lowest", "any"]),
        writing=chance.randint(1, 2),
        reading=chance.randint(1, 2),
        backs=chance.choice([0, 0, 1, 2]),
        readers=1 if many else 2,
        writers=2 if many else 1,
    )


@pytest.mark.parametrize("seed", range(12))
def test_both_forms_agree_on_registers_that_were_drawn(seed: int) -> None:
    system = drawn_register(seed)
    found = verdicts(system)
    agree(found, *(name for name in ("safe", "regular", "atomic") if f"{name}_ltl" in found))
    assert not (found["safe"] == "violated" and found["regular"] == "holds")
    assert not (found["regular"] == "violated" and found["atomic"] == "holds")


def test_one_round_is_regular_not_atomic_and_both_forms_show_it() -> None:
    """The verdicts of the paper. The run is a lasso for the formula, and ends with the read for the monitor."""
    broken = check(Storage(servers=3, rounds=1), property=["atomic_ltl"])
    assert broken.property is not None
    assert broken.property.startswith("atomic_ltl[")
    assert broken.trace is not None
    history = check(Storage(servers=3, rounds=1), property=["atomic"])
    assert history.trace is not None
    assert len(history.trace.steps) <= len(broken.trace.steps)


class BothKinds(Storage):
    last, meanwhile = reads_last(0), reads_meanwhile(0)


def test_both_kinds_of_witness_for_a_read_of_one_round() -> None:
    """A read returns what was written last, or what is written meanwhile: a run shows either."""
    for kind in ("last", "meanwhile"):
        result = check(BothKinds(rounds=1, readers=1), property=kind)
        assert [(each.name, each.verdict) for each in result.properties] == [(kind, "holds")]


@pytest.mark.parametrize(
    ("events", "last", "meanwhile"),
    [
        ("x:r x:R0", True, False),
        ("a:w1 x:r a:W x:R1", False, True),
        ("a:w1 x:r a:W x:R0", True, False),
        ("x:r a:w1 a:W x:R1", False, True),
        ("a:w1 a:W x:r x:R1", True, False),
        ("a:w1 a:W x:r x:R0", False, False),
    ],
)
def test_which_kind_a_read_is(events: str, last: bool, meanwhile: bool) -> None:
    class Told(History):
        from_last, from_meanwhile = reads_last(0), reads_meanwhile(0)

    for name, expected in (("from_last", last), ("from_meanwhile", meanwhile)):
        assert check(Told(events=events, writes=1), property=name, **PLAIN).ok == expected


class WithCrashes(Storage):
    faults = crashes(1, of=Server)


class WithTooMany(Storage):
    faults = crashes(2, of=Server)


def test_operations_end_while_a_quorum_is_alive() -> None:
    assert check(WithCrashes(readers=1, rounds=1), property="all_end", trace=False).ok
    assert check(WithTooMany(readers=1, rounds=1), property="all_end").verdict == "violated"


# --- the bundled registers ----------------------------------------------------------------------------------------


@pytest.fixture
def told_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients of the bundled registers tell of their operations as operations, too."""

    def emit(self: Any, event: Any) -> None:
        Process.emit(self, event)
        match event:
            case regular_storage.WriteBegan(time=time):
                self.invoke(Write(time))
            case regular_storage.ReadBegan():
                self.invoke(Read())
            case regular_storage.WriteEnded():
                self.returns()
            case regular_storage.ReadEnded(time=time):
                self.returns(time)

    monkeypatch.setattr(regular_storage.Writer, "emit", emit, raising=False)
    monkeypatch.setattr(regular_storage.Reader, "emit", emit, raising=False)


class Formulas:
    wrote = operations(Write, by=regular_storage.Writer, count="writes")
    read = operations(Read, by=regular_storage.Reader)


class Regular(RegularStorage):
    wrote, read = Formulas.wrote, Formulas.read
    regular, regular_ltl = regular_register(0), regular_formula(Formulas.wrote, Formulas.read, 0)


class Wrong(WrongRegularStorage):
    wrote, read = Formulas.wrote, Formulas.read
    regular, regular_ltl = regular_register(0), regular_formula(Formulas.wrote, Formulas.read, 0)


class Safe(SafeStorage):
    wrote, read = Formulas.wrote, Formulas.read
    safe, safe_ltl = safe_register(0), safe_formula(Formulas.wrote, Formulas.read, 0)


class Atomic(AtomicStorage):
    wrote, read = Formulas.wrote, Formulas.read
    regular, regular_ltl = regular_register(0), regular_formula(Formulas.wrote, Formulas.read, 0)
    atomic, atomic_ltl = atomic_register(0), atomic_formula(Formulas.wrote, Formulas.read, 0)


@pytest.mark.usefixtures("told_twice")
@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (Regular(), {"regularity": "holds", "regular": "holds"}),
        (Regular(writes=2), {"regularity": "holds", "regular": "holds"}),
        (Wrong(), {"regularity": "violated", "regular": "holds"}),  # what it claims is wrong, not the register
        (Safe(writes=2), {"safety": "holds", "safe": "holds"}),
        (Safe(writes=2, late=True), {"safety": "violated", "safe": "violated"}),
        (
            Atomic(write_back=False),
            {"regularity": "holds", "regular": "holds", "atomicity": "violated", "atomic": "violated"},
        ),
        (Atomic(bases=2), {"regularity": "holds", "regular": "holds", "atomicity": "holds", "atomic": "holds"}),
    ],
    ids=str,
)
def test_both_forms_agree_on_bundled_registers(system: System, expected: dict[str, str]) -> None:
    found = verdicts(system)
    assert {name: found[name] for name in expected} == expected
    agree(found, *(name for name in expected if f"{name}_ltl" in found))


class SeveralWriters(MultiWriterStorage):
    wrote = operations(Write, by=multi_writer_storage.Writer)
    read = operations(Read, by=multi_writer_storage.Reader)
    safe, regular, atomic = safe_register(0), regular_register(0), atomic_register(0)
    safe_ltl, regular_ltl = safe_formula(wrote, read, 0), regular_formula(wrote, read, 0)


@pytest.mark.parametrize("write_back", [True, False])
def test_both_forms_agree_on_the_register_of_many_writers(write_back: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def emit(self: Any, event: Any) -> None:
        Process.emit(self, event)
        if isinstance(event, multi_writer_storage.Began):
            self.invoke(Write(self.number) if isinstance(self, multi_writer_storage.Writer) else Read())
        else:
            self.returns(None if event.wrote else event.stamp.writer)

    monkeypatch.setattr(multi_writer_storage.Client, "emit", emit, raising=False)
    found = verdicts(SeveralWriters(bases=2, readers=1, write_back=write_back))
    assert found["atomic"] == found["regular"] == found["safe"] == found["atomicity"] == "holds"
    agree(found, "safe", "regular")


# --- names of operations in formulas of one's own ------------------------------------------------------------------


class Named(System):
    w = operation(Write, by=StoreWriter)
    r = operation(Read, by=StoreReader)
    s = operation(Read, by=StoreReader, process=1)

    ends_after_it_begins = ltl("!r.ended W r.began")
    one_of_three = ltl("precedes(w, r) | precedes(r, w) | concurrent(w, r)")
    always_first = ltl("precedes(w, r)")
    always_apart = ltl("!concurrent(r, s)")

    def build(self) -> None:
        servers = self.spawn(Server)
        self.spawn(StoreWriter, servers=servers, size=1, early=False)
        self.spawn(StoreReader, 2, servers=servers, size=1, rounds=1, lowest=False)


def test_formulas_name_operations() -> None:
    found = verdicts(Named())
    assert found["ends_after_it_begins"] == found["one_of_three"] == "holds"
    assert found["always_first"] == found["always_apart"] == "violated"


@pytest.mark.parametrize(
    ("formula", "code", "text"),
    [
        ("precedes(w)", "Q404", "precedes is of two operations"),
        ("precedes(w, q)", "Q405", "q is no operation of the system"),
        ("w.begins", "Q405", "w.begins"),
        ("concurrent", "Q404", "concurrent is of two operations"),
    ],
)
def test_formulas_that_name_no_operation(formula: str, code: str, text: str) -> None:
    with pytest.raises(QuorateError, match=text) as caught:
        check(Named(), ltl=formula)
    assert caught.value.code == code


def test_operations_are_named_by_their_classes() -> None:
    with pytest.raises(ModelError, match="an operation is named by its class") as caught:
        operation(Write, by=Write)  # type: ignore[arg-type]
    assert caught.value.code == "Q409"


class TooFar(Named):
    t = operation(Read, by=StoreReader, process=2)


class Uncounted(Named):
    reads = operations(Read, by=StoreReader, count="rounds")
    end = operations_end(reads)


class Unjudged(Named):
    """Formulas know of no read: what these return would not be judged."""

    writes, reads = operations(Write, by=StoreWriter), operations(Read, by=StoreReader, count=0)
    end = operations_end(writes, reads)


@pytest.mark.parametrize(
    ("system", "text"),
    [
        (TooFar, "there is no StoreReader number 2"),
        (Uncounted, "count='rounds' is None in Uncounted, which is no number of operations"),
        (Unjudged, r"begins Read\(\), which is one more than operations\(Read, by=StoreReader, count=0\) says"),
    ],
)
def test_operations_that_formulas_do_not_know_of(system: type[System], text: str) -> None:
    with pytest.raises(ModelError, match=text) as caught:
        check(system())
    assert caught.value.code == "Q409"
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_formulas_of_a_register_are_about_writes_and_reads() -> None:
    writes = operations(Write, by=StoreWriter)
    for given in ((writes, writes), (operations(Read, by=StoreReader), writes)):
        with pytest.raises(ModelError, match="operations of a register's formulas are") as caught:
            regular_formula(*given)
        assert caught.value.code == "Q409"
