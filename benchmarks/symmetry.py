"""What symmetry is worth: table 3.2 of the thesis, on models in its grain, and how far it goes as instances grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.against import THESIS_OM, THESIS_PAXOS
from benchmarks.experiment import ALL, DEFAULT, PLAIN, Check, Published, Row, Verdict

THESIS_TABLE, GROWTH_TABLE = "thesis-3.2", "growth"
NONE, NAIVE, AUTO = "none", "naive", "decomposition"
USUAL, EVERY = "default", "all reductions"
TABLES = {
    THESIS_TABLE: """\
## Symmetry by decomposition (thesis, table 3.2)

The same plain model in the first three columns, all other reductions off: processes that play several roles are kept
whole by the naive approach and taken apart by decomposition. Paxos has two proposers, three acceptors and no learners,
sends or takes one message a step ([the protocol](../benchmarks/protocols/thesis_paxos.py)), and proposers run where the
first acceptors do. It has two initial states: which of the proposers has which ballot is open, so that they can be
exchanged. Decomposition finds the group 2! Proposer x 3! Acceptor, the naive approach 2! Server. In Oral Messages the
commander is one of the lieutenants ([the protocol](../benchmarks/protocols/thesis_om.py)), and who is a traitor is open
at the beginning: an initial state for every choice. All n lieutenants can be exchanged (n! Lieutenant) once the
commander is taken apart, and otherwise all but the one who commands. The goals have the efficiency as the thesis
defines it: states without symmetry, over the order of the group that decomposition finds, over states with it.""",
    GROWTH_TABLE: """\
## How far it goes

Instances that grow until one does not end within ten minutes and 8 GB, with what is on by default (quotient, dead
messages, symmetry) and with partial orders as well; large ones only in the way that goes further. In echo multicast one
of two initiators and one receiver more are Byzantine. The list of all figures has the group, and how many states those
found stand for: so many there would be without symmetry. What met a limit is not tried on what is larger.""",
}

ROWS: dict[str, tuple[Verdict, str, Mapping[str, Any], tuple[Published, Published, Published]]] = {
    "Paxos, safety": (
        "holds",
        THESIS_PAXOS,
        {},
        (Published(1_591_897), Published(795_945), Published(136_915)),
    ),
    "Paxos, wrong safety": (
        "violated",
        THESIS_PAXOS,
        {"chosen_by": 1},
        (Published(649_301), Published(325_074), Published(57_677)),
    ),
    "Faulty Paxos, safety": (
        "violated",
        THESIS_PAXOS,
        {"heedful": False},
        (Published(1_114_891), Published(562_298), Published(101_239)),
    ),
    "OM(1), 3 lieutenants": (
        "holds",
        THESIS_OM,
        {"lieutenants": 3},
        (Published(1_797), Published(941), Published(345)),
    ),
    "OM(1), 4 lieutenants": (
        "holds",
        THESIS_OM,
        {"lieutenants": 4},
        (Published(150_417), Published(26_401), Published(6_999)),
    ),
    "OM(1), 5 lieutenants": (
        "holds",
        THESIS_OM,
        {"lieutenants": 5},
        (Published(note="out of memory"), Published(2_402_167), Published(490_839)),
    ),
    "Faulty OM(1), 2 traitors": (
        "violated",
        THESIS_OM,
        {"lieutenants": 3, "traitors": 2},
        (Published(934), Published(843), Published(200)),
    ),
}

MULTICAST = {"honest_initiators": 1, "byzantine_receivers": 1, "byzantine_initiators": 1}
# A family of instances: what it is called, its target, what stays, what grows, and how, and the way that goes
# further. The last instance of each is about where the limits are.
GROWTH: list[tuple[str, str, dict[str, int], str, Sequence[int], str]] = [
    ("Paxos, 2 proposers, {} acceptors", "paxos", {"proposers": 2}, "acceptors", (3, 5, 7, 9, 11, 13, 14, 15), USUAL),
    ("Paxos, 3 proposers, {} acceptors", "paxos", {"proposers": 3}, "acceptors", range(3, 10), USUAL),
    ("Paxos, {} proposers, 3 acceptors", "paxos", {"acceptors": 3}, "proposers", range(4, 8), USUAL),
    ("regular storage, {} base objects", "regular-storage", {}, "bases", (3, 5, 7, 9, 11, 13, 15, 16), USUAL),
    ("echo multicast, {} honest receivers", "echo-multicast", MULTICAST, "honest_receivers", range(5, 20, 2), EVERY),
    ("Oral Messages, {} lieutenants", "om", {}, "lieutenants", range(3, 11), USUAL),
]
SECONDS, MEMORY = 600.0, 8 << 30
BOTH = 3  # so many instances of a family are checked in both ways, the larger ones in the better one
# The analysis may take long here, because the search would take longer without it.
PATIENCE = {"max_behaviours": 10_000_000}


def rows(quick: bool) -> dict[str, list[Row]]:
    names = [name for name in ROWS if not quick or not name.startswith(("OM(1), 4", "OM(1), 5"))]
    return {
        THESIS_TABLE: [_row(name, *ROWS[name]) for name in names],
        GROWTH_TABLE: [row for family in GROWTH for row in _family(*family, quick)],
    }


def _row(
    instance: str,
    verdict: Verdict,
    target: str,
    parameters: Mapping[str, Any],
    published: tuple[Published, Published, Published],
) -> Row:
    together = {**parameters, "colocated": True}
    cases = [
        Check(column, target, together, {**PLAIN, **PATIENCE, "symmetry": kind}, figures)
        for column, kind, figures in zip((NONE, NAIVE, AUTO), ("none", "naive", "auto"), published, strict=True)
    ]
    return Row(instance, verdict, (*cases, Check(EVERY, target, together, ALL)), seconds=60.0)


def _family(
    instance: str, target: str, fixed: Mapping[str, int], parameter: str, sizes: Sequence[int], best: str, quick: bool
) -> list[Row]:
    ways = {USUAL: DEFAULT, EVERY: ALL}
    return [
        Row(
            instance.format(size),
            "holds",
            tuple(
                Check(column, target, {**fixed, parameter: size}, {**options, **PATIENCE})
                for column, options in ways.items()
                if column == best or size in sizes[:BOTH]
            ),
            seconds=SECONDS,
            memory_bytes=MEMORY,
            growing=size != sizes[0],
        )
        for size in (sizes[:2] if quick else sizes)
    ]
