"""`dead-fixpoint`: a message is alive though the state that takes it is reached by way of one that was met before.

The process is met idle (0), armed (1) and busy (2). A Ping comes while it is busy; it goes back to idle, and only armed
does it take a Ping. To draw: a process that comes back to a local state, and a message that it gets on the way.
"""

from quorate import Message, Pid, Process, System, can, on, step

RULE = "dead-fixpoint"
OPTIONS: dict[str, object] = {}


class Ask(Message):
    pass


class Ping(Message):
    pass


class Back(Message):
    pass


class Server(Process):
    @on(Ask)
    def answer(self, m: Ask) -> None:
        self.reply(Ping())
        self.reply(Back())


class Client(Process):
    server: Pid
    mode: int = 0
    got: bool = False

    @step(when=lambda self: self.mode == 0)
    def arm(self) -> None:
        self.mode = 1

    @step(when=lambda self: self.mode == 0)
    def work(self) -> None:
        self.mode = 2
        self.send(self.server, Ask())

    @on(Back)
    def rest(self, m: Back) -> None:
        self.mode = 0

    @on(Ping, when=lambda self, m: self.mode == 1)
    def hear(self, m: Ping) -> None:
        self.got = True


class Model(System):
    def build(self) -> None:
        self.spawn(Client, server=self.spawn(Server))

    @can
    def heard(self) -> bool:
        return any(client.got for client in self[Client])
