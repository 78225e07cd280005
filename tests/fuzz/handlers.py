"""What processes do: how they begin, what a handler does on its messages, and which messages it can have.

It is meant to be read and believed, not to be fast: all sets of messages are tried. Only what a handler does on one
input is kept, since the same input comes up in many states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

from .attack import Arsenal
from .evaluate import Effect, Msg, Pid, Scope, Value, order, run, value
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


DECLARED = Environment()
"""Just what the system declares."""


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


class Handlers:
    """The processes of an abstract protocol in an environment."""

    def __init__(self, protocol: Protocol, environment: Environment = DECLARED) -> None:
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
        self.kinds["Leak"] = frozenset({"Leak"})
        self.byzantine = {name: protocol.is_byzantine(name) for name in protocol.by_name}
        self.arsenal = Arsenal(protocol, self.classes, self.attackers)
        self._fired: dict[tuple[Any, ...], list[Outcome]] = {}
        self._sorted: dict[Msg, str] = {}
        self.initial = self._initial()

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
            crashes = self.faults.crashes if self.faults.crashes != "any" else 0
            state = State(locals, monitors, self._posted(buffers), (losses, duplicates, crashes))
            found.setdefault(state)
        return list(found)

    def _posted(self, buffers: int) -> tuple[Inbox, ...]:
        """What is pending at the beginning; attackers need not have sent anything."""
        pending: list[list[Msg]] = [[] for _ in range(buffers)]
        for each in self.protocol.posted:
            if each.sender in self.attackers:
                continue
            values = tuple(self._given(value) for value in each.values)
            message = Msg(each.record, values, self.names[each.record], f"#{each.sender}")
            inbox = pending[self.route(each.to)]
            if self.network.kind != "unordered" or message not in inbox:
                inbox.append(message)
            channel = [other for other in inbox if other.sender == message.sender]
            if self.network.capacity is not None and len(channel) > self.network.capacity:
                raise TooLarge  # refused
        return self.arranged(pending)

    def arranged(self, pending: list[list[Msg]]) -> tuple[Inbox, ...]:
        """FIFO: channel after channel, each in its order. Otherwise order means nothing."""
        if self.network.kind == "fifo":
            return tuple(tuple(sorted(inbox, key=lambda message: message.sender)) for inbox in pending)
        return tuple(tuple(sorted(inbox, key=self.content)) for inbox in pending)

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
        if given.op == "union":
            return frozenset().union(*(self._given(each) for each in given.args))
        if given.op == "playing":
            return self._given(given.args[0])
        if given.op == "weights":
            group = sorted(self._given(given.args[0]), key=order)
            return tuple((pid, given.args[1]) for pid in sorted(group))
        return value(given, Scope({}))

    @property
    def outside(self) -> bool:
        """Whether a process begins outside of its bound, which is refused."""
        for state in self.initial:
            for index, local in enumerate(state.locals):
                within = None if index in self.attackers else self.protocol.within_of(self.classes[index])
                if within is not None and not value(within, self.scope(index, local)):
                    return True
        return self.bounded_out()

    def bounded_out(self) -> bool:
        """Whether the bound of the system excludes the beginning."""
        return False

    # Handlers

    def scope(self, index: int, local: Local, consumed: tuple[Msg, ...] = ()) -> Scope:
        cls = self.classes[index]
        values = dict(zip((f.name for f in self.fields[cls]), local.values, strict=True))
        return Scope(values, f"#{index}", self.constants[cls], consumed, self.names)

    def takes(self, action: Action, message: Msg) -> bool:
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
                others = sorted(self.attackers - {index}) if consumed[0].cls != "Leak" else []
                leak = Msg("Leak", (more,), ("evidence",), f"#{index}")
                yield Outcome(Local((local.values[0] | more,)), tuple((self.route(other), leak) for other in others))
            return
        scope = self.scope(index, local, consumed)
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
            sends = tuple((self.route(order(pid)), message) for pid, message in effect.sends)
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

    def route(self, receiver: int) -> int:
        return self.count + receiver if self.two_buffers else receiver

    # What can be consumed

    def consumable(self, state: State, index: int, action: Action) -> list[tuple[Msg, ...]]:
        local = state.locals[index]
        if local.crashed:
            return []
        inbox = state.pending[index]
        sets: list[tuple[Msg, ...]] = [()] if action.kind in ("start", "step") else self._sets(state, index, action)
        if self.environment.network_model == "rm" and index not in self.attackers:  # clean channels
            return [each for each in sets if len(each) == len(inbox)]
        return sets

    def _sets(self, state: State, index: int, action: Action) -> list[tuple[Msg, ...]]:
        local = state.locals[index]
        candidates = [m for m in self._offered(state, index, action) if self.takes(action, m)]
        if action.kind == "on":
            return [(message,) for message in candidates]
        scope = self.scope(index, local)
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
                mine = self.attackers if not self.two_buffers else frozenset()
                found += [one for key, one in enabled.items() if not _surpassed(key, enabled, action.sets, mine)]
        return [tuple(sorted(one, key=self.content)) for one in found]

    def _accepted(self, index: int, action: Action, local: Local, message: Msg) -> bool:
        """The filter of a quorum. One that raises lets the message pass, so that the step fails."""
        if action.where is None:
            return True
        try:
            return bool(value(action.where, self.scope(index, local, (message,))))
        except Exception:
            return True

    def wants(self, index: int, action: Action, local: Local, message: Msg) -> bool:
        if not self.takes(action, message):
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
        for channel in channels(state.pending[index]):
            wanted = [message for message in channel if self.wants(index, action, local, message)]
            if self.network.head == "skip":
                found += wanted[:1]
            elif wanted and wanted[0] is channel[0]:
                found.append(channel[0])
        return found

    def standing(self, state: State, index: int) -> tuple[Msg, ...]:
        """What attackers can send to a process now, and at any later time."""
        if not self.attackers or index in self.attackers:
            return ()
        found: list[Msg] = []
        for attacker in sorted(self.attackers):
            known = state.locals[attacker].values[0] if self.arsenal.learns else frozenset()
            found += self.arsenal.sayable(attacker, index, known)
        return tuple(found)

    def content(self, message: Msg) -> str:
        found = self._sorted.get(message)
        if found is None:
            found = self._sorted[message] = repr((message.cls, message.sender, _ordered(message.values)))
        return found


def _read(what: Any, scope: Scope) -> Any:
    """A number, a field, or a function of the process."""
    if isinstance(what, Node):
        return value(what, scope)
    return scope.values[what] if isinstance(what, str) else what


def channels(inbox: Inbox) -> list[list[Msg]]:
    found: dict[Pid, list[Msg]] = {}
    for message in inbox:
        found.setdefault(message.sender, []).append(message)
    return list(found.values())


def _surpassed(
    one: frozenset[Msg], enabled: Iterable[frozenset[Msg]], sets: str, attackers: frozenset[int] = frozenset()
) -> bool:
    """Attackers may keep back what they could say: a set is not larger for having it."""
    if sets == "any":
        return False
    if sets == "minimal":
        return any(other < one for other in enabled)
    return any(other > one and all(order(m.sender) not in attackers for m in other - one) for other in enabled)


def _ordered(values: Any) -> Any:
    """A set's own order follows the hash seed."""
    if isinstance(values, frozenset):
        return sorted(map(_ordered, values), key=repr)
    return tuple(map(_ordered, values)) if isinstance(values, tuple) else values
