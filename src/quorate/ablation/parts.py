"""The parts of a protocol that can be taken out of it, found in the source of its handlers.

A part is an edit of one function. What is only there to be looked at is none: events and operations, assertions, local
variables. Nor is anything else that would raise at once without it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from quorate.ablation.sources import Source, Sources
from quorate.results.ablation import Part

SENDS = frozenset({"send", "reply"})
WATCHED = frozenset({"emit", "invoke", "returns"})
"""What properties see of a process; taking that away would change what is claimed, not what is done."""
DECORATORS = frozenset({"on", "quorum", "start", "step"})
STRICT = {ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Lt: ast.LtE, ast.LtE: ast.Lt}
SIGNS: dict[type[ast.cmpop], str] = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<="}
COUNTS = frozenset({"len", "sum"})
SIZES = ("majority", "quorum")
GUARDS = {"when": "guard", "where": "filter"}


@dataclass(frozen=True, eq=False)
class Site:
    """A part, and the edit that takes it out: of which function, at which node, how."""

    part: Part
    source: Source
    node: int
    """Its place in `ast.walk` of the function."""
    action: str
    detail: int = 0


@dataclass(frozen=True)
class _Edit:
    kind: str
    node: ast.AST
    """What is changed."""
    change: str
    action: str
    detail: int = 0
    shown: ast.AST | None = None
    """What is shown to be, if that is something else."""


def find_parts(sources: Sources) -> list[Site]:
    """All parts of the protocol, numbered from 1 in the order of the source."""
    found: list[Site] = []
    for source in sources.in_order():
        places = {node: place for place, node in enumerate(ast.walk(source.tree))}
        edits = sorted(_of_function(source), key=lambda each: _place(each.shown or each.node))
        for each in edits:
            shown = each.shown or each.node
            line, column, end_line, end_column = _place(shown)
            part = Part(
                len(found) + 1, each.kind, source.where, source.name, source.file, line, column, end_line, end_column,
                f"@{source.text(shown)}" if each.kind == "transition" else source.text(shown), each.change,
            )  # fmt: skip
            found.append(Site(part, source, places[each.node], each.action, each.detail))
    return found


def _place(node: ast.AST) -> tuple[int, int, int, int]:
    at: ast.expr = node  # type: ignore[assignment]
    return at.lineno, at.col_offset, at.end_lineno or at.lineno, at.end_col_offset or at.col_offset


def _of_function(source: Source) -> Iterator[_Edit]:
    tree = source.tree
    for number, decorator in enumerate(tree.decorator_list if source.is_transition else ()):
        name = decorator_name(decorator)
        if name in DECORATORS:
            yield _Edit("transition", tree, "never taken", "never taken", number, decorator)
            if isinstance(decorator, ast.Call):
                yield from _of_decorator(decorator, name, tree, number)
    for statement in tree.body:
        yield from _of_statement(statement)
    for statement in tree.body:
        yield from _of_expressions(statement)


def decorator_name(decorator: ast.expr) -> str:
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    name: str = getattr(call, "attr", "") or getattr(call, "id", "")
    return name


# --- decorators ------------------------------------------------------------------------------------------------


def _of_decorator(call: ast.Call, name: str, tree: ast.FunctionDef, number: int) -> Iterator[_Edit]:
    for place, keyword in enumerate(call.keywords):
        value = keyword.value
        if keyword.arg in GUARDS:
            yield _Edit(GUARDS[keyword.arg], call, "removed", "guard removed", place, value)
            if isinstance(value, ast.Lambda):
                yield from _junction(GUARDS[keyword.arg], value.body)
                yield from _of_expressions(value)
        elif keyword.arg == "same":
            yield _Edit("filter", call, "removed", "keyword removed", place, keyword)
        elif keyword.arg == "size" and not (isinstance(value, ast.Constant) and value.value == 1):
            yield _Edit("quorum size", call, "one less", "size less", place, keyword)
        elif keyword.arg == "each":
            yield _Edit("quorum size", call, "one less", "each less", place, keyword)
        elif keyword.arg == "enough" and isinstance(value, ast.Lambda):
            yield from _junction("guard", value.body)
            yield from _of_expressions(value)
    guards = [each.value for each in call.keywords if each.arg == "when"]
    if name == "quorum" and guards and not _uses_messages(tree):
        how = "not waited for" if _names(guards[0]) & _assigned(tree) else "not waited for once"
        yield _Edit("wait", tree, "does not wait for them", how, number, call)


def _uses_messages(tree: ast.FunctionDef) -> bool:
    messages = tree.args.args[1].arg if len(tree.args.args) > 1 else ""
    return any(isinstance(node, ast.Name) and node.id == messages for each in tree.body for node in ast.walk(each))


def _names(node: ast.AST) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _assigned(tree: ast.FunctionDef) -> set[str]:
    """The fields that a handler assigns: where its guard names none of them, it would stay possible for ever."""
    return {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)}


# --- statements ------------------------------------------------------------------------------------------------


def _of_statement(node: ast.stmt) -> Iterator[_Edit]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        mine = isinstance(called, ast.Attribute) and (_is_self(called.value) or _is_super(called.value))
        if isinstance(called, ast.Attribute) and mine and called.attr not in WATCHED:
            yield _Edit("send" if called.attr in SENDS else "call", node, "removed", "statement removed")
    elif isinstance(node, ast.Assign | ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
        yield from _of_assignment(node)
    elif isinstance(node, ast.If):
        yield from _of_if(node)
    for case in node.cases if isinstance(node, ast.Match) else ():
        yield from _of_case(case)
    inside: list[ast.AST] = [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    for block in inside:
        for name in ("body", "orelse", "finalbody"):
            for inner in getattr(block, name, ()):
                yield from _of_statement(inner)


def _of_assignment(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterator[_Edit]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if all(_is_field(each) for each in targets):
        yield _Edit("assignment", node, "removed", "statement removed")
        return
    target, value = targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for place, each in enumerate(target.elts if len(targets) == 1 else ()):
            if _is_field(each):
                yield _Edit("assignment", node, f"without {ast.unparse(each)}", "target removed", place)


def _of_if(node: ast.If) -> Iterator[_Edit]:
    yield _Edit("condition", node.test, "always true", "true")
    alone = len(node.body) == 1 and not node.orelse
    if not (alone and any(each.node is node.body[0] for each in _of_statement(node.body[0]))):
        yield _Edit("condition", node.test, "never true", "false")  # else it is the same as taking out the statement
    yield from _junction("condition", node.test)


def _of_case(case: ast.match_case) -> Iterator[_Edit]:
    """A case of `match` is a condition as well: what it looks like, and its guard."""
    if case.guard is not None:
        yield _Edit("condition", case.guard, "always true", "true")
        yield from _junction("condition", case.guard)
    yield _Edit("condition", case, "never true", "case removed", shown=case.pattern)


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_send(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and _is_self(node.value) and node.attr in SENDS


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _is_field(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and _is_self(node.value)


# --- expressions -----------------------------------------------------------------------------------------------


def _junction(kind: str, node: ast.AST) -> Iterator[_Edit]:
    """Each side of an `and` or an `or`: without it the others decide."""
    if isinstance(node, ast.BoolOp):
        for each in node.values:
            yield _Edit(kind, each, "removed", "true" if isinstance(node.op, ast.And) else "false")
            yield from _junction(kind, each)


def _of_expressions(node: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.Assert):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and _is_self(called.value) and called.attr in WATCHED:
            return
        for inner in ast.iter_child_nodes(node.value):  # the call itself is a statement, and looked at as one
            yield from _of_expressions(inner)
        return
    if isinstance(node, ast.Call) and _is_send(node.func):  # as in `[self.send(each, m) for each in ...]`
        yield _Edit("send", node, "removed", "call removed")
    if isinstance(node, ast.Compare):
        yield from _of_comparison(node)
    elif isinstance(node, ast.IfExp):
        yield _Edit("condition", node.test, "always true", "true")
        yield _Edit("condition", node.test, "never true", "false")
        yield from _junction("condition", node.test)
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from _junction("condition", node.value)
    elif isinstance(node, ast.comprehension):
        for each in node.ifs:
            yield _Edit("condition", each, "removed", "true")
            yield from _junction("condition", each)
    for inner in ast.iter_child_nodes(node):
        yield from _of_expressions(inner)


def _of_comparison(node: ast.Compare) -> Iterator[_Edit]:
    for place, operator in enumerate(node.ops):
        other = STRICT.get(type(operator))
        if other is not None:
            was, now = SIGNS[type(operator)], SIGNS[other]
            yield _Edit("comparison", node, f"`{now}` instead of `{was}`", "strictness", place)
    if len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Eq) and (_counts(left) or _is_size(right)):
            yield _Edit("quorum size", right, "one less", "less", shown=node)


def _counts(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in COUNTS


def _is_size(node: ast.AST) -> bool:
    name: str = getattr(node, "attr", "") or getattr(node, "id", "")
    return any(size in name for size in SIZES)
