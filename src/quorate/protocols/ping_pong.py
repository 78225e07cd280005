"""Ping-pong, the smallest example: two players hit a ball back and forth."""

from quorate import Message, Pid, Process, System, final, invariant, on, start


class Ball(Message):
    hits: int


class Player(Process):
    opponent: Pid
    serves: bool
    rally: int  # how many hits they play
    hits: int = 0

    @start(when=lambda self: self.serves)
    def serve(self) -> None:
        self.hits = 1
        self.send(self.opponent, Ball(1))

    @on(Ball, when=lambda self, ball: ball.hits < self.rally)
    def hit(self, ball: Ball) -> None:
        self.hits = ball.hits + 1
        self.reply(Ball(self.hits))


class PingPong(System):
    """Two players hit a ball back and forth, `rally` times."""

    rally: int = 10

    def build(self) -> None:
        self.require(self.rally >= 1, "a rally has at least one hit")
        ping = self.spawn(Player, serves=True, rally=self.rally)
        pong = self.spawn(Player, serves=False, rally=self.rally, opponent=ping)
        self.connect(ping, opponent=pong)

    @invariant
    def they_take_turns(self) -> bool:
        ping, pong = self[Player]
        return abs(ping.hits - pong.hits) <= 1

    @final
    def rally_is_over(self) -> bool:
        return max(player.hits for player in self[Player]) == self.rally
