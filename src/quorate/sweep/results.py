"""A file of results, one a line, that a sweep adds to as it goes and need not compute again.

A result counts only for the same instance, the same options and the same model: its source is part of the key.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from quorate.base.errors import TargetError
from quorate.language.system import System

# Options that change how long a check takes, but never its answer.
_INDIFFERENT = ("threads", "progress")


class Results:
    """What is known already, by parameters."""

    def __init__(self, path: Path | None, system: type[System], options: dict[str, Any]) -> None:
        self._path = path
        self._fingerprint = fingerprint(system, options)
        self._known: dict[str, dict[str, Any]] = {}
        self.trouble: TargetError | None = None
        """Why results are no longer kept. They are still shown: said at the end, this loses nothing."""
        if path is None:
            return
        try:
            with open(path, "a+", encoding="utf-8", errors="replace") as file:
                file.seek(0)
                line = "\n"
                for line in file:
                    self._read(line)
                if not line.endswith("\n"):  # it was being written when everything ended
                    file.write("\n")
        except OSError as error:
            raise TargetError(f"cannot use {path}: {error.strerror}", code="Q310") from None

    def _read(self, line: str) -> None:
        try:
            entry = json.loads(line)
            if entry["fingerprint"] == self._fingerprint:
                self._known[_key(entry["parameters"])] = entry["row"]
        except (ValueError, KeyError, TypeError):
            return  # a line that was being written when everything ended

    def get(self, parameters: dict[str, Any]) -> dict[str, Any] | None:
        return self._known.get(_key(parameters))

    def add(self, parameters: dict[str, Any], row: dict[str, Any]) -> None:
        """Keep a result; written at once, so that it survives whatever comes."""
        if self._path is None or self.trouble is not None:
            return
        entry = {"fingerprint": self._fingerprint, "parameters": parameters, "row": row}
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        except OSError as error:
            self.trouble = TargetError(
                f"cannot write {self._path}: {error.strerror}",
                hint="the results above are complete, but the same command would check some of them again",
                code="Q310",
            )


def fingerprint(system: type[System], options: dict[str, Any]) -> str:
    """A digest of all that an answer depends on: this version, the model's source, the options."""
    from importlib.metadata import version

    asked = {name: value for name, value in options.items() if name not in _INDIFFERENT}
    digest = hashlib.sha256(json.dumps([version("quorate"), system.__qualname__, asked], sort_keys=True).encode())
    for file in _sources(system):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:24]


def _sources(system: type[System]) -> list[str]:
    """The files of the classes it is derived from, and what lies beside a model of the user's and was imported."""
    modules = {cls.__module__ for cls in system.__mro__ if cls.__module__.split(".")[0] != "builtins"}
    files = {_file(name) for name in modules}
    own = _file(system.__module__)
    if own and not system.__module__.startswith("quorate."):
        files |= {file for name in list(sys.modules) if (file := _file(name)) and _beside(file, own)}
    return sorted(file for file in files if file)


def _file(module: str) -> str:
    file = getattr(sys.modules.get(module), "__file__", None)
    return file if file and file.endswith(".py") and os.path.isfile(file) else ""


def _beside(file: str, own: str) -> bool:
    return os.path.dirname(os.path.abspath(file)) == os.path.dirname(os.path.abspath(own))


def _key(parameters: dict[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True)
