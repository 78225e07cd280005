"""Where everything on a chart goes.

Time runs down. A step is a bar on its process's lifeline: messages arrive at its top, leave from its bottom, and
whatever is said about it stands beside it, between the top and the bottom and between two lifelines. So no label can
meet another, or an arrow of its own step. Steps that do the same in several processes at once share a row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import Literal

from quorate.base.values import show
from quorate.base.words import count, names
from quorate.render.chart.fitting import LINE, Lines, Span, Text, fitted, width
from quorate.render.chart.model import Arrow, Chart, Happening, compact, forms
from quorate.render.lasso import STOPS
from quorate.results.diff import Difference

NARROWEST, WIDEST = 156.0, 208.0  # between two lifelines
PAGE = 1180.0  # what a chart likes to fit into
SCREEN = 900.0  # how far down one can look before forgetting which lifeline is whose
MARGIN = 20.0
BETWEEN_ROWS = 20.0
ASIDE = 11.0  # from a lifeline to the text beside it
AWAY = 17.0  # from a lifeline to where the network loses or copies a message
HALF_BAR = 4.5
LETTER = 7.8  # of a process's name
HALF_JOIN = 15.0
TITLE, ROLES, HEADS = 34.0, 22.0, 26.0
BRACKET = 22.0  # for the bracket around a loop

Side = Literal["left", "right"]
_SIDES: tuple[Side, Side] = ("left", "right")


@dataclass
class Label:
    """Text with its baseline; `number` is the step it belongs to."""

    x: float
    y: float
    anchor: Literal["start", "end", "middle"]
    spans: Text
    number: int = 0
    full: str = ""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        size = width(self.spans)
        left = self.x if self.anchor == "start" else self.x - size if self.anchor == "end" else self.x - size / 2
        return left, self.y - LINE + 4, left + size, self.y + 3


@dataclass
class Bar:
    number: int
    x: float
    top: float
    bottom: float
    kind: str
    quorum: bool
    byzantine: bool
    bad: bool
    text: str


@dataclass
class Line:
    """A message, from where it was sent to where it ends."""

    x1: float
    y1: float
    x2: float
    y2: float
    arrow: Arrow
    loop: bool = False
    cut_start: bool = False
    cut_end: bool = False
    """The other end lies in a fold."""


@dataclass
class Life:
    """A stretch of a lifeline."""

    x: float
    top: float
    bottom: float
    alive: bool


@dataclass
class Busy:
    """A stretch of a lifeline along which an operation is under way."""

    x: float
    top: float
    bottom: float
    text: str


@dataclass
class Head:
    x: float
    y: float
    width: float
    name: str
    byzantine: bool
    read: bool


@dataclass
class Role:
    left: float
    right: float
    y: float
    name: str


@dataclass
class Fold:
    y: float
    height: float
    text: str


@dataclass
class Bracket:
    """Around the steps that come again and again."""

    x: float
    top: float
    bottom: float


@dataclass
class Drawing:
    chart: Chart
    width: float
    height: float
    gap: float
    titles: list[Text] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)
    reminders: list[Head] = field(default_factory=list)
    """The heads once more, between rows, where the first ones are out of sight."""
    roles: list[Role] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    busy: list[Busy] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    bracket: Bracket | None = None
    end: float = 0.0
    """Where the verdict begins."""
    reasons: list[str] = field(default_factory=list)
    footnote: str = ""


@dataclass
class _Row:
    """One or several happenings at the same height."""

    happenings: list[Happening]
    left: dict[int, list[Text]] = field(default_factory=dict)
    right: dict[int, list[Text]] = field(default_factory=dict)
    full: dict[int, str] = field(default_factory=dict)
    top: float = 0.0
    height: float = 0.0
    hidden: bool = False


def laid_out(chart: Chart, *, fold: int | None = 64, brief: bool = False) -> Drawing:
    """Place everything. A run of more than `fold` rows loses its middle, and says so.

    `brief`: without what the page around the picture says already, the title and the reasons.
    """
    return _Layout(chart, fold, brief).drawing


class _Layout:
    def __init__(self, chart: Chart, fold: int | None, brief: bool) -> None:
        self.chart = chart
        self.brief = brief
        lanes = max(1, len(chart.lanes))
        self.gap = max(NARROWEST, min(WIDEST, (PAGE - 2 * MARGIN) / lanes))
        self.room = self.gap - ASIDE - 9
        longest = max((len(lane.name) for lane in chart.lanes), default=0)
        self.head = min(self.gap - 10, max(110.0, longest * LETTER + 20))
        self.rows = self._rows()
        self.row_of = {seen.number: place for place, row in enumerate(self.rows) for seen in row.happenings}
        self.spans = self._spans()
        self._hide(fold)
        for row in self.rows:
            self._say(row)
        self.first = MARGIN + self._margin("left") + (BRACKET if chart.loop is not None and not chart.stops else 0.0)
        total = self.first + self.gap * (lanes - 1) + self._margin("right") + MARGIN
        self.drawing = Drawing(chart, max(total, self._least()), 0.0, self.gap)
        self._place()

    # --- rows --------------------------------------------------------------------------------------------------

    def _rows(self) -> list[_Row]:
        rows: list[_Row] = []
        for seen in self.chart.happenings:
            if rows and self._joins(rows[-1], seen):
                rows[-1].happenings.append(seen)
            else:
                rows.append(_Row([seen]))
        return rows

    def _joins(self, row: _Row, seen: Happening) -> bool:
        """The same step of another process of the same role, which does not depend on those beside it."""
        first = row.happenings[0]
        lane = {each.column: each for each in self.chart.lanes}
        alike = (seen.title, seen.kind, lane[seen.column].role) == (first.title, first.kind, lane[first.column].role)
        heard = [sorted(show(arrow.message) for arrow in each.incoming) for each in (seen, first)]
        return (
            alike
            and heard[0] == heard[1]
            and seen.number != self.chart.loop
            and not seen.by_network
            and seen.failure is None
            and all(other.column != seen.column for other in row.happenings)
            and all(arrow.sent < first.number for arrow in seen.incoming)
        )

    def _hide(self, fold: int | None) -> None:
        if fold is None or len(self.rows) <= fold:
            return
        first, last = fold // 3, fold - fold // 3  # how it ends is worth more room than how it begins
        for row in self.rows[first : len(self.rows) - last + 1]:
            row.hidden = True

    # --- text --------------------------------------------------------------------------------------------------

    def _say(self, row: _Row) -> None:
        if row.hidden:
            return
        shared = len(row.happenings) > 1
        for seen in row.happenings:
            beside: dict[Side, list[Text]] = {"left": [], "right": []}
            place = self.chart.lane(seen.column) or 0
            block = self._clear_side(row, seen, place)
            full: list[str] = []
            for side, arrow, copies in self._heard(seen, place):
                said = self._message(seen, arrow, copies)
                full.append(said.full)
                # In a shared row the neighbour needs the other side; what the network does is told away from its mark.
                beside[block if shared or seen.by_network else side].extend(said.lines)
            for said in (self._title(seen), *self._details(seen), *self._unheard(seen)):
                full.append(said.full)
                beside[block].extend(said.lines)
            row.left[seen.number], row.right[seen.number] = beside["left"], beside["right"]
            row.full[seen.number] = "\n".join(full)
        most = max(max(len(row.left[n.number]), len(row.right[n.number])) for n in row.happenings)
        row.height = max(1, most) * LINE + 4

    def _clear_side(self, row: _Row, seen: Happening, place: int) -> Side:
        """Where there is more room for what a step does: where fewer messages pass, and none arrives."""
        if seen.by_network:
            return "left" if self._side(seen.incoming[0], place) == "right" else "right"
        everybody = row.happenings
        crowd = {side: sum(self._passing(row, each.column, side) for each in everybody) for side in _SIDES}
        if len(everybody) == 1:
            for arrow in seen.incoming:
                crowd[self._side(arrow, place)] += 2
        return "left" if crowd["left"] < crowd["right"] else "right"

    def _passing(self, row: _Row, column: int, side: Side) -> int:
        """How many messages pass by a process on that side, while the row is at its height."""
        place = self.chart.lane(column) or 0
        at = self.row_of[row.happenings[0].number]
        passing = 0
        for origin, target, first, last in self.spans:
            if first < at < last:
                x = origin + (target - origin) * (at - first) / (last - first)
                passing += (place - 0.9 < x < place) if side == "left" else (place < x < place + 0.9)
        return passing

    def _spans(self) -> list[tuple[int, int, int, int]]:
        """From which lane to which, and from which row to which, every message goes that arrives."""
        lanes = {lane.column: place for place, lane in enumerate(self.chart.lanes)}
        return [
            (lanes[arrow.sender], lanes[arrow.receiver], self.row_of.get(arrow.sent, -1), self.row_of[arrow.ended])
            for arrow in self.chart.arrows
            if arrow.ended is not None
        ]

    def _heard(self, seen: Happening, place: int) -> list[tuple[Side, Arrow, int]]:
        """The messages that arrive, equal ones together."""
        groups: dict[tuple[Side, str], list[Arrow]] = {}
        for arrow in seen.incoming:
            groups.setdefault((self._side(arrow, place), show(arrow.message)), []).append(arrow)
        return [(side, same[0], len(same)) for (side, _), same in groups.items()]

    def _side(self, arrow: Arrow, place: int) -> Side:
        origin = self.chart.lane(arrow.sender)
        return "right" if origin is None or origin >= place else "left"

    def _message(self, seen: Happening, arrow: Arrow, copies: int) -> Lines:
        prefix = f"{copies}\u00d7 " if copies > 1 else ""
        suffix = " (kept)" if arrow.end == "kept" and seen.kind == "step" else ""
        style = {"lose": "fault", "duplicate": "fault", "discard": "fault", "deliver": "note"}.get(
            seen.kind, f"message:{type(arrow.message).__name__}"
        )
        style = "attack" if arrow.byzantine else style
        return fitted([prefix + form + suffix for form in forms(arrow.message)], self.room, style)

    def _title(self, seen: Happening) -> Lines:
        number = Span(f"{seen.number} ", "number")
        style = {"step": "title", "deliver": "quiet"}.get(seen.kind, "mishap")
        spans: Text = (number, Span(seen.title, style))
        if width(spans) > self.room:
            short = fitted([seen.title], self.room - width((number,)), spans[1].style)
            spans = (number, short.lines[0][0])
        return Lines((spans,), f"{seen.number}. {seen.title}")

    def _details(self, seen: Happening) -> list[Lines]:
        said = [self._change(difference) for difference in seen.changes]
        said += [fitted([note], self.room, "note") for note in seen.notes]
        if seen.failure is not None:
            said.append(fitted([f"fails: {seen.failure}"], self.room, "bad"))
        return said

    def _unheard(self, seen: Happening) -> list[Lines]:
        """What is sent here and labelled nowhere else, since nobody in the picture receives it."""
        arrived = {
            show(arrow.message)
            for arrow in self.chart.arrows
            if arrow.sent == seen.number and arrow.ended is not None and arrow.end not in ("merged", "replaced")
            if not self.rows[self.row_of[arrow.ended]].hidden
        }
        shown = {lane.column for lane in self.chart.lanes}
        said: dict[str, Lines] = {}
        for arrow in seen.outgoing if not seen.by_network else ():
            name = show(arrow.message)
            if name not in arrived and name not in said and arrow.receiver in shown:
                style = "attack" if arrow.byzantine else f"message:{type(arrow.message).__name__}"
                said[name] = fitted([f"⇢\u00a0{form}" for form in forms(arrow.message)], self.room, style)
        return list(said.values())

    def _change(self, difference: Difference) -> Lines:
        path, kind, before, after = difference
        if kind == "changed":
            choices = [
                f"{path}: {show(before)} → {show(after)}",
                f"{path}: {compact(before)} → {compact(after)}",
                f"{path} = {show(after)}",
                f"{path} = {compact(after)}",
            ]
        else:
            sign, value = ("+", after) if kind == "added" else ("-", before)
            choices = [f"{path}: {sign} {show(value)}", f"{path}: {sign} {compact(value)}"]
        return fitted(choices, self.room, "change")

    def _margin(self, side: Side) -> float:
        """What stands outside of the first or the last lifeline."""
        edge = 0 if side == "left" else len(self.chart.lanes) - 1
        widest = self.head / 2
        for line in self._waits(edge).lines if self.chart.waiting else ():
            widest = max(widest, width(line) / 2 + 4)
        for row in self.rows:
            for seen in row.happenings:
                if self.chart.lane(seen.column) == edge and not row.hidden:
                    lines = (row.left if side == "left" else row.right)[seen.number]
                    widest = max(widest, *(width(line) + ASIDE + 4 for line in lines), 0.0)
        return widest

    def _least(self) -> float:
        """What the lines across the whole picture ask for, within reason."""
        across = [self._footnote()]
        if not self.brief:
            across += self.chart.reasons
        asked = max([*(width((Span(text),)) + 50 for text in across), 0.0 if self.brief else width(self._heading())])
        return min(900.0, 2 * MARGIN + asked)

    def _heading(self) -> Text:
        return Span(self.chart.name, "title"), Span(f"  {self.chart.subtitle}", "quiet")

    def _titles(self, room: float) -> list[Text]:
        """The title on one line, if it fits; else the name and what is said of it on lines of their own."""
        if width(self._heading()) <= room:
            return [self._heading()]
        characters = int(room / width((Span("x", "title"),)))
        return [
            (Span(line, style),)
            for text, style in ((self.chart.name, "title"), (self.chart.subtitle, "quiet"))
            for line in wrap(text, characters)
        ]

    def _footnote(self) -> str:
        left_out = self.chart.left_out
        return f"not in the picture, since nothing happens there: {names(left_out)}" if left_out else ""

    # --- places ------------------------------------------------------------------------------------------------

    def x(self, place: int) -> float:
        return self.first + place * self.gap

    def _place(self) -> None:
        drawing = self.drawing
        drawing.titles = [] if self.brief else self._titles(drawing.width - 2 * MARGIN)
        y = MARGIN + (0.0 if self.brief else TITLE + LINE * (len(drawing.titles) - 1))
        self._head(y)
        y += ROLES + HEADS
        top = y
        y += BETWEEN_ROWS
        at: dict[int, _Row] = {0: _Row([], top=top)}  # what was in flight when the run began
        previous: Fold | None = None
        named = top
        for row in self.rows:
            for seen in row.happenings:
                at[seen.number] = row
                if seen.number == self.chart.loop:
                    drawing.bracket = Bracket(MARGIN + 6.0, previous.y if row.hidden and previous else y, 0.0)
                    y += 0.0 if row.hidden else LINE + 8.0
            if row.hidden:
                if previous is None:
                    previous = Fold(y, 34.0, self._folded())
                    drawing.folds.append(previous)
                    y += previous.height + BETWEEN_ROWS
                row.top, row.height = previous.y, previous.height
                continue
            if y + row.height - named > SCREEN:
                drawing.reminders += [replace(head, y=y) for head in drawing.heads]
                y += HEADS + BETWEEN_ROWS
                named = y
            row.top = y
            self._write(row)
            y += row.height + BETWEEN_ROWS
        if drawing.bracket is not None:
            drawing.bracket.bottom = y - 6.0
            y += 6.0
        if self.chart.stops:
            y = self._waiting(y)
        drawing.end = y
        self._lives(top, y)
        for arrow in self.chart.arrows:
            self._line(arrow, at)
        drawing.footnote = self._footnote()
        drawing.reasons = [] if self.brief else self.chart.reasons
        below = 26.0 + LINE * len(drawing.reasons) if self.chart.verdict else 0.0
        below += 22.0 if drawing.footnote else 0.0
        drawing.height = y + below + MARGIN

    def _waiting(self, y: float) -> float:
        """A band that says that nothing happens any more, and below it what each process waits for."""
        band = Fold(y, 34.0, STOPS)
        self.drawing.folds.append(band)
        y += band.height + 4.0
        most = 0
        for place in range(len(self.chart.lanes)):
            said = self._waits(place)
            for number, spans in enumerate(said.lines, start=1):
                self.drawing.labels.append(Label(self.x(place), y + LINE * number, "middle", spans, full=said.full))
            most = max(most, len(said.lines))
        return y + LINE * most + BETWEEN_ROWS

    def _waits(self, place: int) -> Lines:
        lane = self.chart.lanes[place]
        said = self.chart.waiting.get(lane.column, "").removeprefix(lane.name).strip()
        return fitted([said], self.room, "note") if said else Lines(())

    def _head(self, y: float) -> None:
        half = self.head / 2
        start = 0
        for place, lane in enumerate(self.chart.lanes):
            head = Head(self.x(place), y + ROLES, 2 * half, lane.name, lane.byzantine, lane.read)
            self.drawing.heads.append(head)
            last = place + 1 == len(self.chart.lanes) or self.chart.lanes[place + 1].role != lane.role
            if last:
                self.drawing.roles.append(Role(self.x(start) - half, self.x(place) + half, y, lane.role))
                start = place + 1

    def _write(self, row: _Row) -> None:
        last = self.chart.happenings[-1].number
        for seen in row.happenings:
            place = self.chart.lane(seen.column) or 0
            x = self.x(place)
            bad = seen.number == last and self.chart.bad and self.chart.loop is None
            bar = Bar(
                seen.number,
                x,
                row.top,
                row.top + row.height,
                seen.kind,
                seen.quorum,
                seen.byzantine,
                bad,
                row.full[seen.number],
            )
            self.drawing.bars.append(bar)
            self._column(row.left[seen.number], x - ASIDE, row.top, "end", seen.number, row)
            self._column(row.right[seen.number], x + ASIDE, row.top, "start", seen.number, row)

    def _column(
        self, lines: list[Text], x: float, top: float, anchor: Literal["start", "end"], number: int, row: _Row
    ) -> None:
        for position, spans in enumerate(lines):
            y = top + LINE * (position + 1)
            self.drawing.labels.append(Label(x, y, anchor, spans, number, row.full[number]))

    def _folded(self) -> str:
        hidden = [seen for row in self.rows if row.hidden for seen in row.happenings]
        return f"{count(len(hidden), 'step')} not shown: {hidden[0].number} to {hidden[-1].number}"

    def _lives(self, top: float, bottom: float) -> None:
        for place, lane in enumerate(self.chart.lanes):
            start, alive = top, True
            for row in self.rows:
                for seen in row.happenings:
                    if seen.column == lane.column and seen.kind in ("crash", "recover"):
                        end = row.top + (row.height if seen.kind == "crash" else 0.0)
                        self.drawing.lives.append(Life(self.x(place), start, end, alive))
                        start, alive = end, seen.kind == "recover"
            self.drawing.lives.append(Life(self.x(place), start, bottom, alive))
        rows = {seen.number: row for row in self.rows for seen in row.happenings}
        for interval in self.chart.intervals:
            at = self.chart.lane(interval.column)
            if at is not None and interval.began in rows:
                until = rows.get(interval.ended or 0)
                end = bottom if until is None else until.top + until.height
                self.drawing.busy.append(Busy(self.x(at), rows[interval.began].top, end, interval.text))

    def _line(self, arrow: Arrow, at: dict[int, _Row]) -> None:
        origin, target = self.chart.lane(arrow.sender), self.chart.lane(arrow.receiver)
        if origin is None or target is None:
            return
        sent = at[arrow.sent]
        side = 1.0 if origin >= target else -1.0
        x1, y1 = self.x(origin), sent.top + sent.height
        if arrow.ended is None and arrow.sent == 0:
            return  # it stays where it was
        loop = origin == target or arrow.copy
        if arrow.copy:
            at_mark = any(each.kind == "duplicate" for each in sent.happenings)
            x1, y1 = self.x(target) + AWAY * side, sent.top + (8 if at_mark else 1)
        if arrow.ended is None or arrow.end in ("merged", "replaced"):
            if sent.hidden:
                return
            x2, y2 = self.x(target) + side * (26.0 if loop else 9.0), y1 + BETWEEN_ROWS * 0.72
            self.drawing.lines.append(Line(x1, y1, x2, y2, arrow, loop=False))
            return
        ended = at[arrow.ended]
        if arrow.at_will:
            y1 = ended.top - BETWEEN_ROWS * 0.6
        if sent.hidden and ended.hidden:
            return
        seen = next(each for each in ended.happenings if each.number == arrow.ended)
        away = AWAY if seen.kind in ("lose", "discard", "deliver") else HALF_JOIN if seen.quorum else HALF_BAR + 1
        x2 = self.x(target) + side * away
        y2 = ended.top + 1
        if ended.hidden:
            y2 = ended.top
        self.drawing.lines.append(Line(x1, y1, x2, y2, arrow, loop=loop, cut_start=sent.hidden, cut_end=ended.hidden))
