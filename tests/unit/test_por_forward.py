from random import Random

from hypothesis import given

from por_support import randoms
from quorate.por.forward import forward_enable_set
from quorate.por.system import bits

PLENTY = 64


def test_without_necessity_it_is_what_can_be_reached() -> None:
    enables = [0b0010, 0b0100, 0b0001, 0b0000]
    assert forward_enable_set(0, enables, [0] * 4, PLENTY) == {0: (0,), 1: (0,), 2: (0,)}
    assert forward_enable_set(3, enables, [0] * 4, PLENTY) == {3: (0,)}


def test_what_is_necessary_on_the_way_is_carried_on() -> None:
    """Line 2.12: if t can enable t1, what was necessary for t is necessary for t1 by this way."""
    assert forward_enable_set(0, [0b010, 0b100, 0], [0, 0b01, 0b10], PLENTY) == {0: (0,), 1: (0b01,), 2: (0b11,)}


def test_each_way_has_an_entry_of_its_own() -> None:
    """0 enables 3 through 1 or through 2, for which different things are necessary."""
    enables = [0b0110, 0b1000, 0b1000, 0]
    assert forward_enable_set(0, enables, [0, 0b01, 0b10, 0], PLENTY)[3] == (0b01, 0b10)


def test_an_entry_that_another_covers_is_left_out() -> None:
    """0 enables 2 directly and through 1: the direct way demands everything that the other does."""
    assert forward_enable_set(0, [0b110, 0b100, 0], [0, 0b1, 0], PLENTY)[2] == (0,)


def test_too_many_entries_give_way_to_one_without_necessity() -> None:
    enables = [0b01110, 0b10000, 0b10000, 0b10000, 0]
    tokens = [0, 0b001, 0b010, 0b100, 0]
    assert forward_enable_set(0, enables, tokens, 3)[4] == (0b001, 0b010, 0b100)
    assert forward_enable_set(0, enables, tokens, 2)[4] == (0,)


def literally(start: int, enables: list[int], tokens: list[int]) -> set[tuple[int, int]]:
    """Lines 2.5 to 2.15 as they are written."""
    now = {(start, 0)}
    while True:
        new = now | {(each, needs | tokens[each]) for last, needs in now for each in bits(enables[last])}
        if new == now:
            return now
        now = new


@given(randoms)
def test_it_is_what_algorithm_2_computes_but_for_covered_entries(random: Random) -> None:
    enables = [random.getrandbits(5) & random.getrandbits(5) for _ in range(5)]
    tokens = [random.getrandbits(5) & random.getrandbits(5) for _ in range(5)]
    entries = literally(0, enables, tokens)
    smallest = {
        (each, needs)
        for each, needs in entries
        if not any(each == other and less != needs and less & ~needs == 0 for other, less in entries)
    }
    computed = forward_enable_set(0, enables, tokens, PLENTY)
    assert {(each, needs) for each, all in computed.items() for needs in all} == smallest
