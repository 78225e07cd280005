"""Monitors: passive automata for properties about history."""

from __future__ import annotations

from quorate.language.automaton import Automaton


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
