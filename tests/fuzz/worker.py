"""One process of a fuzzing run: a batch of numbers, reported in portions."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from .case import Case, Outcome, draw, examine
from .compare import Finding
from .features import features, modes
from .protocol import Protocol
from .shrink import shrink
from .system import TooLarge
from .translate import translate

PORTION = 2.0  # seconds
PATIENCE = 30  # seconds for one case: more is a finding of its own
MOST_ALIKE = 4
"""So many findings that look alike at first are made small; what looks alike may have another cause."""


class Hangs(BaseException):
    """A case does not come to its end."""


@dataclass
class Report:
    """What came out since the last one."""

    protocols: int = 0
    too_large: int = 0
    checks: int = 0
    states: int = 0
    drawn: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[str, str, int, str]] = field(default_factory=list)
    """Kind, file or nothing, seed, text."""


def work(numbers: Sequence[int], reports: Any, kinds: Any, folder: Path, end: float) -> None:
    signal.signal(signal.SIGALRM, _hang)
    report, begun = Report(), time.monotonic()
    for number in numbers:
        if time.monotonic() > end:
            break
        signal.alarm(PATIENCE)
        try:
            case = draw(number)
            outcome = examine(case)
        except TooLarge:
            report.too_large += 1
            continue
        except Hangs:
            report.findings.append(("hangs", "", number, f"more than {PATIENCE} s"))
            continue
        finally:
            signal.alarm(0)
        _count(report, case, outcome)
        told: set[str] = set()
        for check, finding in outcome.findings:
            if finding.kind not in told:  # other options that come upon the same say nothing new
                told.add(finding.kind)
                report.findings.append(_told(case, check, finding, kinds, folder))
        if time.monotonic() - begun > PORTION:
            reports.put(report)
            report, begun = Report(), time.monotonic()
    reports.put(report)


def _hang(signum: int, frame: FrameType | None) -> None:
    raise Hangs


def _count(report: Report, case: Case, outcome: Outcome) -> None:
    report.protocols += 1
    report.checks += len(outcome.answers)
    report.states += outcome.states
    report.drawn.update([f"style {case.style}", *features(case.protocol)])
    for check, answer in outcome.answers:
        report.drawn.update(modes(check, answer))
        said = answer.result.verdict if answer.result is not None else f"error {answer.code}"
        said = "whole runs" if answer.code == "runs" else said
        report.verdicts[said] += 1


def _told(case: Case, check: Any, finding: Finding, kinds: Any, folder: Path) -> tuple[str, str, int, str]:
    """Make a finding small, unless enough of those that look like it are small already."""
    rough = f"{finding.kind} {'/'.join(sorted(_telling(check)))}"
    seen = kinds.get(rough, 0)
    kinds[rough] = seen + 1
    if seen >= MOST_ALIKE:
        return finding.kind, "", case.seed, finding.text
    alone = Case(case.seed, case.protocol, [check], case.style)
    small, found = shrink(alone, finding)
    check = small.checks[0]
    kind = f"{found.kind} [{' '.join(sorted(_telling(check)))}] {' '.join(sorted(_marks(small.protocol)))}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"fuzz-{case.seed}-{''.join(each for each in found.kind if each.isalnum())}.py"
    about = f"{found.kind}: {found.text}\n\nquorate check {file.name} {check.command}\n"
    if check.thresholds:
        about += "with " + ", ".join(f"{name} = {value}" for name, value in check.thresholds) + "\n"
    file.write_text(translate(small.protocol, about.replace("\\", "/").replace('"""', "'''")))
    return kind, str(file), case.seed, found.text


def _telling(check: Any) -> list[str]:
    """The options that a finding depends on; which property was asked for is not one."""
    options = check.options
    words = [f"{name}={options[name]}" for name in ("por", "split", "symmetry", "search") if name in options]
    words += [
        name
        for name in ("self_check", "stateless", "crash", "crashes", "byzantine", "network_model")
        if name in options
    ]
    words += ["quotient off"] if options.get("quotient") == "off" else []
    words += ["dead off"] if options.get("dead_messages") == "off" else []
    return [*words, "thresholds"] if check.thresholds or "max_behaviours" in options else words


def _marks(protocol: Protocol) -> set[str]:
    """What is left in a small protocol and is likely to matter."""
    wanted = {"roles", "monitor", "crashes", "recover", "losses", "corrupt", "within", "keep", "each", "enough maximal"}
    wanted |= {
        "message subclass",
        "network fifo",
        "network multiset",
        "duplicates k",
        "capacity block",
        "capacity replace",
    }
    wanted |= {
        "subclass",
        "overridden handler",
        "uses crashed",
        "message signed",
        "several initial states",
        "uses assert",
    }
    return features(protocol) & wanted
