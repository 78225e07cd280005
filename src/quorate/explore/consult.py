"""The adviser in a process of its own: preparing it may take longer than a page should wait."""

from __future__ import annotations

from collections import OrderedDict
from multiprocessing.connection import Connection
from typing import Any

from quorate.base.errors import MessagesRead, QuorateError
from quorate.explore.session import KEPT, Path, Session
from quorate.explore.worker import Worker

WAIT = 0.03
"""Seconds that an answer is waited for; whoever has none by then asks again."""


REDUCTIONS = ("quotient", "dead-messages", "symmetry", "por")
Said = list[dict[str, Any]] | str
"""The advice of every reduction, or what went wrong."""


class Consultation:
    """Asks about positions, and remembers what was said."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._worker: Worker | None = None
        self._known: OrderedDict[Path, Said] = OrderedDict()
        self._asked: set[Path] = set()

    def start(self) -> None:
        self._worker = Worker(self._answer)

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    def to_json(self, path: Path) -> dict[str, Any]:
        """What the reductions would do at a position, as far as it is known by now."""
        if path not in self._known and self._worker is not None and not self._worker.ended:
            if path not in self._asked:
                self._asked.add(path)
                self._worker.send(path)
            for answered, said in self._worker.received(WAIT):
                self._known[answered] = said
                self._asked.discard(answered)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        known = self._known.get(path)
        waiting = known is None and self._worker is not None and not self._worker.ended
        if isinstance(known, str):
            return {"status": "known", "reductions": [], "error": known}
        return {"status": "asking" if waiting else "known", "reductions": known or [], "error": None}

    def _answer(self, connection: Connection[Any, Any]) -> None:
        from quorate.explore.advice import Advice, Adviser

        adviser, why = None, ""
        try:
            adviser = Adviser(self.session.definition)
        except MessagesRead as read:
            why = f"{read}, and a check makes no reductions then"
        while True:
            try:
                path: Path = connection.recv()
            except EOFError:
                return
            said: Said = []
            try:
                position = self.session.at(path)
                if position.failed is None:
                    offered = self.session.steps(position.state)
                    everything = tuple(range(len(offered)))
                    advice = [Advice(name, False, everything, why, {}) for name in REDUCTIONS]
                    if adviser is not None:
                        advice = adviser.advice(position.state, offered)
                    said = [each.to_json() for each in advice]
            except QuorateError as error:
                said = error.message
            connection.send((path, said))
