"""A protocol without one of its parts, for as long as it is looked at.

The function that has the part is compiled again from its changed tree, in the namespace it came from and with the lines
it had, and the original runs what came of it. So messages and values are of the same classes, and whatever goes wrong
is told with the line of the user's file.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from quorate.ablation.parts import DECORATORS, STRICT, Site, decorator_name
from quorate.ablation.sources import Source
from quorate.language.declared import MARK

_MAKE = "_quorate_variant"
CHANGED = ("__code__", "__defaults__", "__kwdefaults__")
"""What another version of a function has of its own."""


@contextmanager
def without(site: Site) -> Iterator[None]:
    """While this lasts, the part is not there.

    The function stays the same object and gets other code, since it may be known by more than its name: as the guard
    of a transition, imported into another module, in a table of handlers.
    """
    source = site.source
    changed = _compiled(source, changed_tree(site))
    before = {name: getattr(source.function, name) for name in CHANGED}
    declared = getattr(source.kept, MARK, None)
    for name in CHANGED:
        setattr(source.function, name, getattr(changed, name))
    if source.is_transition and hasattr(changed, MARK):
        setattr(source.kept, MARK, getattr(changed, MARK))
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(source.function, name, value)
        if declared is not None:
            setattr(source.kept, MARK, declared)


def changed_tree(site: Site) -> ast.FunctionDef:
    """The function as it is without the part."""
    tree = copy.deepcopy(site.source.tree)
    node: Any = list(ast.walk(tree))[site.node]
    new = _edited(node, site.action, site.detail)
    if new is not None:
        tree = _Replaced(node, new).visit(tree)
    return ast.fix_missing_locations(tree)


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return ast.copy_location(self.new, node) if node is self.old else self.generic_visit(node)


def _edited(node: Any, action: str, detail: int) -> ast.AST | None:
    """What stands in the place of the node; None if the node itself was changed."""
    match action:
        case "true" | "false":
            if not any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
                return ast.Constant(action == "true")
            # What it names is needed where it is used: that is no part of the condition.
            form = ast.Or() if action == "true" else ast.And()
            return ast.BoolOp(form, [node, ast.Constant(action == "true")])
        case "statement removed":
            return ast.Pass()
        case "call removed":
            return ast.Constant(None)
        case "target removed":
            del node.targets[0].elts[detail]
            del node.value.elts[detail]
        case "case removed":
            kept = [] if node.guard is None else [node.guard]  # what it names may be used further down
            node.guard = ast.BoolOp(ast.And(), [*kept, ast.Constant(False)]) if kept else ast.Constant(False)
        case "strictness":
            node.ops[detail] = STRICT[type(node.ops[detail])]()
        case "less":
            return ast.BinOp(node, ast.Sub(), ast.Constant(1))
        case "guard removed":
            node.keywords[detail].value = _constant(node.keywords[detail].value, True)
        case "keyword removed":
            del node.keywords[detail]
        case "size less":
            node.keywords[detail].value = _of_self(node.keywords[detail].value, "max(1, ({}) - 1)")
        case "each less":
            node.keywords[detail].value = _of_self(node.keywords[detail].value, "tuple({})[1:]")
        case "never taken":
            _never_taken(node, detail)
        case "not waited for" | "not waited for once":
            call = node.decorator_list[detail]
            when = [each for each in call.keywords if each.arg in ("when", "fair")]
            step = _expression(f"__import__('quorate').{'start' if action.endswith('once') else 'step'}")
            node.decorator_list[detail] = ast.copy_location(ast.Call(step, [], when), call)
            node.args.defaults = [_expression("frozenset()")]
        case _:
            raise AssertionError(action)
    return None


def _never_taken(node: ast.FunctionDef, place: int) -> None:
    decorator = node.decorator_list[place]
    call = decorator if isinstance(decorator, ast.Call) else ast.copy_location(ast.Call(decorator, [], []), decorator)
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    call.keywords = [each for each in call.keywords if each.arg != "when"]
    guard = "lambda self, m: False" if name == "on" else "lambda self: False"
    call.keywords.append(ast.keyword("when", _expression(guard)))
    node.decorator_list[place] = call


def _constant(guard: ast.expr, value: bool) -> ast.expr:
    """A guard that says the same of everything."""
    if isinstance(guard, ast.Lambda):
        return ast.copy_location(ast.Lambda(guard.args, ast.Constant(value)), guard)
    return _expression(f"lambda *_: {value}")


def _of_self(value: ast.expr, form: str) -> ast.expr:
    """What a decorator was told of a number or of senders, with something done to it."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        inner = f"self.{value.value}"
    elif isinstance(value, ast.Lambda):
        inner = f"({ast.unparse(value)})(self)"
    elif isinstance(value, ast.Constant):
        inner = str(value.value)
    else:
        inner = f"({ast.unparse(value)})(self)"
    return ast.copy_location(_expression(f"lambda self: {form.format(inner)}"), value)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _compiled(source: Source, tree: ast.FunctionDef) -> FunctionType:
    """The function, made inside of one whose parameters stand for the names around it: `super()` needs its class."""
    original = source.function
    given: dict[str, Any] = {}
    # Of the decorators only what Quorate declares may have changed; others have done their work.
    tree.decorator_list = [each for each in tree.decorator_list if decorator_name(each) in DECORATORS]
    if isinstance(source.owner, type):
        # Decorators are read inside of the class, and see what it has defined before.
        named = {node.id for each in tree.decorator_list for node in ast.walk(each) if isinstance(node, ast.Name)}
        given = {name: value for name, value in vars(source.owner).items() if name in named}
        given["__class__"] = source.owner
    if original.__closure__ is not None:  # the code has to look for its class, even where it no longer calls `super()`
        tree.body.append(ast.If(ast.Constant(False), [ast.Expr(ast.Name("__class__", ast.Load()))], []))
    tree.returns = None
    for each in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
        each.annotation = None
    module = ast.parse(f"def {_MAKE}({', '.join(given)}): return {tree.name}")
    made = module.body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body.insert(0, tree)
    space: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(module), source.file, "exec"), original.__globals__, space)
    function = space[_MAKE](**given)
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_qualname=original.__code__.co_qualname)  # as tracebacks tell it
    function.__qualname__, function.__module__ = original.__qualname__, original.__module__
    return function
