"""`quorate plan`: what is found out about a protocol before any search."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, guarded
from quorate.cli.options import AsJson, Asked, Parameters, Presets, Properties, Target, takes_options
from quorate.cli.run_files import TraceForm

if TYPE_CHECKING:
    from quorate.reduce.facts import Enabling, Traffic, TransitionFacts
    from quorate.render.layout import Content, Page
    from quorate.search.plan import Plan, ProcessSizes
    from quorate.search.temporal_plan import TemporalPlan

Estimate = Annotated[
    bool,
    typer.Option(
        "--estimate", help="Search some of the states, take random runs, and guess how many states there are in all."
    ),
]
SEARCHED = 20_000
"""States that are looked at for an estimate."""
ENVIRONMENT = ("crash", "crashes", "byzantine", "network_model")
CHECKED = (*ENVIRONMENT, "symmetry", "quotient", "dead_messages", "threads", "timeout", "max_memory", "max_behaviours")

FILES = ("--chart", "--report", "--save", "--trace-file", "--export", "--pytest")
"""Where a check writes its run."""

EPILOG = """
Examples:

  quorate plan paxos

  quorate plan model.py:Protocol --por lpor-net

  quorate plan raft --estimate

  quorate plan paxos --json | jq .enabling
"""


@guarded
@takes_options(
    "Temporal properties",
    "Coverage",
    "Search",
    "Reductions",
    "Limits",
    "Faults",
    hidden=("The run that shows it", "Checkpoints"),
)
def plan(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    properties: Properties = None,
    as_json: AsJson = False,
    estimate: Estimate = False,
    trace: Annotated[TraceForm | None, typer.Option("--trace", hidden=True)] = None,
    files: Annotated[list[Path] | None, typer.Option(*FILES, hidden=True)] = None,
    fail_under: Annotated[float | None, typer.Option("--fail-under", min=0, max=100, hidden=True)] = None,
    *,
    asked: Asked,
) -> int:
    """Say what is known of a protocol before any search, and which reductions a check would use, and why.

    What its transitions consume and send, who can enable whom, how large each process is and how much of that matters.

    It takes every option of `quorate check`. Those about the run that a check shows make no difference.
    """
    from dataclasses import replace

    from quorate.cli.output import out, show, width
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.search.plan import plan as make

    found = make(
        instance(load(target), parameters or [], presets or []),
        asked.options if fail_under is None else replace(asked.options, coverage=True),
        property=properties or None,
        environment=asked.environment,
        target=target,
    )
    expected = _expected(found, asked) if estimate else None
    interrupts.answering()
    if as_json:
        told = found.to_json() | ({"estimate": expected} if expected is not None else {})
        print(json.dumps(told), file=out())
        return HOLDS
    page = page_of(found, width(out()))
    if expected is not None:
        page.gap()
        page.add(f"  states  {_words(expected)}")
    show(page)
    return HOLDS


def _expected(found: "Plan", asked: Asked) -> dict[str, int | None]:
    """How many states a check would have: by a search of some of them, and random runs."""
    from dataclasses import asdict

    from quorate.reduce.reductions import MOST_BEHAVIOURS
    from quorate.results.estimate import estimate
    from quorate.search.check import check
    from quorate.search.probes import longest_run

    given = asdict(asked.options) | {name: getattr(asked.environment, name) for name in ENVIRONMENT}
    known = {name: value for name, value in given.items() if name in CHECKED}
    if found.closed:  # as a check gets it beside its search: without it, states would be counted that it does not visit
        known["max_behaviours"] = asked.options.max_behaviours or MOST_BEHAVIOURS
    most = asked.options.max_states or SEARCHED
    result = check(found.definition.system, **known, property="assertions", max_states=most, trace=False)
    if result.stopped_by is None:
        return {"likely": result.states, "low": result.states, "high": result.states}
    horizon = longest_run(found.definition)
    guess = estimate(result.levels, result.states, result.frontier, closed=found.closed, horizon=horizon)
    return guess.to_json() if guess is not None else {"likely": None, "low": result.states, "high": None}


def _words(expected: dict[str, int | None]) -> str:
    likely, low, high = expected["likely"], expected["low"], expected["high"]
    if likely is None:
        return f"more than {low:,}; how many cannot be said from so few levels"
    if high is None:
        return f"about {likely:,}, more than {low:,}; nothing in the levels that were searched tells of an end"
    return (
        f"{likely:,}" if low == high else f"about {likely:,}, between {low:,} and {high:,} by a search of some of them"
    )


def page_of(found: "Plan", width: int) -> "Page":
    """A plan laid out: the protocol first, then what will be made of it."""
    from quorate.base.values import show
    from quorate.render.layout import Page, Piece
    from quorate.render.report import reductions

    page = Page(width)
    given = {name: value for name, value in found.definition.parameters.items() if value is not None}
    parameters = ", ".join(f"{name}={show(value)}" for name, value in given.items())
    page.add(Piece(found.definition.name, "heading"), Piece(f"({parameters})", "faint"), " before any search")
    page.add(f"  The network is {found.definition.network}.")
    if not found.closed:
        page.add("  ", Piece("The closure did not end, so this is only what is declared.", "warning"))
        page.add("  A check that is not over soon takes from its searches what the reductions argue about.")
    _section(page, "Transitions", ((each.name, _transition(each, found.closed)) for each in found.transitions))
    _section(page, "Who can enable whom", _enabling(found.enabling))
    _section(page, "Processes", _processes(found.processes))
    never = ((kind, f"to {_names(receivers)}") for kind, receivers in found.never_consumed.items())
    _section(page, "Messages that are never consumed", never)
    _section(page, "Symmetry classes", _symmetries(found))
    reads = ((name, _reading(fields)) for name, fields in found.properties.items())
    _section(page, "Properties, in the initial states", reads)
    if found.safety:
        _section(page, "Reductions", reductions(found.reductions))
    if found.temporal is not None:
        _temporal(page, found.temporal, alone=not found.safety)
    return page


def _temporal(page: "Page", found: "TemporalPlan", *, alone: bool) -> None:
    """What becomes of temporal properties: a search of its own, with what it assumes and may leave out."""
    from quorate.base.words import count
    from quorate.render.layout import Piece
    from quorate.render.report import reductions

    rows: list[tuple[Content, Content]] = []
    for each in found.properties:
        states = each.automaton_states
        how = "by labelling states" if states is None else f"an automaton of {count(states, 'state')}"
        rows.append((each.name, [each.formula, Piece(f"; {how}; {_reading(each.reads)}", "faint")]))
    _section(page, "Temporal properties", rows)
    page.add(f"  Assuming: {found.assuming}.")
    if found.undecided:
        page.add("  ", Piece(f"They stay undecided: {found.undecided}.", "warning"))
        return
    _section(page, "Reductions" if alone else "Reductions for temporal properties", reductions(found.reductions))


def _section(page: "Page", heading: str, rows: "Iterable[tuple[Content, Content]]") -> None:
    from quorate.render.layout import Piece

    rows = list(rows)
    if rows:
        page.gap()
        page.add(Piece(heading, "heading"))
        page.table(rows)


def _reading(reads: "Iterable[str]") -> str:
    """Fields of several processes together: `reads learned (learner1, learner2)`."""
    by_field: dict[str, list[str]] = {}
    for read in reads:
        process, _, field = read.rpartition(".")
        by_field.setdefault(field, []).append(process)
    fields = [f"{field} ({_names(processes)})" for field, processes in by_field.items()]
    return f"reads {', '.join(fields)}" if fields else "reads nothing"


def _transition(fact: "TransitionFacts", closed: bool) -> "Content":
    from quorate.base.words import count
    from quorate.render.layout import Piece

    verb = "reads" if fact.keep else "consumes"
    parts: list[Content] = []
    if fact.consumes:
        parts.append(f"{verb} {_how_many(fact)}{_traffic(fact.consumes, 'from')}")
    if fact.sends:
        parts.append(f"{'replies' if fact.reply else 'sends'} {_traffic(fact.sends, 'to')}")
    if fact.emits:
        parts.append(f"emits {', '.join(fact.emits)}")
    kinds = {"start": "once, by itself", "step": "by itself", "on": "single", "exact": "quorum", "each": "quorum"}
    kind = kinds.get(fact.mode, f"{fact.mode} quorum")
    if fact.may_fail:
        parts.append(Piece("may fail", "warning"))
    if fact.behaviours:
        parts.append(Piece(f"enabled in {count(fact.local_states, 'local state')}", "faint"))
    elif closed:
        parts.append(Piece("never enabled", "warning"))
    return [
        Piece(kind, "faint"),
        *(piece for number, part in enumerate(parts) for piece in (": " if number == 0 else "; ", part)),
    ]


def _how_many(fact: "TransitionFacts") -> str:
    if not fact.sizes:
        return ""
    return f"{' or '.join(map(str, fact.sizes))} "


def _traffic(traffic: "Traffic", preposition: str) -> str:
    """`Promise from acceptor1..3`; without the processes where they are not known."""
    return ", ".join(f"{kind} {preposition} {_names(ends)}" if ends else kind for kind, ends in traffic.items())


def _names(processes: Iterable[str]) -> str:
    from quorate.base.words import names

    return names(processes)


def _enabling(found: "Iterable[Enabling]") -> "Iterator[tuple[Content, Content]]":
    """By what enables: each message with its takers, then what its own process can do next."""
    by_source: dict[str, list[Enabling]] = {}
    for one in found:
        by_source.setdefault(one.source, []).append(one)
    for source, targets in by_source.items():
        parts = [f"{one.target} by {', '.join(one.by)}" for one in targets if one.kind == "message"]
        local = [one.target for one in targets if one.kind == "local"]
        parts += [f"{', '.join(local)} of its own process"] if local else []
        yield source, "; ".join(parts)


def _symmetries(found: "Plan") -> "Iterator[tuple[Content, Content]]":
    from quorate.render.layout import Piece

    for one in found.symmetry_classes:
        members = _names(one["members"])
        why = one["why_not"]
        yield one["class"], members if why is None else [members, Piece(f": not exchangeable, {why}", "faint")]


def _processes(found: "Iterable[ProcessSizes]") -> "Iterator[tuple[Content, Content]]":
    """One line for those that are alike and follow each other."""
    groups: list[tuple[str, list[str]]] = []
    for each in found:
        size = _size(each)
        if groups and groups[-1][0] == size:
            groups[-1][1].append(each.name)
        else:
            groups.append((size, [each.name]))
    for size, processes in groups:
        yield _names(processes), f"{size}{', each' if len(processes) > 1 else ''}"


def _size(each: "ProcessSizes") -> str:
    from quorate.base.words import count

    merged = f", {each.merged:,} after merging" if each.merged is not None else ""
    what = "event" if each.is_monitor else "message"
    pairs = each.local_states * each.messages
    dead = f", dead in {each.dead:,} of {pairs:,} cases" if each.dead is not None and pairs else ""
    return f"{count(each.local_states, 'local state')}{merged}; {count(each.messages, what)}{dead}"
