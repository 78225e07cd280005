"""The whole report of a result, in the order a reader asks for it.

The verdict in one line; why; the run that shows it; the figures; how to see it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from quorate.base.values import show
from quorate.base.words import count, duration, memory, rate
from quorate.render.coverage import coverage
from quorate.render.layout import WIDTH, Content, Page, Piece
from quorate.render.text import Form, failing, run
from quorate.results.result import VIOLATION_MET, PropertyOutcome, Result

TEMPORAL = ("eventually", "leads_to", "repeatedly", "stably", "ltl", "ctl")
MOST_VALUES = 6  # of those that a property read; all of them are listed at the end of the run

_STOPPED = {
    "states": "the limit on states was reached",
    "memory": "the limit on memory was reached",
    "time": "the time was up",
    "interrupt": "it was interrupted",
    "disk": "the directory for states (--spill) is full",
    "depth": "longer runs were cut",
    "cycle": "a run comes back to a state it has been in",
}
_INSTEAD = "use another --por, or cut runs with --max-depth"


def report(
    result: Result,
    *,
    width: int = WIDTH,
    trace: Form | None = "auto",
    witnesses: bool = False,
    saved: str | None = None,
) -> Page:
    """Lay out a result. `witnesses` shows the runs of `can` properties; `saved` is where the trace was written."""
    page = Page(width)
    _verdict(page, result)
    _why(page, result)
    if trace is not None and result.trace is not None:
        page.gap()
        page.lines.extend(run(result.trace, width, trace).lines)
    if trace is not None:
        for violation in (result.violations or ())[1:]:
            if violation.trace is not None:
                page.gap()
                page.lines.extend(run(violation.trace, width, trace).lines)
    if trace is not None and witnesses:
        for witness in result.witnesses.values():
            page.gap()
            page.lines.extend(run(witness, width, trace).lines)
    page.gap()
    rows = [
        *figures(result),
        *reductions(result.reductions, ended=result.verdict != "incomplete"),
        *whole_runs(result),
        *_self_check(result.self_check),
    ]
    page.table(rows)
    if result.covered is not None:
        page.gap()
        page.lines.extend(coverage(result.covered, width).lines)
    if result.trace is not None:
        _replay(page, result, saved)
    return page


# --- the verdict, and why --------------------------------------------------------------------------------------


def verdict(result: Result) -> tuple[str, str, str]:
    """A sign, its style, and what is said of the system."""
    return {
        "holds": ("✓", "good", _holds(result)),
        "violated": ("✗", "bad", _violates(result)),
        "incomplete": ("?", "open", "is not decided"),
    }[result.verdict]


def _verdict(page: Page, result: Result) -> None:
    mark, style, text = verdict(result)
    # A parameter that is None was left open; the others say which instance this is.
    given = {name: value for name, value in result.parameters.items() if value is not None}
    parameters = ", ".join(f"{name}={show(value)}" for name, value in given.items())
    instance = f"({parameters})" if parameters else ""
    if len(f"{mark} {result.system}{instance} {text}") <= page.width:
        page.add(Piece(f"{mark} {result.system}", style), Piece(instance, "faint"), Piece(f" {text}", style))
    else:
        page.add(Piece(f"{mark} {result.system} {text}", style))
        page.add("  ", Piece("with " + parameters.replace(", ", " "), "faint"), hanging=7)


def _holds(result: Result) -> str:
    text = "holds"
    if result.bounds:
        text += " within its bounds"
    if result.store == "bitstate":
        text += " in every state that was seen"
    if result.miss_probability is not None:
        text += f", unless a state was missed (probability at most {_at_most(result.miss_probability)})"
    return text


def _at_most(probability: float) -> str:
    """With two digits, and no less than it is."""
    if probability in (0, 1):
        return f"{probability:.0f}"
    digits = 1 - math.floor(math.log10(probability))
    return f"{math.ceil(probability * 10**digits) / 10**digits:.2g}"


def _violates(result: Result) -> str:
    step = failing(result.trace) if result.trace is not None else None
    if result.trace is not None and step is not None and step.transition is not None:
        return f"fails in {result.trace.definition.columns[step.column].name}.{step.transition.name}"
    return "can deadlock" if result.property == "deadlock" else f"violates {result.property}"


def _why(page: Page, result: Result) -> None:
    if result.verdict == "violated" and result.trace is not None:
        for read in result.trace.reason[:MOST_VALUES]:
            page.add("  ", read, hanging=6)
        if len(result.trace.reason) > MOST_VALUES:
            page.add("  ", Piece(f"and {len(result.trace.reason) - MOST_VALUES} more values that it read", "faint"))
    elif result.verdict == "violated":
        broken = next((p for p in result.properties if p.name == result.property), None)
        page.add("  ", broken.note if broken is not None and broken.note else "no reachable state satisfies it")
    for line in unfinished(result):
        page.add("  ", line)
    _assumed(page, result)
    for bound in bounded(result):
        page.add("  ", Piece(bound, "warning"))
    _properties(page, result)
    for each in result.warnings:
        warning, *source = each.splitlines()
        page.add("  ", Piece("warning: ", "warning"), warning, hanging=6)
        _underlined(page, source)


def unfinished(result: Result) -> Iterator[Content]:
    """Of a search without an answer: why it ended, and what it covered."""
    if result.verdict != "incomplete":
        return
    stopped = _STOPPED.get(result.stopped_by or "", "the search ended early")
    if result.stopped_by is None and any(
        each.kind in TEMPORAL and each.verdict == "incomplete" for each in result.properties
    ):
        stopped = "not every property could be decided"
    met = [each.name for each in result.properties if each.note == VIOLATION_MET]
    said = f"a violation of {', '.join(met)} was met" if met else "nothing was violated"
    yield f"{stopped}: {said} in {count(result.states, 'state')} up to depth {result.depth:,}"
    if result.stopped_by == "cycle":
        yield f"Such a run has no end, and without stored states it cannot be left: {_INSTEAD}"
    elif result.frontier:
        were = "was" if result.frontier == 1 else "were"
        yield f"{count(result.frontier, 'state')} {were} found but not yet expanded"
    if result.running is not None:
        yield Piece(*_running(result))


def bounded(result: Result) -> list[str]:
    """The bounds that cut something."""
    return [f"bounded by {bound}: what lies beyond was not searched" for bound in result.bounds]


def _underlined(page: Page, source: list[str]) -> None:
    """A line of source and its underlining, as far as they fit: what is underlined stays in sight."""
    most = page.width - 6
    past = max(0, len(source[-1]) - most) if source else 0
    for number, line in enumerate(source):
        kept = line[past : past + most]
        page.lines.append((Piece(f"      {kept}", "faint" if number == 0 else "warning"),))


def _assumed(page: Page, result: Result) -> None:
    for label, words in assumed(result):
        page.add("  ", Piece(f"{label}: ", "faint") if label else "", Piece(words, "" if label else "faint"), hanging=6)


def assumed(result: Result) -> list[tuple[str, str]]:
    """What temporal properties may rely on; and of a run that breaks one, what it leaves undone. With a label each, or
    without."""
    if result.fairness is None:
        return []
    lines = [("assuming", result.fairness["assuming"])]
    lines += [("crashed", f"{name} takes no step in the loop") for name in result.fairness.get("crashed", ())]
    undone = result.fairness.get("starved", ())
    if undone:
        lines.append(("never done, though possible", ", ".join(undone)))
    if result.verdict == "violated" and "would_hold" in result.fairness:
        level = result.fairness["would_hold"]
        lines.append(
            ("", f"it would hold with --fairness {level}" if level else "no stronger fairness would make it hold")
        )
    if why := result.fairness.get("not_tried"):
        lines.append(("", _NOT_TRIED[why]))
    return lines


_NOT_TRIED = {
    "partial orders": "stronger fairness was not tried: partial orders keep the one that was asked for",
    "symmetry": "stronger fairness was not tried: symmetry keeps the one that was asked for",
    "ended early": "stronger fairness was not tried: the search ended with this run",
    "ranks": "stronger fairness was not tried: of ranks, a search shows only what holds",
    "open": "whether stronger fairness would make it hold is open: a bound or a limit ends other runs",
}


def _running(result: Result) -> tuple[str, str]:
    """What the model was doing when it was stopped."""
    assert result.running is not None
    what, file, line = result.running
    text = f"{what} was running, in {file}:{line}"
    if result.stopped_by != "memory":
        text += "; if it never ends, look for a loop whose condition never becomes false"
    return text, "warning"


def _properties(page: Page, result: Result) -> None:
    if not result.properties:
        return
    page.gap()
    page.table(
        (_marked(each), outcome(each, result))
        for each in result.properties
        # A violation was told above; that the others were cut short by it is only worth a line each when there are any.
        if result.verdict != "violated" or each.name != result.property or result.violations
    )


def _marked(outcome: PropertyOutcome) -> Content:
    mark, style = {"holds": ("✓", "good"), "violated": ("✗", "bad"), "incomplete": ("?", "open")}[outcome.verdict]
    return Piece(mark, style), f" {outcome.name}"


def outcome(found: PropertyOutcome, result: Result) -> Content:
    """How a property fared, in words."""
    if found.note:
        return found.note
    for violation in result.violations or ():
        if violation.property == found.name:
            where = count(violation.count, "step")
            if found.kind != "assertion":  # of those that were visited: with reductions, each stands for several
                where = f"{violation.count:,} of {count(result.states, 'state')}"
            first = f", first after {count(len(violation.trace), 'step')}" if violation.trace is not None else ""
            return f"violated in {where}{first}"
    if found.kind == "can":
        witness = result.witnesses.get(found.name)
        if found.verdict == "holds":
            return "can happen" + (f", first after {count(len(witness), 'step')}" if witness is not None else "")
        return "cannot happen" if found.verdict == "violated" else "not seen so far"
    if found.kind in TEMPORAL:
        told = "in every initial state" if found.kind == "ctl" else "on every run"
        return {"holds": told, "violated": "violated", "incomplete": "not decided"}[found.verdict]
    return {
        "holds": "never" if found.kind == "deadlock" else "in every state",
        "violated": "violated",
        "incomplete": "not violated in what was searched",
    }[found.verdict]


# --- the figures -----------------------------------------------------------------------------------------------


def _checkpoint(result: Result) -> Iterator[tuple[str, Content]]:
    """What of the search was done in earlier runs, and where it goes on."""
    saved = result.checkpoint
    if saved is None:
        return
    if saved["resumed_from"] is not None:
        before = duration(saved["seconds_before"])
        runs = count(saved["runs"] - 1, "earlier run")
        yield "resumed", f"from {count(saved['resumed_from'], 'state')}; {before} of the time in {runs}"
    if result.verdict == "incomplete":
        yield "saved", f"{count(saved['states'], 'state')}; to go on: quorate resume {saved['directory']}"


def figures(result: Result) -> Iterator[tuple[str, Content]]:
    final = f", {result.deadlocks:,} of them without a next step" if result.deadlocks else ""
    yield "states", f"{result.states:,}{final}"
    yield "transitions", f"{result.transitions:,}"
    yield "depth", f"{result.depth:,}"
    if result.product_states:
        yield "product", f"{count(result.product_states, 'state')} with the automata of temporal properties"
    setup = f", and {duration(result.setup_seconds)} to set up" if result.setup_seconds >= 0.005 else ""
    spent = sorted(result.setup.items(), key=lambda each: -each[1])
    if result.setup_seconds >= TELLING and spent:
        setup += f" ({', '.join(f'{name} {duration(each)}' for name, each in spent if each >= TELLING / 10)})"
    speed = f" ({rate(result.states_per_second)})" if result.seconds >= 0.005 else ""
    yield "time", f"{duration(result.seconds)}{speed}{setup}"
    yield from _checkpoint(result)
    # Of a small search, the figure would be about empty tables.
    telling = result.bytes_per_state and result.states >= 10_000
    each = f"{result.bytes_per_state:.0f} bytes a state, " if telling else ""
    yield "memory", f"{each}{memory(result.peak_memory_bytes)} at most"
    yield (
        "tables",
        f"{count(result.cells, 'cell')} and {count(result.messages, 'message')} "
        f"from {count(result.python_calls, 'call')} into Python",
    )
    yield from _environment(result.environment)
    how = {"bfs": "breadth-first", "dfs": "depth-first", "stateless": "stateless"}[result.search]
    threads = f", {result.threads} threads" if result.threads > 1 else ""
    if result.workers is not None:
        threads = f", {result.workers['number']} workers {result.workers['where']}"
    store = "" if result.store == "exact" else f", {result.store} store"
    yield "search", how + store + threads
    if result.workers is not None and sum(result.workers["states"]):
        yield "workers", _shared(result.workers)
    if result.miss_probability is not None:
        yield (
            "missed",
            f"a state was taken for another with a probability of at most {_at_most(result.miss_probability)}",
        )
    if result.coverage is not None:
        yield "coverage", f"{result.coverage:.4%} of the states are expected to have been seen"
    elif result.expected_omissions is not None:
        left_out = count(round(result.expected_omissions), "state")
        yield (
            "coverage",
            f"unknown, since the search did not end; of what it came to, {left_out} "
            f"{'is' if left_out.startswith('1 ') else 'are'} expected to be left out",
        )


def _shared(workers: Mapping[str, Any]) -> str:
    """How even the shares are, and what went over the wire."""
    shares, sent = workers["states"], workers["sent_states"]
    every = sum(shares) / len(shares)
    text = f"{min(shares) / every:.0%} to {max(shares) / every:.0%} of an equal share each"
    if sent:
        text += f"; {sent:,} states sent, {workers['sent_bytes'] / sent:.1f} bytes each"
    if workers["recovered"]:
        text += f"; went on {workers['recovered']} times after a worker was lost"
    return text


def _environment(asked: Mapping[str, Any]) -> Iterator[tuple[str, Content]]:
    """The faults that were asked for with the check."""
    if asked.get("network_model") == "grm":
        yield "network", "grm: messages are delivered by steps of their own"
    if asked.get("network_model") == "rm":
        yield "network", "rm: messages are delivered by steps of their own, and consumed all at once"
    if asked.get("crash") == "implicit":
        yield "crashes", "implicit: a crashed process takes no further step, and every search contains such runs"
    elif "crash" in asked or "crashes" in asked:
        number = asked.get("crashes")
        most = "as many as the system says" if number is None else f"at most {number:,}"
        yield "crashes", f"explicit, {most}: between steps, or when a part of a step's messages is sent"
    for role, number in asked.get("byzantine", {}).items():
        yield "Byzantine", f"{number:,} of the processes {role}: may send anything, under their own name, at any time"


def reductions(found: Mapping[str, Mapping[str, Any]], *, ended: bool = False) -> Iterator[tuple[str, Content]]:
    """Those that ran with their figures; those that did not, together where the reason is the same.

    What may have no end is named, unless it is known that it `ended`.
    """
    left_out: dict[str, list[str]] = {}
    for name, figures in found.items():
        shown = name.replace("_", " ").replace("-", " ")
        if figures.get("ran"):
            yield shown, _reduction(figures)
        else:
            left_out.setdefault(str(figures.get("why", "")), []).append(shown)
    for number, (why, reductions) in enumerate(left_out.items()):
        yield "left out" if number == 0 else "", [", ".join(reductions), Piece(f": {why}" if why else "", "faint")]
    closure = found.get("closure", {})
    for number, grown in enumerate((*closure.get("grew", ()), *(() if ended else closure.get("piles", ())))):
        yield "what grows" if number == 0 else "", str(grown["told"])


def whole_runs(result: Result) -> Iterator[tuple[str, Content]]:
    """The graph of temporal properties, where it is not what was searched for the others."""
    graph = result.graph
    if graph is None:
        return
    size = f"{count(graph['states'], 'state')} and {count(graph['transitions'], 'transition')}"
    yield "whole runs", f"{size} for temporal properties, reduced by what keeps whole runs:"
    yield from reductions(graph["reductions"])


def _self_check(found: Mapping[str, Any] | None) -> Iterator[tuple[str, Content]]:
    if found is None:
        return
    parts: list[str] = []
    if found["sets"]:
        parts.append(
            f"{count(found['sets'], 'set')} of chosen steps held against {count(found['paths'], 'state')} up to "
            f"{count(found['depth'], 'other step')} away, and {count(found['pairs'], 'pair')} fired both ways"
        )
    far = "all" if found["unreduced_finished"] else "the first"
    same = "the verdict"
    if found["compared"]:
        same += f", {count(found['observations'], 'observation')} and {found['deadlocks']:,} of deadlocks"
    parts.append(f"{same} as in {far} {count(found['unreduced_states'], 'state')} without reductions")
    yield "self-check", "; ".join(parts)


TELLING = 0.5
"""Seconds of setting up from which on it is told what they were spent on."""

HUGE = 10**15
"""Numbers from here on are told by their size."""


def _reduction(figures: Mapping[str, Any]) -> Content:
    """The figures that a reduction gave, a factor where there is one, and what it is based on."""
    of = figures.get("of")
    parts: list[str] = [figures["group"]] if "group" in figures else []
    gain, order = figures.get("gain"), figures.get("order")
    if gain is not None:
        shown = f"one for {gain:,.1f} states" if gain < HUGE else f"one for {gain:.1e} states"
        if order is not None and order < HUGE:
            shown += f", {figures['efficiency']:.0%} of {count(order, 'renaming')}"
        parts.append(shown)
    for name, value in figures.items():
        if name in ("order", "stands_for", "gain", "efficiency", "given_up_at_depth"):  # the reason says at which
            continue
        if isinstance(value, int | float) and not isinstance(value, bool) and name not in ("of", "factor"):
            amount = f"{value:,}" if of is None else f"{value:,} of {of:,}"
            what = name.replace("_", " ")
            parts.append(f"{amount} {what.removesuffix('s') if value == 1 and of is None else what}")
    if isinstance(figures.get("factor"), int | float) and of != 0:  # of nothing it is none
        parts.append(f"factor {figures['factor']:,.1f}")
    why = str(figures.get("why", ""))
    return [", ".join(parts) or "ran", Piece(f": {why}" if why else "", "faint")]


def _replay(page: Page, result: Result, saved: str | None) -> None:
    page.gap()
    if saved is not None:
        # It was this model that has just run: whoever replays the file elsewhere is asked first.
        own = result.target is not None and "." in result.target
        page.add("Replay it: ", Piece(f"quorate replay {saved}" + (" --trust" if own else ""), "command"))
        return
    keep = "--save run.json" if result.target is not None else 'result.trace.save("run.json")'
    page.add("Keep it: ", Piece(keep, "command"), ", then ", Piece("quorate replay run.json", "command"))
