"""Running tables: every case in turn, within limits, kept as soon as it is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmarks.experiment import PUBLISHED, Case, Limits, Measured, Row
from benchmarks.machine import load
from benchmarks.results import Entry, Section

Say = Callable[[str], None]
Keep = Callable[[Section], None]
Known = dict[tuple[str, str, str, str], Measured]  # by table, instance, claim and column


class Runner:
    """Measures tables. `keep` gets a section again and again, as it grows."""

    def __init__(self, say: Say, keep: Keep, limits: Limits, known: Known | None = None) -> None:
        self.say = say
        self.keep = keep
        self.limits = limits
        self.known = known or {}
        self._measured: dict[object, Measured] = {}

    def table(self, name: str, rows: Sequence[Row]) -> Section:
        total = sum(case.program != PUBLISHED for row in rows for case in row.cases)
        begin, before, number = time.perf_counter(), load(), 0
        section = Section(name)
        beyond: set[str] = set()  # columns that met a limit, while rows grow
        for row in rows:
            if not row.growing:
                beyond.clear()
            for case in row.cases:
                number += case.program != PUBLISHED
                measured = self.known.get((name, row.instance, row.claim, case.column))
                if measured is None and row.growing and case.column in beyond:
                    measured = Measured("skipped", note="a smaller instance met a limit")
                if measured is None and case.program == PUBLISHED:
                    measured = case.measure(self.limits)
                if measured is None:
                    self.say(f"{name} {number} of {total}: {row.instance} {row.claim} {case.column}")
                    measured = self._measure(case, row)
                    self.say(f"    {_words(measured)}")
                if measured.status == "incomplete":
                    beyond.add(case.column)
                entry = Entry(row.instance, row.claim, row.verdict, case.column, case.program, measured, case.published)
                elapsed = round(time.perf_counter() - begin, 1)
                section = replace(section, entries=(*section.entries, entry), load=(before, load()), seconds=elapsed)
                self.keep(section)
        return section

    def _measure(self, case: Case, row: Row) -> Measured:
        """A table may list an instance twice, with different published figures: it is measured once."""
        same = case.key
        if same not in self._measured:
            try:
                self._measured[same] = case.measure(self._limits(row))
            except Exception as error:
                # One case that fails must not cost the hour that the others took; it is shown as failed.
                self._measured[same] = Measured("failed", note=str(error).splitlines()[0])
        return self._measured[same]

    def _limits(self, row: Row) -> Limits:
        seconds = min(row.seconds or self.limits.seconds, self.limits.most)
        return replace(self.limits, seconds=seconds, memory_bytes=row.memory_bytes or self.limits.memory_bytes)


def _words(measured: Measured) -> str:
    if not measured.states:
        return f"{measured.status}: {measured.note}"
    note = f" ({measured.note})" if measured.note else ""
    return f"{measured.status}, {measured.states:,} states, {measured.seconds:.2f} s{note}"
