"""Paxos with a learner that counts acceptances without comparing what was accepted: it breaks agreement.

That is the Faulty Paxos of Bokor, Kinder, Serafini and Suri (2011). No crash is needed to see it.
"""

from quorate import quorum
from quorate.protocols import paxos
from quorate.protocols.paxos import Accepted


class Learner(paxos.Learner):
    @quorum(Accepted, size="majority")  # the original asks for the same vote
    def learn(self, accepted: frozenset[Accepted]) -> None:
        super().learn(accepted)


class FaultyPaxos(paxos.Paxos):
    """Paxos whose learners do not compare values; agreement fails."""

    learner = Learner
