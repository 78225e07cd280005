"""How Hypothesis is used: the same examples in every run, so that a failure of today is not gone tomorrow. And what is
said at the end about tests that did not run.

QUORATE_DEEP=1 (or a number of examples) looks at fresh examples, and at many more of them.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, Phase, settings

# Building classes and exploring states takes long for Hypothesis' taste, and is the point here. Protocols are made
# small part by part (simplify.py), which is faster than shrinking the bytes they are made of.
COMMON = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
}

settings.register_profile("ci", max_examples=100, derandomize=True, database=None, **COMMON)  # type: ignore[arg-type]
deep = int(os.environ.get("QUORATE_DEEP", "0"))
settings.register_profile("deep", max_examples=deep if deep > 1 else 3_000, **COMMON)  # type: ignore[arg-type]
settings.load_profile("deep" if deep else "ci")

# A shell that starts a command in the background lets it ignore Ctrl-C, and what it starts too: nothing here could be
# interrupted then.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and `nohup` lets it ignore that


def pytest_collection_finish() -> None:
    """The garbage collector need not look at thousands of tests again and again: it took a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    gc.unfreeze()  # nanobind looks at the end for what nobody has let go


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Tests that did not run must not look like tests that passed."""
    about = {"test_browser": "of the report and the explorer", "test_cluster": "of workers by Ray"}
    for file, what in about.items():
        skipped = [each for each in terminalreporter.stats.get("skipped", []) if file in each.nodeid]
        if skipped:
            reason = skipped[0].longrepr[2].removeprefix("Skipped: ")
            terminalreporter.write_line(f"NOT TESTED, {len(skipped)} tests {what}: {reason}")


@pytest.fixture
def taken_to_be_pure() -> Iterator[None]:
    """For tests that check the same few models in hundreds of ways: that they are functions, others have tested."""
    from corpus import pure

    with pure():
        yield
