import io
from dataclasses import replace
from math import inf

from quorate.cli.progress import ProgressLine, line
from quorate.results.estimate import Estimate
from quorate.results.result import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(seconds: float = 2.0, states: int = 3_456_789) -> Progress:
    return Progress(states, 9_000_000, 120_000, 17, seconds, 91_000_000, "search")


def test_the_line_has_states_rate_frontier_depth_and_memory() -> None:
    assert line(progress()) == (" 0:02  search     3,456,789 states    1.7M/s  frontier 120.0k  depth  17  91.0 MB")


def test_the_line_has_the_share_of_each_worker() -> None:
    def shown(*shares: int) -> str:
        return line(replace(progress(), shares=shares)).removeprefix(line(progress()))

    assert shown(30, 10) == "  shares 75 25%"
    assert shown(1, 1, 1, 1) == "  shares 25 25 25 25%"
    assert shown(*[9] * 9, 19) == "  10 workers, 9 to 19%"
    assert shown(5) == shown() == shown(0, 0) == ""


def test_columns_keep_their_place_while_numbers_grow() -> None:
    assert len(line(progress(states=1))) == len(line(progress(states=999_999_999)))


def test_a_quick_check_shows_nothing() -> None:
    stream = Terminal()
    shown = ProgressLine(stream)
    shown.update(progress(seconds=0.4))
    shown.close()
    assert stream.getvalue() == ""


def test_the_line_is_rewritten_in_one_write_and_removed_at_the_end() -> None:
    stream = Terminal()
    shown = ProgressLine(stream)
    shown.update(progress())
    shown.update(progress(seconds=2.1))
    shown.close()
    parts = stream.getvalue().split("\r\x1b[K")
    assert parts[0] == ""
    assert parts[-1] == ""
    assert len(parts) == 4
    assert "\n" not in stream.getvalue()


def test_no_line_is_longer_than_the_terminal() -> None:
    stream = Terminal()
    ProgressLine(stream, label="a name that is much too long " * 4).update(progress())
    assert len(stream.getvalue().removeprefix("\r\x1b[K")) <= 79


def test_nothing_where_nobody_watches() -> None:
    stream = io.StringIO()
    shown = ProgressLine(stream)
    assert not shown.enabled
    shown.update(progress())
    assert stream.getvalue() == ""


def test_a_terminal_that_goes_away_does_not_stop_the_search() -> None:
    stream = Terminal()
    shown = ProgressLine(stream)
    stream.close()
    shown.update(progress())
    shown.close()


def test_the_estimate_fits_on_a_narrow_terminal() -> None:
    stream = Terminal()
    ProgressLine(stream).update(replace(progress(), expected=Estimate(9e6, 4e6, 9e7)))
    assert "of about 9.0M (4.0M to 90.0M)" in stream.getvalue()
    assert len(stream.getvalue().removeprefix("\r\x1b[K")) <= 79


def test_an_estimate_without_end_says_so() -> None:
    assert "of about 9.0M (4.0M to no end)" in line(replace(progress(), expected=Estimate(9e6, 4e6, inf)))
