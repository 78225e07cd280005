"""Expressions of a property with the names of processes in them, for those who read why it failed."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Protocol

from quorate.language.automaton import Automaton
from quorate.properties.expressions import Scope, names


class Reader(Protocol):
    """Who evaluates expressions, and knows what processes are called."""

    def value(self, node: ast.expr, scope: Scope) -> Any: ...

    def name(self, view: Automaton) -> str: ...


class Naming(ast.NodeTransformer):
    """Puts the names of processes where variables stand for them.

    To see that `self[Leader][0]` is a process it has to be evaluated, and may be only where Python has done so: in
    `len(p.log) > 0 and p.log[0] == 7` the second operand is for those whom the first lets through.
    """

    def __init__(self, reader: Reader, scope: Scope, reached: bool = True) -> None:
        self.reader = reader
        self.scope = scope
        self.reached = reached
        """Whether Python has evaluated what is being visited; False if that is not known."""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
            return self._comprehension(node)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.scope.get(node.id)
        return ast.Name(self.reader.name(value), node.ctx) if isinstance(value, Automaton) else node

    def _perhaps(self, node: Any, without: Iterable[str] = ()) -> Any:
        """The same for what may not have been evaluated, where these names mean something else."""
        scope = {name: value for name, value in self.scope.items() if name not in without}
        return Naming(self.reader, scope, reached=False).visit(node)

    def _truth_of(self, node: ast.expr) -> bool | None:
        known = all(each.id in self.scope for each in ast.walk(node) if isinstance(each, ast.Name))
        return bool(self.reader.value(node, self.scope)) if self.reached and known else None

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        goes_on = isinstance(node.op, ast.And)
        values: list[ast.expr] = []
        reached = True
        for operand in node.values:
            truth = self._truth_of(operand) if reached else None
            values.append(self.visit(operand) if reached else self._perhaps(operand))
            reached = reached and truth is goes_on
        return ast.BoolOp(node.op, values)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        truth = self._truth_of(node.test)
        body = (self.visit if truth is True else self._perhaps)(node.body)
        return ast.IfExp(self.visit(node.test), body, (self.visit if truth is False else self._perhaps)(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        first, *rest = node.comparators
        return ast.Compare(self.visit(node.left), node.ops, [self.visit(first), *map(self._perhaps, rest)])

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        node.body = self._perhaps(node.body, [each.arg for each in node.args.args])
        return node

    def _comprehension(self, node: Any) -> ast.expr:
        bound = [name for generator in node.generators for name in names(generator.target)]
        first = self.visit(node.generators[0].iter)
        for generator in node.generators:
            generator.iter = self._perhaps(generator.iter, bound)
            generator.ifs = [self._perhaps(condition, bound) for condition in generator.ifs]
        node.generators[0].iter = first
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                setattr(node, part, self._perhaps(getattr(node, part), bound))
        result: ast.expr = node
        return result

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """`self[Leader][0]` and `self[Monitor]` are processes too."""
        if not self.reached or any(isinstance(each, ast.Name) and each.id not in self.scope for each in ast.walk(node)):
            # Not known to be evaluated. Of `self[Leader]` a reader knows what it is without its name.
            self.generic_visit(node)
            return node
        value = self.reader.value(node, self.scope)
        if isinstance(value, Automaton):
            return ast.Name(self.reader.name(value), node.ctx)
        self.generic_visit(node)
        return node
