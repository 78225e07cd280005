"""What can happen in a state of an abstract protocol, by what the documentation says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from .evaluate import Effect, Msg, Scope, Value, View, order, run, value
from .handlers import DECLARED, LEARN, Environment, Handlers, Local, Outcome, State, TooLarge, channels
from .protocol import Action, Node, Protocol, reads_flight

__all__ = ["DECLARED", "Environment", "Local", "State", "Step", "System", "TooLarge"]


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


class System(Handlers):
    """An abstract protocol in an environment, ready to take steps."""

    def __init__(self, protocol: Protocol, environment: Environment = DECLARED) -> None:
        super().__init__(protocol, environment)
        self._judged: dict[tuple[Any, ...], bool | None] = {}
        self._reading: dict[Node, bool] = {}

    # Steps

    def steps(self, state: State) -> Iterator[Step]:
        """Everything that can happen in a state."""
        for step in self._unbounded(state):
            within = self.protocol.within
            if within is not None and step.next is not None and not self.judge(within, step.next):
                step = step._replace(next=None)
            yield step

    def _unbounded(self, state: State) -> Iterator[Step]:
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
        yield step._replace(next=State(locals, monitors, self.arranged(pending), state.budget))

    def _observed(self, monitors: tuple[tuple[Value, ...], ...], event: Msg) -> tuple[tuple[Value, ...], ...]:
        found = []
        for each, fields in zip(self.protocol.monitors, monitors, strict=True):
            names = [f.name for f in self.fields[each.name]]
            values: dict[str, Value] = dict(zip(names, fields, strict=True))
            for reaction in self.actions[each.name]:
                if not self.takes(reaction, event):
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

    # The environment

    def _with_inbox(self, state: State, box: int, inbox: list[Msg], budget: tuple[int, int, int]) -> State:
        pending = [list(each) for each in state.pending]
        pending[box] = inbox
        return state._replace(pending=self.arranged(pending), budget=budget)

    def _deliveries(self, state: State, box: int) -> Iterator[Step]:
        """What is on its way to a process reaches its input buffer: any message, or the first of each channel."""
        index = box - self.count
        ready = [*dict.fromkeys(state.pending[box])]
        if self.network.kind == "fifo":
            ready = [channel[0] for channel in channels(state.pending[box])]
        for message in (*ready, *self.standing(state, index)):
            pending = [list(inbox) for inbox in state.pending]
            if order(message.sender) not in self.attackers and self.network.duplicates != "any":
                pending[box].remove(message)
            self._put(pending[index], message)
            yield Step("step", box, "delivers", state._replace(pending=self.arranged(pending)))

    def _discards(self, state: State, index: int) -> Iterator[Step]:
        local = state.locals[index]
        if self.network.kind != "fifo" or self.network.head != "drop" or local.crashed:
            return
        for channel in channels(state.pending[index]):
            if not any(self.wants(index, action, local, channel[0]) for action in self._actions(index)):
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
            if inbox[at].cls == "Leak":  # what attackers tell each other does not travel over the network
                continue
            head = at == 0 or inbox[at - 1].sender != inbox[at].sender
            if (self.network.losses == "any" or losses > 0) and (head or self.network.lost == "anywhere"):
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
        if (left == 0 and self.faults.crashes != "any") or not may or index in self.attackers:
            return
        if self.faults.down is not None and sum(each.crashed for each in state.locals) >= self.faults.down:
            return
        less = state._replace(budget=(losses, duplicates, 0 if self.faults.crashes == "any" else left - 1))
        notices = self._notices(index)
        yield from self._take(less, index, None, (), Outcome(local._replace(crashed=True), notices))
        if not self.faults.cut_short:
            return
        for action in self._actions(index):
            for consumed in self.consumable(state, index, action):
                for outcome in self.fire(index, action, local, consumed):
                    if outcome.local is None or not [*self._take(state, index, action, consumed, outcome)]:
                        continue  # what cannot be done as a whole cannot be cut short
                    gone = outcome.local._replace(crashed=True)
                    for part in self._parts(outcome.sends):
                        cut = outcome._replace(local=gone, sends=(*part, *notices))
                        yield from self._take(less, index, action, consumed, cut)
                    if not self.faults.redeliver or action.keep or self.network.duplicates == "any":
                        continue
                    if not any(order(each.sender) not in self.attackers or self.two_buffers for each in consumed):
                        continue
                    for part in (outcome.sends, *self._parts(outcome.sends)):  # and nothing was taken
                        cut = outcome._replace(local=gone, sends=(*part, *notices))
                        yield from self._take(less, index, action, (), cut)

    def _notices(self, index: int) -> tuple[tuple[int, Msg], ...]:
        notice = Msg("Crash", (), (), f"#{index}")
        told = [
            other
            for other in range(self.count)
            if other != index
            and other not in self.attackers
            and any(action.message == "Crash" for action in self.actions[self.classes[other]])
        ]
        return tuple((self.route(other), notice) for other in told)

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

    def bounded_out(self) -> bool:
        within = self.protocol.within
        return within is not None and not all(self.judge(within, state) for state in self.initial)

    # Properties

    def judge(self, claim: Node, state: State) -> bool | None:
        """The answer of a property; None if it raises."""
        key = claim, state.locals, state.monitors, state.pending if self._reads_flight(claim) else None
        if key not in self._judged:
            self._judged[key] = self._answer(claim, state)
        return self._judged[key]

    def _reads_flight(self, claim: Node) -> bool:
        if claim not in self._reading:
            self._reading[claim] = reads_flight(claim)
        return self._reading[claim]

    def sight(self, parts: tuple[Node, ...], state: State) -> tuple[Value, ...]:
        """What a property that looks at these parts sees of a state."""
        scope = self._public(state)
        return tuple(value(each, scope) for each in parts)

    def _answer(self, claim: Node, state: State) -> bool | None:
        try:
            return bool(value(claim, self._public(state)))
        except Exception:
            return None

    def _public(self, state: State) -> Scope:
        def processes(cls: str) -> tuple[View, ...]:
            wanted = self.byzantine[cls]
            return tuple(
                View(self.scope(index, local).values, f"#{index}", local.crashed)
                for index, local in enumerate(state.locals)
                if index not in self.attackers
                and self.protocol.is_a(self.classes[index], cls)
                and (wanted or not self.byzantine[self.classes[index]])
            )

        def monitor(cls: str) -> dict[str, Value]:
            names = [each.name for each in self.protocol.monitors]
            return dict(zip((f.name for f in self.fields[cls]), state.monitors[names.index(cls)], strict=True))

        def flight(cls: str, to: tuple[str, int] | None) -> tuple[Msg, ...]:
            whom = None if to is None else order(processes(to[0])[to[1]].pid)
            return tuple(
                message
                for box, inbox in enumerate(state.pending)
                if whom in (None, box % self.count)
                for message in inbox
                if cls in self.kinds[message.cls]
            )

        return Scope({}, processes=processes, monitor=monitor, flight=flight)
