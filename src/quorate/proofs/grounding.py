"""Hypotheses without quantifiers: for the messages that a question speaks of, so that a solver always has an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quorate.proofs.terms import (
    TRUE,
    Term,
    bounding,
    children,
    conjunction,
    disjunction,
    negation,
    rebuilt,
    var,
    variables,
)


class Grounding:
    """Hypotheses for certain messages instead of for all: for those that occur in what is asked."""

    def __init__(self, rounds: int = 2, most: int = 1500) -> None:
        self.rounds, self.most = rounds, most
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
