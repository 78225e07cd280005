"""How cost grows: states and seconds against the number of processes, and seconds against threads."""

from __future__ import annotations

import os

from benchmarks.experiment import ALL, DEFAULT, PLAIN, Check, Row

TABLES = {
    "scaling-acceptors": """\
## Scaling: acceptors

Paxos with two proposers and one learner; a row is a number of acceptors. A way to check that met its limit, of 20
seconds here, is not tried on what is larger.""",
    "scaling-proposers": """\
## Scaling: proposers

Paxos with three acceptors and one learner; a row is a number of proposers.""",
    "scaling-readers": """\
## Scaling: readers

Regular storage with three base objects and one write; a row is a number of readers.""",
    "scaling-threads": """\
## Scaling: threads

Paxos with two proposers, five acceptors and one learner, without reductions; a row is a number of threads.""",
}

AXES = {
    "scaling-acceptors": "acceptors",
    "scaling-proposers": "proposers",
    "scaling-readers": "readers",
    "scaling-threads": "threads",
}

COLUMNS = {
    "plain": PLAIN,
    "default": DEFAULT,
    "no symmetry": {"symmetry": "none"},
    "partial orders": {"symmetry": "none", "por": "lpor-net"},
    "all reductions": ALL,
}
SECONDS = 20.0


def rows(quick: bool) -> dict[str, list[Row]]:
    cores = os.cpu_count() or 1
    threads = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= cores]
    large = {"acceptors": 4 if quick else 5}
    return {
        "scaling-acceptors": [_row("paxos", "acceptors", n) for n in range(2, 6 if quick else 11)],
        "scaling-proposers": [_row("paxos", "proposers", n) for n in range(1, 4 if quick else 8)],
        "scaling-readers": [_row("regular-storage", "readers", n) for n in range(1, 4 if quick else 7)],
        "scaling-threads": [
            Row(str(n), "holds", (Check("plain", "paxos", large, {**PLAIN, "threads": n}),)) for n in threads
        ],
    }


def _row(target: str, parameter: str, number: int) -> Row:
    cases = tuple(Check(column, target, {parameter: number}, options) for column, options in COLUMNS.items())
    return Row(str(number), "holds", cases, seconds=SECONDS, growing=True)
