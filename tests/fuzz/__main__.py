"""`python -m fuzz --minutes 10`: draw, check, compare; say what was drawn and what was found.

A finding is made small and written to a file that `quorate check` runs. Findings that look alike when they are small,
by what went wrong and which options it takes, are one kind; only a few of a kind are made small at all.
"""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import sys
import time
from pathlib import Path
from typing import Any

from .figures import Figures
from .varied import FIRST
from .worker import Report, work


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="the first of the numbers that cases are drawn from")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=Path("findings"), help="where to write what was found")
    parser.add_argument("--only", type=int, help="just the case of this number")
    given = parser.parse_args()
    end = time.monotonic() + given.minutes * 60
    context = multiprocessing.get_context("spawn")
    reports: Any = context.Queue()
    kinds: Any = context.Manager().dict()
    # One in four gets a turn on top (varied.py).
    numbers = iter(number + FIRST * (number % 4 == 3) for number in range(given.seed, FIRST))
    figures = Figures()
    started = shown = time.monotonic()
    if given.only is not None:
        work([given.only], reports, kinds, given.findings, end)
        figures.add(reports.get())
    else:
        running: list[Any] = []
        try:
            while time.monotonic() < end or running or not reports.empty():
                running = [each for each in running if each.is_alive()]
                while len(running) < given.jobs and time.monotonic() < end:
                    batch = [next(numbers) for _ in range(BATCH)]
                    running.append(context.Process(target=work, args=(batch, reports, kinds, given.findings, end)))
                    running[-1].start()
                try:
                    report: Report = reports.get(timeout=0.5)
                    figures.add(report)
                except queue.Empty:
                    pass
                if time.monotonic() - shown > 5:
                    shown = time.monotonic()
                    print(figures.line(shown - started), file=sys.stderr, flush=True)
        except KeyboardInterrupt:  # what was found so far is told all the same
            for each in running:
                each.terminate()
    print(figures.summary(time.monotonic() - started))
    return 1 if figures.findings else 0


# Quorate keeps what it knows of classes for as long as it runs, so a process does not live long.
BATCH = 1500

if __name__ == "__main__":
    sys.exit(main())
