"""Folders of checkpoints: whatever happens to the files, it is said, and the last good checkpoint survives."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from quorate import QuorateError, check, resume
from quorate.model.target import load
from quorate.protocols.paxos import Paxos
from quorate.search.folder import VERSION, Folder, _checksum


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checkpoints, of 100 states and of 300."""
    place = tmp_path_factory.mktemp("made") / "saved"
    check(Paxos(), checkpoint=place, max_states=50, symmetry="none")
    result = resume(place, Paxos(), max_states=150)
    assert result.checkpoint is not None
    return place


@pytest.fixture
def saved(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "saved"))


@pytest.fixture(scope="module")
def states() -> int:
    return check(Paxos(), symmetry="none").states


def manifests(place: Path) -> list[Path]:
    return sorted(place.glob("checkpoint-*.json"))


def latest_alone(place: Path) -> list[Path]:
    """The files that only the latest checkpoint has."""
    before, now = (json.loads(path.read_text())["files"] for path in manifests(place)[-2:])
    known = {each["name"] for each in before}
    return [place / each["name"] for each in now if each["name"] not in known]


def refused(place: Path) -> QuorateError:
    with pytest.raises(QuorateError) as caught:
        resume(place, Paxos())
    return caught.value


def flipped(path: Path, random: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def cut(path: Path, random: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: random.randrange(len(data))])


def removed(path: Path, random: random.Random) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [flipped, cut, removed])
def test_a_damaged_file_of_the_latest_checkpoint_costs_only_that(
    damage: Callable[[Path, random.Random], None], saved: Path, states: int
) -> None:
    drawn = random.Random(7)
    for number, path in enumerate([manifests(saved)[-1], *latest_alone(saved)]):
        place = Path(shutil.copytree(saved, saved.parent / f"damaged{number}"))
        damage(place / path.name, drawn)
        result = resume(place, Paxos())
        assert result.states == states
        if damage is not removed or path.suffix == ".bin":  # a manifest that is gone was never there
            assert any("went on from an earlier checkpoint" in each for each in result.warnings)
            assert any(path.name in each for each in result.warnings)


@pytest.mark.parametrize("damage", [flipped, cut])
def test_a_file_that_all_checkpoints_need(damage: Callable[[Path, random.Random], None], saved: Path) -> None:
    drawn = random.Random(11)
    names = [path.name for path in saved.glob("*.bin")]
    for name in names:
        if saved / name in latest_alone(saved):
            continue
        place = Path(shutil.copytree(saved, saved.parent / f"damaged-{name}"))
        for manifest in manifests(place)[:-1]:
            manifest.unlink()
        if name not in {each["name"] for each in json.loads(manifests(place)[-1].read_text())["files"]}:
            continue
        damage(place / name, drawn)
        error = refused(place)
        assert error.code == "Q341"
        assert name in error.message


def test_every_manifest_damaged(saved: Path) -> None:
    for path in manifests(saved):
        flipped(path, random.Random(3))
    error = refused(saved)
    assert error.code == "Q341"
    assert all(path.name in error.message for path in manifests(saved))


def rewritten(place: Path, **changed: Any) -> None:
    """A manifest of somebody who knows how to make the checksum right."""
    path = manifests(place)[-1]
    document = {**json.loads(path.read_text()), **changed}
    document.pop("checksum")
    whole = blake2b(json.dumps(document, sort_keys=True).encode(), digest_size=16).hexdigest()
    path.write_text(json.dumps({**document, "checksum": whole}))


@pytest.mark.parametrize("changed", [{"version": VERSION + 1}, {"quorate": "99.0"}, {"byte_order": "middle"}])
def test_another_version(changed: dict[str, Any], saved: Path) -> None:
    rewritten(saved, **changed)
    assert refused(saved).code == "Q342"


def test_a_manifest_names_files_of_its_folder_alone(saved: Path) -> None:
    secret = saved.parent / "secret"
    secret.write_bytes(b"")
    entry = {"name": "../secret", "kind": "tables", "bytes": 0, "crc32": 0}
    files = json.loads(manifests(saved)[-1].read_text())["files"]
    rewritten(saved, files=[*files, entry])
    result = resume(saved, Paxos())
    assert any("'../secret' is no file of a checkpoint" in each for each in result.warnings)


