"""An automaton as SVG: states in a row, loops above them, everything that leads back or far ahead below.

Every label has a place of its own, whatever the automaton, so that nothing is ever drawn over: an arrow to the next
state is as long as its label, and arrows below run in lanes that no two share where they overlap.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap

from quorate.base.errors import LimitError
from quorate.base.printable import printable
from quorate.properties.temporal.automaton import Automaton
from quorate.render.automata.arrows import Arrow, Line, accepted_runs, arrows
from quorate.render.palette import DARK_HUES, LIGHT_HUES, MONO, SANS

RADIUS, MARGIN, LETTER, LINE = 21.0, 28.0, 7.25, 19.0
DOT, DOT_STEP = 7.0, 16.0
LOOP = 34.0  # how far a loop rises above its state
BEND = 12.0  # of the corners of lanes
NARROWEST = 250.0  # that notes can be read in
HUES = 6
MOST_ARROWS = 600  # nobody can follow as many
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2430",
    "faint": "#667085",
    "line": "#8a93a5",
    "state": "#eef1f6",
    "rim": "#3b4252",
    "number": "#ffffff",
    **LIGHT_HUES,
}
DARK = {
    "paper": "#14171f",
    "ink": "#e6e9f0",
    "faint": "#98a1b3",
    "line": "#7c8699",
    "state": "#1e2330",
    "rim": "#aab4c8",
    "number": "#14171f",
    **DARK_HUES,
}


def picture(automaton: Automaton, *, title: str, notes: Sequence[str] = (), dark: bool | None = None) -> str:
    """The whole file; `dark=None` leaves the choice to whoever looks at it."""
    return "\n".join(_Picture(automaton, title, notes).write(dark)) + "\n"


@dataclass
class _Lane:
    """An arrow below the states: from where to where, and how deep."""

    arrow: Arrow
    depth: int = 0
    middle: float = 0.0  # of the label
    ports: dict[int, float] = field(default_factory=dict)

    @property
    def span(self) -> tuple[int, int]:
        return min(self.arrow.source, self.arrow.target), max(self.arrow.source, self.arrow.target)


class _Picture:
    def __init__(self, automaton: Automaton, title: str, notes: Sequence[str]) -> None:
        self.automaton = automaton
        self.title = title
        self.notes = [*notes, accepted_runs(automaton)]
        self.written: list[str] = []  # the notes, in lines
        found = arrows(automaton)
        if len(found) > MOST_ARROWS:
            raise LimitError(
                f"the automaton is too large to be drawn: it has {len(found):,} arrows, and at most {MOST_ARROWS} fit",
                hint="--hoa, --json and the table have no such limit",
                code="Q505",
            )
        self.loops = {arrow.source: arrow for arrow in found if arrow.source == arrow.target}
        self.ahead = {arrow.source: arrow for arrow in found if arrow.target == arrow.source + 1}
        rest = [arrow for arrow in found if arrow.target not in (arrow.source, arrow.source + 1)]
        self.lanes = [_Lane(arrow) for arrow in rest]
        self._assign_depths()
        self._place()

    # --- layout ------------------------------------------------------------------------------------------------

    def _assign_depths(self) -> None:
        """Short arrows run nearest to the states; arrows that overlap run at different depths."""
        used: list[list[tuple[int, int]]] = []
        for lane in sorted(self.lanes, key=lambda lane: (lane.span[1] - lane.span[0], lane.span, lane.arrow.source)):
            low, high = lane.span
            for depth, taken in enumerate(used):
                if all(high <= other_low or other_high <= low for other_low, other_high in taken):
                    lane.depth = depth
                    taken.append(lane.span)
                    break
            else:
                lane.depth = len(used)
                used.append([lane.span])
        self.depths = len(used)

    def _place(self) -> None:
        automaton = self.automaton
        loop_widths = [
            _label_width(self.loops[state].lines) if state in self.loops else 0.0 for state in range(automaton.states)
        ]
        x = MARGIN + max(RADIUS + 26, loop_widths[0] / 2)
        self.x = [x]
        for state in range(1, automaton.states):
            before = self.ahead.get(state - 1)
            gap = 2 * RADIUS + (_label_width(before.lines) + 44 if before else 30)
            loops = (loop_widths[state - 1] + loop_widths[state]) / 2 + 24
            x += max(gap, loops, 96)
            self.x.append(x)
        self._widen_for_lanes()
        right = self.x[-1] + max(RADIUS, loop_widths[-1] / 2) + MARGIN
        room = max(right - 2 * MARGIN, LETTER * 1.18 * len(self.title), NARROWEST)
        self.width = room + 2 * MARGIN
        self.written = [line for note in self.notes for line in wrap(note, int(room / (0.87 * LETTER)))]
        self._shift(0, (self.width - right) / 2)
        tallest = max((len(arrow.lines) for arrow in self.loops.values()), default=0)
        ahead = max((len(arrow.lines) for arrow in self.ahead.values()), default=0)
        above = max(LOOP + 10 + LINE * tallest if tallest else 0.0, LINE * ahead + 8 - RADIUS)
        self.y = MARGIN + 24 + above + RADIUS
        self.lane_y: list[float] = []
        y = self.y + RADIUS + 12
        for depth in range(self.depths):
            lines = max(len(lane.arrow.lines) for lane in self.lanes if lane.depth == depth)
            y += LINE * lines + 14
            self.lane_y.append(y)
        self.bottom = max(y + 18, self.y + RADIUS + 30)
        self.height = self.bottom + 18 * len(self.written) + MARGIN / 2

    def _shift(self, first: int, by: float) -> None:
        """Move a state and all that follow to the right."""
        self.x[first:] = [x + by for x in self.x[first:]]
        self._assign_ports()
        for lane in self.lanes:
            left, right = self._room(lane)
            lane.middle = (left + right) / 2

    def _widen_for_lanes(self) -> None:
        """Give every lane room for its label."""
        self._shift(0, 0)
        for lane in self.lanes:
            left, right = self._room(lane)
            missing = _label_width(lane.arrow.lines) + 14 - (right - left)
            if missing > 0:
                first = next(state for state, x in enumerate(self.x) if x + RADIUS >= right)
                self._shift(first, missing)

    def _room(self, lane: _Lane) -> tuple[float, float]:
        """The widest stretch of a lane that no deeper one crosses on its way down."""
        ends = sorted(lane.ports.values())
        crossed = [
            port
            for other in self.lanes
            if other.depth > lane.depth
            for port in other.ports.values()
            if ends[0] < port < ends[1]
        ]
        stops = [ends[0] + 4, *sorted(crossed), ends[1] - 4]
        left, right = max(pairwise(stops), key=lambda pair: pair[1] - pair[0])
        return left, right

    def _assign_ports(self) -> None:
        """Give every end of a lane a point of its own on its state."""
        for state in range(self.automaton.states):
            here = [lane for lane in self.lanes if state in lane.span]
            # What goes left leaves on the left, deep ones in the middle: so no two of them cross.
            left = sorted((lane for lane in here if lane.span[1] == state), key=lambda lane: lane.depth)
            right = sorted((lane for lane in here if lane.span[0] == state), key=lambda lane: -lane.depth)
            order = [*left, *right]
            for place, lane in enumerate(order):
                step = min(11.0, 1.5 * RADIUS / max(1, len(order) - 1))
                lane.ports[state] = self.x[state] + step * (place - (len(order) - 1) / 2)

    # --- writing -----------------------------------------------------------------------------------------------

    def write(self, dark: bool | None) -> Iterator[str]:
        size = f'width="{self.width:.0f}" height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
        label = _text(f"automaton of {self.title}")
        yield f'<svg xmlns="http://www.w3.org/2000/svg" class="automaton" {size} role="img" aria-label="{label}">'
        yield f"<title>{label}</title>"
        yield "<style>"
        yield _style(DARK if dark else LIGHT)
        if dark is None:
            yield f"@media (prefers-color-scheme: dark) {{\n{_style(DARK)}\n}}"
        yield "</style>"
        yield f'<rect class="paper" width="{self.width:.0f}" height="{self.height:.0f}"/>'
        yield f'<text class="title" x="{MARGIN:g}" y="{MARGIN + 8:g}">{_text(self.title)}</text>'
        for lane in self.lanes:
            yield from self._lane(lane)
        for arrow in self.ahead.values():
            yield from self._ahead(arrow)
        for arrow in self.loops.values():
            yield from self._loop(arrow)
        yield from self._states()
        for number, note in enumerate(self.written):
            yield f'<text class="note" x="{MARGIN:g}" y="{self.bottom + 14 + 18 * number:.1f}">{_text(note)}</text>'
        yield "</svg>"

    def _states(self) -> Iterator[str]:
        start = self.x[self.automaton.initial] - RADIUS
        yield f'<path class="edge" d="M{start - 24:.1f} {self.y:.1f}H{start - 6:.1f}"/>'
        yield _tip(start - 1, self.y, 1, 0)
        for state, x in enumerate(self.x):
            yield f'<circle class="state" cx="{x:.1f}" cy="{self.y:.1f}" r="{RADIUS:g}"/>'
            yield f'<text class="name" x="{x:.1f}" y="{self.y + 5:.1f}" text-anchor="middle">{state}</text>'

    def _ahead(self, arrow: Arrow) -> Iterator[str]:
        left, right = self.x[arrow.source] + RADIUS, self.x[arrow.target] - RADIUS
        yield f'<path class="edge" d="M{left:.1f} {self.y:.1f}H{right - 6:.1f}"/>'
        yield _tip(right - 1, self.y, 1, 0)
        yield from self._label(arrow.lines, (left + right) / 2, self.y - 8)

    def _loop(self, arrow: Arrow) -> Iterator[str]:
        x, top = self.x[arrow.source], self.y - RADIUS
        yield (
            f'<path class="edge" d="M{x - 10:.1f} {top + 3:.1f}C{x - 26:.1f} {top - LOOP:.1f} '
            f'{x + 26:.1f} {top - LOOP:.1f} {x + 11.5:.1f} {top - 2:.1f}"/>'
        )
        yield _tip(x + 9.5, top + 2.5, -0.36, 0.93)
        yield from self._label(arrow.lines, x, top - LOOP + 2)

    def _lane(self, lane: _Lane) -> Iterator[str]:
        source, target = lane.ports[lane.arrow.source], lane.ports[lane.arrow.target]
        y = self.lane_y[lane.depth]
        side = BEND if target > source else -BEND
        ends = [
            self.y + (RADIUS**2 - (port - self.x[state]) ** 2) ** 0.5
            for port, state in ((source, lane.arrow.source), (target, lane.arrow.target))
        ]
        yield (
            f'<path class="edge" d="M{source:.1f} {ends[0]:.1f}V{y - BEND:.1f}Q{source:.1f} {y:.1f} '
            f"{source + side:.1f} {y:.1f}H{target - side:.1f}Q{target:.1f} {y:.1f} {target:.1f} {y - BEND:.1f}"
            f'V{ends[1] + 6:.1f}"/>'
        )
        yield _tip(target, ends[1] + 1, 0, -1)
        yield from self._label(lane.arrow.lines, lane.middle, y - 7)

    def _label(self, lines: Sequence[Line], x: float, bottom: float) -> Iterator[str]:
        """Lines of text that end above a height, each with the marks of its acceptance sets."""
        for number, line in enumerate(lines):
            y = bottom - LINE * (len(lines) - 1 - number)
            left = x - _line_width(line) / 2
            yield f'<text class="label" x="{left:.1f}" y="{y:.1f}">{_text(line.condition)}</text>'
            for place, mark in enumerate(line.sets):
                centre = left + LETTER * len(line.condition) + 7 + DOT + DOT_STEP * place
                yield f'<circle class="t{mark % HUES}" cx="{centre:.1f}" cy="{y - 4.2:.1f}" r="{DOT:g}"/>'
                yield f'<text class="mark" x="{centre:.1f}" y="{y - 1:.1f}" text-anchor="middle">{mark}</text>'


def _line_width(line: Line) -> float:
    return LETTER * len(line.condition) + (7 + DOT_STEP * len(line.sets) if line.sets else 0)


def _label_width(lines: Sequence[Line]) -> float:
    return max(map(_line_width, lines))


def _text(text: str) -> str:
    return html.escape(printable(text))


def _tip(x: float, y: float, dx: float, dy: float) -> str:
    back, half = 8.0, 3.6
    bx, by = x - dx * back, y - dy * back
    points = f"{x:.1f} {y:.1f}L{bx - dy * half:.1f} {by + dx * half:.1f}L{bx + dy * half:.1f} {by - dx * half:.1f}"
    return f'<path class="tip" d="M{points}Z"/>'


def _style(colours: dict[str, str]) -> str:
    rules = [
        f".automaton .paper{{fill:{colours['paper']}}}",
        f".automaton text{{font-family:{SANS};font-size:12px;fill:{colours['ink']}}}",
        f".automaton .title{{font-family:{MONO};font-size:14px;font-weight:600}}",
        f".automaton .label{{font-family:{MONO};font-size:12px}}",
        f".automaton .note{{fill:{colours['faint']}}}",
        ".automaton .name{font-size:14px;font-weight:600}",
        f".automaton .mark{{font-size:9.5px;font-weight:600;fill:{colours['number']}}}",
        f".automaton .state{{fill:{colours['state']};stroke:{colours['rim']};stroke-width:1.6}}",
        f".automaton .edge{{fill:none;stroke:{colours['line']};stroke-width:1.5}}",
        f".automaton .tip{{fill:{colours['line']}}}",
    ]
    rules += [f".automaton .t{hue}{{fill:{colours[f't{hue}']}}}" for hue in range(HUES)]
    return "\n".join(rules)
