"""Peterson's algorithm: the same states as Spin and Rumur find, where these are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agreement import PLAIN
from quorate import check
from quorate.protocols.peterson import Peterson
from shared_statements import Statements

PLACE = Path(__file__).parents[1] / "peers"


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [each for each in programs if shutil.which(each) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


@needs("spin", "gcc")
@pytest.mark.parametrize("processes", [2, 3])
def test_as_many_states_as_spin(processes: int, tmp_path: Path) -> None:
    def run(*command: str) -> str:
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    # It would forget the values of variables that are not read again.
    run("spin", "-o2", f"-DN={processes}", "-a", str(PLACE / "peterson.pml"))
    run("gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c")
    told = run("./pan", "-m100000")
    assert "errors: 0" in told
    states, transitions = (int(re.findall(rf"(\d+) {what}", told)[0]) for what in ("states, stored", "transitions"))
    found = check(Statements(processes=processes), **PLAIN)
    assert (found.verdict, found.states) == ("holds", states)
    assert found.transitions == transitions - 1  # Spin counts the beginning as one


@needs("rumur", "gcc")
def test_as_many_states_as_murphi(tmp_path: Path) -> None:
    model = tmp_path / "model.c"
    options = ["--symmetry-reduction", "off", "--threads", "1", "--deadlock-detection", "off", "--quiet"]
    subprocess.run(["rumur", *options, "--output", str(model), str(PLACE / "peterson.m")], check=True)
    subprocess.run(
        ["gcc", "-std=c11", "-O1", "-mcx16", "-w", "-o", "model", "model.c", "-lpthread"], cwd=tmp_path, check=True
    )
    told = subprocess.run(["./model"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    states = int(re.findall(r"([\d,]+) states", told)[-1].replace(",", ""))
    found = check(Peterson(processes=3), **PLAIN, property="mutual_exclusion")
    assert (found.verdict, found.states) == ("holds", states)
