"""The structure of the picture: elements, their order and their labels. How it looks is for eyes."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given

from handmade import violation
from models import Everything
from quorate import check
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.render.chart.layout import laid_out
from quorate.render.chart.model import chart
from quorate.render.chart.svg import DARK, LIGHT, style, svg
from quorate.results.trace import Trace
from walks import traces

SVG = "{http://www.w3.org/2000/svg}"


def parsed(trace: Trace) -> ET.Element:
    return ET.fromstring(svg(laid_out(chart(trace))))


def classes(root: ET.Element, name: str) -> list[ET.Element]:
    return [node for node in root.iter() if name in (node.get("class") or "").split()]


def text(node: ET.Element) -> str:
    return "".join(node.itertext())


@pytest.fixture(scope="module")
def picture() -> ET.Element:
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    return parsed(trace)


def test_processes_by_role(picture: ET.Element) -> None:
    (heads,) = classes(picture, "heads")
    assert [text(node) for node in heads.iter(f"{SVG}text")] == [
        "Proposer",
        "Acceptor",
        "Learner",
        "proposer1",
        "proposer2",
        "acceptor1",
        "acceptor2",
        "acceptor3",
        "learner1",
    ]
    assert len(classes(picture, "life")) == 6


def test_steps_in_order_with_their_texts(picture: ET.Element) -> None:
    steps = classes(picture, "step")
    assert [node.get("data-step") for node in steps] == [str(n) for n in range(1, 12)]
    assert [text(node) for node in steps[3].iter(f"{SVG}text")] == [
        "Prepare(ballot=2)",
        "4 promise",
        "promised: 1 → 2",
    ]


def test_a_quorum_is_one_bar_where_its_messages_join(picture: ET.Element) -> None:
    joins = [node.get("data-step") for node in classes(picture, "step") if classes(node, "join")]
    assert joins == ["7", "9", "11"]
    flights = [node for node in classes(picture, "received") if node.get("data-ended") == "11"]
    heads = [classes(node, "tip")[0].get("d") or "" for node in flights]
    assert len(heads) == 2
    assert len({head.split("L")[0] for head in heads}) == 1  # both arrows point to the same place


def test_messages_that_nobody_received_are_dashed(picture: ET.Element) -> None:
    never = [node for node in classes(picture, "flying") if node in classes(picture, "never")]
    assert [node.get("data-sent") for node in never] == ["1", "2", "7", "7", "9", "9"]
    assert all(classes(node, "hollow") and not classes(node, "tip") for node in never)
    assert text(never[0]).strip() == "Prepare(ballot=2) from proposer2 to acceptor3, sent in step 1, never received"


def test_the_violation_is_highlighted(picture: ET.Element) -> None:
    (verdict,) = classes(picture, "verdict")
    assert [text(node).strip() for node in verdict.iter(f"{SVG}text")] == [
        "✗ agreement fails",
        "len({v for learner in self[Learner] for v in learner.learned}) <= 1",
        "2 <= 1 is false",
        "len({1, 2}) is 2",
        "learner1.learned = {1, 2}",
    ]
    bad = [node.get("data-step") for node in classes(picture, "step") if classes(node, "bad")]
    assert bad == ["11"]
    assert len(classes(picture, "read")) == 1


def test_a_crash_ends_a_lifeline() -> None:
    root = parsed(violation(Everything(), "all_there"))
    assert len(classes(root, "dead")) == 1
    assert classes(root, "cross")


@given(traces())
def test_it_is_well_formed_whatever_the_run(trace: Trace) -> None:
    root = parsed(trace)
    assert len(classes(root, "step")) == len(trace)
    faults = {"lose": "gone", "duplicate": "copy", "crash": "cross"}
    for kind, mark in faults.items():
        happened = sum(step.kind == kind for step in trace.steps)
        assert bool(classes(root, mark)) >= bool(happened)


def test_values_cannot_break_out_of_the_picture() -> None:
    from quorate import Process, System, invariant

    class Evil(Process):
        text: str = "</text><script>alert(1)</script>"

    class Host(System):
        def build(self) -> None:
            self.spawn(Evil)

        @invariant
        def fine(self) -> bool:
            return self[Evil][0].text == '"&<'

    root = parsed(violation(Host(), "fine"))
    assert not list(root.iter(f"{SVG}script"))
    assert "<script>" in text(root)


def test_both_sets_of_colours_are_complete() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert "var(--ink)" in style()
    assert "var(" not in style(LIGHT)
