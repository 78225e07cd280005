"""Temporal properties: the graph of all states is stored, and searched for a fair run that a formula forbids.

The graph is reduced only by what keeps whole runs and fairness (docs/temporal.md). Every lasso is followed through the
plain semantics before it is shown: it closes, it is fair, and the formula is false of it, all by definition.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from quorate import _core
from quorate._core import StateSet
from quorate.base.watchdog import Halted
from quorate.model.bound import bounds_of
from quorate.model.definition import Definition, Property
from quorate.native.backend import Cells
from quorate.native.model import Model
from quorate.native.temporal import Act, Answer, Explored, Lasso, TemporalGraph
from quorate.options import LEVELS, Options
from quorate.properties import explain
from quorate.properties.asked import Asked
from quorate.properties.temporal.automaton import Automaton
from quorate.properties.temporal.branching import Kind, linear, plan
from quorate.properties.temporal.fairness import UNFAIR, Fairness, assumed, fairness_of
from quorate.properties.temporal.formula import Formula, Op, names
from quorate.properties.temporal.kept import needs_of
from quorate.properties.temporal.refutation import refuted
from quorate.properties.temporal.stated import TemporalProperty
from quorate.properties.temporal.translate import translate, translate_negation
from quorate.reduce.reductions import FIRST_BEHAVIOURS, Reductions
from quorate.results.result import Limit, PropertyOutcome, Result
from quorate.results.trace import Trace
from quorate.search.accidents import raise_accidents
from quorate.search.closing import Closing
from quorate.search.limits import Watcher, peak_memory
from quorate.search.rebuild import ReplayError, rebuild
from quorate.search.stopped import GivenUp, require_not_given_up
from quorate.search.verdict import AFTER_VIOLATION, UNDECIDED, verdict_of
from quorate.semantics.follow import Differs, follow
from quorate.semantics.state import State, Step, initial_states

MOST_ROUNDS = 64
"""How often a loop of reduced states is gone round until the plain states repeat."""

FIRST_LOOK = 20_000
GROWTH = 8
"""A violation is looked for at so many states, and whenever there are so many times as many."""
FIRST_REST = 2_000
"""At so many states, and whenever there is a quarter more, the closure goes on if it has not ended."""


@dataclass
class Temporal:
    """What came of the temporal properties of one check."""

    outcomes: list[PropertyOutcome] = field(default_factory=list)
    trace: Trace | None = None
    explored: Explored | None = None
    product_states: int = 0
    reductions: dict[str, dict[str, Any]] = field(default_factory=dict)
    fairness: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    bounds: tuple[str, ...] = ()
    halted: Halted | None = None
    """If the model's code was stopped: where."""
    warning: str = ""

    @property
    def stopped(self) -> bool:
        return any(outcome.verdict == "incomplete" for outcome in self.outcomes)


def with_temporal(
    result: Result, definition: Definition, asked: Asked, options: Options, watcher: Watcher, *, trace: bool
) -> Result:
    """A result with the temporal properties as well. They wait for the others: a violation is an answer."""
    level = {"level": options.fairness, "assuming": assumed(definition, options.fairness)}
    why = ""
    # Where nothing else is stated, that no handler fails goes without saying.
    only = [each.kind for each in result.properties] == ["assertion"] and result.verdict == "holds" and not asked.named
    safety = () if only else result.properties
    if result.verdict == "violated":
        why = AFTER_VIOLATION
    elif without := without_graph(options):
        why = f"not decided: {without}"
    elif result.verdict == "incomplete" and result.stopped_by is not None:
        why = UNDECIDED
    if why:
        waiting = [PropertyOutcome(each.name, each.kind, "incomplete", why) for each in asked.temporal]
        outcomes = (*safety, *waiting)
        return replace(result, properties=outcomes, verdict=verdict_of(outcomes, result.stopped_by), fairness=level)
    began = watcher.seconds
    watcher.go_on("analysis")
    found = LivenessCheck(definition, asked.temporal, options, watcher).run()
    explored = found.explored
    outcomes = (*safety, *found.outcomes)
    stopped: Limit | None = None
    if found.halted is not None:
        watcher.halted(found.halted)
        stopped = watcher.reason
    elif explored is None or explored.stop not in ("finished", "violation"):
        stopped = watcher.reason or ("interrupt" if explored is None else cast(Limit, explored.stop))
    if not asked.safety and explored is not None:
        result = replace(
            result,
            states=explored.states,
            transitions=explored.transitions,
            depth=explored.depth,
            deadlocks=explored.deadlocks,
            reductions=found.reductions,
            bytes_per_state=explored.store_bytes / max(1, explored.states),
            bounds=found.bounds,
            **found.figures,
        )
    elif explored is not None:
        graph = {"states": explored.states, "transitions": explored.transitions, "depth": explored.depth}
        result = replace(result, graph={**graph, "reductions": found.reductions})
    return replace(
        result,
        properties=outcomes,
        verdict=verdict_of(outcomes, stopped),
        property=next((outcome.name for outcome in outcomes if outcome.verdict == "violated"), None),
        stopped_by=stopped,
        running=found.halted.running if found.halted is not None else None,
        warnings=(*result.warnings, *filter(None, [found.warning])),
        seconds=result.seconds + watcher.seconds - began,
        trace=found.trace if trace else None,
        fairness=found.fairness,
        product_states=found.product_states,
        peak_memory_bytes=peak_memory(),
    )


