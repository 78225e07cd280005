"""A system as variables: the leaves of every field, and a predicate for what is in each channel.

`pending` says what a receiver may consume. `sent` is a ghost: what a process has ever sent, to whomever. It only grows,
and lemmas about messages speak of it.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quorate.base.errors import Location, ModelError, QuorateError, caller
from quorate.base.places import class_location, member_location
from quorate.base.values import encode
from quorate.language.automaton import Automaton, attach
from quorate.language.message import VIEWS, Event, Message, Record
from quorate.language.monitor import Monitor
from quorate.language.pid import Pid, column_of
from quorate.language.process import misplaced
from quorate.model.definition import Column, Definition
from quorate.model.fields import field_types
from quorate.model.outcome import Crashed, Local, is_crashed
from quorate.proofs.cells import is_cell, types_of
from quorate.proofs.leaves import SLOTS, Boolean, MisfitError, OverflowingError, Parts, Reader, Shape, is_cut
from quorate.proofs.lifting import plainly
from quorate.proofs.proxies import current, lifted, plain_class, worded
from quorate.proofs.refusal import RefusedError, noted
from quorate.proofs.terms import FALSE, ZERO, Term, app, conjunction, disjunction, equal, ge, number, var
from quorate.semantics.channels import channels
from quorate.semantics.state import State

_new = object.__new__
_BUDGETS = ("budget.losses", "budget.duplicates", "budget.crashes")


@dataclass(eq=False)
class Field:
    """One field of one process or monitor: variables, or a value that never changes."""

    column: Column
    index: int
    name: str
    shape: Shape | None = None
    terms: tuple[Term, ...] = ()
    constant: Any = None
    free: bool = False
    """Its initial value is arbitrary."""


@dataclass(eq=False, frozen=True)
class Channel:
    """Messages of one class from one process to another."""

    cls: type[Message]
    sender: Column
    receiver: Column
    shape: Parts
    label: str
    """What the class is called in formulas."""

    @property
    def pending(self) -> str:
        return f"pending:{self.label}:{self.sender.name}>{self.receiver.name}"

    @property
    def sent(self) -> str:
        return _sent(self.label, self.sender)


def _sent(label: str, sender: Column) -> str:
    return f"sent:{label}:{sender.name}"


class ChangedError(QuorateError):
    """A field that was taken for a constant is assigned: everything begins anew with it as a variable."""

    def __init__(self, cls: type, name: str) -> None:
        super().__init__(f"{cls.__name__}.{name} is assigned")
        self.key = cls, name
        noted(self)


class Machine:
    """The variables of a system."""

    def __init__(
        self,
        definition: Definition,
        *,
        free: Iterable[str] = (),
        assigned: Iterable[tuple[type, str]] = (),
        slots: int = SLOTS,
    ) -> None:
        self.definition = definition
        network = definition.network
        self.copies = network.duplicates if network.duplicates != "any" else 0
        self.adds_up = network.kind == "multiset"
        """Whether a message that is sent is one more, even if an equal one is pending."""
        self.counting = self.adds_up or self.copies > 0
        """Whether a channel says how often it has each message."""
        _supported(definition)
        _distinct(definition)
        self._cell_types = types_of(definition)
        pids = [column.pid for column in definition.processes if column.pid is not None]
        self.reader = Reader(pids, definition.scalars, max(slots, _longest(definition)))
        self.free = self._free(free)
        self._assigned = {*assigned, *_stored(definition)}
        self.fields: list[list[Field]] = [
            [self._field(column, index) for index in range(len(column.fields))] for column in definition.columns
        ]
        self.crashed: list[Term | None] = [
            var(f"{column.name}.crashed", "Bool") if column.may_crash else None for column in definition.columns
        ]
        self.losses = var("budget.losses", "Int") if network.losses not in (0, "any") else None
        self.duplicates = var("budget.duplicates", "Int") if self.copies else None
        self.crashes = var("budget.crashes", "Int") if definition.faults.crashes else None
        self._messages: dict[type, Parts] = {}
        self._labels: dict[str, list[type]] = {}
        self.channels: dict[tuple[type, int, int], Channel] = {}
        self._views: dict[type, type] = {}
        self._message_views: dict[type, type] = {}

    # Fields

    def _free(self, names: Iterable[str]) -> set[tuple[type, str]]:
        found: set[tuple[type, str]] = set()
        for name in names:
            owner, _, fieldname = name.rpartition(".")
            classes = {column.cls for column in self.definition.columns}
            mine = {cls for cls in classes if any(base.__name__ == owner for base in cls.__mro__)}
            mine = {cls for cls in mine if fieldname in cls._fields}
            if not mine:
                known = sorted(f"{cls.__name__}.{each}" for cls in classes for each in cls._fields)
                from quorate.base.errors import ParameterError, did_you_mean

                raise ParameterError(f"there is no field {name}", hint=did_you_mean(name, known), code="Q753")
            found |= {(cls, fieldname) for cls in mine}
        return found

    def _field(self, column: Column, index: int) -> Field:
        name = column.fields[index]
        if index >= column.spec.visible:
            shape: Shape = Boolean()
            return Field(column, index, name, shape, (var(f"{column.name}.{name}", "Bool"),))
        free = (column.cls, name) in self.free
        values = [state[column.index][index] for state in self.definition.initials]
        if not free and (column.cls, name) not in self._assigned and len({encode(each) for each in values}) == 1:
            return Field(column, index, name, constant=lifted(values[0]))
        hint = self._cell_types.get(column.index, column.spec.types.get(name))
        what = _called(column, name)
        place = class_location(type(self.definition.system)) if is_cell(column) else member_location(column.cls, name)
        if isinstance(hint, str):
            raise RefusedError(
                f"{what}: its type {hint} cannot be looked up", "define it at the top of the module", place
            )
        shape = self.reader.shape(hint, what, place)
        if free:
            require_whole(shape, hint, what, place)
        for value in values:
            try:
                shape.lower(value)
            except MisfitError:
                raise RefusedError(
                    f"{what} is declared as {hint} and begins as {value!r}", "declare the type that it holds", place
                ) from None
        terms = tuple(var(f"{column.name}.{name}{suffix}", sort) for suffix, sort in shape.leaves)
        return Field(column, index, name, shape, terms, free=free)

    def variables(self) -> Iterator[Term]:
        for fields in self.fields:
            for each in fields:
                yield from each.terms
        yield from (each for each in (*self.crashed, self.losses, self.duplicates, self.crashes) if each is not None)

    def well_formed(self) -> Term:
        """What the types say of the variables. Steps keep it, since they write nothing else."""
        rules = [each.shape.wf(each.terms) for fields in self.fields for each in fields if each.shape is not None]
        for budget, most in self.budgets():
            rules += [ge(budget, ZERO), ge(number(most), budget)]
        return conjunction(rules)

    def budgets(self) -> list[tuple[Term, int]]:
        """What is left of losses, copies and crashes, and how much there is at the beginning."""
        most = (self.definition.network.losses, self.copies, self.definition.faults.crashes)
        return [
            (budget, int(whole))
            for budget, whole in zip((self.losses, self.duplicates, self.crashes), most, strict=True)
            if budget is not None
        ]

    # Messages

    def message(self, cls: type[Record]) -> Parts:
        """The shape of a message or an event."""
        found = self._messages.get(cls)
        if found is None:
            with plainly():
                hints = field_types(cls)
                parts = []
                for name, hint in hints.items():
                    place = member_location(cls, name)
                    what = f"{cls.__name__}.{name}"
                    if isinstance(hint, str):
                        raise RefusedError(
                            f"{what}: its type {hint} cannot be looked up", "define it at module level", place
                        )
                    parts.append(self.reader.shape(hint, what, place))
            found = self._messages[cls] = Parts(tuple(hints), parts, cls)
        return found

    def channel(self, cls: type[Message], sender: Column, receiver: Column) -> Channel:
        key = cls, sender.index, receiver.index
        found = self.channels.get(key)
        if found is None:
            found = self.channels[key] = Channel(cls, sender, receiver, self.message(cls), self.label(cls))
        return found

    def label(self, cls: type) -> str:
        """What a message class is called in formulas: of several of one name, all but the first have a number."""
        known = self._labels.setdefault(cls.__name__, [])
        if cls not in known:
            known.append(cls)
        return f"{cls.__name__}#{known.index(cls) + 1}" if cls is not known[0] else cls.__name__

    def sent_name(self, cls: type, sender: Column) -> str:
        """The predicate that says what a process has ever sent."""
        return _sent(self.label(cls), sender)

    def held(self, channel: Channel, leaves: Sequence[Term]) -> Term:
        """Whether a message is pending."""
        if self.counting:
            return ge(app(channel.pending, leaves, "Int"), number(1))
        return app(channel.pending, leaves)

    def received(self, cls: type[Message], sender: Pid, leaves: Sequence[Term], to: Pid | None = None) -> Any:
        """A message with unknown fields, which are decided when they are read."""
        view = self._message_views.get(cls)
        if view is None:
            shape = self.message(cls)
            view = self._message_views[cls] = _message_view(cls, shape)
        made: Any = _new(view)
        made.__dict__["_origin"] = sender
        made.__dict__["_leaves"] = tuple(leaves)
        if to is not None:
            made.__dict__["to"] = to
        return made

    def lower_message(self, value: Any) -> list[Term]:
        cls = plain_class(value)
        leaves = value.__dict__.get("_leaves")
        if leaves is not None:
            return list(leaves)
        return self.lowered(self.message(cls), value, cls.__name__)

    def lowered(self, shape: Shape, value: Any, what: str) -> list[Term]:
        if isinstance(shape, Parts) and isinstance(value, Record):
            found: list[Term] = []
            for name, part in zip(shape.names, shape.parts, strict=True):
                found += self.lowered(part, getattr(value, name), f"{what}.{name}")
            return found
        try:
            return shape.lower(value)
        except MisfitError:
            raise RefusedError(
                f"{what} is given {_shown(value)}, which its declared type does not allow", "declare what it holds"
            ) from None

    # Views

    def view(self, column: Column, frame: Any) -> Any:
        cls = self._views.get(column.cls)
        if cls is None:
            cls = self._views[column.cls] = _view(column.cls)
        made: Any = _new(cls)
        attach(made, frame)
        return made

    # Plain states

    def values_of(self, state: State, free: bool = True) -> dict[str, Any]:
        """The variables by name in a plain state."""
        found: dict[str, Any] = {}
        for fields, local in zip(self.fields, state.locals, strict=True):
            for each in fields:
                if each.shape is not None:
                    for term, leaf in zip(each.terms, each.shape.lower(local[each.index]), strict=True):
                        found[term.args[0]] = leaf.args[0]
        for crashed, local in zip(self.crashed, state.locals, strict=True):
            if crashed is not None:
                found[crashed.args[0]] = is_crashed(local)
        for budget, _ in self.budgets():
            found[budget.args[0]] = state.budget[_BUDGETS.index(budget.args[0])]
        return found

    def contents_of(self, state: State) -> dict[str, dict[tuple[Any, ...], int]]:
        """What is pending in a plain state, by predicate: leaves, and how often."""
        found: dict[str, dict[tuple[Any, ...], int]] = {}
        for receiver, inbox in zip(self.definition.processes, state.pending, strict=True):
            for message in inbox:
                sender = self.definition.columns[column_of(message.sender)]
                channel = self.channel(type(message), sender, receiver)
                leaves = tuple(term.args[0] for term in self.lower_message(message))
                held = found.setdefault(channel.pending, {})
                held[leaves] = held.get(leaves, 0) + 1
        return found

    def state(self, values: Mapping[str, Any], contents: Mapping[str, Mapping[tuple[Any, ...], int]]) -> State:
        """The plain state with these variables and messages."""
        locals: list[Local] = []
        for fields, crashed in zip(self.fields, self.crashed, strict=True):
            local: list[Any] = []
            for each in fields:
                if each.shape is None:
                    local.append(self.definition.initials[0][each.column.index][each.index])
                else:
                    local.append(each.shape.back([values[term.args[0]] for term in each.terms]))
            made: Local = tuple(local)
            locals.append(Crashed(made) if crashed is not None and values[crashed.args[0]] else made)
        inboxes: dict[int, list[Message]] = {column.index: [] for column in self.definition.processes}
        for channel in self.channels.values():
            for leaves, count in contents.get(channel.pending, {}).items():
                inboxes[channel.receiver.index] += [self.plain_message(channel, leaves)] * count
        policy = channels(self.definition)
        pending = tuple(policy.arranged(column, inboxes[column.index]) for column in self.definition.processes)
        losses, duplicates, crashes = (int(values.get(name, 0)) for name in _BUDGETS)
        return State(tuple(locals), pending, (losses, duplicates, crashes))

    def plain_message(self, channel: Channel, leaves: Sequence[Any]) -> Message:
        from quorate.language.message import stamped

        made: Any = _new(channel.cls)
        plain = channel.shape.back(leaves)
        made.__dict__.update({name: plain.__dict__[name] for name in channel.shape.names})
        assert channel.sender.pid is not None
        stamp: Message = stamped(made, channel.sender.pid)
        return stamp

    def initial_terms(self) -> list[dict[Term, Term]]:
        """The initial states as values of variables; what is free is left out."""
        found: dict[tuple[tuple[int, int], ...], dict[Term, Term]] = {}
        for state in self.definition.initials:
            known: dict[Term, Term] = {}
            for fields, local in zip(self.fields, state, strict=True):
                for each in fields:
                    if each.shape is not None and not each.free:
                        known.update(zip(each.terms, each.shape.lower(local[each.index]), strict=True))
            known.update({term: FALSE for term in self.crashed if term is not None})
            known.update({budget: number(whole) for budget, whole in self.budgets()})
            found.setdefault(tuple(sorted((a.number, b.number) for a, b in known.items())), known)
        return list(found.values())

    def free_terms(self) -> list[Term]:
        return [term for fields in self.fields for each in fields if each.free for term in each.terms]

    def initial(self) -> Term:
        """The initial states as a formula over the variables alone; channels are empty then."""
        return disjunction(
            conjunction(equal(term, value) for term, value in known.items()) for known in self.initial_terms()
        )


def require_whole(shape: Shape, hint: Any, what: str, place: Location | None) -> None:
    """Refuse to take any initial value of a type of which the shape has but some."""
    if is_cut(shape):
        raise RefusedError(
            f"{what} may not begin with any value: of {hint} there is no bound to the number of elements",
            "integers, enums, processes, and sets and maps of enums or processes may; or leave out --any",
            place,
        )


def _supported(definition: Definition) -> None:
    """Refuse by name what has no encoding."""
    network, faults = definition.network, definition.faults
    place = class_location(type(definition.system))
    if network.kind == "fifo":
        raise RefusedError(f"the network {network}: queues have no encoding yet", "unordered() or multiset()", place)
    if network.bounded:
        raise RefusedError(f"the network {network}: a capacity has no encoding yet", "leave out capacity=", place)
    if definition.attackers:
        raise RefusedError(
            "Byzantine processes that may send anything have no encoding yet", "write an attacker", place
        )
    if definition.bound is not None:
        raise RefusedError(
            f"{definition.name}.within: a bound of the whole system has no encoding", "a proof needs none", place
        )
    if definition.posted:
        raise RefusedError(
            "messages that are pending at the beginning have no encoding yet", "send them in a @start", place
        )
    if faults.down is not None or faults.redeliver:
        raise RefusedError(
            "crashes(down=...) and crashes(redeliver=True) have no encoding yet", "a number of crashes works", place
        )
    if definition.environment.network_model != "m":
        raise RefusedError("delivery events have no encoding yet", "leave out --network-model", place)
    if faults.recover:
        for column in definition.columns:
            if column.may_crash and column.spec.origin >= 0:
                raise RefusedError(
                    f"{column.cls.__name__} recovers with fields that differ from one initial state to another",
                    "name them in `durable`",
                    place,
                )
    for column in definition.columns:
        for transition in column.spec.transitions:
            if transition.mode == "any":
                raise RefusedError(
                    f"{transition}: sets of any size have no encoding yet", "minimal sets work", transition.location
                )
            if transition.mode == "maximal":
                raise RefusedError(
                    f"{transition}: maximal sets depend on all that is pending",
                    "minimal sets work",
                    transition.location,
                )


def _distinct(definition: Definition, taken: Iterable[str] = ()) -> None:
    """Refuse names that two things have: in formulas, variables are told apart by name."""
    seen = {"budget", *taken}
    for column in definition.columns:
        if column.name in seen:
            raise RefusedError(
                f"the name {column.name} is that of something else too", "rename a class", class_location(column.cls)
            )
        seen.add(column.name)


def _longest(definition: Definition) -> int:
    """Of tuples, sets and maps that the initial states hold, the most elements."""
    most = 0
    todo = [value for state in definition.initials for local in state for value in local]
    while todo:
        value = todo.pop()
        if isinstance(value, (tuple, frozenset)):
            if not hasattr(value, "_fields") and not all(type(each) is Pid for each in value):
                most = max(most, len(value))
            todo.extend(value)
        elif isinstance(value, Mapping):
            most = max(most, len(value))
            todo.extend(value.values())
    return most


def _stored(definition: Definition) -> set[tuple[type, str]]:
    """The fields that some method of a class seems to assign. What is assigned in another way is found later."""
    found: set[tuple[type, str]] = set()
    for cls in {column.cls for column in definition.columns}:
        names: set[str] = set()
        for base in cls.__mro__:
            for value in vars(base).values():
                if isinstance(value, types.FunctionType):
                    names |= _assigns(value.__code__)
        found |= {(cls, name) for name in names if name in cls._fields}
    return found


def _assigns(code: types.CodeType) -> set[str]:
    found = {each.argval for each in dis.get_instructions(code) if each.opname == "STORE_ATTR"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _assigns(constant)
    return found


# --- views -----------------------------------------------------------------------------------------------------


class Frame:
    """What a view of a process or monitor stands on: its fields as far as they were read, and what it did."""

    def __init__(self, machine: Machine, column: Column, closed: str) -> None:
        self.machine, self.column, self.closed = machine, column, closed
        self.pid = column.pid
        self.values: dict[int, Any] = {}
        """What was written. What was read is kept on the path."""
        self.written: dict[int, Location | None] = {}
        self.messages: tuple[Any, ...] = ()
        self.sends: list[tuple[int, Any]] = []
        self.events: list[Any] = []
        self.choices: Any = None
        self.picked: list[Any] = []

    def read(self, index: int) -> Any:
        if index in self.values:
            return self.values[index]
        found = self.machine.fields[self.column.index][index]
        if found.shape is None:
            return found.constant
        shape = found.shape
        return current().once(self, index, lambda: shape.lift(found.terms))

    def write(self, index: int, value: Any) -> None:
        found = self.machine.fields[self.column.index][index]
        if found.shape is None:
            raise ChangedError(self.column.cls, found.name)
        self.values[index] = _settled(value)
        self.written[index] = caller()

    def updates(self) -> dict[Term, Term]:
        found: dict[Term, Term] = {}
        for index, place in self.written.items():
            each = self.machine.fields[self.column.index][index]
            assert each.shape is not None
            try:
                leaves = each.shape.lower(self.values[index])
            except MisfitError:
                raise RefusedError(
                    f"{_called(self.column, each.name)} is given {_shown(self.values[index])}, which its declared type "
                    "does not allow",
                    "declare what it holds",
                    place,
                ) from None
            except OverflowingError:
                raise OverflowingError(_called(self.column, each.name)) from None
            found.update((term, leaf) for term, leaf in zip(each.terms, leaves, strict=True) if term is not leaf)
        return found


def _called(column: Column, name: str) -> str:
    """What a field is called in messages."""
    return f"the shared cell {column.name}" if is_cell(column) else f"{column.cls.__name__}.{name}"


def _settled(value: Any) -> Any:
    """What the language makes of a value that is kept: sets iterate by content. A mutable one is none it keeps."""
    from quorate.base.values import ContentSet

    if type(value) is tuple:
        return tuple(map(_settled, value))
    return ContentSet(map(_settled, value)) if type(value) is frozenset else value


def _is_mutable(value: Any) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return any(map(_is_mutable, value))
    return type(value) in (list, dict, set, bytearray)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def _view(cls: type[Automaton]) -> type:
    """A subclass whose fields are read from and written to a frame; its methods are the model's own."""
    members: dict[str, Any] = {"__slots__": (), "__setattr__": _set, "__module__": cls.__module__, "_of": cls}
    for index, name in enumerate(cls._fields):
        members[name] = property(_reader(index))
    for base in reversed(cls.__mro__):
        if base in (object, Automaton) or base.__module__.startswith("quorate.language"):
            continue
        for name, value in vars(base).items():
            hidden = name in cls._fields or name.startswith("_") or getattr(cls, name, None) is not value
            if not hidden and not callable(value) and not isinstance(value, (property, classmethod, staticmethod)):
                members[name] = lifted(value)
    members.update(_class_methods(cls))
    members.setdefault("crashed", property(_crashed))
    members["__class__"] = property(lambda _: cls)
    if not issubclass(cls, Monitor):
        members.update(send=_send, reply=_reply, emit=_emit, choose=_choose, sign=_sign, _tell=_emit)
    return types.new_class(cls.__name__, (cls,), {"view": True}, lambda body: body.update(members))


