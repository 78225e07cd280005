"""Processes of which there may be any number, and what handlers and properties may do with them.

Such a process is a `Node`: only compared. All of them, or a quorum of messages from them, are `Members`. A loop over
members runs once, for one that stands for any, and only where what follows for all of them is known: in `all`, `any`,
`max`, `min`, `sum` of conditions, and set comprehensions. Everywhere else it is refused, with its line.
"""

from __future__ import annotations

import builtins
import dis
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, NoReturn

from quorate.base.values import ContentSet
from quorate.language.message import Record
from quorate.language.pid import Pid
from quorate.language.scalar import Scalar
from quorate.proofs.paths import Explorer, Impossible, Path, Taken
from quorate.proofs.proxies import Opaque, SymBool, SymInt, Unseen, condition_of, current, decide, taking, truth
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    conjunction,
    disjunction,
    equal,
    exists,
    forall,
    implies,
    negation,
    rebuilt,
    var,
)

IDIOMS = "all(), any(), max(), min(), a sum of conditions and set comprehensions work"


@dataclass(frozen=True)
class Role:
    """A class of processes of which there may be any number. Its name is that of the sort of its processes."""

    name: str
    cls: type
    parameter: str = ""


class Node(Opaque):
    """One process of a role."""

    __slots__ = ("role", "term")

    def __init__(self, role: Role, term: Term) -> None:
        self.role, self.term = role, term

    def equals(self, other: object) -> Term:
        if isinstance(other, Node) and other.role == self.role:
            return equal(self.term, other.term)
        return FALSE

    def __eq__(self, other: object) -> Any:
        return truth(self.equals(other))

    def __ne__(self, other: object) -> Any:
        return truth(negation(self.equals(other)))

    def __hash__(self) -> int:
        raise RefusedError(
            f"looks up one of any number of {self.role.name} in a set or map",
            "compare with ==, or keep what is known of a process in a field of its own",
        )

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(f"orders or computes with the identity of a {self.role.name}", "compare it with == alone")

    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __sub__ = __mod__ = __index__ = __int__ = _no

    def _shown(self) -> str:
        return f"<{self.role.name} {self.term}>"

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Pid


