"""docs/mutants.md: every rule, and how soon the generator notices that it is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .mutations.reasons import IMPLIED, REFUSED
from .mutations.rule import Rule
from .pointed import POINTS

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
Where it says *around* a name, they were drawn around a smallest protocol that was thought out for the rule; these are
in `tests/fuzz/pointed/`, and the generator draws all of them now and then.

A rule whose loss nobody notices is **implied** by others, which are named. Where it says *without these too*, the rule
was switched off together with them, and a protocol was found whose answer is right without the others alone, and wrong
without all of them: so the rule matters, and would be missed if the others went. Rules that say *refuses* turn down
what nobody has proven; no answer is known to be wrong without them. The figures come from several versions of the
generator, which grew meanwhile. A *rule* in the last column is one of [the soundness rules](soundness.md), a
*decision* one of [these](decisions). This page is written by `tests/fuzz/mutate.py`.

"""


def write_table(known: Mapping[str, Mapping[str, Any]], rules: Sequence[Rule]) -> None:
    """Write the page again."""
    found = {rule.id for rule in rules if known.get(rule.id, {}).get("found")}
    others = [rule.id for rule in rules if rule.id not in found]
    implied = [name for name in others if name in IMPLIED]
    shown = [name for name in implied if "together" in known.get(name, {})]
    refused = [name for name in others if name in REFUSED]
    tested = [name for name in others if name not in {*implied, *refused} and known.get(name, {}).get("test")]
    counted = (
        f"Of {len(rules)} rules {len(found)} are noticed. Of the others {len(implied)} are implied by others, of which "
        f"{len(shown)} are noticed when these are gone too, {len(refused)} refuse what nobody has proven, "
        f"{len(tested)} noticed by a test, and {len(others) - len(implied) - len(refused) - len(tested)} open: drawn, "
        "but so far not in a protocol that shows the difference.\n"
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
        told = known["kind"] + _drawn(known)
        protocols, seconds = f"{known['protocols']:,}", f"{known['seconds']:,.0f}"
    elif known is not None and known["protocols"]:
        told = f"**not noticed**; could have mattered in {known['touched']:,}"
        protocols, seconds = f"{known['protocols']:,}", f"{known['seconds']:,.0f}"
    if known is None or not known["found"]:
        if rule.id in IMPLIED:
            told += f"; implied: {IMPLIED[rule.id]}"
        elif rule.id in REFUSED:
            told += f"; refuses: {REFUSED[rule.id]}"
        if known is not None and "together" in known:
            also = known["together"]
            names = ", ".join(f"`{name}`" for name in also["others"])
            told += f"; without these too ({names}): {also['kind']}{_drawn(also)}, {also['protocols']:,} protocols"
        if known is not None and known.get("test"):
            told += f"; missed by `{known['test'].partition('[')[0]}`"
    return f"| `{rule.id}`: {rule.text} | {told} | {protocols} | {seconds} | {rule.argued} |"


def _drawn(known: Mapping[str, Any]) -> str:
    focus = known.get("focus")
    return f", around `{focus}`" if focus in POINTS else ", focused" if focus else ""
