"""What can happen in a state of an abstract protocol, by what the documentation says.

It is meant to be read and believed, not to be fast: all sets of messages are tried, and a state is a tuple. Only what a
handler does on one input is kept, since the same input comes up in many states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

from .attack import Arsenal
from .evaluate import Effect, Msg, Pid, Scope, Value, View, order, run, value
from .protocol import Action, Node, Protocol

Inbox = tuple[Msg, ...]
LEARN = Action("learn", "on")


MOST_MESSAGES = 8
"""Of which all sets are tried."""


class TooLarge(Exception):  # noqa: N818 - a reason to draw another protocol
    """More than is worth the time."""


class Environment(NamedTuple):
    """What a check asks for beyond what the system declares."""

    crash: Literal["implicit", "explicit"] | None = None
    crashes: int | None = None
    byzantine: tuple[tuple[str, int], ...] = ()
    network_model: Literal["m", "grm", "rm"] = "m"


class Local(NamedTuple):
    """The fields of a process in order, which one-time steps have happened, and whether it has crashed."""

    values: tuple[Value, ...]
    started: frozenset[str] = frozenset()
    crashed: bool = False


class State(NamedTuple):
    """`pending` is one inbox per process, then, with delivery events, one channel to each process."""

    locals: tuple[Local, ...]
    monitors: tuple[tuple[Value, ...], ...]
    pending: tuple[Inbox, ...]
    budget: tuple[int, int, int]


class Outcome(NamedTuple):
    """One thing that a transition may do."""

    local: Local | None
    sends: tuple[tuple[int, Msg], ...] = ()
    events: tuple[Msg, ...] = ()
    failure: str = ""


class Step(NamedTuple):
    """`next` is None where a handler or a monitor failed (`failure`), or `within` cut the step."""

    kind: str
    who: int
    action: str = ""
    next: State | None = None
    failure: str = ""

    @property
    def of_protocol(self) -> bool:
        return self.kind in ("step", "discard")


class System:
    """An abstract protocol in an environment, ready to take steps."""

    def __init__(self, protocol: Protocol, environment: Environment = Environment()) -> None:
        self.protocol = protocol
        self.environment = environment
        self.network = protocol.network
        self.classes = tuple(protocol.spawns[number].cls for number, _ in protocol.places)
        self.count = len(self.classes)
        self.attackers = self._attackers()
        self.two_buffers = environment.network_model != "m"
        declared = protocol.faults
        self.faults = declared
        if environment.crash == "implicit":
            self.faults = declared._replace(crashes=0)
        elif environment.crashes is not None:
            self.faults = declared._replace(crashes=environment.crashes)
        self.fields = {name: protocol.fields_of(name) for name in protocol.by_name}
        self.actions = {name: protocol.actions_of(name) for name in protocol.by_name}
        self.constants = {name: protocol.constants_of(name) for name in protocol.by_name}
        self.names = {each.name: tuple(f.name for f in protocol.record_fields(each.name)) for each in protocol.records}
        self.kinds = {each.name: frozenset(protocol.lineage(each.name)) for each in protocol.records}
        self.kinds["Crash"] = frozenset({"Crash"})
        self.byzantine = {name: protocol.is_byzantine(name) for name in protocol.by_name}
        self.arsenal = Arsenal(protocol, self.classes, self.attackers)
        self.initial = self._initial()
        self._fired: dict[tuple[Any, ...], list[Outcome]] = {}
        self._judged: dict[tuple[Any, ...], bool | None] = {}
        self._sorted: dict[Msg, str] = {}

    # What there is at the beginning

    def _attackers(self) -> frozenset[int]:
        places = self.protocol.places
        found: set[int] = set()
        for spawn, many in self.protocol.corrupt:
            mine = [index for index, (number, _) in enumerate(places) if number == spawn]
            found.update(mine[len(mine) - many :])
        for role, many in self.environment.byzantine:
            mine = [index for index, cls in enumerate(self.classes) if cls.lower() == role.lower()]
            found.update(mine[len(mine) - many :])
        return frozenset(found)

    def _initial(self) -> list[State]:
        """One state for every way to make the choices in `build`."""
        choices: list[Node] = []

        def resolve(given: Node, picked: dict[int, Value]) -> Value:
            if given.op == "choose":
                if not any(given is each for each in choices):
                    choices.append(given)
                at = next(number for number, each in enumerate(choices) if given is each)
                return picked.get(at)
            return self._given(given)

        found: dict[State, None] = {}
        self._locals(resolve, {})  # to learn of the choices
        for options in product(*(each.args[0] for each in choices)):
            picked = dict(enumerate(self._given(each) for each in options))
            locals = self._locals(resolve, picked)
            monitors = tuple(
                tuple(self._given(f.default or Node("none")) for f in self.fields[each.name])
                for each in self.protocol.monitors
            )
            losses = self.network.losses if self.network.losses != "any" else 0
            duplicates = self.network.duplicates if self.network.duplicates != "any" else 0
            buffers = 2 * self.count if self.two_buffers else self.count
            state = State(locals, monitors, ((),) * buffers, (losses, duplicates, self.faults.crashes))
            found.setdefault(state)
        return list(found)

    def _locals(self, resolve: Any, picked: dict[int, Value]) -> tuple[Local, ...]:
        found: list[Local] = []
        for index, (spawn, which) in enumerate(self.protocol.places):
            if index in self.attackers:
                found.append(Local((frozenset(),) if self.arsenal.learns else ()))
                continue
            cls = self.classes[index]
            values = {f.name: self._given(f.default) if f.default else None for f in self.fields[cls]}
            for name, given in self.protocol.spawns[spawn].given:
                values[name] = resolve(given, picked)
            for each in self.protocol.connects:
                if each.spawn == spawn and each.which in (None, which):
                    values[each.field] = resolve(each.value, picked)
            found.append(Local(tuple(values.values())))
        return tuple(found)

    def _given(self, given: Node) -> Value:
        """A value in `build`: a process is named by its spawn and place, a group by its spawns."""
        places = self.protocol.places
        if given.op == "process":
            return f"#{places.index(given.args)}"
        if given.op == "group":
            return frozenset(f"#{index}" for index, (spawn, _) in enumerate(places) if spawn in given.args)
        if given.op == "playing":
            return self._given(given.args[0])
        if given.op == "weights":
            group = sorted(self._given(given.args[0]), key=order)
            return tuple((pid, given.args[1]) for pid in sorted(group))
        return value(given, Scope({}))

    # Handlers

    def _scope(self, index: int, local: Local, consumed: tuple[Msg, ...] = ()) -> Scope:
        cls = self.classes[index]
        values = dict(zip((f.name for f in self.fields[cls]), local.values, strict=True))
        return Scope(values, f"#{index}", self.constants[cls], consumed, self.names)

    def _takes(self, action: Action, message: Msg) -> bool:
        return action is LEARN or (action.message is not None and action.message in self.kinds[message.cls])

    def fire(self, index: int, action: Action, local: Local, consumed: tuple[Msg, ...]) -> list[Outcome]:
        """All that a transition may do on these messages; nothing if it is not enabled."""
        key = index, action, local, consumed
        found = self._fired.get(key)
        if found is None:
            found = self._fired[key] = [*dict.fromkeys(self._outcomes(index, action, local, consumed))]
        return found

    def _outcomes(self, index: int, action: Action, local: Local, consumed: tuple[Msg, ...]) -> Iterator[Outcome]:
        if local.crashed or action.name in local.started:
            return
        if action is LEARN:
            more = self.arsenal.news(local.values[0], consumed[0])
            if more:
                yield Outcome(Local((local.values[0] | more,)))
            return
        scope = self._scope(index, local, consumed)
        try:
            if not self._guarded(action, scope, consumed):
                return
        except Exception:
            yield Outcome(None, failure="exception")
            return
        names = tuple(f.name for f in self.fields[self.classes[index]])
        within = self.protocol.within_of(self.classes[index])
        started = local.started | {action.name} if action.kind == "start" else local.started
        for effect in run(action.body, Effect(scope.values), scope):
            if effect.failure:
                yield Outcome(None, failure=effect.failure)
                continue
            if within is not None:
                try:
                    inside = value(within, Scope(effect.values, scope.me, scope.constants))
                except Exception:
                    yield Outcome(None, failure="exception")
                    continue
                if not inside:
                    yield Outcome(None)
                    continue
            sends = tuple((self._route(order(pid)), message) for pid, message in effect.sends)
            yield Outcome(Local(tuple(effect.values[f] for f in names), started), sends, effect.events)

    def _guarded(self, action: Action, scope: Scope, consumed: tuple[Msg, ...]) -> bool:
        """Whether the guards let a transition take these messages."""
        if action.when is not None and not value(action.when, scope):
            return False
        if action.kind != "quorum":
            return True
        size, senders = self._asked(action, scope)
        if action.where is not None:
            for message in consumed:
                if not value(action.where, Scope(scope.values, scope.me, scope.constants, (message,))):
                    return False
        if size is not None and size != len(consumed):
            return False
        if senders is not None and senders != {message.sender for message in consumed}:
            return False
        return action.enough is None or bool(value(action.enough, scope))

    def _asked(self, action: Action, scope: Scope) -> tuple[int | None, frozenset[Pid] | None]:
        """How many messages a quorum wants, or of whom."""
        if action.size is not None:
            return _read(action.size, scope), None
        if action.each is not None:
            named = _read(action.each, scope)
            return None, frozenset([named]) if isinstance(named, str) else frozenset(named)
        return None, None

    def _route(self, receiver: int) -> int:
        return self.count + receiver if self.two_buffers else receiver

    # What can be consumed

    def consumable(self, state: State, index: int, action: Action) -> list[tuple[Msg, ...]]:
        local = state.locals[index]
        if local.crashed:
            return []
        inbox = state.pending[index]
        sets = [()] if action.kind in ("start", "step") else self._sets(state, index, action)
        if self.environment.network_model == "rm" and index not in self.attackers:  # clean channels
            return [each for each in sets if len(each) == len(inbox)]
        return sets

    def _sets(self, state: State, index: int, action: Action) -> list[tuple[Msg, ...]]:
        local = state.locals[index]
        candidates = [m for m in self._offered(state, index, action) if self._takes(action, m)]
        if action.kind == "on":
            return [(message,) for message in candidates]
        scope = self._scope(index, local)
        size: int | None = 1  # a guard that raises does so on any message
        senders: frozenset[Pid] | None = None
        try:
            if action.when is not None and not value(action.when, scope):
                return []
            size, senders = self._asked(action, scope)
            if size == 0 or senders == frozenset():
                return []
        except Exception:
            pass
        groups: dict[Value, list[Msg]] = {}
        for message in candidates:
            if self._accepted(index, action, local, message):
                groups.setdefault(message.get(action.same) if action.same else None, []).append(message)
        found: list[tuple[Msg, ...]] = []
        for group in groups.values():
            if len(group) > MOST_MESSAGES:
                raise TooLarge
            every = [one for number in range(1, len(group) + 1) for one in combinations(group, number)]
            every = [one for one in every if len({message.sender for message in one}) == len(one)]
            if size is not None:
                found += [one for one in every if len(one) == size]
            elif senders is not None:
                found += [one for one in every if {message.sender for message in one} == senders]
            else:
                enabled = {frozenset(one): one for one in every if self.fire(index, action, local, one)}
                found += [one for key, one in enabled.items() if not _surpassed(key, enabled, action.sets)]
        return [tuple(sorted(one, key=self._content)) for one in found]

    def _accepted(self, index: int, action: Action, local: Local, message: Msg) -> bool:
        """The filter of a quorum. One that raises lets the message pass, so that the step fails."""
        if action.where is None:
            return True
        try:
            return bool(value(action.where, self._scope(index, local, (message,))))
        except Exception:
            return True

    def _wants(self, index: int, action: Action, local: Local, message: Msg) -> bool:
        if not self._takes(action, message):
            return False
        if action.kind == "on":
            return bool(self.fire(index, action, local, (message,)))
        return self._accepted(index, action, local, message)

    def _offered(self, state: State, index: int, action: Action) -> Iterable[Msg]:
        """The different messages that a transition may look at, with what attackers could say at this moment."""
        standing = () if self.two_buffers else self.standing(state, index)
        if self.network.kind != "fifo":
            return [*dict.fromkeys(state.pending[index]), *standing]
        found = list(standing)
        local = state.locals[index]
        for channel in _channels(state.pending[index]):
            wanted = [message for message in channel if self._wants(index, action, local, message)]
            if self.network.head == "skip":
                found += wanted[:1]
            elif wanted and wanted[0] is channel[0]:
                found.append(channel[0])
        return found

    def standing(self, state: State, index: int) -> tuple[Msg, ...]:
        """What attackers can send to a process now, and at any later time."""
        if not self.attackers or index in self.attackers:
            return ()
        known = frozenset().union(*(state.locals[each].values[0] for each in self.attackers if self.arsenal.learns))
        return self.arsenal.sayable(index, known)

    # Steps

    def steps(self, state: State) -> Iterator[Step]:
        """Everything that can happen in a state."""
        for index in range(self.count):
            for action in self._actions(index):
                for consumed in self.consumable(state, index, action):
                    for outcome in self.fire(index, action, state.locals[index], consumed):
                        yield from self._take(state, index, action, consumed, outcome)
            yield from self._discards(state, index)
            yield from self._crashes(state, index)
        for box in range(self.count if self.two_buffers else 0, len(state.pending)):
            if self.two_buffers:
                yield from self._deliveries(state, box)
            yield from self._mishaps(state, box)

    def _actions(self, index: int) -> tuple[Action, ...]:
        if index in self.attackers:
            return (LEARN,) if self.arsenal.learns else ()
        return self.actions[self.classes[index]]

    def _take(
        self, state: State, index: int, action: Action | None, consumed: tuple[Msg, ...], outcome: Outcome
    ) -> Iterator[Step]:
        """The step, unless a full channel blocks it."""
        crash = outcome.local is not None and outcome.local.crashed
        step = Step("crash" if crash else "step", index, action.name if action else "")
        if outcome.local is None:
            yield step._replace(failure=outcome.failure)
            return
        pending = [list(inbox) for inbox in state.pending]
        if action is not None and not action.keep and self.network.duplicates != "any":
            for message in consumed:
                if self.two_buffers or order(message.sender) not in self.attackers:
                    pending[index].remove(message)
        for box, message in outcome.sends:
            if not self._put(pending[box], message):
                return
        monitors = state.monitors
        for event in outcome.events:
            try:
                monitors = self._observed(monitors, event)
            except AssertionError:
                yield step._replace(failure="assertion")
                return
            except Exception:
                yield step._replace(failure="exception")
                return
        locals = (*state.locals[:index], outcome.local, *state.locals[index + 1 :])
        yield step._replace(next=State(locals, monitors, self._arranged(pending), state.budget))

    def _observed(self, monitors: tuple[tuple[Value, ...], ...], event: Msg) -> tuple[tuple[Value, ...], ...]:
        found = []
        for each, fields in zip(self.protocol.monitors, monitors, strict=True):
            names = [f.name for f in self.fields[each.name]]
            values: dict[str, Value] = dict(zip(names, fields, strict=True))
            for reaction in self.actions[each.name]:
                if not self._takes(reaction, event):
                    continue
                scope = Scope(values, "", self.constants[each.name], (event,), self.names)
                if reaction.when is None or value(reaction.when, scope):
                    (effect,) = run(reaction.body, Effect(values), scope)
                    if effect.failure:
                        raise AssertionError if effect.failure == "assertion" else ValueError
                    values = dict(effect.values)
            found.append(tuple(values[name] for name in names))
        return tuple(found)

    def _put(self, inbox: list[Msg], message: Msg) -> bool:
        """Send into a channel; False if it is full and blocks."""
        if self.network.kind == "unordered" and message in inbox:
            return True
        channel = [other for other in inbox if other.sender == message.sender]
        if self.network.capacity is not None and len(channel) >= self.network.capacity:
            if self.network.full == "block":
                return False
            inbox.remove(channel[0])
        inbox.append(message)
        return True

    def _arranged(self, pending: list[list[Msg]]) -> tuple[Inbox, ...]:
        """FIFO: channel after channel, each in its order. Otherwise order means nothing."""
        if self.network.kind == "fifo":
            return tuple(tuple(sorted(inbox, key=lambda message: message.sender)) for inbox in pending)
        return tuple(tuple(sorted(inbox, key=self._content)) for inbox in pending)

    def _content(self, message: Msg) -> str:
        found = self._sorted.get(message)
        if found is None:
            found = self._sorted[message] = repr((message.cls, message.sender, _ordered(message.values)))
        return found

    # The environment

    def _with_inbox(self, state: State, box: int, inbox: list[Msg], budget: tuple[int, int, int]) -> State:
        pending = [list(each) for each in state.pending]
        pending[box] = inbox
        return state._replace(pending=self._arranged(pending), budget=budget)

    def _deliveries(self, state: State, box: int) -> Iterator[Step]:
        """What is on its way to a process reaches its input buffer: any message, or the first of each channel."""
        index = box - self.count
        ready = [*dict.fromkeys(state.pending[box])]
        if self.network.kind == "fifo":
            ready = [channel[0] for channel in _channels(state.pending[box])]
        for message in (*ready, *self.standing(state, index)):
            pending = [list(inbox) for inbox in state.pending]
            if order(message.sender) not in self.attackers and self.network.duplicates != "any":
                pending[box].remove(message)
            self._put(pending[index], message)
            yield Step("step", box, "delivers", state._replace(pending=self._arranged(pending)))

    def _discards(self, state: State, index: int) -> Iterator[Step]:
        local = state.locals[index]
        if self.network.kind != "fifo" or self.network.head != "drop" or local.crashed:
            return
        for channel in _channels(state.pending[index]):
            if not any(self._wants(index, action, local, channel[0]) for action in self._actions(index)):
                inbox = list(state.pending[index])
                inbox.remove(channel[0])
                yield Step("discard", index, next=self._with_inbox(state, index, inbox, state.budget))

    def _mishaps(self, state: State, box: int) -> Iterator[Step]:
        """A message is lost, or copied: in a FIFO channel the copy comes right behind."""
        losses, duplicates, crashes = state.budget
        inbox = state.pending[box]
        who = box
        places = [at for at, message in enumerate(inbox) if at == 0 or inbox[at - 1] != message]
        for at in places:
            if self.network.losses == "any" or losses > 0:
                left = (losses if self.network.losses == "any" else losses - 1, duplicates, crashes)
                rest = [*inbox[:at], *inbox[at + 1 :]]
                yield Step("lose", who, next=self._with_inbox(state, box, rest, left))
            room = self.network.capacity is None or self.network.capacity > sum(
                other.sender == inbox[at].sender for other in inbox
            )
            if self.network.duplicates != "any" and duplicates > 0 and room:
                more = [*inbox[: at + 1], *inbox[at:]]
                yield Step("duplicate", who, next=self._with_inbox(state, box, more, (losses, duplicates - 1, crashes)))

    def _crashes(self, state: State, index: int) -> Iterator[Step]:
        """A crash between steps, or in the midst of one after only a part of its messages was sent; and recovery."""
        local = state.locals[index]
        if local.crashed:
            if self.faults.recover:
                back = self._recovered(index, local)
                locals = (*state.locals[:index], back, *state.locals[index + 1 :])
                yield Step("recover", index, next=state._replace(locals=locals))
            return
        losses, duplicates, left = state.budget
        may = not self.faults.of or any(self.protocol.is_a(self.classes[index], cls) for cls in self.faults.of)
        if left == 0 or not may or index in self.attackers:
            return
        less = state._replace(budget=(losses, duplicates, left - 1))
        notices = self._notices(index)
        yield from self._take(less, index, None, (), Outcome(local._replace(crashed=True), notices))
        if not self.faults.cut_short:
            return
        for action in self._actions(index):
            for consumed in self.consumable(state, index, action):
                for outcome in self.fire(index, action, local, consumed):
                    if outcome.local is None or not [*self._take(state, index, action, consumed, outcome)]:
                        continue  # what cannot be done as a whole cannot be cut short
                    for part in self._parts(outcome.sends):
                        gone = outcome.local._replace(crashed=True)
                        cut = outcome._replace(local=gone, sends=(*part, *notices))
                        yield from self._take(less, index, action, consumed, cut)

    def _notices(self, index: int) -> tuple[tuple[int, Msg], ...]:
        notice = Msg("Crash", (), (), f"#{index}")
        told = [
            other
            for other in range(self.count)
            if other != index
            and other not in self.attackers
            and any(action.message == "Crash" for action in self.actions[self.classes[other]])
        ]
        return tuple((self._route(other), notice) for other in told)

    def _parts(self, sends: tuple[tuple[int, Msg], ...]) -> Iterable[tuple[tuple[int, Msg], ...]]:
        """Every part but the whole, once. Into a FIFO channel messages go in order, so its end is what is missing."""
        found: dict[tuple[tuple[int, Msg], ...], None] = {}
        for kept in product((False, True), repeat=len(sends)):
            if self.network.kind == "fifo" and any(
                kept[later] and not kept[earlier] and sends[earlier][0] == sends[later][0]
                for later in range(len(sends))
                for earlier in range(later)
            ):
                continue
            part = tuple(send for send, here in zip(sends, kept, strict=True) if here)
            if part != sends:
                found.setdefault(part)
        return found

    def _recovered(self, index: int, local: Local) -> Local:
        """Durable fields are kept, all others are as they were at the beginning."""
        cls = self.classes[index]
        durable = self.protocol.durable_of(cls)
        first = self.initial[0].locals[index].values
        values = [
            now if f.name in durable else then
            for f, now, then in zip(self.fields[cls], local.values, first, strict=True)
        ]
        return Local(tuple(values))

    # Properties

    def judge(self, claim: Node, state: State) -> bool | None:
        """The answer of a property; None if it raises."""
        key = claim, state.locals, state.monitors
        if key not in self._judged:
            self._judged[key] = self._answer(claim, state)
        return self._judged[key]

    def _answer(self, claim: Node, state: State) -> bool | None:
        def processes(cls: str) -> tuple[View, ...]:
            wanted = self.byzantine[cls]
            return tuple(
                View(self._scope(index, local).values, f"#{index}", local.crashed)
                for index, local in enumerate(state.locals)
                if index not in self.attackers
                and self.protocol.is_a(self.classes[index], cls)
                and (wanted or not self.byzantine[self.classes[index]])
            )

        def monitor(cls: str) -> dict[str, Value]:
            names = [each.name for each in self.protocol.monitors]
            return dict(zip((f.name for f in self.fields[cls]), state.monitors[names.index(cls)], strict=True))

        try:
            answer = value(claim, Scope({}, processes=processes, monitor=monitor))
        except Exception:
            return None
        return bool(answer)


def _read(what: Any, scope: Scope) -> Any:
    """A number, a field, or a function of the process."""
    if isinstance(what, Node):
        return value(what, scope)
    return scope.values[what] if isinstance(what, str) else what


def _channels(inbox: Inbox) -> list[list[Msg]]:
    found: dict[Pid, list[Msg]] = {}
    for message in inbox:
        found.setdefault(message.sender, []).append(message)
    return list(found.values())


def _surpassed(one: frozenset[Msg], enabled: Iterable[frozenset[Msg]], sets: str) -> bool:
    return any(other < one if sets == "minimal" else other > one for other in enabled)


def _ordered(values: Any) -> Any:
    """A set's own order follows the hash seed."""
    if isinstance(values, frozenset):
        return sorted(values)
    return tuple(map(_ordered, values)) if isinstance(values, tuple) else values
