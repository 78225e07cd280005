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
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from quorate import _core
from quorate.base.values import encode
from quorate.language.message import Event, Message
from quorate.model.again import signature
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Local, Outcome, Seen, Unread, is_crashed, seen
from quorate.model.renaming import Names, exchanging, renamed
from quorate.model.run import accepts, allows, every_path, observe, prepare, run_path
from quorate.native.model import Model
from quorate.reduce.families import column_images
from quorate.results.coverage import Coverage, FileCoverage, TransitionCoverage

MOST_IMAGES = 1_000_000
"""So many behaviours are run again; with symmetry each stands for several."""
FAULTS = {
    _core.StepKind.lose: "losses",
    _core.StepKind.duplicate: "duplicates",
    _core.StepKind.crash: "crashes",
    _core.StepKind.recover: "recoveries",
}


def coverage_of(model: Model, census: _core.Census, complete: bool, *, runs: bool = False) -> Coverage:
    """Run what was reached once more, and tell what ran. `runs`: by random runs, which do not count states."""
    written = _written(model.definition, monitors=not runs)
    reached = _Reached(model)
    ran = reached.paths(census)
    lines = _traced(written, lambda: reached.run(census, ran))
    consumed, sent = reached.consumed, reached.sent
    awaited = {each.message for each in _declared(written) if each.message is not None}
    # An attacker sends what it pleases, and nobody sends the notice of a crash: what was consumed was there.
    there = sent | consumed | {type(event) for _, _, event in reached.heard}
    return Coverage(
        transitions=tuple(_transitions(model.definition, written, census, reached, counted=not runs)),
        never_sent=_names(each for each in awaited if not any(issubclass(cls, each) for cls in there)),
        never_consumed=_names(sent - consumed),
        faults=_faults(model.definition, census),
        files=lines,
        complete=complete and census.complete and reached.images.left > 0,
    )


Sends = tuple[tuple[int, Any], ...]
Done = tuple[Local | None, Sends, str | None]
"""What an outcome leaves behind: what its process is like, what it sends; or why it has come to no end."""


class Way(NamedTuple):
    """One way through a handler's choices."""

    column: Column
    transition: Transition
    local: Local
    messages: tuple[Any, ...]
    path: list[int]


