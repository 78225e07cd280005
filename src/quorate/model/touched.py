"""What an evaluation of a transition has read of a local state, and what it has assigned.

Every local state that agrees on what was read has the same answer (docs/soundness.md, rule 39). So nothing may be read
past the record: `language/automaton.py` notes every field when it is first read.
"""

from __future__ import annotations

from collections.abc import Iterable


class Record:
    """What was read and assigned on all ways through a handler together."""

    __slots__ = ("_always", "_ever", "reads")

    def __init__(self) -> None:
        self.reads: dict[int, None] = {}
        """The fields that were read before they were assigned, in that order."""
        self._always: set[int] | None = None
        self._ever: set[int] = set()

    def moved(self, touched: Iterable[int]) -> None:
        """Note the fields that one way has read or assigned before it came to its end."""
        fields = set(touched)
        self._ever |= fields
        self._always = fields if self._always is None else self._always & fields

    def close(self) -> tuple[list[int], list[int]]:
        """What was read, and what was assigned on every way without being read.

        A field that some ways assign and others leave alone counts as read. Otherwise two ways could do the same here,
        and be told as one, that do not do the same where the field has another value.
        """
        always = self._always or set()
        for field in sorted(self._ever - always):
            self.reads.setdefault(field)
        return list(self.reads), sorted(always - self.reads.keys())
