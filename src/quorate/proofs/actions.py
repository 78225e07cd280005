"""From handlers to steps: each way through a transition is an action, a guard and what changes under it.

The order of things is that of `model/run.py` and `semantics/`, which say what a step is; the tests hold every action
against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Literal

from quorate.base.errors import Location, ModelError
from quorate.base.failures import failure_of
from quorate.base.places import class_location
from quorate.base.values import ContentSet
from quorate.language.forbidden import is_answer, returned
from quorate.language.pid import Pid, column_of
from quorate.model.definition import Column, Transition
from quorate.proofs.cells import Cells, present
from quorate.proofs.leaves import OverflowingError
from quorate.proofs.lifting import Lifting, plainly
from quorate.proofs.machine import ChangedError, Channel, Frame, Machine
from quorate.proofs.paths import Explorer, Impossible, Path, Taken
from quorate.proofs.proxies import SymInt, plain_class, same, taking
from quorate.proofs.refusal import RefusedError, running
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    add,
    all_equal,
    app,
    conjunction,
    disjunction,
    functions,
    ite,
    lt,
    negation,
    number,
    rebuilt,
    var,
    variables,
)
from quorate.proofs.truth_values import may_be_hashed

Kind = Literal["step", "crash", "recover", "lose", "copy", "fail", "overflow"]


@dataclass(frozen=True)
class Put:
    """A message that is sent, if `condition` holds: where a crash cuts a step short, that is open."""

    channel: Channel
    leaves: tuple[Term, ...]
    condition: Term = TRUE


@dataclass(frozen=True, eq=False)
class Action:
    """One way in which the state may change."""

    kind: Kind
    column: Column
    transition: Transition | None
    guard: Term
    updates: Mapping[Term, Term]
    consumed: tuple[Put, ...] = ()
    """What has to be pending."""
    stays: bool = False
    """Whether it is still pending afterwards."""
    sends: tuple[Put, ...] = ()
    text: str = ""
    """Of an action that fails: how."""
    place: Location | None = None

    @property
    def name(self) -> str:
        own = f"{self.column.name}.{self.transition.name}" if self.transition is not None else self.column.name
        return own if self.kind == "step" else f"{own} ({self.kind})"

    @cached_property
    def parameters(self) -> tuple[Term, ...]:
        """What the state does not determine: the fields of consumed messages, and what a crash cuts off."""
        inside = variables(
            self.guard,
            *(leaf for put in (*self.consumed, *self.sends) for leaf in put.leaves),
            *(put.condition for put in self.sends),
            *self.updates.values(),
        )
        return tuple(sorted((each for each in inside if each.args[0].startswith("@")), key=lambda each: each.args[0]))

    @cached_property
    def touched(self) -> frozenset[object]:
        """The variables and predicates that it may change."""
        found: set[object] = set(self.updates)
        for put in self.sends:
            found |= {put.channel.pending, put.channel.sent}
        if not self.stays:
            found |= {put.channel.pending for put in self.consumed}
        return frozenset(found)

    def after(self, term: Term, machine: Machine) -> Term:
        """What a formula about the state after the step says about the state before it."""
        counting = machine.counting

        def apply(old: Term, arguments: tuple[Term, ...]) -> Term:
            name = old.args[0]
            result = app(name, arguments, old.sort)
            consumed = () if self.stays else [put for put in self.consumed if put.channel.pending == name]
            for put in consumed:
                here = all_equal(arguments, put.leaves)
                if counting:
                    result = add(result, ite(here, number(1), number(0)), -1)
                else:
                    result = conjunction([result, negation(here)])
            for put in self.sends:
                if name in (put.channel.pending, put.channel.sent):
                    here = conjunction([put.condition, all_equal(arguments, put.leaves)])
                    if counting and name == put.channel.pending:
                        room = TRUE if machine.adds_up or self.kind == "copy" else lt(result, number(1))
                        result = add(result, ite(conjunction([here, room]), number(1), number(0)))
                    else:
                        result = disjunction([result, here])
            return result

        return rebuilt(term, self.updates, apply)

    def changes(self, term: Term) -> bool:
        """Whether the formula may be another one after the step."""
        return bool(self.touched & (variables(term) | functions(term)))


class _Choices:
    """What `choose` asks: one option of each on every path."""

    def __init__(self, path: Path, transition: Transition) -> None:
        self._path, self._transition = path, transition

    def pick(self, options: Sequence[Any]) -> Any:
        return self._path.pick(options)

    def no_option(self) -> None:
        if self._transition.mode == "minimal":
            raise RefusedError(
                f"{self._transition} may have nothing to choose from, so whether a set is minimal depends on it",
                "ask for it in `enough` or `when`",
                self._transition.location,
            )
        raise Impossible


class Encoder:
    """All actions of a system."""

    def __init__(self, machine: Machine, explorer: Explorer, lifting: Lifting) -> None:
        self.machine, self.explorer, self.lifting = machine, explorer, lifting
        self.definition = machine.definition
        self._wf = machine.well_formed()

    def actions(self) -> list[Action]:
        """Run every transition until no new kind of message appears, then let the environment act."""
        found: dict[tuple[int, int], list[Action]] = {}
        for column in self.definition.processes:
            for receiver, notice in self.definition.notices(column) if column.may_crash else ():
                self.machine.channel(type(notice), column, self.definition.columns[receiver])
        seen: dict[tuple[int, int], int] = {}
        while True:
            todo = []
            for column in self.definition.processes:
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
        protocol = [action for actions in found.values() for action in actions]
        return [*protocol, *self._environment(protocol)]

    def _offered(self, column: Column, transition: Transition) -> list[Channel | None]:
        if transition.message is None:
            return [None]
        return [
            channel
            for channel in self.machine.channels.values()
            if channel.receiver is column and issubclass(channel.cls, transition.message)
        ]

    # One transition

    def _transition(self, column: Column, transition: Transition) -> Iterator[Action]:
        def run(path: Path) -> Action:
            cells = Cells(self.machine, lambda cell: Frame(self.machine, cell, ""))
            with taking(path), present(cells):
                return self._run(path, column, transition, cells)

        what = f"{transition}"
        for taken in self._ways(run, what, column, transition):
            guard = taken.path.condition
            if taken.value is not None:
                yield replace(taken.value, guard=conjunction([guard, taken.value.guard]))
                continue
            error = taken.error
            consumed: tuple[Put, ...] = taken.path.consumed
            guard = conjunction([guard, *(self.machine.held(put.channel, put.leaves) for put in consumed)])
            if isinstance(error, ChangedError):
                raise error
            if isinstance(error, OverflowingError):
                text = f"{error} would hold more than {self.machine.reader.slots} elements"
                yield Action("overflow", column, transition, guard, {}, consumed, text=text, place=transition.location)
                continue
            assert error is not None
            failure = failure_of(error, transition.location)
            place = Location(failure.file, failure.line)
            yield Action("fail", column, transition, guard, {}, consumed, text=failure.text, place=place)

    def _ways(
        self, run: Callable[[Path], Action], what: str, column: Column, transition: Transition
    ) -> list[Taken[Action]]:
        declaration, messages = transition.declaration, [each.cls for each in self._offered(column, transition) if each]
        code: list[Any] = [
            transition.function,
            declaration.when,
            declaration.where,
            declaration.enough,
            declaration.size,
        ]
        code += [declaration.each, declaration.same, column.spec.within]
        with plainly():
            apart = any(callable(each) and may_be_hashed(self.definition, each, messages) for each in code)
        before, running.alike = running.alike, not apart
        try:
            return self.explorer.explore(run, assumed=[self._wf], what=what, place=transition.location)
        finally:
            running.alike = before

    def _run(self, path: Path, column: Column, transition: Transition, cells: Cells) -> Action:
        machine = self.machine
        crashed = machine.crashed[column.index]
        if crashed is not None:
            path.assume(negation(crashed))
        flag = None
        if transition.flag >= 0:
            flag = machine.fields[column.index][transition.flag].terms[0]
            path.assume(negation(flag))
        frame = cells.process = Frame(machine, column, "a guard")
        frame.choices = _Choices(path, transition)
        self_ = machine.view(column, frame)
        consumed: list[Put] = []

        def receive(channel: Channel) -> Any:
            at = len(consumed)
            shape = channel.shape
            leaves = tuple(var(f"@{at}{suffix}", sort) for suffix, sort in shape.leaves)
            consumed.append(Put(channel, leaves))
            path.consumed = tuple(consumed)
            path.assume(shape.wf(leaves))
            assert channel.sender.pid is not None
            return machine.received(channel.cls, channel.sender.pid, leaves)

        declaration = transition.declaration
        arguments: tuple[Any, ...] = ()
        if transition.kind == "on":
            message = receive(path.pick([each for each in self._offered(column, transition) if each is not None]))
            frame.messages = (message,)
            arguments = (message,)
            if declaration.when is not None:
                _demand(transition, "when", declaration.when(self_, message))
        elif transition.kind == "quorum":
            arguments = (self._quorum(path, column, transition, self_, frame, receive),)
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
        sends = tuple(
            Put(
                machine.channel(plain_class(message), column, self.definition.columns[receiver]),
                tuple(machine.lower_message(message)),
            )
            for receiver, message in frame.sends
        )
        updates = frame.updates()
        if flag is not None:
            updates[flag] = TRUE
        updates.update(cells.updates())
        with present(None):
            updates.update(self._observed(frame))
        held = conjunction(machine.held(put.channel, put.leaves) for put in consumed)
        stays = transition.keep or self.definition.network.copies_for_ever
        return Action(
            "step", column, transition, held, updates, tuple(consumed), stays, sends, place=transition.location
        )

    def _quorum(
        self,
        path: Path,
        column: Column,
        transition: Transition,
        self_: Any,
        frame: Frame,
        receive: Callable[[Channel], Any],
    ) -> ContentSet[Any]:
        declaration = transition.declaration
        if declaration.when is not None:
            _demand(transition, "when", declaration.when(self_))
        by_sender: dict[int, list[Channel]] = {}
        for channel in self._offered(column, transition):
            assert channel is not None
            by_sender.setdefault(channel.sender.index, []).append(channel)
        if declaration.size is not None:
            sets = list(combinations(sorted(by_sender), self._size(transition, self_, len(by_sender))))
        elif declaration.each is not None:
            senders = _senders(transition, self_)
            if not senders or any(each not in by_sender for each in senders):
                raise Impossible
            sets = [tuple(senders)]
        else:
            sets = [each for n in range(1, len(by_sender) + 1) for each in combinations(sorted(by_sender), n)]
        chosen = path.pick(sets)
        channels = path.pick(list(product(*(by_sender[each] for each in chosen))))
        messages = [receive(channel) for channel in channels]
        if not self._enabled(transition, self_, messages):
            raise Impossible
        if transition.mode == "minimal":
            for size in range(1, len(messages)):
                for part in combinations(messages, size):
                    if self._enabled(transition, self_, list(part)):
                        raise Impossible
        received: ContentSet[Any] = ContentSet(messages)
        # `reply` goes by content order, but what is sent where does not depend on it.
        frame.messages = tuple(messages)
        return received

    def _size(self, transition: Transition, self_: Any, most: int) -> int:
        size: Any = transition.declaration.size
        size = getattr(self_, size) if isinstance(size, str) else size(self_) if callable(size) else size
        if isinstance(size, SymInt) and size.known is None:
            for possible in range(1, most + 1):
                if size == possible:
                    return possible
            if size > most:
                raise Impossible
            size = 0
        wanted = int(size)
        if wanted < 1:
            raise ModelError(f"{transition}: size is {wanted}", code="Q107", location=transition.location)
        return wanted

    def _enabled(self, transition: Transition, self_: Any, messages: list[Any]) -> bool:
        declaration = transition.declaration
        if declaration.where is not None:
            for message in messages:
                if not _holds(transition, "where", declaration.where(self_, message)):
                    return False
        on: Any = declaration.same
        if on is not None:
            keys = [getattr(each, on) if isinstance(on, str) else on(each) for each in messages]
            if any(not same(keys[0], other) for other in keys[1:]):
                return False
        return declaration.enough is None or _holds(
            transition, "enough", declaration.enough(self_, ContentSet(messages))
        )

    def _observed(self, frame: Frame) -> dict[Term, Term]:
        """What the monitors make of the events, in the same step."""
        updates: dict[Term, Term] = {}
        for monitor in self.definition.monitors if frame.events else ():
            seen = Frame(self.machine, monitor, "a monitor")
            view = self.machine.view(monitor, seen)
            for event in frame.events:
                for reaction in monitor.spec.transitions:
                    when = reaction.declaration.when
                    if reaction.takes(event) and (when is None or _holds(reaction, "when", when(view, event))):
                        reaction.function(view, event)
            updates.update(seen.updates())
        return updates

    # The environment

    def _environment(self, protocol: list[Action]) -> Iterator[Action]:
        machine, faults = self.machine, self.definition.faults
        for column in self.definition.processes:
            crashed = machine.crashed[column.index]
            if crashed is None or machine.crashes is None:
                continue
            left = lt(number(0), machine.crashes)
            less = {crashed: TRUE, machine.crashes: add(machine.crashes, number(1), -1)}
            notices = tuple(
                Put(machine.channel(type(notice), column, self.definition.columns[receiver]), ())
                for receiver, notice in self.definition.notices(column)
            )
            yield Action("crash", column, None, conjunction([negation(crashed), left]), less, sends=notices)
            for action in protocol if faults.cut_short else ():
                if action.column is not column or action.kind != "step" or not action.sends:
                    continue
                parts = [var(f"@sent{at}", "Bool") for at in range(len(action.sends))]
                sends = [replace(put, condition=part) for put, part in zip(action.sends, parts, strict=True)]
                guard = conjunction([action.guard, left, negation(conjunction(parts))])
                updates = {**action.updates, **less}
                yield replace(action, kind="crash", guard=guard, updates=updates, sends=(*sends, *notices))
            if faults.recover:
                yield Action("recover", column, None, crashed, {crashed: FALSE, **self._anew(column, protocol)})
        if self.definition.network.losses:
            for channel in list(machine.channels.values()):
                leaves = tuple(var(f"@0{suffix}", sort) for suffix, sort in channel.shape.leaves)
                rules = [channel.shape.wf(leaves), machine.held(channel, leaves)]
                lost: dict[Term, Term] = {}
                if machine.losses is not None:
                    rules.append(lt(number(0), machine.losses))
                    lost[machine.losses] = add(machine.losses, number(1), -1)
                yield Action("lose", channel.receiver, None, conjunction(rules), lost, (Put(channel, leaves),))

        if machine.duplicates is not None:
            for channel in list(machine.channels.values()):
                leaves = tuple(var(f"@0{suffix}", sort) for suffix, sort in channel.shape.leaves)
                put = Put(channel, leaves)
                rules = [channel.shape.wf(leaves), machine.held(channel, leaves), lt(number(0), machine.duplicates)]
                copied = {machine.duplicates: add(machine.duplicates, number(1), -1)}
                yield Action("copy", channel.receiver, None, conjunction(rules), copied, (put,), True, (put,))

    def _anew(self, column: Column, protocol: list[Action]) -> dict[Term, Term]:
        found: dict[Term, Term] = {}
        assigned = {term for action in protocol for term in action.updates}
        for each in self.machine.fields[column.index]:
            if each.shape is None:
                continue
            if each.index >= column.spec.visible:
                found[each.terms[0]] = FALSE
            elif not column.spec.durable[each.index]:
                if each.free:
                    if assigned.isdisjoint(each.terms):
                        continue  # it is what it was in the beginning
                    raise RefusedError(
                        f"{column.cls.__name__} recovers with {each.name} as it began, which may be any value",
                        f"name {each.name} in `durable`, or leave out --any",
                        class_location(column.cls),
                    )
                found.update(zip(each.terms, each.shape.lower(column.beginning[each.index]), strict=True))
        return found


def _senders(transition: Transition, self_: Any) -> list[int]:
    each: Any = transition.declaration.each
    pids = getattr(self_, each) if isinstance(each, str) else each(self_)
    found = list(dict.fromkeys([pids] if type(pids) is Pid else pids))
    for pid in found:
        if type(pid) is not Pid:
            raise ModelError(f"{transition}: each names {pid!r}", code="Q107", location=transition.location)
    return [column_of(pid) for pid in found]


def _holds(transition: Transition, name: str, value: object) -> bool:
    if not is_answer(value):
        raise returned(value, getattr(transition.declaration, name), f"`{name}` of {transition}", transition.location)
    return bool(value)


def _demand(transition: Transition, name: str, value: object) -> None:
    if not _holds(transition, name, value):
        raise Impossible


def code_of(machine: Machine) -> Iterator[Any]:
    """The functions that a model consists of."""
    definition = machine.definition
    for column in definition.columns:
        yield column.cls
        for transition in column.spec.transitions:
            declaration = transition.declaration
            yield transition.function
            yield from (
                each
                for each in (
                    declaration.when,
                    declaration.where,
                    declaration.enough,
                    declaration.size,
                    declaration.each,
                    declaration.same,
                )
                if callable(each)
            )
            if transition.message is not None:
                yield transition.message
    yield type(definition.system)
