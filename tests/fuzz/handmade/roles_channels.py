"""`roles-channels`: the roles of a process share its FIFO channels.

Ping stands before Pong and is never taken, so that no Pong is heard; taken apart, the roles have a channel each. To
draw: processes of several roles on FIFO channels whose heads block, with a message that one role does not take (yet).
"""

from quorate import Message, Peers, Process, System, can, fifo, on, start

RULE = "roles-channels"
OPTIONS: dict[str, object] = {}


class Ping(Message):
    pass


class Pong(Message):
    pass


class Deaf(Process):
    never: bool = False

    @on(Ping, when=lambda self, m: self.never)
    def ping(self, m: Ping) -> None:
        self.never = False


class Listening(Process):
    heard: bool = False

    @on(Pong)
    def pong(self, m: Pong) -> None:
        self.heard = True


class Server(Deaf, Listening):
    pass


class Client(Process):
    deaf: Peers
    listening: Peers

    @start
    def send_both(self) -> None:
        self.send(self.deaf, Ping())
        self.send(self.listening, Pong())


class Model(System):
    network = fifo()

    def build(self) -> None:
        servers = Peers(self.spawn(Server) for _ in range(2))
        self.spawn(Client, deaf=servers.playing(Deaf), listening=servers.playing(Listening))

    @can
    def heard(self) -> bool:
        return any(server.heard for server in self[Listening])
