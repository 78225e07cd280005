"""Evaluations that are to be done again, later and in another order, to see whether the answers are the same.

A model that remembers something outside of its fields answers by what it was asked before (design rule 19). Asked the
same twice in a row, it may well say the same twice. So a sample of all questions is kept until the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

KEPT = 16
"""Of every transition and property up to twice as many evaluations are kept: all there are, or an even sample."""


class Evaluation(NamedTuple):
    """What was asked, and what was the answer."""

    ask: Callable[..., Any]
    given: tuple[Any, ...]
    answer: Any


class Sample:
    """The evaluations of one transition or property: all of them while they are few, then every second, fourth, ..."""

    __slots__ = ("_every", "kept", "seen")

    def __init__(self) -> None:
        self.seen = 0
        self.kept: list[Evaluation] = []
        self._every = 1

    def note(self, ask: Callable[..., Any], given: tuple[Any, ...], answer: Any) -> None:
        self.seen += 1
        if self.seen % self._every:
            return
        self.kept.append(Evaluation(ask, given, answer))
        if len(self.kept) == 2 * KEPT:
            self.kept = self.kept[1::2]
            self._every *= 2
