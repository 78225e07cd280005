import json
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from handmade import violation, witness
from models import Answer, Colour, Everything
from quorate import Map, QuorateError
from quorate.language.pid import Pid
from quorate.results.json import load, save, target_of, value_to_json


class Point(NamedTuple):
    x: int
    y: int


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (None, None),
        (True, True),
        (12, 12),
        ("text", "text"),
        (b"\x01\xff", {"$": "bytes", "hex": "01ff"}),
        (Colour.RED, {"$": "enum", "type": "Colour", "name": "RED"}),
        (Level.LOW, {"$": "enum", "type": "Level", "name": "LOW"}),
        ((1, (2,)), {"$": "tuple", "items": [1, {"$": "tuple", "items": [2]}]}),
        (Point(1, 2), {"$": "record", "type": "Point", "fields": {"x": 1, "y": 2}}),
        (frozenset({1}), {"$": "set", "items": [1]}),
        (Map({"a": 1}), {"$": "map", "items": [["a", 1]]}),
        (Pid(0, "helper1"), {"$": "process", "name": "helper1"}),
        (Answer(3), {"$": "message", "type": "Answer", "fields": {"number": 3}}),
    ],
)
def test_values(value: Any, form: Any) -> None:
    assert value_to_json(value) == form
    json.dumps(value_to_json(value))


def test_sets_are_in_content_order() -> None:
    assert value_to_json(frozenset({10, 2, 33, 4}))["items"] == [2, 4, 10, 33]


def test_a_step_says_who_did_what_and_what_came_of_it() -> None:
    document = violation(Everything(lossy=False), "one_busy").to_json()
    assert document["property"] == "one_busy"
    assert document["shortest"] is True
    assert document["reason"] == ["helper1.busy = True", "helper2.busy = True", "helper3.busy = False"]
    step = document["steps"][1]
    assert {key: step[key] for key in ("number", "kind", "process", "transition", "choices", "failure")} == {
        "number": 2,
        "kind": "step",
        "process": "helper1",
        "transition": "help",
        "choices": [1],
        "failure": None,
    }
    red = {"$": "enum", "type": "Colour", "name": "RED"}
    assert step["consumed"] == [{"type": "Ask", "fields": {"colour": red}, "sender": "asker1"}]
    assert step["changes"] == [{"process": "helper1", "field": "busy", "before": False, "after": True}]
    answer = {"type": "Answer", "fields": {"number": 1}, "sender": "helper1"}
    assert step["sent"] == [{"to": "asker1", "message": answer}]
    assert {entry["to"] for entry in step["in_flight"]} == {"helper2", "helper3", "asker1"}
    assert document["steps"][0]["events"] == [{"type": "Asked", "fields": {"colour": red}, "source": "asker1"}]
    json.dumps(document)


def test_a_failure_is_recorded() -> None:
    failure = violation(Everything(), "assertion").to_json()["steps"][-1]["failure"]
    assert (failure["kind"], failure["text"]) == ("assertion", "an answer was 2")
    assert failure["file"].endswith("models.py")


def test_a_crashed_process_keeps_its_fields() -> None:
    from quorate.results.json import state_to_json

    trace = violation(Everything(), "all_there")
    assert state_to_json(trace.definition, trace.states[-1])["processes"]["helper1"] == {"busy": False, "crashed": True}


def test_a_saved_run_knows_its_model(tmp_path: Path) -> None:
    trace = violation(Everything(helpers=2), "one_busy")
    save(trace, tmp_path / "run.json")
    document = load(tmp_path / "run.json")
    assert document["target"] == "models:Everything"
    assert document["parameters"] == {
        "helpers": 2,
        "colour": {"$": "enum", "type": "Colour", "name": "RED"},
        "lossy": True,
        "note": None,
    }
    assert document["trace"] == json.loads(json.dumps(trace.to_json()))


def test_a_model_of_a_script_is_found_by_its_file() -> None:
    import sys
    from types import ModuleType

    script = ModuleType("__main__")
    script.__file__ = "model.py"
    cls = type("Local", (Everything,), {"__module__": "__main__"})
    known = sys.modules["__main__"]
    sys.modules["__main__"] = script
    try:
        assert target_of(cls) == "model.py:Local"
    finally:
        sys.modules["__main__"] = known


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("nonsense", "is not JSON"),
        ("[]", "is not a saved run"),
        ('{"format": "other"}', "is not a saved run"),
        ('{"format": "quorate-trace", "version": 99}', "another version: version is 99, not 1"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(QuorateError, match=complaint):
        load(tmp_path / "x.json")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match=r"cannot read .*x.json: No such file"):
        load(tmp_path / "x.json")


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="cannot write"):
        save(violation(Everything(), "never_blue"), tmp_path / "missing" / "run.json")


def test_a_step_says_what_is_different_inside_a_field() -> None:
    steps = witness(Everything(), "served").to_json()["steps"]
    assert steps[-1]["differences"] == [
        {"process": "asker1", "path": "answers[helper1]", "kind": "added", "after": 1},
        {"process": "asker1", "path": "answers[helper2]", "kind": "added", "after": 1},
    ]
    assert steps[1]["differences"] == [
        {"process": "helper1", "path": "busy", "kind": "changed", "before": False, "after": True}
    ]
