"""k-induction: k states in a row in which a claim holds are followed by another.

There is no idle step: with one, nothing would be k-inductive that is not inductive. The base case is asked for every
length below k.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from quorate.proofs.actions import Action
from quorate.proofs.encode import Encoded
from quorate.proofs.induction import Node, Prover
from quorate.proofs.propositions import Claim
from quorate.proofs.solver import Query
from quorate.proofs.terms import (
    FALSE,
    Term,
    app,
    conjunction,
    disjunction,
    equal,
    forall,
    implies,
    ite,
    negation,
    number,
    rebuilt,
    var,
    variables,
)


class Unrolled:
    """States one after the other: the variables and predicates of each have its number."""

    def __init__(self, encoded: Encoded, steps: Sequence[Action]) -> None:
        self.encoded, self.machine, self.actions = encoded, encoded.machine, list(steps)
        self._all = list(self.machine.variables())
        self._channels: dict[str, tuple[tuple[Term, ...], Any]] = {}
        for channel in self.machine.channels.values():
            bound = tuple(var(f":w{suffix}", sort) for suffix, sort in channel.shape.leaves)
            self._channels[channel.pending] = bound, "Int" if self.machine.counting else "Bool"
            self._channels[channel.sent] = bound, "Bool"

    def at(self, term: Term, index: int) -> Term:
        """A formula about the state of that number."""

        def apply(old: Term, arguments: tuple[Term, ...]) -> Term:
            return app(f"{old.args[0]}#{index}", arguments, old.sort)

        return rebuilt(term, {each: var(f"{each.args[0]}#{index}", each.sort) for each in self._all}, apply)

    def step(self, index: int) -> list[Term]:
        """From the state of that number to the next: exactly one action."""
        chosen = [var(f"do{at}#{index}", "Bool") for at in range(len(self.actions))]
        rules: list[Term] = [disjunction(chosen)]
        rules += [disjunction([negation(a), negation(b)]) for at, a in enumerate(chosen) for b in chosen[at + 1 :]]
        fresh = [
            {each: var(f"{each.args[0]}~{at}#{index}", each.sort) for each in action.parameters}
            for at, action in enumerate(self.actions)
        ]
        for at, action in enumerate(self.actions):
            rules.append(implies(chosen[at], rebuilt(self.at(action.guard, index), fresh[at])))
        for variable in self._all:
            value = self.at(variable, index)
            for at, action in enumerate(self.actions):
                if variable in action.updates:
                    new = rebuilt(self.at(action.updates[variable], index), fresh[at])
                    value = ite(chosen[at], new, value)
            rules.append(equal(self.at(variable, index + 1), value))
        for name, (bound, sort) in self._channels.items():
            old = app(name, bound, sort)
            value = self.at(old, index)
            for at, action in enumerate(self.actions):
                if name in action.touched:
                    new = rebuilt(self.at(action.after(old, self.machine), index), fresh[at])
                    value = ite(chosen[at], new, value)
            next_ = self.at(old, index + 1)
            rules.append(
                forall(bound, equal(next_, value), [[next_], [self.at(old, index)]]) if bound else equal(next_, value)
            )
        return rules

    def begins(self) -> list[Term]:
        rules = [self.at(self.machine.initial(), 0), self.at(self.machine.well_formed(), 0)]
        for name, (bound, sort) in self._channels.items():
            old = self.at(app(name, bound, sort), 0)
            empty = equal(old, FALSE if sort == "Bool" else number(0))
            rules.append(forall(bound, empty, [[old]]) if bound else empty)
        return rules


def k_induction(
    prover: Prover,
    claim: Claim,
    lemmas: Sequence[Claim],
    most: int,
    found: Callable[[int, str], None] = lambda *_: None,
) -> Node:
    """The least k up to `most` for which the claim is k-inductive relative to lemmas that are proved."""
    node = Node(claim)
    began = time.perf_counter()
    unrolled = Unrolled(prover.encoded, prover.steps)
    background = prover.encoded.background
    base, begins = Query(prover.translate, quantified=True), unrolled.begins()
    base.add(*begins)
    step = Query(prover.translate, quantified=True)
    assumed = [each.formula for each in lemmas]
    goal = [unrolled.at(instance.skolem("g"), 0) for instance in claim.instances]

    def state(index: int) -> list[Term]:
        return [unrolled.at(background, index), *(unrolled.at(each, index) for each in assumed)]

    before = state(0)
    step.add(*before)
    for k in range(1, most + 1):
        if prover.deadline.passed:
            node.status, node.why = "unknown", "not finished before it was over"
            break
        here = conjunction(rebuilt_at(each, k - 1) for each in goal)
        answer = base.ask([negation(here)], seconds=prover._seconds())
        prover.queries += 1
        if answer != "unsat":
            node.status = "open" if answer == "sat" else "unknown"
            node.why = f"a run of {k - 1} steps breaks it" if answer == "sat" else "the solver gave up on the base case"
            break
        node.unrolled.append((f"no run of {k - 1} steps breaks it", [*begins, negation(here)]))
        taken = unrolled.step(k - 1)
        more = [unrolled.at(claim.formula, k - 1), *taken, *state(k)]
        step.add(*more)
        before = [*before, *more]
        there = conjunction(rebuilt_at(each, k) for each in goal)
        answer = step.ask([negation(there)], seconds=prover._seconds())
        prover.queries += 1
        found(k, answer)
        if answer == "unsat":
            node.status, node.k, node.rests_on = "proved", k, tuple(lemmas)
            node.unrolled.append((f"{k} states in which it holds are followed by another", [*before, negation(there)]))
            break
        node.status = "open" if answer == "sat" else "unknown"
        node.why = f"not {k}-inductive" if answer == "sat" else f"the solver gave up at k = {k}"
        base.add(*taken)
        begins = [*begins, *taken]
    return prover._timed(node, began)


def thinned(prover: Prover, claim: Claim, node: Node) -> Node:
    """The same with fewer lemmas, as long as k stays what it is."""
    for lemma in node.rests_on:
        if prover.deadline.passed:
            break
        tried = k_induction(prover, claim, [each for each in node.rests_on if each is not lemma], node.k)
        if tried.status == "proved":
            tried.seconds += node.seconds
            node = tried
    return node


def rebuilt_at(term: Term, index: int) -> Term:
    """A formula about state 0 as one about another."""

    def apply(old: Term, arguments: tuple[Term, ...]) -> Term:
        return app(f"{old.args[0].rpartition('#')[0]}#{index}", arguments, old.sort)

    renamed = {
        each: var(f"{each.args[0].rpartition('#')[0]}#{index}", each.sort)
        for each in variables(term)
        if each.args[0].endswith("#0")
    }
    return rebuilt(term, renamed, apply)
