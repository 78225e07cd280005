"""One product of states and automaton, measured from inside: `python -m benchmarks.product`, its figures as JSON.

In a process of its own, as `benchmarks.probe`: memory that was returned to the allocator would hide growth.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Product:
    """What the graph and the product with an automaton cost. Seconds are those of a core."""

    states: int
    transitions: int
    explore_seconds: float
    explore_bytes: int
    product_states: int
    groups: int
    product_seconds: float
    product_bytes: int
    share: float
    """Of a core, that the machine gave it."""


def product(target: str, parameters: Mapping[str, Any], formula: str, level: str) -> Product:
    """The product of a system, unreduced, with the automaton of a property that holds; in a fresh process."""
    request = {"target": target, "parameters": dict(parameters), "formula": formula, "level": level}
    command = [sys.executable, "-m", "benchmarks.product", json.dumps(request)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return Product(**json.loads(done.stdout))


class _Meter:
    """Seconds of a core, and growth of resident memory up to its highest point."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the highest point so far is forgotten
        self.before = _resident("VmRSS")
        self.cpu, self.wall = _cpu(), time.perf_counter()

    def read(self) -> tuple[float, int, float]:
        cpu = _cpu() - self.cpu
        return cpu, _resident("VmHWM") - self.before, cpu / (time.perf_counter() - self.wall)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _resident(which: str) -> int:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields[which].split()[0]) * 1024


def _measure(target: str, parameters: Mapping[str, Any], formula: str, level: str) -> Product:
    from quorate.model.define import define
    from quorate.model.target import load
    from quorate.native.model import Model
    from quorate.native.temporal import TemporalGraph, assumption, numbered
    from quorate.options import Options
    from quorate.properties.asked import select
    from quorate.properties.temporal.fairness import fairness_of
    from quorate.properties.temporal.formula import names
    from quorate.properties.temporal.translate import translate_negation
    from quorate.reduce.reductions import Reductions

    definition = define(load(target)(**parameters))
    (prop,) = select(definition, formula).temporal
    over = names(prop.formula)
    model = Model(definition, [prop.predicates[name] for name in over])
    reductions = Reductions(model, Options(quotient="off", dead_messages="off", symmetry="none"))
    reductions.analyse()
    while True:  # until it is known what the predicates read
        graph = TemporalGraph(model, None)
        meter = _Meter()
        explored = graph.explore(None, None)
        if explored.stop != "regrown":
            break
        reductions.apply_again()
    assert explored.stop == "finished", explored
    explore_seconds, explore_bytes, _ = meter.read()
    atoms = [graph.native.predicate(at) for at in range(len(over))]
    automaton = translate_negation(prop.formula, over)
    meter = _Meter()
    # Where no run comes back to a state, the ends alone would decide it. What is measured is the search for cycles.
    found = graph.native.check(
        model, numbered(automaton), atoms, assumption(fairness_of(definition, level)), even_if_acyclic=True
    )
    product_seconds, product_bytes, share = meter.read()
    assert (found.violation, found.passes) == (None, 1)
    return Product(
        explored.states,
        explored.transitions,
        explore_seconds,
        explore_bytes,
        found.product_states,
        found.groups,
        product_seconds,
        product_bytes,
        share,
    )


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(**json.loads(sys.argv[1])))))
