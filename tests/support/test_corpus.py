"""The corpus of generated protocols: always the same, each explored once, and made of pure functions."""

from random import Random

import pytest

import corpus
from generator import Protocol
from quorate import check


def test_it_is_always_the_same() -> None:
    first = [repr(corpus.drawn(number)) for number in range(20)]
    corpus.drawn.cache_clear()
    assert [repr(corpus.drawn(number)) for number in range(20)] == first
    assert len(set(first)) == 20


def test_a_protocol_is_built_and_explored_once() -> None:
    protocol = corpus.sized.at(0)
    assert corpus.sized.at(0) is protocol
    assert corpus.built(protocol) is corpus.built(protocol)
    assert corpus.explored(protocol) is corpus.explored(protocol)
    assert corpus.explored(protocol).states <= corpus.MOST_STATES


def test_every_test_gets_as_many_as_it_asks_for() -> None:
    """Those that it has no use for are made up for."""
    taken: list[Protocol] = []

    @corpus.each(corpus.any_size, 10, first=5)
    def look(protocol: Protocol, dice: Random) -> None:
        corpus.require(dice.random() < 0.7)
        taken.append(protocol)

    look()
    if not corpus.DEEP:
        assert len(taken) == 10
        assert taken[0] in [corpus.drawn(number) for number in range(5, 20)]


def test_a_failure_names_the_protocol() -> None:
    @corpus.each(corpus.any_size, 3)
    def look(protocol: Protocol, dice: Random) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        look()
    if not corpus.DEEP:
        assert caught.value.__notes__ == [f"protocol 0 of the corpus, any size: {corpus.drawn(0)!r}"]


def test_a_test_without_use_for_any_protocol_fails() -> None:
    @corpus.each(corpus.any_size, 3)
    def look(protocol: Protocol, dice: Random) -> None:
        corpus.discard()

    if not corpus.DEEP:
        with pytest.raises(AssertionError, match="hardly any protocol is of use"):
            look()


def test_handlers_are_functions() -> None:
    """What `corpus.pure` takes for granted in all other tests: no check complains of a memory."""
    for number in range(25):
        check(corpus.built(corpus.sized.at(number)))
