"""Code of a model that never comes to its end, and where it stands."""

from __future__ import annotations

from quorate import Message, Process, on, start
from support import here


def forever() -> bool:
    while True: pass  # fmt: skip  # noqa: E701  # here: forever


FOREVER = here("forever")
"""File and line of that loop."""


class Numbered(Message):
    number: int


class Unmet(Process):
    """Has no end where no run gets: only if the same message came twice, as the closure supposes."""

    n: int = 0

    @start
    def send_both(self) -> None:
        self.send(self.pid, Numbered(1))
        self.send(self.pid, Numbered(2))

    @on(Numbered)
    def take(self, m: Numbered) -> None:
        if self.n == m.number:
            forever()
        self.n = m.number