def _class_methods(cls: type) -> dict[str, Any]:
    """The class methods of a model's class, for a subclass that stands for it: they get what their author meant."""
    found = {
        name: value
        for base in reversed(cls.__mro__)
        if base is not object and not base.__module__.startswith("quorate.language")
        for name, value in vars(base).items()
    }
    return {
        name: staticmethod(getattr(cls, name))
        for name, value in found.items()
        if isinstance(value, classmethod) and not name.startswith("__")
    }


def _reader(index: int) -> Any:
    return lambda self: self._run.read(index)


def _set(self: Any, name: str, value: Any) -> None:
    names = list(type(self)._of._fields)
    if name not in names:
        raise self._undeclared(name)
    if self._run.closed and self._run.closed != "a monitor":
        raise ModelError(
            f"{type(self).__name__}.{name} was assigned in {self._run.closed}", code="Q108", location=caller()
        )
    if name in type(self)._of._constants:
        raise ModelError(
            f"{type(self).__name__}.{name} was assigned, and is a constant", code="Q102", location=caller()
        )
    self._run.write(names.index(name), value)


def _crashed(self: Any) -> bool:
    from quorate.proofs.proxies import decide

    frame: Frame = self._run
    term = frame.machine.crashed[frame.column.index]
    return False if term is None or frame.closed != "a property" else decide(term)


