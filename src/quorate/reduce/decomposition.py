"""Processes taken apart into their roles: whether that is the same system, decided on what its tables hold.

Let W be the system as it is written and A the one taken apart (definition 8 of the thesis). J joins what belongs
together: the local states of the roles of a process become one local state, their pending messages one inbox, and the
identity of a role becomes that of its process, wherever it stands. J is a function from states of A to states of W. It
is a bisimulation if

 1. it maps the initial states of A onto those of W;
 2. every field and every transition of a process of W belongs to exactly one of its roles, declared as it is there, and
    nothing bounds the process as a whole (`within`);
 3. W answers every question about the image as A answers it (what a transition asks for, which messages it takes and
    what a set of them must agree on, what a handler does, how a monitor reacts), and looks at no field of another role
    for it. Since it does not, the values of those do not matter, and one evaluation stands for all;
 4. messages to a process that differ in A differ in W, and what is sent to one role is not taken by another;
 5. where a transition takes several messages, those of different senders have different senders in W too, and an
    identity that `each=` names is joined with no other sender.

Proof. Let A reach a, and let the transition t of W belong to the role r. By 2 and 3, t asks for the same in J(a) as in
a. By 4 it takes only messages that were sent to r. By 4 and 5 its sets in J(a) are the images of its sets in a, and by
3 it does there the image of what it does in a. By 4, also on a set channel, a message is pending in J(a) exactly if it
is in a. So a and J(a) have the same steps. By induction J relates all reachable states, and A has the runs of W.
Properties are evaluated on J(a), so they say of a what they say of W.

Conditions 1 and 2 are tested first, 3 with every single answer that Python gives to the core, 4 and 5 on all messages
of the closure. What ties the roles of a process together otherwise is refused beforehand: channels with an order or a
bound, crashes, attackers, delivery events.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from quorate.base.values import encode
from quorate.language.message import Event, Message
from quorate.language.pid import DecompositionError, Pid
from quorate.language.system import System
from quorate.model.again import signature
from quorate.model.define import define
from quorate.model.definition import Column, Definition, Transition
from quorate.model.environment import Environment
from quorate.model.outcome import Local, Outcome, Request
from quorate.model.renaming import Name, renamed
from quorate.model.run import accepts, fire, observe, prepare
from quorate.options import Options
from quorate.semantics.state import State


def apart_for(
    options: Options, system: System | type[System], environment: Environment
) -> tuple[Definition | None, str]:
    """The system taken apart, where the options ask for that; else nothing, and perhaps why."""
    if options.coverage:
        return None, "coverage is about whole processes"
    return taken_apart(system, environment) if options.symmetry == "auto" else (None, "")


def taken_apart(system: System | type[System], environment: Environment) -> tuple[Definition | None, str]:
    """The system with its processes taken apart into their roles, if there is anything to take apart; or why not."""
    try:
        definition = define(system, environment, decomposed=True)
    except DecompositionError as reason:
        return None, str(reason)
    return (definition, "") if roles(definition) else (None, "")


def roles(definition: Definition) -> list[str]:
    """The classes that processes were taken apart into."""
    return list(dict.fromkeys(column.cls.__name__ for column in definition.processes if column.server is not None))


def parts(definition: Definition) -> list[list[int]]:
    """The columns that make up each process of the whole system, in its order."""
    found: list[list[int]] = []
    last: int | None = None
    for column in definition.processes:
        assert column.pid is not None, "channels and roles do not go together"
        if column.server is not None and column.server == last:
            found[-1].append(column.index)
        else:
            found.append([column.index])
        last = column.server
    return found


class Whole:
    """The function J, and what makes it a bisimulation. Raises DecompositionError where it is none."""

    def __init__(self, apart: Definition, whole: Definition) -> None:
        self.apart = apart
        self.whole = whole
        self.parts = parts(apart)
        self._names: dict[bytes, Name] = {}
        self._column: list[int] = []
        for number, group in enumerate(self.parts):
            self._column += [number] * len(group)
            for index in group:
                pid, joined = apart.columns[index].pid, whole.columns[number].pid
                assert pid is not None
                assert joined is not None
                self._names[encode(pid)] = joined
        self._column += [column.index for column in whole.monitors]
        self._looked_at: list[str] = []
        self._roles = [self._role(column) for column in apart.columns]
        self._transitions = [self._declared(column) for column in apart.columns]
        self._images: dict[int, tuple[Any, Any]] = {}
        """By the number of an object, which is kept so that no other gets that number: the same inputs come often."""
        self._agreed: dict[tuple[int, int], dict[bytes, bytes]] = {}
        self._named: dict[tuple[int, int], dict[bytes, Pid]] = {}
        self._require_all_declared()
        if {encode(self.locals(state)) for state in apart.initials} != {encode(state) for state in whole.initials}:
            raise DecompositionError("the initial states of the roles are not those of the whole processes")

    # J

    def column(self, index: int) -> int:
        """The process or monitor of the whole system that a column belongs to."""
        return self._column[index]

    def renamed(self, value: Any) -> Any:
        return renamed(value, self._names)

    def _joined(self, value: Any) -> Any:
        """The same, for what a model has numbered: it is asked about again and again."""
        known = self._images.get(id(value))
        if known is None:
            known = self._images[id(value)] = value, self.renamed(value)
        return known[1]

    def locals(self, locals: tuple[Local, ...]) -> tuple[Local, ...]:
        """The local states with those of roles put together."""
        found: list[Local] = []
        for number, group in enumerate(self.parts):
            values: dict[str, Any] = {}
            for index in group:
                values |= dict(zip(self.apart.columns[index].fields, self._joined(locals[index]), strict=True))
            found.append(tuple(values[name] for name in self.whole.columns[number].fields))
        return (*found, *(self.renamed(locals[monitor.index]) for monitor in self.apart.monitors))

    def state(self, state: State) -> State:
        """The state with the roles put together again."""
        pending = [
            tuple(sorted((self.renamed(message) for index in group for message in state.pending[index]), key=encode))
            for group in self.parts
        ]
        return State(self.locals(state.locals), tuple(pending), state.budget)

    def field(self, column: int, field: int) -> tuple[int, int]:
        """The role, and its field, that a field of a whole process belongs to."""
        first = len(self.parts)
        if column >= first:
            return len(self.apart.processes) + column - first, field
        if field < 0:
            return self.parts[column][0], field
        name = self.whole.columns[column].fields[field]
        for index in self.parts[column]:
            if name in self.apart.columns[index].fields:
                return index, self.apart.columns[index].fields.index(name)
        raise AssertionError("every field belongs to a role")

    # Condition 2

    def _role(self, column: Column) -> Column:
        """The process of the whole system as one of its roles may see it: looking at another's fields is noted."""
        whole = self.whole.columns[self._column[column.index]]
        others = [name for name in whole.cls._fields if name not in column.fields]
        if not others:
            return whole
        members: dict[str, Any] = {name: property(self._noting(name)) for name in others}
        members["__setattr__"] = self._assigning(whole.cls, frozenset(others))
        cls = types.new_class(whole.cls.__name__, (whole.cls,), {"view": True}, lambda body: body.update(members))
        return replace(whole, spec=replace(whole.spec, cls=cls))

    def _noting(self, name: str) -> Callable[[Any], None]:
        return lambda _: self._looked_at.append(name)

    def _assigning(self, cls: Any, others: frozenset[str]) -> Callable[[Any, str, Any], None]:
        def assign(automaton: Any, name: str, value: Any) -> None:
            if name in others:
                self._looked_at.append(name)
            cls.__setattr__(automaton, name, value)

        return assign

    def _declared(self, column: Column) -> tuple[Transition, ...]:
        """The transitions of a role, in its order, as the whole process has them."""
        found: list[Transition] = []
        theirs = {each.name: each for each in self._roles[column.index].spec.transitions}
        for each in column.spec.transitions:
            other = theirs.get(each.name)
            if other is None or other.declaration is not each.declaration:
                raise DecompositionError(
                    f"{self._of(column)} has another `{each.name}` than its role {column.cls.__name__}"
                )
            found.append(other)
        return tuple(found)

    def _require_all_declared(self) -> None:
        for number, group in enumerate(self.parts):
            whole = self.whole.columns[number]
            mine = [self.apart.columns[index] for index in group]
            if len(group) > 1 and whole.spec.within is not None:
                raise DecompositionError(f"{whole.cls.__name__}.within bounds the whole process")
            for what, has, have in (
                ("field", whole.fields, [name for role in mine for name in role.fields]),
                (
                    "transition",
                    tuple(each.name for each in whole.spec.transitions),
                    [each.name for role in mine for each in role.spec.transitions],
                ),
            ):
                twice = [name for name in has if have.count(name) > 1]
                if twice:
                    raise DecompositionError(f"roles of {whole.cls.__name__} share the {what} `{_plain(twice[0])}`")
                added = [name for name in has if name not in have]
                if added:
                    raise DecompositionError(f"{whole.cls.__name__} adds the {what} `{_plain(added[0])}` to its roles")

    # Condition 3, answer by answer

    def require_request(self, column: Column, transition: Transition, local: Local, asked: Request | None) -> None:
        """The same of the whole process, for what a quorum transition asks for."""
        role, theirs = self._roles[column.index], self._transitions[column.index][transition.index]
        found = prepare(role, theirs, self._image(column, self._joined(local)))
        self._require_blind(transition, column)
        if (found is None) != (asked is None):
            raise self._differs(transition, column, "is possible where it is not")
        if found is None or asked is None:
            return
        senders = [self.renamed(pid) for pid in asked.senders or ()]
        names = {encode(pid) for pid in senders}
        if found.size != asked.size or names != {encode(pid) for pid in found.senders or ()}:
            raise self._differs(transition, column, "asks for other messages")
        if len(names) < len(senders):
            raise DecompositionError(f"each= of {transition} names several roles of one process")
        named = self._named.setdefault((column.index, transition.index), {})
        named |= {encode(joined): pid for joined, pid in zip(senders, asked.senders or (), strict=True)}

    def require_group(
        self, column: Column, transition: Transition, local: Local, message: Message, group: bytes | None
    ) -> None:
        """The same, for whether it takes a message, and what a set must agree on."""
        role, theirs = self._roles[column.index], self._transitions[column.index][transition.index]
        found = accepts(role, theirs, self._image(column, self._joined(local)), self._joined(message))
        self._require_blind(transition, column)
        if (found is None) != (group is None):
            raise self._differs(transition, column, "takes other messages")
        if found is not None and group is not None:
            known = self._agreed.setdefault((column.index, transition.index), {})
            if known.setdefault(found, group) != group:
                raise self._differs(transition, column, "may take messages together that differ in their roles only")

    def require_outcomes(
        self,
        column: Column,
        transition: Transition,
        local: Local,
        messages: tuple[Message, ...],
        outcomes: tuple[Outcome, ...],
    ) -> None:
        """The same, for what a handler does."""
        role, theirs = self._roles[column.index], self._transitions[column.index][transition.index]
        consumed = tuple(sorted((self._joined(message) for message in messages), key=encode))
        found = fire(role, theirs, self._image(column, self._joined(local)), consumed)
        self._require_blind(transition, column)
        if {_effect(outcome) for outcome in found} != {_effect(self._outcome(column, outcome)) for outcome in outcomes}:
            raise self._differs(transition, column, "does something else")

    def require_reaction(self, column: Column, local: Local, event: Event, outcome: Outcome) -> None:
        """The same, for how a monitor reacts."""
        monitor = self._roles[column.index]
        found = observe(monitor, self._joined(local), self._joined(event))
        if _effect(found) != _effect(self._outcome(column, outcome)):
            raise DecompositionError(f"{column.cls.__name__} tells the roles of a process apart")

    def _image(self, column: Column, renamed: Local) -> Local:
        """The local state of the whole process as a role knows it: of the others' fields there is nothing to know."""
        mine = dict(zip(column.fields, renamed, strict=True))
        return tuple(mine.get(name, False) for name in self.whole.columns[self._column[column.index]].fields)

    def _outcome(self, column: Column, outcome: Outcome) -> Outcome:
        return outcome._replace(
            local=None if outcome.local is None else self._image(column, self.renamed(outcome.local)),
            sends=tuple((self._column[receiver], self.renamed(message)) for receiver, message in outcome.sends),
            events=tuple(self.renamed(event) for event in outcome.events),
        )

    def _require_blind(self, transition: Transition, column: Column) -> None:
        if self._looked_at:
            raise DecompositionError(f"{transition} uses `{self._looked_at[0]}` of another role of {self._of(column)}")

    def _differs(self, transition: Transition, column: Column, what: str) -> DecompositionError:
        owner = self._of(column)
        return DecompositionError(f"{transition} {what} if {owner} is not taken apart: its roles have one identity")

    def _of(self, column: Column) -> str:
        return self.whole.columns[self._column[column.index]].cls.__name__

    # Conditions 4 and 5

    def require_messages(self, messages: list[list[Message | Event]]) -> None:
        """Look at all messages of the closure, by column."""
        for group in self.parts:
            known: dict[bytes, Message | Event] = {}
            for index in group:
                for message in messages[index]:
                    if known.setdefault(encode(self.renamed(message)), message) is not message:
                        raise DecompositionError(
                            f"two roles of one process send the same {type(message).__name__}, or it is sent to two"
                        )
                    for other in group:
                        if other != index and self._takes(other, message):
                            name = self.apart.columns[index].name
                            raise DecompositionError(
                                f"{type(message).__name__} is sent to {name}, but another role takes it"
                            )
        for column in self.apart.processes:
            for transition in column.spec.transitions:
                if transition.kind == "quorum":
                    self._require_senders(column, transition, messages[column.index])

    def _takes(self, index: int, message: Message | Event) -> bool:
        return any(each.takes(message) for each in self.apart.columns[index].spec.transitions)

    def _require_senders(self, column: Column, transition: Transition, messages: list[Message | Event]) -> None:
        senders: dict[bytes, Pid] = dict(self._named.get((column.index, transition.index), {}))
        for message in messages:
            if transition.takes(message):
                assert isinstance(message, Message)
                joined = encode(self.renamed(message.sender))
                if senders.setdefault(joined, message.sender) != message.sender:
                    raise DecompositionError(f"{transition} takes messages of several roles of one process")


def _effect(outcome: Outcome) -> bytes:
    """What an outcome does; here the order of sends does not matter, channels that keep it are not taken apart."""
    return signature(outcome._replace(sends=tuple(sorted(outcome.sends, key=encode))))


def _plain(name: str) -> str:
    return name.removeprefix("started:")
