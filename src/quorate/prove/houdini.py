"""The largest set of candidates that every step keeps, all of them assumed (Flanagan and Leino 2001).

One question an action: may it break any of them? If so, the solver's state says which, and these are dropped. What is
left when no action breaks anything is inductive together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from quorate.prove.induction import Prover, switched
from quorate.prove.propositions import Claim
from quorate.prove.terms import TRUE, Term, disjunction, implies, negation, var


def inductive(
    prover: Prover,
    candidates: Sequence[Claim],
    trusted: Sequence[Claim] = (),
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[Claim]:
    """The candidates that are inductive together; those that are trusted are assumed and stay."""
    alive = {at: claim for at, claim in enumerate(candidates) if prover.base(claim)[0] == "proved"}
    translate = prover.translate
    z3 = translate.z3
    solver = z3.Solver()
    solver.set("smt.mbqi", False, "smt.auto_config", False)
    solver.add(translate(prover.encoded.background))
    for claim in trusted:
        solver.add(*map(translate, claim.formulas))
    on = {at: var(f"on{at}", "Bool") for at in alive}
    for at, claim in alive.items():
        for formula in claim.formulas:
            solver.add(translate(switched(on[at], formula)))
    changed = True
    while changed and not prover.deadline.passed:
        changed = False
        for action in prover.steps:
            if prover.deadline.passed:
                break
            broken: dict[int, Term] = {}
            for at, claim in alive.items():
                after = [
                    negation(prover.after(action, instance.skolem(f"{at}_{number}")))
                    for number, instance in enumerate(claim.instances)
                    if action.changes(instance.matrix)
                ]
                after = [each for each in after if each is not negation(TRUE)]
                if after:
                    broken[at] = disjunction(after)
            if not broken:
                continue
            solver.push()
            solver.add(translate(action.guard))
            picks = {at: var(f"pick{at}", "Bool") for at in broken}
            for at, formula in broken.items():
                solver.add(translate(implies(picks[at], formula)))
            while broken and not prover.deadline.passed:
                solver.push()
                solver.add(translate(disjunction(picks[at] for at in broken)))
                solver.set("timeout", max(1, min(int(prover._seconds() * 1000), 2**31)))
                answer = str(solver.check(*[translate(on[at]) for at in alive]))
                prover.queries += 1
                dropped: list[int] = []
                if answer != "unsat":
                    try:
                        model = solver.model()
                        dropped = [
                            at for at in broken if z3.is_true(model.eval(translate(broken[at]), model_completion=True))
                        ]
                    except z3.Z3Exception:
                        dropped = []
                    if not dropped:
                        dropped = list(broken)  # the solver gave up: what it cannot keep is not kept
                solver.pop()
                if answer == "unsat":
                    break
                changed = True
                for at in dropped:
                    alive.pop(at, None)
                    broken.pop(at, None)
                progress(len(alive), len(candidates))
            solver.pop()
    return [] if prover.deadline.passed else list(alive.values())
