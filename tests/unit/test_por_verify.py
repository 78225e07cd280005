from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given

from por_support import System, examples, random_relations, randoms, reachable, systems
from quorate.por import (
    PetriNet,
    Reduction,
    RelationError,
    Relations,
    TransitionSystem,
    exact_relations,
    search,
    verify_relations,
)
from quorate.por.verify import Claim

QUEUE = PetriNet.read("""
    place a 1
    place b 1
    place q
    transition put: a -> q
    transition get: q ->
    transition idle: b -> b
    transition steal: b, q ->
""")
RIGHT = QUEUE.relations(watch=["q"])


def without(relation: Callable[[str, str], bool], *pair: str) -> Callable[[str, str], bool]:
    return lambda first, second: relation(first, second) and (first, second) != pair


def also(relation: Callable[[str, str], bool] | None, *pair: str) -> Callable[[str, str], bool]:
    return lambda first, second: (relation is not None and relation(first, second)) or (first, second) == pair


def test_right_relations_pass() -> None:
    report = verify_relations(QUEUE.system, RIGHT, observe=lambda marking: marking[2])
    assert report.ok
    assert report.complete
    assert str(report) == f"no claim is wrong in {len(reachable(QUEUE.system))} states"
    report.raise_if_wrong()


def wrong(relations: Relations[str]) -> list[tuple[Claim, tuple[str, str]]]:
    report = verify_relations(QUEUE.system, relations, observe=lambda marking: marking[2])
    return [(each.claim, each.pair) for each in report.wrong]


def test_each_wrong_claim_is_found() -> None:
    assert wrong(replace(RIGHT, can_enable=without(RIGHT.can_enable, "put", "get"))) == [("can_enable", ("put", "get"))]
    assert wrong(replace(RIGHT, dependent=without(RIGHT.dependent, "get", "steal"))) == [
        ("dependent", ("get", "steal"))
    ]
    assert wrong(replace(RIGHT, necessary=also(RIGHT.necessary, "idle", "put"))) == [("necessary", ("idle", "put"))]
    assert wrong(replace(RIGHT, visible=lambda t: t == "put")) == [
        ("visible", ("get", "get")),
        ("visible", ("steal", "steal")),
    ]
    never = replace(RIGHT, to_fire=lambda marking, first, second: True)
    assert wrong(never) == []  # q is filled once only, so before it is `put` must be fired, and afterwards never
    idle = replace(never, candidates=lambda first, second: (first, second) == ("get", "idle"))
    assert wrong(idle) == [("to_fire", ("get", "idle"))]


def test_the_report_shows_the_state_and_the_way_there() -> None:
    report = verify_relations(QUEUE.system, replace(RIGHT, dependent=without(RIGHT.dependent, "get", "steal")))
    (found,) = report.wrong
    assert found.state == (0, 1, 1)
    assert found.run.transitions == ("put",)
    assert str(report) == (
        "dependent(get, steal) is False, but the first disables the second\n"
        "  in state (0, 1, 1), reached by put\n"
        "1 wrong in 4 states"
    )
    with pytest.raises(RelationError, match="the relations are wrong:\ndependent\\(get, steal\\)") as caught:
        report.raise_if_wrong()
    assert caught.value.code == "Q800"


def test_outcomes_of_a_deterministic_transition() -> None:
    system = TransitionSystem.from_edges([0], [(0, "a", 1), (0, "a", 2)])
    report = verify_relations(system, Relations.from_pairs([], [], deterministic=["a"]))
    (found,) = report.wrong
    assert str(found) == "deterministic(a) is True, but it has several outcomes\n  in state 0, an initial state"


def test_figure_4_2_as_printed() -> None:
    """The text writes net = {(t4, t3), (t5, t3)}; by definition 17 that says t4 and t5 have to wait for t3."""
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
    dependent, can_enable = [("t1", "t2"), ("t2", "t1")], [("t3", "t2"), ("t4", "t3"), ("t5", "t3")]
    printed = Relations.from_pairs(dependent, can_enable, necessary=[("t4", "t3"), ("t5", "t3")])
    meant = Relations.from_pairs(dependent, can_enable, necessary=[("t3", "t4"), ("t3", "t5")])
    assert [each.pair for each in verify_relations(net.system, printed).wrong] == [("t4", "t3"), ("t5", "t3")]
    assert verify_relations(net.system, meant).ok


