"""Checkpoints of a check: what is saved of it, and going on from there (docs/long-runs.md).

A check is saved while its search rests. Whatever comes before that search (the analysis, and searches that were
dropped) is done again when the check goes on: all of it is decided by counts and never by clocks, so it comes to the
same. The model answers every question of the search again as well, and is compared with its `Journal`. Then the search
gets its cells and states back, and goes on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from quorate import _core
from quorate.base.errors import QuorateError, TargetError
from quorate.base.records import Damaged, Reader, Writer
from quorate.base.values import encode
from quorate.language.system import System
from quorate.native.journal import Journal, changed, digest_of
from quorate.options import Options, told
from quorate.results.json import target_of, value_to_json
from quorate.search.folder import CHUNK, Folder

if TYPE_CHECKING:
    from quorate.model.definition import Definition, Transition
    from quorate.model.environment import Environment
    from quorate.native.model import Model
    from quorate.properties.asked import Asked
    from quorate.results.result import Result
    from quorate.search.limits import Watcher

T = TypeVar("T")

PIECE = 1 << 18
"""Bytes of states that are copied, summed up and written in one go: small enough to stay in the processor's cache."""


class Checkpoint:
    """The checkpoints of one check in one folder. As a context: nobody else uses that folder."""

    def __init__(self, path: str, seconds: float, *, resumed: bool = False) -> None:
        self.folder = Folder(path, fresh=not resumed)
        self.seconds = seconds
        self.about: dict[str, Any] = {}
        """What is checked, as a manifest says it."""
        self.saved: dict[str, Any] | None = None
        """The manifest that the check goes on from."""
        self.trouble: list[str] = []
        """What went wrong, in words for the user."""
        self.files: list[dict[str, Any]] = []
        """Of the last checkpoint."""
        self.states = 0
        """In the last checkpoint."""
        self.times = 0
        self.searches = 0
        self._models = 0
        self._resumed = resumed

    def __enter__(self) -> Self:
        self.folder.__enter__()
        try:
            if self._resumed:
                self.saved, damaged = self.folder.newest()
                self.trouble += [f"{each}; went on from an earlier checkpoint" for each in damaged]
                self.about = {name: self.saved[name] for name in ABOUT}
                self.files = list(self.saved["files"])
                self.states = self.saved["search"]["states"] if self.saved["search"] else 0
        except BaseException:
            self.folder.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.folder.__exit__(kind, error, tb)

    @property
    def before(self) -> Mapping[str, Any]:
        """What earlier runs have taken."""
        return {"seconds": 0.0, "setup_seconds": 0.0, "runs": 0} if self.saved is None else self.saved["spent"]

    def begins(self, definition: Definition, asked: Asked) -> None:
        """Compare the model with the saved one as far as it declares itself; or say what is going to be checked."""
        model = json.loads(json.dumps(structure(definition, asked)))
        if self.saved is None:
            self.about["model"] = model
            with self.folder.usable():
                self._commit(1, None, [], {"seconds": 0.0, "setup_seconds": 0.0, "runs": 1})
        elif self.about["model"] != model:
            raise changed(difference(self.about["model"], model))

    def journal(self, definition: Definition) -> Journal:
        """Of the next model of this check."""
        self._models += 1
        found = Journal(len(definition.columns))
        if self._goes_on_from_search and self.saved is not None and self.saved["search"]["model"] == self._models:
            for entry in self.files:
                if entry["kind"] == "tables":
                    _whole(partial(found.load, self.folder.content(entry["name"])))
        return found

    @property
    def _goes_on_from_search(self) -> bool:
        return self.saved is not None and self.saved["search"] is not None

    def searching(
        self,
        model: Model,
        watcher: Watcher,
        analysis: Mapping[str, Any],
        *,
        all_states: bool,
        go_on: Callable[[int], object],
        wanted: Callable[[], bool],
    ) -> Saver | None:
        """What saves the next search; None if it comes before the one that was saved.

        `all_states`: a limit on states is the user's. `go_on`: has the closure go on beside the search, as it did when
        it had made so many transitions. `wanted`: if the search ends for something else, whether it is to be saved.
        """
        self.searches += 1
        assert model.journal is not None
        model.journal.search = self.searches
        told = json.loads(json.dumps(analysis))
        saver = Saver(self, model, watcher, told, all_states, wanted)
        if self._goes_on_from_search and self.saved is not None:
            search = self.saved["search"]
            if self.searches < search["number"]:
                return None
            if self.searches == search["number"]:
                if search["analysis"] == told:
                    saver.restore(go_on)
                elif search["analysis"].get("universe") and told.get("universe"):
                    # What an earlier search had looked at, and not only met, is not saved; a universe may hold it.
                    self.saved = self.saved | {"search": None}
                    self.trouble.append("what the search stays inside was taken differently this time: it began again")
                else:
                    raise changed(f"its analysis comes to something else: {difference(search['analysis'], told)}")
        return saver

    def commit(self, number: int, search: dict[str, Any], files: list[dict[str, Any]], spent: dict[str, Any]) -> None:
        self._commit(number, search, files, spent)
        self.states = search["states"]
        self.times += 1

    def _commit(
        self, number: int, search: dict[str, Any] | None, files: list[dict[str, Any]], spent: dict[str, Any]
    ) -> None:
        self.folder.commit({"number": number, **self.about, "search": search, "files": files, "spent": spent})
        self.files = files

    @property
    def models(self) -> int:
        return self._models

    def to_json(self) -> dict[str, Any]:
        """What a result says."""
        search = self.saved["search"] if self.saved is not None else None
        return {
            "directory": self.folder.path,
            "states": self.states,
            "saved": self.times,
            "resumed_from": None if self.saved is None else search["states"] if search else 0,
            "runs": self.before["runs"] + 1,
            "seconds_before": self.before["seconds"],
        }

    def told(self, result: Result) -> Result:
        """The result of all runs together."""
        from dataclasses import replace

        return replace(
            result,
            seconds=result.seconds + self.before["seconds"],
            setup_seconds=result.setup_seconds + self.before["setup_seconds"],
            warnings=(*result.warnings, *dict.fromkeys(self.trouble)),
            checkpoint=self.to_json(),
        )