class OfNumber(Unseen):
    """An integer that depends on how many processes there are: its values in the instances that were built."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[int]) -> None:
        self.values = tuple(values)

    def _each(self, other: Any, how: Callable[[int, int], int]) -> Any:
        if isinstance(other, OfNumber):
            return OfNumber([how(a, b) for a, b in zip(self.values, other.values, strict=True)])
        known = other.known if isinstance(other, SymInt) else other if type(other) is int else None
        if known is None:
            raise self._refused()
        return OfNumber([how(each, known) for each in self.values])

    def __add__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a // b)

    def _refused(self) -> RefusedError:
        return RefusedError(
            "computes or compares with a number that depends on how many processes there are",
            "such a number can be the size of a quorum, or what a count of processes is compared with: "
            "sum(... for p in self[Role]) >= majority(self[Role])",
        )

    def _no(self, *_: Any) -> NoReturn:
        raise self._refused()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __index__ = __int__ = __truediv__ = _no
    __hash__ = _no
    __mod__ = __neg__ = __abs__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __float__ = _no

    def _shown(self) -> str:
        return f"<{self.values[0]}, {self.values[1]}, ... by the number of processes>"


def _like_integers(cls: Any) -> None:
    """What integers do and this cannot is refused, not missing."""
    for name in dir(int):
        if name.startswith("__") and name not in dir(object) and not hasattr(cls, name):
            setattr(cls, name, cls._no)


_like_integers(OfNumber)


# --- collections of any number -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Generic:
    """Any number of things: one for every process of a sort of which a condition holds."""

    sort: str
    make: Callable[[Term], Any]
    facts: Callable[[Term], Term] = lambda _: TRUE
    """What is so of exactly those that belong to it."""
    nonempty: bool = True


class Members(Unseen):
    """A collection with any number of members, perhaps with some plain ones besides."""

    def __init__(
        self, what: str, generics: Sequence[Generic], items: Sequence[Any] = (), size: OfNumber | None = None
    ) -> None:
        self.what, self.generics, self.items, self.size = what, tuple(generics), tuple(items), size

    def __iter__(self) -> Cursor:
        return Cursor(self)

    def __bool__(self) -> bool:
        if self.items or any(each.nonempty for each in self.generics):
            return True
        return decide(disjunction(_some(each) for each in self.generics))

    def __len__(self) -> int:
        raise RefusedError(f"counts {self.what}, of which there may be any number", IDIOMS)

    def __contains__(self, wanted: Any) -> bool:
        return decide(self.holds(wanted))

    def holds(self, wanted: Any) -> Term:
        raise RefusedError(f"asks what is in {self.what}", IDIOMS)

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(f"computes with {self.what}, of which there may be any number", IDIOMS)

    __getitem__ = __add__ = __radd__ = __and__ = __rand__ = __lt__ = __le__ = __gt__ = __ge__ = _no
    __eq__ = __ne__ = __sub__ = __rsub__ = __or__ = __ror__ = __xor__ = __rxor__ = _no
    __hash__ = _no

    def _shown(self) -> str:
        return f"<{self.what}>"


def _some(generic: Generic) -> Term:
    x = var(f"some:{generic.sort}", generic.sort)
    return exists([x], generic.facts(x))


class Nodes(Members):
    """Identities: all processes of a role, or all of which a condition holds, and certain others."""

    def __init__(
        self,
        role: Role,
        holds: Callable[[Term], Term] = lambda _: TRUE,
        items: Sequence[Pid] = (),
        *,
        nonempty: bool = True,
        size: OfNumber | None = None,
    ) -> None:
        generic = Generic(role.name, lambda term: Node(role, term), holds, nonempty)
        super().__init__(f"the processes of {role.name}", [generic], items, size)
        self.role, self.member = role, holds

    def holds(self, wanted: Any) -> Term:
        if isinstance(wanted, Node):
            return self.member(wanted.term) if wanted.role == self.role else FALSE
        return TRUE if wanted in self.items else FALSE

    def __sub__(self, others: Any) -> Nodes:  # type: ignore[override]
        if isinstance(others, Members) or not isinstance(others, Named):
            self._no()
        gone = list(others.items)
        member = self.member

        def holds(x: Term) -> Term:
            return conjunction(
                [
                    member(x),
                    *(
                        negation(equal(x, each.term))
                        for each in gone
                        if isinstance(each, Node) and each.role == self.role
                    ),
                ]
            )

        kept = [each for each in self.items if each not in [other for other in gone if type(other) is Pid]]
        return Nodes(self.role, holds, kept, nonempty=False)


class Named(Unseen):
    """A set display with processes of a role in it, which have no hash: `{self.pid}`."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = tuple(items)

    def __contains__(self, wanted: Any) -> bool:
        return builtins.any(bool(wanted == each) for each in self.items)

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError("does with a set of processes what has no formula", "in, and self.peers - {self.pid}, work")

    __iter__ = __len__ = __sub__ = __rsub__ = __or__ = __ror__ = __and__ = __rand__ = __le__ = __lt__ = _no
    __eq__ = __ne__ = __hash__ = _no


def display(items: tuple[Any, ...]) -> Any:
    """A set display."""
    return Named(items) if builtins.any(isinstance(each, Node) for each in items) else set(items)


