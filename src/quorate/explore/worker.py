"""Long work beside the server: in a process of its own, so that the page answers at once whatever is searched for.

A fork rather than a thread: the model's handlers are Python, and would take turns with the page. Rather than a fresh
process, too, which could not import a model that was loaded from a file.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
Send = Callable[[Any], None]
Job = Callable[["Connection[Any, Any]"], None]


class Worker:
    """Runs a job that is asked and answers through a connection; `received` is what has come so far."""

    def __init__(self, job: Job) -> None:
        here, there = multiprocessing.Pipe()
        self._connection: Connection[Any, Any] = here
        self._process = multiprocessing.get_context("fork").Process(
            target=_run, args=(job, there, os.getpid()), daemon=True
        )
        # A signal between the fork and the child's own handlers would be taken by the parent's, in the child.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        there.close()
        self.ended = False
        """Nothing more will come."""

    def send(self, question: Any) -> None:
        """Ask the job something."""
        try:
            self._connection.send(question)
        except OSError:
            self.ended = True

    def received(self, wait: float = 0.0) -> list[Any]:
        """What was sent since the last time this was asked; if that is nothing, what comes within some seconds."""
        found: list[Any] = []
        try:
            while not self.ended and self._connection.poll(0.0 if found else wait):
                found.append(self._connection.recv())
        except (EOFError, OSError):
            self.ended = True
        return found

    def stop(self) -> None:
        self._process.kill()  # it has nothing to put away, and may be in a call that never ends
        self._process.join(timeout=2)
        self._connection.close()


def _run(job: Job, connection: Connection[Any, Any], parent: int) -> None:
    from quorate import _core

    _core.end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this too
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    try:
        job(connection)
    finally:
        connection.close()
