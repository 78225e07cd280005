"""Loops over any number of processes: the body runs once, for a member that stands for any.

Only where it is known what follows for all of them: in `all`, `any`, `max`, `min`, `sum` of conditions
(parametric_idioms.py), and comprehensions. Everywhere else a loop is refused, with its line; so is a body that does
more than compute.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, NoReturn

from quorate.language.message import Record
from quorate.language.pid import Pid
from quorate.language.scalar import Scalar
from quorate.proofs.parametric_values import IDIOMS, Generic, Members, Node, OfNumber
from quorate.proofs.paths import Explorer, Path, Taken
from quorate.proofs.proxies import SymBool, SymInt, Unseen, condition_of, current, decide, taking, truth
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    conjunction,
    disjunction,
    exists,
    rebuilt,
    var,
)


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
    serial = f"{len(now.captures)}.{serial_of(outer)}"
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
    if of is not as_condition or condition_of(value) is not None:
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
        from quorate.proofs.parametric_sets import Entry, Image

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


def serial_of(path: Path) -> int:
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
    refuse_effects(code, frame.f_globals)
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
    "__lifted__", "__number__", "__ordered__",
}  # fmt: skip


def refuse_effects(code: types.CodeType, space: Mapping[str, Any]) -> None:
    """A body that runs once in place of many times must not do anything but compute."""
    calls, names, made = False, set(), set()
    for each in dis.get_instructions(code):
        if each.opname == "STORE_DEREF" and each.argval in code.co_cellvars:
            continue  # its own variable, which a loop inside of it reads
        if each.opname in ("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "STORE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR"):
            raise RefusedError("a loop over any number of processes assigns something", "let it compute a value alone")
        if each.opname == "LOAD_GLOBAL" and isinstance(space.get(each.argval), type):
            made.add(each.argval)
        if each.opname in ("LOAD_GLOBAL", "LOAD_METHOD"):
            names.add(each.argval)
        if each.opname == "LOAD_ATTR" and "NULL" in each.argrepr:
            names.add(each.argval)
        if each.opname == "PUSH_NULL":  # before or after a function that is no global: nobody knows what it does
            names.add("a function of its own")
        calls |= each.opname.startswith("CALL")
    if calls:
        odd = sorted(each for each in names if each not in _PURE | made)
        if odd:
            raise RefusedError(
                f"a loop over any number of processes calls `{odd[0]}`",
                "write out what it computes, so that it is seen",
            )
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            refuse_effects(constant, space)


def as_condition(value: Any) -> Any:
    return value if isinstance(value, SymBool) else bool(value)


def as_term(value: Any) -> Term:
    term = condition_of(value)
    assert term is not None
    return term


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
