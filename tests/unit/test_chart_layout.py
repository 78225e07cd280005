"""Nothing on a chart meets anything else: that is what makes it legible."""

from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given

from quorate import check
from quorate.base.values import show
from quorate.model.define import define
from quorate.model.target import load
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.render.chart.fitting import fitted
from quorate.render.chart.layout import ASIDE, Drawing, Line, laid_out
from quorate.render.chart.model import chart
from quorate.results.regroup import regroup
from quorate.results.trace import Trace
from walks import traces, walked


def assert_legible(drawing: Drawing) -> None:
    boxes = [label.box for label in drawing.labels]
    for one, two in combinations(boxes, 2):
        apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] + 1 or two[3] <= one[1] + 1
        assert apart, (one, two)
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert right <= drawing.width
        assert top > 0
        assert bottom < drawing.height
        assert not any(left < head.x < right for head in drawing.heads), "a label lies on a lifeline"
    bars = [(bar.x, bar.top, bar.bottom) for bar in drawing.bars]
    for one_bar, two_bar in combinations(bars, 2):
        assert one_bar[0] != two_bar[0] or one_bar[2] <= two_bar[1] or two_bar[2] <= one_bar[1]
    for head in drawing.reminders:
        assert not any(top < head.y + 22 and head.y < bottom for _, top, _, bottom in boxes)
        assert not any(bar.top < head.y + 22 and head.y < bar.bottom for bar in drawing.bars)
    for line in drawing.lines:
        assert line.y1 < line.y2 or line.cut_start or line.cut_end, "time runs down"


@given(traces())
def test_no_label_meets_another(trace: Trace) -> None:
    assert_legible(laid_out(chart(trace)))


@cache
def long() -> Trace:
    definition = define(Paxos(proposers=3, acceptors=7, learners=2, ballots=4))
    return walked(definition, [(7 * n * n + 3 * n) % 101 for n in range(75)])


def big(steps: int) -> Trace:
    """Twelve processes, as many steps as asked for."""
    return regroup(replace(long(), steps=long().steps[:steps]))


def test_twelve_processes_and_sixty_steps() -> None:
    trace = big(60)
    assert len(trace) == 60
    drawing = laid_out(chart(trace))
    assert len(drawing.heads) == 12
    assert drawing.width < 2100
    assert not drawing.folds
    names = [head.name for head in drawing.heads]
    assert [head.name for head in drawing.reminders] == names * (len(drawing.reminders) // 12)
    places = [0.0, *sorted({head.y for head in drawing.reminders}), drawing.end]
    assert len(places) > 3
    assert max(two - one for one, two in pairwise(places)) < 1100  # some names are always in sight
    assert_legible(drawing)


def test_a_long_run_loses_its_middle_and_says_so() -> None:
    trace = big(75)
    drawing = laid_out(chart(trace), fold=40)
    (fold,) = drawing.folds
    hidden = sorted(set(range(1, len(trace) + 1)) - {bar.number for bar in drawing.bars})
    assert fold.text == f"{len(hidden)} steps not shown: {hidden[0]} to {hidden[-1]}"
    numbers = [bar.number for bar in drawing.bars]
    assert numbers[0] == 1
    assert numbers[-1] == len(trace)
    assert len(numbers) < len(trace)
    assert_legible(drawing)
    assert not laid_out(chart(trace), fold=None).folds


def test_the_same_step_of_several_processes_shares_a_row() -> None:
    trace = check(FaultyPaxos(), regroup=False).trace
    assert trace is not None
    tops = {bar.number: bar.top for bar in laid_out(chart(trace)).bars}
    assert tops[1] == tops[2]  # both prepare
    assert tops[3] == tops[4]  # acceptor1 and acceptor2 promise ballot 1
    assert tops[2] < tops[3] < tops[5]


def test_text_stands_beside_its_step() -> None:
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    drawing = laid_out(chart(trace))
    bars = {bar.number: bar for bar in drawing.bars}
    for label in drawing.labels:
        bar = bars[label.number]
        assert bar.top <= label.y <= bar.bottom
        assert abs(label.x - bar.x) == ASIDE


def lines(text: str, characters: int) -> list[str]:
    from quorate.render.chart.fitting import CHARACTER

    return ["".join(span.text for span in line) for line in fitted([text], characters * CHARACTER + 0.1).lines]


def test_text_that_is_too_long_is_broken_and_then_cut() -> None:
    assert lines("short", 10) == ["short"]
    assert lines("vote: None → Vote(2, 2)", 14) == ["vote: None →", " Vote(2, 2)"]
    assert lines("Commit(value=Vote(ballot=1, value=2), proof=(1, 2, 3, 4, 5, 6))", 18) == [
        "Commit(value=Vote(",
        " ballot=1,",
        " value=2),…",
    ]
    assert lines("x" * 40, 10) == ["xxxxxxxxx…"]


VIOLATED: dict[str, dict[str, Any]] = {
    "faulty-paxos": {},
    "faulty-paxos-2": {},
    "paxos-counting": {"heed": False},
    "echo-multicast": {"honest_receivers": 2, "byzantine_receivers": 2},
    "wrong-regular-storage": {},
    "safe-storage": {"late": True},
    "atomic-storage": {"write_back": False},
    "om": {"traitors": 2},
    "faulty-fd-consensus": {},
    "two-phase-commit": {"crashes": 1},
    "two-phase-commit-recovery": {"forgetful": True},
    "three-phase-commit": {"alone": True},
    "multi-paxos": {"last_slot_only": True},
    "raft-election": {"forgetful": True},
    "pbft": {"byzantine": 2},
    "ben-or": {"hasty": True},
    "chandra-toueg": {"newest": False},
    "chain-replication": {"anywhere": True},
    "lamport-mutex": {"ordered": False},
    "gossip": {"gullible": True},
}
"""Every bundled protocol that can be broken, broken."""


@pytest.mark.parametrize("name", VIOLATED)
def test_the_counterexamples_of_the_library(name: str) -> None:
    trace = check(load(name)(**VIOLATED[name])).trace
    assert trace is not None
    drawing = laid_out(chart(trace))
    assert_legible(drawing)
    assert_named(drawing)
    assert drawing.width < 1400
    assert [bar.number for bar in drawing.bars if bar.bad] == [len(trace)]


def assert_named(drawing: Drawing) -> None:
    """What every arrow carries is written at one of its ends."""
    written: dict[int, str] = {}
    for label in drawing.labels:
        written[label.number] = written.get(label.number, "") + "".join(span.text for span in label.spans)
    for line in drawing.lines:
        ends = written.get(line.arrow.sent, "") + written.get(line.arrow.ended or 0, "")
        twins = [written.get(other.arrow.ended or 0, "") for other in drawing.lines if _equal(other, line)]
        assert type(line.arrow.message).__name__[:12] in ends + "".join(twins), line.arrow


def _equal(one: Line, two: Line) -> bool:
    return one.arrow.sent == two.arrow.sent and show(one.arrow.message) == show(two.arrow.message)


@given(traces())
def test_every_message_is_named(trace: Trace) -> None:
    assert_named(laid_out(chart(trace)))
    assert_named(laid_out(chart(trace), fold=6))
