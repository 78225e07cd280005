"""A second opinion about a model that has to do with what cannot be looked into: files, locks, parts of a library.

Such a thing may remember, and asking again later is not enough: what was written once is read ever after. So two
processes are forked before the search. Each has everything as `build` left it, and goes some way through the model, the
one from the first process of the system on, the other from the last. In the end the search's own process goes these
ways as well. If it does something else there, the model is no function of its fields (docs/soundness.md, rule 19).

Most models have nothing of the kind, and nothing is forked. Neither is it where other threads run, which may hold locks
that nobody would release in the new process, nor where Python cannot fork.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from time import perf_counter
from typing import Any, NamedTuple

from quorate.base.errors import Location, MessagesRead, ModelError
from quorate.base.values import encode
from quorate.base.watchdog import Halted
from quorate.language.message import Message
from quorate.model.again import CAUSES, signature
from quorate.model.definition import Column, Definition, Property, Transition
from quorate.model.outcome import Local, Outcome
from quorate.model.run import tried
from quorate.properties.evaluate import ask

STEPS = 96
"""So many evaluations are made on each of the two ways."""
SECONDS = 0.5
"""For so long an answer is waited for, and a way is gone for as long."""


MEMORY = 256 << 20
"""So many bytes a way may take."""


class Answer(NamedTuple):
    """What a part of the model said, as bytes, and who it was."""

    what: str
    location: Location
    said: bytes


class Twins:
    """Processes that were forked before the search."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._children: list[tuple[bool, int, int]] = []
        if definition.memory.opaque and _can_fork():
            self._children = [self._forked(backwards) for backwards in (False, True)]

    def _forked(self, backwards: bool) -> tuple[bool, int, int]:
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of the thread that watches this one (base/watchdog.py)
            child = os.fork()
        if child:
            os.close(writing)
            return backwards, child, reading
        try:
            _limit()
            os.close(reading)
            said = [answer.said for answer in _way(self._definition, backwards)]
            with os.fdopen(writing, "wb") as file:
                pickle.dump(said, file)
        finally:
            os._exit(0)

    def close(self) -> None:
        """End what is still there."""
        for _, child, reading in self._children:
            os.close(reading)
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        self._children = []

    def require_same(self) -> None:
        """Raise if the model does something else by now."""
        for backwards, _, reading in self._children:
            there = _received(reading)
            for before, now in zip(there, _way(self._definition, backwards), strict=False):
                if before != now.said:
                    raise ModelError(
                        f"{now.what} behaved differently in a process of its own, on the same state and messages",
                        hint=CAUSES,
                        code="Q104",
                        location=now.location,
                    )


def _limit() -> None:
    """A twin ends by itself, whatever the model does and whoever is there to end it: the system sees to that."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        with suppress(ValueError):
            signal.signal(each, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS)
    with suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:
        most = int(file.read().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _can_fork() -> bool:
    return hasattr(os, "fork") and sys.platform != "darwin" and threading.active_count() == 1


def _received(reading: int) -> list[bytes]:
    """What a child found; nothing if it takes too long."""
    until, text = perf_counter() + SECONDS, b""
    while select.select([reading], [], [], max(0.0, until - perf_counter()))[0]:
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            break
        text += chunk
    try:
        return list(pickle.loads(text))
    except (pickle.UnpicklingError, EOFError):
        return []


def ways(definition: Definition) -> list[list[bytes]]:
    """What handlers do on both ways, here and now: to be compared with what they do in another process. Nothing where
    the model has to do with Python's own values alone."""
    if not definition.memory.opaque:
        return []
    return [[each.said for each in _way(definition, backwards, ())] for backwards in (False, True)]


# --- the way through the model ---------------------------------------------------------------------------------------


def _way(definition: Definition, backwards: bool, properties: Iterable[Property] | None = None) -> Iterator[Answer]:
    """What properties say at the beginning, and what handlers do along one run: each process in turn takes a step.

    Which step that is follows from what was answered before, so two that answer alike go the same way.
    """
    order: Callable[[Any], list[Any]] = (lambda each: list(reversed(each))) if backwards else list
    initial = definition.initials[-1 if backwards else 0]
    until, asked = perf_counter() + SECONDS, 0
    for prop in order(definition.properties if properties is None else properties):
        with suppress(MessagesRead, ModelError, Halted):
            found = ask(definition, prop, initial, None, None)
            yield Answer(f"the property `{prop.name}`", prop.location, repr((found.value, found.reads)).encode())
    locals: list[Local] = list(initial)
    mail = list(definition.posted[-1 if backwards else 0]) if definition.posted else []
    moved = True
    while moved:
        moved = False
        for column in order(definition.processes):
            for transition in order(column.spec.transitions):
                messages = _messages(definition, column, transition, mail)
                if messages is None:
                    continue
                if asked == STEPS or perf_counter() > until:
                    return
                try:
                    outcomes = tried(column, transition, locals[column.index], messages)
                except (ModelError, Halted):
                    continue  # the search says so if it gets there
                if outcomes is None:
                    continue
                asked += 1
                yield Answer(str(transition), transition.location, _said(outcomes))
                taken = next((each for each in outcomes if each.local is not None), None)
                if taken is not None and taken.local is not None:
                    locals[column.index] = taken.local
                    mail = [each for each in mail if not any(each[1] is message for message in messages)]
                    mail += taken.sends
                    moved = True
                    break


def _said(outcomes: tuple[Outcome, ...]) -> bytes:
    return b"".join(map(signature, outcomes))


def _messages(
    definition: Definition, column: Column, transition: Transition, mail: list[tuple[int, Message]]
) -> tuple[Message, ...] | None:
    """What a transition could take of what lies there: the oldest one, or for a quorum one of each sender."""
    if transition.message is None:
        return ()
    mine = [each for at, each in mail if definition.receiver(at) is column and transition.takes(each)]
    if not mine:
        return None
    if transition.kind != "quorum":
        return (mine[0],)
    by_sender = {encode(each.sender): each for each in reversed(mine)}
    return tuple(sorted(by_sender.values(), key=encode))
