"""Protocols that would be said to hold for any number of servers if a condition of the theorem were left out."""

from __future__ import annotations

import pytest

from quorate import System, check, quorum
from quorate.projection.conditions import RefusedError
from quorate.projection.project import project
from quorate.projection.rounds import Rounds
from quorate.protocols import regular_storage
from quorate.protocols.regular_storage import Answer, ReadEnded, Reader, RegularStorage, Stored
from quorate.protocols.safe_storage import SafeStorage


class LowestReader(Reader):
    """Takes the lowest answer, which a quorum like the highest one does not have."""

    @quorum(Answer, size="majority", when=lambda self: self.result is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.result = min(answer.time for answer in answers)
        self.emit(ReadEnded(self.result))


class LowestStorage(RegularStorage):
    def spawn(self, process, count=None, /, **fields):  # type: ignore[no-untyped-def]
        process = LowestReader if process is Reader else process
        return super().spawn(process, *(() if count is None else (count,)), **fields)


class Hasty(regular_storage.Writer):
    """One answer is enough for it."""

    @quorum(Stored, size=1, when=lambda self: self.busy, where=lambda self, m: m.time == self.time)
    def written(self, _: frozenset[Stored]) -> None:
        super().written(_)


class HalfStorage(RegularStorage):
    def spawn(self, process, count=None, /, **fields):  # type: ignore[no-untyped-def]
        process = Hasty if process is regular_storage.Writer else process
        return super().spawn(process, *(() if count is None else (count,)), **fields)


@pytest.mark.parametrize(
    ("system", "conditions"),
    [
        (SafeStorage(late=True, writes=2), ["_require_apart"]),
        (LowestStorage(), ["_require_highest"]),
        (HalfStorage(), ["_require_meeting", "_require_apart"]),
    ],
    ids=["late answers", "lowest answer", "quorums that need not meet"],
)
def test_a_wrong_answer_without_the_condition(
    system: System, conditions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(system, trace=False).verdict == "violated"
    with pytest.raises(RefusedError):
        project(system)
    for condition in conditions:
        monkeypatch.setattr(Rounds, condition, lambda *_: None)
    assert project(system).verdict == "holds"
