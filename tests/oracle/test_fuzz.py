"""Fixed cases of the fuzzer: what it draws, Quorate and the reference explorer agree on. `make fuzz` draws new ones."""

from __future__ import annotations

import pytest

from fuzz.case import draw, examine
from fuzz.system import TooLarge
from fuzz.translate import translate

CASES = 320
PORTION = 40


@pytest.mark.parametrize("first", range(0, CASES, PORTION))
def test_quorate_agrees_with_the_reference(first: int) -> None:
    for seed in range(first, first + PORTION):
        try:
            case = draw(seed)
            found = examine(case).findings
        except TooLarge:
            continue
        told = [
            f"{finding.kind}: {finding.text}\n  {check.command} {check.thresholds or ''}" for check, finding in found
        ]
        assert not told, f"seed {seed}: " + "\n".join(told) + "\n\n" + translate(case.protocol)


def test_one_number_determines_everything() -> None:
    for seed in range(30):
        try:
            one, two = draw(seed), draw(seed)
        except TooLarge:
            continue
        assert (one.protocol, one.checks) == (two.protocol, two.checks)
