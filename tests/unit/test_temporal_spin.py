"""The same formulas on the same models by Spin, which knows nothing of us: the same verdicts.

Spin without `-f` assumes what `--fairness progress` does, and with it weak fairness of processes, as
`--fairness process`. The formulas stand in the Promela files (tests/spin), and are taken from there for both.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from quorate import check
from spin_models import MODELS

PLACE = Path(__file__).parents[1] / "spin"
FORMULA = re.compile(r"^ltl (\w+) \{ (.+) \}$", re.MULTILINE)
LEVELS = {"progress": (), "process": ("-f",)}
VIOLATED: dict[str, dict[str, str]] = {
    "ping_pong": {"settles": "both"},
    "toggles": {"first_again": "progress", "once": "progress", "meet": "both", "waits": "both"},
    "stop_and_wait": {"arrives": "both", "not_yet": "both"},
    "lock": {"served": "both"},
    "token_ring": {"comes_round": "progress", "in_turn": "progress", "noisy": "progress"},
    "philosophers": {"fed": "both", "somebody_eats": "both"},
    "philosophers_ordered": {"fed": "both"},
    "election": {"after_all_started": "both"},
    "commit": {"ends": "both"},
    "arbiter": {"served": "both"},
    "window": {"never_empty": "both"},
}
"""By model and formula: at which levels it does not hold."""


def formulas(model: str) -> dict[str, str]:
    return dict(FORMULA.findall((PLACE / f"{model}.pml").read_text()))


@pytest.fixture(scope="module", params=MODELS)
def verifier(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A model, and Spin's verifier for it."""
    if missing := [each for each in ("spin", "gcc") if shutil.which(each) is None]:
        pytest.skip(f"{' and '.join(missing)} not installed: apt-get install spin gcc")
    model: str = request.param
    place = tmp_path_factory.mktemp(model)
    subprocess.run(["spin", "-a", str(PLACE / f"{model}.pml")], cwd=place, check=True, capture_output=True)
    # Spin's own partial orders are no part of the comparison.
    compiler = ["gcc", "-O0", "-w", "-DNOREDUCE", "-DNFAIR=3", "-o", "pan", "pan.c"]
    subprocess.run(compiler, cwd=place, check=True, capture_output=True)
    return model, place


def by_spin(place: Path, formula: str, level: str) -> str:
    command = ["./pan", "-a", *LEVELS[level], "-w16", "-N", formula]
    output = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True).stdout
    assert f"({formula})" in output, output
    found = re.search(r"errors: (\d+)", output)
    assert found is not None, output
    if found[1] != "0":
        return "violated"
    assert "Search not completed" not in output, output
    assert "max search depth too small" not in output, output
    return "holds"


def by_quorate(model: str, formula: str, level: str) -> str:
    return check(MODELS[model](), ltl=formula, fairness=level).verdict


def known(model: str, formula: str, level: str) -> str:
    return "violated" if VIOLATED[model].get(formula) in (level, "both") else "holds"


def test_spin_says_the_same(verifier: tuple[str, Path]) -> None:
    """At all levels in one test: a verifier takes longer to compile than to run."""
    model, place = verifier
    for level in LEVELS:
        for name in formulas(model):
            assert by_spin(place, name, level) == known(model, name, level), (name, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("model", MODELS)
def test_the_verdicts_that_spin_confirms(model: str, level: str) -> None:
    """Also where Spin is not installed."""
    for name, formula in formulas(model).items():
        assert by_quorate(model, formula, level) == known(model, name, level), name


def test_there_is_something_to_compare() -> None:
    every = [(model, name) for model in MODELS for name in formulas(model)]
    assert len(MODELS) >= 8
    assert len(every) >= 40
    assert {name for model, found in VIOLATED.items() for name in found} <= {name for _, name in every}
    assert {path.stem for path in PLACE.glob("*.pml")} == set(MODELS)
