"""What the corpus of generated protocols has, and how often: a test against them is worth what they contain."""

from __future__ import annotations

from collections import Counter

import corpus
from generator import Protocol, system
from quorate.model.define import define
from quorate.model.definition import Definition, Transition
from quorate.model.outcome import Outcome
from quorate.model.run import fire
from quorate.semantics.firing import consumable
from quorate.semantics.state import State, Step
from reference import explore

EXAMPLES = 150

# In so many of a hundred protocols it is met while they are explored, at the least; about one and a half times as
# often in truth. (What a protocol merely contains, and no run of it ever does, does not count.)
WANTED = {
    "all hold": 25,
    "blocked by a full channel": 8,
    "bounded": 35,
    "can not reached": 25,
    "can reached": 25,
    "choice": 12,
    "choice among nothing": 8,
    "crash": 20,
    "crash amid a step": 8,
    "cut by within": 5,
    "cycle": 28,
    "deadlock": 45,
    "discard": 3,
    "duplicate": 12,
    "duplicates without bound": 4,
    "each": 4,
    "event": 40,
    "exact": 6,
    "failure of a handler": 4,
    "failure of a monitor": 2,
    "fifo block": 7,
    "fifo drop": 7,
    "fifo skip": 7,
    "final": 30,
    "invariant holds": 50,
    "invariant violated": 25,
    "keep": 8,
    "lose": 20,
    "losses without bound": 5,
    "maximal": 5,
    "minimal": 5,
    "more than a hundred states": 30,
    "multiset": 12,
    "notice of a crash": 10,
    "on": 30,
    "quorum of two or more": 10,
    "recover": 6,
    "replace": 10,
    "resend of a pending message": 18,
    "self-send": 30,
    "set": 25,
    "several initial states": 12,
    "start": 50,
    "step": 28,
}


class Meeting:
    """Collects what an exploration comes across."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.features: set[str] = set()
        self.edges: dict[bytes, list[bytes]] = {}

    def __call__(self, state: State, _: int, steps: tuple[Step, ...]) -> None:
        self.edges[state.key] = [step.next.key for step in steps if step.next is not None]
        for step in steps:
            if step.kind != "step":
                self.features.add(step.kind if step.transition is None else "crash amid a step")
                continue
            if step.cut:
                self.features.add("cut by within")
            if step.transition is not None and step.outcome is not None:
                self._handler(state, step, step.transition, step.outcome)
        for column in self.definition.processes:
            for transition in self.definition.transitions(column):
                for consumed in consumable(self.definition, state, column, transition):
                    outcomes = fire(column, transition, state.locals[column.index], consumed)
                    taken = [each for each in steps if each[1:4] == (column.index, transition, consumed)]
                    if len(outcomes) > 1:
                        self.features.add("choice")
                    if len(outcomes) > len(taken):
                        self.features.add("blocked by a full channel")

    def _handler(self, state: State, step: Step, transition: Transition, outcome: Outcome) -> None:
        if step.failure is not None:
            self.features.add("failure of a monitor" if outcome.failure is None else "failure of a handler")
        self.features.add(transition.mode or transition.kind)
        if len(step.consumed) > 1:
            self.features.add("quorum of two or more")
        if transition.keep:
            self.features.add("keep")
        if outcome.events:
            self.features.add("event")
        for receiver, message in outcome.sends:
            if receiver == step.column:
                self.features.add("self-send")
            if message in state.pending[receiver]:
                self.features.add("resend of a pending message")

    def has_cycle(self) -> bool:
        """Taking away states without a predecessor until none is left works just on graphs without a cycle."""
        incoming = Counter(target for targets in self.edges.values() for target in targets)
        free = [key for key in self.edges if not incoming[key]]
        taken = 0
        while free:
            taken += 1
            for target in self.edges[free.pop()]:
                incoming[target] -= 1
                if not incoming[target]:
                    free.append(target)
        return taken < len(self.edges)


def features_of(protocol: Protocol) -> tuple[set[str], int]:
    """What is met in a protocol, and how many states it has."""
    network = protocol.network
    definition = define(system(protocol))
    meeting = Meeting(definition)
    found = explore(definition, max_states=corpus.MOST_STATES, visit=meeting)
    features = meeting.features | {network.kind}
    facts = {
        "cycle": meeting.has_cycle(),
        "several initial states": len(definition.initials) > 1,
        f"fifo {network.head}": network.kind == "fifo",
        "bounded": network.capacity is not None,
        "replace": network.full == "replace",
        "losses without bound": network.losses == "any",
        "duplicates without bound": network.duplicates == "any",
        "choice among nothing": "options=()" in repr(protocol),
        "deadlock": bool(found.deadlocks),
        "invariant violated": any(each.name in found.violations for each in definition.invariants),
        "invariant holds": any(each.name not in found.violations for each in definition.invariants),
        "can reached": any(each.name in found.witnesses for each in definition.cans),
        "can not reached": any(each.name not in found.witnesses for each in definition.cans),
        "notice of a crash": "message='Crash'" in repr(protocol),
        "final": definition.final is not None,
        "all hold": found.ok,
        "more than ten states": found.states > 10,
        "more than a hundred states": found.states > 100,
    }
    return features | {name for name, fact in facts.items() if fact}, found.states


def test_the_generator_makes_everything_often_and_discards_hardly_anything() -> None:
    met: Counter[str] = Counter()
    sizes: list[int] = []
    discarded = 0
    for number in range(EXAMPLES):
        try:
            protocol = corpus.sized.at(number)
        except corpus.DiscardedError:
            discarded += 1
            continue
        with corpus.pure():
            features, states = features_of(protocol)
        met.update(features)
        sizes.append(states)
    share = {name: 100 * met[name] // len(sizes) for name in sorted({*met, *WANTED})}
    print(f"{len(sizes)} protocols, {discarded} discarded, {sorted(sizes)[len(sizes) // 2]} states in the middle")
    print("\n".join(f"{percent:3} % {name}" for name, percent in share.items()))
    assert discarded <= len(sizes) // 50
    assert {name: share[name] for name, least in WANTED.items() if share[name] < least} == {}
