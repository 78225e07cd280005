"""Consensus with an unreliable failure detector and a rotating coordinator (Chandra and Toueg 1996, figure 6).

A majority of processes is correct. In each round a coordinator proposes the newest of a majority of estimates, and
decides if a majority adopts it. A process that suspects the coordinator goes on to the next round. The detector may be
wrong at any time: suspicion is a step that is always possible. It takes an eventually accurate one to terminate, but
none to agree.
"""

from enum import Enum
from typing import NamedTuple

from quorate import (
    Crash,
    Message,
    Peers,
    Pid,
    Process,
    System,
    can,
    crashes,
    final,
    invariant,
    majority,
    on,
    quorum,
    start,
    step,
)


class Phase(Enum):
    GATHER = 1  # the coordinator: estimates
    ADOPT = 2  # everybody: the proposal, or suspicion
    COUNT = 3  # the coordinator: who adopted it
    REST = 4


class Stamped(NamedTuple):
    round: int  # in which it was adopted
    value: int


class Estimate(Message):
    round: int
    estimate: Stamped


class Proposal(Message):
    round: int
    value: int


class Answer(Message):
    round: int
    adopted: bool


class Decide(Message):
    value: int


class Participant(Process):
    everyone: Peers
    coordinators: tuple[Pid, ...]  # of the rounds
    majority: int
    newest: bool
    estimate: Stamped
    round: int = 0
    phase: Phase = Phase.REST
    decided: int | None = None

    @start(when=lambda self: self.decided is None)
    def begin(self) -> None:
        self.next_round()

    def next_round(self) -> None:
        if self.round == len(self.coordinators):
            self.phase = Phase.REST
            return
        coordinator = self.coordinators[self.round]
        self.round += 1
        self.phase = Phase.GATHER if coordinator == self.pid else Phase.ADOPT
        self.send(coordinator, Estimate(self.round, self.estimate))

    @quorum(
        Estimate,
        size="majority",
        when=lambda self: self.phase is Phase.GATHER,
        where=lambda self, m: m.round == self.round,
    )
    def propose(self, estimates: frozenset[Estimate]) -> None:
        options = [m.estimate for m in estimates]
        chosen = max(options) if self.newest else self.choose(options)
        self.phase = Phase.ADOPT
        self.send(self.everyone, Proposal(self.round, chosen.value))

    @on(Proposal, when=lambda self, m: self.phase is Phase.ADOPT and m.round == self.round)
    def adopt(self, m: Proposal) -> None:
        self.estimate = Stamped(m.round, m.value)
        self.answer(True)

    @step(when=lambda self: self.phase is Phase.ADOPT and self.may_suspect(self.coordinators[self.round - 1]))
    def suspect(self) -> None:
        self.answer(False)

    def may_suspect(self, coordinator: Pid) -> bool:
        return coordinator != self.pid

    def answer(self, adopted: bool) -> None:
        coordinator = self.coordinators[self.round - 1]
        self.send(coordinator, Answer(self.round, adopted))
        if coordinator == self.pid:
            self.phase = Phase.COUNT
        else:
            self.next_round()

    @quorum(
        Answer,
        size="majority",
        when=lambda self: self.phase is Phase.COUNT,
        where=lambda self, m: m.round == self.round,
    )
    def count(self, answers: frozenset[Answer]) -> None:
        if all(m.adopted for m in answers):
            self.send(self.everyone, Decide(self.estimate.value))
        self.next_round()

    @on(Decide, when=lambda self, m: self.decided is None)
    def decide(self, m: Decide) -> None:
        self.decided, self.phase = m.value, Phase.REST
        self.send(self.everyone, Decide(m.value))  # reliable broadcast: if one decides, all do


class WellInformed(Participant):
    """With a detector that never errs."""

    down: Peers = Peers()

    @on(Crash)
    def miss(self, m: Crash) -> None:
        self.down = Peers(self.down | {m.sender})

    def may_suspect(self, coordinator: Pid) -> bool:
        return coordinator in self.down


class ChandraToueg(System):
    """Agreement and validity whatever the detector says; with `newest=false` any estimate may win, and it fails."""

    processes: int = 3
    rounds: int = 2  # how many are explored
    crashes: int = 1
    newest: bool = True  # the coordinator proposes the estimate that was adopted last
    accurate: bool = False  # the detector suspects only who has crashed: then everybody decides

    def build(self) -> None:
        self.require(0 <= 2 * self.crashes < self.processes, "a majority must be left after the crashes")
        participant = WellInformed if self.accurate else Participant
        members = [
            self.spawn(participant, majority=majority(self.processes), newest=self.newest, estimate=Stamped(0, i))
            for i in range(1, self.processes + 1)
        ]
        coordinators = tuple(members[r % self.processes] for r in range(self.rounds))
        self.connect(members, everyone=Peers(members), coordinators=coordinators)
        self.faults = crashes(self.crashes)

    @invariant
    def agreement(self) -> bool:
        return len({p.decided for p in self[Participant]} - {None}) <= 1

    @invariant
    def validity(self) -> bool:
        return all(p.decided is None or 1 <= p.decided <= self.processes for p in self[Participant])

    @can
    def decide_in_the_last_round(self) -> bool:
        return any(p.decided is not None and p.estimate.round == self.rounds for p in self[Participant])

    @final
    def nobody_waits(self) -> bool:
        """Every process is through its rounds or has decided, and if one has, all have."""
        rested = all(p.phase is Phase.REST or p.crashed for p in self[Participant])
        decided = [p.decided is not None for p in self[Participant] if not p.crashed]
        return rested and (all(decided) or not any(decided))

    def decided(self) -> bool:
        """Whoever is up has decided."""
        return all(p.decided is not None or p.crashed for p in self[Participant])
