"""What becomes of a loop over any number of processes: a quantifier, or one that none exceeds."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any, NoReturn

from quorate.proofs import shims
from quorate.proofs.parametric_loops import (
    Loop,
    as_condition,
    as_term,
    formula,
    listing,
    loop_over,
    now,
    refuse_effects,
    serial_of,
    substituted,
    ways,
)
from quorate.proofs.parametric_sets import Image, Size, image
from quorate.proofs.parametric_values import (
    Members,
    Node,
    OfNumber,
    display,
    like_integers,
)
from quorate.proofs.paths import Impossible
from quorate.proofs.proxies import SymInt, Unseen, condition_of, current, decide, truth
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    TRUE,
    Term,
    conjunction,
    disjunction,
    exists,
    forall,
    implies,
    negation,
    rebuilt,
    var,
)


def every(argument: Any) -> Any:
    """`all`."""
    loop = loop_over(argument)
    if loop is None:
        return builtins.all(argument)
    parts = []
    for way in ways(loop, as_condition):
        no = conjunction([way.whole, disjunction(negation(as_term(each)) for each in way.values)])
        parts.append(forall(way.bound, negation(no)))
    return truth(conjunction(parts))


def some(argument: Any) -> Any:
    """`any`."""
    loop = loop_over(argument)
    if loop is None:
        return builtins.any(argument)
    parts = []
    for way in ways(loop, as_condition):
        parts.append(exists(way.bound, conjunction([way.whole, disjunction(map(as_term, way.values))])))
    return truth(disjunction(parts))


def _extreme(plain: Any, name: str) -> Callable[..., Any]:
    def found(*arguments: Any, **options: Any) -> Any:
        loop = loop_over(arguments[0]) if len(arguments) == 1 else None
        if loop is None:
            return plain(*arguments, **options)
        return _chosen(loop, name, **options)

    return found


def _chosen(loop: Loop, name: str, key: Any = None, **options: Any) -> Any:
    """`max` and `min`: one of the values, so that none is beyond it. Of several that tie, any."""
    if now.captures or not now.witnesses:
        raise RefusedError(
            f"{name}() over any number of processes in a property, or inside of another loop",
            "say it with all(): that none is greater",
        )
    entries = [(way, value) for way in ways(loop) for value in way.values]
    certain = any(way.certain and way.condition is TRUE for way, _ in entries)
    there = TRUE if certain else disjunction(exists(way.bound, way.whole) for way, _ in entries)
    path = current()
    if not decide(there):
        if "default" in options:
            return options["default"]
        raise ValueError(f"{name}() arg is an empty sequence")
    way, value = path.pick(entries)
    serial = serial_of(path)
    chosen = {each: var(f"@w{serial}.{at}", each.sort) for at, each in enumerate(way.bound)}
    for condition in (rebuilt(way.facts, chosen), rebuilt(way.condition, chosen)):
        path.assume(condition)
    best = substituted(value, chosen)
    if key is not None:
        if not isinstance(key, types.FunctionType):
            raise RefusedError(f"{name}() by a key that is no function of the model", "write a lambda")
        refuse_effects(key.__code__, key.__globals__)
    rank = (lambda each: each) if key is None else key
    for other, rival in entries:

        def beyond(rival: Any = rival) -> Any:
            return rank(best) < rank(rival) if name == "max" else rank(rival) < rank(best)

        path.assume(forall(other.bound, implies(other.whole, negation(formula(beyond, [other.whole])))))
    if not path.feasible():
        raise Impossible
    return best


class Tally(Unseen):
    """How many processes of a role something holds of."""

    def __init__(self, sort: str, x: Term, holds: Term) -> None:
        self.sort, self.x, self.holds = sort, x, holds

    def __ge__(self, other: Any) -> Any:
        if isinstance(other, OfNumber):
            assert now.quorums is not None
            return truth(now.quorums(self.sort, other, self.x, self.holds))
        known = other.known if isinstance(other, SymInt) else other if type(other) is int else None
        if known == 1:
            return truth(exists([self.x], self.holds))
        return self._no()

    def __lt__(self, other: Any) -> Any:
        return truth(negation(as_term(self >= other)))

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(
            "computes with a number of processes",
            "compare it, with >= or <, with the size of a quorum: >= majority(self[Role])",
        )

    __gt__ = __le__ = __add__ = __radd__ = __sub__ = __rsub__ = __bool__ = __index__ = __int__ = _no
    __eq__ = __ne__ = __hash__ = _no


like_integers(Tally)


def tally(argument: Any, *start: Any) -> Any:
    """`sum`: of conditions, or of ones."""
    loop = loop_over(argument)
    if loop is None:
        return shims.SHIMS["sum"](argument, *start)
    found = ways(loop)
    bound = next((way.bound for way in found if way.bound), ())
    if len(bound) != 1 or any(way.bound != bound or len(way.values) > 1 or way.facts is not TRUE for way in found):
        raise RefusedError("sums up over any number of processes", "sum(condition for p in self[Role]) works")
    yes = []
    for way in found:
        for value in way.values:
            if isinstance(value, SymInt) and value.known in (0, 1):
                value = bool(value.known)
            term = condition_of(value)
            if term is None:
                raise RefusedError("sums up numbers of any number of processes", "a sum of conditions works")
            yes.append(conjunction([way.condition, term]))
    return Tally(bound[0].sort, bound[0], disjunction(yes))


def length(of: Any) -> Any:
    """`len`."""
    if isinstance(of, Image):
        return Size(of)
    if isinstance(of, Members) and of.size is not None:
        return of.size
    return shims.SHIMS["len"](of)


def identical(one: Any, two: Any) -> Any:
    """`is`: of processes, whether they are the same one."""
    a, b = _node(one), _node(two)
    if a is not None or b is not None:
        return a == b if a is not None and b is not None else False
    for each, other in ((one, two), (two, one)):
        if isinstance(each, Unseen) and other is not None:
            raise RefusedError("compares with `is` what depends on how many processes there are", "use ==")
    return shims.identical(one, two)


def ordered(value: Any) -> Any:
    """What is gone through."""
    if shims.is_loose(value):
        raise RefusedError("goes through a set of integers, in Python's order", "use sorted(...)")
    return value


def _node(value: Any) -> Any:
    run = getattr(value, "_run", None) if not isinstance(value, (Node, Members, OfNumber)) else None
    pid = value if isinstance(value, Node) else getattr(run, "pid", None)
    return pid if isinstance(pid, Node) else None


SHIMS = {
    "all": every,
    "any": some,
    "max": _extreme(builtins.max, "max"),
    "min": _extreme(builtins.min, "min"),
    "sum": tally,
    "len": length,
    "__image__": image,
    "__same__": identical,
    "__display__": display,
    "__listing__": listing,
    "__ordered__": ordered,
    "__pop__": lambda value: ordered(value).pop(),
}
