"""A model's functions with some expressions exchanged for calls, so that they can be intercepted.

What `is` compares, Python does not ask the operands about: `a is b` becomes `__same__(a, b)`, and what `match` is about
`__settled__(...)`. What truth values add up to is a plain integer: `a + b` becomes `__lifted__(a + b)`. Of a place in a
sequence, Python wants the number itself: `a[i]` becomes `__item__(a, i)`, which knows how many places there are. In
which order a set comes depends on the numbers in it: where that may matter, `s` becomes `__ordered__(s)`. Where an
exception may be caught, `__caught__()` looks at it first: what is no integer may have raised it where an integer
would not. The whole source file is compiled again and each function found in it, so that names, closures and lambdas
mean what they meant. A function whose source is not found keeps its code; where it asks for identity or catches
exceptions it is refused.
"""

from __future__ import annotations

import ast
import dis
import linecache
import sys
import types
import warnings
from collections.abc import Iterator

from quorate.base.errors import Location
from quorate.proofs.refusal import RefusedError

_Codes = dict[tuple[str, int], list[types.CodeType]]


class Calls(ast.NodeTransformer):
    """`is` and `match` as calls."""

    def __init__(self) -> None:
        self.imported: set[str] = set()
        """Names from modules of Python, to whose functions the order may matter."""

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

    # The order of sets

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._over(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        return self._over(node)

    def _over(self, node: ast.For | ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = _ordered(node.iter)
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._in_any_order(node)

    def _in_any_order(self, node: ast.SetComp | ast.ListComp | ast.GeneratorExp) -> ast.AST:
        """A comprehension over sets of which the order makes no difference."""
        node.elt = self.visit(node.elt)
        for each in node.generators:
            self.generic_visit(each)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _ordered(node.value)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        self.generic_visit(node)
        node.value = _ordered(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(each, (ast.Tuple, ast.List)) for each in node.targets):
            node.value = _ordered(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        keyed = any(each.arg in ("key", None) for each in node.keywords)
        if name in _ANY_ORDER and not keyed and len(node.args) == 1 and _is_loop(node.args[0]):
            node.args = [self._in_any_order(node.args[0])]  # type: ignore[arg-type, list-item]
            node.keywords = [self.visit(each) for each in node.keywords]
            return node
        self.generic_visit(node)
        return self._given(node)

    def _given(self, node: ast.Call) -> ast.Call:
        """A call whose function may go through a set that it is given."""
        function = node.func
        name = function.id if isinstance(function, ast.Name) else ""
        method = function.attr if isinstance(function, ast.Attribute) else ""
        if method == "pop" and not (node.args or node.keywords):
            return call("__pop__", [function.value], node)  # type: ignore[attr-defined]
        keyed = any(each.arg in ("key", None) for each in node.keywords)
        goes = name in _ONE_BY_ONE or method in _METHODS or (keyed and name in _ANY_ORDER)
        if goes or _root(function) in self.imported:
            node.args = [each if isinstance(each, ast.Starred) else _ordered(each) for each in node.args]
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        for each in ast.walk(node):
            if isinstance(each, ast.Import):
                taken = [(name.name, name) for name in each.names]
            elif isinstance(each, ast.ImportFrom):
                taken = [(each.module or "", name) for name in each.names]
            else:
                continue
            for module, name in taken:
                if module.partition(".")[0] in sys.stdlib_module_names:
                    self.imported.add((name.asname or name.name).partition(".")[0])
        return self.generic_visit(node)

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


_ANY_ORDER = {"sum", "set", "frozenset", "len", "min", "max", "sorted"}
"""Functions that give the same for every order, unless a key makes different things equal."""
_ONE_BY_ONE = {"list", "tuple", "iter", "enumerate", "zip", "map", "filter", "dict"}
_METHODS = {"extend", "fromkeys", "join"}


def _ordered(node: ast.expr) -> ast.expr:
    if isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)):
        return node
    return call("__ordered__", [node], node)


def _is_loop(node: ast.expr) -> bool:
    return isinstance(node, (ast.ListComp, ast.GeneratorExp))


def _root(node: ast.expr) -> str:
    """The name that an attribute is asked of, or that of an attribute of an attribute."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


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


def iterates(code: types.CodeType) -> bool:
    """Whether the code goes through what may be a set."""
    for each in dis.get_instructions(code):
        if each.opname in _ITERATES or (each.opname == "LOAD_GLOBAL" and each.argval in _ONE_BY_ONE):
            return True
    return any(iterates(each) for each in code.co_consts if isinstance(each, types.CodeType))


_ITERATES = {"GET_ITER", "GET_YIELD_FROM_ITER", "UNPACK_SEQUENCE", "UNPACK_EX", "LIST_EXTEND", "CALL_FUNCTION_EX"}


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
