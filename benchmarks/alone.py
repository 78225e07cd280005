"""Quorate alone: throughput and memory without reductions, and how long it takes to start."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.experiment import PLAIN, Limits, Measured
from benchmarks.probe import measure
from benchmarks.results import Section, figure
from benchmarks.runner import Say

TABLES = {
    "throughput": """\
## Throughput and memory

Paxos with 2 proposers, 5 acceptors and a learner: all reductions off, breadth-first, exact. Each figure is the median
of runs in fresh processes, one kind after the other in turn. Memory is the growth of resident memory, from before the
check to its highest point, over the number of states: states, index, queue, tables and all. No parents are stored: a
counterexample is found backwards through the levels of the search, so memory is the same with and without them.""",
    "start-up": """\
## Start-up

From the shell to the end of the command, with files in the page cache.""",
}

LARGE = {"proposers": 2, "acceptors": 5}


def throughput(quick: bool, say: Say) -> Section:
    one: list[Measured] = []
    two: list[Measured] = []
    untraced: list[Measured] = []
    repeat = 1 if quick else 7  # the mood changes from run to run
    for number in range(repeat):  # in turn, so that all three meet the machine in the same mood
        say(f"throughput {number + 1} of {repeat}: one thread, two, one without counterexamples")
        one.append(_run({}))
        two.append(_run({"threads": 2}))
        untraced.append(_run({"trace": False}))
    share = min(each.core_seconds / each.seconds for each in one)
    notes = [f"The machine was busy: single-threaded runs had {share:.0%} of a core."] if share < 0.95 else []
    # CPU time: what a quiet machine would need, where this one is busy.
    alone = [each.states_per_second for each in one]
    waiting = [each.states_per_second * each.core_seconds / each.seconds for each in one]
    figures = (
        figure("states per second, one thread", "states/s", waiting, goal=5e6),
        figure("states per second of a core, one thread", "states/s", alone, note="CPU time instead of wall time"),
        figure("states per second, two threads", "states/s", [each.states_per_second for each in two]),
        figure(
            "two threads over one",
            "x",
            [both.states_per_second / single for both, single in zip(two, waiting, strict=True)],
            goal=1.8,
        ),
        figure(
            "bytes per state, counterexamples available",
            "bytes",
            [each.bytes_per_state for each in one],
            better="lower",
            goal=14,
        ),
        figure("bytes per state, two threads", "bytes", [each.bytes_per_state for each in two], better="lower"),
        figure(
            "bytes per state, no counterexamples", "bytes", [each.bytes_per_state for each in untraced], better="lower"
        ),
    )
    return Section("throughput", figures=figures, notes=tuple(notes))


def _run(options: Mapping[str, Any]) -> Measured:
    found = measure("paxos", LARGE, {**PLAIN, "search": "bfs", **options}, Limits(repeat=1))
    if found.status != "holds":
        raise RuntimeError(f"Paxos {LARGE} with {options}: {found.status}, {found.note}")
    return found


def startup(quick: bool, say: Say) -> Section:
    quorate = str(Path(sys.executable).with_name("quorate"))
    commands = {"quorate check paxos": ([quorate, "check", "paxos"], 0.5), "quorate --help": ([quorate, "--help"], 0.3)}
    figures = []
    for name, (command, goal) in commands.items():
        say(f"start-up: {name}")
        _seconds(command)  # not counted: it may have to read files from disk
        seconds = [_seconds(command) for _ in range(3 if quick else 5)]
        figures.append(figure(name, "s", seconds, better="lower", goal=goal))
    return Section("start-up", figures=tuple(figures))


def _seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin
