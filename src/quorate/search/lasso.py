"""From a lasso of the core to a run of the plain semantics that goes round for ever.

The core's states are reduced: merged, without dead messages, and with symmetry up to names. So the loop is gone round
until a plain state repeats; with ranks, until one comes back but for higher ranks. Whether the run is fair and breaks
the formula is for others to see (`properties/temporal/refutation.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from quorate.language.message import Message
from quorate.model.definition import Definition
from quorate.model.renaming import renamed
from quorate.model.renumbering import numbering, ranks_in
from quorate.native.backend import Cells
from quorate.native.model import Model
from quorate.native.temporal import Act, Lasso
from quorate.search.rebuild import ReplayError
from quorate.semantics.follow import Differs, follow
from quorate.semantics.recurrence import comes_back, runs_of
from quorate.semantics.state import State, Step, initial_states

MOST_ROUNDS = 64
"""How often a loop of reduced states is gone round until the plain states repeat."""

MOST_WITH_NUMBERS = 50_000
"""Among so many states with numbers a way to a loop of ranks is looked for."""
MOST_TRIES = 100
MOST_TRIED_ROUNDS = 12
"""So many of its states are tried, and so often the loop is gone round from each."""


class Run(NamedTuple):
    """Steps from an initial state, the last of them again and again; if `loop_from` is behind the last, nothing."""

    initial: State
    steps: tuple[Step, ...]
    loop_from: int

    @property
    def states(self) -> tuple[State, ...]:
        return (self.initial, *(step.next for step in self.steps if step.next is not None))

    @property
    def looping(self) -> tuple[State, ...]:
        """The states in which it is again and again."""
        return self.states[self.loop_from : -1] or self.states[-1:]


class _Doing(NamedTuple):
    """A step by what it is in the core, to a state whose reduced form is the next of the path.

    With symmetry a renamed process may take it: one of the same class, by the same transition.
    """

    model: Model
    act: Act
    target: Cells
    renamed: bool

    def matches(self, step: Step, before: State) -> bool:
        act, columns = self.act, self.model.definition.columns
        if step.next is None or step.kind != act.kind:
            return False
        if step.column != act.column and not (self.renamed and columns[step.column].cls is columns[act.column].cls):
            return False
        transition = step.transition.index if step.transition is not None and step.kind == "step" else None
        if act.kind == "step" and transition != act.transition:
            return False
        if act.kind == "step" and not self.renamed:
            column = columns[act.column]
            messages = _as_in_the_search(self.model, step.consumed, before)
            consumed = sorted(self.model.message_id(column, message) for message in messages)
            if consumed != sorted(act.messages):
                return False
        return self.model.reduced(step.next) == self.target


def unrolled(model: Model, lasso: Lasso) -> Run | None:
    """The lasso through plain states: the loop is gone round until a plain state repeats. None if it does not."""
    definition = model.definition
    starts = [state for state in initial_states(definition) if model.reduced(state) == lasso.path[0]]
    if not starts:
        raise disagree("the first state is not initial")
    wanted = _doings(model, lasso)
    stem, loop = wanted[: lasso.loop_from], wanted[lasso.loop_from :]
    return _gone_round(definition, starts[0], _followed(definition, starts[0], stem), loop, MOST_ROUNDS)


def with_numbers(model: Model, lasso: Lasso, breaks: Callable[[Run], bool], is_over: Callable[[], bool]) -> Run:
    """The lasso with numbers. Its way to the loop need not be one: then any other way to a state of it is tried."""
    definition, loop = model.definition, _doings(model, lasso)[lasso.loop_from :]
    entries = {str(cells): number for number, cells in enumerate(lasso.path[lasso.loop_from :][: len(loop) or 1])}
    tries = 0
    for initial, stem in runs_of(definition, is_over, MOST_WITH_NUMBERS):
        state = stem[-1].next if stem else initial
        assert state is not None
        entry = entries.get(str(model.reduced(state)))
        if entry is None:
            continue
        try:
            made = _gone_round(definition, initial, stem, [*loop[entry:], *loop[:entry]], MOST_TRIED_ROUNDS)
        except ReplayError:
            made = None
        if made is not None and breaks(made):
            return made
        tries += 1
        if tries == MOST_TRIES:
            break
    raise disagree("no way with numbers leads to its loop")


def _doings(model: Model, lasso: Lasso) -> list[_Doing]:
    is_renamed = bool(model.symmetries is not None and model.symmetries.families)
    return [_Doing(model, act, target, is_renamed) for act, target in zip(lasso.acts, lasso.path[1:], strict=True)]


def _gone_round(
    definition: Definition, initial: State, stem: Sequence[Step], loop: Sequence[_Doing], rounds: int
) -> Run | None:
    steps = list(stem)
    state = steps[-1].next if steps else initial
    assert state is not None
    if not loop:
        return Run(initial, tuple(steps), len(steps))
    began: list[int] = []
    for _ in range(rounds):
        states = Run(initial, tuple(steps), 0).states
        for number in began:
            if comes_back(definition, states, number):
                return Run(initial, tuple(steps), number)
        began.append(len(steps))
        round_ = _followed(definition, state, loop)
        steps += round_
        state = round_[-1].next
        assert state is not None
    return None


def _as_in_the_search(model: Model, messages: tuple[Message, ...], before: State) -> tuple[Message, ...]:
    """The messages with their ranks as the search numbers them in that state."""
    if not model.definition.ranked:
        return messages
    held = ranks_in((before.locals, before.pending))
    found: tuple[Message, ...] = renamed(messages, numbering(held, range(2, 2 * len(held) + 1, 2)))
    return found


def _followed(definition: Definition, state: State, wanted: Sequence[_Doing]) -> tuple[Step, ...]:
    found = follow(definition, state, wanted)
    if isinstance(found, Differs):
        raise disagree(f"step {found.number} leads nowhere")
    return found.steps


def disagree(what: str) -> ReplayError:
    return ReplayError(
        f"the run that violates a temporal property does not replay: {what}",
        hint="this is a defect of Quorate; please report it with the model. --quotient off may work around it",
    )
