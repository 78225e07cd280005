"""Strengthened transitions: what a process's own earlier step has made true is still true when the next is taken.

An execution plan says which transitions lead to another (Bokor 2011, section 5.2): a control condition of its guard
that does not hold initially, and the transitions that make it hold. What all of those validate, and nobody can
invalidate as long as the control condition holds, may be joined to the guard. Here it becomes a derived lemma instead,
`condition implies assertion`, which is proved like any other; that the strengthened transition system has the same
reachable states, which the thesis argues, is then proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from quorate.model.definition import Transition
from quorate.proofs.actions import Action
from quorate.proofs.candidates import Candidate, Generator
from quorate.proofs.expressions import Atom
from quorate.proofs.induction import Prover
from quorate.proofs.patterns import Pattern, Role, bindings
from quorate.proofs.propositions import Claim
from quorate.proofs.solver import Query
from quorate.proofs.terms import FALSE, Term, conjunction, negation, nodes, rebuilt

Literal = tuple[int, bool]


@dataclass(frozen=True, eq=False)
class Strengthened:
    """A guard with what may be joined to it."""

    transition: str
    after: tuple[str, ...]
    """The transitions that lead to it."""
    condition: str
    assertion: str
    claim: Claim

    def to_json(self) -> dict[str, Any]:
        return {
            "transition": self.transition,
            "after": list(self.after),
            "condition": self.condition,
            "assertion": self.assertion,
            "lemma": self.claim.name,
        }


class Planner:
    """Finds execution plans, and what they validate, for every class of processes."""

    def __init__(self, prover: Prover, generator: Generator) -> None:
        self.prover, self.generator = prover, generator
        self.encoded = prover.encoded
        self._names: dict[str, int] = {}
        self._query = Query(prover.translate)
        self._query.add(self.encoded.machine.well_formed())

    def found(self) -> list[Strengthened]:
        found: list[Strengthened] = []
        for cls in dict.fromkeys(column.cls for column in self.encoded.definition.processes):
            found += self._of(Pattern((Role("p", "process", cls),)))
        return found

    def _of(self, pattern: Pattern) -> Iterator[Strengthened]:
        bound = next(bindings(self.encoded, pattern))
        column = bound[0].column
        atoms = self.generator.lexicon.atoms(bound)
        literals = {
            (at, way): atom.term if way else negation(atom.term)
            for at, atom in enumerate(atoms)
            for way in (True, False)
            if _plain(atom.term)
        }
        steps = [action for action in self.prover.steps if action.transition is not None and action.kind == "step"]
        own = [action for action in steps if action.column is column and action.transition is not None]
        always = self._always(literals)
        given = conjunction(literals[each] for each in always)
        made: dict[tuple[Literal, Literal], tuple[Transition, list[Action]]] = {}
        for transition in dict.fromkeys(each.transition for each in own if each.transition is not None):
            ways = [action for action in own if action.transition is transition]
            for control, term in literals.items():
                self.prover.deadline.check()
                if self._initially(term) or any(self._possible(way.guard, given, negation(term)) for way in ways):
                    continue
                leading = [action for action in steps if self._makes(action, term, given)]
                if not leading:
                    continue
                for asserted, holds in literals.items():
                    key = control, asserted
                    if asserted in always or key in made or not self._possible(term, given, negation(holds)):
                        continue
                    if self._validated(leading, term, holds, given) and self._kept(term, holds, given):
                        made[key] = transition, leading
        for (control, asserted), (transition, leading) in made.items():
            # The narrowest condition is where the transition is; what is said of more places is for other lemmas.
            narrower = [
                other
                for other, what in made
                if what == asserted and other != control and made[other, what][0] is transition
            ]
            if not any(self._implies(literals[other], literals[control]) for other in narrower):
                yield self._strengthened(pattern, transition, leading, control, asserted, atoms)
        for literal in always:
            name = self._name(f"always_{column.cls.__name__.lower()}")
            claim = self.generator.claim(Candidate(pattern, (literal,), _text(atoms, literal)), name)
            claim.origin = "derived"
            if claim.instances:
                yield Strengthened("", (), "", _text(atoms, literal), claim)

    def _implies(self, one: Term, two: Term) -> bool:
        """Strictly: not the other way round."""
        return not self._possible(one, negation(two)) and self._possible(two, negation(one))

    def _strengthened(
        self,
        pattern: Pattern,
        transition: Transition,
        leading: list[Action],
        control: Literal,
        asserted: Literal,
        atoms: list[Atom],
    ) -> Strengthened:
        places = ((control[0], not control[1]), asserted)
        text = f"{_text(atoms, places[0])} or {_text(atoms, asserted)}"
        claim = self.generator.claim(Candidate(pattern, places, text), self._name(f"before_{transition.name}"))
        claim.origin = "derived"
        after = tuple(dict.fromkeys(str(action.transition) for action in leading))
        return Strengthened(str(transition), after, _text(atoms, control), _text(atoms, asserted), claim)

    def _name(self, wanted: str) -> str:
        self._names[wanted] = self._names.get(wanted, 0) + 1
        return wanted if self._names[wanted] == 1 else f"{wanted}_{self._names[wanted]}"

    def _always(self, literals: dict[Literal, Term]) -> list[Literal]:
        """What holds initially, and what every step keeps, together: the ground to stand on."""
        kept = [each for each, term in literals.items() if self._initially(term)]
        while True:
            given = conjunction(literals[each] for each in kept)
            broken = {each for each in kept if not self._stays(literals[each], given)}
            if not broken:
                return kept
            kept = [each for each in kept if each not in broken]

    def _initially(self, term: Term) -> bool:
        return not any(self._possible(negation(rebuilt(term, known))) for known in self.encoded.machine.initial_terms())

    def _stays(self, term: Term, given: Term) -> bool:
        return not any(
            self._possible(action.guard, given, term, negation(self.prover.after(action, term)))
            for action in self.prover.steps
            if action.changes(term)
        )

    def _makes(self, action: Action, term: Term, given: Term) -> bool:
        return action.changes(term) and self._possible(
            action.guard, given, negation(term), self.prover.after(action, term)
        )

    def _validated(self, leading: list[Action], control: Term, term: Term, given: Term) -> bool:
        """Whether every step that makes the control condition true makes the assertion true as well."""
        return not any(
            self._possible(
                action.guard,
                given,
                negation(control),
                self.prover.after(action, control),
                negation(self.prover.after(action, term)),
            )
            for action in leading
        )

    def _kept(self, control: Term, term: Term, given: Term) -> bool:
        """Whether nobody can invalidate the assertion as long as the control condition holds."""
        return not any(
            self._possible(
                action.guard,
                given,
                control,
                term,
                self.prover.after(action, control),
                negation(self.prover.after(action, term)),
            )
            for action in self.prover.steps
            if action.changes(conjunction([control, term]))
        )

    def _possible(self, *terms: Term) -> bool:
        self.prover.deadline.check()
        self.prover.queries += 1
        whole = conjunction(terms)
        return whole is not FALSE and self._query.ask([whole], seconds=min(1.0, self.prover.deadline.left)) != "unsat"


def _text(atoms: list[Atom], literal: Literal) -> str:
    at, affirmed = literal
    return atoms[at].text if affirmed else atoms[at].negated().text


def _plain(term: Term) -> bool:
    """Whether it speaks of fields alone."""
    return not any(each.op in ("app", "forall", "exists") for each in nodes(term))
