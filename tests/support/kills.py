"""Checks that are killed at random moments, and go on: what comes of them in the end.

A child does the check and is killed with SIGKILL, so that nothing of it gets to clean up. Then the next child goes on.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from quorate import check, resume
from quorate.model.target import load
from quorate.results.result import Result

MACHINE = [
    "seconds",
    "setup_seconds",
    "setup",
    "peak_memory_bytes",
    "bytes_per_state",
    "repeated_calls",
    "python_calls",
    "threads",
    "checkpoint",
    "target",
]
"""What depends on the machine, or on how often a check was stopped."""


def facts(result: Result) -> dict[str, Any]:
    """What must not depend on whether a check was stopped."""
    document = result.to_json()
    return {name: value for name, value in document.items() if name not in MACHINE}


class Killed(NamedTuple):
    times: int
    """How often a process was killed before it had come to its end."""
    went_on: int
    """How often a process went on from a checkpoint with states in it, to be killed again or to the end."""
    answers: int
    """How many came to their end, and were compared."""


def killed(
    target: str,
    options: Mapping[str, Any],
    folder: Path,
    times: int,
    seed: int,
    every: float = 0.002,
) -> Killed:
    """Kill a check so many times, starting over where it came to its end; AssertionError if an answer differs."""
    system = load(target)
    undisturbed = check(system, **options)
    whole, longest = facts(undisturbed), 0.1 + 2 * (undisturbed.setup_seconds + undisturbed.seconds)
    drawn = random.Random(seed)
    done = went_on = number = 0
    place = folder / "0"
    while done < times:
        threads = drawn.choice((1, 2, 3))
        begins = not list(place.glob("checkpoint-*.json"))
        if begins:
            shutil.rmtree(place, ignore_errors=True)
        went_on += saved_states(place) > 0
        child = os.fork()
        if child == 0:
            try:
                if begins:
                    check(system, **options, checkpoint=place, checkpoint_every=every, threads=threads)
                else:
                    resume(place, system, checkpoint_every=every, threads=threads)
                os._exit(0)
            except BaseException as error:
                print(f"{target}: {error}", file=sys.stderr, flush=True)
                os._exit(1)
        time.sleep(drawn.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, how = os.waitpid(child, 0)
        if os.WIFSIGNALED(how):
            done += 1
        else:
            assert os.WEXITSTATUS(how) == 0, f"{target} {dict(options)}: a run that goes on has failed"
            assert facts(resume(place, system)) == whole
            number += 1
            place = folder / str(number)
    if list(place.glob("checkpoint-*.json")):
        went_on += saved_states(place) > 0
        assert facts(resume(place, system)) == whole
        number += 1
    return Killed(done, went_on, number)


def saved_states(place: Path) -> int:
    """In the last checkpoint."""
    manifests = sorted(place.glob("checkpoint-*.json"))
    search = json.loads(manifests[-1].read_text())["search"] if manifests else None
    return search["states"] if search else 0
