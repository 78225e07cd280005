"""Switches off every soundness rule, one at a time, and looks how long the generator takes to notice.

    python tests/fuzz/mutate.py                      all that are not decided yet, ten minutes of the generator at most
    python tests/fuzz/mutate.py --minutes 1 por-room  one of them, again
    python tests/fuzz/mutate.py --group symmetry
    python tests/fuzz/mutate.py --table              only write docs/mutants.md again

Results are kept as they come, in tests/fuzz/mutants.json; what is there is not done again unless it is named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # run as a command
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.mutant_build import PACKAGE, PLACE, ROOT, build
from fuzz.mutant_table import DATA, KEPT, write_table
from fuzz.mutant_tests import failing
from fuzz.mutations import FOCUS, RULES
from fuzz.mutations.reasons import IMPLIED, NEVER_DRAWN
from fuzz.mutations.rule import Rule

Known = dict[str, dict[str, Any]]


def load() -> Known:
    return json.loads(DATA.read_text()) if DATA.exists() else {}


def keep(known: Known) -> None:
    """Several may be at work: what another has found stays found."""
    for name, other in load().items():
        if other["found"] and not known.get(name, {}).get("found"):
            known[name] = other
        if "test" in other:
            known.setdefault(name, other)["test"] = other["test"]
    ordered = {rule.id: known[rule.id] for rule in RULES if rule.id in known}
    fresh = DATA.with_suffix(".new")
    fresh.write_text(json.dumps(ordered, indent=1) + "\n")
    fresh.replace(DATA)


def hunt(wanted: Sequence[Rule], known: Known, focus: str, seed: int, stride: int, seconds: float, wall: float) -> None:
    """Run the generator against these mutants, and start it again where one of them has ended it."""
    numbers = {RULES.index(rule) + 1: rule.id for rule in wanted}
    current = PLACE / f"current-{os.getpid()}"
    protocols, spent = 0, 0.0
    touched = dict.fromkeys(numbers, 0)
    while numbers and spent < seconds:
        told: dict[str, Any] = {}
        how, ended = "", False
        for said in _run(sorted(numbers), focus, seed, stride, seconds - spent, wall, current):
            if "progress" in said:
                told = said
            elif "ended" in said:
                ended = True
            elif "kind" in said:
                name = numbers.pop(said["mutant"])
                said["protocols"] += protocols
                said["seconds"] = round(said["seconds"] + spent, 2)
                known[name] = {"found": True, "focus": focus, **{key: said[key] for key in KEPT}}
                keep(known)
                print(f"{name}: {said['kind']} after {said['protocols']} protocols, {said['seconds']} s", flush=True)
            elif "how" in said:
                how = said["how"]
            elif "odd" in said:
                print(f"{numbers.get(said['mutant'])}: {said['odd']} (seed {said['seed']})", flush=True)
        for number, times in told.get("touched", {}).items():
            if int(number) in touched:
                touched[int(number)] += times
        at, mutant, more, took = current.read_text().split()[:4]
        protocols += int(more)
        spent += float(took)
        if ended:
            break
        seed = int(at) + stride
        if int(mutant) in numbers:
            name = numbers.pop(int(mutant))
            known[name] = {"found": True, "focus": focus, "kind": how, "seed": int(at), "text": "", "options": {}}
            known[name] |= {"thresholds": {}, "protocols": protocols, "seconds": round(spent, 2)}
            keep(known)
            print(f"{name}: {how} after {protocols} protocols, {spent:.2f} s", flush=True)
        else:
            print(f"seed {at} ended the generator without a mutant", flush=True)
    current.unlink(missing_ok=True)
    for number, name in numbers.items():
        before = known.get(name) or {"found": False, "protocols": 0, "seconds": 0.0, "touched": 0}
        if not before["found"]:
            before["protocols"] += protocols
            before["seconds"] = round(before["seconds"] + spent, 2)
            before["touched"] += touched[number]
            known[name] = before
    keep(known)


def ask_tests(wanted: Sequence[Rule]) -> None:
    for rule in wanted:
        if "test" in load().get(rule.id, {}):
            continue
        test = failing(rule, RULES.index(rule) + 1)
        known = load()
        known.setdefault(rule.id, {"found": False, "protocols": 0, "seconds": 0.0, "touched": 0})["test"] = test
        keep(known)
        print(f"{rule.id}: {test or 'no test'}", flush=True)


def _run(
    numbers: list[int], focus: str, seed: int, stride: int, seconds: float, wall: float, current: Path
) -> Iterator[dict[str, Any]]:
    environment = dict(os.environ, PYTHONPATH=f"{PACKAGE}:{ROOT / 'tests'}", PYTHONHASHSEED="0")
    environment.pop("QUORATE_MUTANT", None)
    command = [str(ROOT / ".venv" / "bin" / "python"), "-m", "fuzz.hunt", "--mutants", ",".join(map(str, numbers))]
    command += ["--seed", str(seed), "--stride", str(stride), "--seconds", str(seconds), "--wall", str(wall)]
    command += ["--current", str(current), "--focus", focus]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
        yield {"how": "crash" if process.wait() < 0 else "hang"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="*", help="names of rules; all that are not found yet if none is given")
    parser.add_argument("--group", action="append", default=[])
    parser.add_argument("--minutes", type=float, default=10.0, help="of the generator, for each mutant")
    parser.add_argument("--wall", type=float, default=1e9, help="seconds after which to stop in any case")
    parser.add_argument("--focus", action="store_true", help="draw what concerns the rules of each group more often")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--tests", action="store_true", help="which tests miss the rules that the generator does not")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--build", action="store_true", help="only build")
    given = parser.parse_args()
    known = load()
    unknown = set(given.rules) - {rule.id for rule in RULES}
    if unknown:
        raise SystemExit(f"no such rule: {', '.join(sorted(unknown))}")
    if not given.table:
        build(RULES)
    if not given.table and not given.build:
        wanted = [rule for rule in RULES if rule.id in given.rules or rule.group in given.group]
        if given.rules:
            for rule in wanted:
                known.pop(rule.id, None)
        elif not given.group:
            wanted = [rule for rule in RULES if rule.id not in IMPLIED and rule.id not in NEVER_DRAWN]
        wanted = [rule for rule in wanted if not known.get(rule.id, {}).get("found")]
        if given.tests:
            ask_tests(wanted)
            wanted = []
        for focus in dict.fromkeys(FOCUS.get(rule.group, "") if given.focus else "" for rule in wanted):
            mine = [rule for rule in wanted if not given.focus or FOCUS.get(rule.group, "") == focus]
            hunt(mine, known, focus, given.seed, given.stride, given.minutes * 60, given.wall)
            known = load()  # another one may have been at work
    write_table(known, RULES)


if __name__ == "__main__":
    main()
