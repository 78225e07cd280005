"""Gossip: an update spreads by rumour (Demers and others 1987), here as flooding that tolerates lost messages.

Whoever hears of a newer version tells `fanout` others of its choice, once. If everybody tells all others, everybody
hears of it unless all messages to somebody are lost. If not, a rumour may die out before everybody has heard of it,
which is why the paper backs rumours up with a slower comparison of whole databases. Versions are what makes it safe to
hear of updates in any order.
"""

from itertools import combinations

from quorate import Event, Map, Message, Monitor, Peers, Pid, Process, System, final, invariant, on, step, unordered


class Rumour(Message):
    version: int


class Learned(Event):
    version: int


class Node(Process):
    fanout: int
    updates: int  # still to be made, by this node
    gullible: bool
    others: Peers
    version: int = 0

    @step(when=lambda self: self.updates > 0)
    def update(self) -> None:
        self.updates -= 1
        self.learn(self.version + 1)

    @on(Rumour, when=lambda self, m: m.version > self.version or self.gullible)
    def hear(self, m: Rumour) -> None:
        if m.version != self.version:
            self.learn(m.version)

    def learn(self, version: int) -> None:
        self.version = version
        self.emit(Learned(version))
        self.send(self.choose(combinations(self.others, self.fanout)), Rumour(version))


class Progress(Monitor):
    newest: Map[Pid, int] = Map()
    back: bool = False

    @on(Learned)
    def learned(self, e: Learned) -> None:
        self.back |= e.version < self.newest.get(e.source, 0)
        self.newest |= {e.source: e.version}


class Gossip(System):
    """Everybody hears of the newest version; with a `fanout` that leaves somebody out a rumour may die out."""

    nodes: int = 4
    updates: int = 2  # by the first node
    fanout: int | None = None  # by default all others
    losses: int = 1  # messages that may get lost
    gullible: bool = False  # take any version for the newest: nodes go back to older ones

    def build(self) -> None:
        fanout = self.nodes - 1 if self.fanout is None else self.fanout
        self.require(0 <= fanout < self.nodes, "a node can tell at most all others")
        nodes = [
            self.spawn(Node, fanout=fanout, updates=self.updates if i == 0 else 0, gullible=self.gullible)
            for i in range(self.nodes)
        ]
        for node in nodes:
            self.connect(node, others=Peers(nodes) - {node})
        self.watch(Progress)
        self.network = unordered(losses=self.losses)

    @invariant
    def nobody_goes_back(self) -> bool:
        return not self[Progress].back

    @invariant
    def nothing_is_made_up(self) -> bool:
        """Nobody has a version that the first node has not."""
        origin, *rest = self[Node]
        return all(node.version <= origin.version for node in rest)

    @final
    def everybody_knows(self) -> bool:
        return all(node.version == self.updates for node in self[Node])