class Saver:
    """Saves one search. The core calls `save` while all threads rest."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        model: Model,
        watcher: Watcher,
        analysis: Mapping[str, Any],
        all_states: bool,
        wanted: Callable[[], bool],
    ) -> None:
        self.checkpoint = checkpoint
        self.seconds = checkpoint.seconds
        self.resumed: _core.SavedSearch | None = None
        self.before = checkpoint.states
        """States in the checkpoint that it goes on from."""
        self._model = model
        self._watcher = watcher
        self._analysis = analysis
        self._all_states = all_states
        self._wanted = wanted
        self._number = checkpoint.searches
        self._begun = time.perf_counter()
        self._setup = watcher.seconds
        self._cells = [0] * len(model.definition.columns)
        """How many of each column were saved."""
        # Tables go on from search to search; states and cells are of one search.
        self._files = [each for each in checkpoint.files if each["kind"] == "tables"]

    # --- saving ----------------------------------------------------------------------------------------------------

    def save(self, snapshot: _core.Snapshot) -> bool:
        """What is new since the last time, and a manifest. False if that was not possible: then it stays new."""
        if snapshot.stop.name == "states" and not self._all_states:
            return False
        if snapshot.stop.name not in ("finished", "states", "memory", "time", "interrupt") and not self._wanted():
            return False
        phase, self._watcher.phase = self._watcher.phase, "checkpoint"
        try:
            self._watcher.still_there()
            self._save(snapshot)
        except OSError as error:
            self.checkpoint.folder.drop_unfinished()
            if self.checkpoint.folder.is_gone:
                self.checkpoint.states = 0
            last = (
                f"the last one is of {self.checkpoint.states:,} states" if self.checkpoint.states else "there is none"
            )
            self.checkpoint.trouble.append(
                f"a checkpoint could not be written to {self.checkpoint.folder.path}: {error.strerror}; {last}"
            )
            return False
        finally:
            self._watcher.phase = phase
            self._watcher.still_there()
        return True

    def _save(self, snapshot: _core.Snapshot) -> None:
        folder, journal = self.checkpoint.folder, self._model.journal
        assert journal is not None
        number = folder.next_number()
        files = [each for each in self._files if each["kind"] != "head"]
        if journal.fresh.data:
            files.append(folder.write("tables", number, [bytes(journal.fresh.data)]))
        counts, cells = self._new_cells(journal)
        if cells.data:
            files.append(folder.write("cells", number, [bytes(cells.data)]))
        files.append(folder.write("head", number, [snapshot.head(journal.failures)]))
        if snapshot.left:
            bits = snapshot.bits
            files.append({**folder.write("states", number, self._states(snapshot)), "bits": bits})
        before = self.checkpoint.before
        search = {
            "number": self._number,
            "model": self.checkpoint.models,
            "states": snapshot.states,
            "transitions": snapshot.transitions,
            "depth": snapshot.depth,
            "analysis": self._analysis,
        }
        spent = {
            "seconds": before["seconds"] + time.perf_counter() - self._begun,
            "setup_seconds": before["setup_seconds"] + self._setup,
            "runs": before["runs"] + 1,
        }
        self.checkpoint.commit(number, search, files, spent)
        self._files, self._cells = files, counts
        journal.fresh = Writer()

    def _states(self, snapshot: _core.Snapshot) -> Iterator[bytes]:
        told = time.perf_counter()
        while chunk := snapshot.take(PIECE):
            if time.perf_counter() > told + 0.5:
                self._watcher.still_there()
                told = time.perf_counter()
            yield chunk

    def _new_cells(self, journal: Journal) -> tuple[list[int], Writer]:
        engine, counts, cells = self._model.engine, list(self._cells), Writer()
        for column, saved in enumerate(self._cells):
            counts[column] = engine.count_cells(column)
            if counts[column] > saved:
                cells.number(column)
                cells.text(engine.cells(column, saved, journal.locals[column], journal.messages[column]))
        return counts, cells

    # --- going on --------------------------------------------------------------------------------------------------

    def restore(self, go_on: Callable[[int], object]) -> None:
        """Bring the model to where it was, and have the search go on from there."""
        folder, model, journal = self.checkpoint.folder, self._model, self._model.journal
        assert journal is not None
        _whole(partial(journal.repeat, model, self._number, go_on))
        self._files = list(self.checkpoint.files)
        for entry in self._files:
            if entry["kind"] == "cells":
                _whole(partial(self._add_cells, journal, folder.content(entry["name"])))
        self._cells = [model.engine.count_cells(column.index) for column in model.definition.columns]
        head = next(each for each in self._files if each["kind"] == "head")
        content, failures = folder.content(head["name"]), journal.failures_now()
        states = _saved_states(folder, self._files)
        self.resumed = _whole(lambda: _core.SavedSearch(head=content, failures=failures, states=states))

    def _add_cells(self, journal: Journal, data: bytes) -> None:
        model = self._model
        growing = model.symmetries.growing if model.symmetries is not None else None
        reader = Reader(data)
        while reader:
            index, cells = reader.number(), reader.text()
            if index >= len(model.definition.columns):
                raise Damaged("cells of a process that is not there")
            locals, messages = journal.locals_now(index), journal.messages_now(index)
            column = model.definition.columns[index]
            if growing is not None and index in growing.columns:
                for local in locals:
                    if local != _core.NONE:
                        growing.admit(column, local)
            if not model.engine.add_cells(index, cells, locals, messages):
                raise changed(f"{column.name} is never again in a local state in which it was")


def _saved_states(folder: Folder, files: Sequence[dict[str, Any]]) -> Iterator[tuple[list[int], bytes]]:
    """For the core, which holds on to it: whoever holds the core must not be held by it in turn."""
    for entry in files:
        if entry["kind"] != "states":
            continue
        stride = _core.stride(entry["bits"])
        for chunk in folder.chunks(entry["name"], CHUNK // stride * stride):
            yield entry["bits"], chunk


LIMITS = ("max_states", "max_memory", "timeout", "checkpoint", "checkpoint_every")
"""Options that a check which goes on does not take over: how far, and where it is saved."""
ABOUT = ("target", "system", "parameters", "environment", "options", "properties", "model")


def about(
    system: System | type[System],
    properties: tuple[str, ...] | None,
    environment: Environment,
    options: Options,
    target: str | None,
) -> dict[str, Any]:
    """What is checked, and how: all that is needed to go on."""
    asked = system if isinstance(system, System) else system()
    return {
        "target": target or target_of(type(asked)),
        "system": type(asked).__name__,
        "parameters": {name: value_to_json(value) for name, value in asked.parameters.items()},
        "environment": environment.to_json(),
        "options": {name: getattr(options, name) for name in told(type(options)) if name not in LIMITS},
        "properties": None if properties is None else list(properties),
    }


def _whole(read: Callable[[], T]) -> T:
    """Read what has the right checksum, and is nothing that Quorate would write: somebody else's doing."""
    try:
        return read()
    except (Damaged, _core.DamagedError, KeyError, IndexError) as error:
        raise unreadable(error) from None


