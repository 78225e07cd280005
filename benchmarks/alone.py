"""Quorate alone: throughput and memory without reductions, start-up, and what the reductions are worth."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.probe import Instance, Measured, probe
from benchmarks.results import Row, Section, row

Say = Callable[[str], None]

LARGE = Instance(2, 5)

# Plain, and with quotient and dead messages. What a design sketch counted, and the plain ones Spin counts too.
COUNTS = {Instance(2, 3): (8_649, 1_005), Instance(3, 3): (804_357, 23_921), LARGE: (8_485_569, 39_477)}


def throughput(quick: bool, say: Say) -> Section:
    one: list[Measured] = []
    two: list[Measured] = []
    untraced: list[Measured] = []
    repeat = 1 if quick else 3
    for number in range(repeat):  # in turn, so that all three meet the machine in the same mood
        say(
            f"paxos {LARGE} without reductions: one thread, two, one without counterexamples ({number + 1} of {repeat})"
        )
        one.append(probe(LARGE, reductions=False))
        two.append(probe(LARGE, reductions=False, threads=2))
        untraced.append(probe(LARGE, reductions=False, trace=False))
    share = median(each.share_of_a_core for each in one)
    notes = [
        "No parents are stored: a counterexample is found backwards through the levels of the search. "
        "So memory is the same with and without them.",
    ]
    if share < 0.95:
        notes.append(f"The machine was busy: the single-threaded runs had {share:.0%} of a core.")
    rows = (
        row("states per second, one thread", "states/s", [each.states_per_second for each in one], goal=3e6),
        row(
            "states per second of a core, one thread",
            "states/s",
            [each.states / each.core_seconds for each in one],
            note="CPU time: nearer to a quiet machine's figure where this one is busy",
        ),
        row("states per second, two threads", "states/s", [each.states_per_second for each in two]),
        row(
            "two threads over one",
            "x",
            [both.states_per_second / alone.states_per_second for both, alone in zip(two, one, strict=True)],
            goal=1.6,
        ),
        row(
            "CPU time of two threads over one",
            "x",
            [both.cpu_seconds / alone.cpu_seconds for both, alone in zip(two, one, strict=True)],
            better="lower",
            note="what the second thread costs; 1.25 would allow a speed-up of 1.6",
        ),
        row(
            "bytes per state, counterexamples available",
            "bytes",
            [each.bytes_per_state for each in one],
            better="lower",
            goal=32,
            note="growth of resident memory over states",
        ),
        row("bytes per state, two threads", "bytes", [each.bytes_per_state for each in two], better="lower"),
        row(
            "bytes per state, no counterexamples", "bytes", [each.bytes_per_state for each in untraced], better="lower"
        ),
    )
    return Section("throughput", rows, notes=tuple(notes))


def startup(quick: bool, say: Say) -> Section:
    quorate = str(Path(sys.executable).with_name("quorate"))
    commands = {"quorate check paxos": ([quorate, "check", "paxos"], 0.5), "quorate --help": ([quorate, "--help"], 0.3)}
    rows = []
    for name, (command, goal) in commands.items():
        say(name)
        _seconds(command)  # not counted: it may have to read files from disk
        seconds = [_seconds(command) for _ in range(3 if quick else 5)]
        rows.append(row(name, "s", seconds, better="lower", goal=goal, note="from the shell to its end, wall"))
    return Section("start-up", tuple(rows))


def _seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def reductions(quick: bool, say: Say) -> Section:
    rows: list[Row] = []
    seconds = ""
    fewer = 0.0
    for instance, expected in COUNTS.items():
        say(f"paxos {instance} without and with the default reductions")
        plain, reduced = (probe(instance, reductions=on) for on in (False, True))
        for how, measured, count in zip(("plain", "reduced"), (plain, reduced), expected, strict=True):
            rows.append(Row(f"{instance}, {how}", "states", measured.states, better="equal", goal=count))
        if instance == LARGE:
            fewer = plain.states / reduced.states
            seconds = f"{plain.wall_seconds:.2f} s without, {reduced.wall_seconds:.2f} s with them, analysis included"
    rows.insert(0, Row(f"times fewer states, {LARGE}", "x", fewer, goal=100, note=seconds))
    return Section("reductions", tuple(rows))
