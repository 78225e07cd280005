"""What a subsystem says about any number of servers: the verdict, the conditions, the pairs, and the run."""

from __future__ import annotations

from quorate.base.values import show
from quorate.base.words import count, duration
from quorate.projection.project import Projection
from quorate.render.layout import WIDTH, Page, Piece
from quorate.render.report import report as report_of

_MARKS = {"holds": ("✓", "good"), "violated": ("✗", "bad"), "incomplete": ("?", "open")}


def report(projection: Projection, width: int = WIDTH) -> Page:
    """The verdict first, then for which numbers, then what it rests on."""
    page = Page(width)
    mark, style = _MARKS[projection.verdict]
    others = {name: value for name, value in projection.parameters.items() if name != projection.parameter}
    given = ", ".join(f"{name}={show(value)}" for name, value in others.items() if value is not None)
    page.add(
        Piece(f"{mark} {projection.system}", style),
        Piece(f"({given}) " if given else " ", "faint"),
        Piece(_verdict(projection), style),
        hanging=2,
    )
    page.add("  ", _meaning(projection), hanging=2)
    if projection.shown is not None:
        page.gap()
        page.lines.extend(report_of(projection.shown, width=width).lines)
    if projection.conditions:
        page.gap()
        page.add("  Conditions of the theorem (docs/registers.md)")
        page.table([(Piece(f"✓ {each.name}", "good"), each.reason) for each in projection.conditions])
    if projection.pairs:
        page.gap()
        page.add("  The subsystem has a server for each of these pairs (client.round)")
        page.table(
            [
                (f"{pair.store} stores, {pair.query} asks", _pair(projection, at))
                for at, pair in enumerate(projection.pairs)
            ]
        )
    page.gap()
    result = projection.result
    page.table(
        [
            ("states", f"{result.states:,} of the subsystem, {result.transitions:,} transitions"),
            ("time", f"{duration(projection.seconds)}, of which the search took {duration(result.seconds)}"),
        ]
    )
    return page


def _pair(projection: Projection, at: int) -> str:
    server = projection.pairs[at].server
    if projection.needed is None:
        return server
    broken = projection.needed[at]
    return f"{server}: needed for {broken}" if broken is not None else f"{server}: nothing breaks without it"


def _verdict(projection: Projection) -> str:
    if projection.verdict == "holds":
        if projection.below is None:
            return f"holds for any number of {projection.parameter}"
        return f"holds for {projection.least} {projection.parameter} or more"
    if projection.verdict == "violated":
        assert projection.shown is not None
        number = projection.shown.parameters[projection.parameter]
        return f"violates {projection.shown.property} with {projection.parameter}={number}"
    return "is not decided"


def _meaning(projection: Projection) -> str:
    more = f"{count(projection.stores, 'server')} more than a quorum"
    numbers = list(zip(projection.quorums, projection.numbers, strict=True))
    quorums = ", ".join(f"{size} of {number}" for size, number in numbers)
    crashes = ", ".join(str(number - size) for size, number in numbers)
    if projection.verdict == "holds":
        missed = projection.result.miss_probability
        return (
            f"in every run with quorums such as {quorums}, whichever servers crash; temporal properties as long as a "
            f"quorum stays up, so with up to {crashes} crashes"
            + ("" if projection.below is None else f". It does not stand for fewer: {projection.below}")
            + ("" if not missed else f". A state was missed with a probability of {missed:.1e} at most")
        )
    if projection.verdict == "violated":
        return f"the subsystem has such a run, and so has every system with {more}"
    if projection.result.verdict == "violated":
        return (
            f"the subsystem breaks {projection.result.property}; no run with few servers was found that does. By the "
            f"theorem there is one with {more}: -p {projection.parameter}=..."
        )
    return "the search came to no end: a limit was reached"
