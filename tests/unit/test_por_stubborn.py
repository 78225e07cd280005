from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from por_support import State, System, examples, random_relations, randoms, reachable, systems, tangles
from quorate.por import PetriNet, ReductionError, Relations, StubbornSets, TransitionSystem, breaches, exact_relations
from quorate.por.stubborn import Form

# Figure 4.1 of the thesis: t2 enables t3, which disables t1.
FIGURE_4_1 = TransitionSystem.from_edges(
    ["s"], [("s", "t1", "s1"), ("s1", "t2", "s12"), ("s", "t2", "s2"), ("s2", "t1", "s12"), ("s2", "t3", "s3")]
)
RELATIONS_4_1 = Relations.from_pairs(dependent=[("t3", "t1"), ("t1", "t3")], can_enable=[("t2", "t3")])

# Figure 4.2, as far as the text tells it: t1 and t2 compete for a token, t4 and t5 both have to come before t3.
FIGURE_4_2 = PetriNet.read("""
    place p1 1
    place p4 1
    place p5 1
    place q4
    place q5
    place q3
    place end
    transition t1: p1 -> end
    transition t2: p1, q3 -> end
    transition t3: q4, q5 -> q3
    transition t4: p4 -> q4
    transition t5: p5 -> q5
""")
DEPENDENT = [("t1", "t2"), ("t2", "t1")]
CAN_ENABLE = [("t3", "t2"), ("t4", "t3"), ("t5", "t3")]
NECESSARY = [("t3", "t4"), ("t3", "t5")]  # the text has the two the other way round, against its own definition 17
RELATIONS_4_2 = Relations.from_pairs(DEPENDENT, CAN_ENABLE, NECESSARY)
NAMES = ["t1", "t2", "t3", "t4", "t5"]
ENABLED = ["t1", "t4", "t5"]


def entry(transition: str, *necessary: str) -> tuple[str, frozenset[str]]:
    return transition, frozenset(necessary)


# --- the examples of the thesis -----------------------------------------------------------------------------------


def test_figure_4_1() -> None:
    """Exploring t2 alone in s is enough; t1 alone is not, because t2 may lead to t3, which t1 depends on."""
    sets = StubbornSets(FIGURE_4_1.transitions, RELATIONS_4_1)
    assert sets.stubborn_set("t2", ["t1", "t2"]) == {"t2"}
    assert sets.stubborn_set("t1", ["t1", "t2"]) == {"t1", "t2"}
    assert breaches(FIGURE_4_1, "s", {"t2"}) == []
    assert {each.condition for each in breaches(FIGURE_4_1, "s", {"t1"})} >= {"D2", "strong"}


def test_forward_enable_sets_of_figure_4_2() -> None:
    sets = StubbornSets(NAMES, RELATIONS_4_2)
    assert sets.forward_enable_set("t4") == {entry("t4"), entry("t3", "t4", "t5"), entry("t2", "t4", "t5")}
    assert sets.forward_enable_set("t5") == {entry("t5"), entry("t3", "t4", "t5"), entry("t2", "t4", "t5")}
    assert sets.forward_enable_set("t3") == {entry("t3"), entry("t2")}
    assert sets.forward_enable_set("t1") == {entry("t1")}
    assert [each for each in NAMES if sets.forward_enable_index(each, "t1")] == ["t2", "t3", "t4", "t5"]
    assert [each for each in NAMES if sets.forward_enable_index(each, "t4")] == []


def test_stubborn_set_of_figure_4_2() -> None:
    """LPOR(t1, s, ()) = {t1, t4}: t5 need not join, as t3 has to wait for t4 anyway."""
    sets = StubbornSets(NAMES, RELATIONS_4_2)
    assert sets.stubborn_set("t1", ENABLED, fired=[]) == {"t1", "t4"}
    assert breaches(FIGURE_4_2.system, FIGURE_4_2.initial, {"t1", "t4"}) == []


def test_figure_4_2_without_necessity() -> None:
    sets = StubbornSets(NAMES, replace(RELATIONS_4_2, necessary=None))
    assert sets.stubborn_set("t1", ENABLED) == {"t1", "t4", "t5"}
    assert sets.stubborn_set("t4", ENABLED) == {"t4"}


def test_figure_4_2_with_the_pairs_as_printed_gains_nothing() -> None:
    printed = Relations.from_pairs(DEPENDENT, CAN_ENABLE, [("t4", "t3"), ("t5", "t3")])
    sets = StubbornSets(NAMES, printed)
    assert sets.forward_enable_set("t4") == {entry("t4"), entry("t3"), entry("t2")}
    assert sets.stubborn_set("t1", ENABLED, fired=[]) == {"t1", "t4", "t5"}


def test_a_necessary_transition_that_was_fired_counts_no_more() -> None:
    sets = StubbornSets(NAMES, RELATIONS_4_2)
    assert sets.stubborn_set("t1", ["t1", "t5"], fired=["t4"]) == {"t1", "t5"}


