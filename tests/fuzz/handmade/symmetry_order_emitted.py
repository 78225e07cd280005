"""`symmetry-order-emitted`: the order of the events of one step follows the order of identities.

As symmetry_order_sent.py, with a monitor in the place of the clerk. To draw: a loop over a set of identities that emits
one event per identity, and a monitor that keeps an identity.
"""

from quorate import Event, Message, Monitor, Peers, Pid, Process, System, can, on, start

RULE = "symmetry-order-emitted"
OPTIONS: dict[str, object] = {}


class Token(Message):
    pass


class Ready(Message):
    pass


class Named(Event):
    who: Pid


class Peer(Process):
    teller: Pid
    ready: bool = False

    @on(Token)
    def take(self, m: Token) -> None:
        self.ready = True
        self.send(self.teller, Ready())


class Teller(Process):
    peers: Peers

    @start
    def begin(self) -> None:
        self.send(self.choose(self.peers), Token())

    @on(Ready)
    def tell(self, m: Ready) -> None:
        for peer in self.peers:
            self.emit(Named(peer))


class First(Monitor):
    who: Pid | None = None

    @on(Named, when=lambda self, e: self.who is None)
    def note(self, e: Named) -> None:
        self.who = e.who


class Model(System):
    def build(self) -> None:
        teller = self.spawn(Teller, peers=Peers())
        peers = Peers(self.spawn(Peer, teller=teller) for _ in range(2))
        self.connect(teller, peers=peers)
        self.watch(First)

    @can
    def first_is_ready(self) -> bool:
        return any(peer.ready and peer.pid == self[First].who for peer in self[Peer])

    @can
    def first_is_not_ready(self) -> bool:
        return any(not peer.ready and peer.pid == self[First].who for peer in self[Peer])
