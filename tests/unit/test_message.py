import dataclasses

import pytest

from quorate import Event, Message, ModelError, Pid
from quorate.base.values import encode
from quorate.language.message import origin, stamped
from support import here

one, two = Pid(0, "server1"), Pid(1, "server2")


class Empty(Message): ...


class Note(Message):
    number: int
    words: frozenset[str] = frozenset()


class Urgent(Note):
    level: int = 1


class Happened(Event):
    number: int


def test_a_message_is_a_frozen_dataclass() -> None:
    assert [field.name for field in dataclasses.fields(Urgent)] == ["number", "words", "level"]
    assert Note(1) == Note(number=1)
    assert Note(1) != Note(2)
    assert Note(1) != Urgent(1)
    assert dataclasses.replace(Note(1), number=2) == Note(2)
    assert repr(Urgent(3)) == "Urgent(number=3, words={}, level=1)"
    assert Empty() == Empty()
    match Note(7):
        case Note(number):
            assert number == 7


def test_equality_tells_types_apart() -> None:
    assert Note(1) != Note(True)
    assert len({Note(1), Note(True), Note(1)}) == 2


def test_who_sent_it_is_part_of_a_message_once_it_is_sent() -> None:
    from_one, from_two = stamped(Note(1), one), stamped(Note(1), two)
    assert from_one.sender is one
    assert from_one != from_two
    assert from_one == stamped(Note(1), one)
    assert encode(from_one) != encode(Note(1))
    assert (origin(from_one), origin(Note(1))) == (one, None)
    assert stamped(from_one, two).sender is two
    assert stamped(Happened(1), one).source is one


def test_a_message_that_was_not_received_has_no_sender() -> None:
    with pytest.raises(ModelError, match="only once it was received") as caught:
        _ = Note(1).sender
    assert caught.value.code == "Q108"
    with pytest.raises(ModelError, match="only once it was emitted"):
        _ = Happened(1).source


def test_a_message_cannot_be_changed() -> None:
    note = Note(1)
    with pytest.raises(ModelError) as caught:
        note.number = 2  # type: ignore[misc]  # here: change
    assert caught.value.code == "Q103"
    assert caught.value.message == "Note.number was assigned: a message cannot be changed once it is made"
    assert caught.value.hint == "make a new one: `Note(...)`, or dataclasses.replace(m, number=...)"
    assert caught.value.location == here("change")
    with pytest.raises(ModelError, match=r"Note\.number was deleted"):
        del note.number
    with pytest.raises(ModelError, match=r"Happened\.number was assigned: an event cannot be changed"):
        Happened(1).number = 2  # type: ignore[misc]


def test_a_mutable_value_in_a_message_is_refused_when_it_is_sent() -> None:
    with pytest.raises(ModelError) as caught:
        stamped(Note([1]), one)  # type: ignore[arg-type]  # here: list
    assert caught.value.code == "Q101"
    assert caught.value.message == "Note.number holds [1] of type list, which cannot be part of a state"
    assert caught.value.hint.startswith("use a tuple")
    assert caught.value.location == here("list")


def test_sending_makes_a_copy_that_the_handler_cannot_reach() -> None:
    note = Note(1)
    sent = stamped(note, one)
    object.__setattr__(note, "number", 2)
    assert sent.number == 1


def test_sets_in_a_message_iterate_by_content() -> None:
    assert list(stamped(Note(1, frozenset({"b", "a", "c"})), one).words) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["sender", "source"])
def test_the_names_of_the_origin_are_taken(name: str) -> None:
    with pytest.raises(ModelError, match="already records where it comes from"):
        type("Bad", (Message,), {"__annotations__": {name: int}})