def forged(path: Path, data: bytes) -> None:
    """Another content of a file, with the right checksums."""
    path.write_bytes(data)
    for each in manifests(path.parent):
        document = json.loads(each.read_text())
        del document["checksum"]
        for entry in document["files"]:
            if entry["name"] == path.name:
                entry |= {"bytes": len(data), "crc32": crc32(data)}
        each.write_text(json.dumps({**document, "checksum": _checksum(document)}))


@pytest.mark.parametrize("harm", [lambda data: data[:-1], lambda data: data + data, lambda data: b"\xff" * len(data)])
def test_states_that_nobody_has_saved(harm: Callable[[bytes], bytes], saved: Path) -> None:
    """With the right checksums: somebody's doing, or the memory's."""
    [path] = [each for each in latest_alone(saved) if each.name.startswith("states")]
    forged(path, harm(path.read_bytes()))
    told = subprocess.run(
        [sys.executable, "-m", "quorate", "resume", str(saved), "--trust"], capture_output=True, text=True
    )
    assert told.returncode == 2
    assert re.fullmatch(r"error Q341: the checkpoint cannot be read: [^\n]*\n", told.stderr)


@pytest.fixture(scope="module")
def violated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With violations in it."""
    place = tmp_path_factory.mktemp("violated") / "saved"
    check(load("faulty-paxos"), checkpoint=place, max_states=600, symmetry="none", all=True)
    return place


@pytest.mark.parametrize("kind", ["head", "tables"])
def test_numbers_that_nobody_has_saved(kind: str, violated: Path, tmp_path: Path) -> None:
    """Whatever stands there, with the right checksums: no file makes the core read what is not there, and a violation
    that was put in does not replay."""
    drawn = random.Random(kind)
    [name] = [each.name for each in latest_alone(violated) if each.name.startswith(kind)]
    codes = set()
    for number in range(25):
        place = Path(shutil.copytree(violated, tmp_path / str(number)))
        data = bytearray((place / name).read_bytes())
        at = drawn.randrange(len(data) // 8) * 8 if kind == "head" else drawn.randrange(len(data))
        data[at] = drawn.randrange(256)
        forged(place / name, bytes(data))
        try:
            resume(place, load("faulty-paxos"), max_states=5_000, timeout=20)
        except QuorateError as error:
            codes.add("no run" if "does not replay" in error.message else error.code)
    assert codes <= {"Q341", "Q343", "no run"}
    assert "Q341" in codes


def test_two_processes(saved: Path) -> None:
    with Folder(saved, fresh=False):
        assert refused(saved).code == "Q344"


def after_the_first(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Once a checkpoint with states is written."""
    write = Folder.commit
    done: list[object] = []

    def commit(self: Folder, manifest: dict[str, Any]) -> None:
        write(self, manifest)
        if manifest["search"] and not done:
            done.append(act())

    monkeypatch.setattr(Folder, "commit", commit)


def test_a_folder_that_is_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, states: int) -> None:
    """It is the same one elsewhere; and one that takes its place is somebody else's."""
    place, other = tmp_path / "saved", tmp_path / "elsewhere"
    check(Paxos(acceptors=2), checkpoint=tmp_path / "another", max_states=5)
    another = {path.name: path.read_bytes() for path in (tmp_path / "another").iterdir()}

    def move() -> None:
        place.rename(other)
        (tmp_path / "another").rename(place)

    after_the_first(monkeypatch, move)
    found = check(Paxos(), checkpoint=place, checkpoint_every=1e-9, max_states=states // 2, symmetry="none")
    assert found.checkpoint is not None
    assert found.checkpoint["saved"] > 1
    assert resume(other, Paxos()).states == states
    assert {path.name: path.read_bytes() for path in place.iterdir()} == another


def test_a_folder_that_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, states: int) -> None:
    place = tmp_path / "saved"
    after_the_first(monkeypatch, lambda: shutil.rmtree(place))
    found = check(Paxos(), checkpoint=place, checkpoint_every=1e-9, symmetry="none")
    assert (found.verdict, found.states) == ("holds", states)
    assert any(each.endswith("No such file or directory; there is none") for each in found.warnings)
    assert found.checkpoint is not None
    assert found.checkpoint["states"] == 0
    assert not place.exists()


