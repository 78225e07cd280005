"""`implicit-deadlock`, `implicit-notified`, `implicit-flag`: what only an explicit crash shows.

With explicit crashes (`crash="explicit"`) all three can be reached, and there is a deadlock. To draw: nothing,
implicit crashes are drawn; but the reference has to explore *explicit* ones and compare verdicts. It explores none.
"""

from quorate import Crash, Message, Pid, Process, System, can, crashes, final, on, start

RULE = "implicit-deadlock implicit-notified implicit-flag"
OPTIONS: dict[str, object] = {"crash": "implicit", "property": ["told", "flag"]}
BY_RULE = {
    "implicit-deadlock": {"crash": "implicit", "property": ["deadlock"]},
    "implicit-notified": {"crash": "implicit", "property": ["told"]},
    "implicit-flag": {"crash": "implicit", "property": ["flag"]},
}


class Ping(Message):
    pass


class Sender(Process):
    to: Pid

    @start
    def send_it(self) -> None:
        self.send(self.to, Ping())


class Receiver(Process):
    heard: bool = False

    @on(Ping)
    def hear(self, m: Ping) -> None:
        self.heard = True


class Watcher(Process):
    told: bool = False

    @on(Crash)
    def mourn(self, m: Crash) -> None:
        self.told = True


class Model(System):
    faults = crashes(1, of=Sender)
    watched: bool = True

    def build(self) -> None:
        self.spawn(Sender, to=self.spawn(Receiver))
        if self.watched:
            self.spawn(Watcher)

    @can
    def told(self) -> bool:
        return any(watcher.told for watcher in self[Watcher])

    @can
    def flag(self) -> bool:
        return any(sender.crashed for sender in self[Sender])

    @final
    def done(self) -> bool:
        return all(receiver.heard for receiver in self[Receiver])


class Unwatched(Model):
    """Nobody is told of crashes: being told is refused by itself."""

    watched: bool = False


SYSTEM = {"implicit-deadlock": Unwatched, "implicit-flag": Unwatched}
