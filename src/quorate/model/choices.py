"""Non-determinism by running again: a path is the list of options taken, and the next path differs in its last one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from quorate.base.errors import LimitError, ModelError, Signal, caller
from quorate.base.values import BadValueError, ContentSet, freeze, in_order, show

MAX_DEPTH = 1000
MAX_PATHS = 100_000


class NoOption(Signal):
    """There was nothing to choose from: this path does not exist."""


class Choices:
    """One path through the choices of a handler or a build."""

    __slots__ = ("_counts", "_prefix", "taken")

    def __init__(self, prefix: list[int]) -> None:
        self._prefix = prefix
        self._counts: list[int] = []
        self.taken: list[Any] = []

    def pick(self, owner: str, options: Iterable[Any]) -> Any:
        """The option this path takes here."""
        depth = len(self.taken)
        if depth >= MAX_DEPTH:
            raise LimitError(
                f"{owner} chooses more than {MAX_DEPTH} times in one step",
                hint="a loop that only a choice can end is endless: bound it",
                code="Q501",
                location=caller(),
            )
        if depth == len(self._prefix):
            self._prefix.append(0)
        found = list_options(owner, options)
        if len(found) > MAX_PATHS:
            raise LimitError(
                f"{owner} chooses among more than {MAX_PATHS:,} options",
                hint="choose among fewer: every option is a step of its own",
                code="Q501",
                location=caller(),
            )
        if not found:
            raise NoOption
        self._counts.append(len(found))
        if self._prefix[depth] >= len(found):
            raise ModelError(
                f"{owner}.choose(...) was given fewer options when the handler was run again",
                hint="a handler is a function of its state and messages: no randomness, no time, no global state",
                code="Q104",
                location=caller(),
            )
        try:
            value = freeze(found[self._prefix[depth]])
        except BadValueError as bad:
            raise ModelError(
                f"{owner}.choose(...): the option {show(bad.value)} cannot be part of a run",
                hint=bad.advice,
                code="Q101",
                location=caller(),
            ) from None
        self.taken.append(value)
        return value

    def following(self) -> list[int] | None:
        """The prefix of the next path in order, None after the last."""
        prefix = self._prefix[: len(self._counts)]
        while prefix:
            if prefix[-1] + 1 < self._counts[len(prefix) - 1]:
                prefix[-1] += 1
                return prefix
            prefix.pop()
        return None


def list_options(owner: str, options: Iterable[Any]) -> Sequence[Any]:
    """A set's options by content, since its own order follows the hash seed; any other as given.

    What has an order is not copied: every path lists its options anew. Of what has no end one more than can be chosen.
    """
    try:
        if type(options) in (tuple, list, range):
            return options  # type: ignore[return-value]
        if isinstance(options, (set, frozenset)) and not isinstance(options, ContentSet):
            return in_order(options) if len(options) <= MAX_PATHS else list(options)
        every = iter(options)
    except (TypeError, BadValueError):
        raise ModelError(
            f"{owner}.choose({show(options)}): not a collection of values",
            hint="give a tuple, a frozenset, a range ...: self.choose((1, 2))",
            code="Q107",
            location=caller(),
        ) from None
    return list(islice(every, MAX_PATHS + 1))  # what a generator of the model raises is its own
