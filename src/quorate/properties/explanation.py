"""Why a property has the value it has in a state: which part of it failed, and for which process.

    all(p.willing for p in self[Participant]) or not any(p.committed for p in self[Participant])
      all(p.willing for p in self[Participant]) is false
        participant2.willing is False
      not any(p.committed for p in self[Participant]) is false
        participant1.committed is True

The property is run once more to see which `return` it takes and with which local variables; the expression of that
`return` is then taken apart. What cannot be taken apart is shown by its value, and a property whose source cannot be
read is not explained at all: the values that it read are always there beside this.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from quorate.base.errors import is_model_file
from quorate.base.failures import is_models
from quorate.base.interruptible import Patience
from quorate.base.values import show
from quorate.base.watchdog import Halted, supervised
from quorate.language.automaton import Automaton
from quorate.model.views import Panel
from quorate.properties.apart import apart
from quorate.properties.expressions import (
    Scope,
    Super,
    closure,
    has_parts,
    is_literal,
    is_simple,
    names,
    path,
    source,
    watched,
)  # fmt: skip
from quorate.properties.naming import Naming

if TYPE_CHECKING:
    from quorate.model.definition import Definition, Property
    from quorate.semantics.state import State

PATIENCE = 10.0
"""Seconds that a property is taken apart; Ctrl-C ends that too. Then only the values that it read are shown."""
LONGEST_VALUE = 72
MOST_CASES = 4  # of an `any` that no case satisfies, so many are shown
DEEPEST = 6


class Part(NamedTuple):
    """Something that was found about a part of a property, and what that rests on."""

    text: str
    parts: tuple[Part, ...] = ()

    def lines(self, indent: int = 0) -> Iterator[str]:
        yield "  " * indent + self.text
        for part in self.parts:
            yield from part.lines(indent + 1)

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "parts": [part.to_json() for part in self.parts]}


def explain(definition: Definition, prop: Property, state: State) -> Part | None:
    """Take a property apart in a state."""
    shown = Panel(definition).show(state.locals, state.pending)
    reader = _Reader(definition)
    try:
        # Parts of a property may have no end where the whole has one, and nobody would see the counterexample.
        with Patience(PATIENCE):
            return supervised(lambda: reader.call(prop.function, (shown,), {}))
    except Halted:
        return None
    except BaseException as error:
        # Whatever a property may do that this does not foresee must not cost the user the counterexample.
        if not is_models(error):
            raise
        return None


class _Unclear(Exception):  # noqa: N818 - caught where the next best thing is said instead
    """This part cannot be taken apart."""


class _Reader:
    """Takes expressions apart, in the words of one definition."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.depth = 0

    # --- functions ---------------------------------------------------------------------------------------------

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Part:
        """Why a function returns what it returns."""
        plain = inspect.unwrap(function.__func__ if isinstance(function, MethodType) else function)
        if not isinstance(plain, FunctionType):
            raise _Unclear
        lines, first = inspect.getsourcelines(plain)
        tree = ast.parse(textwrap.dedent("".join(lines)))
        body = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))
        taken = watched(plain, function, args, kwargs)
        scope = {**plain.__globals__, **closure(plain), **taken.scope}
        line = taken.line - first + 1
        returns = [
            node
            for node in ast.walk(body)
            if isinstance(node, ast.Return) and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        if not returns or returns[0].value is None or any(hasattr(v, "__next__") for v in taken.scope.values()):
            raise _Unclear  # an iterator is used up by now
        expression: ast.expr = Super().visit(returns[0].value)
        if isinstance(expression, ast.Constant):
            parts = self._way_to(body, returns[0], scope)
            return Part(f"returns {source(expression)} in line {taken.line}", tuple(parts))
        if bool(self.value(expression, scope)) != bool(taken.value):
            raise _Unclear  # the source on disk is not what runs
        self.body = body
        return Part(source(expression), tuple(self.why(expression, scope)))

    def _way_to(self, function: ast.AST, target: ast.AST, scope: Scope) -> Iterator[Part]:
        """What led to a `return False` in the midst of a function: the loops around it, and the last condition."""
        way = path(function, target)
        bound = [name for node in way if isinstance(node, ast.For) for name in names(node.target) if name in scope]
        where = ", ".join(f"{name} = {self.shown(scope[name])}" for name in bound)
        if where:
            yield Part(f"for {where}")
        for node, inner in reversed(list(itertools.pairwise(way))):
            if isinstance(node, ast.If):
                yield from self._because(node.test, inner in node.body, scope)
                return
            if isinstance(node, ast.Match):
                yield self._said(node.subject, scope)
                return

    # --- expressions -------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, scope: Scope) -> Any:
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<property>", "eval")
        return eval(code, dict(scope))

    def why(self, node: ast.expr, scope: Scope) -> Iterator[Part]:
        """What the value of an expression rests on; nothing where there is no more to say than the value itself."""
        self.depth += 1
        try:
            if self.depth <= DEEPEST:
                yield from self._why(node, scope)
        except _Unclear:
            raise
        except Exception:
            return  # a part that cannot be evaluated by itself is shown by the value of the whole
        finally:
            self.depth -= 1

    def _why(self, node: ast.expr, scope: Scope) -> Iterator[Part]:
        if isinstance(node, ast.BoolOp):
            yield from self._operands(node, scope)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            if has_parts(node.operand):
                yield from self.why(node.operand, scope)
            else:
                yield self._said(node.operand, scope)
        elif isinstance(node, ast.IfExp):
            chosen = bool(self.value(node.test, scope))
            yield from self._because(node.test, chosen, scope)
            yield from self._because(node.body if chosen else node.orelse, None, scope)
        elif isinstance(node, ast.Compare):
            yield from self._comparison(node, scope)
        elif isinstance(node, ast.Call):
            yield from self._called(node, scope)
        elif isinstance(node, ast.Name):
            yield from self._assigned(node, scope)

    def _because(self, node: ast.expr, truth: bool | None, scope: Scope) -> Iterator[Part]:
        """An expression with its truth, and why."""
        value = self.value(node, scope)
        if truth is not None and bool(value) != truth:
            raise _Unclear
        parts = tuple(self.why(node, scope))
        said = self._said(node, scope, value)
        if isinstance(node, ast.Compare) and parts:
            # "2 <= 1 is false" says it already
            yield Part(parts[0].text, (*parts[0].parts, *parts[1:]))
        else:
            yield Part(said.text, parts)

    def _said(self, node: ast.expr, scope: Scope, value: Any = ...) -> Part:
        """An expression and its value, with the processes called by their names."""
        value = self.value(node, scope) if value is ... else value
        shown = _truth(value) if has_parts(node) and isinstance(value, bool) else self.shown(value)
        return Part(f"{self._spoken(node, scope)} is {shown}")

    def _operands(self, node: ast.BoolOp, scope: Scope) -> Iterator[Part]:
        """The operand that decided: the first false one of an `and`, the first true one of an `or`; else all."""
        decides = isinstance(node.op, ast.Or)
        for operand in node.values:
            if bool(self.value(operand, scope)) == decides:
                yield from self._because(operand, decides, scope)
                return
        for operand in node.values:
            yield from self._because(operand, not decides, scope)

    def _comparison(self, node: ast.Compare, scope: Scope) -> Iterator[Part]:
        """Both sides by their values; of a chain the first pair that is false."""
        left = node.left
        pairs: list[tuple[ast.expr, ast.cmpop, ast.expr]] = []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            pairs.append((left, operator, right))
            left = right
        for number, (one, operator, two) in enumerate(pairs):
            truth = bool(self.value(ast.Compare(one, [operator], [two]), scope))
            if not truth or number == len(pairs) - 1:
                yield self._compared(ast.Compare(one, [operator], [two]), truth, scope)
                return

    def _compared(self, node: ast.Compare, truth: bool, scope: Scope) -> Part:
        """`acceptor1.promised <= 2 is false: 3 <= 2`; where a side says more than that, its values come first."""
        one, operator, two = node.left, node.ops[0], node.comparators[0]
        word = ast.unparse(ast.Compare(ast.Name("_"), [operator], [ast.Name("_")]))[2:-2]
        left, right = self.value(one, scope), self.value(two, scope)
        values = f"{self.shown(left)} {word} {self.shown(right)}"
        spoken = self._spoken(node, scope)
        different = () if truth else tuple(Part(line) for line in apart(left, word, right, self.shown))
        if is_simple(one) and is_simple(two):
            return Part(f"{spoken} is {_truth(truth)}" + (f": {values}" if values != spoken else ""), different)
        sides = (part for side in (one, two) for part in self._side(side, scope))
        return Part(f"{values} is {_truth(truth)}", (*different, *dict.fromkeys(sides)))

    def _side(self, node: ast.expr, scope: Scope) -> Iterator[Part]:
        """Where a side of a comparison comes from, unless that is plain to see."""
        if isinstance(node, ast.Call) and not node.keywords and len(node.args) == 1 and isinstance(node.func, ast.Name):
            argument = self.value(node.args[0], scope)
            items = tuple(itertools.islice(argument, LONGEST_VALUE)) if hasattr(argument, "__next__") else argument
            whole = self.value(node, scope)
            yield Part(f"{node.func.id}({self.shown(items)}) is {self.shown(whole)}")
            if isinstance(node.args[0], ast.Name):
                yield from self.why(node.args[0], scope)
            return
        if isinstance(node, ast.BinOp):
            yield from self._side(node.left, scope)
            yield from self._side(node.right, scope)
            return
        if not is_literal(node) and self._spoken(node, scope) != self.shown(self.value(node, scope)):
            yield self._said(node, scope)

    # --- calls -------------------------------------------------------------------------------------------------

    def _called(self, node: ast.Call, scope: Scope) -> Iterator[Part]:
        function = self.value(node.func, scope)
        if function in (all, any) and len(node.args) == 1:
            yield from self._quantified(node.args[0], function is any, scope)
            return
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if code is None or not is_model_file(code.co_filename):
            if node.args and not node.keywords and isinstance(node.func, ast.Name):
                shown = ", ".join(self.shown(self.value(argument, scope)) for argument in node.args)
                yield Part(f"{node.func.id}({shown}) is {self.shown(self.value(node, scope))}")
            elif isinstance(node.func, ast.Attribute) and not is_literal(node.func.value):
                yield self._said(node.func.value, scope)
            return
        args = tuple(self.value(argument, scope) for argument in node.args if not isinstance(argument, ast.Starred))
        kwargs = {word.arg: self.value(word.value, scope) for word in node.keywords if word.arg is not None}
        if len(args) == len(node.args) and len(kwargs) == len(node.keywords):
            try:
                yield self.call(function, args, kwargs)
            except (_Unclear, OSError, SyntaxError):
                return

    def _quantified(self, node: ast.expr, exists: bool, scope: Scope) -> Iterator[Part]:
        """The case that decides an `all` or `any`; if none does, the cases there are."""
        if not isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            items: list[Any] = []
            for item in self.value(node, scope):
                if bool(item) == exists:
                    yield Part(f"{self.shown(item)} is among them")
                    return
                items.append(item)
            yield Part(f"of {self.shown(tuple(items))}" if items else f"{source(node)} is empty")
            return
        cases: list[Scope] = []
        for case in self._cases(node.generators, scope):
            if bool(self.value(node.elt, case)) == exists:
                yield self._case(node, case)
                return
            cases.append(case)
        if not cases:
            yield Part("there is nothing to look at: " + " and ".join(source(g.iter) for g in node.generators))
        for case in cases[:MOST_CASES]:
            yield self._case(node, case)
        if len(cases) > MOST_CASES:
            yield Part(f"and so for {len(cases) - MOST_CASES} more")

    def _case(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, case: Scope) -> Part:
        """One case of a comprehension: which values it is about, and why it has the value it has."""
        (part,) = self._because(node.elt, None, case)
        named = [name for generator in node.generators for name in names(generator.target)]
        # Processes are called by name where they occur; they need no introduction unless a comparison hides them.
        mentioned = {each.id for each in ast.walk(node.elt) if isinstance(each, ast.Name)}
        hidden = isinstance(node.elt, ast.Compare) and not all(map(is_simple, (node.elt.left, *node.elt.comparators)))
        told = [name for name in named if not isinstance(case[name], Automaton) or hidden or name not in mentioned]
        where = ", ".join(f"{name} = {self.shown(case[name])}" for name in told)
        return Part(f"for {where}: {part.text}", part.parts) if where else part

    def _cases(self, generators: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        if not generators:
            yield scope
            return
        first, *rest = generators
        for item in self.value(first.iter, scope):
            inner = {**scope, "_item": item}
            assign = ast.Assign([first.target], ast.Name("_item", ast.Load()))
            exec(compile(ast.fix_missing_locations(ast.Module([assign], [])), "<property>", "exec"), inner)
            if all(self.value(condition, inner) for condition in first.ifs):
                yield from self._cases(rest, inner)

    def _assigned(self, node: ast.Name, scope: Scope) -> Iterator[Part]:
        """A local variable that was assigned once: what it was assigned."""
        body = getattr(self, "body", None)
        if body is None:
            return
        found = [
            each.value
            for each in ast.walk(body)
            if isinstance(each, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == node.id for target in each.targets)
        ]
        if len(found) != 1 or any(isinstance(each, ast.Name) and each.id == node.id for each in ast.walk(found[0])):
            return
        value = self.value(found[0], scope)
        if not hasattr(value, "__next__") and value == scope.get(node.id):
            parts = tuple(self.why(found[0], scope))
            yield Part(f"{node.id} = {source(found[0])}", parts)

    # --- words -------------------------------------------------------------------------------------------------

    def _spoken(self, node: ast.expr, scope: Scope) -> str:
        return source(Naming(self, scope).visit(ast.parse(ast.unparse(node), mode="eval").body))

    def shown(self, value: Any) -> str:
        text = self._full(value)
        return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"

    def name(self, view: Automaton) -> str:
        reading: Any = view._run  # a view's record of what is read, which knows its column
        index: int = reading.index
        return self.definition.columns[index].name

    def _full(self, value: Any) -> str:
        if isinstance(value, Automaton):
            return self.name(value)
        if type(value) in (list, tuple):
            inner = ", ".join(map(self._full, value))
            return f"[{inner}]" if type(value) is list else f"({inner},)" if len(value) == 1 else f"({inner})"
        if isinstance(value, set | frozenset):
            try:
                return show(frozenset(value))
            except Exception:  # views and other things that no state holds
                return "{" + ", ".join(sorted(map(self._full, value))) + "}"
        if isinstance(value, KeysView | ValuesView | ItemsView):
            return self._full(list(value))
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self._full(key)}: {self._full(item)}" for key, item in value.items()) + "}"
        return show(value)


def _truth(value: Any) -> str:
    return "true" if value else "false"
