import pytest

from quorate.cli.sizes import number, seconds, size


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("512M", 512 * 10**6), ("4GB", 4 * 10**9), ("4g", 4 * 10**9), ("1.5GiB", 3 * 2**29), ("100", 100), ("2 kb", 2000)],
)
def test_sizes(text: str, bytes_: int) -> None:
    assert size(text) == bytes_


def test_counts() -> None:
    assert [number(text) for text in ("1000000", "1_000_000", "1,000,000", "10M", "1e6")] == [10**6] * 3 + [
        10**7,
        10**6,
    ]


def test_times() -> None:
    assert [seconds(text) for text in ("30", "0.5", "10m", "2h", "45s")] == [30, 0.5, 600, 7200, 45]


@pytest.mark.parametrize("text", ["", "GB", "-1", "0", "4XB", "many", "1.2.3"])
def test_nonsense_is_refused_with_an_example(text: str) -> None:
    for parse in (size, number, seconds):
        with pytest.raises(ValueError, match="write for example"):
            parse(text)
