"""Temporal properties, Quorate alone: what the product with an automaton costs, and what ends cost beside safety."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiment import PLAIN, Limits, Measured
from benchmarks.probe import measure
from benchmarks.product import Product, product
from benchmarks.results import Figure, Section, figure
from benchmarks.runner import Say

TEMPORAL = "temporal"
TABLES = {
    TEMPORAL: """\
## Temporal properties

A formula is decided on the graph of all states, in a product with the automaton of its negation. Unreduced, on one
thread, under weak fairness by message (the default), of properties that hold, so that all of the product is visited:

* the register of `atomic-storage` with 2 readers, `G(found -> F read)`. No run comes back to a state, so a check would
  only look at the ends of runs; here the search for cycles is made all the same.
* a lock with clients who ask again and again, `G(held -> F !held)`: nearly all states are in one component.

Seconds are those of a core, without exploring the graph. Bytes are the growth of resident memory during the search,
beside the graph. The last figure compares whole checks of the register: `F read`, and the invariant `atomicity`.""",
}

REGISTER = "benchmarks.protocols.temporal_storage:AtomicRegister"
LOCK = "benchmarks.protocols.lock:Locking"


def temporal(quick: bool, say: Say) -> Section:
    clients = 12 if quick else 15
    repeat = 1 if quick else 5
    register: list[Product] = []
    lock: list[Product] = []
    ends: list[Measured] = []
    safety: list[Measured] = []
    for number in range(repeat):  # in turn, so that all meet the machine in the same mood
        say(f"temporal {number + 1} of {repeat}: a register, a lock, ends and safety of the register")
        register.append(product(REGISTER, {"readers": 2}, "answered", "message"))
        lock.append(product(LOCK, {"clients": clients}, "released", "message"))
        ends.append(_check({"property": "ends"}))
        safety.append(_check({"property": "atomicity"}))
    shares = [each.share for each in (*register, *lock)]
    notes = [f"The machine was busy: runs had {min(shares):.0%} of a core at the least."] if min(shares) < 0.95 else []
    ratios = [one.core_seconds / other.core_seconds for one, other in zip(ends, safety, strict=True)]
    told = f"{ends[0].states:,} states each"
    return Section(
        TEMPORAL,
        figures=(
            *_figures("register, 2 readers", register),
            *_figures(f"lock, {clients} clients", lock),
            figure(
                "register: time of a property that ends decide, over safety",
                "x",
                ratios,
                better="lower",
                goal=1.5,
                note=told,
            ),
        ),
        notes=tuple(notes),
    )


def _figures(what: str, runs: list[Product]) -> list[Figure]:
    first = runs[0]
    size = f"{first.states:,} states, {first.product_states:,} of the product, {first.groups} fair groups"
    rates = [each.product_states / each.product_seconds for each in runs]
    sizes = [each.product_bytes / each.product_states for each in runs]
    return [
        figure(f"{what}: product states per second", "states/s", rates, goal=1e6, note=size),
        figure(f"{what}: bytes per product state", "bytes", sizes, better="lower", goal=40),
        figure(f"{what}: time of the product", "s", [each.product_seconds for each in runs], better="lower"),
        figure(f"{what}: time of the graph", "s", [each.explore_seconds for each in runs], better="lower"),
    ]


def _check(options: Mapping[str, Any]) -> Measured:
    found = measure(REGISTER, {"readers": 2}, {**PLAIN, **options}, Limits(repeat=1))
    if found.status != "holds":
        raise ValueError(f"{options}: {found.status} {found.note}")
    return found
