"""Ben-Or's randomised consensus: agreement without any timing, with probability 1 (Ben-Or 1983, for crashes).

In every round the processes report their values; who sees a majority for one value proposes it; who sees f+1 proposals
decides, who sees one adopts it, and who sees none tosses a coin. Up to f of n > 2f processes may crash, so nobody waits
for more than n-f messages. The coin is a choice: agreement and validity hold however it falls.

Termination is not to be expected here. The processes decide with probability 1, but there are runs in which the coins
fall badly in every round, and to a check without probabilities such a run is a run like any other: `F decided` is
violated, whatever fairness is assumed.
"""

from quorate import Message, Peers, Process, System, can, crashes, final, invariant, majority, quorum, start


class Report(Message):
    round: int
    value: int


class Proposal(Message):
    round: int
    value: int | None


class Participant(Process):
    everyone: Peers
    waits_for: int  # n - f
    decides_on: int  # f + 1
    rounds: int
    input: int
    value: int
    round: int = 0
    reporting: bool = True
    decided: int | None = None
    finished: bool = False

    @start
    def begin(self) -> None:
        self.report()

    def report(self) -> None:
        self.round, self.reporting = self.round + 1, True
        self.send(self.everyone, Report(self.round, self.value))

    @quorum(Report, size="waits_for", when=lambda self: self.reporting, where=lambda self, m: m.round == self.round)
    def propose(self, reports: frozenset[Report]) -> None:
        values = [r.value for r in reports]
        common = [v for v in (0, 1) if values.count(v) >= majority(self.everyone)]
        self.reporting = False
        self.send(self.everyone, Proposal(self.round, common[0] if common else None))

    @quorum(
        Proposal,
        size="waits_for",
        when=lambda self: not self.reporting and not self.finished,
        where=lambda self, m: m.round == self.round,
    )
    def decide(self, proposals: frozenset[Proposal]) -> None:
        values = [p.value for p in proposals if p.value is not None]
        self.value = values[0] if values else self.choose((0, 1))
        if len(values) >= self.decides_on:
            assert self.decided in (None, self.value), "a decision is for ever"
            self.decided = self.value
        if self.round < self.rounds:
            self.report()
        else:
            self.finished = True


class BenOr(System):
    """Agreement and validity under f crashes; with `hasty=true` one proposal is enough to decide, and it fails."""

    processes: int = 3
    f: int = 1  # how many may crash
    rounds: int = 2  # how many are explored
    hasty: bool = False  # decide on one proposal instead of f+1

    def build(self) -> None:
        self.require(0 <= 2 * self.f < self.processes, "a majority must be left after f crashes")
        ones = self.choose(range(self.processes + 1))  # who has which input does not matter, but how many
        members = [
            self.spawn(
                Participant,
                waits_for=self.processes - self.f,
                decides_on=1 if self.hasty else self.f + 1,
                rounds=self.rounds,
                input=int(i < ones),
                value=int(i < ones),
            )
            for i in range(self.processes)
        ]
        self.connect(members, everyone=Peers(members))
        self.faults = crashes(self.f)

    @invariant
    def agreement(self) -> bool:
        return len({p.decided for p in self[Participant]} - {None}) <= 1

    @invariant
    def validity(self) -> bool:
        return {p.decided for p in self[Participant]} - {None} <= {p.input for p in self[Participant]}

    @can
    def decide_despite_different_inputs(self) -> bool:
        different = len({p.input for p in self[Participant]}) > 1
        return different and all(p.decided is not None for p in self[Participant])

    @final
    def nobody_waits(self) -> bool:
        """Every process is through its rounds, whoever has crashed."""
        return all(p.finished or p.crashed for p in self[Participant])

    def decided(self) -> bool:
        """Whoever is up has decided."""
        return all(p.decided is not None or p.crashed for p in self[Participant])

    def unanimous(self) -> bool:
        return len({p.input for p in self[Participant]}) == 1
