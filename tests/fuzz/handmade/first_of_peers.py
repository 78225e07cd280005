"""`symmetry-check`, `symmetry-behaviour`, `symmetry-message-exists` and the like: taking the first of a set.

`next(iter(peers))` passes every type and breaks the symmetry: peer1 is called, whoever has the token. To draw: an
expression that gives the first of a set of identities (or their order, or `str(pid)`); without it no family of drawn
processes ever fails the check, and nothing of the check is tested.
"""

from quorate import Message, Peers, Pid, Process, System, can, on, start

RULE = (
    "symmetry-check symmetry-behaviour symmetry-known symmetry-local-exists symmetry-message-exists symmetry-guards"
    " symmetry-sizes"
)
OPTIONS: dict[str, object] = {}


class Token(Message):
    pass


class Ready(Message):
    pass


class You(Message):
    pass


class Told(Message):
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
        self.reply(Told())


class Teller(Process):
    peers: Peers

    @start
    def begin(self) -> None:
        self.send(self.choose(self.peers), Token())

    @on(Ready)
    def tell(self, m: Ready) -> None:
        self.send(next(iter(self.peers)), You())

    @on(Told)
    def go_on(self, m: Told) -> None:
        """So that whatever the one may be sent, the other may be sent too: then only the behaviour differs."""
        self.send(self.peers - {m.sender}, You())


class Model(System):
    def build(self) -> None:
        teller = self.spawn(Teller, peers=Peers())
        peers = Peers(self.spawn(Peer, teller=teller) for _ in range(2))
        self.connect(teller, peers=peers)

    @can
    def told_ready(self) -> bool:
        return sorted(peer.told for peer in self[Peer]) == ["", "ready"]

    @can
    def told_not_ready(self) -> bool:
        return sorted(peer.told for peer in self[Peer]) == ["", "not ready"]
