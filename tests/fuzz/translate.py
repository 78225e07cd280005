"""From an abstract protocol to a module in Quorate's language, written as a person would write it."""

from __future__ import annotations

import re
from collections.abc import Callable

from .protocol import Action, Class, Field, Network, Node, Protocol, Record, node, nodes_in

TYPES = {
    "int": "int",
    "bool": "bool",
    "pid": "Pid",
    "maybe": "Pid | None",
    "peers": "frozenset[Pid]",
    "pair": "tuple[Pid, int] | None",
    "map": "Map[Pid, int]",
    "signed": "Signed[int] | None",
    "sealed": "tuple[Signed[int], int] | None",
    "twice": "Signed[Signed[int]] | None",
    "scalar": "Value | None",
    "scalars": "frozenset[Value]",
    "note": "Vote | None",
}
DOMAINS = {
    "int": "Annotated[int, Among(0, 1)]",
    "pair": "tuple[Pid, Annotated[int, Among(0, 1)]] | None",
    "signed": "Signed[Annotated[int, Among(0, 1)]] | None",
    "sealed": "tuple[Signed[Annotated[int, Among(0, 1)]], Annotated[int, Among(0)]] | None",
    "twice": "Signed[Signed[Annotated[int, Among(0, 1)]]] | None",
}
"""In messages: what an attacker may put there."""


class Words:
    """How the parts of an expression are named where it stands."""

    def __init__(self, me: str = "self", message: str = "m") -> None:
        self.me = me
        self.message = message

    def write(self, one: Node) -> str:
        return WRITTEN[one.op](self, *one.args)


NOTE = "look_at"
"""A function that says yes to everything; whoever wants to know what properties see puts another in its place."""

COMPOUND = ["eq", "ne", "lt", "le", "and", "or", "not", "if", "in", "among", "with", "less", "divide", "cycle", "put"]


def _inner(w: Words, one: Node) -> str:
    """An operand, in brackets unless it is a word or a call."""
    text = w.write(one)
    return f"({text})" if one.op in COMPOUND else text


def _infix(operator: str) -> Callable[[Words, Node, Node], str]:
    def write(w: Words, a: Node, b: Node) -> str:
        return f"{_inner(w, a)} {operator} {_inner(w, b)}"

    return write


def _said(w: Words, field: str) -> str:
    return f"{w.message}.source" if field == "sender" and w.message == "e" else f"{w.message}.{field}"


def _is(operator: str, none: str) -> Callable[[Words, Node, Node], str]:
    def write(w: Words, a: Node, b: Node) -> str:
        return f"{_inner(w, a)} {none if b.op == 'none' else operator} {_inner(w, b)}"

    return write


def _make(w: Words, cls: str, arguments: tuple[Node, ...]) -> str:
    return f"{cls}({', '.join(w.write(each) for each in arguments)})"


def _pending(cls: str, to: tuple[str, int] | None) -> str:
    return f"self.pending({cls})" if to is None else f"self.pending({cls}, to=self[{to[0]}][{to[1]}])"


