"""What symmetry is worth: table 3.2 of the thesis, the rows of the GandALF tables that ran out of memory, and growth.

    python -m benchmarks.symmetry thesis gandalf growth

Each row is checked in a process of its own. Seconds are those of the processor, since the machine may be busy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

PLAIN = {"quotient": "off", "dead_messages": "off"}
ALL = {"symmetry": "auto", "por": "lpor-net"}
THESIS_PAXOS = "benchmarks/protocols/thesis_paxos.py:ThesisPaxos"
THESIS_OM = "benchmarks/protocols/thesis_om.py:ThesisOM"


class Answer(NamedTuple):
    verdict: str
    states: int
    seconds: float
    gigabytes: float
    symmetry: dict[str, Any]


def run(target: str, parameters: dict[str, Any], options: dict[str, Any]) -> Answer:
    """One check, in this process."""
    from quorate import check
    from quorate.cli.target import load
    from quorate.search import reductions

    # So that the naive approach gets the whole analysis on small instances too.
    vars(import_module("quorate.search.check"))["FIRST_BEHAVIOURS"] = reductions.MOST_BEHAVIOURS
    result = check(load(target)(**parameters), **options)
    spent = getrusage(RUSAGE_SELF)
    seconds = spent.ru_utime + spent.ru_stime
    told = dict(result.reductions["symmetry"])
    return Answer(result.verdict, result.states, seconds, result.peak_memory_bytes / 2**30, told)


def alone(target: str, parameters: dict[str, Any], **options: Any) -> Answer:
    """The same in a process of its own, so that memory and time are its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run, target, parameters, options).result()


class Row(NamedTuple):
    """A row of table 3.2: the instance, and states of none, naive and algorithm 1 as published."""

    name: str
    target: str
    parameters: dict[str, Any]
    published: tuple[str, str, str]


ROWS = [
    Row("Paxos, one message a step", THESIS_PAXOS, {}, ("1,591,897", "795,945 (33%)", "136,915 (96%)")),
    Row("Paxos, quorums in one step, a learner", "paxos", {"any_order": True}, ("", "", "")),
    Row("Faulty Paxos, quorums in one step, a learner", "faulty-paxos", {"any_order": True}, ("", "", "")),
    Row("OM(1), 3 lieutenants", THESIS_OM, {"lieutenants": 3}, ("1,797", "941 (31%)", "345 (85%)")),
    Row("OM(1), 4 lieutenants", THESIS_OM, {"lieutenants": 4}, ("150,417", "26,401 (24%)", "6,999 (90%)")),
    Row("OM(1), 5 lieutenants", THESIS_OM, {"lieutenants": 5}, ("out of memory", "2,402,167", "490,839")),
    Row("Faulty OM(1), 2 traitors", THESIS_OM, {"lieutenants": 3, "traitors": 2}, ("934", "843", "200")),
]


def thesis() -> Iterator[str]:
    """Table 3.2. The same plain model in all three columns; efficiency against the group of the decomposed one."""
    yield "| instance | | states (efficiency) | published | group | s |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in ROWS:
        answers = {}
        for kind in ("auto", "naive", "none"):
            options = PLAIN | {"symmetry": kind, "timeout": 300, "max_memory": 4 << 30}
            answers[kind] = alone(row.target, row.parameters | {"colocated": True}, **options)
        full = answers["auto"].symmetry
        for kind, published in zip(("none", "naive", "auto"), row.published, strict=True):
            found = answers[kind]
            states = f"{found.states:,}"
            if found.verdict == "incomplete":
                states = f"more than {states}"
            elif kind != "none" and found.verdict == "holds":
                states += f" ({full['stands_for'] / full['order'] / found.states:.0%})"
            group = found.symmetry.get("group", "")
            yield f"| {row.name} | {kind} | {states} | {published} | {group} | {found.seconds:.1f} |"


GANDALF = [(2, 8), (3, 5), (4, 4), (5, 3), (8, 2)]


def gandalf() -> Iterator[str]:
    """The rows that ended out of memory there, with every reduction."""
    yield "| proposers, acceptors | verdict | states | group | s | GB |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for proposers, acceptors in GANDALF:
        found = alone("paxos", {"proposers": proposers, "acceptors": acceptors}, max_memory=4 << 30, **ALL)
        group = found.symmetry["group"]
        yield (
            f"| {proposers}, {acceptors} | {found.verdict} | {found.states:,} | {group} | {found.seconds:.1f} "
            f"| {found.gigabytes:.2f} |"
        )


GROWTH: list[tuple[str, list[dict[str, Any]]]] = [
    ("paxos", [{"proposers": 2, "acceptors": n} for n in range(3, 13)]),
    ("paxos", [{"proposers": 3, "acceptors": n} for n in range(3, 8)]),
    ("regular-storage", [{"bases": n} for n in range(3, 9)]),
    ("echo-multicast", [{"honest_receivers": n} for n in range(2, 8)]),
    ("om", [{"lieutenants": n} for n in range(3, 8)]),
]
SECONDS = 600.0


def growth() -> Iterator[str]:
    """How cost grows, up to ten minutes and 8 GB."""
    yield "| protocol | instance | verdict | states | stands for | group | s | GB |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for target, instances in GROWTH:
        for parameters in instances:
            found = alone(target, parameters, symmetry="auto", timeout=SECONDS, max_memory=8 << 30)
            told = found.symmetry
            shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
            yield (
                f"| {target} | {shown} | {found.verdict} | {found.states:,} | {told.get('stands_for', found.states):,} "
                f"| {told.get('group', 'none')} | {found.seconds:.1f} | {found.gigabytes:.2f} |"
            )
            if found.verdict == "incomplete":
                break


TABLES = {"thesis": thesis, "gandalf": gandalf, "growth": growth}


def main(names: list[str]) -> None:
    for name in names or TABLES:
        for line in TABLES[name]():
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
