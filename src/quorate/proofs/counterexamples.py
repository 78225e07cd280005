"""A counterexample to induction as people see it: a state with no more in it than it takes, and one step.

The solver fills in whatever it was not asked about. What can be as it is initially without spoiling the example is put
back, and messages that nothing depends on are taken out; what is left are the fields that matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from quorate.proofs.induction import CTI, Prover
from quorate.proofs.leaves import OverflowingError
from quorate.proofs.samples import Sampler
from quorate.proofs.solver import Deadline
from quorate.proofs.terms import compiled, variables
from quorate.results.trace import Trace
from quorate.semantics.steps import steps

if TYPE_CHECKING:
    from quorate.model.definition import Definition


def minimal(prover: Prover, cti: CTI) -> CTI:
    """The same with as much as possible as it is initially, and as few messages as possible."""
    if not spoils(prover, cti):
        return cti  # not as it was asked for; nothing to compare with
    known = prover.machine.initial_terms()[0]
    for fields in prover.machine.fields:
        for each in fields:
            values = {term.args[0]: known[term].args[0] for term in each.terms if term in known}
            if len(values) == len(each.terms) and any(cti.values[name] != value for name, value in values.items()):
                cti = _if_spoils(prover, replace(cti, values={**cti.values, **values}), cti)
    for without in _fewer(cti):
        if prover.deadline.passed:
            break
        cti = _if_spoils(prover, replace(cti, contents=_without(cti.contents, *without)), cti)
        cti = _if_spoils(prover, replace(cti, sent=_without(cti.sent, *without)), cti)
    return cti


def _fewer(cti: CTI) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for held in (cti.contents, cti.sent):
        for name, messages in list(held.items()):
            for leaves in list(messages):
                yield name, leaves


def _without(
    held: dict[str, dict[tuple[Any, ...], int]], name: str, leaves: tuple[Any, ...]
) -> dict[str, dict[tuple[Any, ...], int]]:
    return {key: {each: n for each, n in some.items() if (key, each) != (name, leaves)} for key, some in held.items()}


def _if_spoils(prover: Prover, tried: CTI, otherwise: CTI) -> CTI:
    return tried if spoils(prover, tried) else otherwise


def spoils(prover: Prover, cti: CTI) -> bool:
    """Whether all that is assumed holds before the step, the step can be taken, and the claim fails after it."""
    machine = prover.machine
    state = {**cti.values, **cti.parameters}
    if not all(compiled(machine.well_formed())(cti.values, {})):
        return False
    for channel in machine.channels.values():  # what is pending was sent
        if any(leaves not in cti.sent.get(channel.sent, {}) for leaves in cti.contents.get(channel.pending, {})):
            return False
    if not all(prover.holds(each, cti.values, cti.channels) for each in cti.assumed):
        return False
    if cti.claim.origin == "obligation":
        return not prover.holds(cti.claim, cti.values, cti.channels)
    action = cti.action
    if not all(compiled(action.guard)(state, cti.channels)):
        return False
    after = {**cti.values}
    for term, value in zip(action.updates, compiled(*action.updates.values())(state, cti.channels), strict=True):
        after[term.args[0]] = value
    channels = {name: dict(held) for name, held in cti.channels.items()}
    for put in () if action.stays else action.consumed:
        leaves = compiled(*put.leaves)(state, cti.channels) if put.leaves else ()
        held = channels.get(put.channel.pending, {})
        held[leaves] = held.get(leaves, 1) - 1
        if not held[leaves]:
            del held[leaves]
    for put in action.sends:
        leaves = compiled(*put.leaves)(state, cti.channels) if put.leaves else ()
        if all(compiled(put.condition)(state, cti.channels)):
            held = channels.setdefault(put.channel.pending, {})
            held[leaves] = held.get(leaves, 0) + 1 if machine.adds_up or action.kind == "copy" else 1
            channels.setdefault(put.channel.sent, {})[leaves] = 1
    return not prover.holds(cti.claim, after, channels)


def shown(prover: Prover, cti: CTI) -> frozenset[tuple[int, str]]:
    """The fields that matter: those that are not as they begin, and those that the step or the claim reads."""
    known = prover.machine.initial_terms()[0]
    read = variables(cti.action.guard, *(each.matrix for each in cti.claim.instances)) | set(cti.action.updates)
    found = set()
    for fields in prover.machine.fields:
        for each in fields:
            differs = any(term not in known or known[term].args[0] != cti.values[term.args[0]] for term in each.terms)
            if each.shape is not None and (differs or read & set(each.terms)):
                found.add((each.column.index, each.name))
    return frozenset(found)


def reason(definition: Definition, name: str, state: Any) -> tuple[str, ...]:
    from quorate.properties.evaluate import explain

    return explain(definition, definition.property(name), state.locals)


def trace_of(prover: Prover, cti: CTI) -> Trace | None:
    """The step that breaks a claim, as a run of one step; None if it cannot be taken again."""
    machine, definition = prover.machine, prover.encoded.definition
    state = machine.state(cti.values, cti.contents)
    action = cti.action
    wanted = []
    for put in action.consumed:
        leaves = compiled(*put.leaves)({**cti.values, **cti.parameters}, cti.channels) if put.leaves else ()
        wanted.append(machine.plain_message(put.channel, leaves))
    kind = {"copy": "duplicate"}.get(action.kind, action.kind)
    for step in steps(definition, state):
        if step.kind != kind or step.column != action.column.index or step.transition is not action.transition:
            continue
        if set(step.consumed) != set(wanted) or step.next is None:
            continue
        try:
            after = machine.values_of(step.next)
        except OverflowingError:
            continue  # another way through the transition
        expected = compiled(*action.updates.values())({**cti.values, **cti.parameters}, cti.channels)
        if all(after[term.args[0]] == value for term, value in zip(action.updates, expected, strict=True)):
            claim = cti.claim
            why: tuple[str, ...] = ()
            if claim.origin == "invariant":
                why = reason(definition, claim.name, step.next)
            return Trace(
                "violation", claim.name, why, definition, state, (step,), False, start="any", shown=shown(prover, cti)
            )
    return None


def reachable(prover: Prover, cti: CTI, most: int = 2000) -> bool | None:
    """Whether the state before the step is one that a search of so many states comes to; None if it did not."""
    state = prover.machine.state(cti.values, cti.contents)
    sampler = Sampler(prover.encoded.definition, prover.machine)
    limit = Deadline(min(5.0, max(0.5, prover.deadline.left)), prover.deadline)
    for sample in sampler.states(most, limit):
        pending = {name: held for name, held in sample.channels.items() if not name.startswith("sent:")}
        if sample.values == cti.values and prover.machine.state(sample.values, pending) == state:
            return True
    return None