WRITTEN: dict[str, Callable[..., str]] = {
    "int": lambda w, n: str(n),
    "bool": lambda w, b: str(b),
    "none": lambda w: "None",
    "nobody": lambda w: "frozenset()",
    "empty": lambda w: "Map()",
    "self": lambda w, f: f"{w.me}.{f}",
    "constant": lambda w, name: f"{w.me}.{name}",
    "peek": lambda w, f, otherwise: f"{w.me}.{f}",
    "m": _said,
    "me": lambda w: f"{w.me}.pid",
    "plus": lambda w, a, n, top: f"min({_inner(w, a)} + {n}, {top})",
    "cycle": lambda w, a, n, k: f"({_inner(w, a)} + {n}) % {k}" if n else f"{_inner(w, a)} % {k}",
    "divide": _infix("//"),
    "len": lambda w, a: f"len({w.write(a)})",
    "size": lambda w: "len(ms)",
    "sum": lambda w, f: f"sum(m.{f} for m in ms)",
    "top": lambda w, f: f"max(m.{f} for m in ms)",
    "item": lambda w, t, i: f"{_inner(w, t)}[{i}]",
    "get": lambda w, t, k: f"{_inner(w, t)}.get({w.write(k)}, 0)",
    "lookup": lambda w, t, k: f"{_inner(w, t)}[{w.write(k)}]",
    "eq": _is("==", "is"),
    "ne": _is("!=", "is not"),
    "lt": _infix("<"),
    "le": _infix("<="),
    "and": _infix("and"),
    "or": _infix("or"),
    "not": lambda w, a: f"not {_inner(w, a)}",
    "if": lambda w, c, a, b: f"{_inner(w, a)} if {_inner(w, c)} else {_inner(w, b)}",
    "in": _infix("in"),
    "among": lambda w, a, options: f"{_inner(w, a)} in {options}",
    "some": lambda w, f, n: f"any(m.{f} == {n} for m in ms)",
    "every": lambda w, f, n: f"all(m.{f} == {n} for m in ms)",
    "senders": lambda w: "frozenset(m.sender for m in ms)",
    "with": lambda w, a, b: f"{_inner(w, a)} | {{{w.write(b)}}}",
    "less": lambda w, a, b: f"{_inner(w, a)} - {{{w.write(b)}}}",
    "first": lambda w, a: f"tuple({w.write(a)})[0]",
    "it": lambda w: "each",
    "seal": lambda w, a, n: f"({w.write(a)}, {n})",
    "pair": lambda w, a, b: f"({w.write(a)}, {w.write(b)})",
    "put": lambda w, t, k, v: f"{_inner(w, t)} | {{{w.write(k)}: {w.write(v)}}}",
    "sign": lambda w, a: f"{w.me}.sign({w.write(a)})",
    "value": lambda w, a: f"{_inner(w, a)}.value",
    "signer": lambda w, a: f"{_inner(w, a)}.signer",
    "make": _make,
    "draft": _make,
    "whole": lambda w: w.message,
    "inner": lambda w, f, name: f"{w.message}.{f}.{name}",
    "any": lambda w, cls, c: f"any({w.write(c)} for p in self[{cls}])",
    "all": lambda w, cls, c: f"all({w.write(c)} for p in self[{cls}])",
    "count": lambda w, cls, c: f"sum({w.write(c)} for p in self[{cls}])",
    "total": lambda w, cls, f: f"sum(p.{f} for p in self[{cls}])",
    "row": lambda w, cls, f: f"tuple(p.{f} for p in self[{cls}])",
    "largest": lambda w, cls, f: f"max(frozenset({{p.{f}}}) for p in self[{cls}])",
    "weighed": lambda w, cls, f, of: f"sum(p.{f} * (2 if p.pid == tuple(p.{of})[0] else 1) for p in self[{cls}])",
    "tuple": lambda w, *parts: f"({', '.join(w.write(each) for each in parts)},)",
    "single": lambda w, a: f"frozenset({{{w.write(a)}}})",
    "nth": lambda w, cls, i, f: f"self[{cls}][{i}].{f}",
    "monitor": lambda w, cls, f: f"self[{cls}].{f}",
    "flight": lambda w, cls, to: f"len({_pending(cls, to)})",
    "flown": lambda w, cls, to, f, n: f"any(m.{f} == {n} for m in {_pending(cls, to)})",
    "note": lambda w, name, *parts: f"{NOTE}({', '.join([repr(name), *(w.write(each) for each in parts)])})",
    "p": lambda w, f: f"p.{f}",
    "name": lambda w: "p.pid",
    "crashed": lambda w: "p.crashed",
}

HANDLER = Words()

CHEATS = {
    "remember": ["SEEN.append(1)"],
    "change": ['object.__setattr__(m, "a", 1 - m.a)'],
    "undeclared": ["self.more = 1"],
    "mutable": ["self.kept = [1]"],
}
"""What a handler must not do."""


def _statements(body: tuple[Node, ...], w: Words, indent: str) -> list[str]:
    lines: list[str] = []
    for one in body:
        match one.op, *one.args:
            case ("pass",):
                lines.append("pass")
            case "set", field, expression:
                lines.append(f"self.{field} = {w.write(expression)}")
            case "choose", field, options:
                lines.append(f"self.{field} = self.choose({_options(options, w)})")
            case "if", condition, then, otherwise:
                lines.append(f"if {w.write(condition)}:")
                lines += [f"    {line}" for line in _statements(then or (Node("pass"),), w, "")]
                if otherwise:
                    lines.append("else:")
                    lines += [f"    {line}" for line in _statements(otherwise, w, "")]
            case "send", to, message:
                lines.append(f"self.send({w.write(to)}, {w.write(message)})")
            case "reply", message:
                lines.append(f"self.reply({w.write(message)})")
            case "each", group, inner:
                lines.append(f"for each in {w.write(group)}:")
                lines += [f"    {line}" for line in _statements(inner or (Node("pass"),), w, "")]
            case "cheat", way:
                lines += CHEATS[way]
            case "emit", event:
                lines.append(f"self.emit({w.write(event)})")
            case "assert", condition:
                lines.append(f"assert {w.write(condition)}")
            case ("raise",):
                lines.append('raise ValueError("as drawn")')
    return [indent + line for line in lines]


