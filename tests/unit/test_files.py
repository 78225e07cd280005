"""Files are written whole or not at all, and tried before anything long is done for them."""

import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from quorate.base import files
from quorate.base.errors import TargetError

ROOT = os.geteuid() == 0


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("old.txt").write_text("old")
    Path("link.txt").symlink_to("old.txt")
    Path("protected.txt").write_text("old")
    Path("protected.txt").chmod(0o444)
    Path("closed").mkdir(mode=0o555)


@pytest.mark.parametrize("name", ["new.txt", "old.txt", "link.txt", "folder/new.txt", "/dev/null"])
@pytest.mark.parametrize("content", ["text ✓\n", "lone \ud800", b"\x00\xff", ""])
def test_what_can_be_written(name: str, content: str | bytes) -> None:
    files.tried(name)
    before = set(os.listdir(".")) | set(os.listdir("folder"))
    files.write(name, content)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    assert Path(name).read_bytes() == (b"" if name == "/dev/null" else data)
    assert Path("link.txt").is_symlink()
    assert set(os.listdir(".")) | set(os.listdir("folder")) <= before | {"new.txt"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere/new.txt", "No such file or directory"),
        ("old.txt/new.txt", "Not a directory"),
        ("folder", "it is a folder"),
        ("folder/", "it is a folder"),
        ("", "folder"),
        ("new/", "folder"),
        ("nul\0.txt", "null"),
        ("x" * 300, "too long"),
        ("/proc/new.txt", ""),
        pytest.param("protected.txt", "write-protected", marks=pytest.mark.skipif(ROOT, reason="root may")),
        pytest.param("closed/new.txt", "Permission denied", marks=pytest.mark.skipif(ROOT, reason="root may")),
    ],
)
def test_what_cannot_be_written_is_known_beforehand(name: str, why: str) -> None:
    with pytest.raises(TargetError) as caught:
        files.tried(name)
    assert caught.value.code == "Q310"
    assert why in caught.value.message


def test_a_trial_leaves_nothing_behind() -> None:
    before = sorted(os.listdir("."))
    files.tried("new.txt")
    assert sorted(os.listdir(".")) == before


def test_permissions_stay_as_they_are() -> None:
    Path("old.txt").chmod(0o640)
    files.write("old.txt", "new")
    assert stat.S_IMODE(Path("old.txt").stat().st_mode) == 0o640


def test_a_full_disk_leaves_what_was_there() -> None:
    code = "from quorate.base import files; files.write('old.txt', 'x' * 100_000)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Q310" in done.stderr
    assert Path("old.txt").read_text() == "old"
    assert not [name for name in os.listdir(".") if name.endswith(".part")]
