"""Looks for protocols that tell mutants from Quorate: one process, one build, many mutants at a time.

A drawn protocol is explored by the reference and checked without a mutant first. Of the mutants only those are tried
that could have made a difference to a check (schemata.py). One counts as found where the same check is right without it
and wrong with it. The time given is that of the generator alone, as if it had run against this mutant from the start:
drawing, exploring, checking and comparing, without what the other mutants took. Only so many mutants are tried on a
protocol, so that it is an upper bound.

Run by mutate.py, with the build of the mutants on the path. A mutant may crash or hang the process; which one it was is
written down before each try.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import resource
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from .case import Case, Reference, draw, judged
from .compare import Finding, ask, loaded
from .focus import focused
from .options import Check
from .system import TooLarge

_mutant: Any = importlib.import_module("quorate._mutant")  # there in the build of the mutants alone

SECONDS_OF_A_TRY = 40.0
MOST_MEMORY = 4 << 30
MOST_TRIES = 24  # of all mutants on one protocol


class Hunt:
    """The mutants that are still to be found, and what was seen of them."""

    def __init__(self, numbers: list[int], current: Path, focus: str, others: dict[int, list[int]]) -> None:
        self.focus = focus
        self.wanted = set(numbers)
        self.others = others
        """The rules that imply one, which are left out with it."""
        self.current = os.open(current, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        self.protocols = 0
        self.seconds = 0.0
        self.touched: Counter[int] = Counter()
        """In how many protocols each could have made a difference."""
        self.tries: Counter[int] = Counter()

    def case(self, seed: int) -> None:
        began = perf_counter()
        self._about_to(seed, 0)
        try:
            case = focused(seed, self.focus) if self.focus else draw(seed)
            reference = Reference(case)
            for check in case.checks:
                reference.at(check.environment)
        except (TooLarge, ValueError):  # the latter: what an attacker may say has no end
            self.seconds += perf_counter() - began
            return
        with loaded(case.protocol) as system:
            right: list[tuple[int, set[int]]] = []
            for number, check in enumerate(case.checks):
                _mutant.touched()
                finding = judged(reference, check, ask(system, check))
                reached = _mutant.touched()
                touched = {each for each in self.wanted if not reached.isdisjoint([each, *self.others.get(each, ())])}
                if finding is None:
                    right.append((number, touched))
            self.seconds += perf_counter() - began
            self.protocols += 1
            self.touched.update(set().union(*(touched for _, touched in right)))
            tries = [(mutant, number) for number, touched in right for mutant in touched]
            # Fair to those that seldom matter: the ones that were tried least go first.
            tries.sort(key=lambda one: (self.tries[one[0]], one))
            for mutant, number in tries[:MOST_TRIES]:
                if mutant in self.wanted:
                    self.tries[mutant] += 1
                    self._try(case, system, number, reference, mutant)

    def _try(self, case: Case, system: Any, number: int, reference: Reference, mutant: int) -> None:
        check = case.checks[number]
        others = self.others.get(mutant, [])
        if others:
            # Where the others alone are missed nothing is said about this one.
            self._about_to(case.seed, 0)
            if self._without(case, system, check, reference, *others) is not None:
                return
        self._about_to(case.seed, mutant)
        finding = self._without(case, system, check, reference, mutant, *others)
        # That another refusal comes next says nothing about the one that was left out.
        if finding is not None and not finding.kind.startswith("error Q1"):
            self.wanted.discard(mutant)
            options = {name: value for name, value in check.options.items() if name != "timeout"}
            say(
                mutant=mutant,
                seed=case.seed,
                kind=finding.kind,
                text=finding.text[:200],
                options=options,
                thresholds=dict(check.thresholds),
                protocols=self.protocols,
                seconds=round(self.seconds, 2),
            )

    def _without(self, case: Case, system: Any, check: Check, reference: Reference, *mutants: int) -> Finding | None:
        _mutant.switch(*mutants)
        try:
            return judged(reference, check, ask(system, check))
        except Exception as error:
            say(mutant=mutants[0], odd=f"{type(error).__name__}: {error}", seed=case.seed)
            return None
        finally:
            _mutant.switch(0)

    def _about_to(self, seed: int, mutant: int) -> None:
        os.pwrite(self.current, f"{seed} {mutant} {self.protocols} {self.seconds:.2f}\n{' ' * 40}".encode(), 0)
        faulthandler.dump_traceback_later(SECONDS_OF_A_TRY, exit=True, file=sys.stderr)

    def tell(self, seed: int) -> None:
        say(progress=seed, protocols=self.protocols, seconds=round(self.seconds, 2), touched=dict(self.touched))


def say(**what: Any) -> None:
    print(json.dumps(what, default=str), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutants", required=True, help="3,17+4 is the third, and the 17th together with the fourth")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--seconds", type=float, required=True, help="of the generator, see above")
    parser.add_argument("--focus", default="")
    parser.add_argument("--wall", type=float, default=1e9)
    parser.add_argument("--current", type=Path, required=True)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    listed = [[int(each) for each in one.split("+")] for one in given.mutants.split(",")]
    others = {first: more for first, *more in listed if more}
    hunt = Hunt([first for first, *_ in listed], given.current, given.focus, others)
    seed, began, last = given.seed, perf_counter(), 0.0
    while hunt.wanted and hunt.seconds < given.seconds and perf_counter() - began < given.wall:
        hunt.case(seed)
        if perf_counter() - last > 5:
            last = perf_counter()
            hunt.tell(seed)
        seed += given.stride
    faulthandler.cancel_dump_traceback_later()
    hunt.tell(seed)
    say(ended=seed)


if __name__ == "__main__":
    main()
