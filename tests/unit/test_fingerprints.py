"""`--store fingerprint`: the answers of an exact store, and how probable it is that one of them is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from quorate import QuorateError, _core, check
from quorate.cli.main import app
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.render.report import _at_most
from quorate.semantics.steps import steps
from small_instances import SMALL, small

PLAIN: dict[str, Any] = {"symmetry": "none", "quotient": "off", "dead_messages": "off"}
FINGERPRINTS: dict[str, Any] = {"store": "fingerprint"}


@pytest.fixture
def thresholds(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with monkeypatch.context() as patch:
        yield patch


def shown(found: Any) -> tuple[Any, ...]:
    told = found.to_json()
    names = "verdict property states transitions depth deadlocks properties violations witnesses trace"
    return tuple(told[name] for name in names.split())


@pytest.mark.parametrize("name", sorted(SMALL))
def test_the_answer_is_that_of_an_exact_store(name: str) -> None:
    wanted = shown(check(small(name)))
    for threads in (1, 2):
        found = check(small(name), **FINGERPRINTS, threads=threads)
        assert shown(found) == wanted
        assert found.miss_probability is not None
        assert found.miss_probability < 1e-6


def test_violations_are_counted_as_with_an_exact_store() -> None:
    wanted = check(FaultyPaxos(), **PLAIN, all=True)
    assert wanted.violations is not None
    assert wanted.violations[0].count > 1
    assert shown(check(FaultyPaxos(), **PLAIN, **FINGERPRINTS, all=True, threads=2)) == shown(wanted)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_index_of_fingerprints_grows_in_small_steps(thresholds: pytest.MonkeyPatch, threads: int) -> None:
    small_index = {"index_lines": 8, "index_segmented": 128, "index_step": 1, "index_segment_bits": 3}
    for name, value in {**small_index, "fingerprint_bits": 46}.items():
        thresholds.setattr(_core.thresholds, name, value)
    found = check(Paxos(acceptors=4), **PLAIN, **FINGERPRINTS, threads=threads)
    assert (found.states, found.transitions) == (43_681, 111_326)
    assert found.verdict == "holds"


@pytest.mark.parametrize("levels", [1, 2, 5])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_is_found_however_few_levels_are_kept(thresholds: pytest.MonkeyPatch, levels: int, threads: int) -> None:
    wanted = check(FaultyPaxos(), **PLAIN).to_json()["trace"]
    thresholds.setattr(_core.thresholds, "most_levels", levels)
    assert check(FaultyPaxos(), **PLAIN, **FINGERPRINTS, threads=threads).to_json()["trace"] == wanted


def test_narrow_fingerprints_miss_states_and_the_probability_says_so(thresholds: pytest.MonkeyPatch) -> None:
    states = 43_681
    likely = {}
    for bits, low, high in ((12, 1, 4096), (20, states - 3000, states - 300), (40, states, states)):
        thresholds.setattr(_core.thresholds, "fingerprint_bits", bits)
        found = check(Paxos(acceptors=4), **PLAIN, **FINGERPRINTS)
        assert low <= found.states <= high
        likely[bits] = found.miss_probability
        told = " ".join(str(found).split())
        assert f"probability of at most {_at_most(found.miss_probability or 0)}" in told
        assert found.verdict == ("holds" if bits == 40 else "incomplete")
        assert all(each.note == "approximate search" for each in found.properties) == (bits != 40)
    assert likely[12] == likely[20] == 1
    # Each of the states that were met may have been taken for one before it.
    assert likely[40] == pytest.approx(states * (states + 1) / 2 * 2.0**-40, rel=1e-4)


def test_a_search_that_repeats_little_misses_less(thresholds: pytest.MonkeyPatch) -> None:
    """Only what was taken for known can have been missed."""
    thresholds.setattr(_core.thresholds, "fingerprint_bits", 40)
    found = check(small("alternating-bit"), **PLAIN, **FINGERPRINTS)
    repeated = found.transitions + 1 - found.states
    comparisons = found.states * min((found.states + 1) / 2, repeated)
    assert found.miss_probability == pytest.approx(comparisons * 2.0**-40, rel=1e-4)


@pytest.mark.parametrize("bits", [10, 12, 13, 16])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_is_shown_is_one(thresholds: pytest.MonkeyPatch, bits: int, threads: int) -> None:
    """Also where the second search takes other states for one another than the first, as with 12 and 13 bits."""
    thresholds.setattr(_core.thresholds, "fingerprint_bits", bits)
    found = check(FaultyPaxos(proposers=3), **PLAIN, **FINGERPRINTS, threads=threads)
    if found.verdict == "violated":
        assert found.trace is not None
        state = found.trace.initial
        for step in found.trace.steps:
            assert step in steps(found.trace.definition, state)
            state = step.next or state
    else:
        assert found.verdict == "incomplete"


@pytest.mark.parametrize(
    "options",
    [
        {"search": "dfs"},
        {"stateless": True},
        {"por": "lpor-net"},
        {"por": "dpor"},
        {"spill": "."},
        {"coverage": True},
        {"self_check": True},
        {"workers": 2},
    ],
    ids=str,
)
def test_what_needs_the_states_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(QuorateError, match="store='fingerprint' with "):
        check(Paxos(), **FINGERPRINTS, **options)


def test_the_command_line_tells_the_probability() -> None:
    run = CliRunner().invoke(app, ["check", "paxos", "--store", "fingerprint", "--json"])
    found = json.loads(run.stdout)
    assert (found["verdict"], found["store"]) == ("holds", "fingerprint")
    assert 0 < found["miss_probability"] < 1e-9
    told = CliRunner().invoke(app, ["check", "paxos", "--store", "fingerprint"]).stdout
    assert "holds, unless a state was missed (probability at most " in " ".join(told.split())


@pytest.mark.parametrize(
    ("probability", "text"), [(0.0, "0"), (1.0, "1"), (1.21e-5, "1.3e-05"), (0.0999, "0.1"), (2e-10, "2e-10")]
)
def test_a_probability_is_not_rounded_down(probability: float, text: str) -> None:
    assert _at_most(probability) == text
