"""Drawn properties, judged by their parts, say in every state what Python says of them.

What is drawn are texts: folds over roles and over what only looks like one, variables that hold a role, and lambdas and
comprehensions that hide these.
"""

from __future__ import annotations

import itertools
import linecache
from random import Random
from typing import Any

import pytest

from quorate import Process, System, invariant, step
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.native.model import Model
from quorate.properties import evaluate
from quorate.properties.parts import parts_of


class Worker(Process):
    x: int = 0
    busy: bool = False

    @step(when=lambda self: False)
    def go(self) -> None: ...

    def ratio(self) -> int:
        return 2 // self.x


class Special(Worker):
    pass


LIMIT = 1


class Drawn:
    """The text of one property."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.known: list[str] = []
        """Variables that hold a value."""

    def one(self, *options: str) -> str:
        return self.random.choice(options)

    def text(self) -> str:
        role = self.one("self[Worker]", "self[Worker]", "self[Special]", "self[Worker][:2]")
        lines = [f"ps = {role}"]
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            lines += self.statement()
        return "\n    ".join(["def judge(self):", *lines, f"return {self.condition()}"]) + "\n"

    def statement(self) -> list[str]:
        kind = self.random.random()
        if kind < 0.5:
            name = self.one("a", "b", "p")
            found = [f"{name} = {self.folded()}"]
            self.known.append(name)
            return found
        if kind < 0.7:
            return [f"if {self.condition()}:", f"    return bool({self.folded()})"]
        if kind < 0.85:
            each, test = self.one("p", "q", "ps"), self.one("LIMIT", "1")
            return [
                f"for {each} in {self.role()}:",
                f"    if {each}.x > {test}:",
                f"        return bool({self.folded()})",
            ]
        return [self.one("ps = self[Special]", "ps = ps[:1]", "first, *ps = self[Worker]")]

    def condition(self) -> str:
        mine = self.folded()
        return self.one(
            f"{mine} == {self.folded()}", f"not {mine}", f"bool({mine}) or {self.folded()} == 1",
            f"len({{{self.among()}}}) < 2", f"{{{self.among()}}} == {{{self.among()}}}", f"0 in ({mine}, 2)",
        )  # fmt: skip

    def folded(self) -> str:
        inner = self.among()
        if self.random.random() < 0.2:
            halves = self.one("(ps[:1], ps[1:])", "(self[Worker], self[Special])")
            return self.one(
                f"(lambda ps: all({inner}))({self.one('self[Special]', 'ps[1:]')})",
                f"[any({inner}) for ps in {halves}]",
                f"[sum({inner}) for self in ({{Worker: ps[:1], Special: ps}},)]",
            )
        function = self.one("all", "any", "sum", "max", "min", "sorted", "tuple", "set", "all", "any", "len")
        return f"len([{inner}])" if function == "len" else f"{function}({inner})"

    def among(self) -> str:
        each, test = self.one("p", "p", "q", "w"), ""
        value = self.one(
            f"{each}.x", f"{each}.busy", f"{each}.x == 1", f"{each}.x > LIMIT", f"not {each}.busy", f"{each}.x - 1",
            f"{each}.ratio()", f"({each}.x, {each}.busy) == (1, True)", f"{each}.x == {self.one('2', *self.known)}",
        )  # fmt: skip
        if self.random.random() < 0.3:
            test = f" if {self.one(f'{each}.busy', f'{each}.x')}"
        return f"{value} for {each} in {self.role()}{test}"

    def role(self) -> str:
        return self.one("self[Worker]", "self[Special]", "ps", "ps", "self[Worker][1:]", "reversed(self[Worker])")


@pytest.mark.parametrize("block", range(4))
def test_the_same_as_python_says(block: int) -> None:
    taken_apart = 0
    for seed in range(block, 160, 4):
        text = Drawn(seed).text()
        file = f"drawn_property_{seed}.py"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        made: dict[str, Any] = {"Worker": Worker, "Special": Special, "LIMIT": LIMIT}
        exec(compile(text, file, "exec"), made)

        class Some(System):
            def build(self) -> None:
                self.spawn(Worker, 2)
                self.spawn(Special)

            judged = invariant(made["judge"])

        definition = define(Some, Environment())
        prop = definition.invariants[0]
        taken_apart += parts_of(definition, prop) is not None
        model = Model(definition, [prop])
        values = [
            [(x, busy, *local[2:]) for x in range(3) for busy in (False, True)] for local in definition.initials[0]
        ]
        for state in Random(seed).sample(list(itertools.product(*values)), 40):
            numbers = [model.local_id(column, local) for column, local in zip(definition.columns, state, strict=True)]
            said, _ = model._judged(0, state, numbers)
            plain = evaluate(definition, prop, state)
            assert said.name == ("raises" if plain.failure is not None else "yes" if plain.value else "no"), text
            assert model.judge(0, numbers), text
    assert taken_apart > 15
