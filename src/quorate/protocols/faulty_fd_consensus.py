"""Consensus with a perfect failure detector, in a hurry.

A process takes an empty suspicion for an answer and decides without that proposal. But one that crashes while it sends
may have reached some, and they decide with it.
"""

from quorate import Crash, Peers, Pid, on
from quorate.protocols import fd_consensus
from quorate.protocols.fd_consensus import EMPTY, Suspect


class Participant(fd_consensus.Participant):
    suspected: frozenset[Pid] = frozenset()

    @on(Crash)
    def suspect(self, m: Crash) -> None:
        super().suspect(m)
        self.suspected |= {m.sender}

    @on(Suspect)  # the original dismisses an empty one
    def hear(self, m: Suspect) -> None:
        self.suspected |= {m.process}
        if m.value != EMPTY:
            super().hear(m)

    def settled(self) -> Peers:
        return Peers(self.suspected | set(self.known))


class FaultyDetectorConsensus(fd_consensus.DetectorConsensus):
    """Consensus that does not wait for a proposal that another process may know; agreement fails."""

    participant = Participant
