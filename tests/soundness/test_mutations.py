"""Every rule of the catalogue is still where the catalogue says: exactly once in its file, white space aside."""

from __future__ import annotations

import json
import re
from multiprocessing import get_context
from pathlib import Path

import pytest

from fuzz import mutate
from fuzz.mutations import FOCUS, RULES, focus_of
from fuzz.mutations.aims import AIMS
from fuzz.mutations.reasons import IMPLIED, REFUSED, TOGETHER
from fuzz.mutations.rule import Rule
from fuzz.pointed import POINTS

SOURCE = Path(__file__).resolve().parents[2] / "src"


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_source_has_the_rule(rule: Rule) -> None:
    for site in rule.sites:
        wanted = bare(site.snippet.replace("«", "").replace("»", ""))
        assert bare((SOURCE / site.file).read_text()).count(wanted) == 1, site.file


def test_every_rule_has_a_name_of_its_own() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_what_is_said_about_rules_is_about_rules() -> None:
    names = {rule.id for rule in RULES}
    assert names.issuperset([*IMPLIED, *REFUSED, *AIMS, *TOGETHER])
    assert names.issuperset(other for others in TOGETHER.values() for other in others)
    assert not IMPLIED.keys() & REFUSED.keys()
    assert set(AIMS.values()) <= set(POINTS)
    assert all(focus_of(rule) in POINTS or focus_of(rule) in {"", *FOCUS.values()} for rule in RULES)


def _spend(folder: Path) -> None:
    vars(mutate).update(DATA=folder / "mutants.json", PLACE=folder)
    for rule in RULES[:3]:
        mutate.note_spent(rule.id, 1, 0.5, 2)


def test_several_at_work_add_up(tmp_path: Path) -> None:
    """Each adds what it has spent on a rule to what the others have: nobody writes back what it has read before."""
    context = get_context("fork")
    workers = [context.Process(target=_spend, args=(tmp_path,)) for _ in range(6)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    known = json.loads((tmp_path / "mutants.json").read_text())
    spent = {"found": False, "protocols": 6, "seconds": 3.0, "touched": 12}
    assert known == {rule.id: spent for rule in RULES[:3]}
