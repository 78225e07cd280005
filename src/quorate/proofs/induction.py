"""Proofs by induction: a claim holds at the beginning, and every step keeps it, given what else is claimed.

Claims that rest on one another are proved together: each one's step assumes those that it needs in the state before,
and all that are assumed are proved as well. What is assumed is chosen by the thesis's advice (Bokor 2011, 5.1): alone
first, then with the lemmas that the counterexample to induction violates. Only "unsat" counts; a solver that gives up
gives the verdict unknown, and no proof.

For k > 1 (no lemma is enough, or none was found) k steps are unrolled: the claim is assumed in k states in a row. There
is no idle step: with one, nothing would be k-inductive that is not inductive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from quorate.proofs.actions import Action
from quorate.proofs.encode import Encoded
from quorate.proofs.propositions import Claim, Instance, read
from quorate.proofs.solver import Deadline, Model, Query
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    app,
    bounding,
    children,
    compiled,
    conjunction,
    disjunction,
    equal,
    forall,
    implies,
    ite,
    negation,
    nodes,
    number,
    rebuilt,
    var,
    variables,
)

Status = Literal["proved", "open", "unknown"]
BRIEFLY = 4.0
"""Seconds for a question that may lack hypotheses."""


@dataclass
class CTI:
    """A counterexample to induction: a state, perhaps unreachable, in which all that is assumed holds, and a step."""

    claim: Claim
    action: Action
    values: dict[str, Any]
    contents: dict[str, dict[tuple[Any, ...], int]]
    sent: dict[str, dict[tuple[Any, ...], int]]
    parameters: dict[str, Any]

    @property
    def channels(self) -> dict[str, dict[tuple[Any, ...], int]]:
        return {**self.contents, **self.sent}


@dataclass
class Obligation:
    """One question that was answered with unsat: these hypotheses exclude this."""

    claim: Claim
    what: str
    hypotheses: tuple[Claim, ...]
    question: tuple[Term, ...]
    seconds: float = 0.0


@dataclass
class Node:
    """What is known of a claim."""

    claim: Claim
    status: Status = "open"
    rests_on: tuple[Claim, ...] = ()
    k: int = 1
    seconds: float = 0.0
    queries: int = 0
    cti: CTI | None = None
    why: str = ""
    obligations: list[Obligation] = field(default_factory=list)
    unrolled: list[tuple[str, list[Term]]] = field(default_factory=list)
    """For k > 1: the questions that were answered with unsat, and what each means."""


class Prover:
    """Proves claims about one system."""

    def __init__(
        self,
        encoded: Encoded,
        deadline: Deadline,
        *,
        query_seconds: float = 60.0,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.encoded = encoded
        self.machine = encoded.machine
        self.deadline = deadline
        self.query_seconds = query_seconds
        self.progress = progress
        self.translate = encoded.translate
        self.steps = [action for action in encoded.actions if action.kind not in ("fail", "overflow")]
        self.queries = 0
        self._preferred: set[Claim] = set()
        """What other claims rest on already: better one lemma that serves twice."""
        self._compiled: dict[int, Any] = {}
        self._after: dict[tuple[int, Term], Term] = {}

    # The beginning

    def base(self, claim: Claim) -> tuple[Status, dict[str, Any] | None]:
        """Whether the claim holds in every initial state; if not, the variables of one in which it does not."""
        for known in self.machine.initial_terms():
            begins = self._begins(claim, known)
            if begins is TRUE:
                continue
            query = Query(self.translate, quantified=True)
            wf = rebuilt(self.machine.well_formed(), known)
            answer = query.ask([wf, negation(begins)], seconds=self._seconds())
            self.queries += 1
            if answer == "unsat":
                continue
            model = query.model()
            if answer == "unknown" or model is None:
                return "unknown", None
            values = {term.args[0]: model.value(known.get(term, term)) for term in self.machine.variables()}
            return "open", values
        return "proved", None

    def _begins(self, claim: Claim, known: Mapping[Term, Term]) -> Term:
        def apply(old: Term, _: tuple[Term, ...]) -> Term:
            return FALSE if old.sort == "Bool" else number(0)

        found = []
        for at, instance in enumerate(claim.instances):
            found.append(rebuilt(instance.skolem(f"{at}"), known, apply))
        return conjunction(found)

    def _seconds(self) -> float:
        return max(0.001, min(self.query_seconds, self.deadline.left))

    # The step

    def establish(self, claim: Claim, pool: Sequence[Claim], start: Iterable[Claim] = ()) -> Node:
        """Whether every step keeps the claim, assuming as few of the pool as it takes."""
        began = time.perf_counter()
        node = Node(claim)
        assumed: list[Claim] = [claim] if claim.origin != "obligation" else []
        assumed += [each for each in start if each is not claim]
        if claim.origin == "obligation":
            questions: list[tuple[Action | None, Instance, Term]] = [
                (None, each, negation(each.skolem("g"))) for each in claim.instances
            ]
        else:
            questions = self._questions(claim)
        query = self._query(assumed)
        for action, _, negated in questions:
            guard = action.guard if action is not None else TRUE
            while True:
                if self.deadline.passed:
                    node.status, node.why = "unknown", "out of time"
                    return self._timed(node, began)
                asked = time.perf_counter()
                # Briefly first: where hypotheses are missing, a solver may look for a state for ever.
                answer = query.ask([guard, negated], seconds=min(BRIEFLY, self._seconds()))
                self.queries += 1
                node.queries += 1
                cti, why = None, "unsat"
                if answer != "unsat":
                    cti, why = self._counterexample(claim, action, [guard, negated], assumed)
                    self.queries += 1
                violated: list[Claim] = []
                if cti is not None:
                    violated = self.violated(cti, [each for each in pool if each not in assumed])
                elif why != "unsat":
                    # Without a state to go by: all that were given, and what serves other claims already.
                    more = [each for each in pool if each not in assumed]
                    violated = [each for each in more if each.origin != "found" or each in self._preferred]
                    if not violated:
                        why = query.ask([guard, negated], seconds=self._seconds())
                        self.queries += 1
                if why == "unsat":
                    what = action.name if action is not None else "every state"
                    node.obligations.append(
                        Obligation(claim, what, tuple(assumed), (guard, negated), time.perf_counter() - asked)
                    )
                    break
                if violated:
                    assumed += violated[:2] if cti is not None else violated
                    query = self._query(assumed)
                    continue
                node.status, node.cti = ("open", cti) if cti is not None else ("unknown", None)
                node.why = f"{self._named(action)} does not keep it"
                if cti is None:
                    node.why = f"the solver gave up on {self._named(action)}"
                return self._timed(node, began)
        node.status = "proved"
        node.rests_on = tuple(each for each in assumed if each is not claim)
        return self._timed(node, began)

    def core(self, node: Node) -> Node:
        """The same node, resting on what its unsat cores name. Where the solver does not repeat itself, as it was."""
        translate = self.translate
        solver = translate.z3.Solver()
        solver.set("smt.mbqi", False, "smt.auto_config", False)
        solver.set("smt.core.minimize", True)
        solver.add(translate(self.encoded.background))
        assumed = list(dict.fromkeys(each for one in node.obligations for each in one.hypotheses))
        on = {claim: translate(var(f"on:{at}", "Bool")) for at, claim in enumerate(assumed)}
        for claim in assumed:
            for formula in claim.formulas:
                solver.add(translate(switched(var(f"on:{assumed.index(claim)}", "Bool"), formula)))
        needed: dict[Claim, None] = {}
        obligations: list[Obligation] = []
        for one in node.obligations:
            mine = one.hypotheses
            # First those that are needed anyway, so that few are needed in all.
            for tried in ([each for each in mine if each in needed or each is node.claim], list(mine)):
                solver.push()
                solver.add(*map(translate, one.question))
                solver.set("timeout", max(1, int(1000 * min(10.0, self._seconds()))))
                answer = str(solver.check(*[on[each] for each in tried]))
                core = {each.get_id() for each in solver.unsat_core()} if answer == "unsat" else set()
                solver.pop()
                self.queries += 1
                if answer == "unsat":
                    mine = tuple(each for each in tried if on[each].get_id() in core)
                    break
            needed.update(dict.fromkeys(mine))
            obligations.append(replace(one, hypotheses=mine))
        rests_on = tuple(each for each in needed if each is not node.claim)
        return replace(node, rests_on=rests_on, obligations=obligations)

    def _named(self, action: Action | None) -> str:
        return action.name if action is not None else "some state"

    @staticmethod
    def _timed(node: Node, began: float) -> Node:
        node.seconds = time.perf_counter() - began
        return node

    def _questions(self, claim: Claim) -> list[tuple[Action | None, Instance, Term]]:
        """By action, so that those that touch the claim alone are asked."""
        found: list[tuple[Action | None, Instance, Term]] = []
        for action in self.steps:
            broken = []
            for at, instance in enumerate(claim.instances):
                if not action.changes(instance.matrix):
                    continue
                goal = self.after(action, instance.skolem(f"{at}"))
                if goal is not TRUE:
                    broken.append((instance, negation(goal)))
            if broken:
                found.append((action, broken[0][0], disjunction(each for _, each in broken)))
        return found

    def after(self, action: Action, term: Term) -> Term:
        key = id(action), term
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = action.after(term, self.machine)
        return found

    def _query(self, assumed: Iterable[Claim]) -> Query:
        query = Query(self.translate, quantified=True)
        query.add(self.encoded.background)
        for claim in assumed:
            query.add(*claim.formulas)
        return query

    # Counterexamples

    def _counterexample(
        self, claim: Claim, action: Action | None, question: Sequence[Term], assumed: Sequence[Claim]
    ) -> tuple[CTI | None, str]:
        """Ask again without quantifiers: with the hypotheses for the messages that are spoken of, and no others."""
        for rounds in (2, 3, 5, 8):
            ground = Grounding(self.encoded, rounds)
            facts = ground.closed([self.machine.well_formed(), *question], self._hypotheses(assumed))
            query = Query(self.translate)
            answer = query.ask(facts, seconds=self._seconds())
            if answer == "unsat":
                return None, "unsat"
            model = query.model()
            if answer != "sat" or model is None or self.deadline.passed:
                break
            cti = self._state(claim, action or self.steps[0], model, facts)
            if all(self.holds(each, cti.values, cti.channels) for each in assumed):
                return cti, "sat"
            # Not closed under the hypotheses, so no state that they allow: more instances of them.
        return None, "unknown"

    def _hypotheses(self, assumed: Sequence[Claim]) -> list[Term]:
        background = self.encoded.background
        found = list(background.args) if background.op == "and" else [background]
        return found + [formula for claim in assumed for formula in claim.formulas]

    def _state(self, claim: Claim, action: Action, model: Model, facts: Sequence[Term]) -> CTI:
        values = {term.args[0]: model.value(term) for term in self.machine.variables()}
        contents: dict[str, dict[tuple[Any, ...], int]] = {}
        sent: dict[str, dict[tuple[Any, ...], int]] = {}
        for each in nodes(*facts):
            if each.op == "app":
                count = model.value(each)
                if count:
                    key = tuple(model.value(argument) for argument in each.args[1])
                    held = sent if each.args[0].startswith("sent:") else contents
                    held.setdefault(each.args[0], {})[key] = int(count)
        parameters = {term.args[0]: model.value(term) for term in action.parameters}
        return CTI(claim, action, values, contents, sent, parameters)

    def holds(self, claim: Claim, values: Mapping[str, Any], channels: Mapping[str, Any]) -> bool:
        """Whether a claim holds in a plain state with a history."""
        run = self._compiled.get(id(claim))
        if run is None:
            run = self._compiled[id(claim)] = compiled(*(_bounded(each) for each in claim.instances))
        return all(run(values, channels))

    def violated(self, cti: CTI, pool: Iterable[Claim]) -> list[Claim]:
        """The lemmas that the state before the step violates: they say why it is unreachable."""
        found = [each for each in pool if not self.holds(each, cti.values, cti.channels)]
        return sorted(
            found,
            key=lambda each: (
                each.origin == "found",
                each not in self._preferred,
                each.weight,
                len(each.instances[0].bound),
                _size(each),
            ),
        )

    # All together

    def prove(self, goals: Sequence[Claim], pool: Sequence[Claim]) -> dict[Claim, Node]:
        """Prove goals from a pool of lemmas. Lemmas that turn out not to be inductive are dropped from it."""
        nodes_: dict[Claim, Node] = {}
        before: dict[Claim, tuple[Claim, ...]] = {}
        alive = list(pool)
        todo = list(goals)
        while todo:
            claim = todo.pop(0)
            if claim in nodes_ and nodes_[claim].status == "proved":
                continue
            self.progress(f"{claim.name} ({len(nodes_)} done, {len(todo)} to go)")
            status, _ = self.base(claim)
            if status == "proved":
                self._preferred = {each for node in nodes_.values() for each in (node.claim, *node.rests_on)}
                available = [*goals_first(goals, claim), *alive]
                start = [each for each in before.get(claim, ()) if each in available]
                node = self.establish(claim, available, start)
                if node.status == "proved" and node.rests_on:
                    node = self.core(node)  # what is not needed need not be proved either
                before[claim] = node.rests_on
            else:
                node = Node(claim, "open" if status == "open" else "unknown", why="it does not hold initially")
            nodes_[claim] = node
            if node.status == "proved":
                todo += [each for each in node.rests_on if each not in nodes_ and each not in todo]
                continue
            if claim in goals:
                if self._needed(claim, nodes_):
                    self._retract(claim, nodes_, todo)
                continue
            alive = [each for each in alive if each is not claim]
            self._retract(claim, nodes_, todo)
        return nodes_

    @staticmethod
    def _needed(claim: Claim, nodes_: Mapping[Claim, Node]) -> bool:
        return any(claim in node.rests_on for node in nodes_.values())

    @staticmethod
    def _retract(claim: Claim, nodes_: dict[Claim, Node], todo: list[Claim]) -> None:
        """What rested on a claim that is not proved has to be proved without it."""
        for other, node in list(nodes_.items()):
            if claim in node.rests_on:
                del nodes_[other]
                todo.append(other)


def goals_first(goals: Sequence[Claim], claim: Claim) -> list[Claim]:
    """Invariants may rest on one another: they are proved together."""
    return [each for each in goals if each is not claim and each.origin == "invariant"]


def closure(goals: Iterable[Claim], nodes_: Mapping[Claim, Node]) -> list[Claim]:
    """All that the goals rest on, themselves included."""
    found: dict[Claim, None] = {}
    todo = list(goals)
    while todo:
        claim = todo.pop()
        if claim not in found:
            found[claim] = None
            todo.extend(nodes_[claim].rests_on if claim in nodes_ else ())
    return list(found)


def _size(claim: Claim) -> int:
    return len(claim.text)


def _bounded(instance: Instance) -> Term:
    """A formula that can be evaluated: one quantifier per guard, each bounded by its channel."""
    result = instance.body
    for guard in reversed(instance.guards):
        channel = read(guard)
        bound = list(channel.args[1])
        if bound:
            result = forall(bound, disjunction([negation(_present(channel)), result]))
        else:
            result = disjunction([negation(guard), result])
    return result


def _present(channel: Term) -> Term:
    return channel if channel.sort == "Bool" else app(channel.args[0], channel.args[1])


def switched(condition: Term, formula: Term) -> Term:
    """A formula that can be switched on; what is quantified keeps its patterns."""
    if formula.op == "forall":
        bound, body, patterns = formula.args
        return forall(bound, implies(condition, body), patterns)
    return implies(condition, formula)


class Grounding:
    """Hypotheses for certain messages instead of for all: for those that occur in what is asked."""

    def __init__(self, encoded: Encoded, rounds: int = 2, most: int = 4000) -> None:
        self.encoded, self.rounds, self.most = encoded, rounds, most
        self._fresh = 0

    def closed(self, question: Sequence[Term], hypotheses: Sequence[Term]) -> list[Term]:
        facts = [self._witnessed(each, True) for each in question if each is not TRUE]
        facts += [self._witnessed(each, True) for each in hypotheses if each.op != "forall"]
        quantified = [each for each in hypotheses if each.op == "forall"]
        made: set[tuple[int, tuple[Term, ...]]] = set()
        for _ in range(self.rounds):
            by_name: dict[str, dict[tuple[Term, ...], None]] = {}
            for each in _ground(facts):
                by_name.setdefault(each.args[0], {})[each.args[1]] = None
            new: list[Term] = []
            for at, formula in enumerate(quantified):
                bound, body, patterns = formula.args
                for pattern in patterns:
                    for substitution in _matches(pattern, by_name):
                        key = at, tuple(substitution.get(each, each) for each in bound)
                        if key in made or any(each not in substitution for each in bound):
                            continue
                        made.add(key)
                        new.append(self._witnessed(rebuilt(body, substitution), True))
                        if len(made) > self.most:
                            return self._finite(facts + new)
            facts += new
        return self._finite(facts)

    def _witnessed(self, term: Term, positive: bool) -> Term:
        """With a message in place of every "there is one" that is claimed; those that are denied stay."""
        if term.op == "not":
            return negation(self._witnessed(term.args[0], not positive))
        if term.op == "and":
            return conjunction(self._witnessed(each, positive) for each in term.args)
        if term.op == "or":
            return disjunction(self._witnessed(each, positive) for each in term.args)
        if term.op == "exists" and positive:
            self._fresh += 1
            named = {each: var(f"?{self._fresh}{each.args[0]}", each.sort) for each in term.args[0]}
            return self._witnessed(rebuilt(term.args[1], named), True)
        return term

    @staticmethod
    def _finite(facts: list[Term]) -> list[Term]:
        """That there is none is said of the messages that are spoken of: the state that is built has no others."""
        by_name: dict[str, list[tuple[Term, ...]]] = {}
        for each in _ground(facts):
            by_name.setdefault(each.args[0], []).append(each.args[1])

        def spread(term: Term) -> Term:
            if term.op in ("and", "or"):
                return (conjunction if term.op == "and" else disjunction)(spread(each) for each in term.args)
            if term.op == "not":
                return negation(spread(term.args[0]))
            if term.op != "exists":
                return term
            channel = bounding(term)
            if channel is None:
                return term
            ways = [
                spread(rebuilt(term.args[1], dict(zip(channel.args[1], given, strict=True))))
                for given in by_name.get(channel.args[0], ())
            ]
            return disjunction(ways)

        return [spread(each) for each in facts]


def _ground(terms: Sequence[Term]) -> list[Term]:
    """The predicates on messages that are spoken of outside of quantifiers."""
    seen: set[Term] = set()
    found: list[Term] = []
    todo = list(terms)
    while todo:
        term = todo.pop()
        if term in seen:
            continue
        seen.add(term)
        if term.op == "app":
            found.append(term)
        if term.op not in ("forall", "exists"):
            todo.extend(children(term))
    return sorted(found, key=lambda each: each.number)


def _matches(pattern: Sequence[Term], by_name: Mapping[str, Mapping[tuple[Term, ...], None]]) -> list[dict[Term, Term]]:
    """The substitutions under which every part of a pattern is spoken of."""
    found: list[dict[Term, Term]] = [{}]
    for part in pattern:
        extended: list[dict[Term, Term]] = []
        for known in found:
            for arguments in by_name.get(part.args[0], {}):
                new = dict(known)
                for wanted, given in zip(part.args[1], arguments, strict=True):
                    if wanted.op == "var" and new.setdefault(wanted, given) is not given:
                        break
                    if wanted.op != "var" and not (variables(wanted) <= set(new)):
                        break
                else:
                    extended.append(new)
        found = extended
    return found


# --- k steps ---------------------------------------------------------------------------------------------------


class Unrolled:
    """States one after the other: the variables and predicates of each have its number."""

    def __init__(self, encoded: Encoded, steps: Sequence[Action]) -> None:
        self.encoded, self.machine, self.actions = encoded, encoded.machine, list(steps)
        self._all = list(self.machine.variables())
        self._channels: dict[str, tuple[tuple[Term, ...], Any]] = {}
        for channel in self.machine.channels.values():
            bound = tuple(var(f"w{suffix}", sort) for suffix, sort in channel.shape.leaves)
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
            node.status, node.why = "unknown", "out of time"
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


def minimised(prover: Prover, goals: Sequence[Claim], nodes_: Mapping[Claim, Node]) -> dict[Claim, Node]:
    """The proof with as few lemmas as the solver's unsat cores need; every question is asked once more.

    Whatever it leaves is still a proof: a claim rests on what its cores name, and all of that is kept.
    """
    found: dict[Claim, Node] = {}
    todo = list(goals)
    while todo:
        claim = todo.pop()
        if claim in found:
            continue
        node = nodes_[claim]
        found[claim] = prover.core(node) if node.status == "proved" and node.k == 1 else node
        todo.extend(found[claim].rests_on)
    return found
