"""One corpus of generated protocols for all property tests: drawn once, made small once, explored once a process.

    @corpus.each(corpus.sized, 50)
    def test_something(protocol: Protocol, dice: Random) -> None: ...

runs a test with the first fifty protocols of a kind, the same in every test and every run, and with dice of its own for
everything else that it draws. With QUORATE_DEEP the protocols are fresh ones from Hypothesis, and many more.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, NoReturn
from unittest.mock import patch

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from generator import Protocol, Tape, fitted, protocols, system
from quorate import System
from quorate.language.network import Network
from quorate.model.define import define
from quorate.model.memory import Memory, Place
from quorate.properties.purity import Purity
from reference import Exploration, explore

DEEP = bool(int(os.environ.get("QUORATE_DEEP", "0")))
MOST_STATES = 700
FEW_STATES = 250
SEED = "corpus 2"

Test = Callable[[Protocol, Random], None]


class DiscardedError(Exception):
    """A protocol that a test has no use for: another takes its place."""


def discard() -> NoReturn:
    raise DiscardedError


def require(useful: bool) -> None:
    if not useful:
        discard()


@functools.cache
def smaller(protocol: Protocol, most: int) -> Protocol:
    """The same protocol with at most so many states, or the nearest tamer one."""
    found = fitted(protocol, most)
    return found if found is not None else discard()


# --- kinds ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What a protocol of the generator is made into. The dice are those of the protocol, not of the test."""

    name: str
    make: Callable[[Protocol, Random], Protocol]

    def at(self, number: int) -> Protocol:
        """The protocol of that number; raises DiscardedError where there is none of this kind."""
        return _made(self, number)


@functools.cache
def drawn(number: int) -> Protocol:
    return Tape(Random(f"{SEED}: {number}").randbytes(Tape.LENGTH)).protocol()


@functools.cache
def _made(kind: Kind, number: int) -> Protocol:
    return kind.make(drawn(number), Random(f"{SEED}: {kind.name}: {number}"))


def on(name: str, networks: list[Network], most: int = MOST_STATES) -> Kind:
    """Without crashes, on another network."""
    return Kind(name, lambda protocol, dice: smaller(protocol._replace(network=dice.choice(networks), crashes=0), most))


any_size = Kind("any size", lambda protocol, dice: protocol)
sized = Kind("sized", lambda protocol, dice: smaller(protocol, MOST_STATES))
few_states = Kind("few states", lambda protocol, dice: smaller(protocol, FEW_STATES))


# --- what is known of them -----------------------------------------------------------------------------------------


@functools.cache
def built(protocol: Protocol) -> System:
    """A check leaves a system as it is, so one will do."""
    return system(protocol)


@functools.cache
def explored(protocol: Protocol) -> Exploration:
    """By the reference explorer."""
    return explore(define(built(protocol)), max_states=4 * MOST_STATES)


def no_walk(memory: Memory) -> dict[Place, Any]:
    memory.caches = []
    return {}


@contextmanager
def pure() -> Iterator[None]:
    """Handlers are taken to be functions of their fields: nothing is asked again, and no memory is walked through.

    Both together are about half of what a check of a small protocol costs, and say the same of all protocols of the
    generator: they are made of the functions of one module. `test_purity.py` and `test_corpus.py` are about it.
    """
    with patch.object(Memory, "_look", no_walk), patch.object(Purity, "require", lambda purity: None):
        yield


# --- tests ---------------------------------------------------------------------------------------------------------


def each(kind: Kind, number: int = 100, first: int = 0) -> Callable[[Test], Callable[[], None]]:
    """Run a test with so many protocols of a kind, from the first one on."""

    def decorate(test: Test) -> Callable[[], None]:
        def run() -> None:
            with pure():
                _fresh(kind, number, test)() if DEEP else _all(kind, number, first, test)

        run.__name__ = run.__qualname__ = test.__name__
        run.__doc__, run.__module__ = test.__doc__, test.__module__
        return run

    return decorate


def _all(kind: Kind, number: int, first: int, test: Test) -> None:
    done = 0
    for place in count(first):
        assert place < first + 4 * number + 20, "hardly any protocol is of use to this test"
        try:
            _one(kind, place, test)
        except DiscardedError:
            continue
        done += 1
        if done == number:
            return


def _one(kind: Kind, place: int, test: Test) -> None:
    protocol = kind.at(place)
    try:
        test(protocol, Random(f"{test.__module__}.{test.__name__}: {place}"))
    except Exception as error:
        error.add_note(f"protocol {place} of the corpus, {kind.name}: {protocol!r}")
        raise


def _fresh(kind: Kind, number: int, test: Test) -> Callable[[], None]:
    @settings(max_examples=max(1, settings().max_examples * number // 100))
    @given(protocols(), st.integers(0, 1 << 32))
    def run(protocol: Protocol, seed: int) -> None:
        try:
            test(kind.make(protocol, Random(f"kind {seed}")), Random(seed))
        except DiscardedError:
            assume(False)

    return run
