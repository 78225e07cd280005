"""No answer is lost because a file cannot be written, whatever command it is of: a disk that is full, a folder."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from bad_models import call


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which files can be made, but hold nothing."""

    def no_space(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "files", "status"),
    [
        ("prove two-phase-commit", ["--graph", "--certificate"], 0),
        ("flows two-phase-commit", ["--svg"], 2),
        ("automaton p", ["--svg"], 2),
        ("simulate faulty-paxos --runs 200", ["--save", "--report"], 1),
    ],
)
def test_the_answer_comes_first(command: str, files: list[str], status: int, full: Path) -> None:
    suffixes = {"--certificate": "", "--report": ".html", "--save": ".json"}
    given = {option: full / f"file{option}{suffixes.get(option, '.svg')}" for option in files}
    words = [word for option, path in given.items() for word in (option, str(path))]
    found, out, err = call(*command.split(), "--json", *words)
    document = json.loads(out)  # one object, and it is the answer
    assert (found, "error" in document) == (status, False)
    assert err.count("Q310") == len(files)
    assert "No space left on device" in " ".join(err.split())
    assert not [each for each in full.rglob("*") if each.is_file()]


def test_a_certificate_that_cannot_be_written_is_told_before_the_proof(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found, out, err = call("prove", "two-phase-commit", "--certificate", str(tmp_path / "file"))
    assert (found, out) == (2, "")
    assert "error Q310: cannot write" in err


def test_a_first_checkpoint_for_which_there_is_no_room(full: Path) -> None:
    found, out, _ = call("check", "faulty-paxos", "--json", "--checkpoint", str(full / "saved"))
    assert (found, json.loads(out)["error"]["code"]) == (2, "Q340")
