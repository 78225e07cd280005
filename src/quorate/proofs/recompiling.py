"""A model's functions with some expressions exchanged for calls, so that they can be intercepted.

What `is` compares, Python does not ask the operands about: `a is b` becomes `__same__(a, b)`, and what `match` is about
`__settled__(...)`. What truth values add up to is a plain integer: `a + b` becomes `__lifted__(a + b)`. Of a place in a
sequence, Python wants the number itself: `a[i]` becomes `__item__(a, i)`, which knows how many places there are. Where
an exception may be caught, `__caught__()` looks at it first: what is no integer may have raised it where an integer
would not. The whole source file is compiled again and each function found in it, so that names, closures and lambdas
mean what they meant. A function whose source is not found keeps its code; where it asks for identity or catches
exceptions it is refused.
"""

from __future__ import annotations

import ast
import dis
import linecache
import types
import warnings
from collections.abc import Iterator

from quorate.base.errors import Location
from quorate.proofs.refusal import RefusedError

_Codes = dict[tuple[str, int], list[types.CodeType]]


class Calls(ast.NodeTransformer):
    """`is` and `match` as calls."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        asks = [isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops]
        if not any(asks) or (len(asks) == 1 and _is_none(node.comparators[0])):
            return node
        if len(asks) > 1:
            return call("__chain__", [], node)
        found: ast.expr = call("__same__", [node.left, node.comparators[0]], node)
        if isinstance(node.ops[0], ast.IsNot):
            found = ast.copy_location(ast.UnaryOp(ast.Not(), found), node)
        return found

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, (ast.Constant, ast.Slice, ast.Tuple)):
            return node
        return call("__item__", [node.value, node.slice], node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, _SUMS) or _is_number(node.left) or _is_number(node.right):
            return node
        return call("__lifted__", [node], node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, _SUMS) and not _is_number(node.value):
            node.value = call("__number__", [node.value], node.value)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, (ast.USub, ast.Invert)) or _is_number(node.operand):
            return node
        return call("__lifted__", [node], node)

    def visit_Try(self, node: ast.Try) -> ast.AST:
        return self._looking(node)

    def visit_TryStar(self, node: ast.TryStar) -> ast.AST:
        return self._looking(node)

    def _looking(self, node: ast.Try | ast.TryStar) -> ast.AST:
        self.generic_visit(node)
        for body in (*(each.body for each in node.handlers), node.finalbody):
            if body:
                body.insert(0, _looked(body[0]))
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        first = node.body[0]
        handler = ast.ExceptHandler(None, None, [_looked(first), ast.Raise()])
        guarded = ast.copy_location(ast.Try(node.body, [handler], [], []), first)
        node.body = [ast.fix_missing_locations(guarded)]
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        self.generic_visit(node)
        node.subject = call("__settled__", [node.subject], node.subject)
        return node


def _looked(at: ast.stmt) -> ast.stmt:
    """A look at the exception that has just been caught, or passes by."""
    return ast.copy_location(ast.Expr(call("__caught__", [], at)), at)


_SUMS = (ast.Add, ast.Sub, ast.LShift)
"""What makes integers other than 0 and 1 of truth values, beside signs."""


def _is_number(node: ast.expr) -> bool:
    """An integer, which is lifted, so that what is computed with it is; or a text, which is no truth value."""
    return isinstance(node, (ast.Constant, ast.JoinedStr)) and not isinstance(getattr(node, "value", None), bool)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def call(name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
    made = ast.Call(ast.Name(name, ast.Load()), arguments, [])
    ast.copy_location(made, at)
    return ast.fix_missing_locations(made)


_compiled: dict[tuple[str, type[Calls]], tuple[str, _Codes, _Codes]] = {}


def recompiled(function: types.FunctionType, how: type[Calls]) -> types.CodeType | None:
    """The code of a function with its expressions as calls; None if its source is not found."""
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    if not text:
        return None
    known = _compiled.get((code.co_filename, how))
    if known is None or known[0] != text:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                plain = compile(text, code.co_filename, "exec", dont_inherit=True)
                changed = compile(how().visit(ast.parse(text)), code.co_filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None
        known = _compiled[code.co_filename, how] = text, _functions(plain), _functions(changed)
    key = code.co_qualname, code.co_firstlineno
    _, before, after = known
    if key not in before or len(before[key]) != len(after.get(key, ())):
        return None
    # pytest rewrites the assertions of its modules; everything else is to be the code that was read.
    rewritten = any("@py" in name for name in (*code.co_names, *code.co_varnames))
    for one, other in zip(before[key], after[key], strict=True):
        same = one == code and list(one.co_positions()) == list(code.co_positions())
        if same or (rewritten and len(before[key]) == 1 and one.co_varnames == _own(code.co_varnames)):
            return other if other.co_freevars == code.co_freevars else None
    return None


def _own(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in names if not each.startswith("@py"))


def _functions(module: types.CodeType) -> _Codes:
    found: _Codes = {}
    todo = [module]
    while todo:
        for constant in todo.pop().co_consts:
            if isinstance(constant, types.CodeType):
                todo.append(constant)
                found.setdefault((constant.co_qualname, constant.co_firstlineno), []).append(constant)
    return found


def identities(code: types.CodeType) -> Iterator[dis.Instruction]:
    """Where the code compares with `is`, other than with None: nothing is None but None."""
    listed = list(dis.get_instructions(code))
    for at, each in enumerate(listed):
        if each.opname == "IS_OP" and not (listed[at - 1].opname == "LOAD_CONST" and listed[at - 1].argval is None):
            yield each
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from identities(constant)


def sums(code: types.CodeType) -> bool:
    """Whether the code adds up what may be truth values."""
    before: dis.Instruction | None = None
    for each in dis.get_instructions(code):
        if each.opname in ("UNARY_NEGATIVE", "UNARY_INVERT"):
            return True
        if each.opname == "BINARY_OP" and each.argrepr.rstrip("=") in ("+", "-", "<<"):
            constant = before is not None and before.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
            if not constant or before is None or isinstance(before.argval, bool):
                return True
        before = each
    return any(sums(each) for each in code.co_consts if isinstance(each, types.CodeType))


def subscripts(code: types.CodeType) -> bool:
    """Whether the code takes an item by what may be an unknown integer."""
    before: dis.Instruction | None = None
    for each in dis.get_instructions(code):
        takes = each.opname == "BINARY_SUBSCR" or (each.opname == "BINARY_OP" and each.argrepr == "[]")
        if takes and (before is None or before.opname != "LOAD_CONST"):
            return True
        before = each
    return any(subscripts(each) for each in code.co_consts if isinstance(each, types.CodeType))


def catches(code: types.CodeType) -> Iterator[dis.Instruction]:
    """Where the code catches exceptions, or may do something else on their way."""
    yield from (each for each in dis.get_instructions(code) if each.opname == "PUSH_EXC_INFO")
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from catches(constant)


def refuse_unknown(code: types.CodeType) -> None:
    """Refuse a function whose source is not found, if it needs to be compiled again."""
    for found, what, hint in (
        (identities(code), "compares with `is`", "write it in a file, or compare with =="),
        (catches(code), "catches exceptions", "write it in a file"),
    ):
        for each in found:
            line = each.positions.lineno if each.positions is not None else None
            place = Location(code.co_filename, line or code.co_firstlineno)
            raise RefusedError(f"{what} where its source is not found", hint, place)
