"""What exhaustive attackers can say: every well-typed message, with what they have been shown of others' signatures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .evaluate import Msg, Signed, Value
from .protocol import Field, Protocol

VOUCHED = ("signed", "sealed", "twice")
NUMBERS = (0, 1)
"""The domain of every number in a message; the translation declares it."""


class Arsenal:
    """The messages that attackers can send, by sender, receiver and what they know. Attackers share their keys,
    and tell one another what they learn."""

    def __init__(self, protocol: Protocol, classes: tuple[str, ...], attackers: frozenset[int]) -> None:
        self.protocol = protocol
        self.classes = classes
        self.attackers = attackers
        self.signers = [f"#{index}" for index in sorted(attackers)]
        honest = [index for index in range(len(classes)) if index not in attackers]
        self.taken = {index: self._taken(classes[index]) for index in honest}
        fields = [f for names in self.taken.values() for name in names for f in protocol.record_fields(name)]
        self.learns = bool(attackers) and any(f.type in VOUCHED for f in fields)
        self._made: dict[tuple[int, int, frozenset[Signed]], tuple[Msg, ...]] = {}

    def _taken(self, cls: str) -> list[str]:
        """The classes of messages that a process takes: those it names and their subclasses."""
        wanted = {action.message for action in self.protocol.actions_of(cls)}
        names = [each.name for each in self.protocol.records if not each.is_event]
        return [name for name in names if wanted & set(self.protocol.lineage(name))]

    def sayable(self, attacker: int, receiver: int, known: frozenset[Signed]) -> tuple[Msg, ...]:
        key = attacker, receiver, known
        if key not in self._made:
            self._made[key] = tuple(
                Msg(name, values, tuple(f.name for f in fields), f"#{attacker}")
                for name in self.taken[receiver]
                for fields in [self.protocol.record_fields(name)]
                for values in product(*(self._domain(f, known) for f in fields))
            )
        return self._made[key]

    def news(self, known: frozenset[Signed], message: Msg) -> frozenset[Signed]:
        """What a message shows that others have signed and that was not known."""
        found = {each for each in _vouched(message.values) if each.signer not in self.signers}
        return frozenset(found) - known

    def _domain(self, field: Field, known: frozenset[Signed]) -> list[Value]:
        everyone = [f"#{index}" for index in range(len(self.classes))]
        if field.type == "int":
            return list(NUMBERS)
        if field.type == "bool":
            return [False, True]
        if field.type == "pid":
            return [*everyone]
        if field.type == "maybe":
            return [*everyone, None]
        if field.type == "pair":
            return [*product(everyone, NUMBERS), None]
        if field.type == "signed":
            return [*self._signed(known), None]
        if field.type == "sealed":
            return [*((each, 0) for each in self._signed(known)), None]
        if field.type == "twice":
            own = [Signed(each, pid) for each in self._signed(known) for pid in self.signers]
            return [*own, *(each for each in known if isinstance(each.value, Signed)), None]
        raise ValueError(f"{field.type} has no finite domain")

    def _signed(self, known: frozenset[Signed]) -> list[Signed]:
        own = [Signed(n, pid) for n in NUMBERS for pid in self.signers]
        return own + sorted(each for each in known if not isinstance(each.value, Signed))


def _vouched(value: Value) -> Iterator[Signed]:
    """What was signed inside of a value, however deep."""
    if isinstance(value, Signed):
        yield value
        yield from _vouched(value.value)
    elif isinstance(value, tuple | frozenset):
        for part in value:
            yield from _vouched(part)
