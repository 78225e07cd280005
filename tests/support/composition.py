"""Partial-order reduction, with whatever else reduces, against the search without any reduction, on one system.

Compared are the verdict of each property, alone and together, what the properties can see of the reachable states, and
the deadlocks: as the local states of all processes and monitors, and one by one where `twins` are off.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from quorate import Process, Result, System, _core, check
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.native.model import Model
from quorate.options import REFINEMENTS
from test_against_reference import Recorder, Sight, all_names, follow

Ways = dict[str, Any]

PLAIN: Ways = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
ALL_WAYS: list[Ways] = [
    {
        "por": por,
        "split": split,
        "quotient": quotient,
        "dead_messages": dead,
        "search": search,
        "symmetry": symmetry,
        "por_options": without,
    }
    for por in ("lpor", "lpor-net")
    for split in ("none", "reply", "quorum", "combined")
    for quotient, dead in (("off", "off"), ("on", "off"), ("off", "on"), ("on", "on"))
    for search in ("bfs", "dfs")
    for symmetry in ("none", "auto")
    for without in ({}, *({name: False} for name in REFINEMENTS))
]


def some_ways(number: int, seed: object) -> list[Ways]:
    """A choice in which every value of every option is about equally frequent."""
    return Random(repr(seed)).sample(ALL_WAYS, number)


def all_fields(definition: Definition) -> set[tuple[int, int]]:
    """What there is to read of a state but for the attacker's knowledge, which no property can read."""
    found: set[tuple[int, int]] = set()
    for column in definition.columns:
        if column.is_monitor or (issubclass(column.cls, Process) and not column.cls._byzantine):
            found |= {(column.index, number) for number in range(column.spec.visible)}
    return found


class Unreduced:
    """What the search without reductions says of a system in an environment."""

    def __init__(self, made: System, environment: dict[str, Any]) -> None:
        self.made = made
        self.environment = environment
        self.definition = define(made, Environment(**environment))
        names = all_names(self.definition)
        ends = ["deadlock"] if self.definition.final is not None else []
        # Without a property the search still looks for handlers that fail.
        self.questions = [["assertions", *names, *ends], *([name] for name in [*names, *ends])]
        self.verdicts = [self.check(made, property=asked, **PLAIN).verdict for asked in self.questions]
        # Without a property and a failure there is no end to a search but its own.
        self.fails = not self.check(made, property=(), **PLAIN).ok
        self.seen = Sight(fields=self._read())
        self.whole = Sight(fields=all_fields(self.definition))
        noting = self._record(self.seen, ("noted", "deadlock"), PLAIN)
        self.noted, self.stuck = set(noting.seen), set(noting.stuck)
        ending = self._record(self.whole, ("deadlock",), PLAIN)
        self.plain_ends, self.local_ends = ending.ends, set(ending.stuck)

    def check(self, made: System, **options: Any) -> Result:
        return check(made, **self.environment, **options)

    def _read(self) -> set[tuple[int, int]]:
        """The fields that the properties read somewhere on the way."""
        asked = [*self.definition.properties, *([self.definition.final] if self.definition.final is not None else [])]
        model = Model(self.definition, tuple(asked))
        deadlock = self.definition.final is not None
        model.engine.search(model, _core.SearchOptions(traversal=_core.Traversal.breadth_first, deadlock=deadlock))
        known = all_fields(self.definition)
        return {
            (column.index, number)
            for column in self.definition.columns
            for number in range(-1, column.spec.visible)
            if model.observed[column.index][number + 1] and ((column.index, number) in known or number < 0)
        }

    def _record(self, sight: Sight, asked: tuple[str, ...], ways: Ways) -> Recorder:
        """What is seen of all states, and of the deadlocks."""
        recorder = Recorder(self.definition, sight)
        result = recorder.check(**self.environment, property=asked, **ways)
        assert self.fails or result.verdict == "holds"
        recorder.ends = result.deadlocks
        return recorder

    def compare(self, ways: Ways) -> Result:
        """The result of all questions at once."""
        results = [self.check(self.made, property=asked, **ways) for asked in self.questions]
        assert [result.verdict for result in results] == self.verdicts, ways
        for result in results:
            for run in ([] if result.trace is None else [result.trace]) + list(result.witnesses.values()):
                follow(run)
        if not self.fails:
            self._compare_sights(ways)
        return results[0]

    def _compare_sights(self, ways: Ways) -> None:
        noting = self._record(self.seen, ("noted", "deadlock"), ways)
        same(noting.seen, self.noted)
        assert set(noting.stuck) == self.stuck
        ending = self._record(self.whole, ("deadlock",), ways)
        same(ending.stuck, self.local_ends)
        if ways["por_options"].get("twins", True):
            return
        # Without twins every deadlock has its own state, with the messages that are left there.
        assert ending.ends == self._record(self.whole, ("deadlock",), {**ways, "por": "none"}).ends


def same(noted: list[bytes], wanted: set[bytes]) -> None:
    """The first evaluation may be void: it reads fields that were not observed before (rule 8)."""
    assert wanted <= set(noted)
    assert set(noted) - wanted <= set(noted[:1])


def compare_all(made: System, ways: Iterable[Ways], **environment: Any) -> list[Result]:
    """Compare in all these ways; the results, of which some ought to be reduced."""
    wanted = Unreduced(made, environment)
    return [wanted.compare(each) for each in ways]
