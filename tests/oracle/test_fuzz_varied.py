"""Fixed cases of the fuzzer with a turn on top (fuzz/varied.py): Quorate and the reference explorer agree on them."""

from __future__ import annotations

from collections import Counter

from fuzz.case import draw, examine
from fuzz.features import features
from fuzz.protocol import reads_flight
from fuzz.system import TooLarge
from fuzz.translate import translate
from fuzz.varied import FIRST

CASES = 60
WANTED = ("posted", "losses at the head", "enough any", "down", "redeliver", "bound of the system")


def test_quorate_agrees_with_the_reference() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + CASES):
        try:
            case = draw(seed)
            found = examine(case).findings
        except TooLarge:
            continue
        told = [
            f"{finding.kind}: {finding.text}\n  {check.command} {check.thresholds or ''}" for check, finding in found
        ]
        assert not told, f"seed {seed}: " + "\n".join(told) + "\n\n" + translate(case.protocol)
        drawn.update(features(case.protocol))
    assert all(drawn[each] for each in WANTED), drawn


def test_messages_in_flight_are_read_as_in_the_reference() -> None:
    """With every network, crashes, attackers, messages from the beginning and delivery in two steps; none reduced."""
    drawn: Counter[str] = Counter()
    read = 0
    for seed in (13, 24, 37, 64, 84, 88, 105, 125, 216, 230, 236, 249):
        case = draw(FIRST + seed)
        assert reads_flight(case.protocol.properties)
        outcome = examine(case)
        assert not outcome.findings, f"seed {FIRST + seed}: {outcome.findings}\n\n{translate(case.protocol)}"
        drawn.update(features(case.protocol))
        results = [each.result for _, each in outcome.answers if each.result is not None]
        read += sum("messages" in each.reductions for each in results)
    wanted = ("uses flight", "uses flown", "network fifo", "network multiset", "crashes", "corrupt", "posted", "losses")
    assert all(drawn[each] for each in wanted), drawn
    assert read > 12


def test_states_are_kept_in_every_way() -> None:
    kept: Counter[str] = Counter()
    for seed in range(200):
        try:
            checks = draw(seed).checks
        except TooLarge:
            continue
        kept.update(name for check in checks for name in ("spill", "checkpoint") if name in check.options)
        kept.update(str(check.options["store"]) for check in checks if "store" in check.options)
    assert kept.keys() == {"spill", "checkpoint", "fingerprint", "bitstate"}, kept
