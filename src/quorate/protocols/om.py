"""Oral Messages: loyal lieutenants agree on the commander's order, despite traitors (Lamport, Shostak, Pease 1982).

OM(0): the commander sends his order, and every lieutenant obeys what he got. OM(m): every lieutenant passes on what he
got by OM(m - 1), as the commander of the others, and obeys the majority of what he got and what they say they got.
With m rounds of passing on, more than 3m generals can bear m traitors.

The setting is synchronous: what is sent in a round arrives in it. So a lieutenant waits for all messages of a round;
that others may be ahead of him changes nothing of what he gets. A traitor sends everyone the message that is due, with
anything in it; a message left out would count as an order to retreat, so that is covered. Who is a traitor, perhaps the
commander, is open at the beginning.

What traitors may say doubles with every order they pass on, so this ends early. Four lieutenants, one traitor and two
rounds are checked; the smallest instance that needs two rounds, six lieutenants and two traitors, is out of reach.
"""

from enum import Enum
from itertools import combinations

from quorate import Map, Message, Peers, Pid, Process, System, final, invariant, on, quorum, start


class Order(Enum):
    RETREAT = 0
    ATTACK = 1


Path = tuple[Pid, ...]  # the lieutenants that passed an order on, the last one last


class Command(Message):
    order: Order


class Report(Message):
    round: int
    orders: Map[Path, Order]  # by the path on which its sender got them


class Commander(Process):
    lieutenants: Peers
    commands_loyally: bool
    order: Order = Order.RETREAT

    @start
    def command(self) -> None:
        self.order = self.choose(Order) if self.commands_loyally else self.order
        for lieutenant in self.lieutenants:
            self.send(lieutenant, Command(self.order if self.commands_loyally else self.choose(Order)))


class Lieutenant(Process):
    loyal: bool
    rounds: int
    others: Peers = Peers()
    round: int = 0
    orders: Map[Path, Order] = Map()
    decision: Order | None = None

    @on(Command)
    def hear(self, m: Command) -> None:
        self.orders |= {(): m.order}
        self.go_on()

    @quorum(Report, each="others", where=lambda self, m: m.round == self.round)
    def collect(self, reports: frozenset[Report]) -> None:
        self.orders |= {(*path, m.sender): order for m in reports for path, order in m.orders.items()}
        self.go_on()

    def go_on(self) -> None:
        """Obey, or pass on what the last round brought to those who have not passed it on themselves."""
        if self.round == self.rounds:
            self.decision = self.majority(())
            return
        news = [path for path in self.orders if len(path) == self.round]
        self.round += 1
        for other in self.others:
            orders = {path: self.say(path) for path in news if other not in path}
            self.send(other, Report(self.round, Map(orders)))

    def say(self, path: Path) -> Order:
        return self.orders[path] if self.loyal else self.choose(Order)

    def majority(self, path: Path) -> Order:
        """What to make of the order that came on a path: the majority of it and what the others make of it."""
        votes = [self.orders[path]]
        if len(path) < self.rounds:
            votes += [self.majority((*path, other)) for other in self.others - set(path)]
        return max(Order, key=votes.count)  # retreat, if in doubt


class General(Commander, Lieutenant):
    """A lieutenant who is the commander as well: two generals of the paper in one process."""


class OralMessages(System):
    """Loyal lieutenants obey the same order, whatever one traitor says; with `traitors=2` they may not."""

    lieutenants: int = 3
    traitors: int = 1
    rounds: int = 1  # of passing on: the m of OM(m)
    colocated: bool | None = None  # the commander is among the processes, together with the first lieutenant

    def build(self) -> None:
        self.require(0 <= self.rounds < self.lieutenants, "in every round an order is passed on by another lieutenant")
        self.require(self.traitors <= self.lieutenants + 1, "there are not that many generals")
        generals = range(self.lieutenants + 1)
        traitors = self.choose([some for k in range(self.traitors + 1) for some in combinations(generals, k)])
        first = self.spawn(General) if self.colocated else self.spawn(Lieutenant)
        spawned = [first, *self.spawn(Lieutenant, self.lieutenants - 1)]
        lieutenants = Peers(spawned).playing(Lieutenant)
        for i, each in enumerate(spawned):
            self.connect(each, rounds=self.rounds, loyal=i not in traitors)
            self.connect(each, others=lieutenants - {each.playing(Lieutenant)})
        commander = first if self.colocated else self.spawn(Commander)
        self.connect(commander, lieutenants=lieutenants, commands_loyally=self.lieutenants not in traitors)

    @invariant
    def ic1(self) -> bool:
        """All loyal lieutenants obey the same order."""
        return len({each.decision for each in self[Lieutenant] if each.loyal} - {None}) <= 1

    @invariant
    def ic2(self) -> bool:
        """If the commander is loyal, every loyal lieutenant obeys his order."""
        orders = {commander.order for commander in self[Commander] if commander.commands_loyally}
        loyal = [each for each in self[Lieutenant] if each.loyal]
        return all(each.decision in (None, order) for order in orders for each in loyal)

    @final
    def decided(self) -> bool:
        return all(each.decision is not None for each in self[Lieutenant] if each.loyal)
