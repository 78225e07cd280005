"""`attacker-maximal`: a maximal set depends on what is not there, and an attacker may keep back what it could say.

What an attacker can say stands in the inbox, so every maximal set would hold it, and a set of the honest vote alone is
missed. To draw: attackers and maximal sets together, and a reference that lets attackers be silent; the generator
leaves such protocols out.
"""

from quorate import Message, Peers, Pid, Process, System, can, quorum, start

RULE = "attacker-maximal"
OPTIONS: dict[str, object] = {}


class Vote(Message):
    pass


class Voter(Process):
    to: Pid

    @start
    def vote(self) -> None:
        self.send(self.to, Vote())


class Counter(Process):
    honest: Peers = Peers()
    alone: bool = False

    @quorum(Vote, enough=lambda self, votes: len(votes) > 0, sets="maximal")
    def tally(self, votes: frozenset[Vote]) -> None:
        self.alone = Peers(vote.sender for vote in votes) == self.honest


class Model(System):
    def build(self) -> None:
        counter = self.spawn(Counter)
        voters = [self.spawn(Voter, to=counter) for _ in range(3)]
        self.connect(counter, honest=Peers(voters[:2]))
        self.corrupt(voters, 1)

    @can
    def honest_alone(self) -> bool:
        """Both honest votes, and none of the attacker's."""
        return any(counter.alone for counter in self[Counter])