class Cursor:
    """Walks over members: inside of an idiom it comes to one that stands for any, elsewhere it is refused."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self._todo: list[Any] | None = None

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Any:
        if not _in_a_loop(sys._getframe(1)):
            raise RefusedError(
                f"loops over {self.members.what}, of which there may be any number",
                f"only loops whose outcome for all of them follows from that for any one: {IDIOMS}",
            )
        if self._todo is None:
            self._todo = [*self.members.items, *self.members.generics]
        if not self._todo:
            raise StopIteration
        found = self._todo.pop(0)
        return now.captures[-1].bind(found) if isinstance(found, Generic) else found


def _in_a_loop(frame: types.FrameType) -> bool:
    """Whether it is the loop itself that is being run which asks for a member: not `list`, `next` or a star, which
    would take one member that stands for any for all that there are."""
    if not now.captures:
        return False
    code = frame.f_code
    if code.co_filename == __file__:
        return True
    return code is now.captures[-1].code and code.co_code[frame.f_lasti] == dis.opmap["FOR_ITER"]


class _Now:
    """Who explores, and inside of which loops we are."""

    explorer: Explorer | None = None
    captures: list[Capture] = []
    quorums: Callable[[str, OfNumber, Term, Term], Term] | None = None
    """That of so many processes something holds."""
    used: list[Any] = []
    """Generators that were used up, so that none is used twice."""
    witnesses: bool = False
    """Whether something unknown may be named: in a step it is a parameter, in a property it would need a quantifier."""


now = _Now()


class Way(NamedTuple):
    """One way through the body of a loop: for these members, under this condition, these values."""

    bound: tuple[Term, ...]
    facts: Term
    condition: Term
    values: tuple[Any, ...]
    error: BaseException | None
    certain: bool
    """Whether there are such members, whatever the state."""

    @property
    def whole(self) -> Term:
        return conjunction([self.facts, self.condition])


@dataclass
class Capture:
    """A loop that is run once: the members that it came to."""

    number: str
    code: types.CodeType | None = None
    bound: list[Term] = field(default_factory=list)
    facts: list[Term] = field(default_factory=list)
    certain: bool = True
    empty_before: bool = False

    def bind(self, generic: Generic) -> Any:
        if self.empty_before:
            raise RefusedError("loops over processes of which there may be none, and then over others", IDIOMS)
        x = var(f"x{self.number}_{len(self.bound)}", generic.sort)
        fact = generic.facts(x)
        self.bound.append(x)
        if fact is not TRUE:
            self.facts.append(fact)
            current().assume(fact)
        self.certain &= generic.nonempty
        self.empty_before = not generic.nonempty
        return generic.make(x)


def ways(loop: Loop, of: Callable[[Any], Any] = lambda value: value) -> list[Way]:
    """Every way through a loop over members."""
    if isinstance(loop, Listing):
        return [way._replace(values=tuple(_settled(of, each, way) for each in way.values)) for way in loop.ways]
    outer = current()
    assert now.explorer is not None
    serial = f"{len(now.captures)}.{_loop(outer)}"
    notes: dict[int, Capture] = {}

    def run(path: Path) -> tuple[Any, ...]:
        with taking(path):
            notes[id(path)] = capture = Capture(serial, getattr(loop, "__quorate_code__", None))
            now.captures.append(capture)
            try:
                return tuple(of(each) for each in loop())
            finally:
                now.captures.pop()

    before = [*outer.assumed, *outer.conditions]
    found: list[Way] = []
    taken: Taken[tuple[Any, ...]]
    for taken in now.explorer.explore(run, assumed=before, what="", place=None):
        capture = notes[id(taken.path)]
        own = [each for each in taken.path.conditions if each not in capture.facts]
        found.append(
            Way(
                tuple(capture.bound),
                conjunction(capture.facts),
                conjunction(own),
                taken.value or (),
                taken.error,
                capture.certain,
            )
        )
    for way in found:
        if way.error is not None and decide(exists(way.bound, way.whole)):
            raise way.error
    return [each for each in found if each.error is None]


def _settled(of: Callable[[Any], Any], value: Any, way: Way) -> Any:
    if of is not _condition or condition_of(value) is not None:
        return of(value)
    return truth(formula(lambda: bool(value), [way.whole]))


class Listing(Unseen):
    """A list comprehension over members: what its elements are, not how many."""

    def __init__(self, ways: Sequence[Way]) -> None:
        self.ways = tuple(ways)

    def __bool__(self) -> bool:
        if any(way.certain and way.condition is TRUE and way.values for way in self.ways):
            return True
        return decide(disjunction(exists(way.bound, way.whole) for way in self.ways if way.values))

    def __contains__(self, wanted: Any) -> bool:
        entries = [Entry(way.bound, way.whole, value) for way in self.ways for value in way.values]
        return decide(Image(entries).holds(wanted))

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(
            "does with a list over any number of processes what has no formula",
            f"truth and `in` work; of loops, {IDIOMS}",
        )

    __iter__ = __len__ = __getitem__ = __add__ = __radd__ = __mul__ = __lt__ = __le__ = __gt__ = __ge__ = _no
    __eq__ = __ne__ = __hash__ = _no


Loop = Callable[[], Iterator[Any]] | Listing


def listing(argument: Any) -> Any:
    """A list comprehension."""
    loop = loop_over(argument)
    return list(argument) if loop is None else Listing(ways(loop))


def _loop(path: Path) -> int:
    """A number for a loop, the same whenever this way is taken."""
    path.loops += 1
    return path.loops


def formula(run: Callable[[], Any], given: Sequence[Term] = ()) -> Term:
    """The formula of a comparison or the like, on all its ways."""
    outer = current()
    assert now.explorer is not None

    def once(path: Path) -> Any:
        path.loops = outer.loops
        with taking(path):
            found = run()
            return found if isinstance(found, SymBool) else bool(found)

    yes = []
    before = [*outer.assumed, *outer.conditions, *given]
    for taken in now.explorer.explore(once, assumed=before, what="", place=None):
        if taken.error is not None:
            raise taken.error
        yes.append(conjunction([taken.path.condition, condition_of(taken.value) or FALSE]))
    return disjunction(yes)


def loop_over(argument: Any) -> Loop | None:
    """How to run a generator expression over members again and again; None if it is none."""
    if isinstance(argument, Listing):
        return argument
    if isinstance(argument, Members):
        return lambda: iter(argument)
    if not isinstance(argument, types.GeneratorType) or argument.gi_code.co_name != "<genexpr>":
        return None
    frame = argument.gi_frame
    if frame is None:
        return None  # it has ended
    over = frame.f_locals.get(".0")
    if not isinstance(over, Cursor):
        return None
    code, inside, space = argument.gi_code, dict(frame.f_locals), frame.f_globals
    _refuse_effects(code)
    if any(argument is each for each in now.used):
        raise RefusedError(
            "uses a generator over any number of processes twice: what the first use leaves of it depends on them",
            "write the generator expression where it is used",
        )
    now.used.append(argument)
    cells = tuple(types.CellType(inside[name]) for name in code.co_freevars)
    function = types.FunctionType(code, space, "<genexpr>", None, cells)

    def again() -> Iterator[Any]:
        made: Iterator[Any] = function(Cursor(over.members))
        return made

    again.__quorate_code__ = code  # type: ignore[attr-defined]
    return again


_PURE = {
    "isinstance", "bool", "min", "max", "abs", "len", "all", "any", "sum", "majority", "get",
    "ever_sent", "ever_sent_any", "has_started", "__same__", "__image__", "__display__", "__listing__",
    "__lifted__", "__number__",
}  # fmt: skip


def _refuse_effects(code: types.CodeType) -> None:
    """A body that runs once in place of many times must not do anything but compute."""
    calls, names = False, set()
    for each in dis.get_instructions(code):
        if each.opname in ("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "STORE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR"):
            raise RefusedError("a loop over any number of processes assigns something", "let it compute a value alone")
        if each.opname in ("LOAD_GLOBAL", "LOAD_METHOD"):
            names.add(each.argval)
        if each.opname == "LOAD_ATTR" and "NULL" in each.argrepr:
            names.add(each.argval)
        if each.opname == "PUSH_NULL":  # before or after a function that is no global: nobody knows what it does
            names.add("a function of its own")
        calls |= each.opname.startswith("CALL")
    if calls:
        odd = sorted(each for each in names if each not in _PURE and not each[:1].isupper())
        if odd:
            raise RefusedError(
                f"a loop over any number of processes calls `{odd[0]}`",
                "write out what it computes, so that it is seen",
            )
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _refuse_effects(constant)


# --- idioms ------------------------------------------------------------------------------------------------------


def _condition(value: Any) -> Any:
    return value if isinstance(value, SymBool) else bool(value)


def _term(value: Any) -> Term:
    term = condition_of(value)
    assert term is not None
    return term


def every(argument: Any) -> Any:
    """`all`."""
    loop = loop_over(argument)
    if loop is None:
        return builtins.all(argument)
    parts = []
    for way in ways(loop, _condition):
        no = conjunction([way.whole, disjunction(negation(_term(each)) for each in way.values)])
        parts.append(forall(way.bound, negation(no)))
    return truth(conjunction(parts))


def some(argument: Any) -> Any:
    """`any`."""
    loop = loop_over(argument)
    if loop is None:
        return builtins.any(argument)
    parts = []
    for way in ways(loop, _condition):
        parts.append(exists(way.bound, conjunction([way.whole, disjunction(map(_term, way.values))])))
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
    serial = _loop(path)
    chosen = {each: var(f"@w{serial}.{at}", each.sort) for at, each in enumerate(way.bound)}
    for condition in (rebuilt(way.facts, chosen), rebuilt(way.condition, chosen)):
        path.assume(condition)
    best = substituted(value, chosen)
    if key is not None:
        if not isinstance(key, types.FunctionType):
            raise RefusedError(f"{name}() by a key that is no function of the model", "write a lambda")
        _refuse_effects(key.__code__)
    rank = (lambda each: each) if key is None else key
    for other, rival in entries:

        def beyond(rival: Any = rival) -> Any:
            return rank(best) < rank(rival) if name == "max" else rank(rival) < rank(best)

        path.assume(forall(other.bound, implies(other.whole, negation(formula(beyond, [other.whole])))))
    if not path.feasible():
        raise Impossible
    return best


def substituted(value: Any, names: dict[Term, Term]) -> Any:
    """The value with other variables."""
    if isinstance(value, SymInt):
        return SymInt(rebuilt(value.term, names))
    if isinstance(value, SymBool):
        return truth(rebuilt(value.term, names))
    if isinstance(value, Node):
        return Node(value.role, rebuilt(value.term, names))
    if isinstance(value, Record):
        made = object.__new__(type(value))
        made.__dict__.update({name: substituted(each, names) for name, each in value.__dict__.items()})
        return made
    if isinstance(value, Term):
        return rebuilt(value, names)
    if isinstance(value, tuple):
        parts = [substituted(each, names) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if value is None or isinstance(value, (bool, int, str, bytes, Pid, Enum, Scalar)):
        return value
    raise RefusedError(f"takes a {type(value).__name__} out of a loop over any number of processes", IDIOMS)


def mentions(value: Any, bound: Sequence[Term]) -> bool:
    """Whether a value depends on the members that a loop came to."""
    if not bound:
        return False
    other = {each: var(f"{each.args[0]}'", each.sort) for each in bound}
    return _leaves(value) != _leaves(substituted(value, other))


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (SymInt, SymBool, Node)):
        return [value.term]
    if isinstance(value, Record):
        return [leaf for name in sorted(value.__dict__) for leaf in _leaves(value.__dict__[name])]
    if isinstance(value, tuple):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value]


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
        return truth(negation(_term(self >= other)))

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(
            "computes with a number of processes",
            "compare it, with >= or <, with the size of a quorum: >= majority(self[Role])",
        )

    __gt__ = __le__ = __add__ = __radd__ = __sub__ = __rsub__ = __bool__ = __index__ = __int__ = _no
    __eq__ = __ne__ = __hash__ = _no


_like_integers(Tally)


def tally(argument: Any, *start: Any) -> Any:
    """`sum`: of conditions, or of ones."""
    from quorate.proofs.lifting import SHIMS

    loop = loop_over(argument)
    if loop is None:
        return SHIMS["sum"](argument, *start)
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


# --- set comprehensions ------------------------------------------------------------------------------------------


def _equal(one: Any, two: Any) -> bool:
    """As sets compare: `True == 1`, and a NamedTuple equals a tuple, whatever their encodings are."""
    return bool(one == two)


class Entry(NamedTuple):
    bound: tuple[Term, ...]
    condition: Term
    value: Any


class Image(Unseen):
    """The set of values that a loop over members comes to."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)

    def apart(self, mark: str) -> Image:
        """The same, with other names of its members."""
        made = []
        for each in self.entries:
            names = {x: var(f"{x.args[0]}{mark}", x.sort) for x in each.bound}
            made.append(Entry(tuple(names.values()), rebuilt(each.condition, names), substituted(each.value, names)))
        return Image(made)

    def holds(self, wanted: Any) -> Term:
        found = []
        for each in self.apart("?").entries:
            equals = formula(lambda each=each: _equal(wanted, each.value), [each.condition])  # type: ignore[misc]
            found.append(exists(each.bound, conjunction([each.condition, equals])))
        return disjunction(found)

    def __contains__(self, wanted: Any) -> bool:
        return decide(self.holds(wanted))

    def __bool__(self) -> bool:
        return decide(disjunction(exists(each.bound, each.condition) for each in self.entries))

    def __sub__(self, others: Any) -> Image:
        if not isinstance(others, (set, frozenset)):
            self._no()
        kept = []
        for each in self.entries:
            gone = [
                formula(lambda each=each, other=other: _equal(each.value, other), [each.condition])  # type: ignore[misc]
                for other in _elements(others)
            ]
            kept.append(Entry(each.bound, conjunction([each.condition, *map(negation, gone)]), each.value))
        return Image(kept)

    def __or__(self, others: Any) -> Image:
        if isinstance(others, Image):
            return Image([*self.entries, *others.entries])
        if isinstance(others, (set, frozenset)):
            return Image([*self.entries, *(Entry((), TRUE, each) for each in _elements(others))])
        return self._no()

    __ror__ = __or__

    def __le__(self, others: Any) -> Any:
        parts = []
        for each in self.apart("'").entries:
            if isinstance(others, Image):
                inside = others.holds(each.value)
            elif isinstance(others, (set, frozenset)):
                inside = disjunction(
                    formula(lambda each=each, other=other: _equal(each.value, other), [each.condition])  # type: ignore[misc]
                    for other in _elements(others)
                )
            else:
                self._no()
            parts.append(forall(each.bound, implies(each.condition, inside)))
        return truth(conjunction(parts))

    issubset = __le__

    def at_most(self, most: int) -> Term:
        """Whether it has no more elements than so many."""
        if most == 0:
            return conjunction(forall(each.bound, negation(each.condition)) for each in self.entries)
        if most != 1:
            raise RefusedError(
                f"compares the size of a set over any number of processes with {most}", "<= 1, == 0 and the like work"
            )
        parts = []
        for one in self.entries:
            for two in self.apart("'").entries:
                given = conjunction([one.condition, two.condition])
                equals = formula(lambda one=one, two=two: _equal(one.value, two.value), [given])  # type: ignore[misc]
                parts.append(forall([*one.bound, *two.bound], implies(given, equals)))
        return conjunction(parts)

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(
            "does with a set over any number of processes what has no formula", "in, -, |, <= and len(...) <= 1 work"
        )

    __and__ = __rand__ = __rsub__ = __xor__ = __iter__ = __lt__ = __gt__ = __ge__ = _no
    __eq__ = __ne__ = __hash__ = _no


