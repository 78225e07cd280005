"""A chart as SVG: one file that looks the same everywhere, in light and in dark.

Colours and strokes are in classes. On its own the picture brings them along; within a page, the page has them
(`style(...)`), so that it can switch between light and dark, and highlight a step.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from math import hypot

from quorate.base.printable import printable_lines
from quorate.render.chart.fitting import LINE, SIZE
from quorate.render.chart.layout import AWAY, HALF_BAR, HALF_JOIN, LETTER, MARGIN, Bar, Drawing, Head, Label, Line
from quorate.render.chart.model import Arrow
from quorate.render.lasso import AGAIN
from quorate.render.palette import DARK_HUES, LIGHT_HUES, MONO, SANS

HUES = 6
HALF_OPERATION = 8.0
"""Of the bar along a lifeline while an operation is under way: wider than a step, and behind it."""

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2430",
    "faint": "#7a8291",
    "rule": "#c9ced8",
    "band": "#eef1f6",
    "bar": "#3b4252",
    "good": "#1a7f4b",
    "bad": "#c62839",
    "badpaper": "#fdecee",
    "goodpaper": "#e8f6ee",
    "fault": "#b25e09",
    "attack": "#a21caf",
    "change": "#14705f",
    **LIGHT_HUES,
}
DARK = {
    "paper": "#14171f",
    "ink": "#e6e9f0",
    "faint": "#8d96a8",
    "rule": "#3a4152",
    "band": "#1e2330",
    "bar": "#aab4c8",
    "good": "#57c98b",
    "bad": "#ff7081",
    "badpaper": "#3a1a20",
    "goodpaper": "#15301f",
    "fault": "#f0a04b",
    "attack": "#e879f9",
    "change": "#63cdb6",
    **DARK_HUES,
}


def escape(text: str) -> str:
    """Text as XML, which knows no control characters, escaped or not. Lines stay apart: titles have several."""
    return html.escape(printable_lines(text))


def svg(drawing: Drawing, *, alone: bool = True, dark: bool | None = None) -> str:
    """The picture. `alone`: with its own styles, for a file; `dark=None` leaves the choice to whoever looks at it."""
    return "\n".join(_Writer(drawing).write(alone, dark)) + "\n"


def style(colours: dict[str, str] | None = None) -> str:
    """The classes of a chart: in these colours, or in those of the page, which has them as variables."""

    def colour(name: str) -> str:
        return colours[name] if colours is not None else f"var(--{name})"

    rules = [
        f".chart text{{font-family:{MONO};font-size:{SIZE:g}px;fill:{colour('ink')}}}",
        f".chart .paper{{fill:{colour('paper')}}}",
        f".chart text.halo{{stroke:{colour('paper')};stroke-width:5px;stroke-linejoin:round;paint-order:stroke}}",
        f".chart .sans,.chart text .title,.chart text .mishap{{font-family:{SANS};font-size:12px}}",
        f".chart text .quiet,.chart text .number{{font-family:{SANS};font-size:12px}}",
        ".chart text .title,.chart text .mishap,.chart .strong{font-weight:600}",
        f".chart text .number,.chart text .quiet,.chart .faint{{fill:{colour('faint')}}}",
        f".chart text .note{{fill:{colour('faint')};font-style:italic}}",
        f".chart text .change{{fill:{colour('change')}}}",
        f".chart text .fault,.chart text .mishap{{fill:{colour('fault')}}}",
        f".chart .copy{{fill:{colour('paper')};stroke:{colour('fault')};stroke-width:1.6}}",
        f".chart text .attack{{fill:{colour('attack')}}}",
        f".chart text .bad,.chart text.bad{{fill:{colour('bad')}}}",
        f".chart text.good{{fill:{colour('good')}}}",
        f".chart .band{{fill:{colour('band')}}}",
        f".chart .rule{{stroke:{colour('rule')};stroke-width:1;fill:none}}",
        f".chart .life{{stroke:{colour('rule')};stroke-width:1.5;fill:none}}",
        f".chart .life.dead{{stroke:{colour('fault')};stroke-dasharray:1 5;stroke-linecap:round}}",
        f".chart .head{{fill:{colour('band')};stroke:{colour('rule')};stroke-width:1}}",
        f".chart .head.read{{stroke:{colour('bad')};stroke-width:1.6}}",
        f".chart .head.attack{{stroke:{colour('attack')};stroke-width:1.6}}",
        f".chart .bar{{fill:{colour('bar')}}}",
        f".chart .bar.bad{{fill:{colour('bad')}}}",
        f".chart .bar.fault{{fill:{colour('fault')}}}",
        f".chart .bar.attack{{fill:{colour('attack')}}}",
        f".chart .cross{{stroke:{colour('fault')};stroke-width:2.4;stroke-linecap:round;fill:none}}",
        f".chart .badbox{{fill:{colour('badpaper')};stroke:{colour('bad')};stroke-width:1}}",
        f".chart .goodbox{{fill:{colour('goodpaper')};stroke:{colour('good')};stroke-width:1}}",
        ".chart .flight{fill:none;stroke-width:1.4}",
        ".chart .flight.never{stroke-dasharray:4 4;opacity:.6}",
        f".chart .hollow{{fill:{colour('paper')};stroke-width:1.4}}",
        f".chart .flight.gone{{stroke:{colour('fault')};stroke-dasharray:6 3}}",
        f".chart .flight.attack,.chart .hollow.attack{{stroke:{colour('attack')}}}",
        f".chart .tip.attack{{fill:{colour('attack')}}}",
    ]
    for hue in range(HUES):
        rules.append(f".chart .flight.t{hue},.chart .hollow.t{hue}{{stroke:{colour(f't{hue}')}}}")
        rules.append(f".chart .tip.t{hue},.chart text .t{hue}{{fill:{colour(f't{hue}')}}}")
    return "\n".join(rules)


class _Writer:
    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.chart = drawing.chart
        types = dict.fromkeys(type(arrow.message).__name__ for arrow in self.chart.arrows)
        self.hues = {name: number % HUES for number, name in enumerate(types)}

    def write(self, alone: bool, dark: bool | None) -> Iterator[str]:
        drawing, chart = self.drawing, self.chart
        size = f'width="{drawing.width:.0f}" height="{drawing.height:.0f}"'
        box = f'viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}"'
        told = f"{chart.name}: {chart.verdict}"
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" {size} {box} role="img" '
            f'aria-label="{escape(told)}">'
        )
        yield f"<title>{escape(told)}</title>"
        if alone:
            yield "<style>"
            yield style(DARK if dark else LIGHT)
            if dark is None:
                yield f"@media (prefers-color-scheme: dark) {{\n{style(DARK)}\n}}"
            yield "</style>"
            yield f'<rect class="paper" width="{drawing.width:.0f}" height="{drawing.height:.0f}"/>'
        for number, title in enumerate(drawing.titles):
            classes = {"title": "title", "quiet": "faint"}
            spans = "".join(f'<tspan class="{classes[each.style]}">{escape(each.text)}</tspan>' for each in title)
            place = f'x="{MARGIN:g}" y="{MARGIN + 10 + LINE * number:g}"'
            yield f'<text class="sans" {place} xml:space="preserve">{spans}</text>'
        yield from self._heads()
        yield from self._lives()
        yield from self._folds()
        yield from self._bracket()
        for line in drawing.lines:
            yield from self._flight(line)
        yield from self._reminders()
        yield from self._steps()
        yield from self._verdict()
        yield "</svg>"

    def _heads(self) -> Iterator[str]:
        yield '<g class="heads">'
        for role in self.drawing.roles:
            middle = (role.left + role.right) / 2
            yield f'<path class="rule" d="M{role.left:.1f} {role.y + 16:.1f}V{role.y + 13:.1f}H{role.right:.1f}v3"/>'
            yield (
                f'<text class="sans faint" x="{middle:.1f}" y="{role.y + 8:.1f}" text-anchor="middle">'
                f"{escape(role.name)}</text>"
            )
        for head in self.drawing.heads:
            yield from self._head(head)
        yield "</g>"

    def _reminders(self) -> Iterator[str]:
        if self.drawing.reminders:
            yield '<g class="reminders" aria-hidden="true">'
            for head in self.drawing.reminders:
                yield from self._head(head)
            yield "</g>"

    def _head(self, head: Head) -> Iterator[str]:
        kind = " attack" if head.byzantine else " read" if head.read and self.chart.bad else ""
        yield (
            f'<rect class="head{kind}" x="{head.x - head.width / 2:.1f}" y="{head.y:.1f}" '
            f'width="{head.width:.1f}" height="22" rx="5"/>'
        )
        room = int((head.width - 8) / LETTER)
        name = head.name if len(head.name) <= room else head.name[: room - 1] + "…"
        mark = " ☠" if head.byzantine else ""
        yield (
            f'<text class="sans strong" x="{head.x:.1f}" y="{head.y + 15:.1f}" text-anchor="middle">'
            f"{escape(name)}{mark}</text>"
        )

    def _lives(self) -> Iterator[str]:
        yield '<g class="lives">'
        for life in self.drawing.lives:
            dead = "" if life.alive else " dead"
            yield f'<path class="life{dead}" d="M{life.x:.1f} {life.top - 4:.1f}V{life.bottom:.1f}"/>'
        for busy in self.drawing.busy:
            place = f'x="{busy.x - HALF_OPERATION:.1f}" y="{busy.top:.1f}" height="{busy.bottom - busy.top:.1f}"'
            yield f'<rect class="operation" {place} width="{2 * HALF_OPERATION:g}" rx="4" fill-opacity=".14">'
            yield f"<title>{escape(busy.text)}</title></rect>"
        yield "</g>"

    def _folds(self) -> Iterator[str]:
        for fold in self.drawing.folds:
            width = self.drawing.width - 2 * MARGIN
            yield '<g class="fold">'
            place = f'x="{MARGIN:g}" y="{fold.y:.1f}" width="{width:.1f}" height="{fold.height:g}"'
            yield f'<rect class="band" {place} rx="6"/>'
            yield (
                f'<text class="sans faint" x="{self.drawing.width / 2:.1f}" y="{fold.y + 21:.1f}" '
                f'text-anchor="middle">⋮ {escape(fold.text)} ⋮</text></g>'
            )

    def _bracket(self) -> Iterator[str]:
        """From the end of the loop back to its beginning."""
        bracket = self.drawing.bracket
        if bracket is None:
            return
        x, top, bottom = bracket.x, bracket.top, bracket.bottom
        yield '<g class="loop">'
        yield f'<path class="again cross" d="M{x + 12:.1f} {bottom:.1f}H{x:.1f}V{top:.1f}H{x + 8:.1f}"/>'
        yield f'<path class="bar fault" d="{_tip(x + 14, top, 1.0, 0.0)}"/>'
        words = f'<tspan class="mishap">{AGAIN}</tspan>'
        yield f'<text class="halo" x="{x + 20:.1f}" y="{top + 4:.1f}">{words}</text></g>'

    # --- messages ----------------------------------------------------------------------------------------------

    def _hue(self, arrow: Arrow) -> str:
        return "attack" if arrow.byzantine else f"t{self.hues[type(arrow.message).__name__]}"

    def _flight(self, line: Line) -> Iterator[str]:
        arrow, hue = line.arrow, self._hue(line.arrow)
        arrived = arrow.end in ("received", "kept", "delivered")
        gone = arrow.end in ("lost", "discarded")
        kind = "" if arrived else " gone" if gone else " never"
        from_to = f'data-sent="{arrow.sent}"' + (f' data-ended="{arrow.ended}"' if arrow.ended is not None else "")
        yield f'<g class="flying {arrow.end}" {from_to}>'
        yield f"<title>{escape(self._told(arrow))}</title>"
        if line.loop:
            out = 30.0 if line.x1 >= line.x2 else -30.0
            bend = f"{line.x1 + out:.1f} {line.y1 + 6:.1f} {line.x2 + out:.1f} {line.y2 - 6:.1f}"
            path = f"M{line.x1:.1f} {line.y1:.1f}C{bend} {line.x2:.1f} {line.y2:.1f}"
            direction = (-1.0 if out > 0 else 1.0, 0.1)
        else:
            path = f"M{line.x1:.1f} {line.y1:.1f}L{line.x2:.1f} {line.y2:.1f}"
            length = hypot(line.x2 - line.x1, line.y2 - line.y1) or 1.0
            direction = ((line.x2 - line.x1) / length, (line.y2 - line.y1) / length)
        yield f'<path class="flight {hue}{kind}" d="{path}"/>'
        if arrow.byzantine and not line.cut_start:
            yield f'<path class="tip {hue}" d="M{line.x1:.1f} {line.y1 - 5:.1f}l4.5 5l-4.5 5l-4.5-5Z"/>'
        if gone:
            yield _cross(line.x2, line.y2)
        elif arrow.end == "later":
            x, y = line.x2, line.y2
            yield f'<path class="flight {hue}" d="M{x + 5:.1f} {y:.1f}A5 5 0 1 1 {x:.1f} {y - 5:.1f}"/>'
            yield f'<path class="tip {hue}" d="M{x + 4:.1f} {y - 5:.1f}l-4.5-2.8v5.6Z"/>'
        elif not arrived:
            yield f'<circle class="hollow {hue}" cx="{line.x2:.1f}" cy="{line.y2:.1f}" r="3"/>'
        elif arrow.end == "delivered":
            yield f'<circle class="tip {hue}" cx="{line.x2:.1f}" cy="{line.y2:.1f}" r="3"/>'
        elif not line.cut_end:
            yield f'<path class="tip {hue}" d="{_tip(line.x2, line.y2, *direction)}"/>'
        yield "</g>"

    def _told(self, arrow: Arrow) -> str:
        from quorate.base.values import show

        name = {lane.column: lane.name for lane in self.chart.lanes}
        ends = {
            "received": f"received in step {arrow.ended}",
            "kept": f"read in step {arrow.ended}",
            "delivered": f"delivered in step {arrow.ended}",
            "lost": f"lost in step {arrow.ended}",
            "discarded": f"discarded in step {arrow.ended}",
            "replaced": f"replaced in step {arrow.ended}",
            "merged": "in flight already",
            "later": "received when the loop comes round again",
            "never": "never received",
        }
        since = f"{'at the receiver since' if arrow.copy else 'sent in'} step {arrow.sent}"
        since = since if arrow.sent else "in flight from the beginning"
        return f"{show(arrow.message)} from {name[arrow.sender]} to {name[arrow.receiver]}, {since}, {ends[arrow.end]}"

    # --- steps -------------------------------------------------------------------------------------------------

    def _steps(self) -> Iterator[str]:
        labels: dict[int, list[Label]] = {}
        for label in self.drawing.labels:
            labels.setdefault(label.number, []).append(label)
        for bar in self.drawing.bars:
            yield f'<g class="step" data-step="{bar.number}">'
            yield f"<title>{escape(bar.text)}</title>"
            yield from self._bar(bar)
            for label in labels.get(bar.number, []):
                yield self._label(label)
            yield "</g>"
        for label in labels.get(0, []):  # of no step: what processes wait for at the end
            yield self._label(label)

    def _bar(self, bar: Bar) -> Iterator[str]:
        kind = " bad" if bar.bad else " attack" if bar.byzantine else ""
        if bar.kind == "duplicate":
            side = self._side(bar)
            for x, y in ((-2.5, -1.5), (1.5, 2.5)):
                yield f'<circle class="copy" cx="{bar.x + side * AWAY + x:.1f}" cy="{bar.top + 8 + y:.1f}" r="4.5"/>'
        if bar.kind in ("lose", "duplicate", "deliver"):
            return
        if bar.kind == "crash":
            kind = " bad" if bar.bad else " fault"
            yield _cross(bar.x, bar.bottom - 6, 6.0)
        if bar.kind == "recover":
            kind = " fault"
        height = bar.bottom - bar.top + 3 - (14 if bar.kind == "crash" else 0)
        yield (
            f'<rect class="bar{kind}" x="{bar.x - HALF_BAR:.1f}" y="{bar.top - 3:.1f}" width="{2 * HALF_BAR:g}" '
            f'height="{max(6.0, height):.1f}" rx="2.5"/>'
        )
        if bar.quorum:
            yield (
                f'<rect class="bar join{kind}" x="{bar.x - HALF_JOIN:.1f}" y="{bar.top - 3:.1f}" '
                f'width="{2 * HALF_JOIN:g}" height="6" rx="3"/>'
            )

    def _side(self, bar: Bar) -> float:
        """On which side of the lifeline a copied message is: where it comes from."""
        arrow = next(seen for seen in self.chart.happenings if seen.number == bar.number).incoming[0]
        origin, target = self.chart.lane(arrow.sender), self.chart.lane(arrow.receiver)
        return 1.0 if origin is None or target is None or origin >= target else -1.0

    def _label(self, label: Label) -> str:
        anchor = f' text-anchor="{label.anchor}"' if label.anchor != "start" else ""
        spans = "".join(f'<tspan class="{self._class(span.style)}">{escape(span.text)}</tspan>' for span in label.spans)
        return f'<text class="halo" x="{label.x:.1f}" y="{label.y:.1f}"{anchor} xml:space="preserve">{spans}</text>'

    def _class(self, style: str) -> str:
        """Messages are coloured by their type."""
        kind, _, name = style.partition(":")
        return f"t{self.hues[name]}" if kind == "message" else kind

    # --- the end -----------------------------------------------------------------------------------------------

    def _verdict(self) -> Iterator[str]:
        drawing, chart = self.drawing, self.chart
        tone = "bad" if chart.bad else "good"
        top = drawing.end
        height = 26.0 + LINE * len(drawing.reasons) if chart.verdict else 0.0
        yield '<g class="verdict">'
        if chart.verdict:
            yield from self._box(tone, top, height)
        if drawing.footnote:
            below = top + height + 18
            yield f'<text class="sans faint" x="{MARGIN:g}" y="{below:.1f}">{escape(drawing.footnote)}</text>'
        yield "</g>"

    def _box(self, tone: str, top: float, height: float) -> Iterator[str]:
        drawing, chart = self.drawing, self.chart
        yield (
            f'<rect class="{tone}box" x="{MARGIN:g}" y="{top:.1f}" width="{drawing.width - 2 * MARGIN:.1f}" '
            f'height="{height:.1f}" rx="6"/>'
        )
        sign = "✗" if chart.bad else "✓"
        yield (
            f'<text class="sans strong {tone}" x="{MARGIN + 14:g}" y="{top + 17:.1f}">{sign} '
            f"{escape(chart.verdict)}</text>"
        )
        for number, reason in enumerate(drawing.reasons):
            room = int((drawing.width - 2 * MARGIN - 44) / (0.605 * SIZE))
            text = reason if len(reason) <= room else reason[: room - 1] + "…"
            yield (
                f'<text x="{MARGIN + 30:g}" y="{top + 17 + LINE * (number + 1):.1f}" xml:space="preserve">'
                f"{escape(text)}</text>"
            )


def _tip(x: float, y: float, dx: float, dy: float) -> str:
    """An arrow's head at a point, in a direction."""
    back, half = 7.5, 3.2
    bx, by = x - dx * back, y - dy * back
    return f"M{x:.1f} {y:.1f}L{bx - dy * half:.1f} {by + dx * half:.1f}L{bx + dy * half:.1f} {by - dx * half:.1f}Z"


def _cross(x: float, y: float, half: float = 4.5) -> str:
    return (
        f'<path class="cross" d="M{x - half:.1f} {y - half:.1f}L{x + half:.1f} {y + half:.1f}'
        f'M{x - half:.1f} {y + half:.1f}L{x + half:.1f} {y - half:.1f}"/>'
    )
