"""The guard over the core's instruction counts: what it reads and how it judges. `make instructions` counts."""

import json

from benchmarks.instructions import CASES, COMMITTED, compare, of_the_core

PROFILE = """\
# callgrind format
version: 1
desc: Trigger: Client Request: breadth-first, plain
positions: line
events: Ir

ob=(1) /usr/bin/python3.11
fn=(1) call
0 100
cob=(2) /home/somebody/quorate/_core.cpython-311-x86_64-linux-gnu.so
cfn=(2) search
calls=1 0
0 1234

ob=(2)
fn=(2)
0 1000
+3 30
* 4
7
cob=(3) /lib/x86_64-linux-gnu/libc.so.6
cfn=(3) memcpy
calls=20 0
+1 200

ob=(3)
fn=(3)
0 200

ob=(2)
fn=(4) widen
16 5
totals: 1539
"""


def test_only_the_cores_own_instructions_count() -> None:
    assert of_the_core(PROFILE) == 1000 + 30 + 4 + 5


def test_more_than_ten_percent_is_too_much() -> None:
    lines, worse = compare({"a": 1000, "b": 1000}, {"a": 1100, "b": 890})
    assert not worse
    assert [line.split(maxsplit=2)[2] for line in lines] == ["+10.0%", "-11.0%  fewer: worth accepting"]
    lines, worse = compare({"a": 1000}, {"a": 1101})
    assert worse
    assert lines[0].endswith("+10.1%  more than it may")


def test_a_case_without_a_figure_is_an_error() -> None:
    assert compare({}, {"a": 1})[1]


def test_every_case_has_a_committed_figure() -> None:
    assert set(json.loads(COMMITTED.read_text())["instructions"]) == set(CASES)
