"""`quorate check`: one instance, one verdict."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli.errors import HOLDS, STOPPED, VIOLATED, guarded
from quorate.cli.options import (
    AsJson,
    Byzantine,
    Crashes,
    CrashOption,
    DeadMessages,
    MaxBehaviours,
    MaxDepth,
    MaxMemory,
    MaxStates,
    NetworkModel,
    NetworkModelOption,
    Por,
    PorOption,
    PorWithout,
    Presets,
    Properties,
    Quotient,
    Save,
    SearchOption,
    SelfCheck,
    Split,
    SplitOption,
    Stateless,
    Store,
    StoreOption,
    Switch,
    Symmetry,
    SymmetryOption,
    Target,
    Threads,
    Timeout,
)  # fmt: skip
from quorate.cli.outputs import (
    Charts,
    Exports,
    Files,
    Pytest,
    Regroup,
    Report,
    Shorten,
    TraceForm,
    TraceOption,
    form,
    tell,
)  # fmt: skip

if TYPE_CHECKING:
    from quorate.search.result import Result

EPILOG = """
Examples:

  quorate check paxos -p acceptors=5

  quorate check model.py:Protocol --property agreement --save run.json

  quorate check faulty-paxos --chart run.svg --report run.html

  quorate check paxos --json | jq .states

Exit status: 0 holds, 1 violated, 2 the request or the model is wrong, 3 stopped before an answer.
"""

Parameters = Annotated[
    list[str] | None, typer.Option("-p", "--param", metavar="NAME=VALUE", help="Set a parameter of the system; repeat.")
]


@guarded
def check(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    properties: Properties = None,
    as_json: AsJson = False,
    trace: TraceOption = None,
    charts: Charts = None,
    report: Report = None,
    save: Save = None,
    exports: Exports = None,
    pytest: Pytest = None,
    shorten: Shorten = False,
    regroup: Regroup = Switch.on,
    search: SearchOption = None,
    store: StoreOption = Store.exact,
    stateless: Stateless = False,
    threads: Threads = 1,
    quotient: Quotient = Switch.on,
    dead_messages: DeadMessages = Switch.on,
    por: PorOption = Por.none,
    por_without: PorWithout = None,
    split: SplitOption = Split.none,
    symmetry: SymmetryOption = Symmetry.auto,
    self_check: SelfCheck = False,
    max_states: MaxStates = None,
    max_memory: MaxMemory = None,
    max_depth: MaxDepth = None,
    max_behaviours: MaxBehaviours = None,
    timeout: Timeout = None,
    crash: CrashOption = None,
    crashes: Crashes = None,
    byzantine: Byzantine = None,
    network_model: NetworkModelOption = NetworkModel.m,
) -> int:
    """Check every run of a protocol: a proof for this instance, or the shortest run that breaks it.

    Breadth-first and exact, with quotient, dead messages and symmetry where they apply, unless told otherwise.

    A reduction never changes a verdict. Each can be switched off alone, and the report says which ones ran and why.
    """
    from quorate.cli import channel
    from quorate.cli.output import out
    from quorate.cli.parameters import environment, instance
    from quorate.cli.progress import ProgressLine
    from quorate.cli.target import load
    from quorate.search.check import check as run

    files = Files(charts or [], exports or [], pytest, save, report)
    faults = environment(crash, crashes, byzantine, network_model).to_json()
    told = {
        "search": "stateless" if stateless or por is Por.dpor else search.value if search is not None else "bfs",
        "store": store.value,
        "threads": threads,
        "environment": faults,
    }
    channel.begin(target, as_json=as_json, timeout=timeout, max_memory=max_memory, options=told)
    system = instance(load(target), parameters or [], presets or [])
    channel.made(system)
    asked: dict[str, Any] = {
        "property": properties or None,
        "search": search.value if search is not None else None,
        "por": por.value,
        "por_options": dict.fromkeys(por_without or [], False),
        "split": split.value,
        "symmetry": symmetry.value,
        "quotient": quotient.value,
        "dead_messages": dead_messages.value,
        "store": store.value,
        "stateless": stateless,
        "threads": threads,
        "max_states": max_states,
        "max_memory": max_memory,
        "max_depth": max_depth,
        "max_behaviours": max_behaviours,
        **faults,
    }
    line = ProgressLine()
    try:
        result = run(
            system,
            **asked,
            timeout=timeout,
            self_check=self_check,
            progress=channel.followed(line.update if line.enabled else None),
            shorten=shorten,
            regroup=regroup is Switch.on,
            target=target,
        )
    finally:
        line.close()
    channel.known(result)
    saved = files.save(result.trace, target)  # first, since the report says how to replay it
    show_result(result, as_json=as_json, trace=trace, witnesses=properties is not None, save=saved)
    status = {"holds": HOLDS, "violated": VIOLATED, "incomplete": STOPPED}[result.verdict]
    out().flush()
    channel.tell(status=status)
    files.write(result.trace or next(iter(result.witnesses.values()), None), target)
    if report is not None:
        from quorate.search.factors import factors
        from quorate.traces.html.document import write

        def page() -> None:
            write(result, report, factors(result, lambda **changed: run(system, **{**asked, **changed})))

        if files.attempt(report, page):
            tell(report, written=True)
    files.complain()
    return status


def show_result(
    result: "Result", *, as_json: bool, trace: TraceForm | None, witnesses: bool, save: Path | None
) -> None:
    """Print a result in the form that was asked for; `save` is where its run was saved."""
    from quorate.cli.output import out, show, width
    from quorate.traces.report import report

    if as_json:
        document = result.to_json()
        if trace is TraceForm.none:
            document["trace"] = None
        print(json.dumps(document), file=out())
        return
    saved = str(save) if save is not None else None
    stream = sys.stderr if trace is TraceForm.json else out()
    show(report(result, width=width(stream), trace=form(trace), witnesses=witnesses, saved=saved), stream)
    if trace is TraceForm.json:
        # The run alone on standard output, so that it can be piped; the report goes beside it.
        print(json.dumps(result.trace.to_json() if result.trace is not None else None), file=out())