def _options(options: Node, w: Words) -> str:
    if options.op == "options":
        return f"({', '.join(w.write(each) for each in options.args)},)"
    return f"range({w.write(options.args[0])})" if options.op == "range" else w.write(options.args[0])


def _action(action: Action, is_monitor: bool) -> list[str]:
    w = Words(message="e" if is_monitor else "m")
    arguments: list[str] = []
    if action.message is not None:
        arguments.append(action.message)
    of = "self, m" if action.kind == "on" else "self"
    if is_monitor:
        of = "self, e"
    for name, given in (("size", action.size), ("each", action.each)):
        if isinstance(given, Node):
            arguments.append(f"{name}=lambda self: {w.write(given)}")
        elif given is not None:
            arguments.append(f"{name}={given!r}")
    if action.enough is not None:
        arguments.append(f"enough=lambda self, ms: {w.write(action.enough)}")
        if action.sets != "minimal":
            arguments.append(f'sets="{action.sets}"')
    if action.when is not None:
        arguments.append(f"when=lambda {of}: {w.write(action.when)}")
    if action.where is not None:
        arguments.append(f"where=lambda self, m: {w.write(action.where)}")
    if action.same is not None:
        arguments.append(f"same={action.same!r}")
    if action.keep:
        arguments.append("keep=True")
    given_to = {"on": f", {w.message}: {action.message}", "quorum": f", ms: frozenset[{action.message}]"}
    brackets = f"({', '.join(arguments)})" if arguments else ""
    return [
        "",
        f"    @{action.kind}{brackets}",
        f"    def {action.name}(self{given_to.get(action.kind, '')}) -> None:",
        *_statements(action.body, w, "        "),
    ]


def _class(each: Class) -> list[str]:
    bases = ", ".join(each.bases) or ("Monitor" if each.is_monitor else "Process")
    lines = [f"class {each.name}({bases}{', byzantine=True' if each.byzantine else ''}):"]
    lines += [f"    {name} = {value}" for name, value in each.constants]
    if each.durable:
        lines.append(f"    durable = {each.durable!r}")
    lines += [_field(field) for field in each.fields]
    lines += [f"    {name} = {HANDLER.write(default)}" for name, default in each.overrides]
    for action in each.actions:
        lines += _action(action, each.is_monitor)
    if each.within is not None:
        lines += ["", "    def within(self) -> bool:", f"        return {HANDLER.write(each.within)}"]
    return lines if len(lines) > 1 else [*lines, "    pass"]


def _field(field: Field) -> str:
    default = "" if field.default is None else f" = {HANDLER.write(field.default)}"
    return f"    {field.name}: {TYPES[field.type]}{default}"


def _record(record: Record) -> list[str]:
    base = record.base or ("Event" if record.is_event else "Message")
    lines = [f"class {record.name}({base}):"]
    lines += [f"    {field.name}: {DOMAINS.get(field.type, TYPES[field.type])}" for field in record.fields]
    return lines if len(lines) > 1 else [*lines, "    pass"]


def _network(network: Network) -> str:
    plain = Network(network.kind)
    given = [
        f"{name}={value!r}"
        for name, value in network._asdict().items()
        if name != "kind" and value != plain._asdict()[name]
    ]
    return f"{network.kind}({', '.join(given)})"


