"""A run as a test: it replays exactly this run, and says what became of it."""

from __future__ import annotations

import json
import os
import re
from os import PathLike
from typing import TYPE_CHECKING, Any

from quorate.base import files
from quorate.base.words import count
from quorate.results.json import saved_document

if TYPE_CHECKING:
    from quorate.results.trace import Trace

TEMPLATE = '''"""@SYSTEM@ @OUTCOME@, in a run of @STEPS@.

Written by `quorate check --pytest`. It replays exactly this run, step by step, through the model as it is now. Once the
model is repaired the run is no longer possible, or harmless at its end, and this test fails and says so: then turn `==`
into `!=`, and it stays as the test that the repair holds.
"""

import json

from quorate.testing import replayed

RUN = json.loads(
    r"""
@RUN@
"""
)


def test_@NAME@() -> None:
    assert replayed(RUN, __file__) == "@OUTCOME@"
'''

_KEPT = (
    *("kind", "process", "transition", "consumed", "place", "redelivered"),
    *("choices", "changes", "sent", "events", "failure"),
)


def write(trace: Trace, path: str | PathLike[str], target: str | None = None) -> None:
    """Write the test."""
    files.write(path, regression_test(trace, path, target))


def regression_test(trace: Trace, path: str | PathLike[str], target: str | None = None) -> str:
    """The text of the test. A model that lies in a file is named as it is found from the test's folder."""
    document = saved_document(trace, target)
    document["target"] = _from(path, str(document["target"]))
    outcome = outcome_of(trace)
    name = re.sub(r"\W+", "_", f"{trace.definition.name}_{outcome}").strip("_").lower()
    return (
        TEMPLATE.replace("@SYSTEM@", trace.definition.name)
        .replace("@STEPS@", count(len(trace.steps), "step"))
        .replace("@NAME@", name)
        .replace("@RUN@", _lines(document))
        .replace("@OUTCOME@", outcome)
    )


def outcome_of(trace: Trace) -> str:
    """What a run shows, in the words that a test compares."""
    last = trace.steps[-1] if trace.steps else None
    if last is not None and last.failure is not None:
        process = trace.definition.columns[last.column].name
        return f"fails in {process}.{last.transition.name if last.transition is not None else last.kind}"
    if trace.kind == "witness":
        return f"reaches {trace.property}"
    return "deadlocks" if trace.property == "deadlock" else f"violates {trace.property}"


def _from(path: str | PathLike[str], target: str) -> str:
    place, colon, name = target.rpartition(":")
    file = place if colon else target
    if not file.endswith(".py"):
        return target
    near = os.path.relpath(os.path.abspath(file), os.path.dirname(os.path.abspath(path)))
    return f"{near}:{name}" if colon else near


def _lines(document: dict[str, Any]) -> str:
    """JSON with a line for every step: short enough to be kept beside other tests, and to be compared by eye."""
    trace = document["trace"]
    steps = ",\n   ".join(json.dumps({key: step[key] for key in _KEPT if key in step}) for step in trace["steps"])
    run = {key: json.dumps(trace[key]) for key in ("version", "kind", "property", "shortest", "initial")}
    run |= {
        key: json.dumps(trace[key])
        for key in ("reason", "loop_from", "start", "fairness", "crashed")
        if _goes_on(trace) and key in trace
    }
    run["steps"] = f"[\n   {steps}\n  ]" if steps else "[]"
    whole = {key: json.dumps(value) for key, value in document.items()}
    whole["trace"] = _object(run, "  ") + "\n }"
    return _object(whole, " ") + "\n}"


def _goes_on(trace: dict[str, Any]) -> bool:
    return "loop_from" in trace or "start" in trace


def _object(members: dict[str, str], indent: str) -> str:
    return "{\n" + ",\n".join(f"{indent}{json.dumps(key)}: {value}" for key, value in members.items())
