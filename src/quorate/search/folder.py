"""A folder of checkpoints: files that are there whole or not at all, and known by their checksums.

Every file is written beside, synced and renamed, and never changed afterwards. A checkpoint is a manifest that names
its files; it is written last. So a crash at any moment leaves the checkpoint before as it was. The two latest manifests
are kept, with what they name: if the latest was damaged since, the one before it may be whole.

The folder is opened once, and used under that name no more: one that is moved meanwhile is still the same, and another
one in its place is somebody else's.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.metadata import version
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Self
from zlib import crc32

from quorate.base.errors import QuorateError, TargetError
from quorate.base.records import Damaged
from quorate.cluster.kept import OF_WORKERS

FORMAT = "quorate-checkpoint"
VERSION = 3
"""Counts the times the form of the files changed."""
KINDS = ("tables", "cells", "head", "states")
CHUNK = 4 << 20
LARGEST = 64 << 20
"""Bytes of a manifest."""

_MANIFEST = re.compile(r"checkpoint-(\d{6,12})\.json")
_PART = re.compile(rf"(?:{'|'.join(KINDS)})-\d{{6,12}}\.bin")


class Folder:
    """As a context: this process alone uses it."""

    def __init__(self, path: str | PathLike[str], *, fresh: bool) -> None:
        self.path = fspath(path)
        self._fresh = fresh
        self._place = self._lock = -1

    @contextmanager
    def usable(self) -> Iterator[None]:
        """Q340 instead of an error of the system: nothing was searched yet, and the user may name another folder."""
        try:
            yield
        except OSError as error:
            raise TargetError(f"cannot use {self.path} for checkpoints: {error.strerror}", code="Q340") from None

    def __enter__(self) -> Self:
        try:
            with self.usable():
                self._open()
        except QuorateError:
            self._close()
            raise
        return self

    def _open(self) -> None:
        if self._fresh:
            os.makedirs(self.path, exist_ok=True)
        elif not os.path.isdir(self.path):
            raise TargetError(
                f"there is no checkpoint in {self.path}",
                hint="quorate check TARGET --checkpoint DIR writes one",
                code="Q341",
            )
        self._place = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._lock = self._opened("lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TargetError(
                f"another process is using the checkpoints in {self.path}",
                hint="wait for it, or stop it with Ctrl-C: it saves what it has",
                code="Q344",
            ) from None
        self._tidy()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        for file in (self._lock, self._place):
            if file >= 0:
                os.close(file)  # the lock goes with it
        self._place = self._lock = -1

    @property
    def is_gone(self) -> bool:
        """Somebody has removed it."""
        return os.fstat(self._place).st_nlink == 0

    def _opened(self, name: str, flags: int) -> int:
        return os.open(name, flags | os.O_CLOEXEC, 0o666, dir_fd=self._place)

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._place)

    def _tidy(self) -> None:
        """Remove what a process left that was killed while it wrote; a fresh folder has nothing in it."""
        names = os.listdir(self._place)
        for name in names:
            if name.endswith(".part"):
                self._remove(name)
        left = [name for name in names if name != "lock" and not name.endswith(".part")]
        if self._fresh and any(map(_MANIFEST.fullmatch, left)):
            raise TargetError(
                f"{self.path} holds a checkpoint already",
                hint=f"go on with it, quorate resume {self.path}; or remove it, or name another folder",
                code="Q340",
            )
        if self._fresh and any(not _PART.fullmatch(name) for name in left):
            raise TargetError(f"{self.path} holds other files", hint="name a new folder", code="Q340")
        if self._fresh:  # it tells now rather than after an hour that nothing can be written here
            self._write("head-000000.bin", [b""])
            self._remove("head-000000.bin")

    # --- reading ---------------------------------------------------------------------------------------------------

    def newest(self) -> tuple[dict[str, Any], list[str]]:
        """The last checkpoint that is whole, and what is wrong with those after it."""
        trouble: list[str] = []
        for number in sorted(self._numbers(), reverse=True):
            try:
                return self._whole(number), trouble
            except Damaged as error:
                trouble.append(str(error))
            except OSError as error:
                trouble.append(f"{_manifest(number)} cannot be read: {error.strerror}")
        if not trouble and any(name.startswith(OF_WORKERS) for name in os.listdir(self._place)):
            raise TargetError(
                f"{self.path} holds what workers kept, which only the run that wrote it can use",
                hint="workers begin anew; a search without --workers and --address can be gone on with",
                code="Q341",
            )
        if not trouble:
            raise TargetError(
                f"there is no checkpoint in {self.path}",
                hint="it was stopped before the first one, or shared among workers, which leave none: check again with "
                "--checkpoint, and without --workers",
                code="Q341",
            )
        raise TargetError(
            f"no checkpoint in {self.path} is whole: {'; '.join(trouble)}",
            hint="the files were changed or damaged after they were written; check from the beginning",
            code="Q341",
        )

    def _whole(self, number: int) -> dict[str, Any]:
        name = _manifest(number)
        with open(name, "rb", opener=self._opened) as file:
            content = file.read(LARGEST + 1)
        try:
            document = json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError):
            raise Damaged(f"{name} is not JSON") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise Damaged(f"{name} is not a checkpoint")
        if document.pop("checksum", None) != _checksum(document):
            raise Damaged(f"{name} was changed: its checksum differs")
        if document.get("version") != VERSION or document.get("quorate") != version("quorate"):
            raise TargetError(
                f"{os.path.join(self.path, name)} was written by quorate {document.get('quorate')}, format "
                f"{document.get('version')}; this is quorate {version('quorate')}, format {VERSION}",
                hint="go on with the version that wrote it: two versions may search in different ways",
                code="Q342",
            )
        if document.get("byte_order") != sys.byteorder:
            raise TargetError(f"{name} was written on a machine with another byte order", code="Q342")
        for each in document["files"]:
            self._require(each)
        return document

    def _require(self, entry: Mapping[str, Any]) -> None:
        """Damaged unless the file is the one that was written."""
        name = entry["name"]
        if not _PART.fullmatch(name):
            raise Damaged(f"{name!r} is no file of a checkpoint")
        found = size = 0
        try:
            for chunk in self.chunks(name, CHUNK):
                found = crc32(chunk, found)
                size += len(chunk)
        except FileNotFoundError:
            raise Damaged(f"{name} is missing") from None
        if size != entry["bytes"]:
            raise Damaged(f"{name} has {size:,} bytes instead of {entry['bytes']:,}")
        if found != entry["crc32"]:
            raise Damaged(f"{name} was changed: its checksum differs")

    def chunks(self, name: str, size: int) -> Iterator[bytes]:
        with open(name, "rb", opener=self._opened) as file:
            while chunk := file.read(size):
                yield chunk

    def content(self, name: str) -> bytes:
        return b"".join(self.chunks(name, CHUNK))

    def next_number(self) -> int:
        """Above all that were ever used, also by one that is damaged."""
        used = [
            int(match[1]) for match in map(re.compile(r"\w+-(\d+)\.\w+").fullmatch, os.listdir(self._place)) if match
        ]
        return max(used, default=0) + 1

    # --- writing ---------------------------------------------------------------------------------------------------

    def write(self, kind: str, number: int, chunks: Iterable[bytes]) -> dict[str, Any]:
        """Write a file; what a manifest says of it. An OSError leaves nothing behind."""
        name = f"{kind}-{number:06}.bin"
        size, checksum = self._write(name, chunks)
        return {"name": name, "kind": kind, "bytes": size, "crc32": checksum}

    def commit(self, manifest: dict[str, Any]) -> None:
        """Make it the latest checkpoint, and remove what the two latest do not need."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "quorate": version("quorate"),
            "byte_order": sys.byteorder,
            **manifest,
        }
        document["checksum"] = _checksum(document)
        os.fsync(self._place)  # the files that it names come first
        self._write(_manifest(manifest["number"]), [json.dumps(document, indent=1).encode()])
        os.fsync(self._place)
        self._prune(manifest)

    def drop_unfinished(self) -> None:
        """Remove what was written for a checkpoint that could not be completed: it may be what fills the disk."""
        with suppress(OSError):
            number = self.next_number() - 1
            if _manifest(number) not in os.listdir(self._place):
                for kind in KINDS:
                    self._remove(f"{kind}-{number:06}.bin")

    def _write(self, name: str, chunks: Iterable[bytes]) -> tuple[int, int]:
        part = name + ".part"
        size = checksum = 0
        try:
            with open(part, "wb", opener=self._opened) as file:
                for chunk in chunks:
                    file.write(chunk)
                    checksum = crc32(chunk, checksum)
                    size += len(chunk)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, name, src_dir_fd=self._place, dst_dir_fd=self._place)
        except BaseException:
            self._remove(part)
            raise
        return size, checksum

    def _prune(self, latest: Mapping[str, Any]) -> None:
        numbers = sorted(self._numbers())[-2:]
        needed = {"lock", *map(_manifest, numbers), *(each["name"] for each in latest["files"])}
        for number in numbers[:-1]:
            try:
                needed |= {each["name"] for each in self._whole_manifest(number)}
            except (OSError, ValueError, KeyError, TypeError):
                continue
        for name in os.listdir(self._place):
            if name not in needed and (_MANIFEST.fullmatch(name) or _PART.fullmatch(name)):
                self._remove(name)

    def _whole_manifest(self, number: int) -> list[dict[str, Any]]:
        with open(_manifest(number), encoding="utf-8", opener=self._opened) as file:
            files: list[dict[str, Any]] = json.load(file)["files"]
            return files

    def _numbers(self) -> list[int]:
        return [int(match[1]) for match in map(_MANIFEST.fullmatch, os.listdir(self._place)) if match]


def _manifest(number: int) -> str:
    return f"checkpoint-{number:06}.json"


def _checksum(document: Mapping[str, Any]) -> str:
    return blake2b(json.dumps(document, sort_keys=True).encode(), digest_size=16).hexdigest()
