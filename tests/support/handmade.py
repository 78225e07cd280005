"""Runs and results without the engine, by breadth-first search over the plain semantics, for tests of how they look."""

from collections.abc import Callable
from typing import Any

from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.properties import evaluate, explain
from quorate.results.result import PropertyOutcome, Result
from quorate.results.trace import Trace
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import enabled_protocol, steps


def find(definition: Definition, wanted: Callable[[State, tuple[Step, ...]], bool]) -> tuple[State, tuple[Step, ...]]:
    """A shortest run to a state that is wanted, or that ends in a failing step."""
    paths: dict[bytes, tuple[State, tuple[Step, ...]]] = {}
    queue: list[State] = []
    for state in initial_states(definition):
        paths[state.key] = (state, ())
        queue.append(state)
    for state in queue:
        initial, path = paths[state.key]
        offered = steps(definition, state)
        if wanted(state, offered):
            return initial, path
        for step in offered:
            if step.failure is not None:
                return initial, (*path, step)
            if step.next is not None and step.next.key not in paths:
                paths[step.next.key] = (initial, (*path, step))
                queue.append(step.next)
    raise AssertionError("no such run")


def violation(system: System, name: str) -> Trace:
    """The run that breaks an invariant, a handler's assertion, or that ends in a deadlock."""
    definition = define(system)
    known = {prop.name: prop for prop in definition.invariants}

    def wanted(state: State, offered: tuple[Step, ...]) -> bool:
        if name in known:
            return not evaluate(definition, known[name], state.locals).value
        return name == "deadlock" and not enabled_protocol(offered)

    initial, path = find(definition, wanted)
    last = path[-1].next if path else initial
    reason: tuple[str, ...]
    if last is None:
        failure = path[-1].failure
        reason = (failure.text,) if failure is not None else ()
    elif name == "deadlock":
        reason = ("no protocol step is possible",)
    else:
        reason = explain(definition, known[name], last.locals)
    return Trace("violation", name, reason, definition, initial, path, shortest=True)


def witness(system: System, name: str) -> Trace:
    definition = define(system)
    prop = next(prop for prop in definition.cans if prop.name == name)
    initial, path = find(definition, lambda state, _: evaluate(definition, prop, state.locals).value)
    last = path[-1].next if path else initial
    assert last is not None
    reason = explain(definition, prop, last.locals)
    return Trace("witness", name, reason, definition, initial, path, shortest=True)


def result(trace: Trace | None = None, **changes: Any) -> Result:
    """A result with figures that look like real ones."""
    fields: dict[str, Any] = {
        "system": trace.definition.name if trace is not None else "Paxos",
        "verdict": "violated" if trace is not None else "holds",
        "parameters": trace.definition.parameters if trace is not None else {"proposers": 2, "acceptors": 3},
        "property": trace.property if trace is not None else None,
        "states": 1005,
        "transitions": 2340,
        "depth": 14,
        "seconds": 0.25,
        "setup_seconds": 0.05,
        "peak_memory_bytes": 43_000_000,
        "bytes_per_state": 16.0,
        "python_calls": 812,
        "cells": 340,
        "messages": 57,
        "reductions": {
            "quotient": {"ran": True, "why": "120 local states in 35 classes", "factor": 3.4},
            "dead_messages": {"ran": True, "why": "14 of 57 messages are never consumed"},
            "symmetry": {"ran": False, "why": "not asked for"},
        },
        "properties": (
            PropertyOutcome("agreement", "invariant", "holds" if trace is None else "violated"),
            PropertyOutcome("validity", "invariant", "holds" if trace is None else "incomplete"),
        ),
        "trace": trace,
    }
    return Result(**{**fields, **changes})