def _system(protocol: Protocol) -> list[str]:
    lines = ["class Drawn(System):"]
    if protocol.network != Network():
        lines.append(f"    network = {_network(protocol.network)}")
    faults = protocol.faults
    if faults.crashes:
        given = [repr(faults.crashes)]
        given += [f"of={faults.of[0]}"] if faults.of else []
        given += [] if faults.cut_short else ["cut_short=False"]
        given += ["recover=True"] if faults.recover else []
        given += [f"down={faults.down}"] if faults.down is not None else []
        given += ["redeliver=True"] if faults.redeliver else []
        lines.append(f"    faults = crashes({', '.join(given)})")
    lines += [""] if len(lines) > 1 else []
    lines.append("    def build(self) -> None:")
    counts = {each.args[0] for each in nodes_in(protocol.connects) if each.op == "scalars"}
    lines += [f"        values = self.scalars(Value, {count})" for count in counts]
    names = [f"{each.cls.lower()}_{number}" for number, each in enumerate(protocol.spawns)]
    for name, each in zip(names, protocol.spawns, strict=True):
        arguments = [each.cls] + ([str(each.count)] if each.count is not None else [])
        arguments += [f"{field}={_given(value, protocol, names)}" for field, value in each.given]
        lines.append(f"        {name} = self.spawn({', '.join(arguments)})")
    for link in protocol.connects:
        whom = names[link.spawn]
        if link.which is not None and protocol.spawns[link.spawn].count is not None:
            whom = f"tuple({whom})[{link.which}]"
        lines.append(f"        self.connect({whom}, {link.field}={_given(link.value, protocol, names)})")
    for sent in protocol.posted:
        to, sender = (_given(node("process", *protocol.places[at]), protocol, names) for at in (sent.to, sent.sender))
        values = ", ".join(_given(value, protocol, names) for value in sent.values)
        lines.append(f"        self.send({to}, {sent.record}({values}), sender={sender})")
    for spawn, count in protocol.corrupt:
        many = f", {count}" if protocol.spawns[spawn].count is not None else ""
        lines.append(f"        self.corrupt({names[spawn]}{many})")
    lines += [f"        self.watch({each.name})" for each in protocol.monitors]
    if protocol.within is not None:
        lines += ["", "    def within(self) -> bool:", f"        return {HANDLER.write(protocol.within)}"]
    for claim in protocol.properties:
        lines += ["", f"    @{claim.kind}", f"    def {claim.name}(self) -> bool:"]
        lines.append(f"        return {HANDLER.write(claim.claim)}")
    return lines


def _given(value: Node, protocol: Protocol, names: list[str]) -> str:
    """A value in `build`."""
    if value.op == "choose":
        return f"self.choose(({', '.join(_given(each, protocol, names) for each in value.args[0])},))"
    if value.op == "process":
        spawn, which = value.args
        return names[spawn] if protocol.spawns[spawn].count is None else f"tuple({names[spawn]})[{which}]"
    if value.op == "group":
        groups = [
            names[each] if protocol.spawns[each].count is not None else f"Peers([{names[each]}])" for each in value.args
        ]
        return groups[0] if len(groups) == 1 else f"Peers({' | '.join(groups)})"
    if value.op == "union":
        return f"Peers({' | '.join(_given(each, protocol, names) for each in value.args)})"
    if value.op == "scalars":
        return "values"
    if value.op == "scalar":
        return f"sorted(values, key=str)[{value.args[0]}]"
    if value.op == "playing":
        return f"{_given(value.args[0], protocol, names)}.playing({value.args[1]})"
    return HANDLER.write(value)


PUBLIC = (
    "Among", "Crash", "Event", "Map", "Message", "Monitor", "Peers", "Pid", "Process", "Scalar", "Signed", "System",
    "can", "crashes", "fifo", "final", "invariant", "multiset", "on", "quorum", "start", "step", "unordered",
)  # fmt: skip


def translate(protocol: Protocol, about: str = "") -> str:
    """The source of a module that defines the system `Drawn`."""
    parts = [_record(each) for each in protocol.records]
    if any(each.op == "scalars" for each in nodes_in(protocol.connects)):
        parts.insert(0, ["class Value(Scalar):", "    pass"])
    parts += [_class(each) for each in (*protocol.monitors, *protocol.classes)]
    parts.append(_system(protocol))
    if any(each.op == "note" for each in nodes_in(protocol.properties)):
        parts.insert(0, [f"def {NOTE}(*what: object) -> bool:", "    return True"])
    body = "\n\n\n".join("\n".join(part) for part in parts)
    if "SEEN" in body:
        body = "SEEN: list[int] = []\n\n\n" + body
    used = [name for name in PUBLIC if re.search(rf"\b{name}\b", body)]
    lines = [f'"""{about}"""', ""] if about else []
    if "Annotated" in body:
        lines += ["from typing import Annotated", ""]
    lines.append(f"from quorate import {', '.join(used)}")
    return "\n".join(lines) + "\n\n\n" + body + "\n"


def size(protocol: Protocol) -> int:
    """How much there is to read, for shrinking."""
    return len(nodes_in(protocol)) + 3 * len(protocol.places)
