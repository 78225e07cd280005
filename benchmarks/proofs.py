"""Proofs by induction, with the times of Bokor's thesis (2011, chapter 5) beside ours.

Each row is one call of `quorate.prove` in this process. Lemmas are those that the proof rests on: given by people, or
found. The thesis used SAL on a 2.8 GHz AMD, with lemmas written by hand. `python -m benchmarks.proofs` prints all
figures of each row; `make bench` keeps the times.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.results import Figure, Section, figure
from benchmarks.runner import Say
from quorate.model.target import load
from quorate.proofs.prove import Proof, prove


class Row(NamedTuple):
    """One proof: what, of which instance, how it is asked for, and what the thesis says of it."""

    name: str
    target: str
    parameters: Mapping[str, Any]
    options: Mapping[str, Any]
    thesis: str = ""
    goal: float | None = None
    """Seconds of the processor's time."""
    slow: bool = False


PROOFS = "proofs"
TABLES = {
    PROOFS: """\
## Proofs by induction

What `quorate prove` takes, looking for lemmas included, in seconds of the processor's time, and what the proof rests
on: lemmas given by people, found, or derived from execution plans, by class (definition D, message flow MF, state
validity SV). The thesis wrote its lemmas by hand and used SAL on a 2.8 GHz AMD.""",
}

BAKERY = "benchmarks.protocols.bakery:Bakery"
PAXOS_FILE = "benchmarks.protocols.unbounded_paxos"
PAXOS = f"{PAXOS_FILE}:UnboundedPaxos"
ANY = {"any": ["Participant.value"], "property": "agreement"}
ROWS = (
    Row(
        "Bakery, strengthened, k = 3", BAKERY, {"strengthened": True}, {"k": 3, "discover": False}, "0.5 s, by hand", 1
    ),
    Row(
        "Bakery, strengthened by the tool",
        BAKERY,
        {},
        {"k": 3, "discover": False, "strengthen": True},
        "0.5 s, by hand",
    ),
    Row("Bakery", BAKERY, {}, {}, "not for k up to 10"),
    Row("two-phase commit, 3 participants", "two-phase-commit", {}, {}, goal=5),
    Row("lock, 2 clients", "lock", {"queue": False}, {}),
    Row("token ring, 3 members", "token-ring", {}, {}),
    Row("consensus, 3 processes, all values", "fd-consensus", {}, ANY),
    Row(
        "consensus, 4 processes, binary",
        "fd-consensus",
        {"processes": 4},
        {"property": "agreement"},
        "25 min, 13 lemmas by hand",
        120,
        slow=True,
    ),
    Row("consensus, 4 processes, all values", "fd-consensus", {"processes": 4}, ANY, goal=120, slow=True),
    Row("Paxos, unlimited ballots, all values", PAXOS, {}, {"any": ["Proposer.value"]}, goal=60, slow=True),
    Row(
        "the same, all lemmas by hand",
        f"{PAXOS_FILE}:ByHand",
        {},
        {"any": ["Proposer.value"], "discover": False},
        slow=True,
    ),
    Row("two-phase commit, any number", "two-phase-commit", {}, {"number": ["Participant=any"]}),
    Row(
        "echo broadcast, any number",
        "benchmarks.protocols.echo_broadcast:EchoBroadcast",
        {},
        {"number": ["Receiver=any"]},
    ),
    Row(
        "register, any number, all writes",
        "benchmarks.protocols.any_register:AnyRegister",
        {},
        {"number": ["Base=any"], "any": ["Writer.writes"], "discover": False},
    ),
    Row(
        "Paxos, any number of acceptors",
        "benchmarks.protocols.any_paxos:AnyPaxos",
        {},
        {"number": ["Acceptor=any"], "any": ["Proposer.value"], "discover": False},
    ),
)


def measured(row: Row, timeout: float) -> tuple[Proof, float]:
    """The proof, and the time of this process in it."""
    began = time.process_time()
    proof = prove(load(row.target)(**row.parameters), **{"timeout": timeout, **row.options})
    return proof, time.process_time() - began


def proofs(quick: bool, say: Say) -> Section:
    found: list[Figure] = []
    for row in ROWS:
        if quick and row.slow:
            continue
        say(f"proofs: {row.name}")
        proof, seconds = measured(row, 60.0 if quick else 300.0)
        note = "; ".join(each for each in (_lemmas(proof), f"thesis: {row.thesis}" if row.thesis else "") if each)
        found.append(figure(row.name, "s", [seconds], better="lower", goal=row.goal, note=note))
    return Section(PROOFS, figures=tuple(found))


def _lemmas(proof: Proof) -> str:
    """The verdict, and how many lemmas of which class and origin it rests on."""
    lemmas = [claim for claim in proof.claims if claim.origin in ("given", "found", "derived")]
    classes = Counter(claim.kind for claim in lemmas)
    origins = Counter(claim.origin for claim in lemmas)
    by_class = ", ".join(f"{number} {kind}" for kind, number in sorted(classes.items()))
    by_origin = ", ".join(f"{number} {origin}" for origin, number in sorted(origins.items()))
    return f"{proof.verdict}, {by_origin} ({by_class})" if lemmas else f"{proof.verdict}, no lemma"


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
