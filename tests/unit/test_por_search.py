from itertools import product
from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from por_support import (
    State,
    System,
    examples,
    full_graph,
    random_observation,
    random_relations,
    randoms,
    same_branching,
    same_traces,
    systems,
    tangles,
)
from quorate.por import (
    Reduction,
    ReductionError,
    Relations,
    TransitionSystem,
    exact_relations,
    search,
    verify_relations,
)
from quorate.por.expansion import Preserve, Visibility
from quorate.por.search import Order
from quorate.por.stubborn import Form

ORDERS: tuple[Order, ...] = get_args(Order)
Steps = dict[State, tuple[tuple[str, State], ...]]
both_orders = pytest.mark.parametrize("order", ORDERS)


def counter(limit: int) -> TransitionSystem[tuple[int, int], str]:
    """Two counters that know nothing of each other."""

    def successors(state: tuple[int, int], transition: str) -> list[tuple[int, int]]:
        x, y = state
        after = (x + 1, y) if transition == "x" else (x, y + 1)
        return [after] if max(after) <= limit else []

    return TransitionSystem(["x", "y"], [(0, 0)], successors)


INDEPENDENT = Relations.from_pairs([], [], visible=["y"], deterministic=["x", "y"])


# --- plain search -------------------------------------------------------------------------------------------------


@both_orders
def test_without_a_reduction_it_visits_everything(order: Order) -> None:
    found = search(counter(3), order=order)
    assert (found.states, found.transitions, found.deadlocks) == (16, 24, ((3, 3),))
    assert found.ok
    assert (found.reduced, found.refused) == (0, 0)


@both_orders
def test_it_stops_at_a_violation_and_shows_the_run(order: Order) -> None:
    found = search(counter(3), order=order, invariant=lambda state: sum(state) < 4)
    assert not found.ok
    assert found.violation is not None
    assert sum(found.violation.last) == 4
    assert len(found.violation.steps) == 4
    assert found.violation.initial == (0, 0)
    if order == "breadth-first":
        assert found.violation.transitions == ("x", "x", "x", "y")


def test_nothing_is_visited_after_a_violation() -> None:
    star = TransitionSystem.from_edges([0], [(0, "go", each) for each in range(1, 6)])
    for order in ORDERS:
        assert search(star, order=order, invariant=lambda state: state == 0).states == 2


def test_an_initial_state_may_violate() -> None:
    found = search(counter(3), invariant=lambda state: state != (0, 0))
    assert found.violation is not None
    assert found.violation.steps == ()
    assert found.states == 1


@both_orders
def test_a_limit(order: Order) -> None:
    endless = TransitionSystem(["up"], [0], lambda state, t: [state + 1])
    found = search(endless, order=order, limit=100)
    assert (found.states, found.complete, found.ok) == (100, False, False)


def test_states_may_be_none() -> None:
    system = TransitionSystem[None, str](["stay"], [None], lambda state, t: [None])
    assert search(system).states == 1
    violated = search(system, invariant=lambda state: False)
    assert violated.violation is not None
    assert violated.violation.last is None


# --- reduced search -----------------------------------------------------------------------------------------------


@both_orders
@pytest.mark.parametrize("preserve", get_args(Preserve))
def test_one_order_of_what_is_independent(order: Order, preserve: Preserve) -> None:
    system = counter(3)
    found = search(system, Reduction(system.transitions, INDEPENDENT, preserve=preserve), order=order)
    assert (found.states, found.transitions, found.deadlocks) == (7, 6, ((3, 3),))
    assert found.reduced == 3


def test_a_run_that_is_found_is_a_run_of_the_system() -> None:
    system = counter(3)
    reduction = Reduction(system.transitions, INDEPENDENT)
    found = search(system, reduction, invariant=lambda state: state[1] < 2)
    assert found.violation is not None
    state = found.violation.initial
    for transition, after in found.violation.steps:
        assert after in system.moves(state)[transition]
        state = after
    assert state[1] == 2


# `turn` goes round for ever, `say` is what the property reads. They have nothing to do with each other.
IGNORING = TransitionSystem.from_edges(
    [(0, 0)],
    [((x, y), "turn", (1 - x, y)) for x in (0, 1) for y in (0, 1)] + [((x, 0), "say", (x, 1)) for x in (0, 1)],
)
IGNORING_RELATIONS = Relations.from_pairs([], [], visible=["say"], deterministic=["turn", "say"])


@both_orders
def test_nothing_is_put_off_for_ever(order: Order) -> None:
    """The ignoring problem: D1 and D2 allow to execute `turn` alone in every state."""
    names = IGNORING.transitions
    deadlocks = Reduction(names, IGNORING_RELATIONS, preserve="deadlocks", seed="first")
    assert search(IGNORING, deadlocks, order=order).states == 2
    safe = Reduction(names, IGNORING_RELATIONS, seed="first", visibility="thesis")
    found = search(IGNORING, safe, order=order, invariant=lambda state: state[1] == 0)
    assert found.violation is not None
    assert search(IGNORING, safe, order=order).refused >= 1


