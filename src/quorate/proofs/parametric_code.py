"""A model's code, so that loops over any number of processes can be seen: comprehensions become calls, as `is` does.

`{f(x) for x in s}` is `__image__(f(x) for x in s)`, a list likewise `__listing__(...)`, `{a, b}` is
`__display__((a, b))`, `a is b` is `__same__(a, b)`: the same values, computed where they can be intercepted. The code
is exchanged while a model is lent, and put back.
What has no source stays as it is: there a loop is refused where it begins, and `is` before it is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from quorate.proofs.lifting import Lifting
from quorate.proofs.parametric_idioms import SHIMS, length
from quorate.proofs.parametric_values import OfNumber
from quorate.proofs.proxies import SymInt
from quorate.proofs.recompiling import Calls, call
from quorate.proofs.shims import SHIMS as PLAIN_SHIMS
from quorate.proofs.shims import lifted_majority


def _majority(of: Any) -> Any:
    return (of if isinstance(of, (SymInt, OfNumber)) else length(of)) // 2 + 1


class LoopCalls(Calls, ast.NodeTransformer):
    """Comprehensions and displays as calls, too."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self.generic_visit(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return call("__image__", [ast.GeneratorExp(node.elt, node.generators)], node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        return call("__listing__", [ast.GeneratorExp(node.elt, node.generators)], node)

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return call("__display__", [ast.Tuple(node.elts, ast.Load())], node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("set", "frozenset") and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            return call("__image__", [*node.args, node.func], node)
        return self._given(node)


_ABSENT = object()


class Rewriting(Lifting):
    """A model that runs on any number of processes."""

    how = LoopCalls

    @contextmanager
    def lent(self) -> Iterator[None]:
        with super().lent(), self._shimmed():
            yield

    @contextmanager
    def _shimmed(self) -> Iterator[None]:
        """The built-ins that know of members, in place of those that lifting has put there."""
        undo: list[tuple[dict[str, Any], str, Any]] = []
        try:
            for space in self._spaces.values():
                mine: dict[str, Any] = {name: _majority for name, value in space.items() if value is lifted_majority}
                for name, shim in SHIMS.items():  # a model's own `all` stays its own
                    if name not in space or space[name] is PLAIN_SHIMS.get(name):
                        mine[name] = shim
                for name, value in mine.items():
                    undo.append((space, name, space.get(name, _ABSENT)))
                    space[name] = value
            yield
        finally:
            for space, name, value in reversed(undo):
                if value is _ABSENT:
                    del space[name]
                else:
                    space[name] = value
