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
    said = (Field("a", "int"),) if d.chance(75) else ()
    told = (Field("b", "int"),) if d.chance(30) else ()
    drawing.records += [Record(VOTE, None, said), Record(NEWS, None, told)]
    senders, taker, reader = Draft("Alpha", "x"), Draft("Beta", "u"), Draft("Gamma", "s")
    with_reader = d.chance(45)
    lean = d.chance(50)  # little else, which would only hide what is lost
    _fill_sender(drawing, senders, lean)
    _fill_taker(drawing, taker, lean)
    drafts = [senders, taker]
    if with_reader:
        _fill_reader(drawing, reader)
        drafts.append(reader)
    spawns = [Spawn("Alpha", d.weighted({2: 6, 3: 4})), Spawn("Beta")]
    spawns += [Spawn("Gamma", 2 if d.chance(15) else None)] if with_reader else []
    connects = [Connect(0, None, "to_x", node("group", 1))]
    connects.append(Connect(1, None, "to_u", node("group", 2 if with_reader and d.chance(75) else 0)))
    if said and d.chance(90 if lean else 75) and not drawing.faults.recover:
        for which in range(spawns[0].number):
            connects.append(Connect(0, which, "x", node("int", d.between(0, 2))))
    classes = [drawing._finished(draft, spare=d.chance(60)) for draft in drafts]
    if any(action.name == "cut_u" for action in taker.actions) or d.chance(4):
        classes[1] = classes[1]._replace(within=node("lt", node("self", "u"), node("int", 2)))
    corrupt = ((0, 1),) if d.chance(4) else ()
    return drawing._protocol(classes, spawns, connects, corrupt)


def _vote(drawing: Parts, draft: Draft) -> Node:
    record = drawing.records[0]
    own = node("self", draft.letter) if drawing.dice.chance(65) else node("int", drawing.dice.between(0, 2))
    return node("make", VOTE, tuple(own for _ in record.fields))


def _news(drawing: Parts, draft: Draft) -> Node:
    record = drawing.records[1]
    own = node("self", draft.letter) if drawing.dice.chance(50) else node("int", drawing.dice.between(0, 2))
    return node("make", NEWS, tuple(own for _ in record.fields))


def _emit(drawing: Parts, draft: Draft) -> Node:
    event = drawing.events[0]
    own = node("self", draft.letter) if drawing.dice.chance(40) else node("int", drawing.dice.between(0, 2))
    return node("emit", node("make", event.name, tuple(own for _ in event.fields)))


def _fill_sender(drawing: Parts, draft: Draft, lean: bool) -> None:
    d = drawing.dice
    draft.fields += [Field("x", "int", node("int", 0)), Field("xx", "int", node("int", 0))]
    draft.fields.append(Field("to_x", "peers", node("nobody")))
    # Several at once, so that none of them is ever alone.
    count = d.weighted({1: 6, 2: 4, 3: 1})
    votes = [_vote(drawing, draft) for _ in range(count)]
    if count > 1 and d.chance(60):
        told = d.random.sample(range(3), count)
        votes = [node("make", VOTE, tuple(node("int", each) for _ in drawing.records[0].fields)) for each in told]
    body = [node("send", node("self", "to_x"), vote) for vote in votes]
    if d.chance(25):
        body.append(node("set", "xx", node("int", 1)))
    if drawing.events and d.chance(30):
        body.append(_emit(drawing, draft))
    draft.actions.append(Action("do0_x", "start", tuple(body)))
    if d.chance(12 if lean else 30):
        again: tuple[Node, ...] = (node("send", node("self", "to_x"), _vote(drawing, draft)),)
        if d.chance(60):
            again = (node("set", "xx", node("int", 1)), *(again if d.chance(40) else ()))
        guard = node("eq", node("self", "xx"), node("int", 0))
        kind: Literal["start", "step"] = "start" if d.chance(70) else "step"
        draft.actions.append(Action("do1_x", kind, again, when=guard if kind == "step" or d.chance(30) else None))
    if d.chance(10 if lean else 40):
        answer: tuple[Node, ...] = (node("set", "xx", node("int", d.between(1, 2))),)
        if d.chance(35):
            answer = (*answer, node("send", node("self", "to_x"), _vote(drawing, draft)))
        guarded = node("eq", node("self", "xx"), node("int", 0)) if d.chance(50) else None
        draft.actions.append(Action("hear0a_x", "on", answer, NEWS, guarded, d.chance(10)))


