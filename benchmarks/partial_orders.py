"""Quorum transitions, refinement and partial-order reduction: tables I and II of the DSN 2011 paper, 4.1 of the thesis.

Partial-order reduction as the papers have it is without our other reductions. Beside it stand our defaults, and all
reductions together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.experiment import ALL, DEFAULT, PLAIN, Case, Check, Paper, Published, Row, Verdict

TABLES = {
    "dsn": """\
## Quorum transitions and refinement (DSN 2011, tables I and II)

Paxos (proposers, acceptors, learners); Echo Multicast (honest receivers, honest initiators, Byzantine receivers,
Byzantine initiators); regular storage (base objects, readers), one writer. Except in the last two columns, everything
but partial-order reduction is off. *Single* is a model that takes one message a step; we have one of Paxos. A search
with DPOR stores nothing, so it counts a state as often as it comes there.""",
    "thesis-4.1": """\
## LPOR against DPOR (thesis, table 4.1)

The models of the table above, with the combined split for LPOR; to DPOR every set of messages that can be consumed is a
step of its own already. In the last Multicast instance Byzantine processes may switch
between the faulty and the correct protocol in every step. Except in the last two columns, everything but partial-order
reduction is off. DPOR and stateless searches store nothing, so they count a state as often as they come there.""",
    "refinements": """\
## What each refinement of partial orders gains

