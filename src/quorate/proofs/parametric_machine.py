"""A family of systems as functions: of a role's processes, each leaf of a field is a function of the process.

A channel to or from processes of a role is a predicate with the process as an argument. A quorum is an element of a
sort of its own, with a predicate that says who is in it; that any two have a process in common is an axiom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from quorate.base.errors import Location, ModelError, caller
from quorate.base.places import class_location, member_location
from quorate.base.values import encode
from quorate.language.automaton import attach
from quorate.language.message import Message
from quorate.language.pid import Pid, column_of
from quorate.model.definition import Column
from quorate.proofs.leaves import SLOTS, Boolean, Finite, MisfitError, Parts, Reader, Shape
from quorate.proofs.machine import (
    Field,
    Frame,
    Machine,
    _distinct,
    _longest,
    _open,
    _stored,
    _supported,
    _view,
    require_whole,
)
from quorate.proofs.parametric_family import Everyone, Family, Oneself
from quorate.proofs.parametric_loops import now
from quorate.proofs.parametric_values import Members, Node, Nodes, OfNumber, Role
from quorate.proofs.proxies import current, decide, lifted
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    FALSE,
    Sort,
    Term,
    app,
    conjunction,
    equal,
    exists,
    forall,
    ge,
    implies,
    negation,
    number,
    rebuilt,
    var,
)

_new = object.__new__


class Identity(Shape):
    """A process: one of those that there are, or one of a role, of which there may be any number."""

    def __init__(self, fixed: Sequence[Pid], roles: Sequence[Role]) -> None:
        self.fixed, self.roles = tuple(fixed), tuple(roles)
        leaves: list[tuple[str, Sort]] = [("", "Int"), *((f"~{role.name}", role.name) for role in roles)]
        self.leaves = tuple(leaves)

    def lift(self, terms: Sequence[Term]) -> Any:
        for pid in self.fixed:
            if decide(equal(terms[0], number(column_of(pid)))):
                return pid
        for at, role in enumerate(self.roles[:-1], start=1):
            if decide(equal(terms[0], number(-at))):
                return Node(role, terms[at])
        return Node(self.roles[-1], terms[-1])

    def lower(self, value: Any) -> list[Term]:
        nothing = self.neutral[1:]
        if type(value) is Pid and value in self.fixed:
            return [number(column_of(value)), *nothing]
        if isinstance(value, Node) and value.role in self.roles:
            at = self.roles.index(value.role)
            return [number(-at - 1), *nothing[:at], value.term, *nothing[at + 1 :]]
        raise MisfitError

    def wf(self, terms: Sequence[Term]) -> Term:
        inside = Finite([*self.fixed, *self.roles], [*map(column_of, self.fixed), *range(-1, -len(self.roles) - 1, -1)])
        rules = [inside.wf(terms[:1]) if inside.leaves else equal(terms[0], number(inside.numbers[0]))]
        for at, (leaf, none) in enumerate(zip(terms[1:], self.neutral[1:], strict=True), start=1):
            rules.append(implies(negation(equal(terms[0], number(-at))), equal(leaf, none)))
        return conjunction(rules)


class NodeReader(Reader):
    """Shapes in a family."""

    def __init__(self, family: Family, slots: int) -> None:
        reference = family.reference
        fixed = [c.pid for c in reference.processes if family.role_of(c) is None and c.pid is not None]
        super().__init__(fixed, reference.scalars, slots)
        self.roles = family.roles

    def shape(self, hint: Any, what: str, place: Location | None, seen: tuple[Any, ...] = ()) -> Shape:
        return Identity(self.pids, self.roles) if hint is Pid else super().shape(hint, what, place, seen)


@dataclass(eq=False, frozen=True)
class Line:
    """Messages of one class from one role or process to another."""

    cls: type[Message]
    sender: Column
    receiver: Column
    shape: Parts
    sender_role: Role | None
    receiver_role: Role | None
    label: str
    """What the class is called in formulas."""

    @property
    def pending(self) -> str:
        sender, receiver = _label(self.sender, self.sender_role), _label(self.receiver, self.receiver_role)
        return f"pending:{self.label}:{sender}>{receiver}"

    @property
    def sent(self) -> str:
        return _sent(self.label, self.sender, self.sender_role)

    def who(self, sender: Term | None, receiver: Term | None) -> tuple[Term, ...]:
        """The arguments of `pending` that say between whom."""
        return tuple(each for each in (sender, receiver) if each is not None)


def _label(column: Column, role: Role | None) -> str:
    return role.name if role is not None else column.name


def _sent(label: str, sender: Column, role: Role | None) -> str:
    return f"sent:{label}:{_label(sender, role)}"


@dataclass(frozen=True)
class Quorums:
    """Sets of processes of a role, of a size that depends on how many there are."""

    role: Role
    size: tuple[int, ...]
    sort: str

    def known(self, quorum: Term) -> Term:
        """True of every quorum. Solvers look for quorums where they are spoken of: this does."""
        return app(f"is:{self.sort}", (quorum,))

    def member(self, quorum: Term, process: Term) -> Term:
        return app(f"in:{self.sort}", (quorum, process))


class FamilyMachine(Machine):
    """The functions of a family."""

    def __init__(
        self,
        family: Family,
        *,
        free: Iterable[str] = (),
        assigned: Iterable[tuple[type, str]] = (),
        slots: int = SLOTS,
    ) -> None:
        self.family = family
        self.definition = family.reference
        network = self.definition.network
        for each in family.definitions:
            _supported(each)
        if self.definition.cells:
            raise RefusedError(
                f"the shared cell {self.definition.cells[0]} has no encoding for any number of processes",
                "messages have; for the processes there are, leave out --number",
                class_location(type(self.definition.system)),
            )
        _distinct(self.definition, (role.name for role in family.roles))
        if network.kind == "multiset" or network.duplicates not in (0, "any"):
            raise RefusedError(
                f"the network {network}: counted messages have no encoding for any number of processes",
                "unordered() works",
                class_location(type(self.definition.system)),
            )
        self.copies, self.adds_up, self.counting = 0, False, False
        self.reader = NodeReader(family, max(slots, _longest(self.definition)))
        self.free = self._free(free)
        self._assigned = {*assigned, *_stored(self.definition)}
        self.shown = family.columns()
        self.starts: dict[tuple[int, int], list[Any]] = {}
        """By column and field: the initial values, in every initial state, of what is not constant."""
        self.fields = [[] for _ in self.definition.columns]
        for column in self.shown:
            self.fields[column.index] = [self._field(column, index) for index in range(len(column.fields))]
        self.crashed = [
            self._leaf(column, "crashed", "Bool") if column in self.shown and column.may_crash else None
            for column in self.definition.columns
        ]
        self.losses = var("budget.losses", "Int") if network.losses not in (0, "any") else None
        self.duplicates = None
        self.crashes = var("budget.crashes", "Int") if self.definition.faults.crashes else None
        self._messages = {}
        self._labels = {}
        self.lines: dict[tuple[type, int, int], Line] = {}
        self.quorums: dict[tuple[Role, tuple[int, ...]], Quorums] = {}
        self._views = {}
        self._message_views = {}
        for column in self.definition.processes:
            if column.may_crash and self.definition.notices(column):
                raise RefusedError(
                    "notices of crashes have no encoding for any number of processes",
                    "leave out the handler of Crash",
                    class_location(type(self.definition.system)),
                )

    def role(self, column: Column) -> Role | None:
        return self.family.role_of(column)

    def own(self, role: Role) -> Term:
        """The process of a role that a template speaks of."""
        return var(f"self:{role.name}", role.name)

    def _leaf(self, column: Column, name: str, sort: Sort) -> Term:
        role = self.role(column)
        if role is None:
            return var(f"{column.name}.{name}", sort)
        return app(f"{role.name}.{name}", (self.own(role),), sort)

    def _field(self, column: Column, index: int) -> Field:
        name = column.fields[index]
        if index >= column.spec.visible:
            self.starts[column.index, index] = [False] * len(self.definition.initials)
            return Field(column, index, name, Boolean(), (self._leaf(column, name, "Bool"),))
        free = (column.cls, name) in self.free
        values: list[Any] = []
        if not free:
            values = self.family.initial(column, index)
            if (column.cls, name) not in self._assigned and len({_key(each) for each in values}) == 1:
                return Field(column, index, name, constant=values[0])
            self.starts[column.index, index] = values
        hint, what = column.spec.types.get(name), f"{column.cls.__name__}.{name}"
        place = member_location(column.cls, name)
        if isinstance(hint, str):
            raise RefusedError(f"{what}: its type {hint} cannot be looked up", "define it in the module", place)
        shape = self.reader.shape(hint, what, place)
        if free:
            require_whole(shape, hint, what, place)
        terms = tuple(self._leaf(column, f"{name}{suffix}", sort) for suffix, sort in shape.leaves)
        found = Field(column, index, name, shape, terms, free=free)
        role = self.role(column)
        node = Node(role, self.own(role)) if role is not None else None
        for value in values:
            try:
                shape.lower(self.settled(value, node))
            except MisfitError:
                raise RefusedError(
                    f"{what} is assigned, and begins with what depends on how many processes there are",
                    "a field that is never assigned works",
                    place,
                ) from None
        return found

    def settled(self, value: Any, node: Node | None) -> Any:
        """An initial value as a process has it."""
        if isinstance(value, Everyone):
            role = value.role
            if value.others:
                assert node is not None
                me = node.term
                return Nodes(role, lambda x: negation(equal(x, me)), value.fixed, nonempty=False)
            size = None if value.fixed else self.family.number(role)
            return Nodes(role, items=value.fixed, size=size)
        if isinstance(value, Oneself):
            return node
        if isinstance(value, OfNumber):
            return value
        if isinstance(value, tuple):
            parts = [self.settled(each, node) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return lifted(value)

    def at(self, terms: Sequence[Term], column: Column, node: Term | None) -> tuple[Term, ...]:
        """Leaves of a field of a certain process."""
        role = self.role(column)
        if role is None:
            return tuple(terms)
        assert node is not None
        return tuple(rebuilt(each, {self.own(role): node}) for each in terms)

    def variables(self) -> Iterator[Term]:
        raise NotImplementedError

    def well_formed(self) -> Term:
        rules = []
        for column in self.shown:
            role = self.role(column)
            own = conjunction(each.shape.wf(each.terms) for each in self.fields[column.index] if each.shape is not None)
            rules.append(own if role is None else forall([self.own(role)], own))
        for budget, most in self.budgets():
            rules += [ge(budget, number(0)), ge(number(most), budget)]
        return conjunction(rules)

    # Messages

    def line(self, cls: type[Message], sender: Column, receiver: Column) -> Line:
        key = cls, sender.index, receiver.index
        found = self.lines.get(key)
        if found is None:
            found = self.lines[key] = Line(
                cls, sender, receiver, self.message(cls), self.role(sender), self.role(receiver), self.label(cls)
            )
        return found

    def sent_name(self, cls: type, sender: Column) -> str:
        return _sent(self.label(cls), sender, self.role(sender))

    def column_of(self, to: Any) -> Column:
        """The column that stands for a process."""
        if isinstance(to, Node):
            return next(each for each in self.shown if each.cls is to.role.cls)
        found = self.definition.columns[column_of(to)]
        assert self.role(found) is None, "a process of a role has no identity of its own"
        return found

    # Quorums

    def quorum(self, role: Role, size: OfNumber) -> Quorums:
        key = role, size.values
        found = self.quorums.get(key)
        if found is None:
            found = self.quorums[key] = Quorums(role, size.values, f"Quorum{len(self.quorums) + 1}:{role.name}")
        return found

    def tallied(self, sort: str, size: OfNumber, x: Term, holds: Term) -> Term:
        """At least so many: there is a quorum in which it holds of everyone."""
        role = next(each for each in self.family.roles if each.name == sort)
        quorums = self.quorum(role, size)
        q = var(f"q{x.args[0]}", quorums.sort)
        within = forall([x], implies(quorums.member(q, x), holds), [[quorums.member(q, x)]])
        return exists([q], conjunction([quorums.known(q), within]))

    def meeting(self) -> list[tuple[Quorums, Quorums]]:
        """The kinds of quorums of which any two have a process in common."""
        kinds = list(self.quorums.values())
        found = []
        for at, one in enumerate(kinds):
            for two in kinds[at:]:
                if one.role == two.role:
                    number_ = self.family.number(one.role)
                    if all(a + b > n for a, b, n in zip(one.size, two.size, number_.values, strict=True)):
                        found.append((one, two))
        return found

    def axioms(self) -> list[Term]:
        """There is a quorum, and any two meet, where their sizes say so."""
        rules = []
        for each in self.quorums.values():
            if all(size <= n for size, n in zip(each.size, self.family.number(each.role).values, strict=True)):
                some = var("q1", each.sort)
                rules.append(exists([some], each.known(some)))
        for one, two in self.meeting():
            q, r = var("q1", one.sort), var("q2", two.sort)
            x = app(f"common:{one.sort}:{two.sort}", (q, r), one.role.name)
            given = [one.known(q), two.known(r)]
            rules.append(
                forall([q, r], implies(conjunction(given), conjunction([one.member(q, x), two.member(r, x)])), [given])
            )
        return rules

    # Views

    def view(self, column: Column, frame: Any) -> Any:
        cls = self._views.get(column.cls)
        if cls is None:
            cls = self._views[column.cls] = _view(column.cls)
            if not column.is_monitor:
                for name, method in (("send", _send), ("reply", _reply), ("choose", _choose)):
                    setattr(cls, name, method)
            setattr(cls, "crashed", property(_crashed))  # noqa: B010
        made: Any = _new(cls)
        attach(made, frame)
        return made

    def starting(self, number_: int) -> dict[str, tuple[tuple[Term, ...], Term]]:
        """One initial state: by function, its arguments and its value; channels are empty, what is free is left out."""
        found: dict[str, tuple[tuple[Term, ...], Term]] = {}

        def note(term: Term, value: Term) -> None:
            if term.op == "app":
                found[term.args[0]] = term.args[1], value
            else:
                found[term.args[0]] = (), value

        for column in self.shown:
            role = self.role(column)
            node = Node(role, self.own(role)) if role is not None else None
            for each in self.fields[column.index]:
                if each.shape is None or each.free:
                    continue
                value = self.settled(self.starts[column.index, each.index][number_], node)
                for term, leaf in zip(each.terms, each.shape.lower(value), strict=True):
                    note(term, leaf)
            crashed = self.crashed[column.index]
            if crashed is not None:
                note(crashed, FALSE)
        for budget, whole in self.budgets():
            note(budget, number(whole))
        return found


def _key(value: Any) -> Any:
    if isinstance(value, OfNumber):
        return "of", value.values
    if isinstance(value, (Everyone, Oneself)):
        return value
    if isinstance(value, tuple):
        return tuple(_key(each) for each in value)
    return encode(value)


class NodeFrame(Frame):
    """The fields of a process of a role, or of one of those that there are."""

    machine: FamilyMachine

    def __init__(self, machine: FamilyMachine, column: Column, closed: str, node: Term | None = None) -> None:
        super().__init__(machine, column, closed)
        self.node = node
        role = machine.role(column)
        self.identity: Node | None = None
        if role is not None:
            assert node is not None
            self.identity = Node(role, node)
            self.pid = self.identity  # type: ignore[assignment]

    def read(self, index: int) -> Any:
        if index in self.values:
            return self.values[index]
        found = self.machine.fields[self.column.index][index]
        if found.shape is None:
            return self.machine.settled(found.constant, self.identity)
        shape, terms = found.shape, self.machine.at(found.terms, self.column, self.node)
        return current().once(self, index, lambda: shape.lift(terms))

    def write(self, index: int, value: Any) -> None:
        self.refuse_loop("assigns a field")
        super().write(index, value)

    def refuse_loop(self, what: str) -> None:
        if now.captures:
            raise RefusedError(f"{what} in a loop over any number of processes", "let the loop compute a value alone")

    def updates(self) -> dict[Term, Term]:
        role = self.machine.role(self.column)
        found = super().updates()
        if role is None:
            return found
        assert self.node is not None
        here = {self.machine.own(role): self.node}
        return {rebuilt(term, here): value for term, value in found.items()}


@dataclass(frozen=True)
class Target:
    """Whom a message goes to: one process, or all of a role of which a condition holds."""

    column: Column
    node: Term | None = None
    among: tuple[Term, Term] | None = None
    """A variable, and what has to hold of it."""


def _send(self: Any, to: Any, message: Any) -> None:
    frame: Any = _open(self, "send")
    frame.refuse_loop("sends")
    if not isinstance(message, Message):
        raise ModelError(f"{type(self).__name__}.send: not a message", code="Q107", location=caller())
    machine = frame.machine
    for each in targets(machine, to, type(self).__name__):
        frame.sends.append((each, message))


def targets(machine: FamilyMachine, to: Any, what: str) -> Iterator[Target]:
    if isinstance(to, Node):
        yield Target(machine.column_of(to), to.term)
    elif type(to) is Pid:
        yield Target(machine.column_of(to))
    elif isinstance(to, Nodes):
        for pid in to.items:
            yield Target(machine.column_of(pid))
        x = var("to", to.role.name)
        yield Target(machine.column_of(Node(to.role, x)), among=(x, to.member(x)))
    elif isinstance(to, Members):
        raise RefusedError(f"{what}.send to {to.what}", "send to all processes of a role, or to one")
    else:
        for each in to:
            if type(each) is not Pid and not isinstance(each, Node):
                raise ModelError(f"{what}.send: not an identity", code="Q107", location=caller())
            yield from targets(machine, each, what)


def _reply(self: Any, message: Any) -> None:
    frame: Any = _open(self, "reply")
    frame.refuse_loop("replies")
    if not isinstance(message, Message) or not frame.messages:
        raise ModelError(f"{type(self).__name__}.reply: nothing to reply to", code="Q107", location=caller())
    for received in frame.messages:
        if isinstance(received, Nodes):  # the senders of a quorum
            frame.sends += [(each, message) for each in targets(frame.machine, received, "reply")]
        else:
            origin = received.__dict__["_origin"]
            frame.sends += [(each, message) for each in targets(frame.machine, origin, "reply")]


def _choose(self: Any, options: Any) -> Any:
    from quorate.proofs.machine import _choose as plainly

    frame: Any = _open(self, "choose")
    frame.refuse_loop("chooses")
    if not isinstance(options, Members):
        return plainly(self, options)
    if not isinstance(options, Nodes) or options.items:
        raise RefusedError(f"chooses from {options.what}", "one of a role's processes can be chosen")
    x = var(f"@c{len(frame.picked)}", options.role.name)
    current().assume(options.member(x))
    frame.picked.append(x)
    return Node(options.role, x)


def _crashed(self: Any) -> bool:
    frame: NodeFrame = self._run
    term = frame.machine.crashed[frame.column.index]
    if term is None or frame.closed != "a property":
        return False
    return decide(frame.machine.at((term,), frame.column, frame.node)[0])
