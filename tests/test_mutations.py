"""Every rule of the catalogue is still where the catalogue says: exactly once in its file, white space aside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuzz.mutations import RULES
from fuzz.mutations.rule import Rule

SOURCE = Path(__file__).resolve().parents[1] / "src"


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_source_has_the_rule(rule: Rule) -> None:
    for site in rule.sites:
        wanted = bare(site.snippet.replace("«", "").replace("»", ""))
        assert bare((SOURCE / site.file).read_text()).count(wanted) == 1, site.file


def test_every_rule_has_a_name_of_its_own() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
