"""Under pytest, `assert quorate.check(Paxos()).ok` fails with the counterexample as its message.

pytest keeps the parts of a failed `assert` in the frame it failed in; if a result that does not hold is among them, and
pytest names it in its explanation, its report becomes the message. Loaded with every pytest session, so it imports
nothing of Quorate: a session that never made a result has nothing to look for.
"""

import sys
from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    if call.excinfo is not None and isinstance(call.excinfo.value, AssertionError):
        _explain(call.excinfo.value)
    return (yield)


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
