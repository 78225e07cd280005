"""`--max-memory` is kept by every store: the whole process takes at most a twentieth more at its highest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 150_000_000
PLAIN = ("--symmetry", "none", "--quotient", "off", "--dead-messages", "off")


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ((), False),
        (("--threads", "2"), False),
        (("--spill", "."), None),
        (("--spill", ".", "--threads", "2"), None),
        (("--store", "fingerprint"), False),
        (("--store", "bitstate"), None),
        (("--search", "dfs"), False),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_the_peak_is_within_a_twentieth_of_the_limit(
    options: tuple[str, ...], ends: bool | None, tmp_path: Path
) -> None:
    """Ends: whether eight million states fit; with None that is not the question."""
    command = [
        sys.executable,
        "-m",
        "quorate",
        "check",
        "paxos",
        "-p",
        "acceptors=6",
        "--max-states",
        "8M",
        *PLAIN,
        *options,
    ]
    ran = subprocess.run([*command, "--max-memory", str(LIMIT), "--json"], capture_output=True, text=True, cwd=tmp_path)
    found = json.loads(ran.stdout)
    assert found["states"] > 1_000_000
    if ends is False:
        assert (ran.returncode, found["stopped_by"]) == (3, "memory")
    assert found["peak_memory_bytes"] <= 1.05 * LIMIT


@pytest.mark.parametrize(("limit", "threads"), [(130_000_000, 2), (150_000_000, 1)])
def test_states_that_are_packed_anew_are_within_it_as_well(limit: int, threads: int) -> None:
    """With reductions there are few cells at first, and more of them when many states are there already."""
    words = f"paxos -p acceptors=8 --symmetry none --max-memory {limit} --threads {threads} --timeout 20 --json"
    ran = subprocess.run([sys.executable, "-m", "quorate", "check", *words.split()], capture_output=True, text=True)
    found = json.loads(ran.stdout)
    assert found["states"] > 1_000_000
    assert found["peak_memory_bytes"] <= 1.05 * limit
