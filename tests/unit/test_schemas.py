"""The JSON that scripts rely on is what its schemas say."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from handmade import violation, witness
from models import Everything
from quorate import System, check
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.lock import Locking
from quorate.protocols.paxos_duel import PaxosDuel
from quorate.protocols.stop_and_wait import StopAndWait
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.results.json import FORMAT, VERSION, load, saved_document
from quorate.results.trace import Trace
from walks import traces

SCHEMAS = Path(__file__).parents[2] / "docs/schemas"


def schema_of(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


@cache
def validator(name: str) -> jsonschema.protocols.Validator:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("system", "options"),
    [
        (FaultyPaxos(), {}),
        (FaultyPaxos(), {"search": "dfs", "shorten": True}),
        (FaultyPaxos(), {"trace": False}),
        (TwoPhaseCommit(), {}),
        (TwoPhaseCommit(crashes=1), {"target": "two-phase-commit"}),
        (TwoPhaseCommit(participants=5), {"max_states": 10}),
        (TwoPhaseCommit(), {"store": "bitstate"}),
        (TwoPhaseCommit(), {"store": "fingerprint"}),
        (TwoPhaseCommit(), {"self_check": True, "por": "lpor-net"}),
        (TwoPhaseCommit(), {"coverage": True}),
        (FaultyPaxos(), {"all": True}),
        (Everything(), {"crashes": 1}),
        (TwoPhaseCommit(), {"ltl": "F decided", "ctl": "AG EF decided"}),
        (TwoPhaseCommit(crashes=1), {"ltl": "F decided"}),
        (StopAndWait(fair=False), {}),
        (StopAndWait(), {"fairness": "none"}),
        (PaxosDuel(retries=1), {}),
    ],
)
def test_results(system: System, options: dict[str, Any]) -> None:
    validator("result").validate(json.loads(json.dumps(check(system, **options).to_json())))


def test_every_key_of_a_result_is_in_the_schema() -> None:
    document = check(StopAndWait(fair=False)).to_json()
    assert set(document) == set(schema_of("result")["properties"])
    ordered = check(Locking(queue=False), fairness="none", property="waiting", por="lpor").to_json()["fairness"]
    known = set(schema_of("result")["properties"]["fairness"]["properties"])
    assert set(document["fairness"]) | {"not_tried"} == set(ordered) | {"would_hold"} == known


@given(traces())
def test_runs_of_any_protocol(trace: Trace) -> None:
    validator("run").validate(json.loads(json.dumps(saved_document(trace))))


def test_saved_runs(tmp_path: Path) -> None:
    for trace in (violation(Everything(), "assertion"), witness(Everything(), "served")):
        trace.save(tmp_path / "run.json")
        document = load(tmp_path / "run.json")
        validator("run").validate(document)
        assert (document["format"], document["version"]) == (FORMAT, VERSION)


def test_the_schemas_say_which_version_they_are_of() -> None:
    from quorate.results.result import SCHEMA

    assert schema_of("result")["properties"]["schema"] == {"const": SCHEMA}
    assert schema_of("run")["properties"]["version"] == {"const": VERSION}


def test_a_wrong_document_is_refused() -> None:
    document = saved_document(violation(Everything(), "one_busy"))
    document["trace"]["steps"][0]["consumed"] = [{"type": "Ask"}]
    with pytest.raises(jsonschema.ValidationError):
        validator("run").validate(document)
