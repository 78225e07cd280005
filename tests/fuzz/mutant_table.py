"""docs/mutants.md: every rule, and how soon the generator notices that it is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .mutations.reasons import IMPLIED, NEVER_DRAWN
from .mutations.rule import Rule

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("mutants.json")
TABLE = ROOT / "docs" / "mutants.md"
KEPT = ("seed", "kind", "text", "options", "thresholds", "protocols", "seconds")

HEAD = """# Soundness rules, switched off one at a time

Every rule that keeps a reduction sound is listed in `tests/fuzz/mutations/`, with the source that lacks it.
`make mutants` builds one copy of Quorate with all of them in it, runs it without each rule on the protocols that
`make fuzz` draws, and notes when an answer first differs from the reference where the answer with the rule does not.
*Protocols* and *seconds* are those of the generator until then, in one process. They are upper bounds, since only
some mutants are tried on each protocol. Where it says *focused*, the generator as it is did not find the rule in 3,000
protocols, and the same protocols were drawn with other weights and with the checks that the rule concerns (`--focus`).
The figures come from several versions of the generator, which grew meanwhile; open rules had one to seven minutes.
A *rule* in the last column is one of [the soundness rules](soundness.md), a *decision* one of [these](decisions).
This page is written by `tests/fuzz/mutate.py`.

"""


def write_table(known: Mapping[str, Mapping[str, Any]], rules: Sequence[Rule]) -> None:
    """Write the page again."""
    found = {rule.id for rule in rules if known.get(rule.id, {}).get("found")}
    others = [rule.id for rule in rules if rule.id not in found]
    implied = [name for name in others if name in IMPLIED]
    undrawn = [name for name in others if name in NEVER_DRAWN]
    counted = (
        f"Of {len(rules)} rules {len(found)} are noticed. Of the others {len(implied)} are implied by others, "
        f"{len(undrawn)} are about what is not drawn, and {len(others) - len(implied) - len(undrawn)} are open: "
        "drawn, but so far not in a protocol that shows the difference.\n"
    )
    lines = [HEAD + counted]
    for group in dict.fromkeys(rule.group for rule in rules):
        lines += [f"\n## {group[0].upper()}{group[1:]}\n"]
        lines += ["| rule | without it | protocols | seconds | argued in |", "| --- | --- | ---: | ---: | --- |"]
        lines += [_row(rule, known.get(rule.id)) for rule in rules if rule.group == group]
    TABLE.write_text("\n".join(lines) + "\n")


def _row(rule: Rule, known: Mapping[str, Any] | None) -> str:
    told, protocols, seconds = "not tried", "", ""
    if known is not None and known["found"]:
        told = known["kind"] + (", focused" if known.get("focus") else "")
        protocols, seconds = f"{known['protocols']:,}", f"{known['seconds']:,.0f}"
    elif known is not None and known["protocols"]:
        told = f"**not noticed**; could have mattered in {known['touched']:,}"
        protocols, seconds = f"{known['protocols']:,}", f"{known['seconds']:,.0f}"
    if known is None or not known["found"]:
        if rule.id in IMPLIED:
            told += f"; implied: {IMPLIED[rule.id]}"
        elif rule.id in NEVER_DRAWN:
            told += f"; not drawn: {NEVER_DRAWN[rule.id]}"
        if known is not None and known.get("test"):
            told += f"; missed by `{known['test'].partition('[')[0]}`"
    return f"| `{rule.id}`: {rule.text} | {told} | {protocols} | {seconds} | {rule.argued} |"
