"""Coverage of a model by the states that a search reached.

Python runs a handler once for each behaviour, so the lines of *all* reachable behaviour are known exactly for the price
of running each behaviour once more, with coverage.py looking on. Which behaviours these are is counted by the core over
the states that it stored (core: search/census.cpp). The closure evaluates more, which no state may allow; that does
not count. Neither would it be right to count after merging local states, since two that behave alike may do so by
different lines, or after dropping dead messages, which a guard may be there for. So a check that measures coverage runs
without the quotient, with all messages, and without partial orders.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from quorate import _core
from quorate.language.message import Event, Message
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Outcome, is_crashed
from quorate.model.run import accepts, fire, prepare
from quorate.native.model import Model
from quorate.results.coverage import Coverage, FileCoverage, TransitionCoverage

FAULTS = {
    _core.StepKind.lose: "losses",
    _core.StepKind.duplicate: "duplicates",
    _core.StepKind.crash: "crashes",
    _core.StepKind.recover: "recoveries",
}


def coverage_of(model: Model, census: _core.Census, complete: bool) -> Coverage:
    """Run what was reached once more, and tell what ran."""
    reached = _Reached(model)
    lines = _traced(model.definition, lambda: reached.run(census))
    consumed, sent = reached.consumed, reached.sent
    awaited = {each.message for each in _declared(model.definition) if each.message is not None}
    return Coverage(
        transitions=tuple(_transitions(model.definition, census, reached.guards)),
        never_sent=_names(each for each in awaited if not any(issubclass(cls, each) for cls in sent)),
        never_consumed=_names(sent - consumed),
        faults=_faults(model.definition, census),
        files=lines,
        complete=complete and census.complete,
    )


class _Reached:
    """The behaviours of reached states, run again."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sent: set[type] = {type(message) for sends in model.definition.posted for _, message in sends}
        self.consumed: set[type] = set()
        self.guards: dict[Transition, set[bool]] = {}
        """What the `when` of each transition said, where it was asked."""

    def run(self, census: _core.Census) -> None:
        columns = self.model.definition.columns
        for visited in census.visited:
            column = columns[visited.column]
            if not column.is_monitor and column.delivers_to is None:
                self._ask(column, visited)
        for each in census.behaviours:
            column = columns[each.column]
            if column.delivers_to is not None:
                continue
            transition = self.model.definition.transitions(column)[each.transition]
            messages: Any = tuple(self.model.message(column, number) for number in each.consumed)
            self.consumed.update(map(type, messages))
            for outcome in fire(column, transition, self.model.local(column, each.local), messages):
                self._note(outcome)

    def _ask(self, column: Column, visited: _core.VisitedLocal) -> None:
        """The guards, in a local state with what was pending there."""
        local = self.model.local(column, visited.local)
        if is_crashed(local):
            return
        pending: list[Any] = [self.model.message(column, number) for number in visited.pending]
        for transition in self.model.definition.transitions(column):
            if transition.flag >= 0 and local[transition.flag]:
                continue
            mine = [message for message in pending if transition.takes(message)]
            if transition.kind == "quorum":
                enabled = prepare(column, transition, local) is not None
                for message in mine if enabled else ():
                    accepts(column, transition, local, message)
                answers = {enabled}
            elif transition.kind == "on":
                answers = {bool(fire(column, transition, local, (message,))) for message in mine}
            else:
                answers = {bool(fire(column, transition, local, ()))}
            if transition.declaration.when is not None:
                self.guards.setdefault(transition, set()).update(answers)

    def _note(self, outcome: Outcome) -> None:
        self.sent.update(type(message) for _, message in outcome.sends)


def _declared(definition: Definition) -> list[Transition]:
    """The transitions that the model's processes have, each once."""
    specs = {id(column.spec): column.spec for column in _written(definition)}
    return [transition for spec in specs.values() for transition in spec.transitions]


def _written(definition: Definition) -> list[Column]:
    """The processes that the user has written: no channels, no attackers."""
    return [column for column in definition.processes if column.delivers_to is None and not column.spec.ends]


