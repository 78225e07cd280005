"""What partial orders keep of whole runs: compared with the graph that has all orders, for any formula over one field.

The reference is the graph without reductions, whose counts other checks hold against the explorer.
"""

from __future__ import annotations

from typing import Any

from preservation import Graph, same_branching, same_runs
from quorate import _core
from quorate.model.define import define
from quorate.native.model import Model

MOST_STATES = 300


def differs(system: Any, keep: str, which: int, reduced: bool) -> str:
    """How the runs, or the branching, differ where one field is observed; nothing if they do not, or cannot be told."""
    model = Model(define(system()), ())
    places = [
        (column.index, number)
        for column in model.definition.processes
        for number, name in enumerate(column.spec.fields, 1)
        if ":" not in name and not name.startswith(("to_", "of_", "via_"))
    ]
    if not places:
        return ""
    column, number = places[which % len(places)]
    model.observed[column][number] = True
    model.engine.observe(model.observed)
    if not model.engine.close(model, 2_000).complete:
        return ""
    network = model.definition.network
    model.engine.reduce(reduced, reduced and network.kind != "fifo" and network.capacity is None)
    full = Graph.of(model)
    nodes = model.engine.graph(model)
    asked = _core.PorOptions(split_quorums=True, split_replies=True, keep=_core.Keep[keep])
    if len(full.seen) > MOST_STATES or model.engine.relate(asked):
        return ""
    same = same_runs if keep == "linear" else same_branching
    told = f"{keep}, observing field {number} of process {column}"
    if not same(full, Graph.of(model)):
        return told
    return "" if same(full, Graph.stored(model, nodes)) else f"{told}, in the stored graph"
