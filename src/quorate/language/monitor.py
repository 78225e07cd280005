"""Monitors: passive automata for properties about history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quorate.base.errors import ModelError, caller
from quorate.language.automaton import Automaton
from quorate.language.pid import Peers


class Monitor(Automaton):
    """Watches the events that handlers emit, each in the same indivisible step.

    class Elections(Monitor):
        leaders: Map[int, Pid] = Map()

        @on(Elected)
        def elected(self, e: Elected) -> None:
            assert self.leaders.get(e.term, e.source) == e.source
            self.leaders |= {e.term: e.source}

    Its fields are part of the global state, so invariants may read them; it never influences the protocol.
    """

    __slots__ = ()

    @classmethod
    def _brought(cls, system: Any, playing: Callable[[type], Peers]) -> dict[str, Any]:
        """The fields of a monitor that a property brings along, in a system with these processes by role."""
        return {}

    if not TYPE_CHECKING:  # to a type checker these names do not exist at all

        def __getattr__(self, name: str) -> Any:
            if name in ("send", "reply", "choose", "emit", "pid"):
                raise ModelError(
                    f"{type(self).__name__}.{name}: a monitor only watches",
                    hint="let a process do it, and tell the monitor with self.emit(...)",
                    code="Q108",
                    location=caller(),
                )
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
