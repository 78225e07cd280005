"""Candidates for lemmas of a family: what holds in sampled states of a small instance, read for any number.

The clauses are those of `candidates.py`. Each is a method, as a person would write it; here it is run once more, for
processes of which there may be any number. What that does not allow is no candidate. Induction has the last word.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

from quorate.base.errors import QuorateError
from quorate.language.lemmas import Pending
from quorate.language.lemmas import lemma as marked
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.proofs import shims
from quorate.proofs.candidates import Generator
from quorate.proofs.encode import Encoded
from quorate.proofs.expressions import Atom
from quorate.proofs.lexicon import Lexicon
from quorate.proofs.loans import lifted_code
from quorate.proofs.parametric_claims import EncodedFamily
from quorate.proofs.parametric_claims import lemma as as_claim
from quorate.proofs.parametric_code import LoopCalls, _majority
from quorate.proofs.parametric_idioms import SHIMS
from quorate.proofs.patterns import Pattern, bindings, written
from quorate.proofs.patterns import Role as CandidateRole
from quorate.proofs.propositions import Claim
from quorate.proofs.samples import Sample, Sampler
from quorate.proofs.solver import Deadline
from quorate.proofs.terms import compiled

NUMBER = 3
"""So many processes of each role the sampled instance has."""


class Sampled:
    """A small instance of a family, with a sample of its reachable states."""

    def __init__(self, encoded: EncodedFamily, free: tuple[str, ...], most: int, deadline: Deadline) -> None:
        family = encoded.family
        number = NUMBER if len(family.roles) == 1 else 2
        values = {**family.system.parameters, **{role.parameter: number for role in family.roles}}
        self.definition: Definition = define(type(family.system)(**values))
        self.encoded = Encoded(self.definition, free=free)
        self.samples: list[Sample] = Sampler(self.definition, self.encoded.machine).states(most, deadline)
        self.considered = 0

    def texts(self, literals: int, deadline: Deadline) -> Iterator[tuple[str, str, int]]:
        """Name, Python and weight of every clause that the samples satisfy."""
        generator = Generator(self.encoded, self.samples, deadline, literals=literals)
        for at, candidate in enumerate(generator.candidates(), start=1):
            name = f"lemma_{at}"
            yield name, written(candidate.pattern, candidate.text, name), len(candidate.places)
        self.considered += generator.considered


def counted(encoded: EncodedFamily, sampled: Sampled, deadline: Deadline) -> Iterator[tuple[str, str, int]]:
    """Clauses that say of how many: something of a process, or a quorum of a role agrees with it.

    `r.delivered is None or sum(q.echoed == r.delivered for q in self[Receiver]) >= majority(self[Receiver])`
    """
    lexicon = Lexicon(sampled.encoded, sampled.samples)
    made = 0
    for quorums in encoded.machine.quorums.values():
        number = encoded.family.number(quorums.role).values
        if quorums.size != tuple(n // 2 + 1 for n in number):
            continue  # no other size has a name that can be written in any instance
        role = quorums.role
        for cls in dict.fromkeys(each.cls for each in sampled.definition.columns):
            for unless, agrees in _true(lexicon, sampled, cls, role.cls, deadline):
                made += 1
                count = f"sum(bool({agrees}) for q in self[{role.name}]) >= majority(self[{role.name}])"
                body = f"{unless} or {count}" if unless else count
                name = f"counted_{made}"
                text = f"@lemma\ndef {name}(self, p: {cls.__name__}) -> bool:\n    return {body}\n"
                yield name, text, 2 + bool(unless)


def _true(lexicon: Lexicon, sampled: Sampled, cls: type, role: type, deadline: Deadline) -> Iterator[tuple[str, str]]:
    """What holds of a process, or else of a majority of a role with it, in every sample."""
    one, two = CandidateRole("p", "process", cls), CandidateRole("q", "process", role)
    alone = {bound[0].column.index: lexicon.atoms(bound) for bound in bindings(sampled.encoded, Pattern((one,)))}
    pairs: dict[int, list[list[Atom]]] = {}
    for bound in bindings(sampled.encoded, Pattern((one, two))):
        pairs.setdefault(bound[0].column.index, []).append(lexicon.atoms(bound))
    if not pairs:
        return
    about = [text for atom in next(iter(alone.values())) for text in (atom.text, atom.negated().text)]
    texts = [atom.text for atom in next(iter(pairs.values()))[0]]
    between = [at for at, text in enumerate(texts) if _says(text, "p") and _says(text, "q")]
    rows: set[tuple[tuple[bool, ...], tuple[bool, ...]]] = set()
    for column, atoms in alone.items():
        first = compiled(*(atom.term for atom in atoms))
        others = [compiled(*(each[at].term for at in between)) for each in pairs[column]]
        needed = len(others) // 2 + 1
        for sample in sampled.samples:
            if deadline.passed:
                return
            own = tuple(bool(each) for each in first(sample.values, sample.channels))
            counts = [0] * len(between)
            for run in others:
                for at, each in enumerate(run(sample.values, sample.channels)):
                    counts[at] += bool(each)
            rows.add((tuple(x for each in own for x in (each, not each)), tuple(n >= needed for n in counts)))
    for at, number in enumerate(between):
        if all(row[1][at] for row in rows):
            yield "", texts[number]
            continue
        for other, text in enumerate(about):
            if all(row[0][other] or row[1][at] for row in rows) and not all(row[0][other] for row in rows):
                yield text, texts[number]


def _says(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\.", text) is not None


def claims(encoded: EncodedFamily, sampled: Sampled, literals: int, deadline: Deadline) -> Iterator[Claim]:
    """The candidates, for any number of processes."""
    space = _names(encoded)
    for name, text, weight in (*counted(encoded, sampled, deadline), *sampled.texts(literals, deadline)):
        if deadline.passed:
            return
        try:
            made = as_claim(encoded, name, function_of(text, space), "found", text)
        except QuorateError:
            continue  # something that only a certain number allows
        if made.instances:
            made.weight = weight
            yield made


def _names(encoded: EncodedFamily) -> dict[str, Any]:
    space: dict[str, Any] = {}
    for cls in (type(encoded.family.system), *(column.cls for column in encoded.definition.columns)):
        for base in reversed(cls.__mro__):
            module = sys.modules.get(base.__module__)
            if module is not None and not base.__module__.startswith("quorate.language"):
                space.update({k: v for k, v in vars(module).items() if isinstance(v, type)})
    for line in encoded.machine.lines.values():
        space[line.cls.__name__] = line.cls
    for column in encoded.definition.columns:
        space[column.cls.__name__] = column.cls
    space.update({name: value for name, value in shims.SHIMS.items() if name not in ("int", "isinstance")})
    return {**space, **SHIMS, "majority": _majority, "Pending": Pending, "lemma": marked}


def function_of(text: str, space: dict[str, Any]) -> Any:
    """The method that a text is, made to run on unknown integers and any number of processes."""
    tree = LoopCalls().visit(ast.parse(text))
    inside = dict(space)
    exec(compile(ast.fix_missing_locations(tree), "<lemma>", "exec"), inside)
    found = next(each for each in inside.values() if isinstance(each, types.FunctionType) and _is_new(each, inside))
    found.__code__ = lifted_code(found.__code__)
    return found


def _is_new(function: types.FunctionType, space: dict[str, Any]) -> bool:
    return function.__globals__ is space
