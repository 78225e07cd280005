"""A saga: a long transaction as a chain of short ones, each with one that undoes it (Garcia-Molina and Salem 1987).

An order is carried out by several services, one after the other. If one refuses, those before it are told to undo what
they have done, the last one first. Everybody may crash at any time and comes back with what is in its database. A
service that changes its database and sends a message may crash in between. So the message is written into the same
database, in the same transaction: into an outbox. A relay publishes what is in there, and deletes it afterwards. If it
crashes in between, the message is published again. So every command has a key, and a service answers a key that it has
seen as it did before, instead of doing the work again.
"""

from typing import ClassVar, NamedTuple

from quorate import (
    Constant,
    Map,
    Message,
    Pid,
    Process,
    System,
    can,
    crashes,
    eventually,
    final,
    invariant,
    on,
    start,
    step,
)


class Key(NamedTuple):
    position: int  # of the service in the chain
    undo: bool = False


class Command(Message):
    key: Key


class Answer(Message):
    key: Key
    done: bool


class Database(Process):
    """Whoever has a database, and an outbox in it."""

    outbox: frozenset[tuple[Pid, Command | Answer]] = frozenset()
    published: tuple[Pid, Command | Answer] | None = None  # and still to be deleted

    @step(when=lambda self: self.published is None)
    def publish(self) -> None:
        self.published = self.choose(self.outbox)
        self.send(*self.published)

    @step(when=lambda self: self.published is not None)
    def delete(self) -> None:
        self.outbox, self.published = self.outbox - {self.published}, None


class Service(Database):
    durable: ClassVar[tuple[str, ...]] = ("outbox", "effects", "answers")
    keys: Constant[bool]
    effects: int = 0  # how often it has done its work, and not undone it
    answers: Map[Key, bool] = Map()

    @on(Command, when=lambda self, m: m.key not in self.answers)
    def carry_out(self, m: Command) -> None:
        done = m.key.undo or self.choose((True, False))
        self.effects += 0 if not done else -1 if m.key.undo else 1
        if self.keys:
            self.answers |= {m.key: done}
        self.outbox |= {(m.sender, Answer(m.key, done))}

    @on(Command, when=lambda self, m: m.key in self.answers)
    def repeat(self, m: Command) -> None:
        self.outbox |= {(m.sender, Answer(m.key, self.answers[m.key]))}


class Orchestrator(Database):
    durable: ClassVar[tuple[str, ...]] = ("outbox", "waits_for", "outcome")
    services: Constant[tuple[Pid, ...]]
    waits_for: Key | None = None
    outcome: bool | None = None

    @start(when=lambda self: self.waits_for is None)
    def begin(self) -> None:
        self.command(Key(0))

    def command(self, key: Key) -> None:
        self.waits_for = key
        self.outbox |= {(self.services[key.position], Command(key))}

    @on(Answer, when=lambda self, m: m.key == self.waits_for and self.outcome is None)
    def go_on(self, m: Answer) -> None:
        forward = m.done and not m.key.undo
        position = m.key.position + (1 if forward else -1)
        if 0 <= position < len(self.services):
            self.command(Key(position, undo=not forward))
        else:
            self.outcome = forward


class HastyService(Service):
    durable = ("effects", "answers")


class HastyOrchestrator(Orchestrator):
    durable = ("waits_for", "outcome")


class Saga(System):
    """All services do their work or none; without `outbox` an order gets stuck, without `keys` work is done twice."""

    services: int = 2
    crashes: int = 2
    outbox: bool = True  # what is to be sent is in the database
    keys: bool = True  # services remember which commands they have carried out

    def build(self) -> None:
        self.require(self.services > 0, "there must be a service")
        service = Service if self.outbox else HastyService
        services = tuple(self.spawn(service, keys=self.keys) for _ in range(self.services))
        self.spawn(Orchestrator if self.outbox else HastyOrchestrator, services=services)
        self.faults = crashes(self.crashes, recover="fair")

    @invariant
    def at_most_once(self) -> bool:
        return all(service.effects in (0, 1) for service in self[Service])

    @invariant
    def all_or_nothing(self) -> bool:
        """Once the orchestrator says how it went, all services agree."""
        (orchestrator,) = self[Orchestrator]
        return orchestrator.outcome is None or all(s.effects == orchestrator.outcome for s in self[Service])

    @can
    def succeeds(self) -> bool:
        return self[Orchestrator][0].outcome is True

    @can
    def undone(self) -> bool:
        (orchestrator,) = self[Orchestrator]
        return self.services == 1 or (orchestrator.outcome is False and orchestrator.waits_for == Key(0, undo=True))

    @final
    def ended(self) -> bool:
        return self[Orchestrator][0].outcome is not None or any(p.crashed for p in self[Database])

    @eventually
    def the_order_ends(self) -> bool:
        return self[Orchestrator][0].outcome is not None
