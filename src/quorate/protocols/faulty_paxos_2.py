"""Paxos with an acceptor that remembers the last proposal it accepted instead of the highest-numbered one.

Lamport (2001) lets an acceptor accept a proposal unless it has *promised* otherwise, so it may accept an older one
after a newer one, provided that it keeps reporting the highest. This one reports the last. It takes three proposals to
see the harm: the second is chosen, a late acceptance of the first covers it up, and the third revives the first. In
Bokor's thesis (2011, table 4.1) it is Faulty Paxos II.
"""

from quorate import on
from quorate.protocols import paxos
from quorate.protocols.paxos import Accept, Accepted


class Acceptor(paxos.Acceptor):
    @on(Accept, when=lambda self, m: m.vote.ballot >= self.promised)
    def accept(self, m: Accept) -> None:
        self.vote = m.vote  # sound would be: the highest of both, or to promise m.vote.ballot as well
        self.send(self.learners, Accepted(m.vote))


class FaultyPaxos2(paxos.Paxos):
    """Paxos whose acceptors remember only the last proposal they accepted; agreement fails with three proposals."""

    proposers: int = 3

    acceptor = Acceptor
