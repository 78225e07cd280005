"""Checking a subsystem that stands for any number of servers (Attie and Chockler 2006; docs/registers.md)."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from quorate.base.errors import ParameterError, QuorateError
from quorate.base.words import count
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.options import told
from quorate.projection.answering import Servers, find_servers, resized
from quorate.projection.conditions import (
    ANSWERS,
    APART,
    BROADCASTS,
    ENVIRONMENT,
    HIGHEST,
    KINDS,
    MEET,
    PROPERTIES,
    QUORUMS,
    ROUNDS,
    SERVERS,
    STAMPS,
    UNIFORM,
    Condition,
    RefusedError,
)
from quorate.projection.rounds import Rounds, TimeUpError
from quorate.projection.subsystem import Pair, Subsystem, require_unread, seen_by, subsystem
from quorate.projection.uniform import require_uniform, varying_fields
from quorate.properties.asked import select
from quorate.properties.kinds import Verdict
from quorate.properties.temporal.stated import temporal_of
from quorate.results.json import value_to_json
from quorate.results.result import Result
from quorate.search.check import check
from quorate.search.ranked import refuse_ranks

NUMBERS = 3
"""For how many numbers of servers the conditions are decided, from that of the instance on."""
AT_LEAST = 5
"""Up to this number they are decided in any case: these are the systems that are checked one by one elsewhere."""
FAR = 20
"""So many servers more are looked at as well, one by one, and a few numbers behind: with samples of the answers."""
MOST_FAR_WORLDS = 8_000
"""How many states of clients are explored in all with far numbers; some are left out where it would be more."""
LEAST_FAR = 4
"""How many far numbers are looked at in any case."""
MOST_STATES = 20_000_000
"""How far a real number of servers is searched for a run that the subsystem has."""


@dataclass(frozen=True)
class Projection:
    """What a subsystem says about any number of servers, and on what that rests."""

    system: str
    parameters: Mapping[str, Any]
    verdict: Verdict
    parameter: str
    """Which parameter is the number of servers."""
    server: str
    numbers: tuple[int, ...]
    """The numbers of servers for which the conditions were decided, from that of the instance on."""
    sampled: tuple[int, ...]
    """The larger numbers for which they were decided on samples of the answers."""
    quorums: tuple[int, ...]
    """By number of servers: the largest quorum."""
    least: int
    """The smallest number of servers that the verdict is about."""
    below: str | None
    """Why it is not about fewer; None if there are no systems with fewer."""
    stores: int
    """How many rounds store: with that many servers more than a quorum, all runs of the subsystem are real."""
    conditions: tuple[Condition, ...]
    pairs: tuple[Pair, ...]
    result: Result
    """Of the subsystem."""
    needed: tuple[str | None, ...] | None
    """By pair: the property that breaks without its server; None if that was not asked for."""
    shown: Result | None
    """A run that breaks the property with so many servers as its parameters say, if the subsystem has one."""
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "system": self.system,
            "parameters": {name: value_to_json(value) for name, value in self.parameters.items()},
            "verdict": self.verdict,
            "parameter": self.parameter,
            "server": self.server,
            "numbers": list(self.numbers),
            "sampled": list(self.sampled),
            "quorums": list(self.quorums),
            "least": self.least,
            "below": self.below,
            "exact_from_crashes": self.stores,
            "conditions": [each._asdict() for each in self.conditions],
            "pairs": [each._asdict() for each in self.pairs],
            "needed": None if self.needed is None else list(self.needed),
            "subsystem": self.result.to_json(),
            "shown": None if self.shown is None else self.shown.to_json(),
            "seconds": self.seconds,
        }


def project(
    system: System | type[System],
    *,
    property: str | Iterable[str] | None = None,
    needed: bool = False,
    timeout: float | None = None,
    progress: Callable[[str], object] | None = None,
    **options: Any,
) -> Projection:
    """Check the constant-size subsystem of a protocol, if that stands for any number of servers.

    With `needed`, each server of the subsystem is left out in turn, to see which property breaks without it. All other
    options are those of `quorate.check`. Raises `RefusedError` with the first condition that does not hold.
    """
    made = system() if isinstance(system, type) else system
    for name in sorted({*told(Environment)} & {*options}):
        raise ParameterError(
            f"project takes no option `{name}`",
            hint="what may go wrong belongs to the system here: faults = crashes(1, of=Server)",
            code="Q601",
        )
    for name in sorted({"workers", "address", "checkpoint"} & {name for name, value in options.items() if value}):
        raise ParameterError(
            f"project takes no option `{name}`",
            hint="it notes what properties read, so they are evaluated here, and all of them",
            code="Q601",
        )
    refuse_ranks(define(made), "`quorate project`")
    for kind in ("ltl", "ctl"):
        if isinstance(options.get(kind), str):
            options[kind] = (options[kind],)
    return _Projecting(made, property, options, _Clock(timeout), progress or (lambda _: None)).run(needed)


class _Clock:
    """What is left of the time; raises TimeUpError once it is over."""

    def __init__(self, timeout: float | None) -> None:
        self.begun = perf_counter()
        self._timeout = timeout

    @builtins.property
    def left(self) -> float | None:
        return None if self._timeout is None else max(0.001, self._timeout - self.seconds)

    @builtins.property
    def seconds(self) -> float:
        return perf_counter() - self.begun

    def look(self) -> None:
        if self._timeout is not None and self.seconds > self._timeout:
            raise TimeUpError


class _Projecting:
    """One projection under way."""

    def __init__(
        self,
        system: System,
        property: str | Iterable[str] | None,
        options: Mapping[str, Any],
        clock: _Clock,
        say: Callable[[str], object],
    ) -> None:
        self.system = system
        self.options = dict(options)
        self.clock = clock
        self.say = say
        self.names = _properties(system, property, options)
        self.parameter, self.server = find_servers(system)
        self.first: int = system.parameters[self.parameter]
        self.shapes: list[Rounds] = []
        self.lower: list[Rounds] = []
        """Of smaller numbers of servers, the largest one first."""
        self.sampled: list[int] = []
        self.below: str | None = None

    def run(self, needed: bool) -> Projection:
        try:
            self._decide()
            built = self._built()
            require_uniform([*self.shapes, built.rounds], self.parameter)
            self._require_unread(built)
            self.say(f"checking the subsystem of {count(len(built.pairs), 'server')}")
            result = self._check(built.system, crashes=0)
            if built.read:
                raise seen_by("a property", built.read[0])
            verdict, shown = result.verdict, None
            if verdict == "violated":
                verdict, shown = self._confirmed(result)
            elif result.bounds:
                raise RefusedError(ENVIRONMENT, f"{result.bounds[0]} cuts runs off, so not all of them were looked at")
            breaks = self._needed(built) if needed else None
        except TimeUpError:
            result = Result(type(self.system).__name__, "incomplete", dict(self.system.parameters), stopped_by="time")
            return self._projection("incomplete", result, None, (), None)
        return self._projection(verdict, result, shown, built.pairs, breaks)

    def _decide(self) -> None:
        numbers = [*range(self.first, max(self.first + NUMBERS, AT_LEAST + 1))]
        far = [*range(numbers[-1] + 1, self.first + FAR + 1), self.first + 2 * FAR, self.first + 4 * FAR]
        instances = {number: self._instance(number) for number in (*numbers, *far)}
        varying = varying_fields([*instances.values()], self.server)
        for number in numbers:
            self.say(f"deciding the conditions with {self.parameter}={number}")
            self.shapes.append(Rounds(Servers(instances[number], self.server), varying, look=self.clock.look))
        require_uniform(self.shapes, self.parameter)
        for shape in self.shapes:
            self._require_crashes(shape)
        for number in _sparse(far, self.shapes[0].worlds):
            self.say(f"deciding the conditions with {self.parameter}={number}")
            many = Rounds(Servers(instances[number], self.server), varying, tried="some", look=self.clock.look)
            require_uniform([self.shapes[0], many], self.parameter)
            self._require_crashes(many)
            self.sampled.append(number)
        for number in range(self.first - 1, 0, -1):
            if not self._covers(number, [*instances.values()]):
                break

    def _instance(self, number: int) -> Definition:
        self.clock.look()
        try:
            return define(resized(self.system, self.parameter, number))
        except ParameterError as error:
            raise RefusedError(
                SERVERS, f"{self.parameter}={number} is none of the numbers that there may be: {error.message}"
            ) from None

    def _covers(self, number: int, instances: list[Definition]) -> bool:
        """Whether the subsystem stands for this smaller number of servers as well, or `build` refuses that number."""
        varying = self.shapes[0].varying
        try:
            instance = define(resized(self.system, self.parameter, number))
        except ParameterError:
            return True
        except QuorateError as error:
            self.below = error.message
            return False
        try:
            if varying_fields([*instances, instance], self.server) != varying:
                raise RefusedError(UNIFORM, "a field of a client says so")
            shape = Rounds(Servers(instance, self.server), varying, look=self.clock.look)
            require_uniform([self.shapes[0], shape], self.parameter)
            self._require_crashes(shape)
        except RefusedError as refused:
            self.below = f"{refused.condition}: {refused.reason}"
            return False
        self.lower.append(shape)
        return True

    def _require_crashes(self, shape: Rounds) -> None:
        """More crashes than n - q leave no quorum: operations need not end then, and nothing that says so is kept."""
        asked = select(define(self.system), self.names, self.options.get("ltl") or (), ())
        crashes = shape.servers.definition.faults.left
        if (asked.temporal or asked.deadlock) and crashes > shape.number - _largest(shape):
            raise RefusedError(
                ENVIRONMENT,
                f"{crashes} of {shape.number} servers may crash, and a quorum is {_largest(shape)}: "
                "temporal properties and deadlocks need a quorum that stays up",
            )

    def _require_unread(self, built: Subsystem) -> None:
        definition = define(built.system)
        asked = select(definition, self.names, self.options.get("ltl") or ())
        predicates = [each for formula in asked.temporal for each in formula.predicates.values()]
        require_unread(definition, self.server, (*asked.properties, *predicates))

    def _built(self, without: frozenset[int] = frozenset()) -> Subsystem:
        return subsystem(self.system, self.parameter, self.server, self.shapes[0], without)

    def _check(self, system: System, **more: Any) -> Result:
        self.clock.look()
        return check(system, **{"property": self.names, "timeout": self.clock.left, **self.options, **more})

    def _confirmed(self, result: Result) -> tuple[Verdict, Result | None]:
        """A run of the subsystem shows nothing by itself: look for one with a real number of servers.

        With `stores` more servers than a quorum there is one, by the theorem. Most need fewer.
        """
        for number in range(self.first, self.first + 2 * _stores(self.shapes[0]) + 2):
            self.say(f"looking for such a run with {self.parameter}={number}")
            real = resized(self.system, self.parameter, number)
            name = "assertions" if result.property == "exceptions" else result.property
            found = self._check(real, property=name, max_states=MOST_STATES)
            if found.verdict == "violated":
                return "violated", found
            if found.verdict == "incomplete":
                break
        return "incomplete", None

    def _needed(self, built: Subsystem) -> tuple[str | None, ...]:
        """By pair: a property that breaks if its server is left out."""
        broken: list[str | None] = []
        for at, pair in enumerate(built.pairs):
            self.say(f"checking without the server of {pair.store} and {pair.query}")
            broken.append(self._check(self._built(frozenset({at})).system, crashes=0, trace=False).property)
        return tuple(broken)

    def _projection(
        self,
        verdict: Verdict,
        result: Result,
        shown: Result | None,
        pairs: tuple[Pair, ...],
        breaks: tuple[str | None, ...] | None,
    ) -> Projection:
        shapes = self.shapes
        return Projection(
            system=type(self.system).__name__,
            parameters=dict(self.system.parameters),
            verdict=verdict,
            parameter=self.parameter,
            server=self.server.__name__,
            numbers=tuple(shape.number for shape in shapes),
            sampled=tuple(self.sampled),
            quorums=tuple(_largest(shape) for shape in shapes),
            least=self.lower[-1].number if self.lower else self.first,
            below=self.below,
            stores=_stores(shapes[0]) if shapes else 0,
            conditions=_decided(self.lower, shapes, self.sampled, self.parameter, self.server.__name__)
            if pairs or result.states
            else (),
            pairs=pairs,
            needed=breaks,
            result=result,
            shown=shown,
            seconds=self.clock.seconds,
        )


def _properties(system: System, named: str | Iterable[str] | None, options: Mapping[str, Any]) -> list[str] | None:
    """What is asked: invariants, deadlocks and linear temporal properties. The theorem keeps nothing else."""
    definition = define(system)
    asked = select(definition, named, options.get("ltl") or (), options.get("ctl") or ())
    goals = {each.name for each in definition.cans}
    branching = [each.name for each in asked.temporal if each.kind == "ctl"]
    chosen = [each.name for each in asked.properties if each.name in goals]
    if branching or (named is not None and chosen):
        name = (branching or chosen)[0]
        raise RefusedError(
            PROPERTIES, f"{name}: a subsystem says what happens in every run, not what can happen from a state"
        )
    if asked.temporal and options.get("fairness", "message") != "message":
        raise RefusedError(ENVIRONMENT, "temporal properties are argued for under the fairness `message` alone")
    if not asked.safety:
        return None if options.get("ltl") else [each.name for each in asked.temporal]
    properties = [each.name for each in asked.properties if each.kind == "invariant"]
    stated = [each.name for each in asked.temporal if each.name in {one.name for one in temporal_of(definition)}]
    return [*properties, *stated, *(["deadlock"] if asked.deadlock else []), "assertions"]


def _largest(shape: Rounds) -> int:
    return max((size for sizes in shape.rounds.values() for size in sizes), default=0)


def _stores(shape: Rounds) -> int:
    return sum(each.kind == "store" for each in shape.rounds)


def _sparse(far: list[int], worlds: int) -> list[int]:
    """As many of the far numbers as may be explored: the last three, and of the others the smallest."""
    most = max(LEAST_FAR, MOST_FAR_WORLDS // max(1, worlds))
    return far if most >= len(far) else [*far[: most - 3], *far[-3:]]


def _told(numbers: list[int]) -> str:
    """Numbers in growing order, as `1 to 5 and 8`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    *told, last = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return f"{', '.join(told)} and {last}" if told else last


