"""What each reduction would do in a state: which of the steps it takes, and why not the others.

The engine is asked, prepared as a check would prepare it. A partial-order reduction chooses among the steps. The
quotient, the dropping of dead messages and symmetry make states equal: of several steps to states that come out equal,
one is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from quorate.base.values import encode, show
from quorate.base.words import names
from quorate.model.definition import Column, Definition
from quorate.native.backend import NativeBackend, Request
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties import evaluate
from quorate.properties.asked import select
from quorate.reduce.growth import growth
from quorate.reduce.interface import Reduction
from quorate.reduce.reductions import Reductions
from quorate.results.diff import changed_fields
from quorate.search.rebuild import ReplayError
from quorate.semantics.state import State, Step, in_flight

# What properties read shows only as they are evaluated, and decides what may be merged or put off: look around first.
STATES_BEFORE, SECONDS_BEFORE = 20_000, 5.0
MOST_NAMED = 4
ASKED = " (a check does so with --por lpor-net, whose refinements may take still fewer)"


Lead = tuple[int, Hashable]
"""Who moves, and where that leads to; to nothing if it fails."""


class Advice(NamedTuple):
    """What a reduction does in a state."""

    name: str
    runs: bool
    takes: tuple[int, ...]
    """The numbers of the steps that it takes."""
    why: str
    """What it does here; or why it does not run on this system."""
    others: dict[int, str]
    """Why it does not take the others."""

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "takes": list(self.takes), "others": {str(n): why for n, why in self.others.items()}}


Ask = Callable[[State, Sequence[Step]], Advice]


class Prepared:
    """An engine with some reductions, as a search would have it."""

    def __init__(self, definition: Definition, options: Options) -> None:
        asked = select(definition, None)
        self.model = Model(definition, asked.properties)
        self.reductions = Reductions(self.model, options)
        self.reductions.analyse()
        before = Request("breadth_first", asked.deadlock, max_states=STATES_BEFORE, seconds=SECONDS_BEFORE)
        backend = NativeBackend(self.model)
        while backend.search(before).stop == "regrown":
            self.reductions.apply_again()

    def look(self, states: Sequence[State]) -> None:
        """What the properties read there must be observed, or steps would be taken to be invisible that are not."""
        definition, properties = self.model.definition, self.model.properties
        evaluated = [evaluate(definition, each, state.locals, state.pending) for each in properties for state in states]
        if self.model.note_reads({read for each in evaluated for read in each.reads}):
            self.reductions.apply_again()


class Adviser:
    """Answers questions about single states; and sees to it that the engine finds the same steps in them."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        # What is put off is to stay possible and to do the same, so that it can be explained in two steps.
        self.plain = Prepared(definition, Options(por="lpor-net", symmetry="none", por_without=("key", "twins")))
        # For itself: what it makes of a state is the state of other processes.
        self.symmetric = Prepared(definition, Options(symmetry="auto", quotient="off", dead_messages="off"))
        self.model = self.plain.model
        self.grows = [str(each) for each in growth(self.model)] if self.plain.reductions.unfinished else []
        """What it is that does not end, if something does not."""

    def advice(self, state: State, offered: Sequence[Step]) -> list[Advice]:
        """Ask about a state and all that can happen in it."""
        seen = [state, *(step.next for step in offered if step.next is not None)]
        self.plain.look(seen)
        self.symmetric.look(seen)
        if self._peek(state, por=False)[0] != {self._lead(step) for step in offered}:
            raise ReplayError(
                "the search and the plain semantics disagree about what can happen in this state",
                hint="this is a defect of Quorate; please report it with the model",
            )
        plain, symmetric = self.plain.reductions, self.symmetric.reductions
        asked: list[tuple[Reduction, Ask]] = [
            (plain.quotient, self._quotient),
            (plain.dead_messages, self._dead_messages),
            (symmetric.symmetry, self._symmetry),
            (plain.por, self._por),
        ]
        everything = tuple(range(len(offered)))
        return [
            ask(state, offered) if each.ran else Advice(each.name, False, everything, self._left_out(each), {})
            for each, ask in asked
        ]

    def _left_out(self, reduction: Reduction) -> str:
        """Why it does not run here, and where that may be otherwise in a check."""
        if self.plain.reductions.unfinished:
            grows = "".join(f"; {each}" for each in growth(self.plain.model))
            return (
                f"{reduction.why}; a check goes on with the closure beside its search, and reduces once it ends{grows}"
            )
        return reduction.why

    def _peek(self, state: State, *, por: bool) -> tuple[set[Lead], bool]:
        """What the engine takes in a state; and whether it leaves something out."""
        seen = self.model.engine.preview(self.model, (self._cells(state), list(state.budget)), por)
        return {(column, _hashable(reached)) for column, reached in seen.taken}, seen.reduced

    def _lead(self, step: Step) -> Lead:
        return step.column, _hashable(self.model.reduced(step.next)) if step.next is not None else None

    # --- states that come out equal ----------------------------------------------------------------------------

    def _quotient(self, state: State, offered: Sequence[Step]) -> Advice:
        alike = {column.index: self.model.engine.representatives(column.index) for column in self.definition.columns}
        merged = []
        for column in self.definition.columns:
            local = self.model.local_id(column, state.locals[column.index])
            same = alike[column.index].count(alike[column.index][local])
            if same > 1:
                merged.append(f"{column.name}'s is one of {same}")
        why = f"local states that nothing can tell apart are one: {_few(merged)}" if merged else "merges nothing here"

        def key(reached: State) -> Hashable:
            locals = tuple(
                alike[column.index][self.model.local_id(column, reached.locals[column.index])]
                for column in self.definition.columns
            )
            return locals, encode((reached.pending, reached.budget))

        def told(one: State, two: State) -> str:
            fields = [
                f"{self.definition.columns[index].name}.{name} is {show(old)} or {show(new)}"
                for index, name, old, new in changed_fields(self.definition, one, two)
            ]
            # What a process has begun already is no field of its own, but part of its local state.
            return f"from then on it makes no difference whether {_few(fields)}" if fields else "they go on alike"

        takes, others = _merged(state, offered, key, told)
        return Advice("quotient", True, takes, why, others)

    def _dead_messages(self, state: State, offered: Sequence[Step]) -> Advice:
        def key(reached: State) -> Hashable:
            kept = [tuple(inbox) for _, inbox in self._cells(reached)]
            return tuple(kept), encode((reached.locals, reached.budget))

        def told(one: State, two: State) -> str:
            here, there = (
                {f"{show(message)} to {to.name}" for to, message in in_flight(self.definition, reached)}
                for reached in (one, two)
            )
            return f"nobody will ever consume {_few(sorted(here ^ there))}"

        dead = [f"{show(message)} to {column.name}" for column, message in self._dead(state)]
        why = f"nobody will ever consume {_few(dead)}" if dead else "every pending message may still be consumed"
        takes, others = _merged(state, offered, key, told)
        return Advice("dead-messages", True, takes, why, others)

    def _dead(self, state: State) -> Iterator[tuple[Column, Any]]:
        cells = self._cells(state)
        for column, message in in_flight(self.definition, state):
            if self.model.message_id(column, message) not in cells[column.index][1]:
                yield self.definition.receiver(column.index), message

    def _cells(self, state: State) -> list[tuple[int, list[int]]]:
        cells: Any = self.model.reduced(state)[0]
        found: list[tuple[int, list[int]]] = cells
        return found

    def _symmetry(self, state: State, offered: Sequence[Step]) -> Advice:
        symmetries = self.symmetric.model.symmetries
        families = symmetries.families if symmetries is not None else []
        alike = "; ".join(names([str(name) for name in family.names]) for family in families)
        takes, others = _merged(
            state,
            offered,
            lambda reached: _hashable(self.symmetric.model.reduced(reached)),
            lambda one, two: f"the same with other names among {alike}",
        )
        return Advice("symmetry", True, takes, f"nothing tells these apart but their names: {alike}", others)

    # --- steps that are put off --------------------------------------------------------------------------------

    def _por(self, state: State, offered: Sequence[Step]) -> Advice:
        taken, chosen = self._peek(state, por=True)
        takes = tuple(number for number, step in enumerate(offered) if self._lead(step) in taken)
        if not chosen:
            return Advice(
                "por", True, takes, f"no smaller set of steps is independent of all the others here{ASKED}", {}
            )
        movers = names([self.definition.columns[column].name for column in sorted({column for column, _ in taken})])
        why = f"the steps of {movers} are enough: what the others do before has no effect on them, nor they on that"
        later = "put off: it stays possible, and does the same after those that are taken"
        return Advice("por", True, takes, why + ASKED, {n: later for n in range(len(offered)) if n not in takes})


def _merged(
    state: State, offered: Sequence[Step], key: Callable[[State], Hashable], told: Callable[[State, State], str]
) -> tuple[tuple[int, ...], dict[int, str]]:
    """Of the steps to states with the same key the first; and why the others need not be taken."""
    known: dict[Hashable, tuple[State, str]] = {key(state): (state, "leads to nothing new")}
    takes: list[int] = []
    others: dict[int, str] = {}
    for number, step in enumerate(offered):
        if step.next is None:
            takes.append(number)
            continue
        first, where = known.setdefault(key(step.next), (step.next, f"as step {number + 1}"))
        if first == step.next:  # also without the reduction
            takes.append(number)
        else:
            others[number] = f"{where}: {told(first, step.next)}"
    return tuple(takes), others


def _hashable(state: Any) -> Hashable:
    if state is None:
        return None
    columns, left = state
    return tuple((local, tuple(inbox)) for local, inbox in columns), tuple(left)


def _few(words: Sequence[str]) -> str:
    more = len(words) - MOST_NAMED
    return ", ".join(words[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