def unreadable(error: Exception) -> TargetError:
    return TargetError(f"the checkpoint cannot be read: {error}", code="Q341")


def structure(definition: Definition, asked: Asked) -> dict[str, Any]:
    """What a model declares, as far as it can be named: a change there is told by its name.

    Nothing rests on it being all: the journal has whatever the core was told (native/told.py).
    """
    processes: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    for column in definition.columns:
        transitions = definition.transitions(column)
        processes[column.name] = {
            "class": column.cls.__name__,
            "fields": list(column.fields),
            "transitions": [_declared(each) for each in transitions],
            "may crash": column.may_crash,
            "durable": [name for name, kept in zip(column.fields, column.spec.durable, strict=False) if kept],
        }
        for each in transitions:
            if each.message is not None:
                messages[each.message.__name__] = list(each.message._names)
    return {
        "module": type(definition.system).__module__,  # the bytes of values name it
        "system": definition.name,
        "processes": processes,
        "messages": messages,
        "properties": [f"{each.name} ({each.kind})" for each in asked.properties],
        "deadlock": asked.deadlock,
        "network": str(definition.network),
        "faults": str(definition.faults),
        "initial states": digest_of(sorted(map(encode, definition.initials))).hex(),
        "initial messages": digest_of(sorted(map(encode, definition.posted))).hex(),
    }