def _decided(
    lower: list[Rounds], shapes: list[Rounds], sampled: list[int], parameter: str, server: str
) -> tuple[Condition, ...]:
    first = shapes[0]
    servers = first.servers
    near = [shape.number for shape in (*reversed(lower), *shapes)]
    requests = {"store": "nothing", "query": "nothing"}
    for kind in requests:
        codes = {code for each, codes in first.requests.items() if each.kind == kind for code in codes}
        requests[kind] = ", ".join(sorted({type(servers.requests[code]).__name__ for code in codes})) or "nothing"
    met = "; ".join(f"{_largest(shape)} of {shape.number}" for shape in shapes)
    sets = sum(shape.sets for shape in (*lower, *shapes))
    return (
        Condition(SERVERS, f"{parameter} is the number of {server}, which begin alike and do the same"),
        Condition(ENVIRONMENT, f"the network is {servers.definition.network}; no client crashes"),
        Condition(ANSWERS, f"{server} gives one answer to each of {len(servers.requests)} requests, to who asked"),
        Condition(
            KINDS,
            f"{requests['store']} gets the same answer in every state, {requests['query']} leaves every state as it is",
        ),
        Condition(
            STAMPS, f"the {len(servers.states)} states of a server are ordered, and a store leaves the higher one"
        ),
        Condition(BROADCASTS, "what clients send goes to each server once, and to nobody else"),
        Condition(ROUNDS, f"{len(first.rounds)} rounds in all, {len(first.pairs())} pairs of a store and a query"),
        Condition(QUORUMS, "answers are taken by quorums of a fixed size alone"),
        Condition(MEET, met),
        Condition(APART, "no quorum takes late answers to another round, and each takes all answers to its own"),
        Condition(HIGHEST, f"tried on all {sets:,} sets of answers with {_told(near)} servers, on samples with more"),
        Condition(
            UNIFORM,
            f"clients have the same {first.worlds:,} states with {_told([*near, *sampled])} servers; "
            "of other numbers it is assumed",
        ),
        Condition(PROPERTIES, "no property reads a server"),
    )
