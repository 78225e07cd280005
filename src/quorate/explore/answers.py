"""What the page asks about positions, answered in a process of its own: the model's code may not come back.

That process is forked by a keeper, which never runs the model's code and forks another one as soon as the last has
ended. So one that does not answer is left behind, and the next question finds a fresh one.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from quorate import _core
from quorate.base.errors import QuorateError
from quorate.base.watchdog import Halted
from quorate.explore.present import position_view, system_view
from quorate.explore.session import Path, Session
from quorate.explore.worker import Worker
from quorate.search.limits import Watcher

WAIT = 4.0
"""Seconds that the page waits for an answer."""
PATIENCE = 0.7 * WAIT
"""Seconds after which the model's code is stopped where that is possible: then the line is known."""
MOST_DRAWN = 120
"""Steps of the way here that are drawn; a longer one is too large to be looked at beside the state."""

Question = tuple[str, Path, int | None]


class NoAnswerError(QuorateError):
    """The model's code did not come back."""

    default_code = "Q701"


class Answers:
    """Answers questions about a session, here or, once it is started, in a process that can be left behind."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._worker: Worker | None = None
        self._lock = threading.Lock()
        self._process = 0
        self._number = 0
        self._silent: dict[Question, NoAnswerError] = {}
        self._chance: Any = None

    def start(self) -> None:
        self._chance = random.getstate()
        self._worker = Worker(self._keep)

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    def ask(self, what: str, path: Path = (0,), loop_from: int | None = None) -> Any:
        """An answer, or the error that it is; NoAnswerError if there is none in time."""
        question = what, path, loop_from
        with self._lock:
            if self._worker is None:
                return answer(self.session, *question)
            if question in self._silent:
                raise self._silent[question]
            found = self._wait(self._worker, question)
        if isinstance(found, QuorateError):
            raise found
        return found

    def _wait(self, worker: Worker, question: Question) -> Any:
        self._number += 1
        worker.send((self._number, question))
        until = time.monotonic() + WAIT
        while not worker.ended and time.monotonic() < until:
            for number, found in worker.received(max(0.0, until - time.monotonic())):
                if number == 0:
                    self._process = found
                elif number == self._number or number == -self._process != 0:
                    if isinstance(found, NoAnswerError):
                        self._silent[question] = found
                    return found
        error = NoAnswerError(f"the model's code did not come back within {WAIT:.0f} s")
        self._silent[question] = error
        if self._process:
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)
            self._process = 0
        return error

    # --- in other processes ------------------------------------------------------------------------------------

    def _keep(self, connection: Connection[Any, Any]) -> None:
        """Have a process that answers, until one of them ends because nobody asks any more."""
        keeper = os.getpid()
        while True:
            child = os.fork()
            if child == 0:
                _core.end_with(keeper)
                try:
                    self._serve(connection)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            try:  # to whoever still waits for that process
                connection.send((-child, NoAnswerError("the model's code ended the process that asked it")))
            except OSError:
                return

    def _serve(self, connection: Connection[Any, Any]) -> None:
        if self._chance is not None:
            random.setstate(self._chance)  # Python draws a new one in every process; the model has not
        connection.send((0, os.getpid()))
        while True:
            try:
                number, question = connection.recv()
            except EOFError:
                return
            try:
                with Watcher(PATIENCE, None):
                    found = answer(self.session, *question)
            except Halted as halted:
                where = (
                    f" in {halted.running.what}, {halted.running.file}:{halted.running.line}," if halted.running else ""
                )
                why = "ran out of memory" if halted.out_of_memory else "did not come back in time"
                found = NoAnswerError(f"the model's code{where} {why}")
            except QuorateError as error:
                found = error
            except Exception as error:
                found = QuorateError(f"internal error, {type(error).__name__}: {error}", code="Q900")
            connection.send((number, found))


def answer(session: Session, what: str, path: Path, loop_from: int | None = None) -> Any:
    """About the system, or about a position: all of it, the way there as a chart, or only whether it exists.

    `loop_from`: the way there is a run without an end, and from this state on its steps come again and again.
    """
    if what == "system":
        return system_view(session)
    if what == "at":
        return position_view(session, session.at(path))
    if what == "chart":
        return {"svg": drawn(session, path, loop_from)}
    session.at(path)
    return None


def drawn(session: Session, path: Path, loop_from: int | None = None) -> str | None:
    """The way to a position as a chart; None where there is nothing to draw, or too much."""
    from quorate.render.chart.layout import laid_out
    from quorate.render.chart.model import chart
    from quorate.render.chart.svg import svg

    if not 1 < len(path) <= MOST_DRAWN + 1:
        return None
    picture = chart(session.run(path, loop_from=loop_from))
    return svg(laid_out(picture, fold=None, brief=True), alone=False)