def _fill_taker(drawing: Parts, draft: Draft, lean: bool) -> None:
    """Mostly two transitions that go together, and something else."""
    d = drawing.dice
    draft.fields += [Field("u", "int", node("int", 0)), Field("uu", "int", node("int", 0))]
    draft.fields.append(Field("to_u", "peers", node("nobody")))
    steady = d.chance(60)  # what it does is the same for all messages
    most = {1: 6.0, 2: 4.0} if lean else {1: 1.0, 2: 4.0, 3: 3.0}
    themes: dict[str, float] = {"": 25, "late": 30, "value": 14, "filter": 10, "bound": 6, "place": 7, "register": 8}
    if not drawing.records[0].fields:
        themes = {"": 50, "late": 50}
    theme = d.weighted(themes)
    if theme:
        draft.actions += THEMES[theme](drawing, draft)
        most = {0: 8.0 if lean else 6.0, 1: 2.0}
    for at in range(d.weighted(most)):
        draft.actions.append(_taking(drawing, draft, f"hear{at}a_u", steady))
    for at in range(d.weighted({0: 12 if lean else 4, 1: 5, 2: 1})):
        guard = _when(drawing)
        kind: Literal["start", "step"] = "start" if guard is None or d.chance(50) else "step"
        draft.actions.append(Action(f"do{at}_u", kind, _deed(drawing, draft, None), when=guard))


def _early(drawing: Parts, draft: Draft) -> Action:
    d = drawing.dice
    guard = node("eq", node("self", "u"), node("int", 0)) if d.chance(92) else None
    keep = d.chance(6)
    if d.chance(60):
        return Action("early_u", "on", _onwards(drawing, draft, 1, "one"), VOTE, guard, keep)
    size = d.weighted({1: 3, 2: 4})
    return Action("early_u", "quorum", _onwards(drawing, draft, 1, "some"), VOTE, guard, keep, size=size)


def _late(drawing: Parts, draft: Draft) -> Action:
    d = drawing.dice
    guard: Node = node("eq", node("self", "u"), node("int", d.weighted({0: 1, 1: 6, 2: 1})))
    wanted: Node | None = None
    if drawing.records[0].fields and d.chance(75):
        wanted = node(d.weighted({"eq": 5, "ne": 3}), node("m", "a"), node("int", d.between(0, 2)))
    keep = d.chance(10)
    if d.chance(65):
        when = guard if wanted is None else node("and", guard, wanted)
        return Action("late_u", "on", _onwards(drawing, draft, 2, "one"), VOTE, when, keep)
    size = d.weighted({1: 1, 2: 3})
    body = _onwards(drawing, draft, 2, "some")
    return Action("late_u", "quorum", body, VOTE, guard, keep, size=size, where=wanted)


def _onwards(drawing: Parts, draft: Draft, to: int, messages: str) -> tuple[Node, ...]:
    """On to the next value of the counter, mostly; and something that others can see, now and then."""
    d = drawing.dice
    if d.chance(12):
        return _deed(drawing, draft, messages, d.chance(50))
    found: list[Node] = [node("set", "u", node("int", to))]
    if d.chance(8):
        found = [node("choose", "u", node("options", node("int", 1), node("int", 2)))]
    if drawing.records[0].fields and d.chance(12):
        found.append(node("set", "uu", node("m", "a") if messages == "one" else node("top", "a")))
    elif d.chance(15):
        found.append(node("set", "uu", node("int", d.between(0, 2))))
    if d.chance(12) and messages == "one" and drawing.records[0].fields:
        found = [*_one_place(drawing), *found] if d.chance(50) else [*found, *_one_place(drawing)]
    if d.chance(drawing.asserting / 2) and messages == "one" and drawing.records[0].fields:
        found += _gamble(drawing)
    if d.chance(30):
        found.append(node("send", node("self", "to_u"), _news(drawing, draft)))
    elif d.chance(8):
        found.append(node("send", node("me"), _vote(drawing, draft)))
    if drawing.events and d.chance(35):
        found.append(_emit(drawing, draft))
    return tuple(found)


