from itertools import product

import pytest
from hypothesis import given

from por_support import System, examples, reachable, systems
from quorate.por import PetriNet, ReductionError, TransitionSystem, exact_relations, verify_relations

NAMES = ["t1", "t2", "t3", "t4", "t5"]


def test_a_small_net() -> None:
    net = PetriNet.read("""
        place p1 1
        place p4 1
        place p5 1
        place q4
        place q5
        place q3
        transition t1: p1 ->
        transition t2: p1, q3 ->
        transition t3: q4, q5 -> q3
        transition t4: p4 -> q4
        transition t5: p5 -> q5
    """)
    best = exact_relations(net.system, observe=lambda marking: marking[0])
    pairs = list(product(NAMES, repeat=2))
    assert best.necessary is not None
    assert best.visible is not None
    assert best.to_fire is not None
    assert [pair for pair in pairs if best.dependent(*pair)] == [("t1", "t2"), ("t2", "t1")]
    assert [pair for pair in pairs if best.can_enable(*pair)] == [("t3", "t2"), ("t4", "t3"), ("t5", "t3")]
    needs = [("t2", "t3"), ("t2", "t4"), ("t2", "t5"), ("t3", "t4"), ("t3", "t5")]
    assert [pair for pair in pairs if best.necessary(*pair)] == needs
    assert [each for each in NAMES if best.visible(each)] == ["t1", "t2"]
    assert best.to_fire(net.initial, "t3", "t4")
    ((after,),) = [net.system.outcomes(net.initial, "t4")]
    assert not best.to_fire(after, "t3", "t4")
    assert best.to_fire(after, "t3", "t5")


def test_what_the_arcs_say_is_as_good_as_it_gets_on_that_net() -> None:
    net = PetriNet.read("""
        place p1 1
        place q 0
        transition t1: p1 ->
        transition t2: p1 -> q
        transition t3: q ->
    """)
    best, read = exact_relations(net.system), net.relations()
    for pair in product(["t1", "t2", "t3"], repeat=2):
        assert best.dependent(*pair) == read.dependent(*pair)
        assert best.can_enable(*pair) == read.can_enable(*pair)


def test_dependence_is_one_sided_where_it_can_be() -> None:
    """t may disable v but then so may not v t: the example of the proviso in test_por_search.py."""
    edges = [("s", "t", "s"), ("s", "t", "x"), ("s", "v", "w"), ("w", "t", "w")]
    best = exact_relations(TransitionSystem.from_edges(["s"], edges))
    assert best.dependent("t", "v")
    assert not best.dependent("v", "t")
    assert best.deterministic is not None
    assert [each for each in "tv" if best.deterministic(each)] == ["v"]


def test_a_system_that_is_too_large() -> None:
    endless = TransitionSystem(["up"], [0], lambda state, t: [state + 1])
    with pytest.raises(ReductionError, match="more than 100 states"):
        exact_relations(endless, budget=100)


@given(systems)
def test_they_are_right_and_no_pair_can_be_spared(system: System) -> None:
    best = exact_relations(system, observe=lambda state: state[0])
    assert verify_relations(system, best, observe=lambda state: state[0]).ok


@examples(50)
@given(systems)
def test_they_agree_with_the_definitions_word_by_word(system: System) -> None:
    best = exact_relations(system)
    states = reachable(system)
    moves = {state: system.moves(state) for state in states}
    for a, b in product(system.transitions, repeat=2):
        enables = any(b not in moves[s] and b in moves[x] for s in states for x in moves[s].get(a, ()))
        assert best.can_enable(a, b) == enables
        both = [s for s in states if a != b and a in moves[s] and b in moves[s]]
        disables = any(b not in moves[x] for s in both for x in moves[s][a])
        first_then = {s: {y for x in moves[s][a] for y in moves[x].get(b, ())} for s in both}
        other_then = {s: {y for x in moves[s][b] for y in moves[x].get(a, ())} for s in both}
        assert best.dependent(a, b) == (disables or any(first_then[s] - other_then[s] for s in both))
