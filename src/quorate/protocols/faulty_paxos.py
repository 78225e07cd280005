"""Paxos with a learner that counts acceptances without comparing what was accepted: it breaks agreement."""

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
