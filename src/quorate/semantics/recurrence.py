"""Whether a run that has come to some state again can go on in the same way for ever."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from quorate.model.definition import Definition
from quorate.model.renaming import renamed
from quorate.model.renumbering import moved_by, numbering, ranks_in
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import steps


def comes_back(definition: Definition, states: Sequence[State], loop_from: int) -> bool:
    """Whether the steps from `loop_from` on can be taken again and again.

    They can if the last state is the same as that one. With ranks they also can if it is the same but for ranks that
    are all higher by the same amount: every step is possible again and makes the same, as much higher, since `later` is
    the next number. That is not so of what comes after the first rank, which stays where it is: no state of the loop
    may hold it.
    """
    first, last = states[loop_from], states[-1]
    if first == last:
        return True
    if not definition.ranked or first.budget != last.budget:
        return False
    distance = moved_by((first.locals, first.pending), (last.locals, last.pending))
    if distance is None or distance < 0:
        return False
    return not any(1 in ranks_in((state.locals, state.pending)) for state in states[loop_from:])


def next_round(definition: Definition, before: State, loop: Sequence[Step]) -> Sequence[Step]:
    """The steps of a loop as they are taken when it is gone round once more."""
    after = loop[-1].next
    assert after is not None
    distance = moved_by((before.locals, before.pending), (after.locals, after.pending)) if definition.ranked else 0
    return [_moved(step, distance) for step in loop] if distance else loop


def _moved(step: Step, distance: int) -> Step:
    assert step.next is not None
    state, sends = step.next, step.outcome.sends if step.outcome is not None else ()
    held = sorted(ranks_in((step.consumed, sends, state.locals, state.pending)))
    names = numbering(held, [each + distance for each in held])
    consumed, sends, locals, pending = renamed((step.consumed, sends, state.locals, state.pending), names)
    outcome = step.outcome._replace(sends=sends) if step.outcome is not None else None
    return step._replace(consumed=consumed, outcome=outcome, next=State(locals, pending, state.budget))


def runs_of(definition: Definition, is_over: Callable[[], bool], most: int) -> Iterator[tuple[State, list[Step]]]:
    """A shortest run to every state, the nearest first, up to that many states."""
    came: dict[State, tuple[State, Step] | None] = dict.fromkeys(initial_states(definition))
    todo = deque(came)
    while todo and not is_over():
        state = todo.popleft()
        taken: list[Step] = []
        last = state
        while (before := came[last]) is not None:
            taken.append(before[1])
            last = before[0]
        yield last, taken[::-1]
        for step in steps(definition, state) if len(came) < most else ():
            if step.next is not None and step.next not in came:
                came[step.next] = state, step
                todo.append(step.next)
