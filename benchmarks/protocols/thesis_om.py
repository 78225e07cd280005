"""Oral Messages as Bokor's thesis models it for Murphi (2011, section 3.6.1): reports are heard one at a time.

One round of passing on. Apart from that it is `quorate.protocols.om`: who is a traitor is open at the beginning, and a
traitor sends everyone the message that is due, with anything in it.
"""

from itertools import combinations

from quorate import Map, Message, Peers, Pid, Process, System, invariant, on
from quorate.protocols.om import Command, Commander, Order


class Report(Message):
    order: Order


class Lieutenant(Process):
    loyal: bool
    others: Peers = Peers()
    heard: Order | None = None
    told: Map[Pid, Order] = Map()
    decision: Order | None = None

    @on(Command, when=lambda self, m: self.heard is None)
    def hear(self, m: Command) -> None:
        self.heard = m.order
        for other in self.others:
            self.send(other, Report(m.order if self.loyal else self.choose(Order)))
        self.conclude()

    @on(Report, when=lambda self, m: m.sender not in self.told)
    def count(self, m: Report) -> None:
        self.told |= {m.sender: m.order}
        self.conclude()

    def conclude(self) -> None:
        if self.heard is not None and len(self.told) == len(self.others):
            votes = [self.heard, *self.told.values()]
            self.decision = max(Order, key=votes.count)  # retreat, if in doubt


class General(Commander, Lieutenant):
    """A lieutenant who is the commander as well."""


class ThesisOM(System):
    """Loyal lieutenants obey the same order: the commander's, if he is loyal."""

    lieutenants: int = 3
    traitors: int = 1
    colocated: bool = False  # the commander is among the processes, together with the first lieutenant

    def build(self) -> None:
        generals = range(self.lieutenants + 1)
        traitors = self.choose([some for k in range(self.traitors + 1) for some in combinations(generals, k)])
        first = self.spawn(General) if self.colocated else self.spawn(Lieutenant)
        spawned = [first, *self.spawn(Lieutenant, self.lieutenants - 1)]
        lieutenants = Peers(spawned).playing(Lieutenant)
        for i, each in enumerate(spawned):
            self.connect(each, loyal=i not in traitors, others=lieutenants - {each.playing(Lieutenant)})
        commander = first if self.colocated else self.spawn(Commander)
        self.connect(commander, lieutenants=lieutenants, commands_loyally=self.lieutenants not in traitors)

    @invariant
    def consistency(self) -> bool:
        """Interactive consistency: IC1 and IC2."""
        decisions = {each.decision for each in self[Lieutenant] if each.loyal} - {None}
        orders = {each.order for each in self[Commander] if each.commands_loyally}
        return len(decisions) <= 1 and (not orders or decisions <= orders)