def test_resends_on_a_set_channel() -> None:
    """Rule 1 of docs/soundness.md: lemma 7 of the thesis is about multisets. B sends m twice, A counts what it takes.

    State: (how often B sent, whether m is in the channel, what A counted). Taking m between the two sendings and after
    both differ, so `send` depends on `take`; the thesis has only the other half, and a deadlock is lost.
    """

    def successors(state: tuple[int, int, int], transition: str) -> list[tuple[int, int, int]]:
        sent, pending, count = state
        if transition == "send":
            return [(sent + 1, 1, count)] if sent < 2 else []
        return [(sent, 0, count + 1)] if pending else []

    system = TransitionSystem(["send", "take"], [(0, 0, 0)], successors)
    thesis = Relations.from_pairs(dependent=[("send", "take")], can_enable=[("send", "take"), ("send", "send")])
    (found,) = verify_relations(system, thesis).wrong
    assert found.pair == ("take", "send")
    assert "in this order they lead to (2, 1, 1), in the other they cannot" in str(found)
    assert set(search(system).deadlocks) == {(2, 0, 1), (2, 0, 2)}
    reduced = search(system, Reduction(system.transitions, thesis, preserve="deadlocks"))
    assert set(reduced.deadlocks) == {(2, 0, 1)}


def test_a_budget_is_kept_and_said() -> None:
    steps = {"up": [1], "down": [-1], "never": []}
    endless = TransitionSystem(list(steps), [0], lambda state, t: [state + each for each in steps[t]])
    report = verify_relations(endless, Relations.from_pairs([], []), budget=20)
    assert report.ok
    assert not report.complete
    assert str(report) == "no claim is wrong in the first 20 states"
    needs = verify_relations(
        endless, Relations.from_pairs([], [], necessary=[("up", "down"), ("never", "down")]), budget=20
    )
    assert [(each.claim, each.state) for each in needs.wrong] == [("necessary", 0)]


@examples(150)
@given(systems, randoms)
def test_every_pair_that_is_missing_is_found(system: System, random: Random) -> None:
    best = exact_relations(system)
    pairs = list(product(system.transitions, repeat=2))
    dependent, enabling = ([pair for pair in pairs if holds(*pair)] for holds in (best.dependent, best.can_enable))
    lost = set(random.sample(dependent, min(1, len(dependent))))
    lost_too = set(random.sample(enabling, min(1, len(enabling))))
    worse = replace(
        best,
        dependent=lambda a, b: best.dependent(a, b) and (a, b) not in lost,
        can_enable=lambda a, b: best.can_enable(a, b) and (a, b) not in lost_too,
    )
    report = verify_relations(system, worse)
    assert {each.pair for each in report.wrong if each.claim == "dependent"} == lost
    assert {each.pair for each in report.wrong if each.claim == "can_enable"} == lost_too
    for each in report.wrong:
        assert each.run.initial in system.initial
        assert each.run.last == each.state
        state = each.run.initial
        for transition, after in each.run.steps:
            assert after in system.moves(state)[transition]
            state = after


@given(systems, randoms)
def test_every_necessity_that_is_not_is_found(system: System, random: Random) -> None:
    right = random_relations(random, system)
    best = exact_relations(system)
    assert best.necessary is not None
    assert best.to_fire is not None
    fake = random.choice(list(product(system.transitions, repeat=2)))
    report = verify_relations(system, replace(right, necessary=also(right.necessary, *fake)))
    assert [each.pair for each in report.wrong] == ([] if best.necessary(*fake) else [fake])

    always = replace(right, to_fire=lambda state, a, b: True, candidates=lambda a, b: (a, b) == fake)
    states = [state for state in reachable(system) if fake[0] not in system.moves(state)]
    refuted = any(not best.to_fire(state, *fake) for state in states)
    assert [each.pair for each in verify_relations(system, always).wrong] == ([fake] if refuted else [])
