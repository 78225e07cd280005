"""Exact output: what people read is an interface."""

from dataclasses import replace
from textwrap import dedent

from handmade import violation, witness
from models import Everything, Starts
from quorate.render.text import run
from quorate.results.trace import Trace
from quorate.semantics.state import State


def shown(trace: Trace, width: int = 80) -> str:
    return run(trace, width).plain()


def test_a_run_step_by_step() -> None:
    assert (
        shown(violation(Everything(lossy=False), "one_busy"))
        == dedent(
            """
            The shortest run that breaks one_busy: 3 steps

              1. asker1   ask
                   chooses Colour.RED
                   sends Ask(colour=Colour.RED) to helper1..3
                   emits Asked(colour=Colour.RED)
                   in flight: Ask(colour=Colour.RED) → helper1..3

              2. helper1  help  ← Ask(colour=Colour.RED) from asker1
                   chooses 1
                   busy: False → True
                   sends Answer(number=1) to asker1
                   in flight: 1 Answer · 2 Ask

              3. helper2  help  ← Ask(colour=Colour.RED) from asker1
                   chooses 1
                   busy: False → True
                   sends Answer(number=1) to asker1

              ✗ one_busy fails here
                  sum(helper.busy for helper in self[Helper]) < 2
                    2 < 2 is false
                      sum((True, True, False)) is 2
                  helper1.busy = True
                  helper2.busy = True
                  helper3.busy = False

              still in flight
                  Ask(colour=Colour.RED) from asker1 to helper3
                  Answer(number=1) from helper1 to asker1
                  Answer(number=1) from helper2 to asker1
            """
        ).strip()
    )


def test_a_monitor_is_shown_after_the_event_that_moved_it() -> None:
    lines = shown(violation(Everything(), "never_blue")).splitlines()
    assert lines[4:7] == [
        "       sends Ask(colour=Colour.BLUE) to helper1..3",
        "       emits Asked(colour=Colour.BLUE)",
        "       Watch.blue: 0 → 1",
    ]


def test_equal_messages_of_several_senders_share_a_line() -> None:
    text = shown(witness(Everything(), "served"))
    assert "  4. asker1   hear  ← Answer(number=1) from helper1, helper2\n" in text
    assert "✓ served is reached here\n      any(asker.answers for asker in self[Asker])\n" in text
    assert "        asker1.answers is {helper1: 1, helper2: 1}\n\n" in text


def test_different_messages_of_a_quorum_get_a_line_each_and_a_failure_names_its_line() -> None:
    lines = shown(violation(Everything(), "assertion")).splitlines()
    at = lines.index("  4. asker1   hear      ← Answer(number=1) from helper1")
    assert lines[at + 1 : at + 3] == [
        "                        ← Answer(number=2) from helper2",
        "       answers: {} → {helper1: 1, helper2: 2}",
    ]
    assert lines[0] == "The shortest run to the failure: 5 steps"
    assert lines[-2] == "       fails: an answer was 2"
    assert lines[-1].startswith("       at ")
    assert "models.py:" in lines[-1]


def test_a_crash_is_marked() -> None:
    text = shown(violation(Everything(), "all_there"))
    assert "\n! 1. helper1  crashes\n" in text
    assert "      helper1 has crashed" in text


def _with_environment_step(kind: str) -> Trace:
    """A run whose second step is the network's."""
    from quorate.semantics.state import initial_states
    from quorate.semantics.steps import steps

    trace = violation(Everything(), "never_blue")
    state: State = initial_states(trace.definition)[0]
    first = steps(trace.definition, state)[0]
    assert first.next is not None
    second = next(step for step in steps(trace.definition, first.next) if step.kind == kind)
    return replace(trace, steps=(first, second), shortest=False)


def test_a_lost_message_is_marked() -> None:
    text = shown(_with_environment_step("lose"))
    assert text.startswith("A run that breaks never_blue: 2 steps\n")
    assert "\n! 2. network  loses  Ask(colour=Colour.RED) from asker1 to helper1\n" in text


def test_a_duplicated_message_is_marked() -> None:
    text = shown(_with_environment_step("duplicate"))
    assert "\n! 2. network  duplicates  Ask(colour=Colour.RED) from asker1 to helper1\n" in text
    assert "      Ask(colour=Colour.RED) from asker1 to helper1 (twice), helper2, helper3" in text


def test_several_initial_states_say_which_one() -> None:
    assert shown(violation(Starts(), "idle")).splitlines() == [
        "The shortest run that breaks idle: 0 steps",
        "",
        "  starts with",
        "       helper1.busy = True",
        "",
        "  ✗ idle fails in the initial state",
        "      not any(helper.busy for helper in self[Helper])",
        "        helper1.busy is True",
    ]


def test_nothing_is_wider_than_asked_for() -> None:
    for width in (50, 60, 80):
        text = shown(violation(Everything(), "one_busy"), width)
        assert max(map(len, text.splitlines())) <= width


def test_in_a_narrow_window_messages_go_below_the_step() -> None:
    lines = shown(violation(Everything(), "one_busy"), 50).splitlines()
    at = lines.index("  2. helper1  help")
    assert lines[at + 1] == "       ← Ask(colour=Colour.RED) from asker1"
