"""Runs commands, each in a fork of one warm process, and interrupts each in the function that it is told.

A line on standard input is a case: the words of the command, the folder to run in, the signal, and the functions,
`module:name`, at whose call it is sent, one after the other. A line on standard output is what became of it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from quorate.base import echo
from quorate.cli import interrupts

# All that commands import when they need it, so that forks start in milliseconds.
WARM = """
cli.main explore.server search.check search.factors search.plan sweep.worker render.chart.write render.chart.svg
render.exports.write render.exports.regression render.html.document render.report
"""

PATIENCE = 60.0


def main() -> None:
    for module in WARM.split():
        import_module(f"quorate.{module}")
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps(outcome(**case)), flush=True)


def outcome(words: list[str], folder: str, name: str, places: list[str]) -> dict[str, Any]:
    beside = Path(folder)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for number, file in enumerate(("in", "out", "err")):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open("/dev/null" if number == 0 else file, flags), number)
        sys.argv = ["quorate", *words]
        interrupt_at(list(places), getattr(signal, name))
        try:
            from quorate.cli.start import run

            interrupts.begin()  # this process may have imported it before
            run()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0
            sys.stdout.flush()
            os._exit(status)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(99)
        os._exit(0)
    status = waited(child)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "out": (beside / "out").read_text(),
        "err": (beside / "err").read_text(),
    }


def waited(child: int) -> int:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def interrupt_at(places: list[str], number: int) -> None:
    wanted = [place.split(":") for place in places]

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_qualname == wanted[0][1]:
            if frame.f_globals.get("__name__") != wanted[0][0]:
                return
            if len(wanted) < len(places):
                time.sleep(1.2 * echo.SECONDS)  # two at once would be one
            wanted.pop(0)
            if not wanted:
                sys.setprofile(None)
            os.write(2, b"(interrupted here)\n")
            os.kill(os.getpid(), number)

    if wanted:
        sys.setprofile(look)


if __name__ == "__main__":
    main()
