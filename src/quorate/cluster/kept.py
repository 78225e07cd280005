"""What workers keep in a directory that all of them reach, so that a search goes on when one of them is lost.

At the end of a level every worker writes those of its states that are new since it last did, as it would send them to
another one: packed states, and what their numbers mean. Nothing in these files is executed when it is read. A file is
written beside, and renamed when it is complete. Where the search stands the leader knows; so what is kept serves the
run that wrote it, and goes when that ends.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from quorate.cluster.errors import KeptError
from quorate.cluster.worker import Parcel, Told

if TYPE_CHECKING:
    from quorate.cluster.backend import Level
    from quorate.cluster.crew import Crew

OF_WORKERS = "workers-"
"""How the names of directories begin in which states are kept."""

_MAGIC = b"quorate share 1\n"
_HEAD = struct.Struct("<QQQQ")
_TOLD = struct.Struct("<IIQ")


class Kept:
    """Where the workers of one check keep their states."""

    def __init__(self, directory: str, every: float) -> None:
        self.every = every
        """Seconds that pass at least between two times."""
        self._within = directory
        self._directory: Path | None = None
        self._last: Level | None = None
        self._saved = -1.0
        self.trouble: list[str] = []
        """What went wrong, in words for the user."""
        self._is_full = False

    def begin(self) -> None:
        """Another search: what the one before has kept is of no use to it."""
        self.end()
        try:
            os.makedirs(self._within, exist_ok=True)
            self._directory = Path(tempfile.mkdtemp(prefix=OF_WORKERS, dir=self._within)).absolute()
        except OSError as error:
            raise KeptError(
                f"checkpoint={self._within}: {error.strerror}", hint="give a directory that can be written"
            ) from None
        self._last = None
        self._saved = time.monotonic()
        self._is_full = False

    def end(self) -> None:
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None

    def save(self, crew: Crew, level: Level) -> None:
        """At the end of a level: what is new since the last time, if that is long ago.

        Where that fails, the search goes on with what was kept before. It is not tried again before all workers begin
        anew: what a state's numbers mean is written once, and may be in the file that was not.
        """
        if self._is_full or time.monotonic() - self._saved < self.every:
            return
        first = 0 if self._last is None else self._last.number + 1
        try:
            crew.each("save", str(self._directory), list(range(first, level.number + 1)))
        except KeptError as error:
            self._is_full = True
            last = "nothing" if self._last is None else f"what was found up to depth {self._last.number}"
            self.trouble.append(f"a checkpoint of the workers could not be written, {error.message}; {last} is kept")
            return
        self._last = deepcopy(level)
        self._saved = time.monotonic()

    @property
    def has_some(self) -> bool:
        return self._last is not None

    @property
    def level(self) -> int:
        """That a search would go on with."""
        return -1 if self._last is None else self._last.number

    def load(self, crew: Crew) -> Level:
        """Have the workers take back what was kept last."""
        assert self._last is not None
        self._is_full = False
        level = deepcopy(self._last)
        level.before(crew.each("load", str(self._directory), level.number, level.shares))
        return level


def _path(directory: str, worker: int, level: int) -> Path:
    return Path(directory) / f"worker-{worker:04}-level-{level:06}"


def write(directory: str, worker: int, level: int, parcels: list[Parcel]) -> None:
    """A file that is there in whole or not at all."""
    path = _path(directory, worker, level)
    beside = path.with_name(path.name + ".part")
    hashed = blake2b(digest_size=16)
    try:
        with open(beside, "wb") as file:
            for piece in _pieces(parcels):
                hashed.update(piece)
                file.write(piece)
            file.write(hashed.digest())
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)  # there may be no room for anything else
        raise KeptError(
            f"{path}: {error.strerror}", hint="checkpoint= needs a directory that every worker can write to"
        ) from None


def _pieces(parcels: list[Parcel]) -> Iterator[bytes]:
    yield _MAGIC
    for parcel in parcels:
        yield _HEAD.pack(parcel.depth, len(parcel.locals), len(parcel.messages), len(parcel.states))
        for column, number, value in (*parcel.locals, *parcel.messages):
            yield _TOLD.pack(column, number, len(value))
            yield value
        yield parcel.states


def read(directory: str, worker: int, level: int) -> Iterator[Parcel]:
    path = _path(directory, worker, level)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise KeptError(
            f"{path}: {error.strerror}", hint="can every worker read the directory of checkpoint=?"
        ) from None
    body, digest = content[:-16], content[-16:]
    if not body.startswith(_MAGIC) or blake2b(body, digest_size=16).digest() != digest:
        raise KeptError(f"{path} is damaged", hint="the search has to begin again")
    at = len(_MAGIC)
    while at < len(body):
        depth, locals, messages, size = _HEAD.unpack_from(body, at)
        at += _HEAD.size
        told: list[Told] = []
        for _ in range(locals + messages):
            column, number, length = _TOLD.unpack_from(body, at)
            at += _TOLD.size + length
            told.append((column, number, body[at - length : at]))
        at += size
        yield Parcel(depth, body[at - size : at], told[:locals], told[locals:], 0)