def test_figure_4_2_state_by_state() -> None:
    """Algorithms 4 and 5 on the net's own relations, which ask the marking what is still to be fired."""
    sets = StubbornSets(NAMES, FIGURE_4_2.relations())
    assert sets.form == "state"
    assert sets.forward_enable_set("t4") == {
        ("t4", frozenset()),
        ("t3", frozenset([("t3", "t4"), ("t3", "t5")])),
        ("t2", frozenset([("t3", "t4"), ("t3", "t5"), ("t2", "t3")])),
    }
    assert sets.stubborn_set("t1", ENABLED, state=FIGURE_4_2.initial) == {"t1", "t4"}


def test_what_has_to_be_fired_again() -> None:
    """Appendix B.1: t2 is on the path already, but must come once more. Only the state form can know."""
    net = PetriNet.read("""
        place free 1
        place a 2
        place b 2
        place made
        place seen
        transition use: free, 2 made, 2 seen -> free
        transition take: free ->
        transition make: a -> made
        transition see: b -> seen
    """)
    ((after,),) = [net.system.outcomes(net.initial, "make")]
    enabled = list(net.system.moves(after))
    relations = net.relations()
    by_path = StubbornSets(list(net.takes), relations, form="path")
    by_state = StubbornSets(list(net.takes), relations, form="state")
    assert by_path.stubborn_set("take", enabled, fired=["make"]) == {"take", "make", "see"}
    assert by_state.stubborn_set("take", enabled, state=after) == {"take", "make"}
    assert breaches(net.system, after, {"take", "make"}) == []


def test_what_is_enabled_has_nothing_to_wait_for() -> None:
    """By definition 22 `to_fire` is False there; a function that forgets it does no harm, since it is not asked."""
    relations = Relations[str](
        dependent=lambda a, b: (a, b) == ("late", "t"),
        can_enable=lambda a, b: (a, b) in [("x", "now"), ("y", "now"), ("now", "late")],
        to_fire=lambda state, a, b: True,
        candidates=lambda a, b: a == "now" and b in "xy",
    )
    sets = StubbornSets(["t", "x", "y", "now", "late"], relations)
    assert sets.stubborn_set("t", ["t", "x", "y"], state=None) == {"t", "x"}
    assert sets.stubborn_set("t", ["t", "x", "y", "now"], state=None) == {"t", "x", "y", "now"}


# --- the parts of the algorithm -----------------------------------------------------------------------------------


def test_every_way_of_enabling_counts() -> None:
    """`start` leads to `end` through x, which waits for n1, or through y, for which n2 has been fired already."""
    relations = Relations.from_pairs(
        dependent=[("end", "t")],
        can_enable=[("n1", "x"), ("n2", "y"), ("start", "x"), ("start", "y"), ("x", "end"), ("y", "end")],
        necessary=[("x", "n1"), ("y", "n2")],
    )
    sets = StubbornSets(["t", "n1", "n2", "start", "x", "y", "end"], relations)
    assert sets.stubborn_set("t", ["t", "n1", "start"], fired=["n2"]) == {"t", "n1", "start"}
    # With n2 not yet fired, n1 and n2 keep both ways shut, whichever of them is looked at first.
    assert sets.stubborn_set("t", ["t", "n1", "n2", "start"], fired=[]) == {"t", "n1", "n2"}


def test_an_enabled_transition_needs_nobody_to_enable_it() -> None:
    """t depends on `now`, which `also` can enable; but it is enabled, joins by itself, and `also` may stay outside."""
    relations = Relations.from_pairs(dependent=[("now", "t")], can_enable=[("also", "now")])
    names = ["t", "now", "also"]
    assert StubbornSets(names, relations).stubborn_set("t", names) == {"t", "now"}
    assert StubbornSets(names, relations, skip_enabled=False).stubborn_set("t", names) == set(names)
    assert StubbornSets(names, relations).stubborn_set("t", ["t", "also"]) == {"t", "also"}


def test_the_transitive_shortcut_is_taken_only_where_dependence_is_transitive() -> None:
    chain = Relations.from_pairs([("b", "a"), ("c", "b")], [])
    assert not StubbornSets("abc", chain).transitive
    assert StubbornSets("abc", chain).stubborn_set("a", "abc") == set("abc")
    clique = Relations.from_pairs([(x, y) for x in "abc" for y in "abc"], [])
    assert StubbornSets("abcd", clique).transitive
    assert not StubbornSets("abcd", clique, transitive_shortcut=False).transitive
    assert StubbornSets("abcd", clique).stubborn_set("a", "abcd") == set("abc")


@pytest.mark.parametrize("form", ["path", "state"])
def test_the_shortcut_is_taken_in_both_forms(form: Form) -> None:
    """c can enable a, on which b depends; but b joined because of a, so nothing has to be looked for on its behalf.

    Line 5.10 as printed says `if` where line 3.10 says `else if`. As b is in its own forward-enable set, b would be
    taken up after all, and the shortcut of line 5.9 would never save anything.
    """
    relations = Relations.from_pairs(dependent=[("a", "b"), ("b", "a")], can_enable=[("c", "a")])
    short = StubbornSets("abc", relations, form=form, skip_enabled=False)
    long = StubbornSets("abc", relations, form=form, skip_enabled=False, transitive_shortcut=False)
    assert short.stubborn_set("a", "abc") == {"a", "b"}
    assert long.stubborn_set("a", "abc") == {"a", "b", "c"}


