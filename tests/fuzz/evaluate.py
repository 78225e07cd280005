"""What expressions and statements mean: one small function for each operator.

Values are Python's own: an identity is the text "#3", a value that is only compared the text "$1", a group a frozenset,
a Map a sorted tuple of pairs. Statements are run without side effects: a choice goes on once for each option, so that
the result is simply all that may come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .protocol import Node

Pid = str
Value = Any


class Signed(NamedTuple):
    value: Value
    signer: Pid


class Msg(NamedTuple):
    """A message that was sent, or an event that was emitted."""

    cls: str
    values: tuple[Value, ...]
    names: tuple[str, ...]
    sender: Pid

    def get(self, name: str) -> Value:
        return self.sender if name == "sender" else self.values[self.names.index(name)]


class View(NamedTuple):
    """What a property sees of a process."""

    values: Mapping[str, Value]
    pid: Pid
    crashed: bool


@dataclass(frozen=True)
class Scope:
    """What an expression may refer to."""

    values: Mapping[str, Value]
    me: Pid = ""
    constants: Mapping[str, int] | None = None
    consumed: tuple[Msg, ...] = ()
    names: Mapping[str, tuple[str, ...]] | None = None
    """The fields of every class of messages."""
    processes: Callable[[str], tuple[View, ...]] | None = None
    monitor: Callable[[str], Mapping[str, Value]] | None = None
    one: View | None = None
    flight: Callable[[str, tuple[str, int] | None], tuple[Msg, ...]] | None = None
    """The messages of a class that are in flight, to one process or to all."""


class Effect(NamedTuple):
    """What a body did: fields, messages by receiver, events; or how it failed."""

    values: Mapping[str, Value]
    sends: tuple[tuple[Pid, Msg], ...] = ()
    events: tuple[Msg, ...] = ()
    failure: str = ""


def order(pid: Pid) -> int:
    return int(pid[1:])


def as_map(pairs: Mapping[Pid, Value]) -> tuple[tuple[Pid, Value], ...]:
    return tuple(sorted(pairs.items()))


def _both(a: Node, b: Node, s: Scope) -> Value:
    return value(a, s) and value(b, s)


def _either(a: Node, b: Node, s: Scope) -> Value:
    return value(a, s) or value(b, s)


def _views(cls: str, s: Scope) -> tuple[View, ...]:
    assert s.processes is not None
    return s.processes(cls)


def _holds(condition: Node, view: View, s: Scope) -> bool:
    return bool(value(condition, replace(s, one=view)))


def _make(cls: str, arguments: tuple[Node, ...], s: Scope) -> Msg:
    assert s.names is not None
    return Msg(cls, tuple(value(each, s) for each in arguments), s.names[cls], s.me)


def _monitor(cls: str, field: str, s: Scope) -> Value:
    assert s.monitor is not None
    return s.monitor(cls)[field]


def _in_flight(cls: str, to: tuple[str, int] | None, s: Scope) -> tuple[Msg, ...]:
    assert s.flight is not None
    return s.flight(cls, to)


def _field_of(view: View | None, field: str) -> Value:
    assert view is not None
    return view.values[field]


def _constant(name: str, s: Scope) -> int:
    assert s.constants is not None
    return s.constants[name]


def _note(name: str, *parts: Any) -> bool:
    """Looks at all its parts, and is always true: what was looked at is compared (`compare.py`)."""
    *seen, s = parts
    for each in seen:
        value(each, s)
    return True


def _weighed(cls: str, f: str, of: str, s: Scope) -> int:
    """A sum over processes in which the first of a set counts twice."""
    views = _views(cls, s)
    return sum(each.values[f] * (2 if each.pid == sorted(each.values[of], key=order)[0] else 1) for each in views)


def _one(s: Scope) -> View:
    assert s.one is not None
    return s.one


OPERATORS: dict[str, Callable[..., Value]] = {
    "int": lambda n, s: n,
    "bool": lambda b, s: b,
    "none": lambda s: None,
    "nobody": lambda s: frozenset(),
    "empty": lambda s: (),
    "self": lambda f, s: s.values[f],
    "constant": _constant,
    "peek": lambda f, otherwise, s: s.values.get(f, otherwise),
    "m": lambda f, s: s.consumed[0].get(f),
    "me": lambda s: s.me,
    "plus": lambda a, n, top, s: min(value(a, s) + n, top),
    "cycle": lambda a, n, k, s: (value(a, s) + n) % k,
    "divide": lambda a, b, s: value(a, s) // value(b, s),
    "len": lambda a, s: len(value(a, s)),
    "size": lambda s: len(s.consumed),
    "sum": lambda f, s: sum(m.get(f) for m in s.consumed),
    "top": lambda f, s: max(m.get(f) for m in s.consumed),
    "item": lambda t, i, s: value(t, s)[i],
    "get": lambda t, k, s: dict(value(t, s)).get(value(k, s), 0),
    "lookup": lambda t, k, s: dict(value(t, s))[value(k, s)],
    "eq": lambda a, b, s: value(a, s) == value(b, s),
    "ne": lambda a, b, s: value(a, s) != value(b, s),
    "lt": lambda a, b, s: value(a, s) < value(b, s),
    "le": lambda a, b, s: value(a, s) <= value(b, s),
    "and": _both,
    "or": _either,
    "not": lambda a, s: not value(a, s),
    "if": lambda c, a, b, s: value(a, s) if value(c, s) else value(b, s),
    "in": lambda a, b, s: value(a, s) in value(b, s),
    "among": lambda a, options, s: value(a, s) in options,
    "some": lambda f, n, s: any(m.get(f) == n for m in s.consumed),
    "every": lambda f, n, s: all(m.get(f) == n for m in s.consumed),
    "senders": lambda s: frozenset(m.sender for m in s.consumed),
    "with": lambda a, b, s: value(a, s) | {value(b, s)},
    "less": lambda a, b, s: value(a, s) - {value(b, s)},
    "first": lambda a, s: sorted(value(a, s), key=order)[0],
    "just": lambda pid, s: pid,
    "seal": lambda a, n, s: (value(a, s), n),
    "pair": lambda a, b, s: (value(a, s), value(b, s)),
    "put": lambda t, k, v, s: as_map({**dict(value(t, s)), value(k, s): value(v, s)}),
    "sign": lambda a, s: Signed(value(a, s), s.me),
    "value": lambda a, s: value(a, s).value,
    "signer": lambda a, s: value(a, s).signer,
    "make": _make,
    "draft": lambda cls, arguments, s: _make(cls, arguments, s)._replace(sender=""),
    "whole": lambda s: s.consumed[0],
    "inner": lambda f, name, s: s.consumed[0].get(f).get(name),
    "scalars": lambda n, s: frozenset(f"${i}" for i in range(n)),
    "scalar": lambda i, n, s: f"${i}",
    # What properties look at
    "any": lambda cls, c, s: any(_holds(c, view, s) for view in _views(cls, s)),
    "all": lambda cls, c, s: all(_holds(c, view, s) for view in _views(cls, s)),
    "count": lambda cls, c, s: sum(_holds(c, view, s) for view in _views(cls, s)),
    "total": lambda cls, f, s: sum(view.values[f] for view in _views(cls, s)),
    "row": lambda cls, f, s: tuple(view.values[f] for view in _views(cls, s)),
    "largest": lambda cls, f, s: max(frozenset({view.values[f]}) for view in _views(cls, s)),
    "weighed": _weighed,
    "tuple": lambda *parts: tuple(value(each, parts[-1]) for each in parts[:-1]),
    "single": lambda a, s: frozenset({value(a, s)}),
    "nth": lambda cls, i, f, s: _field_of(_views(cls, s)[i], f),
    "monitor": _monitor,
    "flight": lambda cls, to, s: len(_in_flight(cls, to, s)),
    "flown": lambda cls, to, f, n, s: any(m.get(f) == n for m in _in_flight(cls, to, s)),
    "note": _note,
    "p": lambda f, s: _field_of(s.one, f),
    "name": lambda s: _one(s).pid,
    "crashed": lambda s: _one(s).crashed,
}


def value(node: Node, scope: Scope) -> Value:
    """The value of an expression; raises what Python would raise."""
    return OPERATORS[node.op](*node.args, scope)


def run(body: tuple[Node, ...], effect: Effect, scope: Scope) -> Iterator[Effect]:
    """All that a body may do from here on. A choice among nothing is no way to go on."""
    if not body:
        yield effect
        return
    here = replace(scope, values=effect.values)
    if effect.failure:
        yield effect
        return
    head, rest = body[0], body[1:]
    try:
        ways = [*_ways(head, effect, here)]
    except AssertionError:
        yield effect._replace(failure="assertion")
        return
    except Exception:
        yield effect._replace(failure="exception")
        return
    for more, after in ways:
        yield from run(more + rest, after, scope)


def _ways(head: Node, effect: Effect, s: Scope) -> Iterable[tuple[tuple[Node, ...], Effect]]:
    """The ways to go on after one statement: what is still to be done before the rest, and what was done."""
    values = effect.values
    match head.op, *head.args:
        case ("pass",):
            return [((), effect)]
        case "set", field, expression:
            return [((), effect._replace(values={**values, field: value(expression, s)}))]
        case "choose", field, options:
            return [((), effect._replace(values={**values, field: each})) for each in _options(options, s)]
        case "if", condition, then, otherwise:
            return [(then if value(condition, s) else otherwise, effect)]
        case "send", to, message:
            receivers = value(to, s)
            named = [receivers] if isinstance(receivers, str) else sorted(receivers, key=order)
            sent = value(message, s)
            return [((), effect._replace(sends=(*effect.sends, *((pid, sent) for pid in named))))]
        case "reply", message:
            sent = value(message, s)
            return [((), effect._replace(sends=(*effect.sends, *((m.sender, sent) for m in s.consumed))))]
        case "each", group, inner:
            members = sorted(value(group, s), key=order)
            return [(tuple(_about(one, pid) for pid in members for one in inner), effect)]
        case "emit", event:
            return [((), effect._replace(events=(*effect.events, value(event, s))))]
        case "assert", condition:
            if not value(condition, s):
                raise AssertionError
            return [((), effect)]
        case ("raise",):
            raise ValueError
        case "cheat", _:
            return [((), effect._replace(failure="cheat"))]
    raise NotImplementedError(head.op)


def _about(one: Any, pid: Pid) -> Any:
    """The body of a loop for one identity."""
    if isinstance(one, Node):
        return Node("just", (pid,)) if one.op == "it" else Node(one.op, tuple(_about(part, pid) for part in one.args))
    return tuple(_about(part, pid) for part in one) if isinstance(one, tuple) else one


def _options(options: Node, s: Scope) -> list[Value]:
    if options.op == "options":
        return [value(each, s) for each in options.args]
    if options.op == "range":
        return list(range(value(options.args[0], s)))
    return sorted(value(options.args[0], s), key=order)
