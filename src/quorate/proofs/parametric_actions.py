"""The steps of a family: each way through a handler, for any process of a role, whatever quorum it waits for.

The order of things is that of `actions.py`. A message that is consumed has unknown leaves; of a quorum, each leaf is an
unknown function of the sender. What is sent to a role goes to all of its processes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from quorate.base.errors import Location, ModelError
from quorate.base.failures import failure_of
from quorate.language.forbidden import returned
from quorate.model.definition import Column, Transition
from quorate.proofs.actions import Kind, _Choices, _demand, _holds
from quorate.proofs.leaves import OverflowingError
from quorate.proofs.lifting import Lifting
from quorate.proofs.machine import ChangedError
from quorate.proofs.parametric_loops import formula
from quorate.proofs.parametric_machine import FamilyMachine, Line, NodeFrame, Target
from quorate.proofs.parametric_values import Generic, Members, Node, Nodes, OfNumber
from quorate.proofs.paths import Explorer, Impossible, Path
from quorate.proofs.proxies import plain_class, taking
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    add,
    all_equal,
    app,
    conjunction,
    disjunction,
    exists,
    forall,
    functions,
    implies,
    ite,
    lt,
    negation,
    nodes,
    number,
    rebuilt,
    var,
    variables,
)


@dataclass(frozen=True)
class Taking:
    """What is consumed: one message, or one from each member of a quorum (`among`, with its condition)."""

    line: Line
    sender: Term | None
    receiver: Term | None
    leaves: tuple[Term, ...]
    among: Term | None = None

    @property
    def held(self) -> Term:
        here = app(self.line.pending, (*self.line.who(self.sender, self.receiver), *self.leaves))
        if self.among is None:
            return here
        assert self.sender is not None
        return forall([self.sender], implies(self.among, here))

    def is_(self, arguments: tuple[Term, ...]) -> Term:
        """Whether a message with these arguments is consumed."""
        here = (*self.line.who(self.sender, self.receiver), *self.leaves)
        if self.among is None:
            return all_equal(arguments, here)
        assert self.sender is not None
        whose = {self.sender: arguments[0]}
        wanted = [rebuilt(each, whose) for each in here]
        return conjunction([rebuilt(self.among, whose), all_equal(arguments, wanted)])


@dataclass(frozen=True)
class Sending:
    """What is sent, to one process or to all of a role of which a condition holds."""

    line: Line
    sender: Term | None
    to: Target
    leaves: tuple[Term, ...]
    condition: Term = TRUE
    """Where a crash cuts a step short, this is open; of several receivers, for each."""

    def pends(self, arguments: tuple[Term, ...]) -> Term:
        rest = list(arguments)
        rules: list[Term] = []
        condition = self.condition
        if self.sender is not None:
            rules.append(all_equal([rest.pop(0)], [self.sender]))
        if self.to.node is not None:
            rules.append(all_equal([rest.pop(0)], [self.to.node]))
        elif self.to.among is not None:
            x, holds = self.to.among
            here = {x: rest.pop(0)}
            rules.append(rebuilt(holds, here))
            condition = rebuilt(condition, here)
        return conjunction([condition, *rules, all_equal(rest, self.leaves)])

    def counts(self, arguments: tuple[Term, ...]) -> Term:
        """Whether it makes this one that was ever sent."""
        rest = list(arguments)
        rules = [all_equal([rest.pop(0)], [self.sender])] if self.sender is not None else []
        rules.append(all_equal(rest, self.leaves))
        if self.to.among is None:
            return conjunction([self.condition, *rules])
        x, holds = self.to.among
        whom = conjunction([holds, self.condition])
        return conjunction([*rules, TRUE if whom is TRUE else exists([x], whom)])


@dataclass(frozen=True, eq=False)
class Move:
    """One way in which the state of any instance may change."""

    kind: Kind
    column: Column
    transition: Transition | None
    guard: Term
    updates: Mapping[Term, Term]
    taken: tuple[Taking, ...] = ()
    stays: bool = False
    sends: tuple[Sending, ...] = ()
    text: str = ""
    place: Location | None = None
    node: Term | None = None

    @property
    def name(self) -> str:
        who = self.column.cls.__name__ if self.node is not None else self.column.name
        own = f"{who}.{self.transition.name}" if self.transition is not None else who
        return own if self.kind == "step" else f"{own} ({self.kind})"

    @cached_property
    def touched(self) -> frozenset[str]:
        """The names of variables and functions that it may change."""
        found = {term.args[0] for term in self.updates}
        for each in self.sends:
            found |= {each.line.pending, each.line.sent}
        if not self.stays:
            found |= {each.line.pending for each in self.taken}
        return frozenset(found)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The unknowns: constants and functions that no state determines."""
        terms = [self.guard, *self.updates, *self.updates.values()]
        for one in self.taken:
            terms += [*one.leaves, one.among or TRUE]
        for two in self.sends:
            terms += [*two.leaves, two.condition, *(two.to.among or ()), two.to.node or TRUE]
        names = {each.args[0] for each in nodes(*terms) if each.op in ("var", "app")}
        return frozenset(name for name in names if name.startswith("@"))

    def after(self, term: Term) -> Term:
        """What a formula about the state after the step says about the state before it."""
        plain = {each: value for each, value in self.updates.items() if each.op == "var"}
        fields = {each.args[0]: (each.args[1], value) for each, value in self.updates.items() if each.op == "app"}

        def apply(old: Term, arguments: tuple[Term, ...]) -> Term:
            name = old.args[0]
            result = app(name, arguments, old.sort)
            if name in fields:
                where, value = fields[name]
                return ite(all_equal(arguments, where), value, result)
            for one in () if self.stays else self.taken:
                if one.line.pending == name:
                    result = conjunction([result, negation(one.is_(arguments))])
            for two in self.sends:
                if two.line.pending == name:
                    result = disjunction([result, two.pends(arguments)])
                if two.line.sent == name:
                    result = disjunction([result, two.counts(arguments)])
            return result

        return rebuilt(term, plain, apply)

    def changes(self, term: Term) -> bool:
        names = {each.args[0] for each in variables(term)} | functions(term)
        return bool(self.touched & names)


