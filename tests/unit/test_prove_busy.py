"""Limits of parts of a proof are in the processor's time: a busy machine gives the same answers."""

import pytest

from quorate import prove
from quorate.proofs.samples import Sample, Sampler
from quorate.proofs.solver import Deadline
from quorate.protocols.lock import Locking


def test_a_busy_machine_samples_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    states = Sampler.states

    def sampled(self: Sampler, most: int, deadline: Deadline, seed: int = 1) -> list[Sample]:
        limits.append(deadline.left)
        return states(self, most, deadline, seed)

    monkeypatch.setattr(Sampler, "states", sampled)
    monkeypatch.setattr(Deadline, "slowness", property(lambda self: 4.0))
    assert prove(Locking(queue=False), timeout=3000).verdict == "proved"
    assert limits
    assert min(limits) > 100
