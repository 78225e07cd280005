"""Formulas over integers: small, immutable, shared, and simplified as they are made.

A term is made once, so that equal terms are one object. Integers are kept as linear sums, so that `x + 1 > x` is true
before any solver is asked. Channels of messages are predicates (`app`), never arrays: what a step does to them is
written into the formula where it is asked about them, and every solver knows uninterpreted functions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Sort = str
"""Int, Bool, or the name of a sort that nothing is known of but equality: the processes of a role, its quorums."""


class Term:
    """One node. `op` is one of: lin, var, app, ite, div, mod, bool, ge0, eq0, not, and, or, forall, exists, same."""

    __slots__ = ("args", "number", "op", "sort")
    op: str
    args: tuple[Any, ...]
    sort: Sort
    number: int
    """In the order of making; only to sort by."""

    def __repr__(self) -> str:
        return text(self)

    @property
    def is_const(self) -> bool:
        return self.op == "bool" or (self.op == "lin" and not self.args[1])


_known: dict[tuple[Any, ...], Term] = {}


def _make(op: str, args: tuple[Any, ...], sort: Sort) -> Term:
    key = (op, sort, *args)
    term = _known.get(key)
    if term is None:
        term = Term()
        term.op, term.args, term.sort, term.number = op, args, sort, len(_known)
        _known[key] = term
    return term


TRUE = _make("bool", (True,), "Bool")
FALSE = _make("bool", (False,), "Bool")


def boolean(value: bool) -> Term:
    return TRUE if value else FALSE


def var(name: str, sort: Sort) -> Term:
    return _make("var", (name,), sort)


def app(function: str, arguments: Iterable[Term], sort: Sort = "Bool") -> Term:
    """An uninterpreted predicate: whether a message is in a channel; or, of sort Int, how often."""
    return _make("app", (function, tuple(arguments)), sort)


# --- integers --------------------------------------------------------------------------------------------------


def number(value: int) -> Term:
    return _make("lin", (value, ()), "Int")


ZERO = number(0)


def _parts(term: Term) -> tuple[int, tuple[tuple[Term, int], ...]]:
    if term.op == "lin":
        return term.args[0], term.args[1]
    return 0, ((term, 1),)


def _linear(constant: int, parts: Mapping[Term, int]) -> Term:
    kept = sorted(((atom, factor) for atom, factor in parts.items() if factor), key=lambda each: each[0].number)
    if constant == 0 and len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    return _make("lin", (constant, tuple(kept)), "Int")


def add(a: Term, b: Term, factor: int = 1) -> Term:
    """a + factor * b."""
    first, left = _parts(a)
    second, right = _parts(b)
    parts = dict(left)
    for atom, count in right:
        parts[atom] = parts.get(atom, 0) + factor * count
    return _linear(first + factor * second, parts)


def times(factor: int, a: Term) -> Term:
    return add(ZERO, a, factor)


def value_of(term: Term) -> int | None:
    """The number that an integer term is, if it is one."""
    return term.args[0] if term.op == "lin" and not term.args[1] else None


def floor_div(a: Term, divisor: int) -> Term:
    """Python's `//` by a positive number, which is also what SMT-LIB calls div."""
    known = value_of(a)
    return number(known // divisor) if known is not None else _make("div", (a, divisor), "Int")


def modulo(a: Term, divisor: int) -> Term:
    known = value_of(a)
    return number(known % divisor) if known is not None else _make("mod", (a, divisor), "Int")


# --- conditions ------------------------------------------------------------------------------------------------


def ge(a: Term, b: Term) -> Term:
    difference = add(a, b, -1)
    known = value_of(difference)
    if known is not None:
        return boolean(known >= 0)
    return _make("ge0", (difference,), "Bool")


def lt(a: Term, b: Term) -> Term:
    return ge(add(b, number(1), -1), a)


def equal(a: Term, b: Term) -> Term:
    if a is b:
        return TRUE
    if a.sort == "Bool":
        if a.op == "bool":
            return b if a is TRUE else negation(b)
        if b.op == "bool":
            return a if b is TRUE else negation(a)
        return disjunction([conjunction([a, b]), conjunction([negation(a), negation(b)])])
    if a.sort != "Int":
        return _make("same", (a, b) if a.number < b.number else (b, a), "Bool")
    difference = add(a, b, -1)
    known = value_of(difference)
    if known is not None:
        return boolean(known == 0)
    if _parts(difference)[1][0][1] < 0:
        difference = times(-1, difference)
    return _make("eq0", (difference,), "Bool")


def negation(a: Term) -> Term:
    if a.op == "bool":
        return FALSE if a is TRUE else TRUE
    if a.op == "not":
        inner: Term = a.args[0]
        return inner
    if a.op == "ge0":  # not (d >= 0) is -d - 1 >= 0
        return ge(number(-1), a.args[0])
    return _make("not", (a,), "Bool")


def _joined(op: str, terms: Iterable[Term], neutral: Term, absorbing: Term) -> Term:
    kept: dict[Term, None] = {}
    todo = list(terms)
    todo.reverse()
    while todo:
        term = todo.pop()
        if term is absorbing:
            return absorbing
        if term is neutral:
            continue
        if term.op == op:
            todo.extend(reversed(term.args))
            continue
        if negation(term) in kept:
            return absorbing
        kept[term] = None
    if not kept:
        return neutral
    return next(iter(kept)) if len(kept) == 1 else _make(op, tuple(kept), "Bool")


def conjunction(terms: Iterable[Term]) -> Term:
    return _joined("and", terms, TRUE, FALSE)


def disjunction(terms: Iterable[Term]) -> Term:
    return _joined("or", terms, FALSE, TRUE)


def implies(a: Term, b: Term) -> Term:
    return disjunction([negation(a), b])


def ite(condition: Term, a: Term, b: Term) -> Term:
    if condition is TRUE or a is b:
        return a
    if condition is FALSE:
        return b
    if a.sort == "Bool":
        return conjunction([implies(condition, a), implies(negation(condition), b)])
    return _make("ite", (condition, a, b), a.sort)


def all_equal(one: Iterable[Term], two: Iterable[Term]) -> Term:
    return conjunction(equal(a, b) for a, b in zip(one, two, strict=True))


def forall(bound: Iterable[Term], body: Term, patterns: Iterable[Iterable[Term]] = ()) -> Term:
    """For all values of the variables. Solvers look for values where something of the form of a pattern occurs."""
    return _quantified("forall", bound, body, patterns)


def exists(bound: Iterable[Term], body: Term) -> Term:
    return _quantified("exists", bound, body, ())


def _quantified(op: str, bound: Iterable[Term], body: Term, patterns: Iterable[Iterable[Term]]) -> Term:
    variables = tuple(bound)
    if not variables or body.op == "bool":
        return body
    return _make(op, (variables, body, tuple(tuple(each) for each in patterns)), "Bool")


# --- looking into terms ----------------------------------------------------------------------------------------


def children(term: Term) -> tuple[Term, ...]:
    op, args = term.op, term.args
    if op in ("bool", "var"):
        return ()
    if op == "lin":
        return tuple(atom for atom, _ in args[1])
    if op == "app":
        return tuple(args[1])
    if op in ("div", "mod"):
        return (args[0],)
    if op in ("forall", "exists"):
        return (args[1], *(each for pattern in args[2] for each in pattern))
    return args


def nodes(*terms: Term) -> Iterator[Term]:
    """Every part, once, parts before what they are part of."""
    seen: set[Term] = set()
    todo = [(term, False) for term in terms]
    while todo:
        term, ready = todo.pop()
        if ready:
            yield term
        elif term not in seen:
            seen.add(term)
            todo.append((term, True))
            todo.extend((child, False) for child in children(term))


def variables(*terms: Term) -> set[Term]:
    return {each for each in nodes(*terms) if each.op == "var"}


def functions(*terms: Term) -> set[str]:
    return {each.args[0] for each in nodes(*terms) if each.op == "app"}


def rebuilt(
    term: Term,
    replace: Mapping[Term, Term],
    apply: Callable[[Term, tuple[Term, ...]], Term] | None = None,
) -> Term:
    """The term with other variables; `apply` says what becomes of a predicate on its rewritten arguments.

    Those that are replaced are free, and so are those in their place: what a quantifier binds by the same name is
    another variable, and gets another name.
    """
    parts = list(nodes(term))
    bound = {each for part in parts if part.op in _QUANTIFIERS for each in part.args[0]}
    if bound:
        bound &= {*replace, *variables(*replace.values())}
    if bound:
        parts = list(nodes(term := _apart(term, bound)))
    known: dict[Term, Term] = dict(replace)
    for each in parts:
        if each not in known:
            known[each] = _with(each, known, apply)
    return known[term]


_QUANTIFIERS = ("forall", "exists")


def _apart(term: Term, taken: set[Term]) -> Term:
    """The same formula, in which no quantifier binds these variables."""
    used = {each.args[0] for each in (*variables(term), *taken)}
    known: dict[Term, Term] = {}
    for each in nodes(term):
        made = known[each] = _with(each, known, None)
        if made.op in _QUANTIFIERS and not taken.isdisjoint(made.args[0]):
            fresh = {}
            for old in taken.intersection(made.args[0]):
                name = next(name for at in itertools.count(1) if (name := f"{old.args[0]}~{at}") not in used)
                fresh[old] = var(name, old.sort)
            bound, body, patterns = made.args
            known[each] = _quantified(
                made.op,
                [fresh.get(old, old) for old in bound],
                rebuilt(body, fresh),
                [[rebuilt(part, fresh) for part in pattern] for pattern in patterns],
            )
    return known[term]


def _with(term: Term, known: Mapping[Term, Term], apply: Callable[[Term, tuple[Term, ...]], Term] | None) -> Term:
    op, args = term.op, term.args
    if op in ("bool", "var"):
        return term
    if op == "lin":
        total = number(args[0])
        for atom, factor in args[1]:
            total = add(total, known[atom], factor)
        return total
    if op == "app":
        arguments = tuple(known[each] for each in args[1])
        return apply(term, arguments) if apply is not None else app(args[0], arguments, term.sort)
    if op == "ite":
        return ite(known[args[0]], known[args[1]], known[args[2]])
    if op == "div":
        return floor_div(known[args[0]], args[1])
    if op == "mod":
        return modulo(known[args[0]], args[1])
    if op == "ge0":
        return ge(known[args[0]], ZERO)
    if op == "eq0":
        return equal(known[args[0]], ZERO)
    if op == "same":
        return equal(known[args[0]], known[args[1]])
    if op == "not":
        return negation(known[args[0]])
    if op == "and":
        return conjunction(known[each] for each in args)
    if op == "or":
        return disjunction(known[each] for each in args)
    patterns = [[known[each] for each in pattern] for pattern in args[2]]
    keep = [pattern for pattern in patterns if all(each.op == "app" for each in pattern)]
    return _quantified(op, args[0], known[args[1]], keep)


# --- running terms ---------------------------------------------------------------------------------------------


def compiled(*terms: Term) -> Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[Any, ...]]:
    """A function from values of variables (by name) and contents of channels (by function) to values of the terms.

    What is quantified ranges over the contents of a channel that the body demands, so it has to be bounded by one.
    """
    lines, names = _Code().code(terms)
    source = "def run(v, c):\n" + "".join(f"    {line}\n" for line in lines)
    source += f"    return ({''.join(f'{names[term]}, ' for term in terms)})\n"
    space: dict[str, Any] = {"EMPTY": {}}
    exec(compile(source, "<formula>", "exec"), space)
    run: Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[Any, ...]] = space["run"]
    return run


