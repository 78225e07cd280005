"""Runs to somewhere, searched for by the engine while the page is open already.

What is searched for comes from the command line, or is a method of the model that the page names: one of a list that is
made here. The page never sends an expression.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any, Literal

from quorate.base.errors import ParameterError, QuorateError
from quorate.explore.session import Path, Session
from quorate.explore.worker import Worker
from quorate.language.system import System
from quorate.model.definition import Definition
from quorate.model.temporal import methods_of
from quorate.results.trace import Trace

SECONDS = 60.0
GRACE = 10.0
"""Seconds after which a search that does not keep its time is left behind."""

Status = Literal["searching", "found", "none", "stopped", "open", "without", "failed"]
"""`open`: a bound left a property undecided; `without`: a property fails, but no single run shows it (CTL)."""


class Find:
    """One thing to be found: a counterexample, or a state that is wanted; or a run that was found earlier."""

    def __init__(self, kind: Literal["saved", "violation", "goal"], text: str) -> None:
        self.kind = kind
        self.text = text
        self.status: Status = "searching"
        self.note = ""
        self.path: Path | None = None
        self.loop_from: int | None = None
        """Of a run without an end: after how many steps those begin that come again and again."""

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "text": self.text,
            "status": self.status,
            "note": self.note,
            "path": list(self.path) if self.path is not None else None,
            "loop_from": self.loop_from,
        }


class Finds:
    """What is being looked for: a violation of any property, then each goal, then what the page asks for by name."""

    def __init__(
        self,
        session: Session,
        system: System,
        goals: Sequence[str],
        options: Mapping[str, Any],
        saved: Trace | None = None,
    ) -> None:
        self.session = session
        self.options = dict(options)
        self.entries = [Find("violation", "a counterexample"), *(Find("goal", goal) for goal in goals)]
        self.offers = named_goals(session.definition, system)
        """What the page may ask for: how it reads, and the expression."""
        self._goals: list[int | None] = [None, *range(len(goals))]
        """Of each entry, the number of its goal."""
        self._offered_from = len(goals)
        self._system = system
        self._extended = with_goals(system, [*goals, *self.offers.values()])
        self._saved: Find | None = None
        if saved is not None:
            self._saved = Find("saved", "the saved run")
            self._saved.status, self._saved.path = "found", session.path_of(saved)
            self._saved.loop_from = saved.loop_from
        self._worker: Worker | None = None
        self._heard = 0.0

    def start(self) -> None:
        self._heard = time.monotonic()
        self._worker = Worker(self._serve)

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    def look_for(self, name: str) -> bool:
        """Search for one of the offers as well; False if there is none of that name."""
        if name not in self.offers:
            return False
        if all(entry.text != name for entry in self.entries):
            goal = self._offered_from + list(self.offers).index(name)
            self.entries.append(Find("goal", name))
            self._goals.append(goal)
            self._heard = time.monotonic()
            if self._worker is not None:
                self._worker.send((len(self.entries) - 1, goal))
        return True

    def to_json(self) -> list[dict[str, Any]]:
        """What is known by now."""
        if self._worker is not None:
            for number, changes in self._worker.received():
                self._heard = time.monotonic()
                vars(self.entries[number]).update(changes)
            waiting = any(entry.status == "searching" for entry in self.entries)
            if waiting and time.monotonic() > self._heard + SECONDS + GRACE and not self._worker.ended:
                self._worker.stop()
                self._worker.ended = True
            if self._worker.ended:
                for entry in self.entries:
                    if entry.status == "searching":
                        entry.status, entry.note = "failed", "the search ended by itself"
        return [entry.to_json() for entry in self._all()]

    def _all(self) -> list[Find]:
        return ([self._saved] if self._saved is not None else []) + self.entries

    def loop_of(self, path: Path) -> int | None:
        """Where the loop begins, if this is the path of a run without an end that was found."""
        return next((each.loop_from for each in self._all() if each.path == path), None)

    def _serve(self, connection: Connection[Any, Any]) -> None:
        """In a process of its own: first what is wanted from the beginning, then what is asked for."""
        self._search(connection.send)
        while True:
            try:
                number, goal = connection.recv()
            except EOFError:
                return
            self._try(number, goal, connection.send)

    def _search(self, send: Callable[[Any], None]) -> None:
        for number, goal in enumerate(self._goals):
            self._try(number, goal, send)

    def _try(self, number: int, goal: int | None, send: Callable[[Any], None]) -> None:
        try:
            send((number, self._look(goal)))
        except QuorateError as error:
            send((number, {"status": "failed", "note": error.message}))

    def _look(self, number: int | None) -> dict[str, Any]:
        from quorate.search.check import check

        goal = goal_name(number) if number is not None else None
        system = self._system if goal is None else self._extended
        result = check(system, property=goal, timeout=SECONDS, **self.options)
        trace = result.trace if goal is None else result.witnesses.get(goal)
        known: dict[str, Any] = {"note": f"{result.states:,} states"}
        if trace is not None:
            known |= {"status": "found", "path": self.session.path_of(trace), "loop_from": trace.loop_from}
            if goal is None:
                known["text"] = "a deadlock" if trace.property == "deadlock" else f"{trace.property} fails"
        elif result.stopped_by is not None or result.store == "bitstate":
            known["status"] = "stopped"
        elif goal is None and result.verdict == "violated":
            known |= {"status": "without", "text": f"{result.property} fails"}
        elif goal is None and result.verdict == "incomplete":
            known["status"] = "open"
        else:
            known["status"] = "none"
        return known


def named_goals(definition: Definition, system: System) -> dict[str, str]:
    """What can be looked for by name: where an invariant fails, and where another method of the system is true."""
    broken = {prop.name for prop in definition.invariants}
    found: dict[str, str] = {}
    for name, method in methods_of(type(system), 0).items():
        if name in broken:
            found[f"not {name}"] = f"not self.{name}()"
        elif getattr(method, "__annotations__", {}).get("return") in (bool, "bool"):
            found[name] = f"self.{name}()"
    return found


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
