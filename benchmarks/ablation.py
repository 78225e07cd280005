"""Ablation: how long it takes to take out every part of a protocol."""

from __future__ import annotations

from benchmarks.results import Figure, Section, figure
from benchmarks.runner import Say

ABLATION = "ablation"
TABLES = {
    ABLATION: """\
## Ablation

`quorate ablate` on all cores: every part of a protocol is taken out in turn, and the properties are checked again.
Seconds are those of a clock.""",
}
PROTOCOLS = {"paxos": 30.0, "two-phase-commit": None, "pbft": None, "regular-storage": None}


def ablation(quick: bool, say: Say) -> Section:
    from quorate.ablation.ablate import ablate
    from quorate.model.target import load

    found: list[Figure] = []
    for name, goal in PROTOCOLS.items():
        runs = []
        for number in range(1 if quick else 3):
            say(f"ablation {number + 1}: {name}")
            runs.append(ablate(load(name)(), target=name, each=5.0))
        seconds = [each.seconds for each in runs]
        decided = len(runs[0].findings) - runs[0].count("undecided")
        note = f"{len(runs[0].parts)} parts, {decided} decided"
        found.append(figure(f"{name}", "s", seconds, better="lower", goal=goal, note=note))
    return Section(ABLATION, figures=tuple(found))
