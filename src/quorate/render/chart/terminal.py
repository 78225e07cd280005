"""A chart in a terminal: lifelines as columns of characters, messages as lines between them where they are received.

        proposer1   acceptor1   acceptor2
            │           │           │
            ┃ 1 prepare │           │
            ┃ ballot: 0 → 1         │
            ├ Prepare(1)▶┃ 2 promise │

Characters have no slant, so a message is drawn when it arrives; where it came from is at the other end of its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from quorate.base.values import show
from quorate.render.chart.model import Arrow, Chart, Happening, compact, forms
from quorate.render.lasso import AGAIN, STOPS
from quorate.render.layout import Page, Piece
from quorate.results.diff import Difference

LONGEST = 24
"""Steps up to which a run is drawn unless asked otherwise: what fits on about two screens."""
LEAST = 11  # characters between two lifelines


def fits(chart: Chart, width: int) -> bool:
    """Whether there is room for every lifeline."""
    return bool(chart.lanes) and _gap(chart, width) >= max(LEAST, *(len(lane.name) + 1 for lane in chart.lanes))


def _gap(chart: Chart, width: int) -> int:
    return min(24, (width - 2) // max(1, len(chart.lanes)))


def draw(chart: Chart, width: int) -> Page:
    """The run as lines of text, no wider than asked for where that is possible."""
    if chart.loop is None or chart.stops:
        return _Canvas(chart, width).draw()
    canvas = _Canvas(chart, width - 2)
    page = canvas.draw()
    page.bracket(canvas.loop_at, AGAIN)
    return page


_Said = list[list[Piece]]


def _forms(difference: Difference) -> list[str]:
    path, kind, before, after = difference
    if kind == "changed":
        return [f"{path}: {show(before)} → {show(after)}", f"{path} = {show(after)}", f"{path} = {compact(after)}"]
    return [f"{path}: {'+' if kind == 'added' else '-'} {show(after if kind == 'added' else before)}"]


class _Canvas:
    def __init__(self, chart: Chart, width: int) -> None:
        self.chart = chart
        self.width = width
        self.gap = max(_gap(chart, width), LEAST, *(len(lane.name) + 1 for lane in chart.lanes))
        self.x = {lane.column: 1 + self.gap // 2 + self.gap * place for place, lane in enumerate(chart.lanes)}
        self.dead: set[int] = set()
        self.busy: list[int] = []
        """The processes with an operation under way, once for each."""
        self.page = Page(width)
        self.loop_at = 0
        """The line on which the steps begin that come again and again."""

    def draw(self) -> Page:
        line = self._empty()
        for lane in self.chart.lanes:
            name = lane.name + ("☠" if lane.byzantine else "")
            self._put(line, self.x[lane.column] - len(name) // 2, name, "process")
        self._add(line)
        self._add(self._lifelines())
        for seen in self.chart.happenings:
            if seen.number == self.chart.loop:
                self.loop_at = len(self.page.lines)
            self._happening(seen)
        if self.chart.stops:
            line = self._lifelines()
            self._put(line, 1, f" {STOPS} ", "fault")
            self._add(line)
            self._add(self._lifelines())
        return self.page

    # --- a step ------------------------------------------------------------------------------------------------

    def _happening(self, seen: Happening) -> None:
        """Arrows first, each on its line; beside and below them what the step does; then what nobody received."""
        at = self.x[seen.column]
        bad = self.chart.bad and self.chart.loop is None and seen is self.chart.happenings[-1]
        arrows = [arrow for arrow in seen.incoming if arrow.sender in self.x]
        lines: list[list[Piece]] = []
        shortened: dict[str, None] = {}
        for arrow in arrows:
            line, whole = self._arrow(seen, arrow)
            lines.append(line)
            if not whole:
                shortened[show(arrow.message)] = None
        # Beside an arrow from the left there is room for text on the right; beside one from the right there is none.
        left = [self.x[arrow.sender] < at and not arrow.copy for arrow in arrows]
        free = [line for line, from_left in zip(lines, left, strict=True) if from_left]
        for said in self._broken(at, self._said(seen, bad, list(shortened))):
            on_arrow = free.pop(0) if free else None
            if on_arrow is None or not self._right_of(on_arrow, at, said):
                line = self._lifelines()
                lines.append(line)
                if not self._right_of(line, at, said):
                    self._left_of(line, at, said)
        for interval in self.chart.intervals:
            if interval.column == seen.column and interval.began == seen.number:
                self.busy.append(seen.column)
            if interval.column == seen.column and interval.ended == seen.number:
                self.busy.remove(seen.column)
        mark, style = self._mark(seen, bad)
        for line in lines:
            line[at] = Piece(mark, style)
            self._add(line)
        if seen.kind == "crash":
            self.dead.add(seen.column)
        elif seen.kind == "recover":
            self.dead.discard(seen.column)
        self._never(seen)
        self._add(self._lifelines())

    def _mark(self, seen: Happening, bad: bool) -> tuple[str, str]:
        if seen.by_network:
            return "│", "faint"
        if seen.kind == "crash":
            return "\u2573", "fault"
        return "┃", "bad" if bad else "fault" if seen.byzantine else "process"

    def _said(self, seen: Happening, bad: bool, messages: list[str]) -> list[_Said]:
        """What stands beside a step, each in forms of decreasing length."""
        name = "bad" if bad else "action" if seen.kind == "step" else "fault"
        said: list[_Said] = [[[Piece(f"{seen.number} ", "faint"), Piece(seen.title, name)]]]
        said += [[[Piece(f"← {text}", "message")]] for text in messages]
        said += [[[Piece(text, "after")] for text in _forms(change)] for change in seen.changes]
        said += [[[Piece(note, "faint")]] for note in seen.notes]
        if seen.failure is not None:
            said.append([[Piece(f"fails: {seen.failure}", "bad")]])
        return said

    def _broken(self, at: int, every: list[_Said]) -> Iterator[_Said]:
        """What fits on neither side of a lifeline goes on below, on the side where there is more room."""
        right, left = self.width - at - 2, at - 1
        for said in every:
            if len(said[-1]) > 1 or min(sum(len(piece.text) for piece in form) for form in said) <= max(right, left):
                yield said
                continue
            (piece,) = said[-1]
            for number, line in enumerate(wrap(piece.text, max(right, left) - 2)):
                yield [[Piece(line if number == 0 else f"  {line}", piece.style)]]

    def _right_of(self, line: list[Piece], at: int, said: _Said) -> bool:
        for form in said:
            if at + 2 + sum(len(piece.text) for piece in form) <= self.width:
                self._write(line, at + 2, form)
                return True
        return False

    def _left_of(self, line: list[Piece], at: int, said: _Said) -> None:
        """Where there is no room on the right; cut if there is none here either."""
        form = next((form for form in said if sum(len(piece.text) for piece in form) < at), said[-1])
        text = "".join(piece.text for piece in form)
        if len(text) >= at:
            form = [Piece(text[: max(1, at - 2)] + "…", form[-1].style)]
        self._write(line, at - 1 - sum(len(piece.text) for piece in form), form)

    def _write(self, line: list[Piece], start: int, text: list[Piece]) -> None:
        for piece in text:
            self._put(line, start, piece.text, piece.style)
            start += len(piece.text)

    # --- messages ----------------------------------------------------------------------------------------------

    def _arrow(self, seen: Happening, arrow: Arrow) -> tuple[list[Piece], bool]:
        """The line of an incoming message, and whether all of the message could be written on it."""
        line = self._lifelines()
        start, end = self.x[arrow.sender], self.x[seen.column]
        style = "fault" if seen.kind in ("lose", "duplicate", "discard") or arrow.byzantine else "message"
        if start == end or arrow.copy:  # it is here already
            room = self.width - end - 4
            text = next((form for form in forms(arrow.message) if len(form) <= room), None)
            self._put(line, end + 1, f" ↻ {text or compact(arrow.message)[: room - 1] + '…'}", style)
            return line, text is not None
        tip = {"lose": "✕", "discard": "✕", "duplicate": "○"}.get(seen.kind, "▶" if start < end else "◀")
        low, high = self._stroke(line, start, end, "─", tip, style)
        line[start] = Piece("├" if start < end else "┤", "faint")
        return line, self._on(line, low, high, forms(arrow.message), start < end, style)

    def _stroke(self, line: list[Piece], start: int, end: int, dash: str, tip: str, style: str) -> tuple[int, int]:
        """A horizontal line from one lifeline to another; where on it something can be written."""
        low, high = (start + 1, end - 1) if start < end else (end + 1, start - 1)
        for at in range(low, high + 1):
            line[at] = Piece(dash, "faint")
        line[high if start < end else low] = Piece(tip, style)
        return (low, high - 1) if start < end else (low + 1, high)

    def _on(
        self, line: list[Piece], low: int, high: int, choices: tuple[str, ...], rightwards: bool, style: str
    ) -> bool:
        """Write on a line, near the sender: with the fields if there is room, else the type alone."""
        room = high - low + 1
        # With space around it a shorter form reads better than a longer one without.
        whole = next((form for spare in (3, 0) for form in choices if len(form) + spare <= room), None)
        text = whole if whole is not None else choices[-1].partition("(")[0][:room]
        if len(text) + 3 <= room:
            text = f" {text} "
            low, high = low + 1, high - 1
        self._put(line, low if rightwards else high - len(text) + 1, text, style)
        return whole is not None

    def _never(self, seen: Happening) -> None:
        """One dashed line for what was sent here and never received, with a circle for every receiver; and one for what
        is received when the loop comes round again."""
        groups: dict[str, list[Arrow]] = {}
        for arrow in seen.outgoing:
            if arrow.end in ("never", "later") and arrow.receiver in self.x and arrow.receiver != seen.column:
                groups.setdefault(f"{arrow.end} {show(arrow.message)}", []).append(arrow)
        at = self.x[seen.column]
        for arrows in groups.values():
            ends = sorted(self.x[arrow.receiver] for arrow in arrows)
            line = self._lifelines()
            line[at] = Piece("┃", "faint")
            tip = "○" if arrows[0].end == "never" else "↻"
            for rightwards in (True, False):
                there = [end for end in ends if (end > at) == rightwards]
                if not there:
                    continue
                far, near = (there[-1], there[0]) if rightwards else (there[0], there[-1])
                self._stroke(line, at, far, "╌", tip, "faint")
                low, high = (at + 1, near - 2) if rightwards else (near + 2, at - 1)
                self._on(line, low, high, forms(arrows[0].message), rightwards, "faint")
                for end in there:
                    line[end - 1 if rightwards else end + 1] = Piece(tip, "faint")
            self._add(line)

    # --- characters --------------------------------------------------------------------------------------------

    def _empty(self) -> list[Piece]:
        return [Piece(" ")] * max(self.width, max(self.x.values(), default=0) + 2)

    def _lifelines(self) -> list[Piece]:
        line = self._empty()
        for column, at in self.x.items():
            line[at] = Piece("┊" if column in self.dead else "║" if column in self.busy else "│", "faint")
        return line

    def _put(self, line: list[Piece], at: int, text: str, style: str = "") -> None:
        for place, sign in enumerate(text, start=max(0, at)):
            if place >= len(line):
                line.append(Piece(" "))
            line[place] = Piece(sign, style)

    def _add(self, line: list[Piece]) -> None:
        """Characters of one style become one piece."""
        joined: list[Piece] = []
        for piece in line:
            if joined and joined[-1].style == piece.style:
                joined[-1] = Piece(joined[-1].text + piece.text, piece.style)
            else:
                joined.append(piece)
        while joined and not joined[-1].text.strip():
            joined.pop()
        self.page.lines.append(tuple(joined))
