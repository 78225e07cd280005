"""Linearizability inside of a search, and of a recorded history: what it costs."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

from benchmarks.experiment import Limits, Measured
from benchmarks.probe import measure
from benchmarks.results import Figure, Section, figure
from benchmarks.runner import Say

HISTORIES = "histories"
TABLES = {
    HISTORIES: """\
## Histories

Registers whose clients write and then read, checked for linearizability with the default reductions, beside the same
register without a history. The history is a set of configurations in a column of its own: there are more states, and
they should be visited about as fast. `single copy` has one server and 4 clients, `ABD` 3 servers and 2 clients. Seconds
are those of a core. The last figure is a recorded history of a register, 5 processes, as `quorate linearize` checks
it.""",
}

MODELS = "benchmarks.protocols.registers"
INSTANCES = {"single copy": ("SingleCopy", {"clients": 4}), "ABD": ("Abd", {"servers": 3, "clients": 2})}
OPERATIONS = 100_000


def histories(quick: bool, say: Say) -> Section:
    repeat = 1 if quick else 3
    found: list[Figure] = []
    for name, (system, parameters) in INSTANCES.items():
        plain: list[Measured] = []
        judged: list[Measured] = []
        for number in range(repeat):
            say(f"histories {number + 1} of {repeat}: {name}")
            plain.append(_check(system, parameters))
            judged.append(_check(f"{system}History", parameters))
        found += _figures(name, plain, judged)
    say("histories: a recorded one")
    operations = OPERATIONS // 10 if quick else OPERATIONS
    seconds = [recorded(operations, 5) for _ in range(repeat)]
    found.append(figure(f"recorded, {operations:,} operations", "s", seconds, better="lower"))
    return Section(HISTORIES, figures=tuple(found))


def _figures(name: str, plain: list[Measured], judged: list[Measured]) -> list[Figure]:
    note = f"{judged[0].states:,} states, {plain[0].states:,} without a history"
    rates = [each.states / each.core_seconds for each in judged]
    before = [each.states / each.core_seconds for each in plain]
    return [
        figure(f"{name}: states per second", "states/s", rates, goal=5e5, note=note),
        figure(f"{name}: states per second without a history", "states/s", before),
        figure(f"{name}: bytes per state", "bytes", [each.bytes_per_state for each in judged], better="lower", goal=64),
        figure(f"{name}: bytes without a history", "bytes", [each.bytes_per_state for each in plain], better="lower"),
        figure(f"{name}: setting up", "s", [_setup(each) for each in judged], better="lower"),
        figure(f"{name}: setting up without a history", "s", [_setup(each) for each in plain], better="lower"),
    ]


def _setup(measured: Measured) -> float:
    return measured.core_seconds - measured.search_seconds


def _check(system: str, parameters: Mapping[str, Any]) -> Measured:
    found = measure(f"{MODELS}:{system}", parameters, {}, Limits(repeat=1))
    if found.status != "holds":
        raise ValueError(f"{system}: {found.status} {found.note}")
    return found


def recorded(operations: int, processes: int) -> float:
    """Core seconds to find that a history of a register has an order."""
    from quorate.histories.checked import Checked
    from quorate.histories.order import find_misplaced
    from quorate.histories.specifications import Register

    calls = history(operations, processes, random.Random(1))
    began = time.process_time()
    if find_misplaced(Checked(Register(0), None), calls) is not None:
        raise ValueError("the history has an order")
    return time.process_time() - began


def history(operations: int, processes: int, chance: random.Random) -> list[Any]:
    """Reads and writes of distinct values, each taking effect at some moment while it is under way."""
    from quorate.histories.order import Call
    from quorate.histories.specifications import Read, Write

    calls: list[Any] = []
    under_way: dict[int, tuple[int, bool, Any]] = {}
    value: Any = 0
    place = 0
    while len(calls) < operations or under_way:
        process = chance.randrange(processes)
        place += 1
        if process not in under_way:
            if len(calls) < operations:
                under_way[process] = len(calls), False, None
                operation = Write(len(calls) + 1) if chance.random() < 0.5 else Read()
                calls.append(Call(str(process), operation, place))
            continue
        number, done, result = under_way[process]
        operation = calls[number].operation
        if not done:
            result = None if isinstance(operation, Write) else value
            value = operation.value if isinstance(operation, Write) else value
            under_way[process] = number, True, result
        else:
            del under_way[process]
            calls[number] = Call(str(process), operation, calls[number].begin, place, result)
    return calls