def _open(self: Any, what: str) -> Frame:
    frame: Frame = self._run
    if frame.closed:
        raise misplaced(self, what, frame.closed)
    return frame


def _send(self: Any, to: Any, message: Any) -> None:
    frame = _open(self, "send")
    if not isinstance(message, Message):
        raise ModelError(f"{type(self).__name__}.send: not a message", code="Q107", location=caller())
    for pid in [to] if type(to) is Pid else list(to):
        if type(pid) is not Pid:
            raise ModelError(f"{type(self).__name__}.send: not an identity", code="Q107", location=caller())
        frame.sends.append((column_of(pid), message))


def _reply(self: Any, message: Any) -> None:
    frame = _open(self, "reply")
    if not isinstance(message, Message) or not frame.messages:
        raise ModelError(f"{type(self).__name__}.reply: nothing to reply to", code="Q107", location=caller())
    for received in frame.messages:
        frame.sends.append((column_of(received._origin), message))


def _emit(self: Any, event: Any) -> None:
    frame = _open(self, "emit")
    if not isinstance(event, Event):
        raise ModelError(f"{type(self).__name__}.emit: not an event", code="Q107", location=caller())
    made: Any = _new(type(event))
    for name, value in event.__dict__.items():
        if _is_mutable(value):
            raise RefusedError(
                f"{type(event).__name__}.{name} holds {_shown(value)}, which can be changed", "freeze it"
            )
        made.__dict__[name] = _settled(value)
    made.__dict__["_origin"] = frame.pid
    frame.events.append(made)


