"""CTL and CTL*: a formula about states, taken apart into questions that an engine answers one after the other.

Each question asks in which states some fair run satisfies something, over predicates and the answers to earlier
questions, innermost first. What is true of every run is what no run refutes. There are three kinds:

- until: states from which a path of `left` states leads to a `right` state. Backwards from the right ones; no fairness
  is involved, because whether a fair run goes on from there is part of `right`.
- globally: states from which a fair run stays in `inner` states for ever. Components of that part of the graph in which
  the fairness can be had, and what leads to them.
- path: states from which a fair run satisfies an LTL formula: the product with its automaton, started in every state.

CTL needs the first two only. Other path formulas of CTL* are asked as a whole, after the questions within them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from quorate.properties.temporal.formula import (
    QUANTIFIERS,
    TEMPORAL,
    TRUE,
    Formula,
    Op,
    conjunction,
    disjunction,
    has_quantifier,
    is_temporal,
    name,
    negation,
    nnf,
    rebuilt,
)


class Logic(StrEnum):
    """The smallest of the three logics that a formula is written in."""

    LTL = "LTL"
    CTL = "CTL"
    CTL_STAR = "CTL*"


def logic(formula: Formula) -> Logic:
    """LTL has no quantifiers; in CTL quantifiers and temporal operators come in pairs only."""
    if not has_quantifier(formula):
        return Logic.LTL
    return Logic.CTL if _in_pairs(formula) else Logic.CTL_STAR


def _in_pairs(formula: Formula) -> bool:
    if formula.op in TEMPORAL:
        return False
    if formula.op in QUANTIFIERS:
        (path,) = formula.parts
        return path.op in TEMPORAL and all(map(_in_pairs, path.parts))
    return all(map(_in_pairs, formula.parts))


def linear(formula: Formula) -> Formula | None:
    """The LTL formula that says the same of all initial states, if the shape shows one: then no labelling is needed."""
    if not has_quantifier(formula):
        return formula
    if formula.op is Op.A and not has_quantifier(formula.parts[0]):
        return formula.parts[0]
    if formula.op is Op.AND:
        parts = [linear(part) for part in formula.parts]
        if all(part is not None for part in parts):
            return conjunction(part for part in parts if part is not None)
    return None


class Kind(StrEnum):
    UNTIL = "until"
    GLOBALLY = "globally"
    PATH = "path"


@dataclass(frozen=True)
class Question:
    """In which states? The answer is a set that later questions know by `name`, which no predicate can have."""

    name: str
    kind: Kind
    formulas: tuple[Formula, ...]  # left and right; inner; or the path formula

    def __str__(self) -> str:
        match self.kind:
            case Kind.UNTIL:
                return f"{self.name} = E({Formula(Op.U, self.formulas)})"
            case Kind.GLOBALLY:
                return f"{self.name} = fair E({Formula(Op.G, self.formulas)})"
            case Kind.PATH:
                return f"{self.name} = fair E({self.formulas[0]})"


@dataclass(frozen=True)
class Plan:
    """The property holds if `answer`, which has no temporal operators, is true in every initial state."""

    questions: tuple[Question, ...]
    answer: Formula

    @property
    def grows(self) -> bool:
        """Whether more runs can only add to the states of the answer: it has `some run` alone."""
        return all(not _asked(each, negated=True) for each in (*self._formulas, self.answer))

    @property
    def shrinks(self) -> bool:
        """Whether more runs can only take away from them: it has `every run` alone."""
        return not _asked(self.answer, negated=False) and all(not _asked(each, negated=True) for each in self._formulas)

    @property
    def _formulas(self) -> tuple[Formula, ...]:
        return tuple(formula for question in self.questions for formula in question.formulas)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.questions), f"answer: {self.answer}"])


def plan(formula: Formula, *, fair: bool = True, automata_only: bool = False) -> Plan:
    """The questions behind a state formula.

    `fair=False`: every infinite run counts, so every state has one. `automata_only` asks also what CTL could ask as
    paths: slower, and another way to the same answer.
    """
    if is_temporal(formula):
        raise ValueError(f"{formula} is about a run, not about a state")
    planner = _Planner(fair, automata_only)
    answer = planner.state(formula)
    return Plan(tuple(planner.questions.values()), answer)


def _asked(formula: Formula, *, negated: bool) -> bool:
    """Whether the answer to a question occurs in a formula under a negation, or where there is none."""

    def occurs(part: Formula, under: bool) -> bool:
        match part.op, part.parts:
            case Op.NAME, _:
                return part.name.startswith("#") and under == negated
            case Op.NOT, (inner,):
                return occurs(inner, not under)
            case Op.IMPLIES, (left, right):
                return occurs(left, not under) or occurs(right, under)
            case Op.IFF, parts:
                return any(occurs(each, way) for each in parts for way in (True, False))
        return any(occurs(each, under) for each in part.parts)

    return occurs(formula, False)


@dataclass
class _Planner:
    fair: bool
    automata_only: bool
    questions: dict[tuple[Kind, tuple[Formula, ...]], Question] = field(default_factory=dict)

    def state(self, formula: Formula) -> Formula:
        """The formula with the names of questions in the place of its quantifiers."""
        if formula.op is Op.E:
            return self.exists(nnf(self.within(formula.parts[0])))
        if formula.op is Op.A:
            return negation(self.exists(nnf(self.within(formula.parts[0]), True)))
        return rebuilt(formula, map(self.state, formula.parts)) if formula.parts else formula

    def within(self, path: Formula) -> Formula:
        """A path formula without quantifiers: those in it are asked first."""
        if not has_quantifier(path):
            return path
        if path.op in QUANTIFIERS:
            return self.state(path)
        return rebuilt(path, map(self.within, path.parts))

    def exists(self, path: Formula) -> Formula:
        """Where some fair run satisfies a formula of LTL in negation normal form."""
        if not is_temporal(path):
            return conjunction((path, self.some_run()))
        if self.automata_only:
            return self.ask(Kind.PATH, path)
        if path.op is Op.OR:
            return disjunction(map(self.exists, path.parts))
        if path.op is Op.AND:
            now = [part for part in path.parts if not is_temporal(part)]
            rest = [part for part in path.parts if is_temporal(part)]
            if now:
                return conjunction((*now, self.exists(conjunction(rest))))
        if path.op in TEMPORAL and not any(map(is_temporal, path.parts)):
            return self.labelled(path)
        return self.ask(Kind.PATH, path)

    def labelled(self, path: Formula) -> Formula:
        """One temporal operator over what is true of states: no automaton needed."""
        match path.op, path.parts:
            case Op.G, (inner,):
                return self.ask(Kind.GLOBALLY, inner)
            case Op.F, (right,):
                return self.until(TRUE, right)
            case Op.U, (left, right):
                return self.until(left, right)
            case Op.W, (left, right):
                return disjunction((self.until(left, right), self.ask(Kind.GLOBALLY, left)))
            case Op.R, (left, right):
                return disjunction((self.until(right, conjunction((left, right))), self.ask(Kind.GLOBALLY, right)))
        raise AssertionError(path)

    def until(self, left: Formula, right: Formula) -> Formula:
        return self.ask(Kind.UNTIL, left, right if not self.fair else conjunction((right, self.some_run())))

    def some_run(self) -> Formula:
        """Where a fair run begins. Everywhere, if no fairness is asked for: a run may also stop and stay."""
        if not self.fair:
            return TRUE
        return self.ask(Kind.PATH if self.automata_only else Kind.GLOBALLY, TRUE)

    def ask(self, kind: Kind, *formulas: Formula) -> Formula:
        key = (kind, formulas)
        if key not in self.questions:
            self.questions[key] = Question(f"#{len(self.questions)}", kind, formulas)
        return name(self.questions[key].name)
