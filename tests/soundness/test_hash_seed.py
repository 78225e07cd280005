"""Runs are the same for every hash seed: order is by content, never by what Python's salted hashes say."""

import os
import subprocess
import sys

SCRIPT = """
from hashlib import blake2b
from quorate import Message, Peers, Process, System, fifo, on, step
from quorate.model.define import define
from quorate.semantics.state import initial_states
from quorate.semantics.steps import steps

class Word(Message):
    text: str

class Speaker(Process):
    words: frozenset[str]
    friends: Peers = Peers()
    heard: frozenset[str] = frozenset()

    @step(when=lambda self: self.words)
    def say(self) -> None:
        word = self.choose(self.words)
        self.words -= {word}
        for each in self.heard | {word}:
            self.send(self.friends, Word(each))

    @on(Word)
    def hear(self, m: Word) -> None:
        self.heard |= {m.text}

class Talk(System):
    network = fifo()

    def build(self) -> None:
        speakers = self.spawn(Speaker, 2, words=frozenset({self.choose({"ash", "oak"}), "elm"}))
        self.connect(speakers, friends=speakers)

definition = define(Talk())
digest = blake2b()
level, seen = list(initial_states(definition)), set()
for state in level[:400]:
    digest.update(state.key)
    for each in steps(definition, state):
        digest.update(repr((each.kind, each.column, each.consumed, each.outcome)).encode())
        if each.next is not None and each.next.key not in seen:
            seen.add(each.next.key)
            level.append(each.next)
print(len(level), digest.hexdigest())
"""


def test_states_and_steps_come_in_the_same_order_under_every_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2", "42")
    }
    assert len(outputs) == 1
