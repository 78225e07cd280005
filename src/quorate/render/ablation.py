"""The findings of `quorate ablate` as text: what nobody needs first, then every part in the order of the source."""

from __future__ import annotations

from itertools import groupby

from quorate.base.words import count
from quorate.render.layout import Page, Piece
from quorate.results.ablation import STATUSES, Ablation, Finding, Part, Status

WORDS: dict[Status, str] = {
    "needed": "needed",
    "breaks": "breaks",
    "vacuous": "holds vacuously",
    "unneeded": "not needed",
    "same": "no difference",
    "undecided": "not decided",
}
STYLES: dict[Status, str] = {
    "needed": "good",
    "breaks": "good",
    "vacuous": "warning",
    "unneeded": "bad",
    "same": "faint",
    "undecided": "open",
}
WIDEST = max(map(len, WORDS.values()))
MOST_LOST = 3
LONGEST = 64


def ablation(found: Ablation, width: int) -> Page:
    page = Page(width)
    page.add(Piece(headline(found), "heading"), hanging=2)
    asked = ", ".join(found.properties)
    page.add(Piece(f"  asked: {asked}; {count(found.states, 'state')} with all parts; {found.seconds:.1f} s", "faint"),
             hanging=4)  # fmt: skip
    for note in found.notes:
        page.add("  ", Piece(note, "warning"), hanging=4)
    digits = len(str(len(found.parts)))
    for _, group in groupby(found.findings, key=lambda each: (each.part.file, owner(each.part))):
        rows = list(group)
        page.gap()
        page.add(Piece(owner(rows[0].part), "action"))
        for each in rows:
            page.add(
                f"  {each.part.number:>{digits}}", Piece(f"{each.part.line:>6}  ", "faint"),
                Piece(WORDS[each.status].ljust(WIDEST), STYLES[each.status]), "  ", described(each.part),
                Piece(why(each), "faint"), hanging=digits + WIDEST + 14,
            )  # fmt: skip
    runs = [each for each in found.findings if any(one.steps is not None for one in each.breaks)]
    if runs:
        page.gap()
        where = found.target or "TARGET"
        number = runs[0].part.number
        page.add(Piece(f"quorate ablate {where} --show {number}", "command"), f" shows the run without part {number}")
    return page


def headline(found: Ablation) -> str:
    """How many parts there are, and what became of them."""
    counted = [_counted(found, status) for status in STATUSES if found.count(status)]
    missing = len(found.parts) - len(found.findings)
    if missing:
        reason = "interrupted" if found.stopped_by == "interrupt" else "out of time"
        counted.append(f"{missing} not looked at ({reason})")
    return f"{found.system}: {count(len(found.parts), 'part')}: {', '.join(counted)}"


def _counted(found: Ablation, status: Status) -> str:
    number = found.count(status)
    match status:
        case "breaks":
            return f"{number} without which the code breaks"
        case "vacuous":
            return f"{number} without which it holds vacuously"
        case "same":
            return f"{number} that {'makes' if number == 1 else 'make'} no difference"
        case "unneeded":  # what a reader looks for
            which = ", ".join(str(each.part.number) for each in found.findings if each.status == status)
            return f"{number} not needed ({which})"
    return f"{number} {WORDS[status]}"


def owner(part: Part) -> str:
    return f"{part.role}.{part.handler}" if part.role else part.handler


def described(part: Part) -> str:
    """The part and what is done to it, in one line."""
    change = "" if part.change == "removed" else f", {part.change}"
    room = LONGEST - len(part.kind) - len(change) - 1
    text = part.text if len(part.text) <= room else part.text[: room - 1] + "…"
    return f"{part.kind} {text}{change}"


def why(found: Finding) -> str:
    """What a status rests on."""
    if found.breaks:
        return ": " + ", ".join(
            each.property + (f" ({count(each.steps, 'step')})" if each.steps is not None else "")
            for each in found.breaks
        )
    if found.lost:
        more = len(found.lost) - MOST_LOST
        return ": " + "; ".join(found.lost[:MOST_LOST]) + (f"; and {more} more" if more > 0 else "")
    return f": {found.note}" if found.note and found.status != "same" else ""
