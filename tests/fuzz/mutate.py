"""Switches off every soundness rule, one at a time, and looks how long the generator takes to notice.

    python tests/fuzz/mutate.py                      all that are not decided yet, ten minutes of the generator at most
    python tests/fuzz/mutate.py --minutes 1 por-room  one of them, again
    python tests/fuzz/mutate.py --group symmetry
    python tests/fuzz/mutate.py --together --focus   rules that others imply, each without those others as well
    python tests/fuzz/mutate.py --again              whether each protocol that showed a rule still shows it
    python tests/fuzz/mutate.py --table              only write docs/mutants.md again

Results are kept as they come, in tests/fuzz/mutants.json; what is there is not done again unless it is named.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

if not __package__:  # run as a command
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.mutant_build import PACKAGE, PLACE, ROOT, build
from fuzz.mutant_table import DATA, KEPT, write_table
from fuzz.mutant_tests import failing
from fuzz.mutations import RULES, focus_of
from fuzz.mutations.reasons import IMPLIED, REFUSED, TOGETHER
from fuzz.mutations.rule import Rule

Known = dict[str, dict[str, Any]]

SECONDS_AGAIN = 3.0


def load() -> Known:
    return json.loads(DATA.read_text()) if DATA.exists() else {}


@contextmanager
def changed() -> Iterator[Known]:
    """What is known, to be changed: several may be at work, so that nobody else reads or writes it meanwhile."""
    with open(PLACE / "results.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = load()
        yield known
        ordered = {rule.id: known[rule.id] for rule in RULES if rule.id in known}
        fresh = DATA.with_suffix(".new")
        fresh.write_text(json.dumps(ordered, indent=1) + "\n")
        fresh.replace(DATA)


def note_found(name: str, what: dict[str, Any], together: bool) -> None:
    """By itself, or only together with the rules that imply it."""
    if together:
        note_spent(name, 0, 0.0, 0)
    with changed() as known:
        before = known.get(name, {})
        if together:
            before.setdefault("together", {"others": TOGETHER[name], **what})
        elif not before.get("found"):  # another one may have been sooner
            known[name] = {"found": True, **what} | ({"test": before["test"]} if "test" in before else {})
    print(f"{name}: {what['kind']} after {what['protocols']} protocols, {what['seconds']} s", flush=True)


def note_spent(name: str, protocols: int, seconds: float, touched: int) -> None:
    """Adds to what others have spent on a rule that nobody has found."""
    with changed() as known:
        before = known.setdefault(name, {"found": False, "protocols": 0, "seconds": 0.0, "touched": 0})
        if not before["found"]:
            before["protocols"] += protocols
            before["seconds"] = round(before["seconds"] + seconds, 2)
            before["touched"] += touched


def hunt(
    wanted: Sequence[Rule], focus: str, seed: int, stride: int, seconds: float, wall: float, together: bool
) -> None:
    """Run the generator against these mutants, and start it again where one of them has ended it."""
    number_of = {rule.id: number for number, rule in enumerate(RULES, 1)}
    numbers = {number_of[rule.id]: rule.id for rule in wanted}
    others = {number: [number_of[each] for each in TOGETHER[name]] for number, name in numbers.items() if together}
    current = PLACE / f"current-{os.getpid()}"
    protocols, spent = 0, 0.0
    touched = dict.fromkeys(numbers, 0)
    while numbers and spent < seconds:
        told: dict[str, Any] = {}
        how, ended = "", False
        listed = ["+".join(map(str, [number, *others.get(number, ())])) for number in sorted(numbers)]
        for said in _run(listed, focus, seed, stride, seconds - spent, wall, current):
            if "progress" in said:
                told = said
            elif "ended" in said:
                ended = True
            elif "kind" in said:
                name = numbers.pop(said["mutant"])
                said["protocols"] += protocols
                said["seconds"] = round(said["seconds"] + spent, 2)
                note_found(name, {"focus": focus, **{key: said[key] for key in KEPT}}, together)
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
            told_of = {"focus": focus, "kind": how, "seed": int(at), "text": "", "options": {}, "thresholds": {}}
            note_found(name, {**told_of, "protocols": protocols, "seconds": round(spent, 2)}, together)
        else:
            print(f"seed {at} ended the generator without a mutant", flush=True)
    current.unlink(missing_ok=True)
    for number, name in numbers.items():
        if not together:
            note_spent(name, protocols, spent, touched[number])


def missed_now(wanted: Sequence[Rule]) -> list[str]:
    """The rules whose loss is no longer noticed on the protocol that showed it, nor on the few after it."""
    current = PLACE / f"current-{os.getpid()}"
    missed = []
    for rule in wanted:
        known = load()[rule.id]
        number = str(RULES.index(rule) + 1)
        said = list(_run([number], known["focus"], known["seed"], 1, SECONDS_AGAIN, SECONDS_AGAIN, current))
        ended = any("ended" in each for each in said)  # a mutant that is noticed by a crash or a hang ends the process
        if ended and not any("kind" in each for each in said):
            missed.append(rule.id)
            print(f"{rule.id}: not noticed from seed {known['seed']} on", flush=True)
    current.unlink(missing_ok=True)
    print(f"{len(wanted) - len(missed)} of {len(wanted)} rules are noticed as before", flush=True)
    return missed


def ask_tests(wanted: Sequence[Rule]) -> None:
    for rule in wanted:
        if "test" in load().get(rule.id, {}):
            continue
        test = failing(rule, RULES.index(rule) + 1)
        note_spent(rule.id, 0, 0.0, 0)
        with changed() as known:
            known[rule.id]["test"] = test
        print(f"{rule.id}: {test or 'no test'}", flush=True)


def _run(
    mutants: list[str], focus: str, seed: int, stride: int, seconds: float, wall: float, current: Path
) -> Iterator[dict[str, Any]]:
    environment = dict(
        os.environ, PYTHONPATH=f"{PACKAGE}:{ROOT / 'tests'}:{ROOT / 'tests' / 'support'}", PYTHONHASHSEED="0"
    )
    environment.pop("QUORATE_MUTANT", None)
    command = [str(ROOT / ".venv" / "bin" / "python"), "-m", "fuzz.hunt", "--mutants", ",".join(mutants)]
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
    parser.add_argument("--together", action="store_true", help="rules that others imply, without those others")
    parser.add_argument("--again", action="store_true", help="only see whether what was noticed still is")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--build", action="store_true", help="only build")
    given = parser.parse_args()
    unknown = set(given.rules) - {rule.id for rule in RULES}
    if unknown:
        raise SystemExit(f"no such rule: {', '.join(sorted(unknown))}")
    if not given.table:
        build(RULES)
    if given.again:
        known = load()
        wanted = [rule for rule in RULES if known.get(rule.id, {}).get("found")]
        raise SystemExit(bool(missed_now([rule for rule in wanted if not given.rules or rule.id in given.rules])))
    if not given.table and not given.build:
        wanted = [rule for rule in RULES if rule.id in given.rules or rule.group in given.group]
        if given.together:
            wanted = [rule for rule in wanted or RULES if rule.id in TOGETHER]
            wanted = [rule for rule in wanted if given.rules or "together" not in load().get(rule.id, {})]
        elif given.rules:
            with changed() as known:  # begin anew
                for rule in wanted:
                    known.pop(rule.id, None)
        elif not given.group:
            wanted = [rule for rule in RULES if rule.id not in IMPLIED and rule.id not in REFUSED]
        found = {name for name, each in load().items() if each["found"]}
        wanted = [rule for rule in wanted if rule.id not in found]
        if given.tests:
            ask_tests(wanted)
            wanted = []
        for focus in dict.fromkeys(focus_of(rule) if given.focus else "" for rule in wanted):
            mine = [rule for rule in wanted if not given.focus or focus_of(rule) == focus]
            hunt(mine, focus, given.seed, given.stride, given.minutes * 60, given.wall, given.together)
    write_table(load(), RULES)


if __name__ == "__main__":
    main()
