"""`quorate prove --number Role=any`: invariants for every number of processes of a role.

Steps and claims are formulas with processes as elements of a sort of which nothing is known (parametric_claims.py), so
`unsat` is an answer about all numbers at once. Lemmas are found by elimination: of all candidates, those that do not
hold initially are dropped, then those that some step does not keep while all others hold before it, until none is
dropped. What is left is inductive, and the goals are proved with what they need of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from quorate.proofs.induction import Node, Obligation
from quorate.proofs.parametric_actions import Move
from quorate.proofs.parametric_claims import EncodedFamily, begins
from quorate.proofs.parametric_models import Evaluation, Structure, found_by
from quorate.proofs.propositions import Claim
from quorate.proofs.solver import Answer, Deadline
from quorate.proofs.terms import TRUE, Term, conjunction, negation, nodes, var

BRIEFLY = 2.0
"""Seconds for a question about a candidate, which is dropped if that is not enough, or with few hypotheses."""
WORK = 3_000_000
"""What a solver does in a second, in units of its own."""
FEW = 60
"""So many lemmas may be assumed all at once."""


class FamilyProver:
    """Proves claims about a family."""

    def __init__(
        self,
        encoded: EncodedFamily,
        deadline: Deadline,
        *,
        query_seconds: float = 60.0,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.encoded, self.deadline, self.query_seconds, self.progress = encoded, deadline, query_seconds, progress
        self.translate = encoded.translate
        self.queries = 0
        self.core: set[int] = set()
        self.model: Structure | None = None
        self._after: dict[tuple[int, int], Term] = {}

    def solver(self, terms: Iterable[Term] = (), *, models: bool = False) -> Any:
        """With hypotheses. Instances are made where patterns occur; with `models` also where a model needs them, which
        answers more, and takes longer to say that it cannot."""
        z3 = self.translate.z3
        found = z3.Solver()
        found.set("smt.auto_config", False, "smt.mbqi", models)
        for term in terms:
            found.add(self.translate(term))
        return found

    def ask(
        self,
        solver: Any,
        terms: Iterable[Term],
        on: Sequence[Any] = (),
        most: float | None = None,
        *,
        state: bool = False,
    ) -> Answer:
        """Whether something can be so, with what the solver holds; and if wanted, a state that it comes up with."""
        solver.push()
        try:
            for term in terms:
                solver.add(self.translate(term))
            limit = min(self.query_seconds, self.deadline.left)
            solver.set("timeout", max(1, int(1000 * limit)))
            # Not by the clock: what is found must not depend on how busy the machine is.
            solver.set("rlimit", 0 if most is None else int(most * WORK))
            self.queries += 1
            answer: Answer = str(solver.check(*on))  # type: ignore[assignment]
            self.core = {each.get_id() for each in solver.unsat_core()} if answer == "unsat" and on else set()
            self.model = None
            if state and answer == "unknown" and "quantifiers" in solver.reason_unknown():
                self.model = found_by(self.translate, solver.model())
            return answer
        finally:
            solver.pop()

    def switched(self, claims: Sequence[Claim], solver: Any) -> dict[Claim, Any]:
        """Hypotheses that can be switched on."""
        on = {}
        for number, each in enumerate(claims):
            on[each] = self.translate(var(f"on:{number}", "Bool"))
            for formula in each.formulas:
                solver.add(self.translate.z3.Implies(on[each], self.translate(formula)))
        return on

    def violated(self, state: Structure, pool: Iterable[Claim], liked: Sequence[Claim] = ()) -> list[Claim]:
        """The lemmas that a state violates: they say why it is unreachable."""
        found = []
        run = Evaluation(state)
        for each in pool:
            try:
                if not all(run(formula, {}) for formula in each.formulas):
                    found.append(each)
            except TypeError:  # what a solver leaves open is nothing to compute with
                found.append(each)
        return sorted(found, key=lambda each: (each.origin == "found", each not in liked, each.weight, len(each.text)))

    # The beginning

    def base(self, claim: Claim) -> Answer:
        """`unsat` if the claim holds in every initial state, whatever the number."""
        for number in range(len(self.encoded.definition.initials)):
            found = self.begins(claim, number)
            if found is TRUE:
                continue
            wf = begins(self.encoded, conjunction(self.encoded.typed), number)
            solver = self.solver(self.encoded.machine.axioms(), models=True)
            answer = self.ask(solver, [wf, negation(found)])
            if answer != "unsat":
                return answer
        return "unsat"

    def begins(self, claim: Claim, number: int) -> Term:
        return conjunction(begins(self.encoded, formula, number) for formula in claim.formulas)

    # The step

    def after(self, move: Move, claim: Claim) -> Term:
        key = id(move), id(claim)
        found = self._after.get(key)
        if found is None:
            found = TRUE
            if any(move.changes(each) for each in claim.formulas):
                found = move.after(claim.formula)
                found = TRUE if found is claim.formula else found
            self._after[key] = found
        return found

    def inductive(self, candidates: Sequence[Claim]) -> list[Claim]:
        """The candidates that hold initially and that every step keeps, given that all of them hold before it."""
        alive = [each for each in candidates if self.base(each) == "unsat"]
        moves = self.encoded.steps
        settled: set[tuple[int, int]] = set()
        """Kept by a step, and all that the solver needed for it is still alive: (move, claim)."""
        needs: dict[tuple[int, int], set[Claim]] = {}
        while not self.deadline.passed:
            dropped: set[Claim] = set()
            for at, move in enumerate(moves):
                todo = [each for each in alive if (at, id(each)) not in settled and self.after(move, each) is not TRUE]
                if not todo:
                    continue
                self.progress(f"lemmas: {len(alive)} left, {move.name}")
                solver = self.solver([*self.encoded.background, move.guard], models=True)
                on = self.switched(alive, solver)
                for each in todo:
                    held = [on[other] for other in alive if other not in dropped]
                    answer = self.ask(solver, [negation(self.after(move, each))], held, BRIEFLY)
                    if answer == "unsat":
                        settled.add((at, id(each)))
                        needs[at, id(each)] = {other for other in alive if on[other].get_id() in self.core}
                    else:
                        dropped.add(each)
                    if self.deadline.passed:
                        return []
            if not dropped:
                return alive
            alive = [each for each in alive if each not in dropped]
            for key, needed in list(needs.items()):
                if needed & dropped:
                    settled.discard(key)
                    del needs[key]
        return []

    def establish(
        self, claim: Claim, pool: Sequence[Claim], liked: Iterable[Claim] = (), *, lazily: bool = True
    ) -> Node:
        """Whether every step keeps the claim, if the claim and the pool hold before it. What it rests on is noted,
        first of all what other claims rest on already."""
        began = time.perf_counter()
        node = Node(claim)
        used: dict[Claim, None] = {}
        if claim.origin == "obligation":
            questions: list[tuple[str, list[Term]]] = [
                ("every state", [negation(each)]) for each in claim.formulas if each is not TRUE
            ]
        else:
            questions = [
                (move.name, [move.guard, negation(after)])
                for move in self.encoded.steps
                if (after := self.after(move, claim)) is not TRUE
            ]
        own = [] if claim.origin == "obligation" else [claim]
        pool = [each for each in pool if each is not claim]
        liked = [each for each in liked if each in pool]
        assumed = list(own)
        for what, question in questions:
            asked = time.perf_counter()
            lasting = claim.origin != "found" or not lazily
            answer, mine = self._answered(question, assumed, pool, liked, lazily=lazily, lasting=lasting)
            node.queries += 1
            if answer != "unsat":
                node.status = "open" if answer == "sat" else "unknown"
                node.why = f"{what} does not keep it" if answer == "sat" else f"the solver gave up on {what}"
                break
            used.update(dict.fromkeys(each for each in mine if each is not claim))
            assumed = [*own, *used]
            node.obligations.append(Obligation(claim, what, tuple(mine), tuple(question), time.perf_counter() - asked))
        else:
            node.status, node.rests_on = "proved", tuple(used)
        node.seconds = time.perf_counter() - began
        return node

    def _answered(
        self,
        question: list[Term],
        assumed: Sequence[Claim],
        pool: Sequence[Claim],
        liked: Sequence[Claim],
        *,
        lazily: bool,
        lasting: bool,
    ) -> tuple[Answer, list[Claim]]:
        """Ask with few hypotheses first, with all at last; and which of them were needed.

        Few are, lazily, those that a state violates that the solver comes up with; then those without remainders,
        which solvers find hard.
        """
        mine = list(assumed)
        while not self.deadline.passed:
            answer, needed = self._with(question, mine, BRIEFLY, state=lazily)
            if answer == "unsat":
                return answer, needed
            more: list[Claim] = []
            if self.model is not None and lazily:
                left = [each for each in pool if each not in mine]
                more = self.violated(self.model, left, liked)[:2]
            if not more:
                break
            mine += more
        plain = [each for each in pool if each in mine or not _remainders(each)]
        everything = [*assumed, *(each for each in pool if each not in assumed)]
        tries: list[tuple[list[Claim], float | None, bool]] = [
            ([*assumed, *(each for each in liked if each not in assumed)], BRIEFLY, False)
        ]
        if len(plain) < len(pool) and len(pool) <= FEW:
            tries.append(([*assumed, *(each for each in plain if each not in assumed)], 2 * BRIEFLY, False))
        if lazily:
            tries.append((mine, BRIEFLY, True))
        if lasting:
            tries.append((everything, None, True))
        answer, needed = "unknown", []
        for hypotheses, seconds, models in tries:
            if not self.deadline.passed:
                answer, needed = self._with(question, hypotheses, seconds, models=models)
            if answer == "unsat":
                return answer, needed
        return answer, []

    def _with(
        self,
        question: list[Term],
        hypotheses: Sequence[Claim],
        seconds: float | None,
        *,
        models: bool = False,
        state: bool = False,
    ) -> tuple[Answer, list[Claim]]:
        solver = self.solver([*self.encoded.background, *question], models=models)
        on = self.switched(hypotheses, solver)
        solver.set("smt.core.minimize", True)
        answer = self.ask(solver, (), list(on.values()), seconds, state=state)
        return answer, [each for each in hypotheses if on[each].get_id() in self.core]

    def prove(self, goals: Sequence[Claim], pool: Sequence[Claim], *, lazily: bool = True) -> dict[Claim, Node]:
        """Goals from a pool of lemmas, and the lemmas that they rest on likewise.

        Lazily if the pool may hold what is not inductive: then as few of it as possible is looked at.
        """
        found: dict[Claim, Node] = {}
        todo = list(goals)
        alive = [*(each for each in goals if each.origin == "invariant"), *pool]
        while todo:
            claim = todo.pop(0)
            if claim in found:
                continue
            self.progress(f"{claim.name} ({len(found)} done, {len(todo)} to go)")
            base: Answer = "unsat" if claim.origin == "obligation" else self.base(claim)
            if base != "unsat":
                why = "it does not hold initially"
                found[claim] = node = Node(claim, "open" if base == "sat" else "unknown", why=why)
            else:
                liked = {each: None for other in found.values() for each in (other.claim, *other.rests_on)}
                found[claim] = node = self.establish(claim, alive, liked, lazily=lazily)
            if node.status == "proved":
                todo += [each for each in node.rests_on if each not in found and each not in todo]
                continue
            alive = [each for each in alive if each is not claim]
            for other, resting in list(found.items()):
                if claim in resting.rests_on:
                    del found[other]
                    todo.append(other)
        return found

    def satisfiable(self, move: Move) -> Answer:
        """Whether a step can be taken at all, in some state of some instance: `sat` if no proof about it is empty."""
        return self.ask(self.solver([*self.encoded.background, move.guard], models=True), ())


def _remainders(claim: Claim) -> bool:
    return any(each.op in ("div", "mod") for each in nodes(*claim.formulas))
