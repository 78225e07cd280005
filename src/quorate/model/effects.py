"""What model code does to the world outside: files that it writes, programs that it starts, connections that it makes.

All of that could be read again, and no copy of the process has a world of its own. Python tells of it by its audit
events, which are listened to where a model has to do with more than Python's own values. Reading is no effect.
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

from quorate.base import watchdog
from quorate.base.errors import Location, ModelError, is_model_file

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = frozenset((
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod",
    "os.chown", "os.utime", "os.putenv", "os.unsetenv", "os.system", "os.posix_spawn", "os.spawn", "os.exec",
    "os.fork", "os.forkpty", "os.chdir", "subprocess.Popen", "socket.connect", "socket.bind", "socket.sendto",
    "socket.sendmsg", "sqlite3.connect", "fcntl.flock", "fcntl.lockf",
))  # fmt: skip
_LOGGING = os.path.join(os.path.dirname(os.__file__), "logging", "")


class _Seen:
    listening = False
    first: tuple[str, Location] | None = None
    """The first effect since the last look, in words, and its line."""


def listen() -> None:
    """From now on; a listener cannot be removed, so there is one."""
    _Seen.first = None
    if not _Seen.listening:
        _Seen.listening = True
        sys.addaudithook(_hear)


def require_none() -> None:
    """Raise if model code had an effect since `listen`."""
    if _Seen.first is None:
        return
    (words, location), _Seen.first = _Seen.first, None
    raise ModelError(
        f"the model {words}: what it leaves there is outside of its fields",
        hint="a handler is run any number of times, in any order: it changes fields, sends and emits; "
        "use print or logging to look into it",
        code="Q104",
        location=location,
    )


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        if not isinstance(arguments[2], int) or not arguments[2] & _WRITING or arguments[0] == os.devnull:
            return
    elif event not in _EVENTS:
        return
    if _Seen.first is None:
        location = _of_model(sys._getframe(1))
        if location is not None:
            what = f"opens {arguments[0]!r} to write" if event == "open" else f"calls {event}"
            _Seen.first = what, location


def _of_model(frame: FrameType | None) -> Location | None:
    """The line of the model that is at fault, if it is evaluated at all; imports and logging write as they like."""
    found: Location | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(("<frozen importlib", _LOGGING)):
            return None
        if file == watchdog.__file__ and frame.f_code.co_name == "supervised":
            return found
        if found is None and is_model_file(file):
            found = Location(file, frame.f_lineno)
        frame = frame.f_back
    return None
