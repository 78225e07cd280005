"""The instructions that the core executes on small instances, compared with the committed figures.

`python -m benchmarks.instructions` fails where the core needs over 10% more than `instructions.json` says; with
`--accept` it writes what it counted there. Instructions are counted by callgrind, so a busy machine does not matter,
and only those of the core's own object, so neither does the version of Python. They do depend on the compiler: where it
is another one than the figures are from, they are shown but not judged.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.experiment import ALL, DEFAULT, PLAIN
from benchmarks.peers.packages import obstacle
from benchmarks.peers.process import PeerError, build

COMMITTED = Path(__file__).parent / "instructions.json"
TOGGLE = Path(__file__).with_name("toggle.c")
ROOT = Path(__file__).parent.parent
TOLERANCE = 0.10

# Small, but large enough for the search to outweigh the set-up. All single-threaded, so that they are deterministic.
CASES: dict[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "breadth-first, plain": ("paxos", {"acceptors": 4}, PLAIN),
    "breadth-first, reduced": ("paxos", {"acceptors": 5}, {"symmetry": "none"}),
    "depth-first, plain": ("paxos", {"acceptors": 4}, {**PLAIN, "search": "dfs"}),
    "breadth-first, partial orders": ("paxos", {"acceptors": 4}, {"symmetry": "none", "por": "lpor-net"}),
    "partial orders, many sets of messages": ("paxos", {"acceptors": 8}, ALL),
    "breadth-first, symmetry": ("paxos", {"acceptors": 5}, DEFAULT),
    "breadth-first, monitor": ("regular-storage", {"readers": 2}, PLAIN),
    "counterexample": ("faulty-paxos", {"proposers": 3}, PLAIN),
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__.partition("\n")[0])
    parser.add_argument("--accept", action="store_true", help="write what is counted to instructions.json")
    parser.add_argument("--run", metavar="LIBRARY", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        _run(options.run)
        return 0
    if missing := obstacle("valgrind", "cc"):
        print(f"NOT TESTED: the core's instruction counts. {missing}.")
        return 0
    counted = count()
    if options.accept:
        figures = {"compiler": compiler(), "instructions": counted}
        COMMITTED.write_text(json.dumps(figures, indent=1) + "\n")
        print(f"Wrote {COMMITTED.relative_to(ROOT)}")
        return 0
    committed = json.loads(COMMITTED.read_text())
    lines, worse = compare(committed["instructions"], counted)
    print("\n".join(lines))
    if committed["compiler"] != compiler():
        print(
            f"NOT TESTED: the core's instruction counts. They are from {committed['compiler']}, this is {compiler()}."
        )
        return 0
    if worse:
        print(f"The core executes over {TOLERANCE:.0%} more instructions. If it must: make accept-instructions")
    return 1 if worse else 0


def compare(committed: Mapping[str, int], counted: Mapping[str, int]) -> tuple[list[str], bool]:
    """A line for each case, and whether one of them needs more than it may."""
    lines, worse = [], False
    for name, number in counted.items():
        before = committed.get(name)
        if before is None:
            lines.append(f"{name:32} {number:15,}  new")
            worse = True
            continue
        change = number / before - 1
        more, fewer = number > before * (1 + TOLERANCE), number < before * (1 - TOLERANCE)
        verdict = "more than it may" if more else "fewer: worth accepting" if fewer else ""
        lines.append(f"{name:32} {number:15,}  {change:+.1%}  {verdict}".rstrip())
        worse |= more
    return lines, worse


def compiler() -> str:
    """What the figures depend on: compiler and processor."""
    try:
        version = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        version = "an unknown compiler"
    return f"{version.partition(chr(10))[0]}, {platform.machine()}"


def count() -> dict[str, int]:
    """Check every case under callgrind, in one process that is only counted while it checks."""
    with tempfile.TemporaryDirectory(prefix="quorate-instructions-") as name:
        place = Path(name)
        library = place / "toggle.so"
        build(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(TOGGLE)], place)
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={place}/out"]
        done = subprocess.run(
            [*valgrind, sys.executable, "-m", "benchmarks.instructions", "--run", str(library)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise PeerError(f"callgrind failed:\n{done.stdout}{done.stderr}")
        profiles = [path.read_text() for path in place.glob("out*")]
    counted = {}
    for text in profiles:
        named = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
        if named:
            counted[named[1]] = of_the_core(text)
    return {name: counted[name] for name in CASES}


def of_the_core(profile: str) -> int:
    """The instructions in a profile that belong to the core's own object, without what it calls.

    A line of costs is a position and a number. The line after `calls=` has the costs of what is called, which are
    listed there again.
    """
    names: dict[str, str] = {}
    inside, called, total = False, False, 0
    for line in profile.splitlines():
        if line.startswith("ob="):
            # "(number) name" the first time, "(number)" from then on.
            number, _, name = line[3:].partition(" ")
            names.setdefault(number, name)
            inside = "/_core." in names[number]
        elif line.startswith("cob="):
            number, _, name = line[4:].partition(" ")
            names.setdefault(number, name)
        elif line.startswith("calls="):
            called = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            costs = line.split()[1:]  # none where they are zero
            if inside and not called and costs:
                total += int(costs[0])
            called = False
    return total


def _run(library: str) -> None:
    """In the process under callgrind."""
    from quorate import check
    from quorate.model.target import load

    toggle = ctypes.CDLL(library)
    for name, (target, parameters, options) in CASES.items():
        system = load(target)(**parameters)
        toggle.start()
        check(system, **options)
        toggle.stop(name.encode())


if __name__ == "__main__":
    sys.exit(main())
