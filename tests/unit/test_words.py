import pytest

from quorate.base.words import count, duration, memory, names, rate


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([], ""),
        (["acceptor2"], "acceptor2"),
        (["acceptor1", "acceptor2"], "acceptor1, acceptor2"),
        (["acceptor1", "acceptor2", "acceptor3"], "acceptor1..3"),
        (["acceptor1", "acceptor3", "acceptor4", "acceptor5", "learner1"], "acceptor1, acceptor3..5, learner1"),
        (["node9", "node10", "node11"], "node9..11"),
        (["Watch", "Watch", "Watch"], "Watch (3 times)"),
        (["acceptor2", "acceptor2"], "acceptor2 (twice)"),
    ],
)
def test_names(given: list[str], shown: str) -> None:
    assert names(given) == shown


def test_count() -> None:
    assert [count(n, "state") for n in (0, 1, 2, 12345)] == ["0 states", "1 state", "2 states", "12,345 states"]


def test_memory() -> None:
    assert [memory(n) for n in (0, 999, 1000, 43_000_000, 999_600_000, 2.5e12)] == [
        "0 bytes",
        "999 bytes",
        "1.0 KB",
        "43.0 MB",
        "1.0 GB",
        "2.5 TB",
    ]


def test_duration() -> None:
    assert [duration(s) for s in (0.004, 0.25, 9.994, 59.9, 59.96, 192, 7260)] == [
        "4 ms",
        "0.25 s",
        "9.99 s",
        "59.9 s",
        "1 min 0 s",
        "3 min 12 s",
        "2 h 1 min",
    ]


def test_rate() -> None:
    assert [rate(n) for n in (12.4, 4020, 3_210_000)] == ["12 states/s", "4,020 states/s", "3.2 million states/s"]