class _Images:
    """What was met of one process, and the same of all that it stands for under symmetry: by other lines, perhaps."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.left = MOST_IMAGES
        self._known: set[tuple[int, int, bytes]] = set()
        self._exchanges: list[tuple[Names, list[int]]] = []
        for family in model.symmetries.families if model.symmetries is not None else ():
            for one, two in pairwise(family.names):
                names = exchanging(one, two)
                self._exchanges.append((names, column_images(model.definition, names)))

    def of(
        self, column: Column, kind: int, mine: Local, held: tuple[Any, ...], done: tuple[Done, ...] = ()
    ) -> Iterator[tuple[Column, Local, tuple[Any, ...], tuple[Done, ...]]]:
        """A local state with messages of its process, and its images that were not told of this kind before.

        With what was done there, of several things that might be.
        """
        todo = [(column.index, mine, held, done)]
        while todo:
            index, mine, held, done = todo.pop()
            key = kind, index, encode((mine, held, done))
            if key in self._known or self.left == 0:
                continue
            self._known.add(key)
            self.left -= 1
            yield self.model.definition.columns[index], mine, held, done
            for names, columns in self._exchanges:
                image = tuple(sorted((renamed(each, names) for each in held), key=encode))
                there = sorted((_renamed(each, names, columns) for each in done), key=encode)
                todo.append((columns[index], _renamed_local(mine, names, columns), image, tuple(there)))


def _renamed_local(local: Local, names: Names, columns: list[int]) -> Local:
    if type(local) is not Seen:
        return renamed(local, names)  # type: ignore[no-any-return]
    cells = {columns[column]: renamed(value, names) for column, value in local.cells.items()}
    return seen(renamed(tuple(local), names), cells)


def _renamed(done: Done, names: Names, columns: list[int]) -> Done:
    local, sends, why = done
    there = _in_order((columns[receiver], renamed(message, names)) for receiver, message in sends)
    return renamed(local, names), there, why


def _in_order(sends: Iterable[tuple[int, Any]]) -> Sends:
    """A handler that sends to each of a set does so in another order under other names."""
    return tuple(sorted(sends, key=encode))


def _done(outcome: Outcome) -> Done:
    failure = outcome.failure
    why = "cut" if outcome.cut else None if failure is None else f"{failure.kind} {failure.file}:{failure.line}"
    return outcome.local, _in_order(outcome.sends), why


class _Reached:
    """The behaviours of reached states, run again."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.images = _Images(model)
        self.sent: set[type] = {type(message) for sends in model.definition.posted for _, message in sends}
        self.consumed: set[type] = set()
        self.guards: dict[Transition, set[bool]] = {}
        """What the `when` of each transition said, where it was asked."""
        self.filters: dict[Transition, set[bool]] = {}
        """And the `where`."""
        self.heard: list[tuple[Column, Local, Any]] = []
        """The events that monitors heard of, and in which local state."""
        self.reactions: dict[Transition, list[bool]] = {}
        """What the `when` of each reaction of a monitor said about its events."""

    def paths(self, census: _core.Census) -> list[Way]:
        """The ways through handlers that were taken: of several choices, only those that were possible somewhere."""
        found: list[Way] = []
        for each in census.behaviours:
            column = self.model.definition.columns[each.column]
            if column.is_monitor:
                self._hears(column, each)
            elif column.delivers_to is None:
                found += self._paths_of(column, each)
        return found

    def _hears(self, column: Column, reached: _core.ReachedBehaviour) -> None:
        for mine, local, events, _ in self.images.of(column, -2, *self._given(column, reached.local, reached.consumed)):
            self.heard.append((mine, local, events[0]))
            for transition in mine.spec.transitions:
                if transition.takes(events[0]):
                    self.reactions.setdefault(transition, []).append(allows(mine, transition, local, events))

    def _paths_of(self, column: Column, reached: _core.ReachedBehaviour) -> Iterator[Way]:
        transition = self.model.definition.transitions(column)[reached.transition]
        local, messages = self._given(column, reached.local, reached.consumed)
        ways = list(every_path(column, transition, local, messages))
        found: dict[bytes, Outcome] = {}
        for _, outcome in ways:
            found.setdefault(signature(outcome), outcome)
        distinct = list(found.values())
        taken = [distinct[number] for number in reached.outcomes if number < len(distinct)]
        done: tuple[Done, ...] = ()
        if len(taken) < len(distinct):
            done = tuple(sorted(map(_done, taken), key=encode))
        for mine, there, held, wanted in self.images.of(column, reached.transition, local, messages, done):
            self.consumed.update(map(type, held))
            own = self.model.definition.transitions(mine)[reached.transition]
            all_of_it = list(every_path(mine, own, there, held))
            some = [each for each in all_of_it if _done(each[1]) in wanted] if wanted else []
            for path, outcome in some or all_of_it:
                self.sent.update(type(message) for _, message in outcome.sends)
                yield Way(mine, own, there, held, path)

    def _given(self, column: Column, local: int, messages: Sequence[int]) -> tuple[Local, tuple[Any, ...]]:
        return self.model.local(column, local), tuple(self.model.message(column, number) for number in messages)

    def run(self, census: _core.Census, paths: list[Way]) -> None:
        columns = self.model.definition.columns
        for visited in census.visited:
            column = columns[visited.column]
            if not column.is_monitor and column.delivers_to is None:
                given = self._given(column, visited.local, visited.pending)
                for mine, local, pending, _ in self.images.of(column, -1, *given):
                    with suppress(Unread):  # a state that was found and not expanded: nobody has read its cells
                        self._ask(mine, local, pending)
        for path in paths:
            run_path(*path)
        for column, local, event in self.heard:
            observe(column, local, event)

    def _ask(self, column: Column, local: Local, pending: tuple[Any, ...]) -> None:
        """The guards, in a local state with what was pending there."""
        if is_crashed(local):
            return
        for transition in self.model.definition.transitions(column):
            if transition.flag >= 0 and local[transition.flag]:
                continue
            mine = [message for message in pending if transition.takes(message)]
            if transition.kind == "quorum":
                enabled = prepare(column, transition, local) is not None
                accepted = {accepts(column, transition, local, message) is not None for message in mine if enabled}
                if transition.declaration.where is not None and accepted:
                    self.filters.setdefault(transition, set()).update(accepted)
                answers = {enabled}
            elif transition.kind == "on":
                answers = {allows(column, transition, local, (message,)) for message in mine}
            else:
                answers = {allows(column, transition, local, ())}
            if transition.declaration.when is not None:
                self.guards.setdefault(transition, set()).update(answers)


def _declared(written: Sequence[Column]) -> list[Transition]:
    """The transitions that these have, each once."""
    specs = {id(column.spec): column.spec for column in written}
    return [transition for spec in specs.values() for transition in spec.transitions]


def _written(definition: Definition, *, monitors: bool) -> list[Column]:
    """What the user has written: no channels, no attackers. Random runs do not tell what monitors heard."""
    found = [column for column in definition.processes if column.delivers_to is None and not column.spec.ends]
    return [*found, *(column for column in definition.monitors if monitors and column not in definition.shared)]


def _transitions(
    definition: Definition, written: Sequence[Column], census: _core.Census, reached: _Reached, *, counted: bool
) -> Iterator[TransitionCoverage]:
    by_transition: dict[Transition, list[_core.Fired]] = {}
    for fired in census.fired:
        if fired.kind is _core.StepKind.step and fired.transition is not None:
            column = definition.columns[fired.column]
            if column.delivers_to is None:
                by_transition.setdefault(definition.transitions(column)[fired.transition], []).append(fired)
    roles = {id(column.spec): column for column in written}
    for column in roles.values():
        for transition in column.spec.transitions:
            if column.is_monitor:
                yield _reaction(column, transition, reached)
                continue
            found = by_transition.get(transition, [])
            when, where = _always(reached.guards.get(transition)), _always(reached.filters.get(transition))
            depth = min((each.depth for each in found if each.steps), default=None)
            cut, blocked = sum(each.cut for each in found), sum(each.blocked for each in found)
            unmet = depth is None and not cut and not blocked and "never true" not in (when, where)
            location = transition.location
            yield TransitionCoverage(
                role=column.cls.__name__,
                name=transition.name,
                file=str(location.file),
                line=location.line,
                states=sum(each.states for each in found) if counted else None,
                steps=sum(each.steps for each in found),
                depth=depth,
                guard=when,
                where=where,
                enough="never true" if unmet and True in reached.filters.get(transition, ()) else "",
                blocked=blocked,
                cut=cut,
            )


