"""Symmetry by decomposition: table 3.2 of the thesis, on models in its grain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.against import THESIS_OM, THESIS_PAXOS
from benchmarks.experiment import ALL, PLAIN, Check, Published, Row, Verdict

TABLE = "thesis-3.2"
NONE, NAIVE, AUTO = "none", "naive", "decomposition"
TABLES = {
    TABLE: """\
## Symmetry by decomposition (thesis, table 3.2)

The same plain model in the first three columns, all other reductions off: processes that play several roles are kept
whole by the naive approach and taken apart by decomposition. Paxos has two proposers, three acceptors and no learners,
takes one message a step ([the protocol](../benchmarks/protocols/thesis_paxos.py)), and proposers run where the first
acceptors do. Which of them has which ballot is open at the beginning, so that they can be exchanged. In Oral Messages
the commander is one of the lieutenants ([the protocol](../benchmarks/protocols/thesis_om.py)), and who is a traitor is
open at the beginning. The figures below the table are the efficiency as the thesis defines it: states without symmetry,
over the order of the group that decomposition finds, over states with it.""",
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


def rows(quick: bool) -> dict[str, list[Row]]:
    names = [name for name in ROWS if not quick or not name.startswith(("OM(1), 4", "OM(1), 5"))]
    return {TABLE: [_row(name, *ROWS[name]) for name in names]}


def _row(
    instance: str,
    verdict: Verdict,
    target: str,
    parameters: Mapping[str, Any],
    published: tuple[Published, Published, Published],
) -> Row:
    together = {**parameters, "colocated": True}
    cases = [
        Check(column, target, together, {**PLAIN, "symmetry": kind}, figures, patient=True)
        for column, kind, figures in zip((NONE, NAIVE, AUTO), ("none", "naive", "auto"), published, strict=True)
    ]
    return Row(instance, verdict, (*cases, Check("all reductions", target, together, ALL)), seconds=60.0)
