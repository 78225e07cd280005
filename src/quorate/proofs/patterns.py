"""Who may be spoken of together: one process, two, a message and its sender, its receiver, whom it names or anyone, two
messages. Patterns know roles and types, and nothing of any protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from quorate.language.message import Crash
from quorate.model.definition import Column
from quorate.proofs.cells import is_cell
from quorate.proofs.encode import Encoded
from quorate.proofs.expressions import expressions
from quorate.proofs.leaves import Slots
from quorate.proofs.machine import Channel
from quorate.proofs.propositions import Class, columns_of, senders_of
from quorate.proofs.terms import Term, equal, lt, number, var

Relation = Literal[
    "any",
    "other",
    "sender",
    "receiver",
    "not receiver",
    "named",
    "element",
    "same sender",
    "by receiver",
    "elsewhere",
]


@dataclass(frozen=True)
class Role:
    """Somebody or something that a pattern speaks of."""

    name: str
    kind: Literal["process", "sent", "pending", "element"]
    cls: type
    relation: Relation = "any"
    to: str = ""
    """The role that the relation is to, or the field that names it."""


@dataclass(frozen=True)
class Pattern:
    roles: tuple[Role, ...]

    @property
    def klass(self) -> Class:
        if any(role.kind in ("sent", "pending") for role in self.roles):
            return "MF"
        return "SV" if sum(role.kind == "process" for role in self.roles) > 1 else "D"


@dataclass(frozen=True)
class Bound:
    """What a role is in one instance."""

    role: Role
    column: Column
    channel: Channel | None = None
    leaves: tuple[Term, ...] = ()


def patterns(encoded: Encoded) -> Iterator[Pattern]:
    """Who may be spoken of together in this system."""
    classes = list(dict.fromkeys(column.cls for column in encoded.definition.processes))
    sent = [cls for cls in dict.fromkeys(each.cls for each in encoded.machine.channels.values()) if cls is not Crash]

    def p(name: str, cls: type, relation: Relation = "any", to: str = "") -> Role:
        return Role(name, "process", cls, relation, to)

    def sets(cls: type) -> list[str]:
        """Fields whose elements are unknown integers."""
        column = next(each for each in encoded.definition.columns if each.cls is cls)
        return [
            each.name
            for each in encoded.machine.fields[column.index]
            if isinstance(each.shape, Slots) and each.shape.kind == "set"
        ]

    for monitor in (each for each in encoded.definition.monitors if not is_cell(each)):
        yield Pattern((p("w", monitor.cls),))
        for cls in classes:
            yield Pattern((p("w", monitor.cls), p("p", cls)))
    for cls in classes:
        yield Pattern((p("p", cls),))
        for field in sets(cls):
            yield Pattern((p("p", cls), Role("v", "element", cls, "element", field)))
    for one, two in product(classes, repeat=2):
        if one is not two or len(columns_of(encoded, one)) > 1:
            yield Pattern((p("p", one), p("q", two, "other")))
            for field in sets(one):
                yield Pattern((p("p", one), Role("v", "element", one, "element", field), p("q", two, "other")))
    for kind in sent:
        m = Role("m", "sent", kind)
        yield Pattern((m,))
        owners = list(dict.fromkeys(column.cls for column, _ in senders_of(encoded, kind)))
        for owner in owners:
            yield Pattern((m, p("p", owner, "sender")))
        for other in classes:
            yield Pattern((m, p("p", other, "any")))
        for name, part in zip(encoded.machine.message(kind).names, encoded.machine.message(kind).parts, strict=True):
            if any(each.kind == "pid" for each in expressions(part, [var("x", s) for _, s in part.leaves], "x")):
                for other in classes:
                    yield Pattern((m, p("p", other, "named", name)))
        w = Role("m", "pending", kind)
        receivers = list(dict.fromkeys(e.receiver.cls for e in encoded.machine.channels.values() if e.cls is kind))
        for owner in receivers:
            yield Pattern((w, p("p", owner, "receiver")))
            if len(columns_of(encoded, owner)) > 1:
                yield Pattern((w, p("p", owner, "not receiver")))
        for other in owners:
            yield Pattern((w, p("p", other, "sender")))
        for second in sent:
            n = Role("n", "sent", second, "same sender")
            if any(a is b for a, _ in senders_of(encoded, kind) for b, _ in senders_of(encoded, second)):
                yield Pattern((m, n))
            yield Pattern((m, Role("n", "sent", second)))
            yield Pattern((w, Role("n", "sent", second, "by receiver")))
            yield Pattern((w, Role("n", "sent", second)))
            yield Pattern((w, Role("n", "pending", second, "elsewhere")))


def bindings(encoded: Encoded, pattern: Pattern) -> Iterator[tuple[Bound, ...]]:
    """The instances of a pattern."""
    machine = encoded.machine

    def extend(done: tuple[Bound, ...]) -> Iterator[tuple[Bound, ...]]:
        if len(done) == len(pattern.roles):
            yield done
            return
        role = pattern.roles[len(done)]
        if role.kind == "element":
            owner = done[-1].column
            field = next(each for each in machine.fields[owner.index] if each.name == role.to)
            assert isinstance(field.shape, Slots)
            for at in range(field.shape.slots):
                leaves = tuple(field.shape._split(field.terms)[at])
                there = var(f"{field.terms[0].args[0]}", "Int")
                yield from extend((*done, Bound(role, owner, None, (*leaves, there, number(at)))))
        elif role.kind == "process":
            for column in columns_of(encoded, role.cls):
                if _fits(role, column, done):
                    yield from extend((*done, Bound(role, column)))
        else:
            shape = machine.message(role.cls)
            leaves = tuple(var(f":{role.name}{suffix}", sort) for suffix, sort in shape.leaves)
            if role.kind == "pending":
                for channel in machine.channels.values():
                    here = done[0].channel if done else None
                    if role.relation == "elsewhere" and here is not None and channel.receiver is here.receiver:
                        continue
                    if channel.cls is role.cls:
                        yield from extend((*done, Bound(role, channel.sender, channel, leaves)))
            else:
                for column, _ in senders_of(encoded, role.cls):
                    if _fits(role, column, done):
                        yield from extend((*done, Bound(role, column, None, leaves)))

    yield from extend(())


def _fits(role: Role, column: Column, done: tuple[Bound, ...]) -> bool:
    first = done[0] if done else None
    if role.relation == "other":
        return all(column is not each.column for each in done if each.role.kind == "process")
    if first is None:
        return True
    if role.relation in ("sender", "same sender"):
        return column is first.column
    if role.relation in ("receiver", "by receiver"):
        return first.channel is not None and column is first.channel.receiver
    if role.relation == "not receiver":
        return first.channel is not None and column is not first.channel.receiver
    return True


def wider(pattern: Pattern) -> Iterator[Pattern]:
    """Patterns of which this one is a special case, with the same names: a clause about those is one about these."""
    for at, role in enumerate(pattern.roles):
        if role.relation in ("sender", "receiver", "named", "same sender", "by receiver"):
            wide = Role(role.name, role.kind, role.cls)
            yield Pattern((*pattern.roles[:at], wide, *pattern.roles[at + 1 :]))
        if role.kind == "pending":
            # The receiver of a message is one of those that it was sent to.
            wide = Role(role.name, "sent", role.cls, role.relation, role.to)
            rest = [
                Role(each.name, each.kind, each.cls) if each.relation in ("receiver", "by receiver") else each
                for each in pattern.roles
            ]
            yield Pattern((*rest[:at], wide, *rest[at + 1 :]))
        if len(pattern.roles) > 1:
            fewer = tuple(each for other, each in enumerate(pattern.roles) if other != at)
            if role.kind != "element" and all(each.relation in ("any", "element") for each in fewer[:1]):
                yield Pattern((Role(fewer[0].name, fewer[0].kind, fewer[0].cls), *fewer[1:]))


def conditions(bound: tuple[Bound, ...]) -> Iterator[Term]:
    """What has to be so for the roles to be related as the pattern says, where that is not certain."""
    for each in bound:
        if each.role.kind == "element":
            yield lt(each.leaves[-1], each.leaves[-2])
        if each.role.relation == "named":
            first = bound[0]
            named = [leaf for leaf in first.leaves if leaf.args[0].startswith(f":m.{each.role.to}")]
            yield equal(named[0], number(each.column.index))


def written(pattern: Pattern, clause: str, name: str) -> str:
    """The lemma as a method that can be pasted into the system."""
    parameters, unless = [], []
    first = pattern.roles[0]
    processes = [role for role in pattern.roles if role.kind == "process"]
    element = next((role for role in pattern.roles if role.kind == "element"), None)
    for role in pattern.roles:
        if role.kind == "element":
            continue
        shown = f"Pending[{role.cls.__name__}]" if role.kind == "pending" else role.cls.__name__
        parameters.append(f"{role.name}: {shown}")
        if role.relation == "other":
            unless += [
                f"{role.name} is {each.name}"
                for each in processes
                if each is not role and processes.index(each) < processes.index(role) and _alike(each.cls, role.cls)
            ]
        elif role.relation == "sender":
            unless.append(f"{first.name}.sender != {role.name}.pid")
        elif role.relation == "receiver":
            unless.append(f"{first.name}.to != {role.name}.pid")
        elif role.relation == "not receiver":
            unless.append(f"{first.name}.to == {role.name}.pid")
        elif role.relation == "elsewhere":
            unless.append(f"{first.name}.to == {role.name}.to")
        elif role.relation == "named":
            unless.append(f"{first.name}.{role.to} != {role.name}.pid")
        elif role.relation == "same sender":
            unless.append(f"{first.name}.sender != {role.name}.sender")
        elif role.relation == "by receiver":
            unless.append(f"{first.name}.to != {role.name}.sender")
    body = clause
    if element is not None:
        body = f"all({body} for {element.name} in {first.name}.{element.to})"
    body = " or ".join(unless) if unless and body == "False" else " or ".join([*unless, body])
    return f"@lemma\ndef {name}(self, {', '.join(parameters)}) -> bool:\n    return {body}\n"


def _alike(one: type, two: type) -> bool:
    return issubclass(one, two) or issubclass(two, one)
