"""Single-decree Paxos that counts votes one by one, as Delzanno, Tatarek and Traverso (2014) model it for Spin.

Agreement among learners, despite the crash of a minority of acceptors. What their two tables vary is a parameter:

* `fifo`: the channels are queues, of which a process takes the first message of the kind it wants; else unordered;
* `capacity`: of the channel from one process to another. Theirs is for all messages of a kind; its share for each
  acceptor comes closest to it;
* `register`: a prepare message is read and left where it is, like a register that only its proposer writes;
* `atomic`: a proposer sends to all acceptors in one step; else to one after the other.

Their transition that takes a whole quorum is in `paxos`. A smaller `majority` breaks agreement. With `heed=False`
proposers ignore the votes that are reported to them, which has to break it too: else the model would be vacuous.

Every row of their table 1 comes out here, and every row of table 2 with `paxos`, with one exception. For two proposers,
eight acceptors and a majority of four they report no error, by an approximate search (bitstate hashing). But half of
the acceptors is no majority, and agreement fails: `quorate check paxos -p acceptors=8 -p majority=4 --search dfs`.
"""

from quorate import Map, Message, Peers, Pid, Process, System, fifo, invariant, majority, on, start, step, unordered
from quorate.protocols.paxos import Accept, Accepted, Prepare, Promise, Vote


class Proposer(Process):
    value: int
    ballot: int
    acceptors: Peers
    majority: int
    atomic: bool
    heed: bool
    unsent: tuple[tuple[Pid, Message], ...] = ()
    promises: int = 0
    highest: Vote | None = None
    done: bool = False

    @start
    def prepare(self) -> None:
        self.broadcast(Prepare(self.ballot))

    @on(Promise, when=lambda self, m: not self.unsent and not self.done)
    def count(self, m: Promise) -> None:
        self.promises = min(self.promises + 1, self.majority)
        if m.vote and self.heed:
            self.highest = max(self.highest or m.vote, m.vote)

    @step(when=lambda self: self.promises == self.majority)
    def propose(self) -> None:
        value = self.highest.value if self.highest else self.value
        self.promises, self.highest, self.done = 0, None, True
        self.broadcast(Accept(Vote(self.ballot, value)))

    def broadcast(self, message: Message) -> None:
        if self.atomic:
            self.send(self.acceptors, message)
        else:
            self.unsent = tuple((acceptor, message) for acceptor in self.acceptors)

    @step(when=lambda self: self.unsent)
    def transmit(self) -> None:
        (acceptor, message), *rest = self.unsent
        self.send(acceptor, message)
        self.unsent = tuple(rest)


class Acceptor(Process):
    learners: Peers
    promised: int = 0
    vote: Vote | None = None

    @on(Prepare)
    def promise(self, m: Prepare) -> None:
        if m.ballot > self.promised:
            self.promised = m.ballot
            self.reply(Promise(m.ballot, self.vote))

    @on(Accept)
    def accept(self, m: Accept) -> None:
        if m.vote.ballot >= self.promised:
            self.promised, self.vote = m.vote.ballot, m.vote
            self.send(self.learners, Accepted(m.vote))


class RegisterAcceptor(Acceptor):
    @on(Prepare, when=lambda self, m: m.ballot > self.promised, keep=True)
    def promise(self, m: Prepare) -> None:
        super().promise(m)


class Learner(Process):
    majority: int
    votes: Map[int, int] = Map()  # by ballot: in one ballot there is only one value
    learned: frozenset[int] = frozenset()

    @on(Accepted)
    def count(self, m: Accepted) -> None:
        votes = min(self.votes.get(m.vote.ballot, 0) + 1, self.majority)
        self.votes |= {m.vote.ballot: votes}
        if votes == self.majority:
            self.learned |= {m.vote.value}


class PaxosCounting(System):
    """Agreement and validity of Paxos as modelled for Spin; with `heed=false` proposers ignore votes, and it fails."""

    proposers: int = 2
    acceptors: int = 3
    learners: int = 1
    majority: int | None = None
    fifo: bool = False
    capacity: int | None = None
    register: bool = False
    atomic: bool = False
    heed: bool = True

    quorums = {"majority": "acceptors"}

    def build(self) -> None:
        size = self.majority or majority(self.acceptors)
        self.require(1 <= size <= self.acceptors, "a majority is at least one acceptor and at most all of them")
        self.network = fifo(capacity=self.capacity, head="skip") if self.fifo else unordered(capacity=self.capacity)
        learners = self.spawn(Learner, self.learners, majority=size)
        acceptors = self.spawn(RegisterAcceptor if self.register else Acceptor, self.acceptors, learners=learners)
        for i in range(1, self.proposers + 1):
            shared = {"acceptors": acceptors, "majority": size, "atomic": self.atomic, "heed": self.heed}
            self.spawn(Proposer, value=i, ballot=i, **shared)

    @invariant
    def agreement(self) -> bool:
        return len({v for learner in self[Learner] for v in learner.learned}) <= 1

    @invariant
    def validity(self) -> bool:
        proposed = {p.value for p in self[Proposer]}
        return all(learner.learned <= proposed for learner in self[Learner])
