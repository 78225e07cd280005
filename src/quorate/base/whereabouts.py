"""Which line of the model another process is in, also where that never comes back to Python: `faulthandler` tells.

It needs no interpreter, only a signal. The process that is asked writes its traceback to a pipe.
"""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress

from quorate.base.errors import is_own_file
from quorate.base.watchdog import Running

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


def shown_on(pipe: int) -> None:
    """Let this process be asked; it answers on that pipe, and also where it crashes."""
    import faulthandler

    faulthandler.register(_signal(), file=pipe, all_threads=False)
    faulthandler.enable(file=pipe, all_threads=False)


def where(process: int, pipe: int) -> Running | None:
    """Which line of the model a process is in. The end of the pipe that is read must not block."""
    with suppress(BlockingIOError):
        os.read(pipe, 1 << 16)
    with suppress(ProcessLookupError):
        os.kill(process, _signal())
    text = b""
    until = time.monotonic() + 1
    while time.monotonic() < until:  # it comes in pieces, word by word
        try:
            text += os.read(pipe, 1 << 16)
        except BlockingIOError:
            time.sleep(0.01)
        if b" in supervised\n" in text:
            break
    return running_in(text.decode("ascii", "replace"))


def crashed_in(pipe: int) -> Running | None:
    """The line of the model that a process was in when it crashed, if its C code did."""
    with suppress(BlockingIOError):
        _, fatal, dump = os.read(pipe, 1 << 20).decode("ascii", "replace").rpartition("Fatal Python error")
        last = _FRAME.search(dump)
        return running_in(dump) if fatal and last is not None and not is_own_file(last[1]) else None
    return None


def running_in(dump: str) -> Running | None:
    """The line of the model in a traceback of `faulthandler`, innermost first; None if it was not the model's turn."""
    from quorate.base import watchdog
    from quorate.base.errors import is_model_file

    found: list[tuple[str, int, str]] = []
    for file, line, name in (match.groups() for match in map(_FRAME.match, dump.splitlines()) if match):
        if name == "supervised" and file == watchdog.__file__:
            return Running(found[-1][2], *found[0][:2]) if found else None
        file = file.encode().decode("unicode_escape")
        if is_model_file(file):
            found.append((file, int(line), name))
    return None


def _signal() -> int:
    # One that hardly anybody else uses, where there are such ones.
    return signal.SIGRTMIN + 11 if hasattr(signal, "SIGRTMIN") else signal.SIGUSR2
