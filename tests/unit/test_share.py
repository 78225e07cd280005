"""What a closure may cost beside a search: more where that is long, little where its end is near, or none in sight."""

from quorate import Message, Pid, Process, System, check, invariant, on, step
from quorate.reduce.reductions import FIRST_BEHAVIOURS
from quorate.reduce.share import LONG, MANY, share


def test_a_long_search_pays_as_much_as_it_costs_itself() -> None:
    assert share(3_000_000, 100_000_000, 20) == 20_000


def test_a_search_that_is_nearly_over_pays_little() -> None:
    assert share(3_000_000, 3_000_000, 20) == 2_857


def test_whoever_had_a_chance_gets_less() -> None:
    assert share(150 * MANY, 10**12, 20) == MANY
    assert share(300 * MANY, 10**12, 20) == MANY + MANY // 10


def test_what_counts_without_an_end_gets_next_to_nothing() -> None:
    assert share(3_000_000, 100_000_000, LONG + 1) == 606


class Tick(Message): ...


class Counter(Process):
    """Counts at most three ticks in any run, but the closure does not know that they are consumed."""

    seen: int = 0

    @on(Tick)
    def count(self, m: Tick) -> None:
        self.seen += 1


class Ticker(Process):
    to: Pid
    left: int = 3

    @step(when=lambda self: self.left > 0)
    def tick(self) -> None:
        self.left -= 1
        self.send(self.to, Tick())


class Ticks(System):
    pairs: int = 5

    def build(self) -> None:
        for _ in range(self.pairs):
            self.spawn(Ticker, to=self.spawn(Counter))

    @invariant
    def few(self) -> bool:
        return all(counter.seen <= 3 for counter in self[Counter])


def test_a_counter_that_ends_in_the_search_alone() -> None:
    found = check(Ticks)
    assert found.verdict == "holds"
    assert not found.reductions["closure"]["complete"]
    assert found.python_calls < 1.2 * FIRST_BEHAVIOURS
    assert found.states == 13**5
