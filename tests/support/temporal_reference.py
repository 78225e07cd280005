"""What temporal properties mean on an explicit graph, slowly and plainly: the oracle for every faster engine.

A graph has states with labels, and edges that take groups (a step of process 2 takes the group of process 2). Beside
its edges every state has one more that stays where it is and takes no group: a run may stop. A run is fair if

- each weak group is, again and again, taken or not enabled, and
- each strong group that is enabled again and again is taken again and again.

Which groups are enabled in a state is said beside the edges: a reduced graph may lack an edge of an enabled group.

    verdict = check_ltl(graph, formula)           # holds, or a fair lasso that violates it
    states = check_ctl(graph, formula)            # where a CTL formula holds, by fixpoints
    states = check_ctl_star(graph, formula)       # where a CTL* formula holds, by automata
    states = run_plan(graph, plan(formula))       # the same by the questions of `branching`
    validate(graph, formula, lasso)               # is this lasso a fair run that violates the formula?
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from quorate.properties.temporal.automaton import Automaton
from quorate.properties.temporal.branching import Kind, Plan
from quorate.properties.temporal.formula import Formula, Op, has_quantifier, name, negation, replaced
from quorate.properties.temporal.translate import translate, translate_negation
from quorate.properties.temporal.words import satisfied


class Step(NamedTuple):
    """An edge: from where to where, and the groups that are taken."""

    source: int
    target: int
    taken: frozenset[int]


@dataclass(frozen=True)
class Graph:
    """Bit i of a label says whether predicate `names[i]` is true there."""

    names: tuple[str, ...]
    labels: tuple[int, ...]
    edges: tuple[Step, ...]
    enabled: tuple[frozenset[int], ...]
    initial: tuple[int, ...]
    weak: frozenset[int] = frozenset()
    strong: frozenset[int] = frozenset()
    may_stop: bool = True

    @property
    def steps(self) -> list[Step]:
        """The edges, and for each state the step of a run that has stopped."""
        if not self.may_stop:
            return list(self.edges)
        return [*self.edges, *(Step(state, state, frozenset()) for state in range(len(self.labels)))]


class Lasso(NamedTuple):
    """Steps that are taken once, then steps that are taken for ever; to stop is a loop of one step that stays."""

    stem: tuple[Step, ...]
    loop: tuple[Step, ...]


class Verdict(NamedTuple):
    holds: bool
    lasso: Lasso | None


# --- LTL: product and components ---------------------------------------------------------------------------------

Node = tuple[int, int]  # of the product: a state of the graph and one of the automaton


class Arc(NamedTuple):
    source: Node
    target: Node
    step: Step
    acceptance: int


def check_ltl(graph: Graph, formula: Formula) -> Verdict:
    """Whether every fair run from an initial state satisfies the formula."""
    automaton = translate_negation(formula, graph.names)
    start = [(state, automaton.initial) for state in graph.initial]
    arcs = product(graph, automaton, start)
    nodes = {*start, *(arc.source for arc in arcs), *(arc.target for arc in arcs)}
    for component in fair_components(graph, automaton, nodes, arcs):
        return Verdict(False, lasso_into(graph, automaton, start, arcs, component))
    return Verdict(True, None)


def product(graph: Graph, automaton: Automaton, start: Iterable[Node]) -> list[Arc]:
    """Every arc that can be reached."""
    steps: dict[int, list[Step]] = {}
    for step in graph.steps:
        steps.setdefault(step.source, []).append(step)
    seen = set(start)
    waiting = list(seen)
    arcs = []
    for node in waiting:
        state, place = node
        for edge in automaton.outgoing[place]:
            if not edge.allows(graph.labels[state]):
                continue
            for step in steps[state]:
                arc = Arc(node, (step.target, edge.target), step, edge.acceptance)
                arcs.append(arc)
                if arc.target not in seen:
                    seen.add(arc.target)
                    waiting.append(arc.target)
    return arcs


def fair_components(
    graph: Graph, automaton: Automaton, nodes: Collection[Node], arcs: Sequence[Arc]
) -> list[tuple[frozenset[Node], list[Arc]]]:
    """Parts of the product in which a run can go round for ever, accepting and fair, taking all arcs of the part."""
    found = []
    for component in strong_components(nodes, arcs):
        inner = [arc for arc in arcs if arc.source in component and arc.target in component]
        if not inner:
            continue
        accepted = 0
        for arc in inner:
            accepted |= arc.acceptance
        if accepted != automaton.all_sets:
            continue
        taken = frozenset[int]().union(*(arc.step.taken for arc in inner))
        always = frozenset[int](graph.weak).intersection(*(graph.enabled[state] for state, _ in component))
        if always - taken:
            continue
        # A strong group that is enabled here and never taken: the run must keep away from where it is enabled.
        starved = {
            group
            for group in graph.strong - taken
            if any(group in graph.enabled[state] for state, _ in component)
        }  # fmt: skip
        if starved:
            left = {node for node in component if not starved & graph.enabled[node[0]]}
            kept = [arc for arc in inner if arc.source in left and arc.target in left]
            found.extend(fair_components(graph, automaton, left, kept))
        else:
            found.append((component, inner))
    return found


def strong_components(nodes: Collection[Node], arcs: Iterable[Arc]) -> list[frozenset[Node]]:
    """By reachability there and back."""
    forward: dict[Node, list[Node]] = {node: [] for node in nodes}
    backward: dict[Node, list[Node]] = {node: [] for node in nodes}
    for arc in arcs:
        forward[arc.source].append(arc.target)
        backward[arc.target].append(arc.source)
    left = set(nodes)
    found = []
    for node in sorted(nodes):
        if node in left:
            component = frozenset(_reached([node], forward) & _reached([node], backward))
            left -= component
            found.append(component)
    return found


def _reached(start: Iterable[Node], successors: dict[Node, list[Node]]) -> set[Node]:
    seen = set(start)
    waiting = list(seen)
    for node in waiting:
        for target in successors[node]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def lasso_into(
    graph: Graph,
    automaton: Automaton,
    start: Sequence[Node],
    arcs: Sequence[Arc],
    component: tuple[frozenset[Node], list[Arc]],
) -> Lasso:
    """A shortest way into the component, then round it past one arc for each thing that must happen again and again."""
    nodes, inner = component
    stem = path(start, arcs, lambda node: node in nodes)
    here = entry = stem[-1].target if stem else next(node for node in start if node in nodes)
    wanted: list[Callable[[Arc], bool]] = [_in_set(bit) for bit in range(automaton.sets)]
    wanted += [_serves(graph, group) for group in sorted(graph.weak)]
    enabled = frozenset[int]().union(*(graph.enabled[state] for state, _ in nodes))
    wanted += [_takes(group) for group in sorted(graph.strong & enabled)]
    loop: list[Arc] = []
    for wish in wanted:
        if not any(map(wish, loop)):
            arc = next(arc for arc in inner if wish(arc))
            loop += [*path([here], inner, _is(arc.source)), arc]
            here = arc.target
    if not loop:
        loop = [next(arc for arc in inner if arc.source == here)]
        here = loop[0].target
    loop += path([here], inner, _is(entry))
    return Lasso(tuple(arc.step for arc in stem), tuple(arc.step for arc in loop))


def _is(node: Node) -> Callable[[Node], bool]:
    return lambda other: other == node


def _in_set(bit: int) -> Callable[[Arc], bool]:
    return lambda arc: bool(arc.acceptance >> bit & 1)


def _serves(graph: Graph, group: int) -> Callable[[Arc], bool]:
    return lambda arc: group in arc.step.taken or group not in graph.enabled[arc.step.source]


def _takes(group: int) -> Callable[[Arc], bool]:
    return lambda arc: group in arc.step.taken


def path(start: Iterable[Node], arcs: Sequence[Arc], goal: Callable[[Node], bool]) -> list[Arc]:
    """A shortest path to a goal; there must be one."""
    leaving: dict[Node, list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.source, []).append(arc)
    came: dict[Node, Arc | None] = dict.fromkeys(start)
    waiting = deque(came)
    while waiting:
        node = waiting.popleft()
        if goal(node):
            found: list[Arc] = []
            while (last := came[node]) is not None:
                found.append(last)
                node = last.source
            return found[::-1]
        for arc in leaving.get(node, []):
            if arc.target not in came:
                came[arc.target] = arc
                waiting.append(arc.target)
    raise AssertionError("no path")


def validate(graph: Graph, formula: Formula, lasso: Lasso) -> None:
    """Raise unless the lasso is a run of the graph, fair, and violates the formula; no automaton is involved."""
    stem, loop = lasso
    assert loop, "a loop has at least one step"
    steps = [*stem, *loop]
    assert steps[0].source in graph.initial
    assert all(step in graph.steps for step in steps)
    for one, other in zip(steps, [*steps[1:], loop[0]], strict=True):
        assert one.target == other.source, "the steps do not follow each other"
    assert is_fair(graph, loop), "the loop is not fair"
    letters = [
        {n: graph.labels[step.source] >> bit & 1 for bit, n in enumerate(graph.names)} for step in steps
    ]  # fmt: skip
    assert not satisfied(formula, letters, len(stem), 1), "the lasso satisfies the formula"


def is_fair(graph: Graph, loop: Sequence[Step]) -> bool:
    """Fairness from its definition."""
    for group in graph.weak:
        if not any(group in step.taken or group not in graph.enabled[step.source] for step in loop):
            return False
    for group in graph.strong:
        if any(group in graph.enabled[step.source] for step in loop) and not any(group in step.taken for step in loop):
            return False
    return True


# --- CTL: fixpoints ----------------------------------------------------------------------------------------------

States = frozenset[int]


def check_ctl(graph: Graph, formula: Formula) -> States:
    """Where a formula of CTL holds, by its textbook definition: no automata, no components."""
    every = frozenset(range(len(graph.labels)))

    def exists(path: Formula) -> States:
        sets = [check_ctl(graph, part) for part in path.parts]
        fair = globally(graph, every)
        match path.op:
            case Op.F:
                return until(graph, every, sets[0] & fair)
            case Op.G:
                return globally(graph, sets[0])
            case Op.U:
                return until(graph, sets[0], sets[1] & fair)
            case Op.W:
                return until(graph, sets[0], sets[1] & fair) | globally(graph, sets[0])
            case Op.R:
                return until(graph, sets[1], sets[0] & sets[1] & fair) | globally(graph, sets[1])
        raise ValueError(f"{path} is not a path formula of CTL")

    parts = formula.parts
    match formula.op:
        case Op.E:
            return exists(parts[0])
        case Op.A:
            return every - _refuted(graph, parts[0], every)
        case Op.NOT:
            return every - check_ctl(graph, parts[0])
        case Op.AND:
            return every.intersection(*(check_ctl(graph, part) for part in parts))
        case Op.OR:
            return frozenset[int]().union(*(check_ctl(graph, part) for part in parts))
        case Op.IMPLIES:
            return (every - check_ctl(graph, parts[0])) | check_ctl(graph, parts[1])
        case Op.IFF:
            return every - (check_ctl(graph, parts[0]) ^ check_ctl(graph, parts[1]))
    return labelled(graph, formula, {})


def _refuted(graph: Graph, path: Formula, every: States) -> States:
    """Where some fair run does not satisfy a path formula of CTL."""
    sets = [every - check_ctl(graph, part) for part in path.parts]
    fair = globally(graph, every)
    match path.op:
        case Op.F:
            return globally(graph, sets[0])
        case Op.G:
            return until(graph, every, sets[0] & fair)
        case Op.U:
            return until(graph, sets[1], sets[0] & sets[1] & fair) | globally(graph, sets[1])
        case Op.W:
            return until(graph, sets[1], sets[0] & sets[1] & fair)
        case Op.R:
            return until(graph, sets[0], sets[1] & fair)
    raise ValueError(f"{path} is not a path formula of CTL")


def until(graph: Graph, left: States, right: States) -> States:
    """From where a path within `left` leads into `right`."""
    found = set(right)
    while True:
        more = {step.source for step in graph.steps if step.source in left and step.target in found} - found
        if not more:
            return frozenset(found)
        found |= more


def globally(graph: Graph, inner: States) -> States:
    """From where a fair run stays within `inner`: a fixpoint over steps (Kesten, Pnueli and Raviv 1998).

    Steps are left over if from them, within what is left: for each weak group a step can be reached that takes it or
    where it is not enabled; for each strong group a step that takes it, unless the group is not enabled. What is left
    of the graph then ends in components that are fair, and no fair component is ever given up.
    """
    left = {step for step in graph.steps if step.source in inner and step.target in inner}
    while True:
        before = set(left)
        for group in graph.weak:
            left = _leading(left, {s for s in left if group in s.taken or group not in graph.enabled[s.source]})
        for group in graph.strong:
            away = {step for step in left if group not in graph.enabled[step.source]}
            left = away | _leading(left, {step for step in left if group in step.taken})
        sources = {step.source for step in left}
        left = {step for step in left if step.target in sources}
        if left == before:
            return until(graph, inner, frozenset(step.source for step in left))


def _leading(among: set[Step], goal: set[Step]) -> set[Step]:
    """The steps from which, by steps among these, one of the goal is taken, at once or later."""
    found = set(goal)
    while True:
        sources = {step.source for step in found}
        more = {step for step in among if step.target in sources} - found
        if not more:
            return found
        found |= more


def labelled(graph: Graph, formula: Formula, known: dict[str, States]) -> States:
    """Where a formula without temporal operators is true; names may stand for known sets."""
    if formula.op is Op.NAME and formula.name in known:
        return known[formula.name]
    columns = []
    for state, label in enumerate(graph.labels):
        letter = {n: label >> bit & 1 for bit, n in enumerate(graph.names)}
        letter |= {n: int(state in states) for n, states in known.items()}
        columns.append(bool(satisfied(formula, [letter], 0, 1)))
    return frozenset(state for state, true in enumerate(columns) if true)


# --- CTL*: automata, innermost first -----------------------------------------------------------------------------


def check_ctl_star(graph: Graph, formula: Formula) -> States:
    """Where a state formula of CTL* holds: quantifiers with none inside are replaced by sets of states."""
    known: dict[str, States] = {}
    while has_quantifier(formula):
        inner = _innermost(formula)
        fresh = f"#{len(known)}"
        (path,) = inner.parts
        if inner.op is Op.E:
            known[fresh] = exists_path(graph, path, known)
        else:
            every = frozenset(range(len(graph.labels)))
            known[fresh] = every - exists_path(graph, negation(path), known)
        formula = replaced(formula, {inner: name(fresh)})
    return labelled(graph, formula, known)


def _innermost(formula: Formula) -> Formula:
    for part in formula.parts:
        if has_quantifier(part):
            return _innermost(part)
    return formula


def exists_path(graph: Graph, path: Formula, known: dict[str, States]) -> States:
    """From where some fair run satisfies an LTL formula over predicates and known sets."""
    names = (*graph.names, *known)
    labels = [
        label | sum(1 << len(graph.names) + place for place, states in enumerate(known.values()) if state in states)
        for state, label in enumerate(graph.labels)
    ]
    larger = replace(graph, names=names, labels=tuple(labels))
    automaton = translate(path, names)
    start = [(state, automaton.initial) for state in range(len(labels))]
    arcs = product(larger, automaton, start)
    nodes = {*start, *(arc.target for arc in arcs)}
    good = {node for component, _ in fair_components(larger, automaton, nodes, arcs) for node in component}
    backward: dict[Node, list[Node]] = {node: [] for node in nodes}
    for arc in arcs:
        backward[arc.target].append(arc.source)
    reaching = _reached(good, backward)
    return frozenset(state for state, place in start if (state, place) in reaching)


# --- the questions of `branching` --------------------------------------------------------------------------------


def run_plan(graph: Graph, plan: Plan) -> States:
    """Where the planned formula holds."""
    known: dict[str, States] = {}
    for question in plan.questions:
        if question.kind is Kind.PATH:
            known[question.name] = exists_path(graph, question.formulas[0], dict(known))
        elif question.kind is Kind.GLOBALLY:
            known[question.name] = globally(graph, labelled(graph, question.formulas[0], known))
        else:
            left, right = (labelled(graph, part, known) for part in question.formulas)
            known[question.name] = until(graph, left, right)
    return labelled(graph, plan.answer, known)
