"""Ablation of a protocol: what each of its parts is needed for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

from quorate.ablation.judge import EACH, Judge, Watch
from quorate.ablation.pool import Pool
from quorate.language.system import System
from quorate.results.ablation import Ablation, Finding
from quorate.results.json import value_to_json

Told = Callable[[int, int, list[int]], object]
"""Given how many parts are done, how many there are, and which are under way; raises KeyboardInterrupt to stop."""


def ablate(
    system: System | type[System],
    *,
    target: str | None = None,
    property: list[str] | None = None,
    each: float = EACH,
    timeout: float | None = None,
    jobs: int | None = None,
    progress: Watch | None = None,
    told: Told = lambda done, of, at: None,
    **options: Any,
) -> Ablation:
    """Take out every part of a protocol in turn, and say which properties notice.

    Variants are checked in processes of their own, which can be ended whatever their code does. Without a target that
    other processes can load, it is all done in this one.
    """
    began = time.perf_counter()
    judge = Judge(system, options, target=target, properties=property, each=each, timeout=timeout, progress=progress)
    count = len(judge.sites)
    workers = min(jobs or os.cpu_count() or 1, max(1, count))
    findings: dict[int, Finding] = {}
    stopped: Literal["time", "interrupt"] | None = None

    def watch(done: int, at: list[int]) -> None:
        nonlocal stopped
        told(done, count, at)
        if timeout is not None and time.perf_counter() - began > timeout:
            stopped = "time"
            raise KeyboardInterrupt

    try:
        for found in _alone(judge, watch) if target is None else _together(judge, property, workers, options, watch):
            findings[found.part.number] = found
    except KeyboardInterrupt:
        stopped = stopped or "interrupt"
    notes: list[str] = []
    if judge.violated:
        notes.append(f"{', '.join(judge.violated)}: violated with all parts in place, so not asked")
    if judge.unread:
        notes.append(
            f"{', '.join(judge.unread)}: not looked into, since only a `def` of a module or a class can be changed"
        )
    return Ablation(
        system=judge.name,
        target=target,
        parameters=judge.parameters,
        properties=tuple(judge.claims),
        violated=judge.violated,
        states=judge.result.states,
        parts=judge.parts,
        findings=tuple(findings[number] for number in sorted(findings)),
        seconds=time.perf_counter() - began,
        stopped_by=stopped,
        notes=tuple(notes),
    )


def _alone(judge: Judge, watch: Callable[[int, list[int]], object]) -> Iterator[Finding]:
    judge.look()
    for done, part in enumerate(judge.parts):
        watch(done, [part.number])
        yield judge.judge(part.number)


def _together(
    judge: Judge,
    properties: list[str] | None,
    jobs: int,
    options: dict[str, Any],
    watch: Callable[[int, list[int]], object],
) -> Iterator[Finding]:
    parameters = {name: value_to_json(value) for name, value in judge.parameters.items()}
    request = {
        "target": judge.target,
        "parameters": parameters,
        "properties": properties,
        "each": judge.each,
        "options": options,
    }
    yield from Pool(request, judge.parts, jobs, judge.each, watch).run()
