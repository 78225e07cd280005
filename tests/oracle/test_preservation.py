"""What each mode of partial-order reduction keeps of whole graphs: runs for linear time, branching for branching."""

from __future__ import annotations

from random import Random

import pytest

import corpus
from generator import Protocol, without_claims
from preservation import Graph, same_branching, same_runs
from quorate import Message, Peers, Process, System, _core, on, start, step
from quorate.model.define import define
from quorate.native.model import Model

MOST_STATES = 300


def _relate(model: Model, keep: str) -> str:
    return model.engine.relate(_core.PorOptions(split_quorums=True, split_replies=True, keep=_core.Keep[keep]))


def graphs(made: System, keep: str, *, reduced: bool, field: str = "x") -> tuple[Graph, ...] | None:
    """The graph without and with partial-order reduction, where the first process's field is observed.

    Depth first; and the stored one, where whole runs are kept.
    """
    model = Model(define(made), ())
    column = next(each for each in model.definition.columns if field in each.spec.fields)
    model.observed[column.index][list(column.spec.fields).index(field) + 1] = True
    model.engine.observe(model.observed)
    if not model.engine.close(model, 20_000).complete:
        return None
    network = model.definition.network
    model.engine.reduce(reduced, reduced and network.kind != "fifo" and network.capacity is None)
    full, nodes = Graph.of(model), model.engine.graph(model)
    if len(full.seen) > MOST_STATES or _relate(model, keep):
        return None
    if keep in ("linear", "branching"):
        return full, Graph.of(model), Graph.stored(model, nodes)
    return full, Graph.of(model)


@corpus.each(corpus.sized, 50)
def test_linear_time(protocol: Protocol, dice: Random) -> None:
    found = graphs(corpus.built(without_claims(protocol)), "linear", reduced=dice.random() < 0.5)
    if found is None:
        corpus.discard()
    assert [same_runs(found[0], each) for each in found[1:]] == [True, True]


@corpus.each(corpus.sized, 50)
def test_branching_time(protocol: Protocol, dice: Random) -> None:
    found = graphs(corpus.built(without_claims(protocol)), "branching", reduced=dice.random() < 0.5)
    if found is None:
        corpus.discard()
    assert [same_branching(found[0], each) for each in found[1:]] == [True, True]


def enabled(model: Model) -> dict[str, set[object]]:
    """What the stored graph says is possible, state by state."""
    native = _core.Temporal(model.engine, [])
    states = native.explore(model).states
    return {
        repr(native.state(state)): {
            (edge.act.column, edge.act.kind, edge.act.transition, tuple(edge.act.messages))
            for edge in native.steps(state)
        }
        for state in range(states)
    }


@corpus.each(corpus.sized, 40)
def test_what_is_left_out_is_still_enabled(protocol: Protocol, dice: Random) -> None:
    model = Model(define(corpus.built(without_claims(protocol))), ())
    if not model.engine.close(model, 20_000).complete:
        corpus.discard()
    model.engine.reduce(False, False)
    full = enabled(model)
    if len(full) > MOST_STATES or _relate(model, dice.choice(("linear", "branching"))):
        corpus.discard()
    reduced = enabled(model)
    assert reduced == {state: full[state] for state in reduced}


class Tick(Message):
    pass


class Clock(Process):
    x: int = 0

    @step(when=lambda self: self.x < 2)
    def ticks(self) -> None:
        self.x += 1


class Idler(Process):
    """Turns round and round, unseen."""

    phase: int = 0

    @step(when=lambda self: True)
    def turns(self) -> None:
        self.phase = 1 - self.phase


class Idle(System):
    """Without a proviso the idler's cycle would put the clock off for ever."""

    def build(self) -> None:
        self.spawn(Idler)
        self.spawn(Clock)


class Listener(Process):
    x: int = 0

    @on(Tick)
    def hears(self, m: Tick) -> None:
        self.x = min(self.x + 1, 3)


class Sender(Process):
    listener: Peers
    sent: bool = False

    @start
    def sends(self) -> None:
        self.sent = True
        self.send(self.listener, Tick())


class Independent(System):
    """Three senders that nobody can tell apart in time: their order does not matter."""

    def build(self) -> None:
        listeners = self.spawn(Listener, 1)
        for _ in range(3):
            self.spawn(Sender, listener=listeners)


@pytest.mark.parametrize("keep", ["safety", "linear", "branching"])
def test_a_cycle_puts_nothing_off_for_ever(keep: str) -> None:
    found = graphs(Idle(), keep, reduced=False)
    assert found is not None
    assert set(found[1].seen) == set(found[0].seen)
    if keep != "safety":
        assert len(found) == 3
        assert all(same_runs(found[0], each) and same_branching(found[0], each) for each in found[1:])


def test_deadlocks_alone_need_no_proviso() -> None:
    """No run of this system ends, so it is enough to follow the idler."""
    found = graphs(Idle(), "deadlocks", reduced=False)
    assert found is not None
    assert (len(found[0].seen), len(found[1].seen)) == (6, 2)


@pytest.mark.parametrize("keep", [each.name for each in _core.Keep])
def test_each_mode_reduces(keep: str) -> None:
    """The senders come one after the other, then the listener takes what it was sent in any order."""
    found = graphs(Independent(), keep, reduced=False)
    assert found is not None
    assert (len(found[0].seen), len(found[1].seen)) == (27, 11)


def test_the_comparison_tells_graphs_apart() -> None:
    """A test of the tests: a lost run, a lost end, a lost choice."""
    a, b, c = (0,), (1,), (2,)
    full = Graph([0], [a, b, c], [{1, 2}, set(), set()])
    assert not same_runs(full, Graph([0], [a, b], [{1}, set()]))
    assert not same_runs(full, Graph([0], [a, b, c], [{1, 2}, {1}, set()]))
    early = Graph([0], [a, a, a, b, c], [{1, 2}, {3}, {4}, set(), set()])
    assert same_runs(full, early)
    assert not same_branching(full, early)
    assert same_branching(full, Graph([0], [a, a, b, c], [{1}, {2, 3}, set(), set()]))