class _Code:
    def __init__(self) -> None:
        self.count = 0

    def code(self, terms: Iterable[Term], bound: Mapping[Term, str] | None = None) -> tuple[list[str], dict[Term, str]]:
        names: dict[Term, str] = dict(bound or {})
        lines: list[str] = []
        for term in _outer(terms):
            if term in names:
                continue
            expression = self._expression(term, names, lines)
            if term.op in ("bool",) or (term.op == "lin" and not term.args[1]):
                names[term] = expression
            else:
                self.count += 1
                names[term] = f"t{self.count}"
                lines.append(f"{names[term]} = {expression}")
        return lines, names

    def _expression(self, term: Term, names: dict[Term, str], lines: list[str]) -> str:
        op, args = term.op, term.args
        if op == "bool":
            return repr(args[0])
        if op == "var":
            return f"v[{args[0]!r}]"
        if op == "lin":
            return " + ".join([repr(args[0])] + [f"{factor} * {names[atom]}" for atom, factor in args[1]])
        if op == "app":
            key = "(" + "".join(f"{names[each]}, " for each in args[1]) + ")"
            if term.sort == "Int":
                return f"c.get({args[0]!r}, EMPTY).get({key}, 0)"
            return f"{key} in c.get({args[0]!r}, EMPTY)"
        if op == "ite":
            return f"({names[args[1]]} if {names[args[0]]} else {names[args[2]]})"
        if op == "div":
            return f"{names[args[0]]} // {args[1]}"
        if op == "mod":
            return f"{names[args[0]]} % {args[1]}"
        if op == "ge0":
            return f"{names[args[0]]} >= 0"
        if op == "eq0":
            return f"{names[args[0]]} == 0"
        if op == "not":
            return f"not {names[args[0]]}"
        if op in ("and", "or"):
            return "(" + f" {op} ".join(names[each] for each in args) + ")"
        return self._loop(term, names, lines)

    def _loop(self, term: Term, names: dict[Term, str], lines: list[str]) -> str:
        """A quantifier as a loop over the contents of the channel that its body is bounded by."""
        variables, body, _ = term.args
        guard = bounding(term)
        if guard is None:
            raise ValueError(f"not bounded by a channel: {term}")
        self.count += 1
        found = f"t{self.count}"
        bound = {each: f"b{self.count}_{at}" for at, each in enumerate(variables)}
        order = [bound[each] for each in guard.args[1]]
        inner, inner_names = self.code([body], {**names, **bound})
        test = inner_names[body]
        stop = f"if not {test}" if term.op == "forall" else f"if {test}"
        lines.append(f"{found} = {term.op == 'forall'}")
        lines.append(f"for ({''.join(f'{each}, ' for each in order)}) in c.get({guard.args[0]!r}, EMPTY):")
        lines.extend(f"    {line}" for line in inner)
        lines.append(f"    {stop}:")
        lines.append(f"        {found} = {term.op == 'exists'}")
        lines.append("        break")
        return found


