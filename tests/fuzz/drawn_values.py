"""Protocols about values that are only compared, and about messages inside of messages.

Voters choose among such values, or are given one; one process compares what it is told, and hands whole messages on,
as they came or made anew. A value that one process has been given, or the first of all, is not like the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .protocol import NONE, Action, Class, Connect, Field, Node, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing


def values(drawing: Drawing) -> Protocol:
    d = drawing.dice
    count = d.weighted({2: 6, 3: 2})
    drawing.records[:] = [Record("Vote", None, (Field("a", "scalar"),)), Record("News", None, (Field("b", "note"),))]
    drawing.events[:] = []
    drawing.monitors[:] = []
    drawing.faults = drawing.faults._replace(recover=False)
    handing = d.chance(65)
    classes = [_voter(drawing), _counter(drawing, handing)]
    spawns = [Spawn("Alpha", d.weighted({2: 7, 1: 2})), Spawn("Beta", 2 if d.chance(12) else None)]
    connects = [
        Connect(0, None, "to_x", node("group", 1)),
        Connect(0, None, "of_x", node("scalars", count)),
        Connect(1, None, "of_u", node("scalars", count)),
    ]
    if d.chance(15):
        connects.append(Connect(0, d.between(0, spawns[0].number - 1), "mine_x", node("scalar", 0, count)))
    if handing:
        classes.append(_reader(drawing))
        spawns.append(Spawn("Gamma", 2 if d.chance(15) else None))
        connects.append(Connect(1, None, "to_u", node("group", 2)))
    else:
        connects.append(Connect(1, None, "to_u", node("group", 0)))
    return drawing._protocol(classes, spawns, connects, ())


def _number(n: int) -> Node:
    return node("int", n)


def _voter(drawing: Drawing) -> Class:
    d = drawing.dice
    own = node("self", "mine_x")
    chosen = node("choose", "mine_x", node("members", node("self", "of_x")))
    if d.chance(10):
        chosen = node("set", "mine_x", node("first", node("self", "of_x")))
    vote = node("send", node("self", "to_x"), node("make", "Vote", (own,)))
    actions = [Action("do0_x", "start", (node("if", node("eq", own, NONE), (chosen,), ()), vote))]
    if d.chance(35):
        again = (node("choose", "mine_x", node("members", node("self", "of_x"))), vote, node("set", "x", _number(1)))
        actions.append(Action("do1_x", "step", again, when=node("eq", node("self", "x"), _number(0))))
    if d.chance(35):  # what it is told in return
        body: tuple[Node, ...] = (node("set", "x", _number(2)),)
        guard = node("eq", node("m", "a"), own) if d.chance(60) else None
        actions.append(Action("hear0_x", "on", body, "Vote", guard))
    if d.chance(25):  # or a whole message, perhaps its own
        back = node("eq", node("inner", "b", "a"), own)
        actions.append(Action("hear1_x", "on", (node("set", "x", node("if", back, _number(1), _number(2))),), "News"))
    fields = (
        Field("x", "int", _number(0)),
        Field("mine_x", "scalar", NONE),
        Field("of_x", "scalars", node("nobody")),
        Field("to_x", "peers", node("nobody")),
    )
    return Class("Alpha", fields=fields, actions=tuple(actions))


def _counter(drawing: Drawing, handing: bool) -> Class:
    d = drawing.dice
    known, told = node("self", "got_u"), node("m", "a")
    more = node("set", "u", node("plus", node("self", "u"), 1, 2))
    actions: list[Action] = []
    way = d.weighted({"first": 4, "last": 2, "same": 4, "two": 2, "one": 1})
    hand_on: tuple[Node, ...] = ()
    if handing or d.chance(20):
        inner = node("whole") if d.chance(65) else node("draft", "Vote", (d.one((told, known)),))
        if d.chance(8):
            inner = NONE
        hand_on = (node("send", node("self", "to_u"), node("make", "News", (inner,))),)
    kept = (node("set", "kept_u", node("whole")),) if d.chance(30) else ()
    if way == "first":
        differs = node("if", node("eq", told, known), (more,), (node("set", "uu", _number(1)),))
        first = node("if", node("eq", known, NONE), (node("set", "got_u", told),), (differs,))
        actions.append(Action("hear0_u", "on", (first, *kept, *hand_on), "Vote"))
    elif way == "last":
        actions.append(Action("hear0_u", "on", (node("set", "got_u", told), more, *kept, *hand_on), "Vote"))
    elif way == "one":  # one of the values is not like the others
        is_first = node("eq", told, node("first", node("self", "of_u")))
        actions.append(Action("hear0_u", "on", (node("if", is_first, (more,), ()), *hand_on), "Vote"))
    else:
        body: tuple[Node, ...] = (more,)
        if d.chance(40):
            body = (more, node("reply", node("make", "Vote", (known,))))
        actions.append(Action("hear0_u", "quorum", body, "Vote", size=2, same="a" if way == "same" else None))
        actions.append(Action("hear1_u", "on", (node("set", "got_u", told), *kept, *hand_on), "Vote",
                              node("eq", known, NONE)))  # fmt: skip
    if kept and d.chance(60):
        equal = node("eq", node("self", "kept_u"), node("whole"))
        actions.append(Action("hear2_u", "on", (node("set", "uu", node("if", equal, _number(1), _number(2))),), "Vote",
                              node("ne", node("self", "kept_u"), NONE)))  # fmt: skip
    fields = (
        Field("u", "int", _number(0)),
        Field("uu", "int", _number(0)),
        Field("got_u", "scalar", NONE),
        Field("kept_u", "note", NONE),
        Field("of_u", "scalars", node("nobody")),
        Field("to_u", "peers", node("nobody")),
    )
    return Class("Beta", fields=fields, actions=tuple(actions))


def _reader(drawing: Drawing) -> Class:
    """Takes messages out of messages, and compares them."""
    d = drawing.dice
    inside = node("m", "b")
    there = node("ne", inside, NONE)
    seen = node("self", "seen_s")
    body = [
        (node("set", "s", node("if", node("eq", node("inner", "b", "a"), seen), _number(2), _number(1))),),
        (node("set", "seen_s", node("inner", "b", "a")), node("set", "s", node("plus", node("self", "s"), 1, 2))),
        (node("set", "s", node("if", node("eq", inside, node("self", "kept_s")), _number(2), _number(1))),
         node("set", "kept_s", inside)),
    ]  # fmt: skip
    actions = [Action("hear0_s", "on", d.one(body), "News", there if d.chance(80) else None)]
    if d.chance(25):
        actions = [Action("hear0_s", "quorum", (node("set", "s", node("size")),), "News", size=d.between(1, 2),
                          same="b" if d.chance(50) else None)]  # fmt: skip
    fields = (
        Field("s", "int", _number(0)),
        Field("seen_s", "scalar", NONE),
        Field("kept_s", "note", NONE),
    )
    return Class("Gamma", fields=fields, actions=tuple(actions))
