"""counts: states, transitions, deadlocks, depth (13, 161, 0, 4), in the reference (17, 215, 0, 4)

quorate check fuzz-8000262-counts.py --quotient off --dead-messages off --symmetry none --byzantine alpha=2
"""

from typing import Annotated

from quorate import Among, Message, Pid, Process, Signed, System, on, start, unordered


class Ping(Message):
    a: Signed[Annotated[int, Among(0, 1)]] | None


class Alpha(Process):
    to_x: frozenset[Pid] = frozenset()

    @on(Ping)
    def hear0b_x(self, m: Ping) -> None:
        pass


class Variant(Alpha):
    @start
    def do0_x(self) -> None:
        self.send(self.to_x, Ping(self.sign(0)))


class Drawn(System):
    network = unordered(losses=1)

    def build(self) -> None:
        alpha_0 = self.spawn(Alpha, 2)
        variant_1 = self.spawn(Variant)
        self.connect(variant_1, to_x=alpha_0)