def _one_place(drawing: Parts) -> list[Node]:
    """Something else with one message at one place."""
    d = drawing.dice
    place = node("eq", node("self", d.one(("u", "uu"))), node("int", d.between(0, 2)))
    which = node("eq", node("m", "a"), node("int", d.between(0, 2)))
    other = node("set", d.one(("u", "uu")), node("int", d.between(0, 2)))
    return [node("if", which if d.chance(30) else node("and", place, which), (other,), ())]


def _gamble(drawing: Parts) -> list[Node]:
    """It may go wrong with some messages, and leaves no trace otherwise."""
    d = drawing.dice
    claim = node("assert", node("ne", node("m", "a"), node("int", d.between(0, 2))))
    tried = node("if", node("eq", node("self", "uu"), node("int", 1)), (claim,), ())
    options = node("options", node("int", 0), node("int", 1))
    return [node("choose", "uu", options), tried, node("set", "uu", node("int", 0))]


def _register(drawing: Parts, draft: Draft) -> Action:
    """Only what is newer counts, so that a step may make up for one before it."""
    d = drawing.dice
    body: list[Node] = [node("set", "u", node("m", "a"))]
    if d.chance(30):
        body.append(node("send", node("self", "to_u"), _news(drawing, draft)))
    if d.chance(15):
        body.append(node("set", "uu", node("int", d.between(0, 2))))
    if drawing.events and d.chance(25):
        body.append(_emit(drawing, draft))
    elif d.chance(8):
        body.append(node("send", node("me"), _vote(drawing, draft)))
    if d.chance(drawing.asserting):
        body.insert(0, node("assert", node("ne", node("self", "u"), node("int", d.between(0, 2)))))
    return Action("hear9a_u", "on", tuple(body), VOTE, node("lt", node("self", "u"), node("m", "a")), d.chance(8))


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
        if fields and d.chance(55):
            told = node("self", "u") if d.chance(35) else node("int", d.between(0, 2))
            newer = node(d.one(("lt", "ne", "eq", "eq")), told, node("m", "a"))
            guard = newer if guard is None or d.chance(40) else node(d.one(("and", "and", "or")), guard, newer)
        return Action(name, "on", _deed(drawing, draft, "one", steady), VOTE, guard, keep)
    where: Node | None = None
    if fields and d.chance(35):
        where = node(d.one(("ne", "le", "eq")), node("m", "a"), node("int", d.between(0, 1)))
        if d.chance(40):  # so that it lets pass more, or less, when the counter has changed
            where = node(d.one(("or", "and")), where, node("eq", node("self", "u"), node("int", d.between(0, 2))))
    same = "a" if fields and d.chance(12) else None
    body = _deed(drawing, draft, "some", steady)
    if d.chance(25):
        enough = node("le", node("int", d.between(1, 2)), node("size"))
        if fields and d.chance(35):
            enough = node(d.one(("every", "some")), "a", d.between(0, 2))
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
    if messages == "one" and drawing.records[0].fields and d.chance(20):
        found += _one_place(drawing)
    if messages == "one" and drawing.records[0].fields and d.chance(drawing.asserting / 2):
        found += _gamble(drawing)
    if d.chance(8):
        found.append(node("choose", letter, node("options", node("int", 1), node("int", 2))))
    if d.chance(35):
        found.append(node("send", node("self", f"to_{letter}"), _news(drawing, draft)))
    elif d.chance(12):
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


# Transitions that go together


def _queue(drawing: Parts, draft: Draft) -> list[Action]:
    """Any of some messages will do at first, and then one in particular."""
    return [_early(drawing, draft), _late(drawing, draft)]


