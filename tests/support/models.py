"""A model that does a bit of everything, for tests of how runs are shown, saved and replayed."""

from enum import Enum

from quorate import (
    Event,
    Map,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    can,
    crashes,
    final,
    invariant,
    on,
    quorum,
    start,
    step,
    unordered,
)  # fmt: skip


class Colour(Enum):
    RED = 1
    BLUE = 2


class Ask(Message):
    colour: Colour


class Answer(Message):
    number: int


class Asked(Event):
    colour: Colour


class Helper(Process):
    busy: bool = False

    @on(Ask)
    def help(self, m: Ask) -> None:
        self.busy = True
        self.reply(Answer(self.choose((1, 2))))


class Asker(Process):
    helpers: Peers
    answers: Map[Pid, int] = Map()

    @start
    def ask(self) -> None:
        colour = self.choose((Colour.RED, Colour.BLUE))
        self.emit(Asked(colour))
        self.send(self.helpers, Ask(colour))

    @quorum(Answer, size=2)
    def hear(self, answers: frozenset[Answer]) -> None:
        self.answers = Map({m.sender: m.number for m in answers})

    @step(when=lambda self: 2 in self.answers.values())
    def complain(self) -> None:
        assert len(self.answers) == 0, "an answer was 2"


class Watch(Monitor):
    blue: int = 0

    @on(Asked, when=lambda self, e: e.colour is Colour.BLUE)
    def asked(self, e: Asked) -> None:
        self.blue += 1


class Everything(System):
    """Asks for help, in colours."""

    helpers: int = 3
    colour: Colour = Colour.RED
    lossy: bool = True
    note: str | None = None

    faults = crashes(1, of=Helper)

    def build(self) -> None:
        self.require(self.helpers > 0, "somebody has to help")
        if self.lossy:
            self.network = unordered(losses=1, duplicates=1)
        helpers = self.spawn(Helper, self.helpers)
        self.spawn(Asker, helpers=helpers)
        self.watch(Watch)

    @invariant
    def never_blue(self) -> bool:
        """Nobody asks in blue."""
        return self[Watch].blue == 0

    @invariant
    def one_busy(self) -> bool:
        return sum(helper.busy for helper in self[Helper]) < 2

    @invariant
    def all_there(self) -> bool:
        return not any(helper.crashed for helper in self[Helper])

    @can
    def served(self) -> bool:
        return any(asker.answers for asker in self[Asker])

    @final
    def done(self) -> bool:
        return all(asker.answers for asker in self[Asker])


class Starts(System):
    """Two initial states, one of which is bad from the start."""

    def build(self) -> None:
        self.spawn(Helper, busy=self.choose((False, True)))

    @invariant
    def idle(self) -> bool:
        return not any(helper.busy for helper in self[Helper])
