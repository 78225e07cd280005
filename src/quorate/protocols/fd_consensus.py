"""Consensus with a perfect failure detector, which tells every process of every crash and never errs.

The protocol is the example of Bokor's thesis (2011, section 5.1). Everyone sends its proposal to everyone. Who is told
of a crash passes on what it knows of the crashed process's proposal, which may have reached only some; a suspicion that
says nothing of the proposal is dismissed. Who knows all proposals decides the smallest. Any number of processes may
crash, and what a process decided before it crashed counts too. A proposal that is lost with its proposer blocks the
others for ever: that is the price, and why only safety is claimed.
"""

from quorate import Crash, Map, Message, Peers, Pid, Process, System, crashes, invariant, on, start

EMPTY = -1  # in a suspicion: I do not know what it proposed


class Propose(Message):
    value: int


class Suspect(Message):
    process: Pid
    value: int


class Participant(Process):
    value: int
    others: Peers = Peers()
    known: Map[Pid, int] = Map()
    decision: int | None = None

    @start
    def propose(self) -> None:
        self.known |= {self.pid: self.value}
        self.send(self.others, Propose(self.value))

    @on(Propose)
    def learn(self, m: Propose) -> None:
        self.known |= {m.sender: m.value}

    @on(Crash)
    def suspect(self, m: Crash) -> None:
        self.send(self.others, Suspect(m.sender, self.known.get(m.sender, EMPTY)))

    @on(Suspect, when=lambda self, m: m.value != EMPTY and m.process not in self.known)
    def hear(self, m: Suspect) -> None:
        self.known |= {m.process: m.value}

    @start(when=lambda self: self.settled() >= self.others | {self.pid})
    def decide(self) -> None:
        self.decision = min(self.known.values())

    def settled(self) -> Peers:
        """Whose proposals need not be waited for."""
        return Peers(self.known)


class DetectorConsensus(System):
    """Agreement and validity of consensus with a perfect failure detector."""

    processes: int = 3
    crashes: int = 1

    participant = Participant

    def build(self) -> None:
        self.require(self.processes > 0, "there must be a process")
        self.faults = crashes(self.crashes)
        everyone = [self.spawn(self.participant, value=self.choose((0, 1))) for _ in range(self.processes)]
        for one in everyone:
            self.connect(one, others=Peers(everyone) - {one})

    @invariant
    def agreement(self) -> bool:
        return len({each.decision for each in self[Participant]} - {None}) <= 1

    @invariant
    def validity(self) -> bool:
        proposed = {each.value for each in self[Participant]}
        return {each.decision for each in self[Participant]} <= {None, *proposed}

    def decided(self) -> bool:
        """Whoever is up has decided."""
        return all(each.decision is not None or each.crashed for each in self[Participant])
