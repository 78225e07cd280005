"""Crowds: several senders, and one process with more messages than it needs.

Twins and steps that make up for others matter where several messages allow the same step, and somebody may still ask
for those that are left over. So some processes say the same or nearly so, and one takes some of what they say, at small
values of a counter; what it does then is alike for most messages, and now and then is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .parts import Draft, Parts
from .protocol import FALSE, PASS, Action, Connect, Field, Network, Node, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing

VOTE, NEWS = "Vote", "News"


def crowd(drawing: Drawing) -> Protocol:
    """A protocol of this style."""
    d = drawing.dice
    if drawing.network == Network() and d.chance(30):
        drawing.network = drawing._network()
    said = (Field("a", "int"),) if d.chance(60) else ()
    told = (Field("b", "int"),) if d.chance(30) else ()
    drawing.records += [Record(VOTE, None, said), Record(NEWS, None, told)]
    senders, taker, reader = Draft("Alpha", "x"), Draft("Beta", "u"), Draft("Gamma", "s")
    with_reader = d.chance(45)
    _fill_sender(drawing, senders)
    _fill_taker(drawing, taker)
    drafts = [senders, taker]
    if with_reader:
        _fill_reader(drawing, reader)
        drafts.append(reader)
    spawns = [Spawn("Alpha", d.weighted({2: 6, 3: 4})), Spawn("Beta")]
    spawns += [Spawn("Gamma", 2 if d.chance(15) else None)] if with_reader else []
    connects = [Connect(0, None, "to_x", node("group", 1))]
    connects.append(Connect(1, None, "to_u", node("group", 2 if with_reader and d.chance(75) else 0)))
    if said and d.chance(75) and not drawing.faults.recover:
        for which in range(spawns[0].number):
            connects.append(Connect(0, which, "x", node("int", d.between(0, 2))))
    classes = [drawing._finished(draft, spare=d.chance(60)) for draft in drafts]
    corrupt = ((0, 1),) if d.chance(4) else ()
    return drawing._protocol(classes, spawns, connects, corrupt)


def _vote(drawing: Parts, draft: Draft) -> Node:
    record = drawing.records[0]
    own = node("self", draft.letter) if drawing.dice.chance(70) else node("int", drawing.dice.between(0, 2))
    return node("make", VOTE, tuple(own for _ in record.fields))


def _news(drawing: Parts, draft: Draft) -> Node:
    record = drawing.records[1]
    own = node("self", draft.letter) if drawing.dice.chance(50) else node("int", drawing.dice.between(0, 2))
    return node("make", NEWS, tuple(own for _ in record.fields))


def _emit(drawing: Parts, draft: Draft) -> Node:
    event = drawing.events[0]
    own = node("self", draft.letter) if drawing.dice.chance(40) else node("int", drawing.dice.between(0, 2))
    return node("emit", node("make", event.name, tuple(own for _ in event.fields)))


def _fill_sender(drawing: Parts, draft: Draft) -> None:
    d = drawing.dice
    draft.fields += [Field("x", "int", node("int", 0)), Field("xx", "int", node("int", 0))]
    draft.fields.append(Field("to_x", "peers", node("nobody")))
    body: list[Node] = [node("send", node("self", "to_x"), _vote(drawing, draft))]
    if d.chance(20):
        body.append(node("send", node("self", "to_x"), _vote(drawing, draft)))
    if d.chance(25):
        body.append(node("set", "xx", node("int", 1)))
    if drawing.events and d.chance(30):
        body.append(_emit(drawing, draft))
    draft.actions.append(Action("do0_x", "start", tuple(body)))
    if d.chance(30):
        again: tuple[Node, ...] = (node("send", node("self", "to_x"), _vote(drawing, draft)),)
        if d.chance(60):
            again = (node("set", "xx", node("int", 1)), *(again if d.chance(40) else ()))
        guard = node("eq", node("self", "xx"), node("int", 0))
        kind: Literal["start", "step"] = "start" if d.chance(70) else "step"
        draft.actions.append(Action("do1_x", kind, again, when=guard if kind == "step" or d.chance(30) else None))
    if d.chance(40):
        answer: tuple[Node, ...] = (node("set", "xx", node("int", d.between(1, 2))),)
        if d.chance(35):
            answer = (*answer, node("send", node("self", "to_x"), _vote(drawing, draft)))
        guarded = node("eq", node("self", "xx"), node("int", 0)) if d.chance(50) else None
        draft.actions.append(Action("hear0a_x", "on", answer, NEWS, guarded, d.chance(10)))


def _fill_taker(drawing: Parts, draft: Draft) -> None:
    d = drawing.dice
    draft.fields += [Field("u", "int", node("int", 0)), Field("uu", "int", node("int", 0))]
    draft.fields.append(Field("to_u", "peers", node("nobody")))
    steady = d.chance(60)  # what it does is the same for all messages
    for at in range(d.weighted({1: 1, 2: 4, 3: 3})):
        draft.actions.append(_taking(drawing, draft, f"hear{at}a_u", steady))
    for at in range(d.weighted({0: 4, 1: 5, 2: 1})):
        guard = _when(drawing)
        kind: Literal["start", "step"] = "start" if guard is None or d.chance(50) else "step"
        draft.actions.append(Action(f"do{at}_u", kind, _deed(drawing, draft, None), when=guard))


def _when(drawing: Parts) -> Node | None:
    d = drawing.dice
    if d.chance(25):
        return None
    counter = node("self", "u" if d.chance(85) else "uu")
    if d.chance(25):
        return node("among", counter, tuple(sorted(d.random.sample(range(3), 2))))
    return node("eq", counter, node("int", d.weighted({0: 4, 1: 4, 2: 2})))


def _taking(drawing: Parts, draft: Draft, name: str, steady: bool) -> Action:
    d = drawing.dice
    fields = drawing.records[0].fields
    keep = d.chance(12)
    guard = _when(drawing)
    if d.chance(45):
        if fields and d.chance(45):
            newer = node(d.one(("lt", "ne", "eq")), node("self", "u"), node("m", "a"))
            guard = newer if guard is None or d.chance(60) else node("and", guard, newer)
        return Action(name, "on", _deed(drawing, draft, "one", steady), VOTE, guard, keep)
    where = node(d.one(("ne", "le", "eq")), node("m", "a"), node("int", d.between(0, 1))) if fields else None
    where = where if d.chance(20) else None
    same = "a" if fields and d.chance(12) else None
    body = _deed(drawing, draft, "some", steady)
    if d.chance(18):
        enough = node("le", node("int", d.between(1, 2)), node("size"))
        sets: Literal["minimal", "maximal"] = "maximal" if d.chance(60) else "minimal"
        return Action(name, "quorum", body, VOTE, guard, keep, enough=enough, sets=sets, where=where, same=same)
    size = d.weighted({1: 4, 2: 6})
    return Action(name, "quorum", body, VOTE, guard, keep, size=size, where=where, same=same)


def _deed(drawing: Parts, draft: Draft, messages: str | None, steady: bool = True) -> tuple[Node, ...]:
    d = drawing.dice
    found: list[Node] = []
    letter = draft.letter
    values: list[Node] = [node("int", d.between(0, 2)), node("plus", node("self", letter), 1, 2)]
    if not steady and drawing.records[0].fields and messages:
        values += [node("m", "a") if messages == "one" else node("top", "a")] * 2
    if d.chance(80):
        found.append(node("set", letter, d.one(values)))
    if d.chance(35):
        found.append(node("set", letter * 2, d.one(values)))
    if d.chance(8):
        found.append(node("choose", letter, node("options", node("int", 1), node("int", 2))))
    if d.chance(35):
        found.append(node("send", node("self", f"to_{letter}"), _news(drawing, draft)))
    elif d.chance(8):
        found.append(node("send", node("me"), _vote(drawing, draft)))
    if messages and not steady and d.chance(20):
        found.append(node("reply", _news(drawing, draft)))
    if drawing.events and d.chance(35):
        found.append(_emit(drawing, draft))
    if d.chance(drawing.asserting * 0.6):
        claim = node("ne", node("self", d.one((letter, letter * 2))), node("int", d.between(0, 2)))
        if messages == "one" and drawing.records[0].fields and d.chance(40):
            claim = node("ne", node("m", "a"), node("int", d.between(0, 2)))
        found.insert(d.between(0, len(found)), node("assert", claim if d.chance(95) else FALSE))
    return tuple(found) or (PASS,)


def _fill_reader(drawing: Parts, draft: Draft) -> None:
    d = drawing.dice
    draft.fields += [Field("s", "int", node("int", 0)), Field("ss", "int", node("int", 0))]
    for at in range(d.weighted({1: 5, 2: 3})):
        body: list[Node] = [node("set", d.one(("s", "ss")), node("int", d.between(0, 2)))]
        if drawing.records[1].fields and d.chance(40):
            body = [node("set", "s", node("m", "b"))]
        if drawing.events and d.chance(30):
            body.append(_emit(drawing, draft))
        guard = node("eq", node("self", d.one(("s", "ss"))), node("int", d.between(0, 1))) if d.chance(65) else None
        draft.actions.append(Action(f"hear{at}a_s", "on", tuple(body), NEWS, guard, d.chance(8)))
    if d.chance(40):
        step = node("set", d.one(("s", "ss")), node("int", d.between(1, 2)))
        guard = node("eq", node("self", "s"), node("int", d.between(0, 1))) if d.chance(40) else None
        draft.actions.append(Action("do0_s", "start", (step,), when=guard))