# --- what is refused ----------------------------------------------------------------------------------------------


def test_a_disabled_initial_transition_is_refused() -> None:
    """Theorem 9 says "for all t'"; around a disabled one neither D1 nor D2 holds."""
    sets = StubbornSets(NAMES, RELATIONS_4_2)
    with pytest.raises(ReductionError, match="seed='t2' is not enabled"):
        sets.stubborn_set("t2", ENABLED, fired=[])
    assert {each.condition for each in breaches(FIGURE_4_2.system, FIGURE_4_2.initial, {"t2"})} >= {"D1", "D2"}


def test_what_necessity_needs_to_know_has_to_be_said() -> None:
    with pytest.raises(ReductionError, match="the path form needs `fired`"):
        StubbornSets(NAMES, RELATIONS_4_2).stubborn_set("t1", ENABLED)
    with pytest.raises(ReductionError, match="the state form needs `state`"):
        StubbornSets(NAMES, FIGURE_4_2.relations()).stubborn_set("t1", ENABLED)
    with pytest.raises(ReductionError, match="form='state' needs `to_fire`"):
        StubbornSets(NAMES, RELATIONS_4_2, form="state")
    with pytest.raises(ReductionError, match="form='both' is unknown"):
        StubbornSets(NAMES, RELATIONS_4_2, form="both")  # type: ignore[arg-type]
    with pytest.raises(ReductionError, match="no transition='t9'"):
        StubbornSets(NAMES, RELATIONS_4_2).stubborn_set("t1", ["t1", "t9"], fired=[])
    with pytest.raises(ReductionError, match="no transition='t9'"):
        StubbornSets(NAMES, RELATIONS_4_2).forward_enable_set("t9")


# --- against the definitions --------------------------------------------------------------------------------------


def some_path_to(system: System) -> Iterable[tuple[State, frozenset[str]]]:
    """Each state with the transitions on one path to it, and not always a shortest."""
    pending: list[tuple[State, frozenset[str]]] = [(state, frozenset()) for state in system.initial]
    known: dict[State, frozenset[str]] = {}
    while pending:
        state, fired = pending.pop()
        if state not in known:
            known[state] = fired
            pending += [(x, fired | {each}) for each, outcomes in system.moves(state).items() for x in outcomes]
    return known.items()


@examples(200)
@given(st.one_of(systems, systems, tangles()), randoms)
def test_every_set_is_stubborn_by_definition(system: System, random: Random) -> None:
    """D1, D2, strong, commutativity, and D3, for right relations of any quality and from every initial transition."""
    relations = random_relations(random, system)
    forms: list[Form] = ["path", "state"]
    for form in forms:
        sets = StubbornSets(
            system.transitions,
            relations,
            form=form,
            transitive_shortcut=random.random() < 0.8,
            skip_enabled=random.random() < 0.8,
            limit=random.choice([1, 64]),
        )
        for state, fired in some_path_to(system):
            enabled = list(system.moves(state))
            for seed in enabled:
                chosen = sets.stubborn_set(seed, enabled, fired=fired, state=state)
                assert seed in chosen
                assert breaches(system, state, chosen) == []


@given(systems)
def test_the_path_form_is_the_state_form_that_looks_at_the_path(system: System) -> None:
    """Theorem 5 is a special case of theorem 8: necessary and not yet fired implies to be fired."""
    best = exact_relations(system)
    fired_before = dict(some_path_to(system))
    looking = replace(best, to_fire=lambda state, a, b: b not in fired_before[state], candidates=best.necessary)
    by_path = StubbornSets(system.transitions, best, form="path")
    by_state = StubbornSets(system.transitions, looking, form="state")
    for state, fired in fired_before.items():
        enabled = list(system.moves(state))
        for seed in enabled:
            chosen = by_path.stubborn_set(seed, enabled, fired=fired)
            assert chosen == by_state.stubborn_set(seed, enabled, state=state)


@given(systems, randoms)
def test_refinements_never_make_a_set_larger(system: System, random: Random) -> None:
    plain = replace(random_relations(random, system), necessary=None, to_fire=None, candidates=None)
    # Dependence within groups of transitions is transitive, so that the shortcut is taken now and then.
    group = {each: random.randrange(3) for each in system.transitions}
    grouped = replace(plain, dependent=lambda a, b: plain.dependent(a, b) or group[a] == group[b])
    for relations in (plain, grouped):
        best = StubbornSets(system.transitions, relations)
        long = StubbornSets(system.transitions, relations, transitive_shortcut=False)
        thesis = StubbornSets(system.transitions, relations, skip_enabled=False)
        for state in reachable(system):
            enabled = list(system.moves(state))
            for seed in enabled:
                chosen = best.stubborn_set(seed, enabled)
                assert chosen == long.stubborn_set(seed, enabled)
                assert chosen <= thesis.stubborn_set(seed, enabled)
