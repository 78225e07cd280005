"""The network as one policy: what each answers about the same inbox."""

import typing
from typing import Any

import pytest

from quorate import fifo, multiset, unordered
from quorate.language.message import Message, stamped
from quorate.language.network import Network
from quorate.model.definition import Definition
from quorate.semantics.channels import _POLICIES, Inboxes, channels
from test_semantics import Note, talk


def test_every_kind_of_network_has_a_policy() -> None:
    kinds = typing.get_args(typing.get_type_hints(Network)["kind"])
    assert set(_POLICIES) == set(kinds)


def notes(definition: Definition, *said: tuple[int, int]) -> tuple[Message, ...]:
    """What the senders of these numbers say, arranged as the network has it."""
    pids = [column.pid for column in definition.processes]
    messages = [stamped(Note(number), pid) for sender, number in said if (pid := pids[sender]) is not None]
    return channels(definition).arranged(definition.columns[0], messages)


def shown(messages: Any) -> list[tuple[str, int]]:
    return [(str(message.sender), message.number) for message in messages]


SAID = ((2, 3), (1, 2), (1, 1), (2, 3), (1, 2))


@pytest.mark.parametrize(
    ("network", "order"),
    [
        (multiset(), [("sender1", 1), ("sender1", 2), ("sender1", 2), ("sender2", 3), ("sender2", 3)]),
        (fifo(), [("sender1", 2), ("sender1", 1), ("sender1", 2), ("sender2", 3), ("sender2", 3)]),
    ],
)
def test_in_which_order_an_inbox_is_kept(network: Network, order: list[tuple[str, int]]) -> None:
    assert shown(notes(talk(network, (), ()), *SAID)) == order


@pytest.mark.parametrize(
    ("network", "offered"),
    [
        (unordered(), [("sender1", 1), ("sender1", 2), ("sender2", 3)]),
        (multiset(), [("sender1", 1), ("sender1", 2), ("sender2", 3)]),
        (fifo(), [("sender2", 3)]),
        (fifo(head="skip"), [("sender1", 1), ("sender2", 3)]),
        (fifo(head="drop"), [("sender2", 3)]),
    ],
)
def test_what_may_be_looked_at(network: Network, offered: list[tuple[str, int]]) -> None:
    """By a transition that takes notes, and wants odd numbers; the filter matters only where there is an order."""
    definition = talk(network, (), ())
    found = channels(definition).offered(
        definition.columns[0],
        notes(definition, *SAID),
        lambda message: isinstance(message, Note),
        lambda message: isinstance(message, Note) and message.number % 2 == 1,
    )
    assert shown(found) == offered


@pytest.mark.parametrize(
    ("network", "heads"), [(multiset(), []), (fifo(), []), (fifo(head="skip"), []), (fifo(head="drop"), [0, 3])]
)
def test_what_may_be_thrown_away(network: Network, heads: list[int]) -> None:
    definition = talk(network, (), ())
    assert channels(definition).discardable(definition.columns[0], notes(definition, *SAID)) == heads


@pytest.mark.parametrize(
    ("network", "changes", "after"),
    [
        (unordered(), [("merged", 0, 1, 0)], [1, 2]),
        (multiset(), [("put", 0, 2, 0)], [1, 2, 2]),
        (fifo(), [("put", 0, 2, 0)], [2, 1, 2]),
        (multiset(capacity=3), [("put", 0, 2, 0)], [1, 2, 2]),
        (multiset(capacity=2), None, None),
        (unordered(capacity=2), [("merged", 0, 1, 0)], [1, 2]),
        (fifo(capacity=2), None, None),
        (fifo(capacity=2, full="replace"), [("replaced", 0, 0, 0), ("put", 0, 1, 0)], [1, 2]),
    ],
)
def test_what_a_delivery_does(network: Network, changes: Any, after: Any) -> None:
    """A 2 is sent where a 2 and a 1 are pending."""
    definition = talk(network, ())
    there = notes(definition, (1, 2), (1, 1))
    inboxes = Inboxes(definition, (there, ()))
    (message,) = notes(definition, (1, 2))
    went = inboxes.exchange(definition.columns[1], None, (), ((0, message),))
    assert went == (changes is not None)
    if went:
        assert inboxes.changes == changes
        assert [number for _, number in shown(inboxes.arranged()[0])] == after


@pytest.mark.parametrize(
    ("network", "places"),
    [(multiset(losses=1), [(0, 0), (1, 0), (3, 0)]), (fifo(losses=1), [(0, 0), (1, 0), (2, 1), (3, 0)])],
)
def test_where_messages_may_be_lost_or_copied(network: Network, places: list[tuple[int, int]]) -> None:
    definition = talk(network, (), ())
    assert channels(definition).places(definition.columns[0], notes(definition, *SAID)) == places


def test_a_copy_needs_room() -> None:
    definition = talk(fifo(capacity=2, duplicates=1), ())
    one, two = (notes(definition, *((1, 1),) * number) for number in (1, 2))
    assert channels(definition).has_room(one, one[0])
    assert not channels(definition).has_room(two, two[0])


def test_budgets() -> None:
    bounded = channels(talk(multiset(losses=2, duplicates=1), ()))
    assert (bounded.lossy((1, 0, 0)), bounded.lossy((0, 1, 0))) == (True, False)
    assert (bounded.copying((0, 1, 0)), bounded.copying((1, 0, 0))) == (True, False)
    assert (bounded.after_loss((2, 1, 3)), bounded.after_copy((2, 1, 3))) == ((1, 1, 3), (2, 0, 3))
    endless = channels(talk(unordered(losses="any", duplicates="any"), ()))
    assert (endless.lossy((0, 0, 0)), endless.copying((0, 0, 0))) == (True, False)
    assert endless.after_loss((0, 0, 0)) == (0, 0, 0)


@pytest.mark.parametrize(("network", "parts"), [(multiset(), 7), (fifo(), 5)])
def test_what_a_crash_may_have_left_unsent(network: Network, parts: int) -> None:
    """Two messages into one channel, one into another: a queue is cut at its end."""
    definition = talk(network, (), ())
    (one,), (two,) = notes(definition, (1, 1)), notes(definition, (1, 2))
    sends = ((0, one), (0, two), (2, one))
    chosen = [tuple(place for place in range(3) if bits >> place & 1) for bits in range(7)]
    assert sum(channels(definition).may_be_cut(sends, each) for each in chosen) == parts