def _transitions(
    definition: Definition, census: _core.Census, guards: dict[Transition, set[bool]]
) -> Iterator[TransitionCoverage]:
    counted: dict[Transition, list[_core.Fired]] = {}
    for fired in census.fired:
        if fired.kind is _core.StepKind.step and fired.transition is not None:
            column = definition.columns[fired.column]
            if column.delivers_to is None:
                counted.setdefault(definition.transitions(column)[fired.transition], []).append(fired)
    roles = {id(column.spec): column for column in _written(definition)}
    for column in roles.values():
        for transition in column.spec.transitions:
            found = counted.get(transition, [])
            said = guards.get(transition, {True, False})
            location = transition.location
            yield TransitionCoverage(
                role=column.cls.__name__,
                name=transition.name,
                file=str(location.file),
                line=location.line,
                states=sum(each.states for each in found),
                steps=sum(each.steps for each in found),
                depth=min((each.depth for each in found), default=None),
                guard="" if len(said) != 1 else "never false" if True in said else "never true",
            )


def _faults(definition: Definition, census: _core.Census) -> dict[str, int]:
    network, faults = definition.network, definition.faults
    possible = {
        "losses": bool(network.losses),
        "duplicates": bool(network.duplicates) and network.duplicates != "any",
        "crashes": bool(faults.crashes),
        "recoveries": bool(faults.crashes and faults.recover),
    }
    found = {name: 0 for name, may in possible.items() if may}
    for fired in census.fired:
        name = FAULTS.get(fired.kind)
        if name in found:
            found[name] += fired.steps
    return found


def _names(classes: Any) -> tuple[str, ...]:
    return tuple(sorted(cls.__name__ for cls in classes if issubclass(cls, Message | Event)))


# --- lines -----------------------------------------------------------------------------------------------------


def _traced(definition: Definition, run: Callable[[], None]) -> tuple[FileCoverage, ...]:
    """The lines and branches of handlers, and of what they call, that ran."""
    import coverage

    handlers, others = _functions(definition)
    files = sorted({code.co_filename for code in (*handlers, *others)})
    tracer = coverage.Coverage(data_file=None, config_file=False, branch=True, include=files, messages=False)
    tracer.start()
    try:
        run()
    finally:
        tracer.stop()
    with tempfile.TemporaryDirectory() as place:
        told = Path(place) / "coverage.json"
        try:
            tracer.json_report(outfile=str(told))
        except coverage.exceptions.NoDataError:
            return ()
        found = {str(Path(name).resolve()): each for name, each in json.loads(told.read_text())["files"].items()}
    return tuple(
        _of_file(path, found[str(Path(path).resolve())], handlers, others)
        for path in files
        if str(Path(path).resolve()) in found
    )


def _of_file(path: str, found: dict[str, Any], handlers: list[CodeType], others: list[CodeType]) -> FileCoverage:
    executed = set(found["executed_lines"])
    # A function that is no handler counts once a handler has called it; nobody may have meant it for handlers.
    mine = [code for code in handlers if code.co_filename == path]
    mine += [code for code in others if code.co_filename == path and not executed.isdisjoint(_lines(code))]
    lines = set().union(*map(_lines, mine)) if mine else set()
    return FileCoverage(
        path=path,
        executed=tuple(sorted(executed & lines)),
        missing=tuple(sorted(lines & set(found["missing_lines"]))),
        taken=_branches(found["executed_branches"], lines),
        not_taken=_branches(found["missing_branches"], lines),
    )


def _branches(found: list[list[int]], lines: set[int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((first, then) for first, then in found if first in lines))


def _functions(definition: Definition) -> tuple[list[CodeType], list[CodeType]]:
    """The code of handlers, and of other functions of the same files that handlers may call."""
    handlers: dict[CodeType, None] = {}
    others: dict[CodeType, None] = {}
    for transition in _declared(definition):
        code = getattr(transition.function, "__code__", None)
        if isinstance(code, CodeType):
            handlers[code] = None
            module = transition.function.__globals__
            for each in module.values():
                if isinstance(each, FunctionType) and each.__globals__ is module:
                    others[each.__code__] = None
    for column in _written(definition):
        for cls in column.cls.__mro__:
            for each in vars(cls).values():
                if isinstance(each, FunctionType) and each.__code__ not in handlers:
                    others[each.__code__] = None
    files = {code.co_filename for code in handlers}
    return list(handlers), [code for code in others if code.co_filename in files and code not in handlers]


def _lines(code: CodeType) -> set[int]:
    """The lines of a function's body."""
    lines = {line for _, _, line in code.co_lines() if line is not None}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            lines |= _lines(inner)
    return lines - {code.co_firstlineno} or lines
