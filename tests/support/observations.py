"""What can be observed of a system: the sequences of local states along its runs, without repetitions.

Two systems are compared as automata that are closed under stuttering and made deterministic on the fly. So the answer
is exact, with cycles too, and not just up to some length: every finite run of one is matched by a run of the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from quorate.base.values import encode
from quorate.model.definition import Definition
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps

Observe = Callable[[Definition, State], object]
Sequence = tuple[object, ...]


def all_fields(definition: Definition, state: State) -> object:
    """Every field of every process and monitor; not whether a process has crashed, nor what is in flight."""
    named = [column for column in definition.columns if column.delivers_to is None]
    return tuple((column.name, tuple(state.locals[column.index])) for column in named)


class Automaton:
    """A system as its observations show it."""

    def __init__(self, definition: Definition, observe: Observe, max_states: int = 50_000) -> None:
        self.definition = definition
        self._observe = observe
        self._most = max_states
        self._labels: dict[State, bytes] = {}
        self._next: dict[State, tuple[State, ...]] = {}
        self.shown: dict[bytes, object] = {}

    def initial(self) -> dict[bytes, frozenset[State]]:
        return self._closed(initial_states(self.definition))

    def after(self, states: frozenset[State]) -> dict[bytes, frozenset[State]]:
        """By new observation: all states in which a run may be that showed it next."""
        (label,) = {self._label(state) for state in states}
        reached = (after for state in states for after in self._successors(state))
        return self._closed(state for state in reached if self._label(state) != label)

    def _closed(self, states: Iterable[State]) -> dict[bytes, frozenset[State]]:
        found: dict[bytes, set[State]] = {}
        todo = list(states)
        while todo:
            state = todo.pop()
            label = self._label(state)
            group = found.setdefault(label, set())
            if state not in group:
                group.add(state)
                todo += [after for after in self._successors(state) if self._label(after) == label]
        return {label: frozenset(group) for label, group in found.items()}

    def _label(self, state: State) -> bytes:
        known = self._labels.get(state)
        if known is None:
            shown = self._observe(self.definition, state)
            known = self._labels[state] = encode(shown)
            self.shown[known] = shown
        return known

    def _successors(self, state: State) -> tuple[State, ...]:
        known = self._next.get(state)
        if known is None:
            if len(self._next) >= self._most:
                raise RuntimeError(f"more than {self._most} states")
            found = [step.next for step in steps(self.definition, state) if step.next is not None]
            known = self._next[state] = tuple(dict.fromkeys(found))
        return known


def difference(one: Definition, two: Definition, observe: Observe = all_fields) -> tuple[Sequence, Sequence]:
    """A shortest sequence that only the first shows, and one that only the second shows; empty if there is none."""
    return _missing(one, two, observe), _missing(two, one, observe)


def _missing(here: Definition, there: Definition, observe: Observe) -> Sequence:
    """A shortest sequence of observations of the first system that the second does not have."""
    first, second = Automaton(here, observe), Automaton(there, observe)
    queue: deque[tuple[frozenset[State], frozenset[State], Sequence]] = deque()
    seen: set[tuple[frozenset[State], frozenset[State]]] = set()

    def go(mine: dict[bytes, frozenset[State]], yours: dict[bytes, frozenset[State]], so_far: Sequence) -> Sequence:
        for label in sorted(mine):
            now = (*so_far, first.shown[label])
            if label not in yours:
                return now
            pair = mine[label], yours[label]
            if pair not in seen:
                seen.add(pair)
                queue.append((*pair, now))
        return ()

    found = go(first.initial(), second.initial(), ())
    while queue and not found:
        one, two, so_far = queue.popleft()
        found = go(first.after(one), second.after(two), so_far)
    return found
