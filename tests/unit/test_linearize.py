"""Recorded histories: reading them, all orders against just-in-time ones, and the command."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

import all_orders
from quorate.base.errors import TargetError
from quorate.cli.main import app
from quorate.histories import order
from quorate.histories.checked import Checked
from quorate.histories.json_values import Number
from quorate.histories.order import Call, find_misplaced
from quorate.histories.recorded import operations_of, read_history
from quorate.histories.specifications import NAMED, KeyValue

GOOD: list[dict[str, Any]] = [
    {"process": "a", "invoke": "enqueue", "value": 3},
    {"process": "b", "invoke": "dequeue"},
    {"process": "a", "return": None},
    {"process": "b", "return": 3},
]


def lines(events: list[Any]) -> str:
    return "\n".join(json.dumps(event) for event in events)


def refused(text: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        read_history(text, "history.json", operations_of())
    return caught.value


def run(path: Path, *options: str) -> Any:
    return CliRunner().invoke(app, ["linearize", str(path), *options])


@pytest.mark.parametrize("text", [lines(GOOD), json.dumps(GOOD), json.dumps(GOOD, indent=1), lines(GOOD) + "\n\n"])
def test_a_history_is_a_list_or_one_event_a_line(text: str) -> None:
    calls = read_history(text, "history.json", operations_of())
    assert [(call.process, call.begin, call.end, call.result) for call in calls] == [("a", 0, 2, None), ("b", 1, 3, 3)]


@pytest.mark.parametrize(
    ("text", "code", "line", "what"),
    [
        (lines(GOOD)[:-5], "Q330", 4, "ends in the middle"),
        (json.dumps(GOOD, indent=0)[:-2], "Q330", 18, "has no end"),
        (lines(GOOD[2:]), "Q331", 1, "process a ends an operation, and none is under way"),
        (lines([GOOD[0], GOOD[0]]), "Q331", 2, "process a begins an operation while Enqueue(value=3) of line 1"),
        (lines([{**GOOD[0], "time": 3}, {**GOOD[1], "time": 2}]), "Q331", 2, "the time goes back, from 3 to 2"),
        (lines([GOOD[0], {"process": "a", "return": 1}]), "Q331", 2, "returns 1 from Enqueue(value=3)"),
        (lines([{"process": "a", "invoke": "enqeue", "value": 3}]), "Q330", 1, "there is no operation 'enqeue'"),
        (lines([{"process": "a", "invoke": "enqueue"}]), "Q330", 1, "`enqueue` takes value, and is given none"),
        (lines([{"invoke": "dequeue"}]), "Q330", 1, "has no process"),
        (lines([{"process": "a"}]), "Q330", 1, "neither begins nor ends"),
        ("\n", "Q330", 1, "the file is empty"),
        (lines([3]), "Q330", 1, "3 is not an event"),
        ("[1 2]", "Q330", 1, "is not an event"),
        ('{"process": a}', "Q330", 1, "not JSON"),
    ],
)
def test_what_is_wrong_with_a_history_is_told_with_its_line(text: str, code: str, line: int, what: str) -> None:
    error = refused(text)
    assert (error.code, error.location and error.location.line) == (code, line)
    assert what in error.message


KINDS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "register": [("write", {"value": 1}), ("write", {"value": 2}), ("read", {})],
    "cas-register": [("compare-and-swap", {"old": None, "new": 1}), ("write", {"value": None}), ("read", {})],
    "counter": [("increment", {}), ("read", {})],
    "set": [("add", {"value": 1}), ("remove", {"value": 1}), ("contains", {"value": 1})],
    "queue": [("enqueue", {"value": 1}), ("enqueue", {"value": 2}), ("dequeue", {})],
    "stack": [("push", {"value": 1}), ("push", {"value": 2}), ("pop", {})],
    "key-value": [("put", {"key": "a", "value": 1}), ("put", {"key": "b", "value": 2}), ("get", {"key": "a"})],
    "lock": [("acquire", {}), ("release", {})],
    "log": [("append", {"value": 1}), ("read", {})],
}


@pytest.mark.parametrize("name", NAMED)
def test_just_in_time_is_as_good_as_all_orders(name: str) -> None:
    specification = NAMED[name]()
    chance = random.Random(name)
    kinds = KINDS[name]
    verdicts = set()
    for _ in range(150):
        events: list[Any] = []
        under_way: dict[int, tuple[str, Any]] = {}
        state = specification.initial
        for _ in range(9):
            process = chance.randrange(3)
            if process not in under_way:
                invoked, arguments = chance.choice(kinds)
                under_way[process] = invoked, operations_of()[invoked](**arguments)
                events.append({"process": process, "invoke": invoked, **arguments})
            else:
                _, operation = under_way.pop(process)
                after = specification.apply(state, operation)
                result = after[1] if after is not None else None
                state = after[0] if after is not None else state
                if chance.random() < 0.15:
                    result = next((wrong for wrong in (7, True) if operation.gives(wrong)), result)
                events.append({"process": process, "return": list(result) if isinstance(result, tuple) else result})
        calls = read_history(lines(events), "history.json", operations_of())
        ops = [all_orders.Op(call.process, call.operation, call.begin, call.end, call.result) for call in calls]
        found = find_misplaced(Checked(specification, None), calls)
        assert (found is None) == all_orders.linearizable(specification, ops), lines(events)
        verdicts.add(found is None)
    assert verdicts == {True, False} or name in ("lock",)


@pytest.mark.parametrize("name", NAMED)
def test_operations_that_never_end_may_have_taken_effect(name: str) -> None:
    """Half of the clients crash, and others come in their place."""
    specification = NAMED[name]()
    chance = random.Random(name)
    verdicts = []
    for _ in range(150):
        events: list[Any] = []
        under_way: dict[int, Any] = {}
        names = [0, 1, 2]
        state = specification.initial
        for _ in range(11):
            process = chance.randrange(3)
            if process not in under_way:
                invoked, arguments = chance.choice(KINDS[name])
                under_way[process] = operations_of()[invoked](**arguments)
                events.append({"process": names[process], "invoke": invoked, **arguments})
                continue
            operation = under_way.pop(process)
            ends = chance.random() < 0.5
            after = specification.apply(state, operation) if ends or chance.random() < 0.5 else None
            state, result = after if after is not None else (state, None)
            if ends and operation.gives(result):
                told = list(result) if isinstance(result, tuple) else result
                events.append({"process": names[process], "return": told})
            else:
                names[process] = max(names) + 1
        calls = read_history(lines(events), "history.json", operations_of())
        ops = [all_orders.Op(call.process, call.operation, call.begin, call.end, call.result) for call in calls]
        found = find_misplaced(Checked(specification, None), calls)
        assert (found is None) == all_orders.linearizable(specification, ops), lines(events)
        verdicts.append(found is None)
    assert verdicts.count(True) > 10


def test_clients_that_crash_leave_no_orders_behind() -> None:
    """Each way in which twelve writes that never end may have taken effect would be too much to look at."""
    events: list[dict[str, Any]] = [{"process": f"gone{each}", "invoke": "write", "value": each} for each in range(12)]
    for each in range(200):
        events += [{"process": "a", "invoke": "write", "value": each % 12}, {"process": "b", "invoke": "read"}]
        events += [{"process": "a", "return": None}, {"process": "b", "return": (each - 1 if each % 3 else each) % 12}]
    events += [{"process": "b", "invoke": "read"}, {"process": "b", "return": 12}]
    calls = read_history(lines(events), "history.json", operations_of())
    found = find_misplaced(Checked(NAMED["register"](), None), calls, timeout=10)
    assert found is not None
    assert found.call is calls[-1]
    assert found.expected == tuple(range(12))


def test_keys_are_judged_one_by_one() -> None:
    events = []
    for key in range(12):  # all at once: the orders of all of them together are too many to try
        events.append({"process": key, "invoke": "put", "key": key, "value": 1})
    for key in range(12):
        events.append({"process": key, "return": None})
    events += [{"process": 0, "invoke": "get", "key": 3}, {"process": 0, "return": 2}]
    calls = read_history(lines(events), "history.json", operations_of())
    found = find_misplaced(Checked(KeyValue, None), calls)
    assert found is not None
    assert found.expected == (1,)
    assert len(found.context) == 2


def test_the_command_tells_the_first_operation_without_a_place(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(lines(GOOD))
    assert run(path, "--spec", "queue").exit_code == 0
    path.write_text(lines([*GOOD[:3], {"process": "b", "return": 4}]))
    found = run(path, "--spec", "queue")
    assert found.exit_code == 1
    assert "line 4: b ends Dequeue() = 4, and no order explains that" in found.output
    assert "by the specification it could have returned None, 3" in found.output
    told = json.loads(run(path, "--spec", "queue", "--json").output)
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/linearize.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(told, schema)
    assert told["linearizable"] is False
    assert told["misplaced"]["expected"] == ["None", "3"]


def test_the_command_refuses(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    assert run(path, "--spec", "queue").exit_code == 2
    path.write_text(lines(GOOD))
    assert run(path, "--spec", "cue").exit_code == 2
    assert run(path, "--spec", "queue", "--initial", "3").exit_code == 2
    path.write_text(lines(GOOD)[:-4])
    assert run(path, "--spec", "queue").exit_code == 2


def prefix(calls: list[Call], place: int) -> list[all_orders.Op]:
    """What was known of a history then: results that came later were not."""
    return [
        all_orders.Op(call.process, call.operation, call.begin)
        if call.end is None or call.end > place
        else all_orders.Op(call.process, call.operation, call.begin, call.end, call.result)
        for call in calls
        if call.begin <= place
    ]


LATER = [
    {"process": "a", "invoke": "append", "value": 1},
    {"process": "b", "invoke": "append", "value": 1},
    {"process": "c", "invoke": "append", "value": 1},
    {"process": "b", "return": 2},  # a and c may have been before: nothing is wrong yet
    {"process": "a", "return": 1},
    {"process": "c", "return": 2},  # nobody is left to have been the first
]


def test_a_result_that_comes_later_is_no_reason() -> None:
    found = find_misplaced(Checked(NAMED["log"](), None), read_history(lines(LATER), "h", operations_of()))
    assert found is not None
    assert (found.call.process, found.expected, found.call.lines[1]) == ("c", (0,), 6)


def test_what_is_shown_is_the_shortest_prefix_without_an_order() -> None:
    chance = random.Random(3)
    specification = NAMED["queue"]()
    later = 0
    for _ in range(150):
        events: list[dict[str, Any]] = []
        under_way: dict[int, str] = {}
        for _ in range(10):
            process = chance.randrange(3)
            if process in under_way:
                invoked = under_way.pop(process)
                value = None if invoked == "enqueue" else chance.choice([None, 1, 1, 2])
                events.append({"process": process, "return": value})
            else:
                under_way[process] = invoked = chance.choice(["enqueue", "dequeue"])
                given = {"value": chance.choice([1, 2])} if invoked == "enqueue" else {}
                events.append({"process": process, "invoke": invoked, **given})
        calls = read_history(lines(events), "h", operations_of())
        ends = sorted(call.end for call in calls if call.end is not None)
        wrong = [end for end in ends if not all_orders.linearizable(specification, prefix(calls, end))]
        found = find_misplaced(Checked(specification, None), calls)
        assert (found.call.end if found is not None else None) == (wrong[0] if wrong else None), lines(events)
        if found is None:
            continue
        assert {call.end for call in found.context} <= {None, *range(wrong[0] + 1)}
        could = [
            value
            for value in (None, 1, 2)
            if all_orders.linearizable(
                specification,
                prefix([replace(call, result=value) if call == found.call else call for call in calls], wrong[0]),
            )
        ]
        assert set(found.expected) == set(could), lines(events)
        later += any(call.end is not None and call.end > wrong[0] for call in calls)
    assert later > 10


def test_too_many_orders_are_not_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[dict[str, Any]] = [*GOOD]
    events += [{"process": each, "invoke": "enqueue", "value": each} for each in range(12)]
    events += [{"process": each, "return": None} for each in range(12)]
    path = tmp_path / "history.json"
    path.write_text(lines(events))
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/linearize.schema.json").read_text(encoding="utf-8"))

    stopped = run(path, "--spec", "queue", "--timeout", "0.2")
    assert stopped.exit_code == 3
    assert "not decided\n  the time was up: too many orders of operations that overlap" in stopped.output
    assert "the operations up to line 4 have an order" in stopped.output

    monkeypatch.setattr(order, "ROOM", 1 << 22)
    told = json.loads(run(path, "--spec", "queue", "--json").output)
    jsonschema.validate(told, schema)
    assert (told["linearizable"], told["stopped_by"], told["decided_to_line"]) == (None, "memory", 4)


def test_a_part_without_an_order_decides_whatever_the_others_take() -> None:
    events: list[dict[str, Any]] = [{"process": each, "invoke": "put", "key": 1, "value": each} for each in range(16)]
    events += [{"process": each, "return": None} for each in range(16)]
    events += [{"process": 0, "invoke": "get", "key": 2}, {"process": 0, "return": 3}]
    found = find_misplaced(Checked(KeyValue, None), read_history(lines(events), "h", operations_of()), timeout=0.05)
    assert found is not None
    assert found.expected == (None,)


@pytest.mark.parametrize(
    ("spec", "event", "what"),
    [
        ("counter", {"invoke": "increment", "by": "x"}, "Increment(by='x') cannot be applied to 0: "),
        ("register", {"invoke": "enqueue", "value": 1}, "Register has no operation Enqueue"),
        ("key-value", {"invoke": "enqueue", "value": 1}, "Enqueue(value=1) cannot be applied to {}"),
    ],
)
def test_operations_of_another_object_are_an_error_with_line(
    tmp_path: Path, spec: str, event: dict[str, Any], what: str
) -> None:
    path = tmp_path / "history.json"
    path.write_text(lines([{"process": "a", **event}, {"process": "a", "return": None}]))
    found = run(path, "--spec", spec)
    assert found.exit_code == 2
    assert "error Q330" in found.stderr
    assert "history.json:1" in found.stderr
    assert what in found.stderr.replace("\n ", "")


def test_a_number_that_is_no_integer_is_shown_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    events = [
        {"process": "a", "invoke": "write", "value": 1.5},
        {"process": "a", "return": None},
        {"process": "b", "invoke": "read"},
        {"process": "b", "return": [2.5]},
    ]
    path.write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    found = CliRunner().invoke(app, ["linearize", str(path), "--spec", "register"])
    assert found.exit_code == 1
    assert "b ends Read() = (2.5,)" in found.output
    assert "could have returned 1.5" in found.output


def test_a_number_is_not_its_text(tmp_path: Path) -> None:
    """`1.5` was compared as the text that it is written as."""
    for returned, status in ((1.5, 0), ("1.5", 1), (1, 1), ([1.5], 1)):
        events = [
            {"process": "a", "invoke": "enqueue", "value": 1.5},
            {"process": "a", "return": None},
            {"process": "a", "invoke": "dequeue"},
            {"process": "a", "return": returned},
        ]
        (tmp_path / "history").write_text(lines(events))
        assert run(tmp_path / "history", "--spec", "queue").exit_code == status


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("NaN", "not JSON: NaN is no number"),
        ("-Infinity", "not JSON: -Infinity is no number"),
        ("9" * 5_000, "not JSON: Exceeds the limit"),
        ("[" * 100_000, "not JSON: maximum recursion depth"),
    ],
)
def test_values_that_cannot_be_read(value: str, says: str, tmp_path: Path) -> None:
    text = f'{{"process": "a", "invoke": "enqueue", "value": {value}}}'
    assert refused(text).message.startswith(says)
    (tmp_path / "history").write_text(text)
    done = run(tmp_path / "history", "--spec", "queue")
    assert done.exit_code == 2
    assert "Q330" in done.stderr
    assert len(done.stderr) < 1_000  # not the whole line


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "history").write_bytes(b"\xff\xfe")
    for path, says in (
        (tmp_path, "Is a directory"),
        (tmp_path / "missing", "No such file"),
        (tmp_path / "history", "codec can't decode"),
        (Path("/dev/zero"), "it has more than"),
    ):
        done = run(path, "--spec", "queue")
        assert done.exit_code == 2
        assert "error Q310" in done.stderr
        assert says in " ".join(done.stderr.split())


SAME = (("1", "1.0", "1e0", "10e-1"), ("0", "-0.0"), ("1.5", "15e-1"), ('"A"', '"\\u0041"'), ("[1, 2]", "[1.0, 2]"))
ALONE = ("true", "false", "null", '"1"', '"1.5"', '["1.5"]', "[1.5]", "[true, 2]", "[]", "{}", '""', '{"value": true}')
PAIRS = [(one, two, one in same and two in same) for same in SAME for one in same for two in ALONE + SAME[0] + same]
PAIRS += [(one, two, one == two) for one in ALONE for two in ALONE]


CHECKED = {name: Checked(cls, None) for name, cls in NAMED.items()}


def ended(*calls: tuple[str, str, str]) -> str:
    """The operations of one process, each with its arguments and its result as they stand in the file."""
    return "".join(
        f'{{"process": "a", "invoke": "{name}"{arguments and ", "}{arguments}}}{{"process": "a", "return": {result}}}'
        for name, arguments, result in calls
    )


def has_order(spec: str, *calls: tuple[str, str, str]) -> bool:
    return find_misplaced(CHECKED[spec], read_history(ended(*calls), "h", operations_of())) is None


@pytest.mark.parametrize(
    ("spec", "first", "second", "if_same", "otherwise"),
    [
        ("register", ("write", '"value": @', "null"), ("read", "", "@"), None, None),
        ("cas-register", ("write", '"value": @', "null"), ("compare-and-swap", '"old": @, "new": 3', "?"), True, False),
        ("set", ("add", '"value": @', "true"), ("contains", '"value": @', "?"), True, False),
        ("set", ("add", '"value": @', "true"), ("remove", '"value": @', "?"), True, False),
        ("set", ("add", '"value": @', "true"), ("add", '"value": @', "?"), False, True),
        ("queue", ("enqueue", '"value": @', "null"), ("dequeue", "", "@"), None, None),
        ("stack", ("push", '"value": @', "null"), ("pop", "", "@"), None, None),
        ("key-value", ("put", '"key": "k", "value": @', "null"), ("get", '"key": "k"', "@"), None, None),
        ("key-value", ("put", '"key": @, "value": 7', "null"), ("get", '"key": @', "?"), 7, None),
        ("log", ("append", '"value": @', "0"), ("read", "", "[@]"), None, None),
    ],
)
def test_values_are_told_apart_as_json_tells_them_apart(
    spec: str, first: tuple[str, str, str], second: tuple[str, str, str], if_same: Any, otherwise: Any
) -> None:
    """`true` was 1 in a set, as a key and for compare-and-swap: histories without an order had one."""
    name, arguments, result = second
    for one, two, same in PAIRS:
        begun = first[0], first[1].replace("@", one), first[2]
        for told, expected in ((if_same, same), (otherwise, not same)) if "?" in result else ((None, same),):
            returned = result.replace("?", json.dumps(told)).replace("@", two)
            assert has_order(spec, begun, (name, arguments.replace("@", two), returned)) == expected, (one, two, told)


def test_a_counter_counts_as_it_is_written() -> None:
    def sums_to(total: str, *steps: str) -> bool:
        return has_order("counter", *[("increment", f'"by": {by}', "null") for by in steps], ("read", "", total))

    assert sums_to("3", "1.5", "1.5")
    assert sums_to("-0.25", "1.75", "-2")
    assert sums_to("0.30", "0.1", "0.2")  # 0.30000000000000004 with floats
    assert not sums_to("0.3", "0.1", "0.1")
    assert not sums_to("true", "1")
    assert str(Number(-5, 2)) == "-0.05"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (ended(("append", '"value": 1', "false")), "returns False from Append(value=1)"),
        (ended(("add", '"value": 1', "1")), "returns 1 from Add(value=1)"),
        (ended(("enqueue", '"value": 1e9999', "null")), "not JSON: 1e9999 has more than 4,300 digits"),
        (ended(("enqueue", f'"value": 1e{"9" * 30}', "null")), "9 has more than 4,300 digits"),
        (ended(("enqueue", '"value": 1, "value": 2', "null")), 'not JSON: "value" comes twice in one object'),
        ('{"process": true, "invoke": "dequeue"}', "has no process"),
    ],
)
def test_values_that_mean_nothing_are_refused(text: str, what: str) -> None:
    assert what in refused(text).message


def test_the_initial_value_is_read_like_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "history"
    for initial, returned, status in (("true", "1", 1), ("1.0", "1", 0), ("[1]", "[1]", 0), ("NaN", "1", 2)):
        path.write_text(ended(("read", "", returned)))
        assert run(path, "--spec", "register", "--initial", initial).exit_code == status


def test_operations_at_the_same_time_are_drawn_below_one_another(tmp_path: Path) -> None:
    """The second bar of a process was drawn over the first one."""
    path = tmp_path / "history"
    events: list[dict[str, Any]] = [
        {"process": "a", "id": 1, "invoke": "enqueue", "value": 1},
        {"process": "a", "id": 2, "invoke": "enqueue", "value": [*range(30)]},
        {"process": "a", "id": 1, "return": None},
        {"process": "a", "id": 2, "return": None},
        {"process": "a", "invoke": "dequeue"},
        {"process": "a", "return": 7},
    ]
    path.write_text(lines(events))
    drawn = run(path, "--spec", "queue").output.splitlines()[-5:-2]
    assert drawn == [
        "  a  ┣━ Enqueue(1) ━┫                                 ┣━ Dequeue() = 7 ━┫",
        "                                                      ▲ no place",
        "       ┣━ Enqueue((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … ━┫",
    ]


def test_a_history_that_is_too_wide_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(ended(*[("enqueue", f'"value": {each}', "null") for each in range(30)], ("dequeue", "", "7")))
    drawn = run(path, "--spec", "queue").output.splitlines()[5:-2]
    assert drawn[0] == "  a: Enqueue(19), lines 1 to 1"
    assert drawn[-1] == "  a: Dequeue() = 7, lines 1 to 1"
    assert len(drawn) == 12
