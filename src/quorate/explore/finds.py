"""Runs to somewhere, searched for by the engine while the page is open already."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from quorate.base.errors import ParameterError, QuorateError
from quorate.explore.session import Path, Session
from quorate.explore.worker import Send, Worker
from quorate.language.system import System

SECONDS = 60.0
GRACE = 10.0
"""Seconds after which a search that does not keep its time is left behind."""

Status = Literal["searching", "found", "none", "stopped", "open", "without", "failed"]
"""`open`: a bound left a property undecided; `without`: a property fails, but no single run shows it (CTL)."""


class Find:
    """One thing to be found: a counterexample, or a state that is wanted."""

    def __init__(self, kind: Literal["violation", "goal"], text: str) -> None:
        self.kind = kind
        self.text = text
        self.status: Status = "searching"
        self.note = ""
        self.path: Path | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "text": self.text,
            "status": self.status,
            "note": self.note,
            "path": list(self.path) if self.path is not None else None,
        }


class Finds:
    """What is being looked for: a violation of any property, then each goal."""

    def __init__(self, session: Session, system: System, goals: Sequence[str], options: Mapping[str, Any]) -> None:
        self.session = session
        self.options = dict(options)
        self.entries = [Find("violation", "a counterexample"), *(Find("goal", goal) for goal in goals)]
        extended = with_goals(system, goals) if goals else system
        self._systems = [system, *(extended for _ in goals)]
        self._worker: Worker | None = None
        self._heard = 0.0

    def start(self) -> None:
        self._heard = time.monotonic()
        self._worker = Worker(lambda connection: self._search(connection.send))

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    def to_json(self) -> list[dict[str, Any]]:
        """What is known by now."""
        if self._worker is not None:
            for number, changes in self._worker.received():
                self._heard = time.monotonic()
                vars(self.entries[number]).update(changes)
            if time.monotonic() > self._heard + SECONDS + GRACE and not self._worker.ended:
                self._worker.stop()
                self._worker.ended = True
            if self._worker.ended:
                for entry in self.entries:
                    if entry.status == "searching":
                        entry.status, entry.note = "failed", "the search ended by itself"
        return [entry.to_json() for entry in self.entries]

    def _search(self, send: Send) -> None:
        for number in range(len(self.entries)):
            try:
                self._look(number, send)
            except QuorateError as error:
                send((number, {"status": "failed", "note": error.message}))

    def _look(self, number: int, send: Send) -> None:
        from quorate.search.check import check

        goal = goal_name(number - 1) if number else None
        result = check(self._systems[number], property=goal, timeout=SECONDS, **self.options)
        trace = result.trace if goal is None else result.witnesses.get(goal)
        known: dict[str, Any] = {"note": f"{result.states:,} states"}
        if trace is not None:
            known |= {"status": "found", "path": self.session.path_of(trace)}
            if goal is None:
                known["text"] = "a deadlock" if trace.property == "deadlock" else f"{trace.property} fails"
        elif result.stopped_by is not None or result.store != "exact":
            known["status"] = "stopped"
        elif goal is None and result.verdict == "violated":
            known |= {"status": "without", "text": f"{result.property} fails"}
        elif goal is None and result.verdict == "incomplete":
            known["status"] = "open"
        else:
            known["status"] = "none"
        send((number, known))


def goal_name(number: int) -> str:
    return f"goal_{number + 1}"


def with_goals(system: System, goals: Sequence[str]) -> System:
    """The same system with a `can` property for every goal that was typed on the command line."""
    import sys

    from quorate.language.transitions import can
    from quorate.model.define import define

    cls = type(system)
    # The names that the goal may use: what the model's file knows, and every class of process, wherever it comes from.
    scope: dict[str, Any] = {each.cls.__name__: each.cls for each in define(system).columns}
    scope |= vars(sys.modules[cls.__module__])
    members: dict[str, Any] = {"__module__": cls.__module__, "__doc__": cls.__doc__}
    for number, goal in enumerate(goals):
        try:
            function = eval(compile(f"lambda self: bool({goal}\n)", "<--goal>", "eval"), scope)
        except SyntaxError as error:
            raise ParameterError(
                f"--goal {goal!r} is not a Python expression: {error.msg}",
                hint="for example --goal 'any(learner.learned for learner in self[Learner])'",
                code="Q208",
            ) from None
        function.__name__ = goal_name(number)
        members[goal_name(number)] = can(function)
    made: Any = type(cls.__name__, (cls,), members)
    extended: System = made(**system.parameters)
    return extended