def _registers(drawing: Parts, draft: Draft) -> list[Action]:
    return [_register(drawing, draft)]


def _by_value(drawing: Parts, draft: Draft) -> list[Action]:
    """Two handlers share the messages out; one may stand before the other's, or make up for it."""
    d = drawing.dice
    value = node("int", d.between(0, 2))
    newer = node("lt", node("self", "u"), node("m", "a")) if d.chance(50) else None
    found: list[Action] = []
    for name, which in (("one_u", "eq"), ("rest_u", "ne")):
        body: list[Node] = [node("set", d.one(("u", "u", "uu")), node("m", "a"))]
        if d.chance(25):
            body.append(node("set", d.one(("u", "uu")), node("int", d.between(0, 2))))
        if d.chance(25):
            body.append(node("send", node("self", "to_u"), _news(drawing, draft)))
        elif d.chance(10):
            body.append(node("send", node("me"), _vote(drawing, draft)))
        if drawing.events and d.chance(30):
            body.append(_emit(drawing, draft))
        if d.chance(drawing.asserting):
            body.insert(0, node("assert", node("ne", node("self", "u"), node("int", d.between(1, 2)))))
        guard = node(which, node("m", "a"), value)
        guard = guard if newer is None else node("and", newer, guard)
        found.append(Action(name, "on", tuple(body), VOTE, guard, d.chance(5)))
    return found


def _filtered(drawing: Parts, draft: Draft) -> list[Action]:
    """A quorum whose filter lets pass more, or less, after another step."""
    d = drawing.dice
    if d.chance(45):
        drawing.network = Network("fifo", head="skip")
    value = d.between(0, 1)
    told = node(d.one(("eq", "ne")), node("m", "a"), node("int", value))
    where = node(d.one(("or", "or", "and")), told, node(d.one(("eq", "ne")), node("self", "u"), node("int", 1)))
    enough = node("le", node("int", d.between(1, 2)), node("size"))
    if d.chance(50):
        enough = node(d.one(("every", "some")), "a", d.between(0, 1))
    once = node("eq", node("self", "uu"), node("int", 0)) if d.chance(60) else None
    body = (node("set", "uu", d.one((node("size"), node("int", 1), node("top", "a")))),)
    sets: Literal["minimal", "maximal"] = "maximal" if d.chance(55) else "minimal"
    moved = Action("move_u", "start", (node("set", "u", node("int", 1)),))
    return [Action("some_u", "quorum", body, VOTE, once, enough=enough, sets=sets, where=where), moved]


def _bounded(drawing: Parts, draft: Draft) -> list[Action]:
    """One of the outcomes is cut off by a bound."""
    d = drawing.dice
    body: list[Node] = [node("choose", "u", node("options", node("int", 1), node("int", 2)))]
    if d.chance(70):
        body.append(node("set", "uu", node("m", "a")))
    if d.chance(30):
        body.append(node("reply", _news(drawing, draft)))
    guard = node("eq", node("self", "u"), node("int", 0)) if d.chance(90) else None
    found = [Action("cut_u", "on", tuple(body), VOTE, guard)]
    return [*found, _late(drawing, draft)] if d.chance(30) else found


def _somewhere(drawing: Parts, draft: Draft) -> list[Action]:
    """The same with all messages, but for one of them after another step."""
    d = drawing.dice
    place = node("eq", node("self", "uu"), node("int", 1))
    which = node(d.one(("eq", "ne")), node("m", "a"), node("int", d.between(0, 2)))
    other = node("set", "uu", node("int", 2)) if d.chance(60) else node("reply", _news(drawing, draft))
    body = (node("set", "u", node("int", 1)), node("if", node("and", place, which), (other,), ()))
    guard = node("eq", node("self", "u"), node("int", 0)) if d.chance(90) else None
    moved = Action("move_u", "start", (node("set", "uu", node("int", 1)),))
    return [Action("take_u", "on", body, VOTE, guard), moved]


THEMES = {
    "late": _queue,
    "register": _registers,
    "value": _by_value,
    "filter": _filtered,
    "bound": _bounded,
    "place": _somewhere,
}