def without_graph(options: Options) -> str:
    """Why a search with these options decides no temporal property; empty if it may."""
    if not (options.stateless or options.store == "bitstate" or options.por == "dpor"):
        return ""
    kind = "bitstate" if options.store == "bitstate" else "dpor" if options.por == "dpor" else "stateless"
    return f"a {kind} search stores no graph, and without one nothing can be said about whole runs"


class LivenessCheck:
    """The temporal properties of one check, under way."""

    def __init__(
        self, definition: Definition, asked: Sequence[TemporalProperty], options: Options, watcher: Watcher
    ) -> None:
        self.definition = definition
        self.asked = asked
        self.options = options
        self.watcher = watcher
        self.early: dict[str, Answer] = {}
        """Violations that were found before all states were."""
        self.ordered = False
        """Whether partial orders leave steps out."""
        self.models: list[Model] = []
        """Whose code may have been stopped."""
        self.level = options.fairness
        self.fairness = fairness_of(definition, self.level)
        crashing = definition.environment.crash == "implicit"
        self.crashes = (definition.environment.crashes or definition.declared.left) if crashing else 0
        of = definition.declared.of
        self.crashable = [
            column.index
            for column in definition.processes
            if self.crashes and column.index not in definition.attackers and (of is None or issubclass(column.cls, of))
        ]
        self.found = Temporal(
            fairness={
                "level": self.level,
                "assuming": assumed(definition, self.level),
                "implicit_crashes": self.crashes,
            }
        )

    def run(self) -> Temporal:
        """What was decided before a limit stopped the model's code stays decided."""
        try:
            self._run()
        except Halted as halted:
            self.found.halted = halted
        except _core.StoppedError:
            pass  # in the analysis
        if self.found.halted is None:
            self.found.halted = next((each.halted for each in self.models if each.halted is not None), None)
        decided = {outcome.name for outcome in self.found.outcomes}
        self.found.outcomes += [self._undecided(each, UNDECIDED) for each in self.asked if each.name not in decided]
        return self.found

    def _run(self) -> None:
        graph = self._explored_graph()
        explored = self.found.explored
        assert explored is not None
        if explored.violation is not None:
            self.watcher.finish()
            trace = self.found.trace = rebuild(graph.model, explored.violation, shortest=not self.ordered)
            raise_accidents(graph.model, explored.violation, trace)
            waiting = [self._undecided(each, "not decided: a handler fails") for each in self.asked]
            self.found.outcomes = [PropertyOutcome(trace.property, "assertion", "violated"), *waiting]
            return
        inexact = self._inexact(graph)
        if inexact:
            self.found.outcomes = [self._undecided(each, f"not decided: {inexact}") for each in self.asked]
            return
        for each in self.asked:
            if explored.stop != "finished" and each.branching:
                self.found.outcomes.append(self._undecided(each, UNDECIDED))
            else:
                self.found.outcomes.append(self._decide(graph, each))

    # The graph

    def _explored_graph(self) -> TemporalGraph:
        """Without reductions where the analysis meets a call that takes too long: it also asks what no run does."""
        if self.watcher.without_analysis:
            return self._graph(self.options.without_reductions())
        self.watcher.may_give_up = True
        try:
            return self._graph(self.options)
        except GivenUp as given_up:
            self.found.warning = str(given_up)
            self.models.clear()
            return self._graph(self.options.without_reductions())
        finally:
            self.watcher.may_give_up = False

    def _graph(self, options: Options) -> TemporalGraph:
        """All states with their steps, reduced as far as whole runs and fairness are kept."""
        predicates = {id(prop): prop for each in self.asked for prop in each.predicates.values()}
        self.predicates: list[Property] = list(predicates.values())
        self.watcher.phase = "analysis"
        model = Model(self.definition, self.predicates, self.watcher)
        self.models.append(model)
        needs = needs_of(self.definition, self.asked, self.level)
        reductions = Reductions(model, options, needs)
        try:
            reductions.analyse(options.max_behaviours or FIRST_BEHAVIOURS)
            # As the search for invariants: what comes to its end first, the graph or the closure, has the answer.
            closing = Closing(reductions, self.watcher) if reductions.unfinished else None
            self.watcher.phase = "search"
            while True:
                graph = TemporalGraph(model, self.watcher.memory)
                explored = self._explore(graph, options, closing)
                if explored is not None and explored.stop != "regrown":
                    break
                del graph  # its states mean nothing any more
                self.early.clear()
                if explored is None:
                    closing = None
                    model.engine.clear_answers()
                    reductions = Reductions(model, options, needs)
                    self.watcher.phase = "analysis"
                    reductions.analyse()
                    self.watcher.phase = "search"
                else:
                    reductions.apply_again()
        except _core.StoppedError:
            require_not_given_up(self.watcher, model)
            raise
        self.found.explored = explored
        reductions.por.given_up(explored.por_given_up)
        self.found.reductions = reductions.to_json()
        self.ordered = reductions.por.ran
        self.found.bounds = tuple(self._cut())
        self.found.figures = {
            "python_calls": model.calls,
            "cells": model.engine.cell_count(),
            "messages": model.counted_messages(),
        }
        self._label(graph)
        return graph

    def _label(self, graph: TemporalGraph) -> None:
        self.sets = {id(prop): graph.native.predicate(at) for at, prop in enumerate(self.predicates)}

    def _explore(self, graph: TemporalGraph, options: Options, closing: Closing | None) -> Explored | None:
        """All states; or as many as it takes to find a violation of every property; None if the closure has ended.

        A loop is fair or not by its own states alone, so what is found in a part of the graph is a violation. A run
        that ends is told only if it is a shortest one: if all states were expanded that are nearer than its end.
        """
        never = sys.maxsize
        look = never if any(linear(each.formula) is None for each in self.asked) else FIRST_LOOK
        rest = never if closing is None else FIRST_REST
        while True:
            pause = min(look, rest)
            explored = graph.explore(options.max_states, self.watcher.seconds_left, None if pause == never else pause)
            if not explored.paused:
                return explored
            if closing is not None and explored.states >= rest:
                if closing.go_on(explored.states, explored.transitions):
                    if closing.stopped is not None:
                        raise closing.stopped
                    return None
                rest = explored.states * 5 // 4
            if explored.states < look:
                continue
            self._label(graph)
            if self._all_violated(graph, explored):
                return explored
            look = explored.states * GROWTH

    def _all_violated(self, graph: TemporalGraph, explored: Explored) -> bool:
        """Whether what was explored so far shows a violation of every property."""
        for each in self.asked:
            if each.name in self.early:
                continue
            answer = self._first_answer(graph, each)
            lasso = answer.violation
            if lasso is None or (lasso.loop_from == len(lasso.acts) > explored.depth):
                return False
            self.early[each.name] = answer
        return True

    def _first_answer(self, graph: TemporalGraph, prop: TemporalProperty) -> Answer:
        formula = linear(prop.formula)
        assert formula is not None
        over = names(formula)
        automaton = translate_negation(formula, over).within_limits()
        return self._ask(graph, prop, automaton, over, self.fairness)

    def _atoms(self, prop: TemporalProperty, over: Sequence[str], more: dict[str, StateSet]) -> list[StateSet]:
        return [more[name] if name in more else self.sets[id(prop.predicates[name])] for name in over]

    def _inexact(self, graph: TemporalGraph) -> str:
        """Why processes that stop for ever do not stand for crashes here; empty if they do, or if there are none.

        A crash in the midst of a step leaves a part of its messages unsent. Where a step sends two or more, no run
        without crashes looks the same to receivers that must take what they are sent. Where it sends one at most, the
        process might as well have crashed before the step, unless somebody looks at its fields.
        """
        if self.definition.environment.crash == "implicit" and not self.crashes:
            return "with implicit crashes it has to be said how many processes may crash: --crashes 1"
        if not self.crashes or not self.definition.declared.cut_short:
            return ""
        explicit = "make crashes steps of their own: --crash explicit"
        processes = {column.index for column in self.definition.processes}
        for index in self.crashable:
            for each in graph.model.engine.behaviours(index):
                if any(len([to for to, _ in outcome.sends if to in processes]) > 1 for outcome in each.outcomes):
                    name = self.definition.transitions(self.definition.columns[index])[each.transition]
                    return f"a crash may cut {name} short, which sends several messages; {explicit}"
            if any(graph.model.observed[index]):
                whose = self.definition.columns[index].name
                return f"a predicate reads {whose}, which may crash within a step; {explicit}"
        return ""

    # One property

    def _decide(self, graph: TemporalGraph, prop: TemporalProperty) -> PropertyOutcome:
        formula = linear(prop.formula)
        explored = self.found.explored
        if formula is None:
            return self._branching(graph, prop)
        over = names(formula)
        automaton = translate_negation(formula, over).within_limits()
        answer = self.early.get(prop.name) or self._ask(graph, prop, automaton, over, self.fairness)
        self.found.product_states += answer.product_states
        if answer.violation is not None:
            if self.found.trace is None:
                self.watcher.finish()
                self.found.trace = self._trace(graph, prop, formula, answer.violation)
                self.watcher.go_on("search")
                # Partial orders keep this level alone, and a part of the graph cannot show that a property holds.
                if not self.ordered and not (explored is not None and explored.paused):
                    self.found.fairness["would_hold"] = self._one_level_up(graph, prop, automaton, over)
                elif self.level != "strong":
                    self.found.fairness["not_tried"] = "partial orders" if self.ordered else "ended early"
            return PropertyOutcome(prop.name, prop.kind, "violated")
        if answer.bounded is not None:
            bounds = self._bounds()
            return self._undecided(prop, f"not decided: {bounds} ends a run on which it is still open")
        if not answer.complete or explored is None or explored.stop != "finished":
            return self._undecided(prop, UNDECIDED)
        note = self._vacuous(prop, automaton)
        if not note and explored.cut:
            note = f"on every run, before {' and '.join(self._cut())} ends it"
        return PropertyOutcome(prop.name, prop.kind, "holds", note)

    def _ask(
        self, graph: TemporalGraph, prop: TemporalProperty, automaton: Automaton, over: Sequence[str], fair: Fairness
    ) -> Answer:
        atoms = self._atoms(prop, over, {})
        return graph.check(automaton, atoms, fair, self.crashable, self.crashes, self.watcher.seconds_left)

    def _one_level_up(
        self, graph: TemporalGraph, prop: TemporalProperty, automaton: Automaton, over: Sequence[str]
    ) -> str | None:
        """The weakest stronger level under which the property would hold; None if there is none."""
        for level in LEVELS[LEVELS.index(self.level) + 1 :]:
            answer = self._ask(graph, prop, automaton, over, fairness_of(self.definition, level))
            if answer.violation is None:
                return level if answer.complete and answer.bounded is None else None
        return None

    def _vacuous(self, prop: TemporalProperty, automaton: Automaton) -> str:
        if automaton.is_empty:
            return "the formula is true of every run, whatever the model does"
        trigger = prop.trigger
        if trigger is not None and len(self.sets[id(trigger)]) == 0:
            return f"vacuously: {trigger.name} is never true"
        return ""

    def _branching(self, graph: TemporalGraph, prop: TemporalProperty) -> PropertyOutcome:
        """CTL and CTL*: questions about states, innermost first."""
        if self.crashes:
            return self._undecided(prop, "not decided: implicit crashes are for linear formulas; use --crash explicit")
        asked = plan(prop.formula)
        known: dict[str, StateSet] = {}
        everything = graph.native.everything()
        explored = self.found.explored
        assert explored is not None
        is_open = False
        for question in asked.questions:
            if question.kind is Kind.PATH:
                over = names(question.formulas[0])
                automaton = translate(question.formulas[0], over).within_limits()
                states, unsure = graph.exists(
                    automaton, self._atoms(prop, over, known), self.fairness, self.watcher.seconds_left
                )
            elif question.kind is Kind.GLOBALLY:
                inside = self._states(prop, question.formulas[0], known, everything)
                states, unsure = graph.always(inside, self.fairness, self.watcher.seconds_left)
            else:
                left, right = (self._states(prop, each, known, everything) for each in question.formulas)
                states, unsure = graph.native.until(left, right), bool(explored.cut)
            known[question.name] = states
            is_open = is_open or unsure
        answer = self._states(prop, asked.answer, known, everything)
        wrong = graph.native.initial() & ~answer
        # Beyond a bound there may be more runs, so states may be missing from what "some run" is true of.
        sure = asked.grows if len(wrong) == 0 else asked.shrinks
        if is_open and not sure:
            return self._undecided(prop, f"not decided: {self._bounds()} ends runs on which it may be open")
        if len(wrong) == 0:
            return PropertyOutcome(prop.name, prop.kind, "holds")
        return PropertyOutcome(prop.name, prop.kind, "violated", "it fails in an initial state")

    def _states(
        self, prop: TemporalProperty, formula: Formula, known: dict[str, StateSet], everything: StateSet
    ) -> StateSet:
        """Where a formula without temporal operators holds."""
        parts = [self._states(prop, part, known, everything) for part in formula.parts]
        match formula.op:
            case Op.TRUE:
                return everything
            case Op.FALSE:
                return ~everything
            case Op.NAME:
                return self._atoms(prop, [formula.name], known)[0]
            case Op.NOT:
                return ~parts[0]
            case Op.IMPLIES:
                return ~parts[0] | parts[1]
            case Op.IFF:
                return (parts[0] & parts[1]) | (~parts[0] & ~parts[1])
            case Op.AND | Op.OR:
                result = parts[0]
                for part in parts[1:]:
                    result = result & part if formula.op is Op.AND else result | part
                return result
        raise AssertionError(formula)

    def _undecided(self, prop: TemporalProperty, note: str) -> PropertyOutcome:
        return PropertyOutcome(prop.name, prop.kind, "incomplete", note)

    def _bounds(self) -> str:
        explored = self.found.explored
        bounds = self._cut()
        if explored is not None and explored.blocked:
            bounds.append("a full channel")
        return " and ".join(bounds) or "a limit"

    def _cut(self) -> list[str]:
        explored = self.found.explored
        return bounds_of(self.definition, explored.cut) if explored is not None else []

    # The run that shows it

    def _trace(self, graph: TemporalGraph, prop: TemporalProperty, formula: Formula, lasso: Lasso) -> Trace:
        made = _unrolled(graph.model, lasso)
        if made is None:
            # What the reductions leave out may pile up from round to round: look again without them.
            plain = LivenessCheck(self.definition, [prop], self.options.without_reductions(), self.watcher)
            unreduced = plain._graph(plain.options)
            over = names(formula)
            answer = plain._ask(unreduced, prop, translate_negation(formula, over), over, self.fairness)
            made = None if answer.violation is None else _unrolled(unreduced.model, answer.violation)
            if made is None or answer.violation is None:
                if not answer.complete:  # a limit came first: then it was not seen to be wrong
                    raise unreduced.model.halted or Halted()
                raise _disagree("its loop does not close")
            lasso = answer.violation
        run = made
        self._confirm(prop, formula, run, lasso.stopped)
        values = dict.fromkeys(line for name in names(formula) for line in self._values(prop, name, run.states[-1]))
        self.found.fairness |= {
            "starved": [self._told(graph.model, act, always) for act, always in lasso.starved],
            "crashed": [self.definition.columns[index].name for index in lasso.stopped],
        }
        return Trace(
            "violation",
            prop.name,
            (f"{prop.formula} is false of this run", *values),
            self.definition,
            run.initial,
            run.steps,
            False,
            loop_from=run.loop_from,
            fairness=self.level,
            crashed=tuple(lasso.stopped),
        )

    def _values(self, prop: TemporalProperty, name: str, state: State) -> tuple[str, ...]:
        return explain(self.definition, prop.predicates[name], state.locals)

    def _confirm(self, prop: TemporalProperty, formula: Formula, run: _Run, stopped: Sequence[int]) -> None:
        """By the definitions alone: the run repeats, is fair, and the formula is false of it."""
        why = refuted(self.definition, prop, formula, run.initial, run.steps, run.loop_from, self.level, stopped)
        if why:
            raise _disagree(why)

    def _told(self, model: Model, act: Act, always: bool) -> str:
        column = self.definition.columns[act.column]
        what = column.name
        if act.transition is not None:
            what += f".{self.definition.transitions(column)[act.transition].name}"
        how = "all the time" if always else "again and again"
        if act.kind == "step" and act.transition is not None:
            due = self.fairness.steps[act.column][act.transition] != UNFAIR
            how += "" if due else "; it need not be"
        return f"{what} ({how})"