def test_no_checkpoint(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere").code == "Q341"
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path / "empty").code == "Q341"


def test_a_folder_that_is_taken(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="holds a checkpoint already") as caught:
        check(Paxos(), checkpoint=saved)
    assert caught.value.code == "Q340"
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(QuorateError, match="holds other files"):
        check(Paxos(), checkpoint=tmp_path)
    file = tmp_path / "letter.txt"
    with pytest.raises(QuorateError, match="cannot use"):
        check(Paxos(), checkpoint=file)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(QuorateError, match="Permission denied") as caught:
        check(Paxos(), checkpoint=tmp_path / "saved")
    assert caught.value.code == "Q340"


def test_a_read_only_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(*_: Any, **__: Any) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("quorate.search.folder.os.open", fails)
    with pytest.raises(QuorateError, match="Read-only file system") as caught:
        check(Paxos(), checkpoint=tmp_path / "saved")
    assert caught.value.code == "Q340"


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, saved: Path, states: int) -> None:
    """The search goes on, and says so; what was saved before is as it was."""
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    write, room = Folder._write, [3_000]

    def full(self: Folder, name: str, chunks: Iterable[bytes]) -> tuple[int, int]:
        def counted() -> Iterable[bytes]:
            for chunk in chunks:
                room[0] -= len(chunk)
                if room[0] < 0:
                    raise OSError(28, "No space left on device")
                yield chunk

        return write(self, name, counted())

    monkeypatch.setattr(Folder, "_write", full)
    stopped = resume(saved, Paxos(), max_states=states - 10)
    assert stopped.verdict == "incomplete"
    assert any("No space left on device; the last one is of" in each for each in stopped.warnings)
    now = {path.name: path.read_bytes() for path in saved.iterdir()}
    assert now == before  # nothing of what could not be completed is left: there may be room for the next one
    monkeypatch.undo()
    assert resume(saved, Paxos()).states == states


def test_what_a_killed_process_left_is_removed(saved: Path, states: int) -> None:
    (saved / "states-000099.bin.part").write_bytes(b"half")
    assert resume(saved, Paxos()).states == states
    assert not list(saved.glob("*.part"))


def test_old_files_go(made: Path) -> None:
    kept = manifests(made)
    assert len(kept) == 2
    needed = {each["name"] for path in kept for each in json.loads(path.read_text())["files"]}
    assert {path.name for path in made.iterdir()} == {"lock", *needed, *(path.name for path in kept)}


AUDITED = """
import shutil, sys
import quorate
from quorate.model.target import load
from quorate.protocols.paxos import Paxos

seen, listening = [], False
EXECUTED = ("pickle.find_class", "marshal.load", "marshal.loads", "exec", "compile", "import", "code.__new__",
            "function.__new__", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "ctypes.dlopen")
sys.addaudithook(lambda event, _: seen.append(event) if listening and event in EXECUTED else None)

def events(run):
    global listening
    seen.clear()
    listening = True
    run()
    listening = False
    return list(seen)

place = sys.argv[1]
shutil.copytree(place, place + "-again")
quorate.resume(place, Paxos())  # imports what it needs
resumed = events(lambda: quorate.resume(place + "-again", Paxos()))
checked = events(lambda: quorate.check(Paxos(), symmetry="none"))
assert "compile" in checked, "properties are taken apart: the hook listens"
assert resumed == checked, (resumed, checked)
"""


def test_nothing_in_a_checkpoint_is_executed(saved: Path) -> None:
    """Python itself says what is run: going on runs what a check of the same model runs, and nothing else."""
    ran = subprocess.run([sys.executable, "-c", AUDITED, str(saved)], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_what_workers_kept_is_told_by_its_name(tmp_path: Path) -> None:
    assert "shared among workers" in refused(tmp_path).hint
    (tmp_path / "workers-abc").mkdir()
    found = refused(tmp_path)
    assert found.code == "Q341"
    assert "what workers kept" in found.message
