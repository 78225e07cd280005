"""What `--vacuity` names does not matter, and what it does not name does: each part is replaced in the text.

Here an invariant is its text, in which every part that is true or false is overwritten by either constant, and that is
asked in every state that the plain semantics reaches. A part is idle if both leave the invariant true everywhere.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any

import pytest

from quorate import System, check, invariant
from quorate.model.define import define
from quorate.model.definition import Definition, Property
from quorate.properties import evaluate
from quorate.semantics.state import State, Step
from reference import explore
from small_instances import SMALL, small
from test_vacuity import Gift, Giver, Styles, Taker


def truths(tree: ast.AST) -> Iterator[ast.expr]:
    """Operands of `and`, `or` and `not`, conditions, comparisons that are compared or counted, and what `all` asks.

    And what is returned, where that may be one of several.
    """
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    yield from (each for each in returned if each is not None and len(returned) > 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp):
            yield from node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand
        elif isinstance(node, ast.IfExp | ast.If):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("all", "any", "sum"):
            yield from (
                each.elt
                for each in node.args
                if isinstance(each, ast.GeneratorExp | ast.ListComp)
                and (node.func.id != "sum" or is_compared(each.elt))
            )
        elif isinstance(node, ast.Compare):
            yield from (each for each in (node.left, *node.comparators) if is_compared(each))


def is_compared(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp)


def overwritten(prop: Property) -> dict[tuple[int, int, int, int], tuple[str, tuple[Callable[[Any], bool], ...]]]:
    """By place: what stands there, and the invariant with True and with False instead."""
    plain = inspect.unwrap(prop.function)
    assert isinstance(plain, FunctionType)
    lines, first = inspect.getsourcelines(plain)
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    found: dict[tuple[int, int, int, int], tuple[str, tuple[Callable[[Any], bool], ...]]] = {}
    rows = [row.encode() for row in text.splitlines()]
    for node in truths(tree):
        if isinstance(node, ast.Constant):
            continue
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        made = []
        for value in (b"(True)", b"(False)"):
            changed = list(rows)
            head, tail = rows[node.lineno - 1][: node.col_offset], rows[node.end_lineno - 1][node.end_col_offset :]
            changed[node.lineno - 1 : node.end_lineno] = [head + value + tail]
            begin = tree.lineno - 1  # without what decorates it
            space: dict[str, Any] = {}
            exec(b"\n".join(changed[begin:]).decode(), plain.__globals__, space)
            made.append(space[plain.__name__])
        found[(first + node.lineno - 1, *place[1:2], first + node.end_lineno - 1, place[3])] = (
            " ".join(ast.unparse(node).split()),
            (made[0], made[1]),
        )
    return found


def judged(definition: Definition) -> dict[str, dict[tuple[int, int, int, int], tuple[str, bool]]]:
    """Of each invariant that holds: its parts, and whether each is idle."""
    stated = [each for each in definition.properties if each.kind == "invariant"]
    parts = {each.name: overwritten(each) for each in stated}
    broken: set[tuple[str, object, int]] = set()
    wrong: set[str] = set()
    asked = [
        (prop.name, place, number, replace(prop, function=function))
        for prop in stated
        for place, (_, both) in parts[prop.name].items()
        for number, function in enumerate(both)
    ]

    def visit(state: State, depth: int, here: tuple[Step, ...]) -> None:
        for each in stated:
            if not evaluate(definition, each, state.locals).value:
                wrong.add(each.name)
        for name, place, number, variant in asked:
            if (name, place, number) not in broken:
                try:
                    fine = evaluate(definition, variant, state.locals).value
                except Exception:  # a part that guards another one is needed
                    fine = False
                if not fine:
                    broken.add((name, place, number))

    explore(definition, visit=visit)
    return {
        name: {place: (text, not {(name, place, 0), (name, place, 1)} & broken) for place, (text, _) in those.items()}
        for name, those in parts.items()
        if name not in wrong
    }


def same_as_told(system: System) -> None:
    result = check(system, vacuity=True)
    told = [each for each in result.warnings if "does not matter" in each]
    if not result.ok:
        assert told == []
        return
    for name, parts in judged(define(system)).items():
        named = {
            (int(each.partition("line ")[2].partition(":")[0]), each.partition("`")[2].rpartition("` does not")[0])
            for each in told
            if each.startswith(f"{name}, ")
        }
        idle = {(place[0], text): place for place, (text, is_idle) in parts.items() if is_idle}
        plain = {key: (key[0], key[1].replace("((", "(").replace("))", ")")) for key in idle}
        assert named <= idle.keys() | set(plain.values()), (name, "named, and matters", named - idle.keys())
        shown = [place for key, place in idle.items() if key in named or plain[key] in named]
        for key, place in idle.items():
            inside = any(other[:2] <= place[:2] and place[2:] <= other[2:] for other in shown)
            assert inside, (name, "does not matter, and is not named", key)


@pytest.mark.parametrize("name", SMALL)
def test_parts_of_bundled_protocols(name: str) -> None:
    same_as_told(small(name))


class Forms(Gift):
    """After Gift, got is 0 or 1, and x is."""

    @invariant
    def chained(self) -> bool:
        return all(0 <= taker.got < 2 or taker.note == (7,) for taker in self[Taker])

    @invariant
    def not_not(self) -> bool:
        return not (not all(taker.got <= 1 for taker in self[Taker]) and self[Giver][0].x == 1)

    @invariant
    def nested(self) -> bool:
        return all(any(taker.got <= giver.x and giver.x < 5 for giver in self[Giver]) for taker in self[Taker])

    @invariant
    def same_text_twice(self) -> bool:
        taker = self[Taker][0]
        return (taker.got == 1 or taker.got == 0) and (taker.got == 0 or taker.got == 1 or taker.note is None)

    @invariant
    def by_if(self) -> bool:
        giver = self[Giver][0]
        if giver.x == 0 and not giver.flag:
            return self[Taker][0].got == 0
        if giver.flag:
            return False
        return self[Taker][0].got < 2 or giver.flag

    @invariant
    def several_lines(self) -> bool:
        return all(
            taker.got < 2
            and (
                taker.note is None
                or taker.note == (1,)
            )
            for taker in self[Taker]
            if taker.got >= 0
        )  # fmt: skip

    @invariant
    def letters_of_two_bytes(self) -> bool:
        return (
            all(taker.got < 2 or str(taker.note) == "äöü" or taker.got == 5 for taker in self[Taker])
            and self[Giver][0].x < 2
        )

    @invariant
    def exclusive(self) -> bool:
        taker, giver = self[Taker][0], self[Giver][0]
        return (taker.got == 1 and giver.x == 0) != (taker.got < 7)

    @invariant
    def chosen(self) -> bool:
        return all((taker.got == 1) if taker.note else (taker.note is None) for taker in self[Taker])

    @invariant
    def counts(self) -> bool:
        return sum(taker.got > 3 for taker in self[Taker]) == sum(giver.x > 3 for giver in self[Giver])

    @invariant
    def early(self) -> bool:
        for taker in self[Taker]:
            for giver in self[Giver]:
                if taker.got > giver.x or giver.x > 8:
                    return False
                if giver.flag:
                    break
        return True

    @invariant
    def guarding(self) -> bool:
        return all(taker.note is not None and taker.note[0] == 1 for taker in self[Taker] if taker.got)


@pytest.mark.parametrize("system", [Gift(), Styles(), Forms()], ids=lambda each: type(each).__name__)
def test_parts_of_every_form(system: System) -> None:
    same_as_told(system)
