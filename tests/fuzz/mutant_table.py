"""docs/mutants.md: every rule, and how soon the generator notices that it is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .mutations.rule import Rule

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("mutants.json")
TABLE = ROOT / "docs" / "mutants.md"
KEPT = ("seed", "kind", "text", "options", "thresholds", "protocols", "seconds")

HEAD = """# Soundness rules, switched off one at a time

Every rule that keeps a reduction sound is listed in `tests/fuzz/mutations/`, with the source that lacks it.
`make mutants` builds one copy of Quorate with all of them in it, runs it without each rule on the protocols that
`make fuzz` draws, and notes when an answer first differs from the reference where the answer with the rule does not.
*Protocols* and *seconds* are those of the generator until then, in one process. This page is written by
`tests/fuzz/mutate.py`.

"""


def write_table(known: Mapping[str, Mapping[str, Any]], rules: Sequence[Rule]) -> None:
    found = [rule for rule in rules if known.get(rule.id, {}).get("found")]
    tried = [rule for rule in rules if rule.id in known]
    lines = [HEAD, f"Of {len(rules)} rules {len(tried)} were tried and {len(found)} were noticed.\n"]
    for group in dict.fromkeys(rule.group for rule in rules):
        lines += [f"\n## {group[0].upper()}{group[1:]}\n"]
        lines += ["| rule | without it | protocols | seconds | argued in |", "| --- | --- | ---: | ---: | --- |"]
        for rule in rules:
            if rule.group == group:
                lines.append(_row(rule, known.get(rule.id)))
    TABLE.write_text("\n".join(lines) + "\n")


def _row(rule: Rule, known: Mapping[str, Any] | None) -> str:
    told, protocols, seconds = "not tried", "", ""
    if known is not None and known["found"]:
        told, protocols, seconds = known["kind"], f"{known['protocols']:,}", f"{known['seconds']:,.0f}"
    elif known is not None:
        told = f"**not noticed**; could have mattered in {known['touched']:,}"
        protocols, seconds = f"{known['protocols']:,}", f"{known['seconds']:,.0f}"
    return f"| `{rule.id}`: {rule.text} | {told} | {protocols} | {seconds} | {rule.argued} |"