@both_orders
def test_a_set_that_the_proviso_refuses_gives_way_to_another(order: Order) -> None:
    """With V, {say} may be executed alone as well, and leads on."""
    found = search(IGNORING, Reduction(IGNORING.transitions, IGNORING_RELATIONS, seed="first"), order=order)
    assert (found.states, found.transitions, found.refused) == (4, 4, 0)
    assert search(IGNORING, order=order).transitions == 6


@both_orders
def test_a_non_deterministic_transition_must_lead_on_with_all_its_outcomes(order: Order) -> None:
    """t may stay in s, or go to x and disable v for good. v does not disable t, so {t} is a stubborn set in s.

    The provisos of Spin want one successor that is not on the stack, or not yet expanded. x is one; v is then ignored
    in s, disabled in x, and the violation in w is lost.
    """
    system = TransitionSystem.from_edges(["s"], [("s", "t", "s"), ("s", "t", "x"), ("s", "v", "w"), ("w", "t", "w")])
    relations = exact_relations(system, observe=lambda state: state == "w")
    assert verify_relations(system, relations, observe=lambda state: state == "w").ok
    for visibility in get_args(Visibility):
        reduction = Reduction(system.transitions, relations, seed="first", visibility=visibility)
        assert next(reduction.choices(["t", "v"], state="s")) == {"t"}
        found = search(system, reduction, order=order, invariant=lambda state: state != "w")
        assert found.violation is not None


@both_orders
def test_temporal_logic_wants_more_of_the_proviso(order: Order) -> None:
    """`wait` goes round, `go` leads on, `ask` is asked, and once asked and gone, it is `answered`.

    {wait, go} leads on by `go`, so no violation is lost. But the run that asks and then waits for ever has to be found,
    too: it shows that not every question is answered.
    """
    here = [(mode, asked) for mode in ("wait", "gone") for asked in ("no", "yes", "answered")]
    edges = [(("wait", asked), "wait", ("wait", asked)) for _, asked in here[:3]]
    edges += [(("wait", asked), "go", ("gone", asked)) for _, asked in here[:3]]
    edges += [((mode, "no"), "ask", (mode, "yes")) for mode in ("wait", "gone")]
    edges += [(("gone", "yes"), "answer", ("gone", "answered"))]
    system = TransitionSystem.from_edges([("wait", "no")], edges)
    names = ["wait", "go", "ask", "answer"]
    system = TransitionSystem(names, system.initial, system.successors)
    relations = Relations.from_pairs(
        dependent=[("wait", "go"), ("go", "wait")],
        can_enable=[("go", "answer"), ("ask", "answer")],
        visible=["ask", "answer"],
        deterministic=names,
    )
    assert verify_relations(system, relations, observe=lambda state: state[1]).ok

    def waits_for_ever(preserve: Preserve) -> bool:
        reduction = Reduction(names, relations, preserve=preserve, seed="first", visibility="thesis")
        graph = search(system, reduction, order=order).graph
        return ("wait", ("wait", "yes")) in graph.get(("wait", "yes"), ())

    assert not waits_for_ever("invariants")
    assert waits_for_ever("ltl")
    assert waits_for_ever("ctl")


def test_paths_and_states_both_serve_the_search() -> None:
    """The necessary transitions of figure 4.2: both forms leave out the same on this net, in both orders."""
    from test_por_stubborn import FIGURE_4_2, NAMES

    forms: tuple[Form, ...] = get_args(Form)
    counts = {
        search(
            FIGURE_4_2.system,
            Reduction(NAMES, FIGURE_4_2.relations(), preserve="deadlocks", form=form, seed="first"),
            order=order,
        ).states
        for form, order in product(forms, ORDERS)
    }
    assert search(FIGURE_4_2.system).states == 11
    assert counts == {9}  # initially {t1, t4}; then what the text says of t5 saves two states


