"""The canonical form against an independent judge: nauty decides whether two states are renamings of each other.

A state becomes a coloured graph: a vertex for every name, coloured by its family, and a tree for every local state and
message, whose leaves point to the names that occur there. Two states are renamings of each other if and only if their
graphs are isomorphic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from quorate import Map, Message, Peers, Pid, Process, System, on, step
from quorate.base.values import encode
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.renaming import is_name, parts_of
from quorate.native.model import Model
from quorate.protocols.om import OralMessages
from quorate.protocols.paxos import Paxos
from quorate.reduce.families import Symmetries, proposed
from quorate.semantics.state import State, Step
from reference import explore

pynauty = pytest.importorskip("pynauty")


class Picture:
    """A state as a coloured graph."""

    def __init__(self, definition: Definition, families: list[Any], state: State) -> None:
        self.colours: list[bytes] = []
        self.edges: dict[int, list[int]] = {}
        self.names: dict[bytes, int] = {}
        for number, family in enumerate(families):
            for name in family.names:
                self.names[encode(name)] = self.vertex(b"name %d" % number)
        for column in definition.columns:
            mine = None if column.pid is None else self.names.get(encode(column.pid))
            kind = b"column %d" % column.index if mine is None else b"column of a family"
            root = self.vertex(kind)
            if mine is not None:
                self.join(root, mine)
            self.draw(state.locals[column.index], root, b"local", 1)
            if not column.is_monitor:
                for message in state.pending[column.index]:
                    self.draw(message, root, b"pending", 1)

    def vertex(self, colour: bytes) -> int:
        self.colours.append(colour)
        return len(self.colours) - 1

    def join(self, one: int, two: int) -> None:
        self.edges.setdefault(one, []).append(two)

    def draw(self, value: Any, parent: int, place: bytes, depth: int) -> None:
        mine = self.names.get(encode(value)) if is_name(value) else None
        parts = [] if is_name(value) or isinstance(value, (int, str, bytes, type(None))) else parts_of(value)
        inside = type(value).__name__.encode() if parts or mine is not None else encode(value)
        vertex = self.vertex(b"%d %b %b" % (depth, place, inside))
        self.join(parent, vertex)
        if mine is not None:
            self.join(vertex, mine)
        if isinstance(value, Map):
            for key, item in value.items():
                pair = self.vertex(b"%d pair" % (depth + 1))
                self.join(vertex, pair)
                self.draw(key, pair, b"key", depth + 2)
                self.draw(item, pair, b"item", depth + 2)
            return
        for number, part in enumerate(parts):
            ordered = not isinstance(value, frozenset)
            self.draw(part, vertex, b"%d" % number if ordered else b"in", depth + 1)

    def certificate(self) -> tuple[Any, ...]:
        kinds = sorted(set(self.colours))
        classes = [{i for i, colour in enumerate(self.colours) if colour == kind} for kind in kinds]
        graph = pynauty.Graph(len(self.colours), adjacency_dict=self.edges, vertex_coloring=classes)
        return tuple(kinds), tuple(map(len, classes)), pynauty.certificate(graph)


class Hello(Message):
    pass


class Friend(Process):
    """Whom it likes is open: states are directed graphs of their own, with all kinds of symmetries."""

    others: Peers = Peers()
    likes: Pid | None = None
    heard: frozenset[Pid] = frozenset()

    @step(when=lambda self: self.likes is None)
    def choose_one(self) -> None:
        self.likes = self.choose(self.others - {self.pid})
        self.send(self.likes, Hello())

    @on(Hello)
    def hear(self, m: Hello) -> None:
        self.heard |= {m.sender}


class Friends(System):
    friends: int = 4

    def build(self) -> None:
        friends = self.spawn(Friend, self.friends)
        self.connect(friends, others=friends)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Paxos(proposers=2, acceptors=2, any_order=True),
        lambda: OralMessages(lieutenants=3),
        lambda: Friends(friends=4),
    ],
    ids=["paxos", "om", "graphs"],
)
def test_nauty_agrees(make: Callable[[], System]) -> None:
    definition = define(make())
    model = Model(definition, ())
    assert model.engine.close(model, 60_000).complete
    symmetries = Symmetries(model, proposed(definition))
    model.engine.reduce(False, False)
    states: list[State] = []

    def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
        states.append(state)

    explore(definition, visit=visit)
    ours: dict[bytes, set[tuple[Any, ...]]] = {}
    forms: dict[tuple[Any, ...], bytes] = {}
    for state in states[:: max(1, len(states) // 3000)]:
        form = repr(model.reduced(state)).encode()
        verdict = Picture(definition, symmetries.families, state).certificate()
        ours.setdefault(form, set()).add(verdict)
        assert forms.setdefault(verdict, form) == form
    assert all(len(verdicts) == 1 for verdicts in ours.values())
    assert symmetries.families


def test_graphs_are_counted_by_their_isomorphism_classes() -> None:
    """Partial functions without fixed points: the sizes of the classes add up to all of them, and these are n^n."""
    plain = {"quotient": "off", "dead_messages": "off"}
    for friends in (3, 4, 5):
        result = _silent(friends, symmetry="auto", **plain)
        assert result.reductions["symmetry"]["stands_for"] == friends**friends
        assert _silent(friends, symmetry="none", **plain).states == friends**friends


def _silent(friends: int, **options: Any) -> Any:
    from quorate import check

    class Silent(Process):
        others: Peers = Peers()
        likes: Pid | None = None

        @step(when=lambda self: self.likes is None)
        def choose_one(self) -> None:
            self.likes = self.choose(self.others - {self.pid})

    class Silents(System):
        def build(self) -> None:
            silents = self.spawn(Silent, friends)
            self.connect(silents, others=silents)

    return check(Silents, property="assertions", **options)
