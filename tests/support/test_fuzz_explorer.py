"""The fuzzer's reference explorer, on systems that were counted by hand or by others."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.explorer import Exploration, explore, verdicts
from fuzz.protocol import (
    FALSE,
    NO_FAULTS,
    RELIABLE,
    Action,
    Class,
    Connect,
    Faults,
    Field,
    Network,
    Node,
    Property,
    Protocol,
    Record,
    Spawn,
    node,
)
from fuzz.system import DECLARED, Environment, System

ZERO = node("int", 0)


def number(name: str) -> Field:
    return Field(name, "int", ZERO)


def is_at(field: str, value: int) -> Node:
    return node("eq", node("self", field), node("int", value))


def explored(protocol: Protocol, environment: Environment = DECLARED) -> Exploration:
    return explore(System(protocol, environment), 10_000)


def counts(found: Exploration) -> tuple[int, int, int, int]:
    return found.states, found.transitions, found.depth, len(found.stuck)


STARTER = Class("P", fields=(number("x"),), actions=(Action("go", "start", (node("set", "x", node("int", 1)),)),))
PING = Record("Ping")
SENDER = Class(
    "Sender",
    fields=(Field("to", "peers", node("nobody")),),
    actions=(Action("go", "start", (node("send", node("self", "to"), node("make", "Ping", ())),)),),
)
HEARER = Class(
    "Hearer",
    fields=(number("n"),),
    actions=(Action("hear", "on", (node("set", "n", node("plus", node("self", "n"), 1, 5)),), "Ping"),),
)


def pinged(senders: int, network: Network = RELIABLE, faults: Faults = NO_FAULTS, cls: Class = HEARER) -> Protocol:
    return Protocol(
        records=(PING,),
        classes=(SENDER, cls),
        spawns=(Spawn("Sender", senders), Spawn("Hearer")),
        connects=(Connect(0, None, "to", node("group", 1)),),
        network=network,
        faults=faults,
    )


def test_two_independent_steps_are_a_diamond() -> None:
    found = explored(Protocol(classes=(STARTER,), spawns=(Spawn("P", 2),)))
    assert counts(found) == (4, 4, 2, 1)


def test_a_message_is_sent_and_consumed() -> None:
    assert counts(explored(pinged(1))) == (3, 2, 2, 1)


def test_two_senders_and_a_hearer_who_counts() -> None:
    # Each message is unsent, pending or consumed, and how many were consumed is what the hearer knows.
    assert counts(explored(pinged(2))) == (9, 12, 4, 1)


def test_a_loss_is_a_step_of_its_own_within_its_budget() -> None:
    # unsent; pending; consumed (budget left); lost (budget gone)
    assert counts(explored(pinged(1, Network(losses=1)))) == (4, 3, 2, 2)


def test_a_copy_is_consumed_like_the_first() -> None:
    # Left of the budget 1: unsent, pending, consumed once. Left 0: two pending, one pending and one heard, two heard.
    assert counts(explored(pinged(1, Network("multiset", duplicates=1)))) == (6, 5, 4, 2)


def test_a_full_channel_blocks_its_sender() -> None:
    sender = SENDER._replace(
        actions=(Action("go", "step", SENDER.actions[0].body, when=is_at("sent", 0)),),
        fields=(*SENDER.fields, number("sent")),
    )
    protocol = pinged(1, Network("multiset", capacity=2))
    protocol = replace(protocol, classes=(sender, HEARER._replace(actions=())))
    found = explored(protocol)
    assert counts(found) == (3, 2, 2, 1)  # nothing is sent into the full channel, so that state is stuck


def test_crashes_between_and_amidst_steps() -> None:
    # Nobody crashes: 3 states. The sender crashes before (1), amidst, having sent nothing (1), or after sending, with
    # the message pending or consumed (2). The hearer crashes before the message is sent, before it is heard (one state
    # is where the other leads to) or after (3).
    found = explored(pinged(1, faults=Faults(1)))
    assert found.states == 3 + 1 + 1 + 2 + 3


def test_a_fifo_hands_out_the_oldest_first() -> None:
    one, two = Record("One"), Record("Two")
    body = tuple(node("send", node("self", "to"), node("make", name, ())) for name in ("One", "Two"))
    sender = SENDER._replace(actions=(Action("go", "start", body),))
    hearer = HEARER._replace(
        actions=(
            Action("first", "on", (node("set", "n", node("int", 1)),), "One"),
            Action("second", "on", (node("set", "n", node("int", 2)),), "Two"),
        )
    )
    protocol = Protocol(
        (one, two), (sender, hearer), (), (Spawn("Sender"), Spawn("Hearer")),
        (Connect(0, None, "to", node("group", 1)),), network=Network("fifo"),
    )  # fmt: skip
    assert counts(explored(protocol)) == (4, 3, 3, 1)
    assert counts(explored(replace(protocol, network=Network()))) == (6, 5, 3, 2)


@pytest.mark.parametrize(("sets", "sizes"), [("minimal", {1}), ("maximal", {1, 2})])
def test_sets_of_messages_that_are_enough(sets: str, sizes: set[int]) -> None:
    quorum = Action(
        "count", "quorum", (node("set", "n", node("size")),), "Ping", enough=node("le", node("int", 1), node("size"))
    )
    hearer = HEARER._replace(actions=(quorum._replace(sets=sets),))  # type: ignore[arg-type]
    found = explored(pinged(2, cls=hearer))
    assert {state.locals[2].values[0] for state in found.depths} - {0} == sizes


def test_properties_are_judged_where_they_first_hold_or_break() -> None:
    claims = (
        Property("both", "can", node("all", "P", node("eq", node("p", "x"), node("int", 1)))),
        Property("low", "invariant", node("all", "P", node("eq", node("p", "x"), ZERO))),
        Property(
            "whole", "invariant", node("all", "P", node("le", node("divide", node("int", 1), node("p", "x")), ZERO))
        ),
        Property("done", "final", FALSE),
    )
    system = System(Protocol(classes=(STARTER,), spawns=(Spawn("P", 2),), properties=claims))
    said = verdicts(system, explore(system), claims)
    assert said.reached == {"both": 2}
    assert said.broken == {"low": 1, "whole": 1, "deadlock": 2}
    assert said.raises == {"whole": 0}


def become(field: str, value: int) -> Node:
    return node("set", field, node("int", value))


def tell(to: str, message: str) -> Node:
    return node("send", node("self", to), node("make", message, ()))


def two_phase_commit(managers: int) -> Protocol:
    """Lamport's TwoPhase: what was sent stays, so that it can be received again and again."""
    manager = Class(
        "Manager",
        fields=(number("s"), Field("to", "peers", node("nobody"))),
        actions=(
            Action("prepare", "step", (become("s", 1), tell("to", "Prepared")), when=is_at("s", 0)),
            Action("give_up", "step", (become("s", 3),), when=is_at("s", 0)),
            Action("commit", "on", (become("s", 2),), "Commit"),
            Action("abort", "on", (become("s", 3),), "Abort"),
        ),
    )
    everyone = node("eq", node("len", node("self", "prepared")), node("int", managers))
    noted = node("set", "prepared", node("with", node("self", "prepared"), node("m", "sender")))
    ready = node("and", is_at("t", 0), everyone)
    coordinator = Class(
        "Coordinator",
        fields=(number("t"), Field("prepared", "peers", node("nobody")), Field("to_all", "peers", node("nobody"))),
        actions=(
            Action("note", "on", (noted,), "Prepared", when=is_at("t", 0)),
            Action("commit_all", "step", (become("t", 1), tell("to_all", "Commit")), when=ready),
            Action("abort_all", "step", (become("t", 2), tell("to_all", "Abort")), when=is_at("t", 0)),
        ),
    )
    return Protocol(
        records=(Record("Prepared"), Record("Commit"), Record("Abort")),
        classes=(manager, coordinator),
        spawns=(Spawn("Manager", managers), Spawn("Coordinator")),
        connects=(Connect(0, None, "to", node("group", 1)), Connect(1, None, "to_all", node("group", 0))),
        network=Network(duplicates="any"),
    )


@pytest.mark.parametrize(("managers", "states"), [(3, 288), (5, 8_832)])
def test_two_phase_commit_has_the_published_number_of_states(managers: int, states: int) -> None:
    assert explored(two_phase_commit(managers)).states == states


def test_nothing_of_quorate_is_used() -> None:
    """The reference must not share the mistakes of what it is held against."""
    program = (
        "import sys, types; "
        "package = types.ModuleType('fuzz'); package.__path__ = ['fuzz']; sys.modules['fuzz'] = package; "
        "import fuzz.explorer; "
        "sys.exit(any(name.partition('.')[0] == 'quorate' for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[1])
