"""Two-phase commit: all participants commit, or none does (Gray 1978)."""

from quorate import Message, Peers, Process, System, can, crashes, final, invariant, on, quorum, start


class Prepare(Message): ...


class Ballot(Message):
    yes: bool


class Decision(Message):
    commit: bool


class Coordinator(Process):
    participants: Peers

    @start
    def prepare(self) -> None:
        self.send(self.participants, Prepare())

    @quorum(Ballot, each="participants")
    def decide(self, ballots: frozenset[Ballot]) -> None:
        self.send(self.participants, Decision(all(b.yes for b in ballots)))


class Participant(Process):
    willing: bool | None = None
    committed: bool | None = None

    @on(Prepare)
    def vote(self, _: Prepare) -> None:
        self.willing = self.choose((True, False))
        self.reply(Ballot(self.willing))

    @on(Decision)
    def learn(self, m: Decision) -> None:
        self.committed = m.commit


class TwoPhaseCommit(System):
    """Participants agree; with `-p crashes=1` the coordinator may crash and leave them waiting."""

    participants: int = 3
    crashes: int = 0

    def build(self) -> None:
        self.spawn(Coordinator, participants=self.spawn(Participant, self.participants))
        self.faults = crashes(self.crashes, of=Coordinator)

    @invariant
    def agreement(self) -> bool:
        return len({p.committed for p in self[Participant]} - {None}) <= 1

    @invariant
    def validity(self) -> bool:
        return all(p.willing for p in self[Participant]) or not any(p.committed for p in self[Participant])

    @can
    def commit(self) -> bool:
        return all(p.committed for p in self[Participant])

    @final
    def decided(self) -> bool:
        return all(p.committed is not None for p in self[Participant])

    def coordinator_up(self) -> bool:
        return not any(c.crashed for c in self[Coordinator])