class _Run(NamedTuple):
    initial: State
    steps: tuple[Step, ...]
    loop_from: int

    @property
    def states(self) -> tuple[State, ...]:
        return (self.initial, *(step.next for step in self.steps if step.next is not None))


class _Doing(NamedTuple):
    """A step by what it is in the core, to a state whose reduced form is the next of the path."""

    model: Model
    act: Act
    target: Cells

    def matches(self, step: Step, before: State) -> bool:
        act = self.act
        if step.next is None or step.column != act.column or step.kind != act.kind:
            return False
        transition = step.transition.index if step.transition is not None and step.kind == "step" else None
        if act.kind == "step" and transition != act.transition:
            return False
        if act.kind == "step":
            column = self.model.definition.columns[act.column]
            consumed = sorted(self.model.message_id(column, message) for message in step.consumed)
            if consumed != sorted(act.messages):
                return False
        return self.model.reduced(step.next) == self.target


def _unrolled(model: Model, lasso: Lasso) -> _Run | None:
    """The lasso through plain states: the loop is gone round until a plain state repeats."""
    definition = model.definition
    starts = [state for state in initial_states(definition) if model.reduced(state) == lasso.path[0]]
    if not starts:
        raise _disagree("the first state is not initial")
    wanted = [_Doing(model, act, target) for act, target in zip(lasso.acts, lasso.path[1:], strict=True)]
    stem, loop = wanted[: lasso.loop_from], wanted[lasso.loop_from :]
    run = _followed(definition, starts[0], stem)
    steps = list(run)
    state = steps[-1].next if steps else starts[0]
    assert state is not None
    if not loop:
        return _Run(starts[0], tuple(steps), len(steps))
    began: dict[State, int] = {}
    for _ in range(MOST_ROUNDS):
        if state in began:
            return _Run(starts[0], tuple(steps), began[state])
        began[state] = len(steps)
        round_ = _followed(definition, state, loop)
        steps += round_
        state = round_[-1].next
        assert state is not None
    return None


def _followed(definition: Definition, state: State, wanted: Sequence[_Doing]) -> tuple[Step, ...]:
    found = follow(definition, state, wanted)
    if isinstance(found, Differs):
        raise _disagree(f"step {found.number} leads nowhere")
    return found.steps


def _disagree(what: str) -> ReplayError:
    return ReplayError(
        f"the run that violates a temporal property does not replay: {what}",
        hint="this is a defect of Quorate; please report it with the model. --quotient off may work around it",
    )