def _reaction(column: Column, transition: Transition, reached: _Reached) -> TransitionCoverage:
    said = reached.reactions.get(transition, [])
    guarded = transition.declaration.when is not None
    return TransitionCoverage(
        role=column.cls.__name__,
        name=transition.name,
        file=str(transition.location.file),
        line=transition.location.line,
        states=None,
        steps=sum(said),
        depth=0 if any(said) else None,
        guard=_always(set(said)) if guarded else "",
        monitor=True,
    )


def _always(said: set[bool] | None) -> str:
    """Of a guard that might as well not be there, what it always says."""
    return {frozenset({True}): "never false", frozenset({False}): "never true"}.get(frozenset(said or ()), "")


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


def _traced(written: Sequence[Column], run: Callable[[], None]) -> tuple[FileCoverage, ...]:
    """The lines and branches of handlers, and of what they call, that ran."""
    import coverage

    handlers, others = _functions(written)
    files = sorted({code.co_filename for code in (*handlers, *others)})
    tracer = coverage.Coverage(data_file=None, config_file=False, branch=True, include=files, messages=False)
    tracer.start()
    try:
        run()
    finally:
        tracer.stop()
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", coverage.exceptions.CoverageWarning)
        told = Path(place) / "coverage.json"
        # A file of which nothing ran is one whose lines are all missing, not one to leave out.
        readable = [path for path in files if Path(path).is_file()]
        data = tracer.get_data()
        data.add_arcs({str(Path(path).resolve()): () for path in readable})  # so these are branches
        data.touch_files([str(Path(path).resolve()) for path in readable])
        try:
            tracer.json_report(outfile=str(told), ignore_errors=True)
        except coverage.exceptions.NoDataError:
            return ()
        found = {
            str(Path(name).resolve()): each
            for name, each in json.loads(told.read_text(encoding="utf-8"))["files"].items()
        }
    return tuple(
        _of_file(path, found[str(Path(path).resolve())], handlers, others)
        for path in files
        if str(Path(path).resolve()) in found
    )


def _of_file(path: str, found: dict[str, Any], handlers: list[CodeType], others: list[CodeType]) -> FileCoverage:
    executed = set(found["executed_lines"])
    # A function that is no handler counts once a handler has called it; nobody may have meant it for handlers.
    mine = [code for code in handlers if code.co_filename == path]
    mine += [code for code in others if code.co_filename == path and not executed.isdisjoint(_own_lines(code))]
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


def _functions(written: Sequence[Column]) -> tuple[list[CodeType], list[CodeType]]:
    """The code of handlers, and of other functions of the same files that handlers may call."""
    modules = {cls.__module__ for column in written for cls in column.cls.__mro__}
    files = {str(transition.location.file) for transition in _declared(written)}
    handlers: dict[CodeType, None] = {}
    others: dict[CodeType, None] = {}
    for function in chain.from_iterable(_layers(each.function) for each in _declared(written)):
        handlers[function.__code__] = None
        if function.__module__ in modules:
            files.add(function.__code__.co_filename)
        module = function.__globals__
        for each in module.values():
            if isinstance(each, FunctionType) and each.__globals__ is module:
                others[each.__code__] = None
    for column in written:
        for cls in column.cls.__mro__:
            for value in vars(cls).values():
                others |= {each.__code__: None for each in _layers(value)}
    here = [code for code in others if code.co_filename in files and code not in handlers]
    return [code for code in handlers if code.co_filename in files], here


def _layers(member: object) -> Iterator[FunctionType]:
    """A function, and those that it holds: what a decorator was put around, what a factory gave it."""
    todo, known = [member], set()
    while todo:
        each = todo.pop()
        if isinstance(each, property):
            todo.append(each.fget)
        elif isinstance(each, staticmethod | classmethod):
            todo.append(each.__func__)
        if not isinstance(each, FunctionType) or each in known:
            continue
        known.add(each)
        yield each
        for cell in each.__closure__ or ():
            with suppress(ValueError):  # it is empty: a name that was never bound
                todo.append(cell.cell_contents)


def _lines(code: CodeType) -> set[int]:
    """The lines of a function's body, with those of the functions in it."""
    lines = _own_lines(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            lines |= _lines(inner)
    return lines - {code.co_firstlineno} or lines


def _own_lines(code: CodeType) -> set[int]:
    lines = {line for _, _, line in code.co_lines() if line is not None}
    return lines - {code.co_firstlineno} or lines