def _sign(self: Any, value: Any) -> Any:
    raise RefusedError(f"{type(self).__name__} signs a value: signatures have no encoding yet", "leave them out")


def _choose(self: Any, options: Any) -> Any:
    frame = _open(self, "choose")
    listed = sorted(options, key=_key) if isinstance(options, (set, frozenset)) else list(options)
    if not listed:
        frame.choices.no_option()
    picked = frame.choices.pick(listed)
    frame.picked.append(picked)
    return lifted(picked)


def _key(value: Any) -> Any:
    from quorate.proofs.proxies import Key

    return Key(value)


def _message_view(cls: type[Message], shape: Parts) -> type:
    """A subclass whose fields are decided when they are read."""
    spans: dict[str, tuple[int, int, Shape]] = {}
    at = 0
    for name, part in zip(shape.names, shape.parts, strict=True):
        spans[name] = (at, at + part.size, part)
        at += part.size

    def missing(self: Any, name: str) -> Any:
        span = spans.get(name)
        if span is None:
            raise AttributeError(f"{cls.__name__} has no field {name!r}")
        first, end, part = span
        return current().once(self, name, lambda: part.lift(self.__dict__["_leaves"][first:end]))

    # Not through Record.__init_subclass__: it is no message class of its own, and registers nothing.
    members = {
        "__getattr__": missing,
        "__module__": cls.__module__,
        "__class__": property(lambda _: cls),
        "__repr__": lambda _: worded(f"<{cls.__name__}>", "a message whose fields are not known"),
        **_class_methods(cls),
    }
    view = _subclass(cls, members)
    VIEWS[view] = cls
    return view


def _subclass(cls: type, members: dict[str, Any]) -> type:
    kept = Record.__dict__["__init_subclass__"]
    setattr(Record, "__init_subclass__", classmethod(lambda *_, **__: None))  # noqa: B010
    try:
        made = type(cls.__name__, (cls,), members)
    finally:
        setattr(Record, "__init_subclass__", kept)  # noqa: B010
    for name in cls._names:  # type: ignore[attr-defined]
        if hasattr(cls, name):  # a default, which would hide that the field is to be decided
            setattr(made, name, _Lazily(name))
    return made


class _Lazily:
    """Stands in front of a default value of a message field."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        return type(instance).__getattr__(instance, self.name)
