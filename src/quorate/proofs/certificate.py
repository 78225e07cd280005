"""A proof as files: one SMT-LIB question each, all to be answered `unsat`, and the graph that says what follows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quorate.base import files
from quorate.base.errors import TargetError
from quorate.proofs.induction import Node, Prover
from quorate.proofs.propositions import Claim
from quorate.proofs.smtlib import script
from quorate.proofs.terms import TRUE, Term, negation, rebuilt


def questions(prover: Prover, nodes: Mapping[Claim, Node]) -> Iterator[tuple[str, str, list[Term]]]:
    """Name, meaning and formulas of every question that a proof rests on."""
    for number, (claim, node) in enumerate(nodes.items(), start=1):
        for at, known in enumerate(prover.machine.initial_terms(), start=1):
            begins = prover._begins(claim, known)
            if begins is not TRUE:
                wf = rebuilt(prover.machine.well_formed(), known)
                yield f"{number:03}-base-{at:02}", f"{claim.name} holds initially", [wf, negation(begins)]
        for at, one in enumerate(node.obligations, start=1):
            assumed = [formula for each in one.hypotheses for formula in each.formulas]
            terms = [prover.encoded.background, *assumed, *one.question]
            given = ", ".join(each.name for each in one.hypotheses) or "nothing"
            text = f"{claim.name} is kept by {one.what}, given {given}"
            yield f"{number:03}-step-{at:03}", text, terms
        for at, (text, terms) in enumerate(node.unrolled, start=1):
            yield f"{number:03}-unrolled-{at:02}", f"{claim.name}: {text}", terms


INDEX = "proof.json"


def make(folder: Path) -> None:
    """Make the folder, and see that files can be written there; Q310 otherwise."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise TargetError(f"cannot write {folder}: {why}", code="Q310") from None
    files.tried(folder / INDEX)


def write(prover: Prover, nodes: Mapping[Claim, Node], folder: Path, graph: Mapping[str, Any]) -> list[Path]:
    """Write a certificate into a folder that is there."""
    made: list[Path] = []
    listed: list[dict[str, str]] = []
    for name, text, terms in questions(prover, nodes):
        path = folder / f"{name}.smt2"
        files.write(path, script([each for each in terms if each is not TRUE], text))
        listed.append({"file": path.name, "proves": text, "expected": "unsat"})
        made.append(path)
    path = folder / INDEX
    files.write(path, json.dumps({**graph, "questions": listed}, indent=1) + "\n")
    return [path, *made]


def graph(claims: Sequence[Claim], nodes: Mapping[Claim, Node]) -> list[dict[str, Any]]:
    """The proof graph: each claim with what it rests on."""
    return [
        {
            "name": claim.name,
            "class": claim.kind,
            "origin": claim.origin,
            "status": nodes[claim].status,
            "k": nodes[claim].k,
            "rests_on": [each.name for each in nodes[claim].rests_on],
            "seconds": round(nodes[claim].seconds, 3),
            "queries": nodes[claim].queries,
            "text": claim.text,
            "why": nodes[claim].why,
        }
        for claim in claims
    ]
