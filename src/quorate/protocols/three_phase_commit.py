"""Three-phase commit: nobody waits for a crashed coordinator (Skeen 1981, with his central termination protocol).

Crashes are noticed reliably, as on a network with bounded delays. Before it commits, the coordinator tells everybody
that all have voted yes, and waits until everybody knows. When it crashes, the next participant in line takes over: it
brings all to its own state, and then commits if it is prepared and aborts if not. A crash may cut a step short,
in the midst of its messages.
"""

from enum import Enum

from quorate import Crash, Message, Peers, Pid, Process, System, can, crashes, final, invariant, on, quorum, start


class State(Enum):
    INITIAL = 1
    WAITING = 2  # voted yes
    PREPARED = 3  # everybody has voted yes
    COMMITTED = 4
    ABORTED = 5


OPEN = (State.INITIAL, State.WAITING, State.PREPARED)


class VoteRequest(Message): ...


class Ballot(Message):
    yes: bool


class Move(Message):  # the second phase: to PREPARED; of the termination protocol: to the state of who takes over
    to: State


class Moved(Message): ...


class Decision(Message):
    state: State


class Coordinator(Process):
    participants: Peers  # those that are up
    preparing: bool = False
    decided: bool = False

    @start
    def begin(self) -> None:
        self.send(self.participants, VoteRequest())

    @quorum(Ballot, each="participants", when=lambda self: not self.preparing and not self.decided)
    def count(self, ballots: frozenset[Ballot]) -> None:
        if all(b.yes for b in ballots):
            self.preparing = True
            self.send(self.participants, Move(State.PREPARED))
        else:
            self.abort()

    @quorum(Moved, each="participants", when=lambda self: self.preparing and not self.decided)
    def commit(self, moved: frozenset[Moved]) -> None:
        self.decided = True
        self.send(self.participants, Decision(State.COMMITTED))

    @on(Crash)
    def miss(self, m: Crash) -> None:
        self.participants = Peers(self.participants - {m.sender})
        if not self.preparing and not self.decided:
            self.abort()

    def abort(self) -> None:
        self.decided = True
        self.send(self.participants, Decision(State.ABORTED))


class Participant(Process):
    coordinator: Pid
    line: tuple[Pid, ...]  # the participants that are up, in the order in which they take over
    alone: bool
    state: State = State.INITIAL

    @on(VoteRequest, when=lambda self, m: self.state is State.INITIAL and m.sender == self.coordinator)
    def vote(self, m: VoteRequest) -> None:
        self.state = self.choose((State.WAITING, State.ABORTED))
        self.reply(Ballot(self.state is State.WAITING))

    @on(Move, when=lambda self, m: m.sender == self.coordinator)
    def move(self, m: Move) -> None:
        if self.state in OPEN:
            self.state = m.to
        self.reply(Moved())

    @on(Decision, when=lambda self, m: self.state in OPEN)
    def learn(self, m: Decision) -> None:
        self.state = m.state

    @on(Crash)
    def miss(self, m: Crash) -> None:
        self.line = tuple(p for p in self.line if p != m.sender)
        if m.sender == self.coordinator and self.alone:
            self.state = self.verdict()
        elif m.sender == self.coordinator:
            self.coordinator = self.line[0]
            if self.coordinator == self.pid:
                self.send(self.line, Move(self.state) if self.state in OPEN else Decision(self.state))

    @quorum(Moved, each="line", when=lambda self: self.coordinator == self.pid)
    def terminate(self, moved: frozenset[Moved]) -> None:
        self.state = self.verdict()
        self.send(self.line, Decision(self.state))

    def verdict(self) -> State:
        if self.state in OPEN:
            return State.COMMITTED if self.state is State.PREPARED else State.ABORTED
        return self.state


class ThreePhaseCommit(System):
    """All commit or none, and nobody waits for ever; with `alone=true` everybody decides for himself after a crash."""

    participants: int = 3
    crashes: int = 1
    alone: bool = False  # no termination protocol, each goes by its own state: agreement fails

    def build(self) -> None:
        coordinator = self.spawn(Coordinator)
        participants = [
            self.spawn(Participant, coordinator=coordinator, alone=self.alone) for _ in range(self.participants)
        ]
        self.connect(participants, line=tuple(participants))
        self.connect(coordinator, participants=Peers(participants))
        self.faults = crashes(self.crashes)

    @invariant
    def agreement(self) -> bool:
        return not {State.COMMITTED, State.ABORTED} <= {p.state for p in self[Participant]}

    @can
    def commit(self) -> bool:
        return all(p.state is State.COMMITTED for p in self[Participant])

    @can
    def commit_without_the_coordinator(self) -> bool:
        """All commit though the coordinator crashed before it decided."""
        missing = self.crashes == 0 or all(c.crashed and not c.decided for c in self[Coordinator])
        return missing and all(p.state is State.COMMITTED for p in self[Participant])

    @final
    def decided(self) -> bool:
        """Whoever is up knows the outcome."""
        return all(p.state not in OPEN or p.crashed for p in self[Participant])