def bounding(term: Term) -> Term | None:
    """The channel that a formula speaks of: `for all x: not channel(x) or ...`, `exists x: channel(x) and ...`."""
    variables, body, _ = term.args
    literals = body.args if body.op == ("or" if term.op == "forall" else "and") else (body,)
    for each in literals:
        atom = each.args[0] if term.op == "forall" and each.op == "not" else each
        if (each.op == "not") != (term.op == "forall"):
            continue
        if atom.op == "app" and set(atom.args[1]) == set(variables) and len(atom.args[1]) == len(variables):
            found: Term = atom
            return found
    return None


def _outer(terms: Iterable[Term]) -> Iterator[Term]:
    """As `nodes`, but not into quantified formulas, whose bodies are evaluated inside of a loop."""
    seen: set[Term] = set()
    todo = [(term, False) for term in terms]
    while todo:
        term, ready = todo.pop()
        if ready:
            yield term
        elif term not in seen:
            seen.add(term)
            todo.append((term, True))
            if term.op not in ("forall", "exists"):
                todo.extend((child, False) for child in children(term))


# --- reading ---------------------------------------------------------------------------------------------------


def text(term: Term) -> str:
    """For people; certificates have a syntax of their own."""
    op, args = term.op, term.args
    if op == "bool":
        return str(args[0])
    if op == "var":
        return str(args[0])
    if op == "lin":
        parts = [f"{'' if factor == 1 else f'{factor}*'}{atom}" for atom, factor in args[1]]
        return " + ".join(parts + ([str(args[0])] if args[0] or not parts else []))
    if op == "app":
        return f"{args[0]}({', '.join(map(text, args[1]))})"
    if op in ("and", "or"):
        return "(" + f" {op} ".join(map(text, args)) + ")"
    if op == "not":
        return f"not {text(args[0])}"
    if op == "ge0":
        return f"{text(args[0])} >= 0"
    if op == "eq0":
        return f"{text(args[0])} = 0"
    if op == "same":
        return f"{text(args[0])} = {text(args[1])}"
    if op in ("div", "mod"):
        return f"({text(args[0])} {op} {args[1]})"
    if op == "ite":
        return f"({text(args[1])} if {text(args[0])} else {text(args[2])})"
    return f"{op} {', '.join(map(text, args[0]))}: {text(args[1])}"
