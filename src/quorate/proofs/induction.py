"""Proofs by induction: a claim holds at the beginning, and every step keeps it, given what else is claimed.

Claims that rest on one another are proved together: each one's step assumes those that it needs in the state before,
and all that are assumed are proved as well. What is assumed is chosen by the thesis's advice (Bokor 2011, 5.1): alone
first, then with the lemmas that the counterexample to induction violates. Only "unsat" counts; a solver that gives up
gives the verdict unknown, and no proof.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from quorate.base.words import count
from quorate.proofs.actions import Action
from quorate.proofs.encode import Encoded
from quorate.proofs.grounding import Grounding
from quorate.proofs.propositions import Claim, Instance, read
from quorate.proofs.solver import Deadline, Model, Query
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    app,
    compiled,
    conjunction,
    disjunction,
    forall,
    implies,
    negation,
    nodes,
    number,
    rebuilt,
    var,
)

Status = Literal["proved", "open", "unknown"]
BRIEFLY = 4.0
"""Seconds for a question that may lack hypotheses."""
SPENT = 1.0
"""Seconds for a question about a candidate, with ever more hypotheses: four times that."""
AT_ONCE = 3
"""So many of the lemmas that a state violates are assumed before the next question."""


@dataclass
class CTI:
    """A counterexample to induction: a state, perhaps unreachable, in which all that is assumed holds, and a step."""

    claim: Claim
    action: Action
    values: dict[str, Any]
    contents: dict[str, dict[tuple[Any, ...], int]]
    sent: dict[str, dict[tuple[Any, ...], int]]
    parameters: dict[str, Any]
    assumed: tuple[Claim, ...] = ()

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
        self._settled: set[Claim] = set()
        """What is proved, with all that it rests on."""
        self._spoken: dict[Claim, frozenset[str]] = {}
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

    def _seconds(self, most: float | None = None) -> float:
        """How long a question may take: in the processor's time, so that a busy machine gives the same answers."""
        wanted = self.query_seconds if most is None else min(most, self.query_seconds)
        return max(0.001, min(wanted * self.deadline.slowness, self.deadline.left))

    # The step

    def establish(self, claim: Claim, pool: Sequence[Claim], start: Iterable[Claim] = ()) -> Node:
        """Whether every step keeps the claim, assuming as few of the pool as it takes."""
        began = time.perf_counter()
        node = Node(claim)
        own = [claim] if claim.origin != "obligation" else []
        needed = list(dict.fromkeys([*own, *(each for each in start if each is not claim)]))
        query = self._query(needed)
        for action, question in self._questions(claim):
            if self.deadline.passed:
                node.status, node.why = "unknown", "not finished before it was over"
                return self._timed(node, began)
            asked = time.perf_counter()
            # Briefly first: where hypotheses are missing, a solver may look for a state for ever.
            answer = query.ask(question, seconds=self._seconds(BRIEFLY))
            self.queries += 1
            node.queries += 1
            if answer != "unsat":
                found = self._search(claim, action, question, needed, pool, node)
                if found is None:
                    return self._timed(node, began)
                if len(found) > len(needed):
                    needed = found
                    query = self._query(needed)
            what = action.name if action is not None else "every state"
            node.obligations.append(Obligation(claim, what, tuple(needed), question, time.perf_counter() - asked))
        node.status = "proved"
        node.rests_on = tuple(each for each in needed if each is not claim)
        return self._timed(node, began)

    def _search(
        self,
        claim: Claim,
        action: Action | None,
        question: tuple[Term, ...],
        needed: list[Claim],
        pool: Sequence[Claim],
        node: Node,
    ) -> list[Claim] | None:
        """More hypotheses under which one step keeps the claim: such as exclude the states in which it does not."""
        assumed, helpless = list(needed), False
        # A candidate that takes long is given up: there are others.
        ends = time.perf_counter() + self._seconds(SPENT if claim.origin == "found" else None) * 4
        while True:
            if self.deadline.passed:
                node.status, node.why = "unknown", "not finished before it was over"
                return None
            if time.perf_counter() > ends:
                node.status, node.why = "unknown", f"the solver gave up on {self._named(action)}"
                return None
            self.progress(f"{claim.name}: {self._named(action)}, with {count(len(assumed) - 1, 'lemma')}")
            cti, why = self._counterexample(claim, action, question, assumed)
            rest = [each for each in pool if each not in assumed]
            more: list[Claim] = []
            if why == "unknown" and not helpless:
                # Without a state to go by: all that were given, and what serves other claims already.
                more = [each for each in rest if each.origin != "found" or each in self._preferred]
                helpless = True
            if cti is not None and not more:
                relevant = set().union(symbols(*question), *(self._symbols(each) for each in assumed))
                more = self.violated(cti, rest, relevant)[:AT_ONCE]
                if not more and why == "sat":
                    node.status, node.cti, node.why = "open", cti, f"{self._named(action)} does not keep it"
                    return None
            last = not more and why == "unknown"
            assumed += more
            answer = why
            if why != "unsat":
                answer = self._query(assumed).ask(question, seconds=self._seconds(None if last else BRIEFLY))
                self.queries += 1
                node.queries += 1
            if answer == "unsat":
                return self._shrunk(question, needed, assumed)
            if last:
                node.status, node.why = "unknown", f"the solver gave up on {self._named(action)}"
                return None

    def _shrunk(self, question: Sequence[Term], needed: list[Claim], assumed: list[Claim]) -> list[Claim]:
        """Without what the question can do without: first what would have to be proved as well."""
        kept = assumed[len(needed) :]
        if len(kept) > 1:
            core = self._core(question, needed, kept)
            kept = kept if core is None else core
        for each in sorted(kept, key=self._rank, reverse=True):
            rest = [other for other in kept if other is not each]
            if len(kept) > 1 and not self.deadline.passed:
                self.queries += 1
                if self._query([*needed, *rest]).ask(question, seconds=self._seconds(1.0)) == "unsat":
                    kept = rest
        return [*needed, *kept]

    def _core(
        self, question: Sequence[Term], needed: Sequence[Claim], switched_: Sequence[Claim]
    ) -> list[Claim] | None:
        """Those of the hypotheses that an unsat core names; None if the solver does not repeat itself."""
        query = self._query(needed)
        switches = [var(f"on:{at}", "Bool") for at in range(len(switched_))]
        for switch, claim in zip(switches, switched_, strict=True):
            query.add(*(switched(switch, formula) for formula in claim.formulas))
        named = query.core(question, switches, seconds=self._seconds(BRIEFLY))
        self.queries += 1
        return (
            None
            if named is None
            else [claim for switch, claim in zip(switches, switched_, strict=True) if switch in named]
        )

    def _rank(self, claim: Claim) -> tuple[Any, ...]:
        """Which hypothesis to prefer: what is proved, what was given, what serves other claims, what says little."""
        return (
            claim not in self._settled,
            claim.origin == "found",
            claim not in self._preferred,
            claim.weight,
            len(claim.instances[0].bound),
            len(claim.text),
        )

    def _symbols(self, claim: Claim) -> frozenset[str]:
        found = self._spoken.get(claim)
        if found is None:
            found = self._spoken[claim] = symbols(*(each.matrix for each in claim.instances))
        return found

    def core(self, node: Node) -> Node:
        """The same node, resting on what its unsat cores name. Where the solver does not repeat itself, as it was."""
        needed: dict[Claim, None] = {}
        obligations: list[Obligation] = []
        for one in node.obligations:
            if self.deadline.passed:
                return node
            mine = one.hypotheses
            own = [each for each in mine if each is node.claim]
            # First those that are needed anyway, so that few are needed in all.
            for tried in ([each for each in mine if each in needed], [each for each in mine if each is not node.claim]):
                core = self._core(one.question, own, tried)
                if core is not None:
                    mine = (*own, *core)
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

    def _questions(self, claim: Claim) -> list[tuple[Action | None, tuple[Term, ...]]]:
        """What has to be unsatisfiable, by action: only those that touch the claim."""
        if claim.origin == "obligation":
            return [(None, (negation(each.skolem("g")),)) for each in claim.instances]
        found: list[tuple[Action | None, tuple[Term, ...]]] = []
        for action in self.steps:
            broken = []
            for at, instance in enumerate(claim.instances):
                if action.changes(instance.matrix):
                    broken.append(negation(self.after(action, instance.skolem(f"{at}"))))
            wrong = disjunction(broken)
            if wrong is not FALSE:
                found.append((action, (action.guard, wrong)))
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
        """Ask again without quantifiers: with the hypotheses for the messages that are spoken of, and no others.

        With "unknown" comes a state in which not all hypotheses hold: a hint which lemmas may be missing.
        """
        hint: CTI | None = None
        ends = time.perf_counter() + self._seconds(BRIEFLY)
        for rounds in (2, 3, 5, 8):
            ground = Grounding(rounds)
            facts = ground.closed([self.machine.well_formed(), *question], self._hypotheses(assumed))
            query = Query(self.translate)
            answer = query.ask(facts, seconds=max(0.1, ends - time.perf_counter()))
            self.queries += 1
            if answer == "unsat":
                return None, "unsat"
            model = query.model()
            if answer != "sat" or model is None or self.deadline.passed or time.perf_counter() > ends:
                break
            cti = replace(self._state(claim, action or self.steps[0], model, facts), assumed=tuple(assumed))
            if all(self.holds(each, cti.values, cti.channels) for each in assumed):
                return cti, "sat"
            # Not closed under the hypotheses, so no state that they allow: more instances of them.
            hint = cti
        return hint, "unknown"

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

    def violated(self, cti: CTI, pool: Iterable[Claim], relevant: Iterable[str] = ()) -> list[Claim]:
        """The lemmas that the state before the step violates: they say why it is unreachable. The likeliest first."""
        found = [each for each in pool if not self.holds(each, cti.values, cti.channels)]
        known = frozenset(relevant)
        return sorted(found, key=lambda each: (min(2, len(self._symbols(each) - known)), self._rank(each)))

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
            if self.deadline.passed:
                nodes_[claim] = Node(claim, "unknown", why="not tried before it was over")
                continue
            self.progress(f"{claim.name} ({len(nodes_)} done, {len(todo)} to go)")
            status, _ = self.base(claim)
            if status == "proved":
                self._preferred = {each for node in nodes_.values() for each in (node.claim, *node.rests_on)}
                self._settled = settled(nodes_)
                available = [*goals_first(goals, claim), *alive]
                start = [each for each in before.get(claim, ()) if each in available]
                node = self.establish(claim, available, start)
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


def settled(nodes_: Mapping[Claim, Node]) -> set[Claim]:
    """What is proved, and rests on nothing that is not."""
    found = {claim for claim, node in nodes_.items() if node.status == "proved"}
    while True:
        wrong = {claim for claim in found if any(each not in found for each in nodes_[claim].rests_on)}
        if not wrong:
            return found
        found -= wrong


def symbols(*terms: Term) -> frozenset[str]:
    """What formulas speak of: fields and messages by class, no matter whose."""
    found = set()
    for each in nodes(*terms):
        name = each.args[0] if each.op in ("var", "app") else ""
        if each.op == "app":
            found.add(name.split(":")[1])
        elif "." in name and name[0] not in "@!":
            owner, _, field_ = name.partition(".")
            found.add(f"{owner.rstrip('0123456789')}.{field_.partition('[')[0]}")
    return frozenset(found)


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