def _elements(of: Any) -> list[Any]:
    return list(frozenset.__iter__(of)) if isinstance(of, ContentSet) else list(of)


class Size(Unseen):
    """The number of elements of an image."""

    def __init__(self, image: Image) -> None:
        self.image = image

    def _bound(self, other: Any) -> int:
        known = other.known if isinstance(other, SymInt) else other if type(other) is int else None
        if known is None:
            self.image._no()
        return known

    def __le__(self, other: Any) -> Any:
        most = self._bound(other)
        return truth(self.image.at_most(most)) if most >= 0 else False

    def __lt__(self, other: Any) -> Any:
        return self <= self._bound(other) - 1

    def __gt__(self, other: Any) -> Any:
        return truth(negation(_term(self <= other)))

    def __ge__(self, other: Any) -> Any:
        return truth(negation(_term(self < other)))

    def __eq__(self, other: object) -> Any:
        most = self._bound(other)
        return truth(conjunction([_term(self <= most), _term(self >= most)]))

    def __ne__(self, other: object) -> Any:
        return truth(negation(_term(self == other)))

    def __bool__(self) -> bool:
        return bool(self.image)

    def _no(self, *_: Any) -> NoReturn:
        self.image._no()

    __hash__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __index__ = __int__ = _no


def image(argument: Any, plain: type = set) -> Any:
    """A set comprehension, or `set` and `frozenset` of a generator expression."""
    loop = loop_over(argument)
    if loop is None:
        return plain(argument)
    entries = [(way, Entry(way.bound, way.whole, value)) for way in ways(loop) for value in way.values]
    if not any(mentions(entry.value, entry.bound) for _, entry in entries):
        # Whoever it is, the value is the same: an ordinary set.
        return plain(
            entry.value
            for way, entry in entries
            if (way.certain and way.condition is TRUE) or decide(exists(entry.bound, entry.condition))
        )
    return Image([entry for _, entry in entries])


def length(of: Any) -> Any:
    """`len`."""
    from quorate.proofs.lifting import SHIMS

    if isinstance(of, Image):
        return Size(of)
    if isinstance(of, Members) and of.size is not None:
        return of.size
    return SHIMS["len"](of)


_like_integers(Size)


def identical(one: Any, two: Any) -> Any:
    """`is`: of processes, whether they are the same one."""
    a, b = _node(one), _node(two)
    if a is not None or b is not None:
        return a == b if a is not None and b is not None else False
    from quorate.proofs import lifting

    for each, other in ((one, two), (two, one)):
        if isinstance(each, Unseen) and other is not None:
            raise RefusedError("compares with `is` what depends on how many processes there are", "use ==")
    return lifting.identical(one, two)


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
}
