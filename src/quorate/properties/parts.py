"""Properties by parts: what one says of each process of a role alone, and what it makes of these answers.

    all(p.x in range(3) for p in self[Worker]) and sum(p.busy for p in self[Worker]) <= 1

reads of each worker whether its `x` is in range and whether it is busy, and nothing else. Each such *element* is a
field of the process that the model did not write down: it is evaluated once for each local state, a property sees no
other difference between local states, and the answers for all processes are folded from left to right. So a property
costs what its local states and the values of its folds cost, not what the combinations of all processes would.

What is taken apart is found in the source. An element names nothing but its process, what lies outside of the property
and constants of the system, so it is a function of one local state. The rest of the property is compiled anew with a
call in the place of each fold, and so is Python's in every respect. An element that raises, or whose value is no value
of the language, is not folded: the property is evaluated as it was written, with whatever it reads then. Whatever is
not understood is left as it is.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from quorate.base.errors import Signal
from quorate.base.values import encode
from quorate.base.watchdog import Halted, supervised
from quorate.language.process import Process
from quorate.model.views import CRASH_FLAG, Panel

if TYPE_CHECKING:
    from quorate.model.definition import Definition, Property
    from quorate.model.outcome import Local

_FOLD, _SKIP, _OWN = "_quorate_fold", "_quorate_skip", "_quorate_own"
_SKIPPED = object()

LEFT_OUT = b"\x02"
"""What stands for the element of a process that an `if` leaves out. No encoding of a value begins so."""
NOT_A_PART = b"\x03"
"""What stands for an element that cannot be told by itself: it raises, or asks whether the process has crashed."""

SUMS = frozenset({"sum", "max", "min"})
FOLDED = frozenset({"all", "any"}) | SUMS
"""Functions that take all they are given in its order, and whose result is the fold."""
GATHERED = frozenset({"set", "frozenset", "list", "tuple", "sorted"})
"""Functions that take all they are given, whatever becomes of it."""
REFUSED = (
    ast.Try, ast.TryStar, ast.With, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal,
    ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom, ast.Match,
)  # fmt: skip
"""What may see more of a property than its value, that part of it raised, or its own variables; and what sets a
variable that no `ast.Name` tells."""
SEEING = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec", "__class__", _FOLD, _SKIP, _OWN})


class Element(NamedTuple):
    """What a fold reads of one process, encoded; as an answer that can be asked for again."""

    value: bytes
    reads: tuple[()] = ()


class NotByParts(Signal):
    """An element cannot be told by itself, so the property is to be evaluated as it was written."""


class Fold:
    """One comprehension over a role: its elements, and how they are put together."""

    def __init__(self, number: int, columns: tuple[int, ...], kind: str, function: Callable[[Any], Any]) -> None:
        self.number = number
        self.columns = columns
        self.kind = kind
        """How elements are put together: `all`, `any`, `sum`, `max`, `min`, `count` or `set`; `list` keeps them all."""
        self.function = function
        self.values: dict[bytes, Any] = {}
        """The elements that were met, by their encoding."""
        self.places: dict[int, int] = {}
        """By column: which of its folds this one is."""

    @property
    def any_order(self) -> bool:
        """Whether the order of the processes makes no difference."""
        return self.kind != "list"

    def folds(self, element: bytes) -> bool:
        """Whether it is known how to put such an element together with others."""
        if element == NOT_A_PART:
            return False
        if element == LEFT_OUT or self.kind not in SUMS:
            return True
        # Of what else can be added, or compared, the order may count.
        return type(self.values[element]) is int or (self.kind == "sum" and type(self.values[element]) is bool)

    def begin(self) -> Any:
        return {"all": True, "any": False, "sum": 0, "count": 0, "set": frozenset()}.get(self.kind, ())

    def add(self, so_far: Any, element: bytes) -> Any:
        """What is known of the fold after one more element."""
        value = self.values[element]
        if self.kind in ("all", "any"):
            return bool(value)
        if self.kind in ("sum", "count"):
            return so_far + (value if self.kind == "sum" else 1)
        if self.kind in ("max", "min"):
            return ((max if self.kind == "max" else min)([*so_far, value]),)
        return so_far | {element} if self.kind == "set" else (*so_far, element)

    def ends(self, so_far: Any) -> bool:
        """Whether no further element is looked at."""
        return self.kind in ("all", "any") and so_far is (self.kind == "any")

    def result(self, so_far: Any) -> Any:
        """What stands in the property in the place of the fold."""
        if self.kind in ("max", "min"):
            return max(so_far)  # of one, or of nothing, which raises as it does in the property
        if self.kind == "set":
            return {self.values[element] for element in sorted(so_far)}
        return [self.values[element] for element in so_far] if self.kind == "list" else so_far


Read = tuple[int, int, int, bytes, Any]
"""Of a fold: the process, -1, the fold, the element, and what is known of the fold after it."""


class Parts:
    """A property taken apart: its folds, and what it makes of them."""

    def __init__(self, definition: Definition, prop: Property, source: _Source, rest: ast.FunctionDef) -> None:
        self.property = prop
        self.folds = source.folds
        self.symmetric = source.only_folds(rest) and all(fold.any_order for fold in self.folds)
        """Whether it is about folds alone whose order makes no difference."""
        self._panel = Panel(definition)
        self._cell = CellType()
        self._function = source.compiled(rest, {_FOLD: self._cell})

    def element(self, fold: Fold, column: int, local: Local) -> bytes:
        """What a fold reads of a process in a local state."""
        found = self._asked(fold, column, local)
        self.property.sample.note(self._asked, (fold, column, local), found)
        return found.value

    def part(self, fold: Fold, column: int, local: Local) -> Any:
        """The same as the value that it is."""
        element = self._asked(fold, column, local).value
        return fold.values.get(element, element)

    def _asked(self, fold: Fold, column: int, local: Local) -> Element:
        view = self._panel.alone(column, local)
        try:
            value = supervised(lambda: fold.function(view))
            if value is _SKIPPED:
                return Element(LEFT_OUT)
            encoded = supervised(lambda: encode(value))
        except Halted:
            raise
        except BaseException:  # it may be the property's business to raise, or nobody asks for it there
            return Element(NOT_A_PART)
        if any(field == CRASH_FLAG for _, field in self._panel.reads):
            return Element(NOT_A_PART)
        fold.values.setdefault(encoded, value)
        return Element(encoded)

    def evaluate(
        self, locals: tuple[Local, ...], element_of: Callable[[Fold, int], bytes]
    ) -> tuple[bool | None, list[Any]]:
        """The answer, or None if it is to be evaluated as it was written; and what was read, in its order.

        What was read is (column, field) of a field, and a `Read` of a fold.
        """
        shown = self._panel.show(locals)
        known: dict[int, Any] = {}

        def fold(number: int) -> Any:
            return self._fold(self.folds[number], known, element_of)

        self._cell.cell_contents = fold  # the property's own name for it
        try:
            value = supervised(lambda: self._function(shown))
        except Halted:
            raise
        except BaseException:
            value = None
        reads = list(self._panel.reads)
        return (value if type(value) is bool else None), reads

    def _fold(self, fold: Fold, known: dict[int, Any], element_of: Callable[[Fold, int], bytes]) -> Any:
        if fold.number not in known:
            so_far = fold.begin()
            for column in fold.columns:
                element = element_of(fold, column)
                if not fold.folds(element):
                    self._panel.reads[column, -1, fold.number, element, None] = None
                    raise NotByParts
                if element != LEFT_OUT:
                    so_far = fold.add(so_far, element)
                self._panel.reads[column, -1, fold.number, element, so_far] = None
                if fold.ends(so_far):
                    break
            known[fold.number] = so_far
        return fold.result(known[fold.number])


def parts_of(definition: Definition, prop: Property) -> Parts | None:
    """The property taken apart, if there is anything to take apart and its source is understood."""
    try:
        source = _Source(definition, prop.function)
        rest = source.taken_apart()
        return Parts(definition, prop, source, rest) if source.folds else None
    except (_NotUnderstoodError, OSError, SyntaxError, ValueError, TypeError):
        return None


class _NotUnderstoodError(Exception):
    """The source is not what runs, or does something that nothing is known of."""


class _Read(NamedTuple):
    """The text of a function, with as many empty lines before it as there are lines, and what it was compiled to."""

    text: str
    code: CodeType


_READ: WeakKeyDictionary[Any, _Read] = WeakKeyDictionary()
"""Texts that were compared with what runs: every check of a system reads its properties."""


def _source_of(function: FunctionType) -> _Read:
    lines, first = inspect.getsourcelines(function)
    return _Read("\n" * (first - 1) + textwrap.dedent("".join(lines)), function.__code__)


class _Source(ast.NodeTransformer):
    """The source of a property, and what is found in it."""

    def __init__(self, definition: Definition, function: Any) -> None:
        if type(function) is not FunctionType:
            raise _NotUnderstoodError
        self.definition = definition
        self.function = function
        self.folds: list[Fold] = []
        known = _READ.get(function)
        read = known if known is not None and known.code is function.__code__ else _source_of(function)
        tree = ast.parse(read.text)
        node = tree.body[0]
        if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 1 or function.__code__.co_argcount != 1:
            raise _NotUnderstoodError
        node.decorator_list = []
        node.returns = None
        node.name = _OWN  # where it stands its own name means something else: a function of the module, say
        self.node = node
        self.self_name = node.args.args[0].arg
        if read is not known:
            self._refuse()
            self._same_code(self.compiled(node, {}).__code__)
            _READ[function] = read
        self._parents = {child: each for each in ast.walk(node) for child in ast.iter_child_nodes(each)}
        self._bound = _bound(node)

    def _refuse(self) -> None:
        for each in ast.walk(self.node):
            if isinstance(each, REFUSED) and each is not self.node:
                raise _NotUnderstoodError
            name = each.id if isinstance(each, ast.Name) else each.attr if isinstance(each, ast.Attribute) else ""
            if name in SEEING or (name.startswith("__") and not name.endswith("__")):
                raise _NotUnderstoodError

    def _same_code(self, code: CodeType) -> None:
        """The file may have changed since it was imported, or a decorator may have put another function here."""
        if not _same(code, self.function.__code__):
            raise _NotUnderstoodError

    # Functions from trees

    def compiled(self, node: ast.FunctionDef, captured: dict[str, CellType]) -> FunctionType:
        """A function as if it stood where the property stands, with some more variables around it."""
        function = self.function
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)) | captured
        arguments = ast.arguments([], [ast.arg(name) for name in cells], None, [], [], None, [])
        around = ast.FunctionDef("around", arguments, [node], [])
        module = ast.fix_missing_locations(ast.Module([around], []))
        flags = function.__code__.co_flags & _FUTURE
        code = compile(module, function.__code__.co_filename, "exec", flags, dont_inherit=True)
        for _ in range(2):
            code = next(each for each in code.co_consts if isinstance(each, CodeType))
        code = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)
        closure = tuple(cells[name] for name in code.co_freevars)
        return FunctionType(code, function.__globals__, function.__name__, None, closure)

    # Finding folds

    def taken_apart(self) -> ast.FunctionDef:
        """The property with calls in the place of its folds."""
        node: ast.FunctionDef = self.visit(self.node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func.id if isinstance(node.func, ast.Name) and self._is_builtin(node.func.id) else ""
        if len(node.args) == 1 and not node.keywords:
            argument = node.args[0]
            if called in FOLDED and isinstance(argument, ast.GeneratorExp):
                found = self._fold(argument, called)
            elif called == "len" and isinstance(argument, ast.ListComp):
                found = self._fold(argument, "count")
            elif called in GATHERED and isinstance(argument, ast.GeneratorExp):
                kind = "set" if called in ("set", "frozenset") and self._is_unordered(node) else "list"
                found = self._fold(argument, kind)
                node.args = [found or argument]
                return node if found else self.generic_visit(node)
            else:
                found = None
            if found:
                return found
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._fold(node, "list") or self.generic_visit(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        gathered = self._fold(node, "set" if self._is_unordered(node) else "list")
        if gathered is None:
            return self.generic_visit(node)
        return ast.copy_location(ast.SetComp(ast.Name("each", ast.Load()), [
            ast.comprehension(ast.Name("each", ast.Store()), gathered, [], 0)
        ]), node)  # fmt: skip

    def _is_builtin(self, name: str) -> bool:
        known = (*self.function.__code__.co_freevars, *self._bound)
        return name not in known and name not in self.function.__globals__ and hasattr(builtins, name)

    def _is_unordered(self, node: ast.expr) -> bool:
        """Whether nobody can see in which order a set was filled: it is compared, counted or asked for members."""
        parent = self._parents.get(node)
        if isinstance(parent, ast.Compare):
            return all(isinstance(each, _COMPARISONS) for each in parent.ops)
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Name) and parent.func.id == "len" and self._is_builtin("len")
        if isinstance(parent, ast.UnaryOp):
            return isinstance(parent.op, ast.Not)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            name = parent.targets[0].id
            uses = [each for each in ast.walk(self.node) if isinstance(each, ast.Name) and each.id == name]
            loads = [each for each in uses if isinstance(each.ctx, ast.Load)]
            return len(uses) == len(loads) + 1 and all(map(self._is_unordered, loads))
        return False

    def _fold(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, kind: str) -> ast.expr | None:
        """A call in the place of a comprehension, if that is over the processes of a role, each by itself."""
        generator, *more = node.generators
        target = generator.target
        if more or generator.is_async or not isinstance(target, ast.Name):
            return None
        columns = self._role(generator.iter)
        if not columns or not all(self._is_alone(each, target.id) for each in (node.elt, *generator.ifs)):
            return None
        element: ast.expr = node.elt
        if generator.ifs:
            conditions = generator.ifs if len(generator.ifs) == 1 else [ast.BoolOp(ast.And(), list(generator.ifs))]
            element = ast.IfExp(conditions[0], element, ast.Name(_SKIP, ast.Load()))
        arguments = ast.arguments([], [ast.arg(target.id)], None, [], [], None, [])
        alone = ast.FunctionDef(_OWN, arguments, [ast.Return(element)], [])
        ast.copy_location(alone, node)
        captured = {self.self_name: CellType(self.definition.system), _SKIP: CellType(_SKIPPED)}
        function = self.compiled(ast.fix_missing_locations(alone), captured)
        self.folds.append(Fold(len(self.folds), columns, kind, function))
        call = ast.Call(ast.Name(_FOLD, ast.Load()), [ast.Constant(len(self.folds) - 1)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def _role(self, node: ast.expr) -> tuple[int, ...]:
        """The columns of `self[Role]`, or of a variable that holds it."""
        if isinstance(node, ast.Name):
            held = [
                each.value
                for each in self.node.body
                if isinstance(each, ast.Assign) and each.lineno < node.lineno
                for name in each.targets
                if isinstance(name, ast.Name) and name.id == node.id
            ]
            if len(held) != 1 or self._bound.count(node.id) != 1:  # a lambda or a comprehension may hide it
                return ()
            node = held[0]
        if not (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == self.self_name
            and self._bound.count(self.self_name) == 1
            and isinstance(node.slice, ast.Name)
            and node.slice.id not in self._bound
        ):
            return ()
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        name = node.slice.id
        role = cells[name].cell_contents if name in cells else self.function.__globals__.get(name)
        if not (isinstance(role, type) and issubclass(role, Process)):
            return ()
        return tuple(
            column.index
            for column in self.definition.columns
            if issubclass(column.cls, role) and (role._byzantine or not column.cls._byzantine)
        )

    def _is_alone(self, node: ast.expr, process: str) -> bool:
        """Whether an expression is about one process, and about constants."""
        within = _bound(node)
        if process in within or self.self_name in within:
            return False
        # Variables of the property, and of comprehensions around this one.
        around = Counter(self._bound) - Counter(within)
        del around[process]
        constants = set(_constants_of(node, self.self_name, self.definition.system.__dict__))
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each not in constants]
        return all(each.id == process or each.id not in around for each in names)

    def only_folds(self, rest: ast.FunctionDef) -> bool:
        """Whether the rest of a property is about its folds and constants alone."""
        constants = set(_constants_of(rest, self.self_name, self.definition.system.__dict__))
        held: list[ast.AST] = []
        targets: set[str] = set()
        for each in rest.body:
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Subscript):
                held.append(each.value.value)
                targets |= {name.id for name in each.targets if isinstance(name, ast.Name)}
        loaded = {each.id for each in ast.walk(rest) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        if targets & loaded:
            return False
        return all(
            each in constants or each in held
            for each in ast.walk(rest)
            if isinstance(each, ast.Name) and each.id == self.self_name
        )


_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn)
_FUTURE = 0x1000000  # annotations, the only one that still makes a difference


def _bound(node: ast.AST) -> list[str]:
    """All names that are set within a tree, once for each place: by assignments, comprehensions and lambdas."""
    nodes = list(ast.walk(node))
    places = [each for each in nodes if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)]
    return [each.id for each in places] + [each.arg for each in nodes if isinstance(each, ast.arg)]


def _constants_of(node: ast.AST, name: str, held: dict[str, Any]) -> Iterator[ast.Name]:
    """Where a tree names an object for the sake of one of its own attributes: `self.servers`."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == name:
            constant = each.attr in held and not each.attr.startswith("_")
            yield from [each.value] if constant else []


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two texts were compiled to the same, comprehensions and lambdas in them included."""
    told = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable")
    return (
        all(getattr(one, name) == getattr(other, name) for name in told)
        and len(one.co_consts) == len(other.co_consts)
        and all(
            _same(mine, its)
            if isinstance(mine, CodeType) and isinstance(its, CodeType)
            else type(mine) is type(its)
            and repr(mine) == repr(its)  # 0.0 and -0.0 are equal, and so are (1,) and (True,)
            for mine, its in zip(one.co_consts, other.co_consts, strict=True)
        )
    )
