"""Variants of an invariant, each stronger by one part: a part whose variant still holds does not matter.

An invariant that holds may do so for a poor reason. In `not p or q` the left side may never be false, in `all(...)`
there may be nothing to look at. For each part of the returned expression a variant is made that has `False` in its
place, or `True` where the part stands below a `not`: so the variant claims more than the invariant. If that still holds
in every reachable state, the part is not needed for the verdict (Beer, Ben-David, Eisner and Rodeh, 2001).

Of a condition elsewhere, as in `if p: return False` or in what is counted, it is not known which of the two claims
more. Such a part is not needed if the invariant holds with either.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from quorate.model.definition import Property
from quorate.properties.expressions import source

QUANTIFIERS = ("all", "any")


class Variant(NamedTuple):
    """A part of a property, and what tells whether that holds without the part."""

    of: str
    text: str
    values: tuple[bool, ...]
    """What stands in its place: one that claims more, or both, where that is not known."""
    line: int
    span: tuple[tuple[int, int], tuple[int, int]]
    """Where it begins and ends in the source of the property."""
    underlined: str
    """Its line of source, and below it what the part is."""
    breaks: tuple[Property, ...]
    """For each value, a property that is true where the variant is violated."""


def variants(prop: Property) -> list[Variant]:
    """One for each part; none if the source cannot be read, or the function uses variables of another one."""
    plain = inspect.unwrap(prop.function)
    if not isinstance(plain, FunctionType) or plain.__closure__ or plain.__defaults__:
        return []
    try:
        lines, first = inspect.getsourcelines(plain)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError):
        return []
    if not isinstance(tree.body[0], ast.FunctionDef):
        return []
    tree.body[0].decorator_list = []
    found: list[Variant] = []
    nodes = list(ast.walk(tree))
    parts: list[tuple[ast.expr, tuple[bool, ...]]] = [
        (node, (not positive,)) for node, positive in _parts(tree.body[0]) if not _is_constant(node, not positive)
    ]
    parts += [(node, (True, False)) for node in _conditions(tree.body[0], [node for node, _ in parts])]
    for node, values in parts:
        place = next(number for number, each in enumerate(nodes) if each is node)
        made = [each for value in values if (each := _without(tree, place, value, plain)) is not None]
        if len(made) == len(values):
            line = first + node.lineno - 1
            broken = tuple(
                _broken_by(prop, each, f"part {len(found) + 1}, {value}")
                for each, value in zip(made, values, strict=True)
            )
            found.append(Variant(prop.name, source(node), values, line, _span(node), _underlined(lines, node), broken))
    return found


def _span(node: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def _underlined(lines: list[str], node: ast.expr) -> str:
    """The source of a function is given with its indentation, and the node is placed without it."""
    line = textwrap.dedent("".join(lines)).splitlines()[node.lineno - 1]
    # Offsets count bytes.
    start = len(line.encode()[: node.col_offset].decode())
    last = len(line.encode()[: node.end_col_offset].decode()) if node.end_lineno == node.lineno else len(line)
    margin = len(line) - len(line.lstrip())
    return f"{line.strip()}\n{' ' * (start - margin)}{'^' * max(last - start, 1)}"


def _parts(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, bool]]:
    """The parts of what a function returns, and whether each makes the whole truer or falser.

    Where there are several `return`, one of them may never be come to: `if p: return q` is an implication too. What a
    function inside of it returns is none of that: where it is called, it may make the whole truer or falser.
    """
    returned = list(_returned(function))
    for value in returned:
        if len(returned) > 1 and not isinstance(value, ast.Constant):
            yield value, True
        yield from _below(value, True)


def _returned(node: ast.AST) -> Iterator[ast.expr]:
    for below in ast.iter_child_nodes(node):
        if isinstance(below, ast.Return) and below.value is not None:
            yield below.value
        if not isinstance(below, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _returned(below)


def _below(node: ast.expr, positive: bool) -> Iterator[tuple[ast.expr, bool]]:
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield value, positive
            yield from _below(value, positive)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _below(node.operand, not positive)
    elif isinstance(node, ast.IfExp):
        for value in (node.body, node.orelse):
            yield value, positive
            yield from _below(value, positive)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in QUANTIFIERS:
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.SetComp):
                yield argument.elt, positive
                yield from _below(argument.elt, positive)
                for generator in argument.generators:
                    # A condition leaves cases out: fewer of them make `all` truer and `any` falser.
                    for condition in generator.ifs:
                        truer = positive if node.func.id == "any" else not positive
                        yield condition, truer
                        yield from _below(condition, truer)


def _conditions(function: ast.FunctionDef, told: list[ast.expr]) -> Iterator[ast.expr]:
    """All that is true or false by its form and is none of these, nor the whole of what is returned."""
    known = set(map(id, told))
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.While):
            continue  # what a function returns is any value; and a loop must come to its end
        below = list(ast.iter_child_nodes(node))
        todo += below
        found = [node.test] if isinstance(node, ast.If | ast.IfExp) else []
        if isinstance(node, ast.comprehension):
            found = node.ifs
        elif not isinstance(node, ast.Return | ast.Expr):
            found += [each for each in below if isinstance(each, ast.expr) and _is_truth(each)]
        if isinstance(node, ast.BoolOp):
            found = node.values
        for each in found:
            if id(each) not in known and not isinstance(each, ast.Constant):
                known.add(id(each))
                yield each


def _is_constant(node: ast.expr, value: bool) -> bool:
    """Whether nothing would be put in the place of anything."""
    return isinstance(node, ast.Constant) and bool(node.value) is value


def _is_truth(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.BoolOp | ast.Compare)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in QUANTIFIERS)
    )


def _without(tree: ast.Module, place: int, value: bool, plain: FunctionType) -> FunctionType | None:
    changed = copy.deepcopy(tree)
    target = list(ast.walk(changed))[place]
    _Replaced(target, value).visit(changed)
    module = compile(ast.fix_missing_locations(changed), plain.__code__.co_filename, "exec")
    for const in module.co_consts:
        if isinstance(const, CodeType) and not const.co_freevars:
            return FunctionType(const, plain.__globals__, plain.__name__)
    return None


class _Replaced(ast.NodeTransformer):
    def __init__(self, target: ast.AST, value: bool) -> None:
        self.target, self.value = target, value

    def visit(self, node: ast.AST) -> Any:
        return ast.Constant(self.value) if node is self.target else self.generic_visit(node)


def _broken_by(prop: Property, variant: FunctionType, which: str) -> Property:
    def broken(system: Any) -> bool:
        try:
            return not variant(system)
        except Exception:  # a part that guards another one is needed
            return True

    return Property(f"{prop.name} without {which}", "can", "", broken, prop.location)
