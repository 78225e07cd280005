"""One worker: a model of its own, and its share of the states (`core: search/shard.hpp`).

It knows nothing of how workers are started and reach each other (`actors.py`, `crew.py`): what it wants to send it
hands to `post`, and what comes it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from quorate import _core
from quorate.base.failures import Failure
from quorate.base.watchdog import Halted
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Definition, Property
from quorate.model.environment import Environment
from quorate.native.backend import Finding
from quorate.native.model import Model
from quorate.native.portable import Reader, dump
from quorate.options import Options
from quorate.properties.purity import Purity
from quorate.properties.twin import ways
from quorate.reduce.decomposition import Whole, apart_for
from quorate.reduce.reductions import Reductions

SLICE = 4_096
"""States that are expanded before a look at what has arrived."""

MOST_WAITING, LEAST_BATCH = 64 << 20, 1 << 14
"""Bytes: of a worker's batches that are being filled, for all of the others; and of one of them."""

Told = tuple[int, int, bytes]
"""What a number of the sender is: the column, the number, and the value."""
Numbers = list[tuple[int, int]]
PortableState = tuple[list[tuple[bytes, list[bytes]]], list[int]]
"""A state that any worker can read: by column its local state and what is pending; and what is left of the budgets."""


@dataclass(frozen=True)
class Job:
    """What all workers of a check prepare, each for itself."""

    environment: Environment
    options: Options
    properties: tuple[str, ...]
    """By name, in their order."""
    final: bool
    """Whether the last of them is what deadlocks are judged by."""
    apart: bool
    """Whether processes are taken apart into their roles."""
    behaviours: int
    """How much the closure may ask."""
    deadlock: bool
    batch_bytes: int = 1 << 18
    sent_states: int = 1 << 15
    max_memory: int | None = None
    """What each worker may take; without it, those of a machine share what is free there."""
    neighbours: int = 1
    """Workers of one machine."""
    restarts: bool = False
    """Whether a worker that is lost is to be started again."""

    def among(self, workers: int, machines: int) -> Job:
        """The same for one of so many workers. What waits to be sent is bounded by all of their batches together."""
        small = max(LEAST_BATCH, MOST_WAITING // workers)
        return replace(self, batch_bytes=min(self.batch_bytes, small), neighbours=-(-workers // machines))


class Parcel(NamedTuple):
    """A batch of states on its way, with what its receiver does not know yet."""

    depth: int
    states: bytes
    locals: list[Told]
    messages: list[Told]
    watched: int
    """How many of the states the sender wants an answer about."""


class Prepared(NamedTuple):
    """What a worker says of its model once that is ready."""

    numbers: Numbers
    """By column how many local states and messages have a number."""
    digest: bytes
    """Of what they are, in the order of their numbers."""
    ran: tuple[str, ...]
    """The reductions that run."""


class Setting(NamedTuple):
    """What has changed since the models were prepared."""

    observed: list[list[bool]]
    dropped: tuple[tuple[int, str], ...]
    """Families of interchangeable names that turned out not to be, by number, and why."""
    partial_orders: bool


class Claim(NamedTuple):
    """Something that was found, in a form that can be compared with what others found, and read anywhere."""

    length: int
    faults: int
    finding: Finding
    property: int
    content: int
    column: int
    state: PortableState
    failure: Failure | None

    def rank(self) -> tuple[Any, ...]:
        """As `Witness::rank` of the core."""
        return self.length, _FINDINGS.index(self.finding), self.property, self.faults, self.content, self.column

    def kind(self) -> tuple[Any, ...]:
        return self.finding, self.property, self.failure


_FINDINGS: tuple[Finding, ...] = ("violated", "reached", "raises", "deadlock", "failure")


@dataclass
class Share:
    """What a worker tells at the end of a level, or meanwhile."""

    stop: str = "finished"
    states: int = 0
    transitions: int = 0
    deadlocks: int = 0
    next_level: int = 0
    remaining: int = 0
    stands_for: float = 0.0
    offered: int = 0
    left_out: int = 0
    cut: tuple[int, ...] = ()
    store_bytes: int = 0
    memory: int = 0
    calls: int = 0
    cells: int = 0
    sent: int = 0
    sent_bytes: int = 0
    repeated: int = 0
    observed: list[list[bool]] = field(default_factory=list)
    unhandled: tuple[tuple[str, str], ...] = ()
    """Messages that were sent to a role that takes none of them."""
    violation: Claim | None = None
    goals: tuple[Claim, ...] = ()
    violations: tuple[tuple[Claim, int], ...] = ()
    broken: tuple[int, str] | None = None
    running: Any = None
    """The model's code that was stopped, if that was why."""


class Worker:
    """Worker `number` of `workers`."""

    def __init__(self, number: int, workers: int, system: System, job: Job) -> None:
        self.number = number
        self.workers = workers
        self.job = job
        self.is_to_stop: Callable[[], bool] = lambda: False
        definition = define(system, job.environment)
        properties = _chosen(definition, job)
        apart: Definition | None = None
        whole: Whole | None = None
        if job.apart:
            apart, _ = apart_for(job.options, system, job.environment)
            assert apart is not None
            whole = Whole(apart, definition)
        self._hurried = False
        self._purity = Purity(definition, apart, hurried=lambda: self._hurried)
        self._purity.listen()
        definition = apart or definition
        self.model = Model(definition, properties, self._stops, whole=whole)
        self.model.without_messages = "--workers or --address"
        self.definition: Definition = self.model.definition
        self.reductions = Reductions(self.model, job.options)
        self.reader = Reader(definition)
        self.shared: Numbers = []
        self.calls_before = 0
        self.reported = (0, 0)
        """States and transitions, as the core last told them."""
        self._dropped = 0
        self._applied = [list(each) for each in self.model.observed]
        self._shards: list[_core.Shard] = []
        self.post: Callable[[int, Parcel, list[int]], None] = lambda to, parcel, watched: None
        """Hands a parcel to another worker; the answer goes to `answered`, with the same numbers."""

    def _stops(self, states: int, transitions: int, *_: int) -> bool:
        self.reported = states, transitions
        return self.is_to_stop()

    # --- before a search ---

    def prepare(self) -> Prepared:
        """Close the model and reduce it, as every worker does."""
        try:
            self.reductions.analyse(self.job.behaviours)
        except _core.StoppedError:
            return Prepared([], b"", ())
        hashed = blake2b(digest_size=16)
        numbers: Numbers = []
        told = {*self.model.histories, *self.model.engine.growing()}  # whose local states have to be known by value
        for column in self.definition.columns:
            locals = [] if column.index in told else self.model.numbered_locals[column.index]
            messages = self.model.numbered_messages[column.index]
            numbers.append((len(locals), len(messages)))
            for value in (*locals, *messages):
                hashed.update(dump(value))
        return Prepared(numbers, hashed.digest(), self.reductions.ran)

    def share_numbers(self, shared: Numbers) -> None:
        """The numbers below these mean the same to all workers."""
        self.shared = shared

    def begin(self, setting: Setting, *, all: bool, max_states: int | None, partial_orders: bool, empty: bool) -> Share:
        """Begin a search, with the initial states that are its own; empty, if what was kept is to be loaded."""
        self._set(setting)
        job = self.job
        shard = _core.Shard(
            engine=self.model.engine,
            model=self.model,
            shared=self.shared,
            number=self.number,
            workers=self.workers,
            deadlock=job.deadlock,
            all=all,
            batch_bytes=job.batch_bytes,
            sent_states=job.sent_states,
            states=max_states,
            memory=job.max_memory,
        )
        self._shards.append(shard)
        if not partial_orders:
            shard.give_up_partial_orders()
        if not empty:
            shard.begin()
        return self.share()

    def end(self) -> None:
        """The search is over; another one that it was begun within goes on."""
        self._shards.pop()
        for shard in self._shards:
            shard.forget_steps()

    def require_pure(self, hurried: bool) -> list[list[bytes]]:
        """Before a verdict: whether the model was a function in this process; what it does on the ways of a twin."""
        self._hurried = hurried
        self._purity.require()
        return ways(self.definition)

    def close(self) -> None:
        """Let go of the states. The core's share holds the model, which asks this worker when to stop: a circle."""
        self._shards.clear()

    def _set(self, setting: Setting) -> None:
        if self._shards:
            return  # a search within a search is made as that one is
        changed = self._applied != setting.observed or len(setting.dropped) > self._dropped
        self.model.observed = [list(each) for each in setting.observed]
        for family, why in setting.dropped[self._dropped :]:
            self.reductions.symmetry.drop(family, why)
        self._dropped = len(setting.dropped)
        if changed:
            self.model.engine.clear_answers()
            self.reductions.apply()
            self._applied = setting.observed
        if not setting.partial_orders:
            self.model.engine.unrelate()

    @property
    def shard(self) -> _core.Shard:
        return self._shards[-1]

    # --- a level ---

    def start_level(self, observed: list[list[bool]], reached: Sequence[int], *, partial_orders: bool) -> None:
        """All workers begin the same level, and know what properties read anywhere before it."""
        if observed != self.model.observed:
            self.model.observed = [list(each) for each in observed]
            self.model.engine.observe(self.model.observed)
        if not partial_orders:
            self.shard.give_up_partial_orders()
        self.shard.start_level(list(reached))

    def expand(self) -> bool:
        """Expand some states of its own, and send what is to be sent. False if there is nothing left for now."""
        more = self.shard.expand(SLICE)
        for step in range(1, self.workers):
            to = (self.number + step) % self.workers  # not all to the same one at the same time
            while (batch := self.shard.batch(to, not more)) is not None:
                self.post(to, self._parcel(batch), batch.watched)
        return more

    def _parcel(self, batch: _core.Batch) -> Parcel:
        columns = self.definition.columns
        locals = [(column, each, dump(self.model.local(columns[column], each))) for column, each in batch.locals]
        messages = [(column, each, dump(self.model.message(columns[column], each))) for column, each in batch.messages]
        return Parcel(batch.depth, batch.bytes, locals, messages, len(batch.watched))

    def absorb(self, sender: int, parcel: Parcel) -> list[bool]:
        """Take in what another worker sent; of the states it watches: which lie in the next level."""
        self._learn(sender, parcel)
        return self.shard.absorb(sender, parcel.states)

    def _learn(self, sender: int | None, parcel: Parcel) -> None:
        for column, number, written in parcel.locals:
            self.shard.tell_local(sender, column, number, self._local(column, written))
        for column, number, written in parcel.messages:
            self.shard.tell_message(sender, column, number, self._message(column, written))

    def _local(self, index: int, written: bytes) -> int:
        column = self.definition.columns[index]
        number = self.model.local_id(column, self.reader.load(written))
        symmetries = self.model.symmetries
        if symmetries is not None and index in symmetries.growing.columns:
            symmetries.growing.admit(column, number)
        return number

    def _message(self, index: int, written: bytes) -> int:
        return self.model.message_id(self.definition.columns[index], self.reader.load(written))

    def answered(self, watched: list[int], further: list[bool]) -> None:
        self.shard.answered(watched, further)

    def expand_in_full(self) -> bool:
        return self.shard.expand_in_full()

    def finish_level(self) -> Share:
        """Everything has arrived everywhere: what is open is decided."""
        self.shard.finish_level()
        return self.share()

    def halt(self) -> None:
        self.shard.halt(_core.Stop.interrupt)

    # --- what it has to tell ---

    def figures(self) -> Share:
        """How far it has come: a part of `share`, for others to ask while it works."""
        if not self._shards:
            return Share(memory=_core.resident_bytes())
        shard = self.shard
        return Share(
            stop=shard.stop.name,
            states=shard.states,
            transitions=shard.transitions,
            next_level=shard.next_level,
            remaining=shard.remaining,
            memory=_core.resident_bytes(),
        )

    def share(self) -> Share:
        shard, model = self.shard, self.model
        violation = shard.violation
        halted = model.halted
        return Share(
            stop=shard.stop.name,
            states=shard.states,
            transitions=shard.transitions,
            deadlocks=shard.deadlocks,
            next_level=shard.next_level,
            remaining=shard.remaining,
            stands_for=shard.stands_for,
            offered=shard.offered,
            left_out=shard.left_out,
            cut=tuple(shard.cut),
            store_bytes=shard.store_bytes,
            memory=_core.resident_bytes(),
            calls=model.calls,
            cells=model.engine.cell_count(),
            sent=shard.sent,
            sent_bytes=shard.sent_bytes,
            repeated=shard.repeated,
            observed=model.observed,
            unhandled=tuple(model.unhandled),
            violation=None if violation is None else self._claim(violation),
            goals=tuple(map(self._claim, shard.goals)),
            violations=tuple((self._claim(first), count) for first, count in shard.violations),
            broken=self.reductions.symmetry.broken() if shard.stop is _core.Stop.regrown else None,
            running=halted.running if isinstance(halted, Halted) else None,
        )

    def _claim(self, claim: _core.Claim) -> Claim:
        found = claim.witness
        failure = None if found.failure is None else self.model.failures[found.failure]
        finding: Any = found.finding.name
        column = _core.NONE if found.column is None else found.column
        state = self.portable(found.path[0])
        return Claim(found.length, claim.faults, finding, found.property, claim.content, column, state, failure)

    def portable(self, state: Any) -> PortableState:
        """A state of the core, for others to read."""
        columns, left = state
        written: list[tuple[bytes, list[bytes]]] = []
        for column, (local, inbox) in zip(self.definition.columns, columns, strict=True):
            pending = [dump(self.model.message(column, each)) for each in inbox]
            written.append((dump(self.model.local(column, local)), pending))
        return written, list(left)

    def own(self, state: PortableState) -> Any:
        """The same state in numbers of this worker."""
        return numbered(self.model, self.reader, state)

    def step_back(self, level: int, target: PortableState) -> tuple[int, PortableState] | None:
        """Of its states of a level, the smallest by content that has a step to the target."""
        found = self.shard.step_back(level, self.own(target))
        return None if found is None else (found[0], self.portable(found[1]))

    def count_violated(self) -> list[int]:
        return self.shard.count_violated()

    # --- what is kept ---

    def save(self, directory: str, levels: Sequence[int]) -> None:
        """Write its states of these levels."""
        from quorate.cluster.kept import write

        for level in levels:
            write(directory, self.number, level, [self._parcel(batch) for batch in self.shard.saved(level)])

    def load(self, directory: str, last: int, shares: Sequence[Share]) -> Share:
        """Take back what was saved, up to the level that is to be expanded next, and the figures of that time."""
        from quorate.cluster.kept import read

        for level in range(last + 1):
            for parcel in read(directory, self.number, level):
                self._learn(None, parcel)
                self.shard.restore(parcel.states)
            if level < last:
                self.shard.restored_level()
        mine = shares[self.number]
        self.shard.restored(mine.transitions, mine.deadlocks, mine.stands_for, mine.offered, mine.left_out)
        return self.share()


def numbered(model: Model, reader: Reader, state: PortableState) -> Any:
    """A state that a worker sent, as the core of this model takes it."""
    columns: list[tuple[int, list[int]]] = []
    for column, (local, pending) in zip(model.definition.columns, state[0], strict=True):
        number = model.local_id(column, reader.load(local))
        if model.symmetries is not None and column.index in model.symmetries.growing.columns:
            model.symmetries.growing.admit(column, number)
        inbox = model.arranged(column, [reader.load(each) for each in pending])
        columns.append((number, inbox))
    return columns, state[1]


def _chosen(definition: Definition, job: Job) -> list[Property]:
    """The properties of those names, in that order."""
    known = {each.name: each for each in definition.properties}
    names = job.properties[:-1] if job.final else job.properties
    chosen = [known[name] for name in names]
    if job.final:
        assert definition.final is not None
        chosen.append(definition.final)
    return chosen