@both_orders
def test_the_search_remembers_what_was_fired(order: Order) -> None:
    """`use` wants x to have happened once, not twice, and y, and competes with `take`.

    At first {take, x} is enough, as x has to come before `use`. After it has, y must not be left out any more.
    """

    def successors(state: tuple[int, int, str], step: str) -> list[tuple[int, int, str]]:
        x, y, end = state
        after = {"take": (x, y, "taken"), "use": (x, y, "used"), "x": (x + 1, y, end), "y": (x, 1, end)}[step]
        able = {"take": end == "", "use": end == "" and (x, y) == (1, 1), "x": x < 2, "y": y == 0}[step]
        return [after] if able else []

    system = TransitionSystem(["take", "x", "y", "use"], [(0, 0, "")], successors)
    relations = Relations.from_pairs(
        dependent=[("use", "take"), ("take", "use"), ("use", "x"), ("x", "use")],
        can_enable=[("x", "use"), ("y", "use")],
        necessary=[("use", "x"), ("use", "y")],
    )
    assert verify_relations(system, relations).ok
    reduction = Reduction(system.transitions, relations, preserve="deadlocks", seed="first")
    assert next(reduction.choices(["take", "x", "y"], fired=[])) == {"take", "x"}
    found = search(system, reduction, order=order)
    assert set(found.deadlocks) == {(2, 1, "taken"), (2, 1, "used")}
    assert found.states < search(system).states


# --- what is refused ----------------------------------------------------------------------------------------------


def test_what_would_be_unsound_is_refused() -> None:
    system = counter(2)
    with pytest.raises(ReductionError, match="may miss a violation"):
        search(system, Reduction(["x", "y"], INDEPENDENT, preserve="deadlocks"), invariant=lambda state: True)
    with pytest.raises(ReductionError, match="other transitions, or for another order"):
        search(system, Reduction(["y", "x"], INDEPENDENT))
    with pytest.raises(ReductionError, match="order='bfs' is unknown"):
        search(system, order="bfs")  # type: ignore[arg-type]


# --- against the full search --------------------------------------------------------------------------------------


@pytest.mark.parametrize("preserve", get_args(Preserve))
@examples(200)
@given(system=st.one_of(systems, systems, systems, tangles()), random=randoms)
def test_the_reduced_search_agrees_with_the_full_one(preserve: Preserve, system: System, random: Random) -> None:
    observe = random_observation(random, system)
    relations = random_relations(random, system, observe)
    full = full_graph(system)
    reduction = Reduction(
        system.transitions,
        relations,
        preserve=preserve,
        form=random.choice(get_args(Form)),
        seed=random.choice(["first", "smallest", lambda transition: -ord(transition)]),
        visibility=random.choice(get_args(Visibility)),
        skip_enabled=random.random() < 0.8,
        limit=random.choice([1, 64]),
    )
    for order in ORDERS:
        found = search(system, reduction, order=order)
        assert found.complete
        assert found.graph.keys() <= full.keys()
        assert set(found.deadlocks) == {state for state, steps in full.items() if not steps}
        if preserve != "deadlocks":
            violated = search(system, reduction, order=order, invariant=lambda state: not observe(state)).violation
            assert (violated is not None) == any(map(observe, full))
            assert violated is None or observe(violated.last)
        if preserve in ("ltl", "ctl"):
            assert same_traces(system.initial, full, found.graph, observe)
        if preserve == "ctl":
            assert same_branching(system.initial, full, found.graph, observe)


@given(systems)
def test_every_deadlock_mode_leaves_out_at_least_as_much_as_stronger_ones(system: System) -> None:
    relations = exact_relations(system, observe=lambda state: state[0])
    for state in full_graph(system):
        sets: list[set[frozenset[str]]] = [
            set(Reduction(system.transitions, relations, preserve=each).choices(system.moves(state), state=state))
            for each in get_args(Preserve)
        ]
        deadlocks, invariants, ltl, ctl = (min(map(len, each), default=99) for each in sets)
        assert deadlocks <= invariants <= ltl <= ctl


def test_the_comparisons_themselves_can_tell() -> None:
    """Of two graphs that differ, in a branch or only in its end, LTL or CTL* must see it."""

    def label(state: State) -> int:
        return state[0]

    once: Steps = {(0, 0): (("a", (1, 0)),), (1, 0): ()}
    twice: Steps = {(0, 0): (("a", (0, 1)),), (0, 1): (("a", (1, 0)),), (1, 0): ()}
    loop: Steps = {(0, 0): (("a", (0, 0)), ("a", (1, 0))), (1, 0): ()}
    assert same_traces([(0, 0)], once, twice, label)
    assert same_branching([(0, 0)], once, twice, label)
    assert not same_traces([(0, 0)], once, loop, label)
    assert not same_branching([(0, 0)], once, loop, label)
    # a.(b + c) and a.b + a.c have the same traces.
    early: Steps = {(0, 0): (("a", (1, 0)), ("a", (1, 1))), (1, 0): (("b", (2, 0)),), (1, 1): (("c", (3, 0)),)}
    late: Steps = {(0, 0): (("a", (1, 0)),), (1, 0): (("b", (2, 0)), ("c", (3, 0)))}
    ends: Steps = {(2, 0): (), (3, 0): ()}
    assert same_traces([(0, 0)], {**early, **ends}, {**late, **ends}, label)
    assert not same_branching([(0, 0)], {**early, **ends}, {**late, **ends}, label)
