"""What the closure shows of a protocol, in the protocol's own words: what transitions do, and who enables whom.

Processes of a class share their transitions, so facts are collected by class: what any of them may ever do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from quorate._core import Effect
from quorate.language.message import Message
from quorate.language.pid import column_of
from quorate.model.definition import Column, Transition
from quorate.native.model import Model

Traffic = dict[str, list[str]]
"""Type of message -> the processes at its other end."""


@dataclass
class TransitionFacts:
    """What one transition of a class of processes may do, in any local state that the closure holds."""

    name: str
    mode: str
    keep: bool
    processes: list[str]
    local_states: int = 0
    """In how many of them it is enabled on some messages, counted over the processes."""
    behaviours: int = 0
    consumes: Traffic = field(default_factory=dict)
    sends: Traffic = field(default_factory=dict)
    emits: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """Of a quorum transition: how many messages it consumes at once."""
    sender_sets: int = 0
    """Of a quorum transition: from how many different sets of senders, counted over the processes."""
    reply: bool = False
    """It sends, and only to those whose messages it consumes."""
    may_fail: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Enabling:
    """One transition may make another possible: by a message it sends, or by where it takes its own process."""

    source: str
    target: str
    kind: Literal["message", "local"]
    by: list[str]
    """The types of the messages; nothing for a local one."""
    senders: list[str]
    receivers: list[str]

    def to_json(self) -> dict[str, Any]:
        return {"from": self.source, "to": self.target, **{key: getattr(self, key) for key in _REST}}


_REST = ("kind", "by", "senders", "receivers")


class Facts:
    """Everything that is read off a closure. Without one that is complete, only what the declarations say."""

    def __init__(self, model: Model, closed: bool) -> None:
        self.model = model
        self.closed = closed
        self.definition = model.definition
        self._known: dict[str, TransitionFacts] = {}
        self._enabling: dict[tuple[str, str, Literal["message", "local"]], Enabling] = {}
        self._only_replies: dict[str, bool] = {}
        self._senders: dict[str, set[tuple[int, ...]]] = {}
        # Message at its receiver -> the transitions that may send it, and from which process.
        self._sent: dict[tuple[int, int], dict[tuple[str, int], None]] = {}
        self._taken: dict[tuple[int, int], dict[str, None]] = {}
        for column in self.definition.processes:
            for transition in self.definition.transitions(column):
                self._declare(column, transition)
        for column in self.definition.processes:
            self._read(column)
        self._connect()
        for fact in self._known.values():
            fact.reply = bool(fact.sends) and self._only_replies.get(fact.name, True)
            fact.sender_sets = len(self._senders.get(fact.name, ()))
            fact.sizes.sort()
            fact.emits.sort()
            fact.consumes, fact.sends = self._ordered(fact.consumes), self._ordered(fact.sends)
        for one in self._enabling.values():
            one.by.sort()
            one.senders, one.receivers = self._in_order(one.senders), self._in_order(one.receivers)

    @property
    def transitions(self) -> list[TransitionFacts]:
        return list(self._known.values())

    @property
    def enabling(self) -> list[Enabling]:
        """In the order of the transitions."""
        place = {name: number for number, name in enumerate(self._known)}
        return sorted(self._enabling.values(), key=lambda one: (place[one.source], place[one.target], one.kind))

    def never_consumed(self) -> Traffic:
        """Type of message -> the receivers that never consume what they may get of it."""
        found: Traffic = {}
        for column in self.definition.processes:
            types: dict[str, bool] = {}
            for (receiver, number), _ in self._sent.items():
                if receiver == column.index:
                    kind = type(self.model.message(column, number)).__name__
                    types[kind] = types.get(kind, False) or (receiver, number) in self._taken
            for kind in sorted(kind for kind, consumed in types.items() if not consumed):
                _add(found, kind, [column.name])
        return found

    def _declare(self, column: Column, transition: Transition) -> None:
        name = str(transition)
        fact = self._known.setdefault(
            name, TransitionFacts(name, transition.mode or transition.kind, transition.keep, [])
        )
        fact.processes.append(column.name)
        if not self.closed and transition.message is not None:
            fact.consumes = {transition.message.__name__: []}

    def _read(self, column: Column) -> None:
        transitions = self.definition.transitions(column)
        behaviours = self.model.engine.behaviours(column.index)
        possible: dict[int, set[tuple[int, tuple[int, ...]]]] = {}
        moves: dict[tuple[int, int], dict[int, None]] = {}
        used: set[tuple[int, int]] = set()
        for each in behaviours:
            local, which, consumed = each.local, each.transition, each.consumed
            fact = self._known[str(transitions[which])]
            fact.behaviours += 1
            used.add((which, local))
            possible.setdefault(local, set()).add((which, tuple(consumed)))
            senders = self._consume(fact, column, consumed)
            for outcome in each.outcomes:
                fact.may_fail |= outcome.effect is Effect.fails
                if outcome.local is not None:
                    moves.setdefault((local, outcome.local), {}).setdefault(which)
                    self._send(fact, column, senders, outcome.sends)
        for which, _ in used:
            self._known[str(transitions[which])].local_states += 1
        for (before, after), causes in moves.items():
            for which in {each for each, _ in possible.get(after, set()) - possible.get(before, set())}:
                for cause in causes:
                    pair = str(transitions[cause]), str(transitions[which])
                    self._enables(*pair, "local", None, column, column)

    def _consume(self, fact: TransitionFacts, column: Column, consumed: list[int]) -> set[int]:
        senders: set[int] = set()
        for number in consumed:
            message = self.model.message(column, number)
            assert isinstance(message, Message)
            sender = column_of(message.sender)
            senders.add(sender)
            _add(fact.consumes, type(message).__name__, [self.definition.columns[sender].name])
            self._taken.setdefault((column.index, number), {}).setdefault(fact.name)
        if fact.mode not in ("start", "step", "on"):
            if len(consumed) not in fact.sizes:
                fact.sizes.append(len(consumed))
            self._senders.setdefault(fact.name, set()).add((column.index, *sorted(senders)))
        return senders

    def _send(self, fact: TransitionFacts, column: Column, senders: set[int], sent: list[tuple[int, int]]) -> None:
        for receiver, number in sent:
            to = self.definition.columns[receiver]
            kind = type(self.model.message(to, number)).__name__
            if to.is_monitor:
                if kind not in fact.emits:
                    fact.emits.append(kind)
                continue
            to = self.definition.receiver(receiver)
            _add(fact.sends, kind, [to.name])
            if to.index not in senders:
                self._only_replies[fact.name] = False
            self._sent.setdefault((receiver, number), {}).setdefault((fact.name, column.index))

    def _connect(self) -> None:
        for place, takers in self._taken.items():
            receiver = self.definition.columns[place[0]]
            kind = type(self.model.message(receiver, place[1])).__name__
            for source, sender in self._sent.get(place, {}):
                for taker in takers:
                    self._enables(source, taker, "message", kind, self.definition.columns[sender], receiver)

    def _enables(
        self, source: str, target: str, how: Literal["message", "local"], by: str | None, one: Column, two: Column
    ) -> None:
        found = self._enabling.setdefault((source, target, how), Enabling(source, target, how, [], [], []))
        for names, name in ((found.by, by), (found.senders, one.name), (found.receivers, two.name)):
            if name is not None and name not in names:
                names.append(name)

    def _ordered(self, traffic: Traffic) -> Traffic:
        return {kind: self._in_order(traffic[kind]) for kind in sorted(traffic)}

    def _in_order(self, processes: Iterable[str]) -> list[str]:
        """As the system spawns them, whatever was met first."""
        found = set(processes)
        return [column.name for column in self.definition.columns if column.name in found]


def _add(traffic: Traffic, kind: str, processes: Iterable[str]) -> None:
    known = traffic.setdefault(kind, [])
    known += [name for name in processes if name not in known]
