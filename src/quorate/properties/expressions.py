"""Expressions of Python, as an explanation of a property needs them: where a function returned, and words for parts."""

from __future__ import annotations

import ast
import sys
from types import FrameType, FunctionType
from typing import Any, NamedTuple

LONGEST_SOURCE = 96

Scope = dict[str, Any]


class Return(NamedTuple):
    line: int
    scope: Scope
    value: Any


class Super(ast.NodeTransformer):
    """`super()` needs the frame it was written in; with its arguments it can be asked anywhere."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name("__class__", ast.Load()), ast.Name("self", ast.Load())]
        return node


def watched(code_of: FunctionType, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Return:
    """Call a function, and see where it returns and with which local variables."""
    seen: list[Return] = []

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code is not code_of.__code__:
            return None
        if event == "return":  # of a recursion the outermost call returns last
            seen[:] = [Return(frame.f_lineno, dict(frame.f_locals), arg)]
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args, **kwargs)
    finally:
        sys.settrace(before)
    return seen[0]


def closure(function: FunctionType) -> Scope:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


def path(root: ast.AST, target: ast.AST) -> list[ast.AST]:
    """The nodes from one to another below it, both included; empty if it is not below."""
    if root is target:
        return [root]
    for child in ast.iter_child_nodes(root):
        rest = path(child, target)
        if rest:
            return [root, *rest]
    return []


def names(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def has_parts(node: ast.expr) -> bool:
    """Whether there is something to explain, so that naming the truth is enough here."""
    return isinstance(node, ast.BoolOp | ast.Compare | ast.Call | ast.IfExp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is its own value, written down."""
    return not any(isinstance(each, ast.Name | ast.Call) for each in ast.walk(node))


def is_simple(node: ast.expr) -> bool:
    """A variable, a field of one, a constant: short enough to be repeated beside its value."""
    return all(
        isinstance(each, ast.Name | ast.Attribute | ast.Subscript | ast.Constant | ast.expr_context)
        for each in ast.walk(node)
    ) or is_literal(node)


def source(node: ast.expr) -> str:
    text = " ".join(ast.unparse(node).split()).replace("super(__class__, self)", "super()")
    text = _without_double_parentheses(text)
    return text if len(text) <= LONGEST_SOURCE else text[: LONGEST_SOURCE - 1] + "…"


def _without_double_parentheses(text: str) -> str:
    """`all((x for x in y))`, as the library writes it, as a person does: `all(x for x in y)`."""
    start = text.find("((")
    while start >= 0:
        depth, generator = 0, False
        for at in range(start + 1, len(text)):
            depth += (text[at] in "([{") - (text[at] in ")]}")
            generator = generator or (depth == 1 and text.startswith(" for ", at))
            if depth == 0:
                if generator and text.startswith("))", at):
                    text = text[: start + 1] + text[start + 2 : at] + text[at + 1 :]
                break
        start = text.find("((", start + 1)
    return text
