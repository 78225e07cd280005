"""Processes of two roles that look at identities: what has two names taken apart has one name as a whole.

Roles keep, compare, send and group identities; a role reads what may be another's field; a class adds something to its
roles, or begins otherwise; links name one role, several, or the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handlers import DECLARED
from .protocol import NONE, Action, Class, Connect, Faults, Field, Network, Node, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing

ME = node("me")
SENDER = node("m", "sender")


def parties(drawing: Drawing) -> Protocol:
    d = drawing.dice
    named = d.chance(60)
    kinds = (Field("a", "pid"),) if named else ()
    drawing.records[:] = [Record("Ping", None, kinds if d.chance(50) else ()), Record("Vote", None, _renamed(kinds))]
    drawing.events[:] = []
    drawing.monitors[:] = []
    if d.chance(30):
        _watch(drawing)
    drawing.network = Network(d.one(("fifo", "multiset"))) if d.chance(20) else Network()
    if d.chance(90):
        drawing.faults = Faults()
    alpha, beta = _alpha(drawing), _beta(drawing)
    peeks = any(each.op == "peek" for action in alpha.actions for each in _nodes(action))
    alpha = alpha._replace(constants=(("u", 0),)) if peeks else alpha
    order = ("Beta", "Alpha") if peeks or d.chance(50) else ("Alpha", "Beta")
    server = Class("Server", order)
    way = d.weighted({"": 8, "field": 1, "step": 1, "default": 1, "handler": 2, "within": 1})
    given: tuple[tuple[str, Node], ...] = ()
    more = node("set", "x", node("int", 2))
    if way == "field":
        grow = node("set", "z", node("plus", node("self", "z"), 1, 1))
        server = server._replace(fields=(Field("z", "int", node("int", 0)),))
        if d.chance(70):
            server = server._replace(actions=(Action("do9_z", "start", (grow, more)),))
    elif way == "step":
        server = server._replace(actions=(Action("do9_z", "start", (more,)),))
    elif way == "default":
        if d.chance(50):
            server = server._replace(overrides=((d.one(("x", "u")), node("int", 1)),))
        else:
            given = ((d.one(("x", "u")), node("choose", (node("int", 0), node("int", 1)))),)
    elif way == "handler":
        old = d.one((*alpha.actions, *beta.actions))
        new = old._replace(body=(*old.body[:1], more))
        if old.kind == "on" and d.chance(60):  # the same body, but the message stays
            new = old._replace(keep=not old.keep)
        server = server._replace(actions=(new,))
    elif way == "within":
        bound = node("lt", node("self", d.one(("x", "u"))), node("int", d.between(1, 2)))
        if d.chance(50):
            server = server._replace(within=bound)
        else:
            alpha = alpha._replace(within=node("lt", node("self", "x"), node("int", d.between(1, 2))))
    spawns = [Spawn("Server", 2, given)]
    everyone = node("group", 0)
    if d.chance(12):
        spawns.append(Spawn(d.one(("Alpha", "Beta"))))
        everyone = node("group", 0, 1)
    connects = [
        Connect(number, None, f"to_{letter}", _link(drawing, everyone, role))
        for number, each in enumerate(spawns)
        for letter, role, mine in (("x", "Beta", "Alpha"), ("u", "Alpha", "Beta"))
        if each.cls in ("Server", mine)
    ]
    if any(f.name == "of_x" for f in alpha.fields):
        connects += [
            Connect(number, None, "of_x", _link(drawing, everyone, "Beta", 40))
            for number, each in enumerate(spawns)
            if each.cls in ("Server", "Alpha")
        ]
    corrupt = ((0, 1),) if d.chance(4 if named else 10) else ()
    if corrupt:
        drawing.environment = DECLARED
    return drawing._protocol([alpha, beta, server], spawns, connects, corrupt)


def _nodes(action: Action) -> list[Node]:
    from .protocol import nodes_in

    return nodes_in(tuple(action))


def _renamed(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(f._replace(name="b") for f in fields)


def _watch(drawing: Drawing) -> None:
    d = drawing.dice
    drawing.events.append(Record("Seen", None, (Field("v", "pid"),), is_event=True))
    again = node("eq", node("self", "n"), node("m", "v"))
    seen = node("set", "k", node("plus", node("self", "k"), 1, 2))
    body = d.one(
        (
            (node("if", again, (seen,), (node("set", "n", node("m", "v")),)),),
            (node("set", "n", node("m", "v")),),
            (node("if", node("ne", node("self", "n"), node("m", "v")), (seen,), ()), node("set", "n", node("m", "v"))),
        )
    )
    fields = (Field("k", "int", node("int", 0)), Field("n", "maybe", NONE))
    watch = Class("Watch", fields=fields, actions=(Action("told", "on", body, "Seen"),), is_monitor=True)
    drawing.monitors.append(watch)


def _link(drawing: Drawing, group: Node, role: str, odd: float = 10) -> Node:
    """Mostly the role that is meant."""
    d = drawing.dice
    if not d.chance(odd):
        return node("playing", group, role)
    other = "Alpha" if role == "Beta" else "Beta"
    both = node("union", node("playing", group, "Alpha"), node("playing", group, "Beta"))
    return d.one((node("playing", group, other), both, both, group))


def _same(drawing: Drawing, letter: str, message: bool, said: str = "") -> Node:
    """Whether two identities are the same."""
    d = drawing.dice
    known = [node("self", f"maybe_{letter}")]
    if message:
        known += [SENDER, SENDER] + ([node("m", said)] * 2 if said else [])
    return node(d.one(("eq", "eq", "ne")), d.one(known), d.one([ME, ME, *known]))


def _said(drawing: Drawing, record: str) -> str:
    fields = next(each.fields for each in drawing.records if each.name == record)
    return fields[0].name if fields else ""


def _make(drawing: Drawing, record: str, letter: str, message: str | None) -> Node:
    d = drawing.dice
    if not _said(drawing, record):
        return node("make", record, ())
    known = [ME]
    if message is not None:
        known += [SENDER, SENDER, *([node("m", message)] if message else [])]
    return node("make", record, (d.one(known),))


def _tell(drawing: Drawing, message: str | None) -> tuple[Node, ...]:
    d = drawing.dice
    if not drawing.events or not d.chance(60):
        return ()
    known = [ME] + ([SENDER, *([node("m", message)] if message else [])] if message is not None else [])
    return (node("emit", node("make", "Seen", (d.one(known),))),)


def _change(drawing: Drawing, letter: str, message: bool, said: str) -> Node:
    d = drawing.dice
    field = node("self", letter)
    some = node("set", letter, d.one((node("int", 1), node("plus", field, 1, 2))))
    if d.chance(50):
        return node("if", _same(drawing, letter, message, said), (some,), ())
    if d.chance(30) and message:
        return node("set", f"maybe_{letter}", d.one((SENDER, *([node("m", said)] if said else []))))
    return some


def _alpha(drawing: Drawing) -> Class:
    d = drawing.dice
    said = _said(drawing, "Vote")
    start: list[Node] = [node("send", node("self", "to_x"), _make(drawing, "Ping", "x", None)), *_tell(drawing, None)]
    if d.chance(55):  # just one of them
        chosen = node("choose", "maybe_x", node("members", node("self", "to_x")))
        start[0] = start[0]._replace(args=(node("self", "maybe_x"), start[0].args[1]))
        start.insert(0, chosen)
    elif d.chance(40):
        start.append(node("set", "maybe_x", ME))
    actions = [Action("do0_x", "start", tuple(start))]
    if d.chance(15):
        seen = node("eq", node("peek", "u", 0), node("int", 1))
        if d.chance(50):
            actions[0] = actions[0]._replace(
                body=(*actions[0].body, node("if", seen, (node("set", "x", node("int", 1)),), ()))
            )
        else:
            actions.append(Action("do1_x", "start", (node("set", "x", node("int", 2)),), when=seen))
    fields = [
        Field("x", "int", node("int", 0)),
        Field("maybe_x", "maybe", NONE),
        Field("to_x", "peers", node("nobody")),
    ]
    if d.chance(40):
        body = (_change(drawing, "x", True, said), *_tell(drawing, said))
        guard = _same(drawing, "x", True, said) if d.chance(35) else None
        actions.append(Action("hear0_x", "on", body, "Vote", guard))
    else:
        fields.append(Field("of_x", "peers", node("nobody")))
        way = d.weighted({"size": 4, "each": 3, "enough": 1})
        when = _same(drawing, "x", False) if d.chance(35) else None
        where = _same(drawing, "x", True, said) if d.chance(35) else None
        body = (node("set", "x", node("size")), *_tell(drawing, None))
        action = Action(
            "hear0_x", "quorum", body, "Vote", when=when, where=where, same=said if said and d.chance(50) else None
        )
        if way == "size":
            action = action._replace(size=d.weighted({1: 1, 2: 4, 3: 1}))
        elif way == "each":
            action = action._replace(each="of_x")
        else:
            action = action._replace(enough=node("le", node("int", d.between(1, 2)), node("size")))
        actions.append(action)
        if d.chance(40):
            kept = node("set", "maybe_x", SENDER)
            actions.append(
                Action("hear1_x", "on", (kept,), "Vote", node("eq", node("self", "maybe_x"), NONE), keep=d.chance(30))
            )
    return Class("Alpha", fields=tuple(fields), actions=tuple(actions))


def _beta(drawing: Drawing) -> Class:
    d = drawing.dice
    said = _said(drawing, "Ping")
    answer = _make(drawing, "Vote", "u", said)
    ways = [node("reply", answer)] * 3 + [node("send", node("self", "to_u"), answer)]
    body = [d.one(ways), _change(drawing, "u", True, said), *_tell(drawing, said)]
    guard = _same(drawing, "u", True, said) if d.chance(25) else None
    if d.chance(45):  # just once
        guard, body = node("eq", node("self", "u"), node("int", 0)), [*body, node("set", "u", node("int", 1))]
    actions = [Action("hear0_u", "on", tuple(body), "Ping", guard)]
    if d.chance(20):
        first = node("send", node("self", "to_u"), _make(drawing, "Vote", "u", None))
        actions.append(Action("do0_u", "start", (first, *_tell(drawing, None))))
    fields = (
        Field("u", "int", node("int", 0)),
        Field("maybe_u", "maybe", NONE),
        Field("to_u", "peers", node("nobody")),
    )
    return Class("Beta", fields=fields, actions=tuple(actions))
