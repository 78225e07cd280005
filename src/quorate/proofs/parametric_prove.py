"""From a system and `--number Role=any` to a verdict about all its instances."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quorate.base import files
from quorate.base.errors import ParameterError
from quorate.language.system import System
from quorate.proofs import certificate
from quorate.proofs.induction import Node, Prover, closure
from quorate.proofs.parametric import FamilyProver
from quorate.proofs.parametric_claims import EncodedFamily, begins, invariants, lemmas, obligations
from quorate.proofs.parametric_family import Family, family
from quorate.proofs.parametric_lemmas import Sampled, claims
from quorate.proofs.propositions import Claim
from quorate.proofs.propositions import lemmas as plain_lemmas
from quorate.proofs.prove import SAMPLES, SCHEMA, Discovery, Proof, _named, _refuse_false
from quorate.proofs.smtlib import script
from quorate.proofs.solver import Deadline
from quorate.proofs.terms import TRUE, Term, conjunction, negation
from quorate.results.trace import Trace
from quorate.search.check import check

SEARCHED = (1, 2, 3)
"""The numbers of processes for which a counterexample is looked for."""


def prove_family(
    proof: Proof,
    system: System,
    numbers: Sequence[str],
    names: Sequence[str] | None,
    *,
    deadline: Deadline,
    discover: bool,
    k: int,
    strengthen: bool,
    certificate_folder: Path | None,
    progress: Callable[[str], None],
) -> None:
    """Prove the invariants of a system for any number of processes of certain roles."""
    if k > 1 or strengthen:
        raise ParameterError(
            "--number does not go with -k and --strengthen yet",
            hint="leave them out: lemmas are found, or given with @lemma",
            code="Q755",
        )
    began = time.perf_counter()
    progress("encoding")
    instances = family(system, numbers)
    fixed = {role.parameter for role in instances.roles}
    proof.parameters = {name: value for name, value in system.parameters.items() if name not in fixed}
    proof.numbers = tuple(role.name for role in instances.roles)
    proof.built = instances.built
    free = proof.free
    encoded = EncodedFamily(instances, free=free, deadline=deadline)
    goals = invariants(encoded, names)
    wanted = [*goals, *obligations(encoded)]
    proof.goals = tuple(goal.name for goal in goals)
    proof.actions, proof.paths = len(encoded.moves), encoded.explorer.runs
    given = lemmas(encoded)
    proof.quorums = tuple(_meeting(encoded))
    proof.encode_seconds = time.perf_counter() - began
    limit = min(60.0, max(1.0, deadline.left / 4))
    prover = FamilyProver(encoded, deadline, query_seconds=limit, progress=progress)
    sampled: Sampled | None = None

    def samples() -> Sampled:
        nonlocal sampled
        if sampled is None:
            progress("sampling states")
            sampled = Sampled(encoded, free, SAMPLES, Deadline(min(30.0 * deadline.slowness, deadline.left / 4)))
        return sampled

    if given:
        small = samples()
        _refuse_false(Prover(small.encoded, deadline), plain_lemmas(small.encoded), small.samples)
    progress("trying what is given" if given else "trying without lemmas")
    nodes = prover.prove(wanted, given)
    if not _done(wanted, nodes):
        progress("looking for a counterexample")
        proof.trace = _refuted(instances, proof.goals, deadline)
        if proof.trace is not None:
            proof.verdict, proof.queries = "refuted", prover.queries
            return
    if not _done(wanted, nodes) and discover:
        nodes = _discovered(proof, prover, samples(), wanted, given)
    proof.nodes = nodes
    rest = [each for each in closure(wanted, nodes) if each not in wanted]
    proof.claims = tuple(each for each in _named([*wanted, *rest]) if each in nodes)
    proof.queries = prover.queries
    if _done(wanted, nodes):
        proof.verdict = "proved"
        if certificate_folder is not None:
            with proof.certified(certificate_folder):
                _write(prover, {each: nodes[each] for each in proof.claims}, proof, certificate_folder)
    else:
        states = {nodes[goal].status for goal in wanted if goal in nodes}
        proof.verdict = "not proved" if "open" in states else "unknown"


def _done(wanted: Sequence[Claim], nodes: Mapping[Claim, Node]) -> bool:
    return all(each in nodes and nodes[each].status == "proved" for each in closure(wanted, nodes))


def _discovered(
    proof: Proof, prover: FamilyProver, sampled: Sampled, wanted: Sequence[Claim], given: Sequence[Claim]
) -> dict[Claim, Node]:
    began = time.perf_counter()
    prover.progress("looking for lemmas")
    found = list(claims(prover.encoded, sampled, 2, prover.deadline))
    proof.discovery = Discovery(len(sampled.samples), sampled.considered, len(found))
    goals = [each for each in wanted if each.origin == "invariant"]
    proof.discovery.seconds = time.perf_counter() - began
    nodes: dict[Claim, Node] = {}
    # With quorums, few lemmas say much, and all at once are too many for the solver; without, it takes many of them.
    for lazily in (True, False) if prover.encoded.machine.quorums else (False, True):
        pool = [*given, *found]
        if not lazily:
            pool = [each for each in prover.inductive([*goals, *pool]) if each not in goals]
        nodes = prover.prove(wanted, pool, lazily=lazily)
        if _done(wanted, nodes) or prover.deadline.passed:
            break
    return nodes


def _refuted(instances: Family, goals: Sequence[str], deadline: Deadline) -> Trace | None:
    """A run of a small instance that breaks an invariant."""
    for number in SEARCHED:
        values = {**instances.system.parameters, **{role.parameter: number for role in instances.roles}}
        try:
            system = type(instances.system)(**values)
            seconds = max(0.5, min(5.0, deadline.left / 8))
            searched = check(system, property=[*goals, "assertions"], max_states=100_000, timeout=seconds)
        except ParameterError:
            continue  # a number that the system itself refuses
        if searched.verdict == "violated":
            return searched.trace
    return None


def _meeting(encoded: EncodedFamily) -> Iterator[str]:
    """The axioms, in words."""
    for one, two in encoded.machine.meeting():
        which = "any two quorums" if one is two else "two quorums of different sizes"
        yield f"{which} of {one.role.name} have a process in common (their sizes say so for {encoded.family.built})"


# --- certificates ------------------------------------------------------------------------------------------------


def questions(prover: FamilyProver, nodes: Mapping[Claim, Node]) -> Iterator[tuple[str, str, list[Term]]]:
    """Name, meaning and formulas of every question that a proof rests on."""
    encoded = prover.encoded
    for number, (claim, node) in enumerate(nodes.items(), start=1):
        for at in range(len(encoded.definition.initials)) if claim.origin != "obligation" else ():
            first = prover.begins(claim, at)
            if first is not TRUE:
                wf = begins(encoded, conjunction(encoded.typed), at)
                terms = [*encoded.machine.axioms(), wf, negation(first)]
                yield f"{number:03}-base-{at + 1:02}", f"{claim.name} holds initially", terms
        for at, one in enumerate(node.obligations, start=1):
            assumed = [formula for each in one.hypotheses for formula in each.formulas]
            given = ", ".join(each.name for each in one.hypotheses) or "nothing"
            text = f"{claim.name} is kept by {one.what}, given {given}"
            yield f"{number:03}-step-{at:03}", text, [*encoded.background, *assumed, *one.question]


def _write(prover: FamilyProver, nodes: Mapping[Claim, Node], proof: Proof, folder: Path) -> None:
    listed: list[dict[str, str]] = []
    for name, text, terms in questions(prover, nodes):
        path = folder / f"{name}.smt2"
        files.write(path, script([each for each in terms if each is not TRUE], text))
        listed.append({"file": path.name, "proves": text, "expected": "unsat"})
    graph: dict[str, Any] = {
        "schema": SCHEMA,
        "system": proof.system,
        "numbers": list(proof.numbers),
        "built": proof.built,
        "quorums": list(proof.quorums),
        "graph": certificate.graph(proof.claims, proof.nodes),
        "questions": listed,
    }
    files.write(folder / certificate.INDEX, json.dumps(graph, indent=1) + "\n")
