from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from por_support import randoms
from quorate.por import PetriNet, Reduction, ReductionError, breaches, exact_relations, search, verify_relations

PRODUCER = """
    place idle 2                        # a place, and how many tokens it holds at the start
    place busy
    transition start: idle -> busy
    transition stop:  2 busy -> 2 idle  # arcs with a weight
    transition leave: busy ->
    transition join:  -> idle
"""


def test_reading() -> None:
    net = PetriNet.read(PRODUCER)
    assert net.places == ("idle", "busy")
    assert net.initial == (2, 0)
    assert net.takes == {"start": (1, 0), "stop": (0, 2), "leave": (0, 1), "join": (0, 0)}
    assert net.gives == {"start": (0, 1), "stop": (2, 0), "leave": (0, 0), "join": (1, 0)}
    assert net.show((2, 1)) == "2 idle, busy"
    assert net.show((0, 0)) == "empty"


def test_places_may_come_after_the_transitions_and_arcs_add_up() -> None:
    net = PetriNet.read("transition t: p, p -> q, 2 q\nplace p 3\nplace q")
    assert (net.takes["t"], net.gives["t"]) == ((2, 0), (0, 3))


def test_loading(tmp_path: Path) -> None:
    file = tmp_path / "small.net"
    file.write_text("place p 1\ntransition t: p -> pp\n")
    with pytest.raises(ReductionError, match="small.net:2: .*no place='pp'"):
        PetriNet.load(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("place p\nplaec q", "<net>:2: .*a line starts with 'plaec'"),
        ("place", "place '' cannot be read"),
        ("place p many", "place 'p many' cannot be read"),
        ("place p 1\nplace p 2", "place='p' is declared twice"),
        ("place p\ntransition t p -> p", "transition 't p -> p' cannot be read"),
        ("place p\ntransition t: p", "transition 't: p' cannot be read"),
        ("place p\ntransition t: p ->\ntransition t: p ->", "transition='t' is declared twice"),
        ("place p\ntransition t: 1 2 p ->", "arc '1 2 p' cannot be read"),
        ("place p\ntransition t: p,, p ->", "arc '' cannot be read"),
        ("place queue\ntransition t: queeu ->", "<net>:2: .*no place='queeu'(.|\n)*did you mean `queue`"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ReductionError, match=message):
        PetriNet.read(text)


def test_watching_a_place_that_is_not_there() -> None:
    with pytest.raises(ReductionError, match="no place='ilde' to watch(.|\n)*did you mean `idle`"):
        PetriNet.read(PRODUCER).relations(watch=["ilde"])


def test_a_place_that_is_only_read_makes_nobody_dependent() -> None:
    net = PetriNet.read(
        "place lock 1\nplace a 1\nplace b 1\ntransition t: lock, a -> lock\ntransition u: lock, b -> lock"
    )
    relations = net.relations()
    assert not relations.dependent("t", "u")
    assert not relations.can_enable("t", "u")
    assert search(net.system).states == 4
    assert search(net.system, Reduction(["t", "u"], relations, preserve="deadlocks")).states == 3


def test_a_transition_that_leaves_enough_disables_nobody() -> None:
    relations = PetriNet.read("place p 3\ntransition t: 2 p -> p\ntransition u: p -> p\ntransition v: p ->").relations()
    assert not relations.dependent("t", "u")
    assert relations.dependent("t", "v")
    assert relations.dependent("v", "t")
    assert relations.dependent("u", "v")


def test_one_deadlock_of_many_independent_parts() -> None:
    """The textbook case: n parts of two steps each have 3^n states, of which one order is enough."""
    parts = 6
    text = "".join(
        f"place a{i} 1\nplace b{i}\nplace c{i}\ntransition x{i}: a{i} -> b{i}\ntransition y{i}: b{i} -> c{i}\n"
        for i in range(parts)
    )
    net = PetriNet.read(text)
    full = search(net.system)
    reduced = search(net.system, Reduction(list(net.takes), net.relations(), preserve="deadlocks"))
    assert (full.states, reduced.states) == (3**parts, 2 * parts + 1)
    assert full.deadlocks == reduced.deadlocks


def test_philosophers() -> None:
    count = 5
    text = "".join(f"place fork{i} 1\nplace think{i} 1\nplace left{i}\nplace eat{i}\n" for i in range(count))
    for i in range(count):
        other = f"fork{(i + 1) % count}"
        text += f"transition take_left{i}: think{i}, fork{i} -> left{i}\n"
        text += f"transition take_right{i}: left{i}, {other} -> eat{i}\n"
        text += f"transition put{i}: eat{i} -> think{i}, fork{i}, {other}\n"
    net = PetriNet.read(text)
    full = search(net.system)
    reduced = search(net.system, Reduction(list(net.takes), net.relations(), preserve="deadlocks"))
    assert full.states == 82
    assert reduced.states < full.states
    assert set(full.deadlocks) == set(reduced.deadlocks)
    assert [net.show(each) for each in full.deadlocks] == ["left0, left1, left2, left3, left4"]


def random_net(random: Random) -> PetriNet:
    """A net that never gains tokens, so it stays finite."""
    places = [f"p{i}" for i in range(random.randint(2, 5))]
    text = "".join(f"place {place} {random.choice([0, 1, 1, 2])}\n" for place in places)
    for number in range(random.randint(2, 5)):
        takes = [random.choice(places) for _ in range(random.choice([1, 1, 2, 2, 3]))]
        gives = [random.choice(places) for _ in range(random.randint(0, len(takes)))]
        text += f"transition t{number}: {', '.join(takes)} -> {', '.join(gives)}\n"
    return PetriNet.read(text)


@given(randoms)
def test_relations_read_off_the_arcs_are_right(random: Random) -> None:
    net = random_net(random)
    watch = [random.choice(net.places)]
    place = net.places.index(watch[0])
    relations = net.relations(watch=watch)
    assert verify_relations(net.system, relations, observe=lambda marking: marking[place]).wrong == ()
    best = exact_relations(net.system)
    for pair in product(net.takes, repeat=2):
        assert relations.dependent(*pair) or not best.dependent(*pair)
    full = search(net.system)
    tokens = random.randint(0, 2)
    deadlocks = Reduction(list(net.takes), relations, preserve="deadlocks")
    safety = Reduction(list(net.takes), relations)
    for order in ("depth-first", "breadth-first"):
        assert set(search(net.system, deadlocks, order=order).deadlocks) == set(full.deadlocks)
        reduced = search(net.system, safety, order=order, invariant=lambda marking: marking[place] <= tokens)
        assert reduced.ok == all(marking[place] <= tokens for marking in full.graph)
    for marking in list(full.graph)[:5]:
        enabled = list(net.system.moves(marking))
        for seed in enabled:
            chosen = safety.sets.stubborn_set(seed, enabled, state=marking)
            assert breaches(net.system, marking, chosen) == []