def _declared(transition: Transition) -> str:
    taken = "" if transition.message is None else f" {transition.message.__name__}"
    mode = f", {transition.mode}" if transition.mode else ""
    return f"{transition.name} ({transition.kind}{taken}{mode}{', keep' if transition.keep else ''})"


def difference(before: Any, now: Any, where: str = "") -> str:
    """The first thing that is not the same, in words."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys((*before, *now)):
            below = f"{where}, {name}" if where else str(name)
            if name not in now:
                return f"{below} is gone"
            if name not in before:
                return f"{below} is new"
            if before[name] != now[name]:
                return difference(before[name], now[name], below)
    if isinstance(before, list) and isinstance(now, list):
        gone = [each for each in before if each not in now]
        new = [each for each in now if each not in before]
        if gone or new:
            said = [f"without {', '.join(map(str, gone))}"] if gone else []
            said += [f"with {', '.join(map(str, new))}"] if new else []
            return f"{where} {' and '.join(said)}"
        return f"{where} in another order"
    if where in ("initial states", "initial messages"):
        return f"the {where} are others"
    return f"{where} was {before}, and is {now}"


def refuse(definition: Definition, options: Options, asked: Asked) -> None:
    """What cannot be saved is refused before the search."""
    reasons = {
        "por='dpor' stores no states, so there is nothing to save": options.por == "dpor",
        "a stateless search stores no states": options.stateless,
        f"a {options.store} store keeps no states that could be saved": options.store != "exact",
        "a depth-first search has a stack of states, which is not saved": options.depth_first,
        "temporal properties are decided on a graph, which is not saved": bool(asked.temporal),
        "self_check=True looks at what the whole search has seen": options.self_check,
        "vacuity=True makes more than one check": options.vacuity,
        "what a bound of the whole system says is not saved": definition.bound is not None,
        "what processes do that read shared cells is not saved": bool(definition.cells),
    }
    for reason, holds in reasons.items():
        if holds:
            raise QuorateError(
                f"checkpoint={options.checkpoint!r}: {reason}",
                hint="exact breadth-first searches of safety properties are saved; --property names what is checked",
                code="Q345",
            )
