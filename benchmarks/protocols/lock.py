"""A lock that is given to whoever comes first; clients ask again and again, so that runs go round."""

from __future__ import annotations

from quorate import Message, Pid, Process, System, ltl, on, step


class Ask(Message): ...


class Granted(Message): ...


class Release(Message): ...


class Client(Process):
    lock: Pid
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def ask(self) -> None:
        self.at = 1
        self.send(self.lock, Ask())

    @on(Granted)
    def enter(self, m: Granted) -> None:
        self.at = 2

    @step(when=lambda self: self.at == 2)
    def leave(self) -> None:
        self.at = 0
        self.send(self.lock, Release())


class Lock(Process):
    held: bool = False

    @on(Ask, when=lambda self, m: not self.held)
    def grant(self, m: Ask) -> None:
        self.held = True
        self.reply(Granted())

    @on(Release)
    def free(self, m: Release) -> None:
        self.held = False


class Locking(System):
    clients: int = 4

    def build(self) -> None:
        self.spawn(Client, self.clients, lock=self.spawn(Lock))

    def held(self) -> bool:
        return self[Lock][0].held

    def waiting(self) -> bool:
        return self[Client][0].at == 1

    released = ltl("G(held -> F !held)")
    served = ltl("G(waiting -> F !waiting)")
