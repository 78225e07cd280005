"""Temporal properties: the graph of all states is stored, and searched for a fair run that a formula forbids.

The graph is reduced only by what keeps whole runs and fairness (docs/temporal.md). Every lasso is followed through the
plain semantics before it is shown: it closes, it is fair, and the formula is false of it, all by definition.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quorate import _core
from quorate.base.watchdog import Halted
from quorate.language.pid import column_of
from quorate.model.bound import bounds_of
from quorate.model.definition import Definition, Property
from quorate.native.model import Model
from quorate.native.temporal import Answer, Explored, Lasso, TemporalGraph
from quorate.options import LEVELS, Options
from quorate.properties import explain
from quorate.properties.temporal.automaton import Automaton
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.fairness import Fairness, assumed, fairness_of, undone
from quorate.properties.temporal.formula import Formula, Op, is_temporal, names
from quorate.properties.temporal.kept import needs_of
from quorate.properties.temporal.refutation import refuted
from quorate.properties.temporal.stated import TemporalProperty
from quorate.properties.temporal.translate import translate, translate_negation
from quorate.reduce.reductions import FIRST_BEHAVIOURS, Reductions
from quorate.results.result import VIOLATION_MET, PropertyOutcome
from quorate.results.trace import Trace
from quorate.search.accidents import raise_accidents
from quorate.search.branching import decide_branching
from quorate.search.closing import Closing
from quorate.search.implicit import refuse_crash_flags, unlike_crashes
from quorate.search.lasso import Run, disagree, unrolled, with_numbers
from quorate.search.limits import Watcher
from quorate.search.ranked import NOT_WITH_NUMBERS
from quorate.search.rebuild import ReplayError, rebuild
from quorate.search.stopped import GivenUp, require_not_given_up
from quorate.search.verdict import UNDECIDED
from quorate.semantics.state import State

HANDLER_FAILS = "not decided: a handler fails"
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
    warnings: list[str] = field(default_factory=list)

    @property
    def stopped(self) -> bool:
        return any(outcome.verdict == "incomplete" for outcome in self.outcomes)


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
        self.renamed = False
        """Whether states that differ in names only are one."""
        self.models: list[Model] = []
        """Whose code may have been stopped."""
        self.level = options.fairness
        self.fairness = fairness_of(definition, self.level)
        environment, declared = definition.environment, definition.declared
        crashing = environment.crash == "implicit"
        self.unlimited = crashing and environment.crashes is None and not declared.left
        """Whether any number of processes may crash implicitly."""
        self.crashes = (declared.left if environment.crashes is None else environment.crashes) if crashing else 0
        self.crashable = [
            column.index
            for column in definition.processes
            if self.crashes
            and column.pid is not None
            and column.index not in definition.attackers
            and (declared.of is None or issubclass(column.cls, declared.of))
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
        left = [each for each in self.asked if each.name not in decided]
        notes = dict.fromkeys(self.watcher.found, VIOLATION_MET)
        self.found.outcomes += [self._undecided(each, notes.get(each.name, UNDECIDED)) for each in left]
        return self.found

    def _run(self) -> None:
        graph = self._explored_graph()
        explored = self.found.explored
        assert explored is not None
        if explored.violation is not None:
            self.watcher.finish()
            trace = self.found.trace = rebuild(graph.model, explored.violation, shortest=not self.ordered)
            raise_accidents(graph.model, explored.violation, trace)
            waiting = [self._undecided(each, HANDLER_FAILS) for each in self.asked]
            self.found.outcomes = [PropertyOutcome(trace.property, "assertion", "violated"), *waiting]
            return
        inexact = self._inexact(graph)
        if inexact:
            self.found.outcomes = [self._undecided(each, f"not decided: {inexact}") for each in self.asked]
            return
        for each in self.asked:
            if missed := self._other_sender(graph.model, each):
                self.found.outcomes.append(self._undecided(each, f"not decided: {missed}"))
            elif explored.stop != "finished" and each.branching:
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
            self.found.warnings.append(str(given_up))
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
            closing = Closing(reductions, self.watcher, by_levels=False) if reductions.unfinished else None
            self.watcher.phase = "search"
            while True:
                graph = TemporalGraph(model, self.watcher.memory, options.threads)
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
        reductions.symmetry.stood_for(explored.stands_for, explored.states)
        self.found.reductions = reductions.to_json()
        self.ordered = reductions.por.ran
        self.renamed = reductions.symmetry.ran
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

    def _inexact(self, graph: TemporalGraph) -> str:
        """Why processes that stop for ever do not stand for crashes here; empty if they do, or if there are none."""
        if self.definition.environment.crash != "implicit":
            return ""
        refuse_crash_flags(graph.model)
        if self.unlimited:
            return "with implicit crashes it has to be said how many processes may crash: --crashes 1"
        explored = self.found.explored
        assert explored is not None
        why = unlike_crashes(graph.model, self.crashable, blocked=explored.blocked)
        return f"{why}; make crashes steps of their own: --crash explicit" if why else ""

    def _other_sender(self, model: Model, prop: TemporalProperty) -> str:
        """Of a property for each sender of a type: who may send it as well, though its code does not say so."""
        if prop.of is None:
            return ""
        columns = self.definition.columns
        for messages in (model.numbered_messages[column.index] for column in self.definition.processes):
            for message in messages:
                if isinstance(message, prop.of) and column_of(message.sender) not in prop.senders:
                    sender = columns[column_of(message.sender)]
                    if sender.index not in self.definition.attackers and not sender.cls._byzantine:
                        name = prop.of.__name__
                        return f"{sender.name} may send {name} too, and no property is about it; use each= of its class"
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
        self._warn_of_trivial(prop, formula, automaton, violated=answer.violation is not None)
        if answer.violation is not None:
            self.watcher.finds([prop.name])
            if self.found.trace is None or self.definition.ranked:  # with ranks, what is found need not be a run
                trace = self._shown(graph, prop, formula, answer.violation)
                if trace is None:
                    trace = self._fairer(graph, prop, formula, automaton, over)
                if trace is None:
                    return self._undecided(prop, f"not decided: {NOT_WITH_NUMBERS}")
                if self.found.trace is None:
                    self.found.trace = trace
                    self.found.fairness |= self._advice(graph, prop, automaton, over)
            return PropertyOutcome(prop.name, prop.kind, "violated")
        if answer.bounded is not None:
            bounds = self._bounds()
            return self._undecided(prop, f"not decided: {bounds} ends a run on which it is still open")
        if not answer.complete or explored is None or explored.stop != "finished":
            return self._undecided(prop, UNDECIDED)
        note = self._vacuous(graph, prop, automaton)
        if not note and explored.cut:
            note = f"on every run, before {' and '.join(self._cut())} ends it"
        return PropertyOutcome(prop.name, prop.kind, "holds", note)

    def _ask(
        self, graph: TemporalGraph, prop: TemporalProperty, automaton: Automaton, over: Sequence[str], fair: Fairness
    ) -> Answer:
        atoms = [self.sets[id(prop.predicates[name])] for name in over]
        return graph.check(automaton, atoms, fair, self.crashable, self.crashes, self.watcher.seconds_left)

    def _advice(
        self, graph: TemporalGraph, prop: TemporalProperty, automaton: Automaton, over: Sequence[str]
    ) -> dict[str, Any]:
        """Under which stronger fairness a violated property would hold; or why that was not tried."""
        explored = self.found.explored
        assert explored is not None
        if explored.paused:
            # A part of the graph cannot show that a property holds.
            return {"not_tried": "ended early"} if self.level != "strong" else {}
        if self.ordered:
            return {"not_tried": "partial orders"}
        if self.definition.ranked:  # nothing but that it holds can be shown
            found = self._stronger(graph, prop, automaton, over)
            return found if found.get("would_hold") or self.level == "strong" else {"not_tried": "ranks"}
        if not self.renamed:
            return self._stronger(graph, prop, automaton, over)
        if explored.stands_for > FIRST_LOOK:
            return {"not_tried": "symmetry"}
        plain = LivenessCheck(self.definition, [prop], replace(self.options, symmetry="none"), self.watcher)
        return plain._stronger(plain._graph(plain.options), prop, automaton, over)

    def _stronger(
        self, graph: TemporalGraph, prop: TemporalProperty, automaton: Automaton, over: Sequence[str]
    ) -> dict[str, Any]:
        """The weakest stronger level under which the property would hold; that there is none; or that it is open."""
        is_open = False
        for level in LEVELS[LEVELS.index(self.level) + 1 :]:
            answer = self._ask(graph, prop, automaton, over, fairness_of(self.definition, level))
            if answer.violation is None and answer.complete and answer.bounded is None:
                return {"would_hold": level}
            is_open |= answer.violation is None
        return {"not_tried": "open"} if is_open else {"would_hold": None}

    def _warn_of_trivial(self, prop: TemporalProperty, formula: Formula, automaton: Automaton, violated: bool) -> None:
        """A formula that is true of every run, or of none, is most likely not what was meant."""
        true_of = "every" if automaton.is_empty else ""
        if violated and automaton.states <= 4:  # what is true of all words mostly has one
            true_of = "no" if translate(formula, names(formula)).is_empty else ""
        if true_of:
            self.found.warnings.append(f"{prop.name} is true of {true_of} run, whatever the model does")

    def _vacuous(self, graph: TemporalGraph, prop: TemporalProperty, automaton: Automaton) -> str:
        if automaton.is_empty:
            return "the formula is true of every run, whatever the model does"
        condition = prop.condition
        if condition is None:
            return ""
        left = condition.parts[0] if condition.op is Op.F else condition
        if condition.op is Op.F and left.op is Op.NAME and not self._cut():  # no run has to be looked for
            never = len(self.sets[id(prop.predicates[left.name])]) == 0
        else:
            over = names(condition)
            found = self._ask(graph, prop, translate(condition, over).within_limits(), over, self.fairness)
            never = found.violation is None and found.bounded is None and found.complete
        if not never:
            return ""
        if condition.op is Op.F and not is_temporal(left):
            return f"vacuously: {left} is never true"
        if is_temporal(condition):
            return f"vacuously: no run satisfies {condition}"
        return f"vacuously: {condition} is true in no initial state"

    def _branching(self, graph: TemporalGraph, prop: TemporalProperty) -> PropertyOutcome:
        if self.crashes:
            return self._undecided(prop, "not decided: implicit crashes are for linear formulas; use --crash explicit")
        explored = self.found.explored
        assert explored is not None
        atoms = {name: self.sets[id(each)] for name, each in prop.predicates.items()}
        left = self.watcher.seconds_left
        holds = decide_branching(graph, prop.formula, atoms, self.fairness, left, is_open=bool(explored.cut))
        if holds is None:
            return self._undecided(prop, f"not decided: {self._bounds()} ends runs on which it may be open")
        if holds:
            return PropertyOutcome(prop.name, prop.kind, "holds")
        return PropertyOutcome(prop.name, prop.kind, "violated", "it fails in an initial state")

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

    def _shown(self, graph: TemporalGraph, prop: TemporalProperty, formula: Formula, lasso: Lasso) -> Trace | None:
        """The run of a lasso; with ranks, None if it cannot be taken with numbers."""
        self.watcher.finish()
        try:
            return self._trace(graph, prop, formula, lasso)
        except ReplayError:
            if not self.definition.ranked:
                raise
            return None
        finally:
            self.watcher.go_on("search")

    def _fairer(
        self, graph: TemporalGraph, prop: TemporalProperty, formula: Formula, automaton: Automaton, over: Sequence[str]
    ) -> Trace | None:
        """With ranks: a loop that is fairer than it has to be may be one with numbers, if the first one is not."""
        for level in LEVELS[LEVELS.index(self.level) + 1 :]:
            lasso = self._ask(graph, prop, automaton, over, fairness_of(self.definition, level)).violation
            if lasso is not None and (trace := self._shown(graph, prop, formula, lasso)) is not None:
                return trace
        return None

    def _trace(self, graph: TemporalGraph, prop: TemporalProperty, formula: Formula, lasso: Lasso) -> Trace:
        made: Run | None
        if self.definition.ranked:
            made = with_numbers(
                graph.model,
                lasso,
                lambda run: not self._why_not(prop, formula, run, lasso.stopped),
                lambda: self.watcher.seconds_left == 0,
            )
        else:
            made = unrolled(graph.model, lasso)
        if made is None:
            # What the reductions leave out may pile up from round to round: look again without them.
            plain = LivenessCheck(self.definition, [prop], self.options.without_reductions(), self.watcher)
            unreduced = plain._graph(plain.options)
            over = names(formula)
            answer = plain._ask(unreduced, prop, translate_negation(formula, over), over, self.fairness)
            made = None if answer.violation is None else unrolled(unreduced.model, answer.violation)
            if made is None or answer.violation is None:
                if not answer.complete:  # a limit came first: then it was not seen to be wrong
                    raise unreduced.model.halted or Halted()
                raise disagree("its loop does not close")
            lasso = answer.violation
        run = made
        self._confirm(prop, formula, run, lasso.stopped)
        values = dict.fromkeys(line for name in names(formula) for line in self._values(prop, name, run.states[-1]))
        self.found.fairness |= {
            "starved": undone(self.definition, run.looping, run.steps[run.loop_from :], lasso.stopped),
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
        return explain(self.definition, prop.predicates[name], state.locals, state.pending)

    def _confirm(self, prop: TemporalProperty, formula: Formula, run: Run, stopped: Sequence[int]) -> None:
        """By the definitions alone: the run repeats, is fair, and the formula is false of it."""
        why = self._why_not(prop, formula, run, stopped)
        if why:
            raise disagree(why)

    def _why_not(self, prop: TemporalProperty, formula: Formula, run: Run, stopped: Sequence[int]) -> str:
        return refuted(self.definition, prop, formula, run.initial, run.steps, run.loop_from, self.level, stopped)
