"""Two-phase commit with crashes and recovery from a log (Bernstein, Hadzilacos and Goodman 1987, chapter 7).

Anybody may crash, and comes back with what was written to disk: the vote, the decision. A coordinator that has not
decided may abort at any time, and so may a participant that has not voted. One that has voted yes has to wait: as
`two-phase-commit` shows, for ever if the coordinator never comes back. Here it does, and repeats what it has decided.
"""

from typing import ClassVar

from quorate import Peers, Process, System, can, crashes, final, invariant, on, quorum, start, step
from quorate.protocols.two_phase_commit import Ballot, Decision, Prepare


class Coordinator(Process):
    durable: ClassVar[tuple[str, ...]] = ("decision",)
    participants: Peers
    decision: bool | None = None

    @start(when=lambda self: self.decision is None)
    def prepare(self) -> None:
        self.send(self.participants, Prepare())

    @quorum(Ballot, each="participants", when=lambda self: self.decision is None)
    def decide(self, ballots: frozenset[Ballot]) -> None:
        self.conclude(all(b.yes for b in ballots))

    @step(when=lambda self: self.decision is None)
    def give_up(self) -> None:
        self.conclude(False)

    @start(when=lambda self: self.decision is not None)  # after a recovery, one-time steps may happen again
    def repeat(self) -> None:
        self.conclude(self.decision is True)

    def conclude(self, commit: bool) -> None:
        self.decision = commit
        self.send(self.participants, Decision(commit))


class ForgetfulCoordinator(Coordinator):
    durable = ()


class Participant(Process):
    durable = ("willing", "committed")
    impatient: bool
    willing: bool | None = None
    committed: bool | None = None

    @on(Prepare, when=lambda self, m: self.willing is None and self.committed is None)
    def vote(self, m: Prepare) -> None:
        self.willing = self.choose((True, False))
        self.reply(Ballot(self.willing))

    @on(Decision, when=lambda self, m: self.committed is None)
    def learn(self, m: Decision) -> None:
        self.committed = m.commit

    @step(when=lambda self: self.committed is None and (not self.willing or self.impatient))
    def abort(self) -> None:
        self.committed = False


class TwoPhaseCommitRecovery(System):
    """All participants commit or none does, though everybody may crash, and nobody waits once all have recovered."""

    participants: int = 2
    crashes: int = 2
    comes_back: bool = False  # temporal properties may rely on it that who crashed recovers
    impatient: bool = False  # a participant aborts even after a yes: agreement fails
    forgetful: bool = False  # the coordinator does not write its decision to disk: agreement fails

    def build(self) -> None:
        participants = self.spawn(Participant, self.participants, impatient=self.impatient)
        self.spawn(ForgetfulCoordinator if self.forgetful else Coordinator, participants=participants)
        self.faults = crashes(self.crashes, recover="fair" if self.comes_back else True)

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
    def decided_or_down(self) -> bool:
        decided = all(p.committed is not None for p in self[Participant])
        return decided or any(p.crashed for p in (*self[Coordinator], *self[Participant]))

    def decided(self) -> bool:
        return all(p.committed is not None for p in self[Participant])
