"""`python -m benchmarks.proofs`: proofs by induction, with the times of Bokor's thesis (2011, chapter 5) beside ours.

Each row is one call of `quorate.prove` in this process. Lemmas are those that the proof rests on: given by people, or
found. The thesis used SAL on a 2.8 GHz AMD, with lemmas written by hand.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from quorate.model.target import load
from quorate.proofs.prove import Proof, prove


class Row(NamedTuple):
    """One proof: what, of which instance, how it is asked for, and what the thesis says of it."""

    name: str
    target: str
    parameters: Mapping[str, Any]
    options: Mapping[str, Any]
    thesis: str = ""


BAKERY = "benchmarks.protocols.bakery:Bakery"
PAXOS = "benchmarks.protocols.unbounded_paxos:UnboundedPaxos"
ANY = {"any": ["Participant.value"], "property": "agreement"}
ROWS = (
    Row("Bakery, strengthened, k = 3", BAKERY, {"strengthened": True}, {"k": 3, "discover": False}, "0.5 s, by hand"),
    Row("Bakery", BAKERY, {}, {}, "not for k up to 10"),
    Row("two-phase commit, 3 participants", "two-phase-commit", {}, {}),
    Row("lock, 2 clients", "lock", {"queue": False}, {}),
    Row("token ring, 3 members", "token-ring", {}, {}),
    Row("consensus, 3 processes, all values", "fd-consensus", {}, ANY),
    Row(
        "consensus, 4 processes, binary",
        "fd-consensus",
        {"processes": 4},
        {"property": "agreement"},
        "25 min, 13 lemmas by hand",
    ),
    Row("consensus, 4 processes, all values", "fd-consensus", {"processes": 4}, ANY),
    Row(
        "Paxos, unlimited ballots, all values",
        PAXOS,
        {},
        {"any": ["Proposer.value"], "discover": False, "timeout": 900},
    ),
)


def measured(row: Row, timeout: float) -> tuple[Proof, float]:
    """The proof, and the time of this process in it."""
    began = time.process_time()
    proof = prove(load(row.target)(**row.parameters), **{"timeout": timeout, **row.options})
    return proof, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="rows whose name contains this")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for each")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for row in ROWS:
        if given.only and given.only not in row.name:
            continue
        proof, core = measured(row, given.timeout)
        origins = [claim.origin for claim in proof.claims]
        figures = {
            "proof": row.name,
            "verdict": proof.verdict,
            "seconds": round(proof.seconds, 2),
            "core_seconds": round(core, 2),
            "given": origins.count("given"),
            "found": origins.count("found"),
            "candidates": proof.discovery.candidates if proof.discovery is not None else 0,
            "questions": proof.queries,
            "thesis": row.thesis,
        }
        if given.json:
            print(json.dumps(figures), flush=True)
        else:
            print("  ".join(f"{name}: {value}" for name, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
