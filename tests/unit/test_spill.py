"""`--spill`: the states lie in files, and nothing else changes."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quorate import QuorateError, _core, check
from quorate.protocols.paxos import Paxos
from small_instances import SMALL, small

TINY = {"narrow_index": 12, "index_lines": 8, "index_segmented": 128, "index_step": 1, "index_segment_bits": 3}
"""So that a few thousand states make the index that grows in small steps."""
PLAIN: dict[str, Any] = {"symmetry": "none", "quotient": "off", "dead_messages": "off"}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with monkeypatch.context() as patch:
        for name, value in TINY.items():
            patch.setattr(_core.thresholds, name, value)
        yield patch


def shown(found: Any) -> tuple[Any, ...]:
    told = found.to_json()
    return tuple(told[name] for name in ("verdict", "property", "states", "transitions", "depth", "trace"))


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_search_in_files_finds_what_one_in_memory_finds(name: str, tmp_path: Path) -> None:
    assert shown(check(small(name), spill=str(tmp_path))) == shown(check(small(name)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("spilled", [False, True])
def test_an_index_in_small_steps_changes_nothing(
    tiny: pytest.MonkeyPatch, tmp_path: Path, threads: int, spilled: bool
) -> None:
    found = check(Paxos(acceptors=4), **PLAIN, threads=threads, spill=str(tmp_path) if spilled else None)
    tiny.undo()
    usual = check(Paxos(acceptors=4), **PLAIN)
    assert usual.states > 1 << 15, "or the index stays small"
    assert shown(found) == shown(usual)


def test_an_index_in_small_steps_serves_depth_first_search(tiny: pytest.MonkeyPatch) -> None:
    found = check(Paxos(acceptors=4), **PLAIN, search="dfs").states
    tiny.undo()
    assert found == check(Paxos(acceptors=4), **PLAIN).states


def test_a_directory_that_cannot_be_written_to_is_an_error_before_the_search(tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="No such file or directory"):
        check(Paxos(), spill=str(tmp_path / "nowhere"))


@pytest.mark.parametrize("options", [{"search": "dfs"}, {"store": "bitstate"}, {"stateless": True}, {"por": "dpor"}])
def test_only_breadth_first_search_keeps_states_in_files(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="spill="):
        check(Paxos(), spill=str(tmp_path), **options)


def test_a_full_disk_ends_with_a_truthful_answer(tmp_path: Path) -> None:
    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (12 << 20, 12 << 20))

    plain = ["--symmetry", "none", "--quotient", "off", "--dead-messages", "off"]
    command = [sys.executable, "-m", "quorate", "check", "paxos", "-p", "acceptors=5", "--spill", str(tmp_path), *plain]
    ran = subprocess.run([*command, "--json"], capture_output=True, text=True, preexec_fn=few_bytes)
    found = json.loads(ran.stdout)
    assert (ran.returncode, found["verdict"], found["stopped_by"]) == (3, "incomplete", "disk")
    assert found["states"] == 1 << 20  # what one file of that size has room for
