"""`symmetry-order-sent`: the order of what is sent into a FIFO channel follows the order of identities.

Teller names its peers in their order; the one that is named first is called. Which peer got the token before is chosen.
Exchanging the peers is no symmetry: the first one named is always peer1, whether or not it has the token. Without the
rule one of the two `can` is missed. To draw: a loop over a set of identities that sends one message per identity to
one receiver, on a FIFO network.
"""

from quorate import Message, Peers, Pid, Process, System, can, fifo, on, start

RULE = "symmetry-order-sent"
OPTIONS: dict[str, object] = {}


class Token(Message):
    pass


class Ready(Message):
    pass


class Named(Message):
    who: Pid


class You(Message):
    pass


class Peer(Process):
    teller: Pid
    ready: bool = False
    told: str = ""

    @on(Token)
    def take(self, m: Token) -> None:
        self.ready = True
        self.send(self.teller, Ready())

    @on(You)
    def hear(self, m: You) -> None:
        self.told = "ready" if self.ready else "not ready"


class Teller(Process):
    peers: Peers
    clerk: Pid

    @start
    def begin(self) -> None:
        self.send(self.choose(self.peers), Token())

    @on(Ready)
    def tell(self, m: Ready) -> None:
        for peer in self.peers:
            self.send(self.clerk, Named(peer))


class Clerk(Process):
    called: bool = False

    @on(Named, when=lambda self, m: not self.called)
    def call(self, m: Named) -> None:
        self.called = True
        self.send(m.who, You())


class Model(System):
    network = fifo()

    def build(self) -> None:
        clerk = self.spawn(Clerk)
        teller = self.spawn(Teller, peers=Peers(), clerk=clerk)
        peers = Peers(self.spawn(Peer, teller=teller) for _ in range(2))
        self.connect(teller, peers=peers)

    @can
    def told_ready(self) -> bool:
        return any(peer.told == "ready" for peer in self[Peer])

    @can
    def told_not_ready(self) -> bool:
        return any(peer.told == "not ready" for peer in self[Peer])
