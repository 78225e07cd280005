"""The figures of a fuzzing run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .worker import Report


@dataclass
class Figures:
    """All reports together."""

    total: Report = field(default_factory=Report)

    @property
    def findings(self) -> list[tuple[str, str, int, str]]:
        return self.total.findings

    def add(self, report: Report) -> None:
        total = self.total
        for name in ("protocols", "too_large", "checks", "states"):
            setattr(total, name, getattr(total, name) + getattr(report, name))
        total.drawn.update(report.drawn)
        total.verdicts.update(report.verdicts)
        total.findings += report.findings

    def line(self, seconds: float) -> str:
        total = self.total
        pace = 1000 * seconds / max(1, total.protocols)
        return (
            f"{seconds:6.0f} s  {total.protocols:,} protocols ({pace:.0f} ms each), {total.checks:,} checks, "
            f"{len(total.findings)} findings of {len(self._kinds())} kinds"
        )

    def _kinds(self) -> Counter[str]:
        return Counter(kind for kind, _, _, _ in self.total.findings)

    def summary(self, seconds: float) -> str:
        total = self.total
        lines = [self.line(seconds).strip()]
        lines.append(
            f"{total.too_large:,} were too large; {total.states / max(1, total.protocols):.0f} states on average"
        )
        lines.append("verdicts: " + ", ".join(f"{name} {count:,}" for name, count in total.verdicts.most_common()))
        lines.append("")
        lines.append("in how many protocols or checks:")
        names = sorted(total.drawn)
        width = max(map(len, names), default=0)
        cells = [f"{name:{width}} {total.drawn[name]:7,}" for name in names]
        rows = -(-len(cells) // 3)
        lines += ["   ".join(cells[at::rows]) for at in range(rows)]
        lines.append("")
        for kind, count in self._kinds().most_common():
            files = [file for each, file, _, _ in total.findings if each == kind and file]
            shown = files[:3] or [f"seed {seed}" for each, _, seed, _ in total.findings if each == kind][:3]
            text = next(text for each, _, _, text in total.findings if each == kind)
            lines.append(f"{count:4} {kind}: {text[:110]}\n       {', '.join(shown)}")
        lines.append("" if total.findings else "nothing was found")
        return "\n".join(lines)