Partial orders with the combined split, without symmetry, and without one refinement at a time, by the name it has for
`--por-without` (docs/partial-orders.md says what each is); *paper* is without all that go beyond the paper, and *bare*
without any. Rows that end in *alone* are without our other reductions, the others with merged local states and dead
messages.""",
}

LPOR = {**PLAIN, "por": "lpor-net"}
COMBINED = {**PLAIN, "split": "combined"}
DPOR = {**PLAIN, "por": "dpor", "dpor_variant": "classical"}
OPTIMAL = {**PLAIN, "por": "dpor"}
LIMIT = 30.0  # seconds: what does not end by then, mostly stateless searches, would not in an hour

MINUTE, HOUR = 60.0, 3600.0
Parameters = Mapping[str, Any]


def multicast(receivers: int, initiators: int, liars: int, traitors: int, *, switching: bool = False) -> Parameters:
    return {
        "honest_receivers": receivers,
        "honest_initiators": initiators,
        "byzantine_receivers": liars,
        "byzantine_initiators": traitors,
        "switching": switching,
    }


def figures(*pairs: tuple[int, float] | None, more: tuple[int, ...] = ()) -> list[Published | None]:
    """Of one row, states and seconds by column; those in `more` are lower bounds."""
    return [
        Published(*pair, "more than" if column in more else "") if pair else None for column, pair in enumerate(pairs)
    ]


# By instance: claim, verdict, our protocol, and the paper's columns: without quorum transitions DPOR and SPOR, with
# them SPOR, reply split, quorum split, combined split.
DSN: dict[str, tuple[str, Verdict, str, Parameters, list[Published | None]]] = {
    "Paxos (2,3,1)": (
        "consensus",
        "holds",
        "paxos",
        {},
        figures(
            (16_087_468, 48 * HOUR),
            (6_247_530, 23 * HOUR),
            (2_822_764, 9 * HOUR + 37 * MINUTE),
            (1_087_486, 3 * HOUR + 47 * MINUTE),
            (1_826_560, 11 * HOUR + 28 * MINUTE),
            (548_061, 3.5 * HOUR),
            more=(0,),
        ),
    ),
    "Faulty Paxos (2,3,1)": (
        "consensus",
        "violated",
        "faulty-paxos",
        {},
        figures((162, 8), (524, 12), (279, 10), (105, 8), (279, 10), (105, 8)),
    ),
    "Echo Multicast (3,0,1,1)": (
        "agreement",
        "holds",
        "echo-multicast",
        multicast(3, 0, 1, 1),
        figures((2_911, 41), (9_222, 142), (652, 12), (652, 12), (232, 12), (232, 12)),
    ),
    "Echo Multicast (2,1,0,1)": (
        "agreement",
        "holds",
        "echo-multicast",
        multicast(2, 1, 0, 1),
        figures((2_010, 27), (9_986, 115), (2_787, 31), (1_165, 18), (2_787, 31), (1_165, 18)),
    ),
    "Echo Multicast (3,1,1,1)": (
        "agreement",
        "holds",
        "echo-multicast",
        multicast(3, 1, 1, 1),
        figures(
            None,
            None,
            (12_023_663, 48 * HOUR),
            (10_472_557, 48 * HOUR),
            (7_600_843, 48 * HOUR),
            (7_087_193, 42 * HOUR + 21 * MINUTE),
            more=(2, 3, 4),
        ),
    ),
    "Echo Multicast (2,1,2,1)": (
        "wrong agreement",
        "violated",
        "echo-multicast",
        multicast(2, 1, 2, 1),
        figures((66, 6), (66, 9), (48, 6), (48, 7), (48, 9), (48, 9)),
    ),
    "Regular storage (3,1)": (
        "regularity",
        "holds",
        "regular-storage",
        {},
        figures(
            (2_358_345, 8 * HOUR + 57 * MINUTE),
            (185_711, 33 * MINUTE + 49),
            (20_039, 184),
            (18_451, 193),
            (18_451, 271),
            (18_451, 272),
        ),
    ),
    "Regular storage (3,2)": (
        "wrong regularity",
        "violated",
        "wrong-regular-storage",
        {"readers": 2},
        figures(
            (286_410, 61 * MINUTE),
            (72_937, 757),
            (41_331, 406),
            (6_969, 92),
            (29_877, 591),
            (6_987, 154),
        ),
    ),
}

# The paper's columns: unreduced, DPOR, LPOR stateless, without NET, with NET.
THESIS: dict[str, tuple[str, Verdict, str, Parameters, list[Published | None]]] = {
    "Paxos (2,3,1)": (
        "consensus",
        "holds",
        "paxos",
        {},
        figures(
            (38_000_000, 192 * HOUR),
            (3_305_752, 22 * HOUR + 53 * MINUTE),
            (1_118_341, 6 * HOUR + 14 * MINUTE),
            (1_130_234, 6 * HOUR + 59 * MINUTE),
            (548_061, 3 * HOUR + 18 * MINUTE),
            more=(0,),
        ),
    ),
    "Faulty Paxos (2,3,1)": (
        "consensus",
        "violated",
        "faulty-paxos",
        {},
        figures((238_790, 94 * MINUTE), (2_028, 50), (3_489, 76), (3_489, 103), (3_415, 100)),
    ),
    "Faulty Paxos II (3,3,1)": (
        "consensus",
        "violated",
        "faulty-paxos-2",
        {},
        figures(
            (16_000_000, 192 * HOUR),
            (21_177, 751),
            (175_725, 84 * MINUTE),
            (173_414, 85 * MINUTE),
            (173_414, 88 * MINUTE),
            more=(0,),
        ),
    ),
    "Register (3,1)": (
        "regularity",
        "holds",
        "regular-storage",
        {},
        figures((287_638, 47 * MINUTE), (27_763, 410), (27_763, 357), (18_451, 272), (18_451, 276)),
    ),
    "Register (3,1), wrong": (
        "wrong regularity",
        "violated",
        "wrong-regular-storage",
        {},
        figures((7_619, 112), (2_344, 40), (4_654, 64), (3_497, 55), (3_497, 58)),
    ),
    "Register (3,2), wrong": (
        "wrong regularity",
        "violated",
        "wrong-regular-storage",
        {"readers": 2},
        figures((24_939_222, 181 * HOUR), (11_235, 236), (11_235, 217), (6_987, 152), (6_987, 154)),
    ),
    "Multicast (3,1,1,0)": (
        "agreement",
        "holds",
        "echo-multicast",
        multicast(3, 1, 1, 0),
        figures((7_279, 94), (7_945, 106), (2_674, 38), (6_607, 89), (2_178, 37)),
    ),
    "Multicast (4,1,1,0)": (
        "agreement",
        "holds",
        "echo-multicast",
        multicast(4, 1, 1, 0),
        figures(
            (102_058, 28 * MINUTE + 13), (183_265, 44 * MINUTE + 45), (24_382, 372), (94_186, 1_586), (12_494, 214)
        ),
    ),
    "Multicast (2,1,2,1)": (
        "wrong agreement",
        "violated",
        "echo-multicast",
        multicast(2, 1, 2, 1, switching=True),
        figures((7_543, 212), (4_890, 128), (4_890, 117), (2_139, 64), (2_139, 107)),
    ),
}

REFINEMENTS = ("necessary", "conditional", "smallest", "commuting", "key", "twins")
REFINED: dict[str, tuple[str, Parameters]] = {
    "Paxos (2,3,1)": ("paxos", {}),
    "Paxos (3,3,1)": ("paxos", {"proposers": 3}),
    "Paxos (2,5,1)": ("paxos", {"acceptors": 5}),
    "Echo Multicast (3,1,1,1)": ("echo-multicast", multicast(3, 1, 1, 1)),
    "Regular storage (3,2)": ("regular-storage", {"readers": 2}),
}

# Models that take one message a step. Of the others there is none: what the paper reports stands alone.
SINGLE = {"paxos": "paxos-single"}


def rows(quick: bool) -> dict[str, list[Row]]:
    slow = ("Paxos (2,3,1)", "Faulty Paxos II (3,3,1)") if quick else ()
    return {
        "dsn": [_dsn(name, *entry) for name, entry in DSN.items() if name not in slow],
        "thesis-4.1": [_thesis(name, *entry) for name, entry in THESIS.items() if name not in slow],
        "refinements": [
            _refined(name, *entry, alone=alone) for name, entry in REFINED.items() for alone in (True, False)
        ][: 2 if quick else None],
    }


def _dsn(
    instance: str, claim: str, verdict: Verdict, target: str, parameters: Parameters, paper: list[Published | None]
) -> Row:
    single: list[Case] = [Paper("single, DPOR", paper[0]), Paper("single, LPOR", paper[1])]
    if target in SINGLE:
        single = [
            Check("single, DPOR", SINGLE[target], parameters, DPOR, paper[0]),
            Check("single, LPOR", SINGLE[target], parameters, LPOR, paper[1]),
        ]
    splits: list[Case] = [
        Check(f"{split} split", target, parameters, {**LPOR, "split": split}, published)
        for split, published in zip(("reply", "quorum", "combined"), paper[3:], strict=True)
    ]
    cases: list[Case] = [
        Check("unreduced", target, parameters, PLAIN),
        *single,
        Check("LPOR", target, parameters, LPOR, paper[2]),
        *splits,
        Check("default", target, parameters, DEFAULT),
        Check("all reductions", target, parameters, ALL),
    ]
    return Row(instance, verdict, tuple(cases), claim, LIMIT)


def _thesis(
    instance: str, claim: str, verdict: Verdict, target: str, parameters: Parameters, paper: list[Published | None]
) -> Row:
    cases: list[Case] = [
        Check("unreduced", target, parameters, PLAIN, paper[0]),
        Check("DPOR", target, parameters, DPOR, paper[1]),
        Check("DPOR, optimal", target, parameters, OPTIMAL),
        Check("LPOR, stateless", target, parameters, {**COMBINED, "por": "lpor-net", "stateless": True}, paper[2]),
        Check("LPOR without NET", target, parameters, {**COMBINED, "por": "lpor"}, paper[3]),
        Check("LPOR", target, parameters, {**COMBINED, "por": "lpor-net"}, paper[4]),
        Check("default", target, parameters, DEFAULT),
        Check("all reductions", target, parameters, ALL),
    ]
    return Row(instance, verdict, tuple(cases), claim, LIMIT)


def _refined(instance: str, target: str, parameters: Parameters, *, alone: bool) -> Row:
    base = PLAIN if alone else {"symmetry": "none"}
    full = {**base, "por": "lpor-net", "split": "combined"}

    def without(column: str, *names: str) -> Check:
        return Check(column, target, parameters, {**full, "por_options": dict.fromkeys(names, False)})

    cases: list[Case] = [
        Check("no partial orders", target, parameters, base),
        Check("all refinements", target, parameters, full),
        *(without(f"without {name}", name) for name in REFINEMENTS),
        without("paper", *REFINEMENTS[1:]),
        without("bare", *REFINEMENTS),
    ]
    return Row(f"{instance}{', alone' if alone else ''}", "holds", tuple(cases), seconds=LIMIT)