class FamilyEncoder:
    """All steps of a family."""

    def __init__(self, machine: FamilyMachine, explorer: Explorer, lifting: Lifting) -> None:
        self.machine, self.explorer, self.lifting = machine, explorer, lifting
        self._wf = machine.well_formed()

    def moves(self) -> list[Move]:
        """Run every transition until no new kind of message appears, then let the environment act."""
        found: dict[tuple[int, int], list[Move]] = {}
        seen: dict[tuple[int, int], int] = {}
        columns = [column for column in self.machine.shown if not column.is_monitor]
        while True:
            todo = []
            for column in columns:
                for transition in column.spec.transitions:
                    key = column.index, transition.index
                    offered = len(self._offered(column, transition))
                    if seen.get(key) != offered:
                        todo.append((column, transition, key, offered))
            if not todo:
                break
            for column, transition, key, offered in todo:
                seen[key] = offered
                found[key] = list(self._transition(column, transition)) if offered else []
        protocol = [move for moves in found.values() for move in moves]
        return [*protocol, *self._environment(protocol)]

    def _offered(self, column: Column, transition: Transition) -> list[Line | None]:
        if transition.message is None:
            return [None]
        return [
            line
            for line in self.machine.lines.values()
            if line.receiver is column and issubclass(line.cls, transition.message)
        ]

    # One transition

    def _transition(self, column: Column, transition: Transition) -> Iterator[Move]:
        def run(path: Path) -> Move:
            with taking(path):
                return self._run(path, column, transition)

        role = self.machine.role(column)
        node = None if role is None else var("@self", role.name)
        what = f"{transition}"
        for taken in self.explorer.explore(run, assumed=[self._wf], what=what, place=transition.location):
            guard = taken.path.condition
            if taken.value is not None:
                yield replace(taken.value, guard=conjunction([guard, taken.value.guard]))
                continue
            error, consumed = taken.error, taken.path.consumed
            guard = conjunction([guard, *(each.held for each in consumed)])
            if isinstance(error, ChangedError):
                raise error
            assert error is not None
            if isinstance(error, OverflowingError):
                text = f"{error} would hold more than {self.machine.reader.slots} elements"
                yield Move(
                    "overflow", column, transition, guard, {}, consumed, text=text, place=transition.location, node=node
                )
                continue
            failure = failure_of(error, transition.location)
            place = Location(failure.file, failure.line)
            yield Move("fail", column, transition, guard, {}, consumed, text=failure.text, place=place, node=node)

    def _run(self, path: Path, column: Column, transition: Transition) -> Move:
        machine = self.machine
        role = machine.role(column)
        node = None if role is None else var("@self", role.name)
        crashed = machine.crashed[column.index]
        if crashed is not None:
            path.assume(negation(machine.at((crashed,), column, node)[0]))
        flag = None
        if transition.flag >= 0:
            flag = machine.at(machine.fields[column.index][transition.flag].terms, column, node)[0]
            path.assume(negation(flag))
        frame = NodeFrame(machine, column, "a guard", node)
        frame.choices = _Choices(path, transition)
        self_ = machine.view(column, frame)
        consumed: list[Taking] = []

        def receive(line: Line) -> Any:
            at = len(consumed)
            leaves = tuple(var(f"@{at}{suffix}", sort) for suffix, sort in line.shape.leaves)
            sender = None if line.sender_role is None else var(f"@{at}from", line.sender_role.name)
            consumed.append(Taking(line, sender, node, leaves))
            path.consumed = tuple(consumed)
            path.assume(line.shape.wf(leaves))
            origin: Any = line.sender.pid
            if line.sender_role is not None:
                assert sender is not None
                origin = Node(line.sender_role, sender)
            return machine.received(line.cls, origin, leaves)

        declaration = transition.declaration
        arguments: tuple[Any, ...] = ()
        if transition.kind == "on":
            message = receive(path.pick([each for each in self._offered(column, transition) if each is not None]))
            frame.messages = (message,)
            arguments = (message,)
            if declaration.when is not None:
                _demand(transition, "when", declaration.when(self_, message))
        elif transition.kind == "quorum":
            if declaration.when is not None:
                _demand(transition, "when", declaration.when(self_))
            arguments = (self._quorum(path, column, transition, self_, frame, consumed),)
        elif declaration.when is not None:
            _demand(transition, "when", declaration.when(self_))
        frame.closed = ""
        done = transition.function(self_, *arguments)
        if done is not None:
            raise returned(done, transition.function, str(transition), transition.location, "a handler returns nothing")
        if column.spec.within is not None:
            frame.closed = "`within`"
            if not column.spec.within(self_):
                raise Impossible
        sends = tuple(self._sending(column, node, to, message) for to, message in frame.sends)
        updates = frame.updates()
        if flag is not None:
            updates[flag] = TRUE
        updates.update(self._observed(frame))
        held = conjunction(each.held for each in consumed)
        stays = transition.keep or machine.definition.network.copies_for_ever
        return Move(
            "step",
            column,
            transition,
            held,
            updates,
            tuple(consumed),
            stays,
            sends,
            place=transition.location,
            node=node,
        )

    def _sending(self, column: Column, node: Term | None, to: Any, message: Any) -> Sending:
        line = self.machine.line(plain_class(message), column, to.column)
        return Sending(line, node, to, tuple(self.machine.lower_message(message)))

    def _quorum(
        self,
        path: Path,
        column: Column,
        transition: Transition,
        self_: Any,
        frame: NodeFrame,
        consumed: list[Taking],
    ) -> Members:
        machine, declaration = self.machine, transition.declaration
        member: Callable[[Term], Term]
        lines = [each for each in self._offered(column, transition) if each is not None]
        if declaration.size is not None:
            size: Any = declaration.size
            size = getattr(self_, size) if isinstance(size, str) else size(self_) if callable(size) else size
            roles = {line.sender_role for line in lines}
            if not isinstance(size, OfNumber) or len(roles) != 1 or None in roles:
                raise RefusedError(
                    f"{transition}: a quorum of a certain size, or of others than the processes of one role",
                    "a size that depends on how many there are works, such as majority(n), and each=",
                    transition.location,
                )
            if min(size.values) < 1:
                raise ModelError(f"{transition}: size is {min(size.values)}", code="Q107", location=transition.location)
            role = lines[0].sender_role
            assert role is not None
            quorums = machine.quorum(role, size)
            quorum = var("@q", quorums.sort)
            path.assume(quorums.known(quorum))
            member = partial(quorums.member, quorum)
        elif declaration.each is not None:
            each: Any = declaration.each
            pids = getattr(self_, each) if isinstance(each, str) else each(self_)
            if not isinstance(pids, Nodes) or pids.items:
                raise RefusedError(
                    f"{transition}: each= names others than the processes of one role",
                    "all processes of a role work",
                    transition.location,
                )
            role, size = pids.role, pids.size
            member = pids.member
            lines = [line for line in lines if line.sender_role == role]
        else:
            raise RefusedError(
                f"{transition}: enough= over any number of processes", "size= and each= work", transition.location
            )
        if not lines:
            raise Impossible
        if len(lines) > 1:
            raise RefusedError(
                f"{transition}: messages of several classes in one quorum", "one class works", transition.location
            )
        (line,) = lines
        assert role is not None
        same: Any = declaration.same
        if same is not None and not isinstance(same, str):
            raise RefusedError(f"{transition}: same= of a function", "the name of a field works", transition.location)
        at = len(consumed)

        def leaves(x: Term) -> tuple[Term, ...]:
            found: list[Term] = []
            for name, part in zip(line.shape.names, line.shape.parts, strict=True):
                for suffix, sort in part.leaves:
                    label = f"@{at}.{name}{suffix}"
                    found.append(var(label, sort) if name == same else app(label, (x,), sort))
            return tuple(found)

        x = var("from", role.name)
        generic: Any = Node(role, x)
        message = machine.received(line.cls, generic, leaves(x))
        rules = [member(x), line.shape.wf(leaves(x))]
        path.assume(exists([x], member(x)))  # nobody waits for nothing
        if declaration.where is not None:
            where = declaration.where
            rules.append(formula(lambda: _holds(transition, "where", where(self_, message)), rules))
        facts = conjunction(rules)
        path.assume(forall([x], implies(member(x), conjunction(rules[1:]))))
        node = frame.node
        consumed.append(Taking(line, x, node, leaves(x), member(x)))
        path.consumed = tuple(consumed)

        def about(term: Term) -> Term:
            return rebuilt(facts, {x: term})

        def message_of(term: Term) -> Any:
            sender: Any = Node(role, term)
            return machine.received(line.cls, sender, leaves(term))

        frame.messages = (Nodes(role, member),)
        return Members(
            f"a quorum of {line.cls.__name__}",
            [Generic(role.name, message_of, about)],
            size=size,
        )

    def _observed(self, frame: NodeFrame) -> dict[Term, Term]:
        """What the monitors make of the events, in the same step."""
        updates: dict[Term, Term] = {}
        for monitor in self.machine.definition.monitors if frame.events else ():
            seen = NodeFrame(self.machine, monitor, "a monitor")
            view = self.machine.view(monitor, seen)
            for event in frame.events:
                for reaction in monitor.spec.transitions:
                    when = reaction.declaration.when
                    if reaction.takes(event) and (when is None or _holds(reaction, "when", when(view, event))):
                        reaction.function(view, event)
            updates.update(seen.updates())
        return updates

    # The environment

    def _environment(self, protocol: list[Move]) -> Iterator[Move]:
        machine, faults = self.machine, self.machine.definition.faults
        for column in machine.shown:
            template = machine.crashed[column.index]
            if template is None or machine.crashes is None:
                continue
            role = machine.role(column)
            node = None if role is None else var("@self", role.name)
            crashed = machine.at((template,), column, node)[0]
            left = lt(number(0), machine.crashes)
            less = {crashed: TRUE, machine.crashes: add(machine.crashes, number(1), -1)}
            yield Move("crash", column, None, conjunction([negation(crashed), left]), less, node=node)
            for move in protocol if faults.cut_short else ():
                if move.column is not column or move.kind != "step" or not move.sends:
                    continue
                sends = tuple(replace(each, condition=_cut(each, at)) for at, each in enumerate(move.sends))
                guard = conjunction([move.guard, left, negation(conjunction(map(_whole, sends)))])
                yield replace(move, kind="crash", guard=guard, updates={**move.updates, **less}, sends=sends)
            if faults.recover:
                yield Move("recover", column, None, crashed, {crashed: FALSE, **self._anew(column, node)}, node=node)
        if machine.definition.network.losses:
            for line in list(machine.lines.values()):
                leaves = tuple(var(f"@0{suffix}", sort) for suffix, sort in line.shape.leaves)
                sender = None if line.sender_role is None else var("@0from", line.sender_role.name)
                receiver = None if line.receiver_role is None else var("@self", line.receiver_role.name)
                lost = Taking(line, sender, receiver, leaves)
                rules, updates = [line.shape.wf(leaves), lost.held], {}
                if machine.losses is not None:
                    rules.append(lt(number(0), machine.losses))
                    updates[machine.losses] = add(machine.losses, number(1), -1)
                yield Move("lose", line.receiver, None, conjunction(rules), updates, (lost,), node=receiver)

    def _anew(self, column: Column, node: Term | None) -> dict[Term, Term]:
        machine = self.machine
        role = machine.role(column)
        owner = Node(role, node) if role is not None and node is not None else None
        found: dict[Term, Term] = {}
        for each in machine.fields[column.index]:
            if each.shape is None:
                continue
            terms = machine.at(each.terms, column, node)
            if each.index >= column.spec.visible:
                found[terms[0]] = FALSE
            elif not column.spec.durable[each.index]:
                if each.free:
                    raise RefusedError(
                        f"{column.cls.__name__} recovers with a field that began with any value",
                        f"name {each.name} in `durable`",
                        machine_place(column),
                    )
                value = machine.settled(machine.starts[column.index, each.index][0], owner)
                found.update(zip(terms, each.shape.lower(value), strict=True))
        return found


def machine_place(column: Column) -> Location | None:
    from quorate.base.places import class_location

    return class_location(column.cls)


def _whole(each: Sending) -> Term:
    """That all of it is sent."""
    if each.to.among is None:
        return each.condition
    x, holds = each.to.among
    return forall([x], implies(holds, each.condition))


def _cut(each: Sending, at: int) -> Term:
    """What a crash leaves open: whether it is sent, to each receiver by itself."""
    if each.to.among is None:
        return var(f"@sent{at}", "Bool")
    return app(f"@sent{at}", (each.to.among[0],))
