"""Under pytest, `assert quorate.check(Paxos()).ok` fails with the counterexample as its message, and
`--quorate-coverage` tells what the checks of a session ran of their models.

pytest keeps the parts of a failed `assert` in the frame it failed in; if a result that does not hold is among them, and
pytest names it in its explanation, its report becomes the message. Loaded with every pytest session, so it imports
nothing of Quorate: a session that never made a result has nothing to look for.
"""

import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Generator, Mapping
from dataclasses import astuple
from typing import Any

import pytest

WORKER = "quorate-coverage"
"""What a process of pytest-xdist calls what it has gathered."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    if call.excinfo is not None and isinstance(call.excinfo.value, AssertionError):
        _explain(call.excinfo.value)
    return (yield)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("quorate")
    group.addoption(
        "--quorate-coverage",
        action="store_true",
        help="tell which lines and branches of handlers ran in the states that quorate.check reached, by model",
    )
    group.addoption(
        "--quorate-fail-under",
        type=_percent,
        metavar="PERCENT",
        help="fail if less of a model's handlers ran; with --quorate-coverage",
    )


def _percent(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 100:
        raise ArgumentTypeError(f"{text} is no percentage")
    return value


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quorate-coverage") or config.getoption("--quorate-fail-under") is not None:
        config.pluginmanager.register(Gathered(config.getoption("--quorate-fail-under")), "quorate-coverage")


class Gathered:
    """What all checks of a session have run, by model."""

    def __init__(self, least: float | None) -> None:
        from quorate.search.check import LISTENERS

        self.least = least
        self.files: dict[str, list[Any]] = {}
        LISTENERS.append(self.hear)

    def hear(self, given: Mapping[str, Any], result: Any) -> None:
        """Look at all reachable states once more, so that nothing changes for the test: with coverage, and without
        what a violation would cut short."""
        from quorate.search.check import LISTENERS, check

        plain = {"coverage": True, "property": "assertions", "trace": False, "progress": None, "all": False}
        plain |= {"por": "none", "split": "none", "search": None, "store": "exact", "stateless": False, "threads": 1}
        plain |= {
            "ltl": None,
            "ctl": None,
            "vacuity": False,
            "self_check": False,
            "shorten": False,
            "max_depth": None,
            "checkpoint": None,
        }
        LISTENERS.remove(self.hear)
        try:
            covered = result.covered or check(**{**given, **plain}).covered
        finally:
            LISTENERS.append(self.hear)
        if covered is not None:
            self.files.setdefault(result.system, []).extend(covered.files)

    def percents(self) -> dict[str, tuple[float, list[str]]]:
        """By model: how much ran, and where something did not."""
        from quorate.results.coverage import joined

        found = {}
        for name, files in sorted(self.files.items()):
            all_files = joined(files)
            total, covered = sum(each.total for each in all_files), sum(each.covered for each in all_files)
            lines = {each.path: sorted({*each.missing, *(line for line, _ in each.not_taken)}) for each in all_files}
            gaps = [f"{os.path.relpath(path)}: {', '.join(map(str, at))}" for path, at in lines.items() if at]
            found[name] = (100.0 * covered / total if total else 100.0, gaps)
        return found

    def failing(self) -> list[str]:
        least = self.least
        return [] if least is None else [name for name, (percent, _) in self.percents().items() if percent < least]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        told = getattr(session.config, "workeroutput", None)
        if told is not None:  # one of several processes (pytest-xdist): the first one gathers
            told[WORKER] = [(name, astuple(each)) for name, files in self.files.items() for each in files]
        elif self.failing() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        from quorate.results.coverage import FileCoverage

        for name, each in getattr(node, "workeroutput", {}).get(WORKER, ()):
            self.files.setdefault(name, []).append(FileCoverage(*each))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("coverage of models by quorate")
        for name, (percent, gaps) in self.percents().items():
            terminalreporter.line(f"{percent:5.1f}%  {name}")
            for line in gaps:
                terminalreporter.line(f"        lines not run in full: {line}")
        for name in self.failing():
            terminalreporter.line(f"{name} ran less than --quorate-fail-under {self.least:g}", red=True)

    def pytest_unconfigure(self) -> None:
        from quorate.search.check import LISTENERS

        if self.hear in LISTENERS:
            LISTENERS.remove(self.hear)


def _explain(error: AssertionError) -> None:
    results = sys.modules.get("quorate.results.result")
    if results is None or isinstance(error, results.CheckFailed) or error.__traceback__ is None:
        return
    traceback = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    said = str(error)
    for value in list(traceback.tb_frame.f_locals.values()):
        if _failed(value, results.Result) and repr(value) in said:
            error.args = (f"{value}\n\n{said}",)
            return


def _failed(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not bool(value)
