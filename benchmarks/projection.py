"""Any number of servers: the subsystem of `quorate project` beside 3, 5 and 7 servers."""

from __future__ import annotations

import time

from benchmarks.experiment import Limits
from benchmarks.probe import measure
from benchmarks.results import Figure, Section, figure
from benchmarks.runner import Say

PROJECTION = "projection"
TABLES = {
    PROJECTION: """\
## Any number of servers

What `quorate project` takes, deciding the conditions included, beside a check of 3, 5 and 7 servers with the default
reductions. A full system that did not end within its limits says so.""",
}

INSTANCES = {
    "regular, 1 write, 1 read": ("quorate.protocols.regular_storage:RegularStorage", {"writes": 1, "readers": 1}),
    "regular, 3 writes, 1 read": ("quorate.protocols.regular_storage:RegularStorage", {"writes": 3, "readers": 1}),
    "atomic, 1 write, 2 reads": ("quorate.protocols.atomic_storage:AtomicStorage", {"writes": 1, "readers": 2}),
    "atomic, 2 writes, 2 reads": ("quorate.protocols.atomic_storage:AtomicStorage", {"writes": 2, "readers": 2}),
}
NUMBERS = (3, 5, 7)
LIMITS = Limits(seconds=60, memory_bytes=4 << 30, repeat=1)
QUICK = Limits(seconds=5, memory_bytes=2 << 30, repeat=1)


def projection(quick: bool, say: Say) -> Section:
    found: list[Figure] = []
    for name, (target, parameters) in INSTANCES.items():
        say(f"projection: {name}, any number of servers")
        found.append(_subsystem(name, target, parameters, 1 if quick else 3))
        for number in NUMBERS:
            say(f"projection: {name}, {number} servers")
            full = measure(target, {**parameters, "bases": number}, {}, QUICK if quick else LIMITS)
            note = (
                f"{full.states:,} states" if full.status == "holds" else f"{full.status} after {full.states:,} states"
            )
            found.append(figure(f"{name}: {number} servers", "s", [full.core_seconds], better="lower", note=note))
    return Section(PROJECTION, figures=tuple(found))


def _subsystem(name: str, target: str, parameters: dict[str, int], repeat: int) -> Figure:
    from quorate.model.target import load
    from quorate.projection.project import project

    seconds: list[float] = []
    states = 0
    for _ in range(repeat):
        began = time.process_time()
        answer = project(load(target)(**parameters))
        seconds.append(time.process_time() - began)
        states = answer.result.states
        if answer.verdict != "holds":
            raise ValueError(f"{target}: {answer.verdict}")
    note = f"{states:,} states"
    return figure(f"{name}: any number of servers", "s", seconds, better="lower", goal=60, note=note)
