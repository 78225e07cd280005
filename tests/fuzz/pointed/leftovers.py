"""Points about what is left over when one of several messages was taken: it may stand in the way, or take up room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzz.protocol import Action, Field, Network, Protocol, Record, node

from .point import assembled, at, both, cls, links, make, mine, num, numbers, point, put, said, send

if TYPE_CHECKING:
    from fuzz.draw import Drawing

VOTE, NEWS = Record("Vote", None, (Field("a", "int"),)), Record("News", None, (Field("b", "int"),))
TWINS: dict[str, Any] = {"por": "lpor-net", "symmetry": "none"}


@point("deadlock", "noted", **TWINS)
def in_the_way(drawing: Drawing) -> Protocol:
    """Any head will do at first, then one message in particular, which stands behind one of them."""
    d = drawing.dice
    first, late = d.random.sample(range(3), 2)
    early = Action("early_u", "on", (put("u", 1),), "Vote", both(at("u", 0), said("a", first)))
    then = Action("late_u", "on", (put("u", 2),), "Vote", both(at("u", 1), said("a", late)))
    taker = cls("Beta", numbers("u"), early, then)
    senders = []
    for name, letter, second in (("Alpha", "x", d.one((3 - first - late, late))), ("Gamma", "s", late)):
        speech = [send(f"to_{letter}", "Vote", first), send(f"to_{letter}", "Vote", second)]
        senders.append(cls(name, links(f"to_{letter}"), Action(f"do0_{letter}", "start", tuple(speech))))
    network = Network("fifo", head=d.weighted({"block": 6, "skip": 1, "drop": 1}))
    wires = {"Alpha": {"to_x": "Beta"}, "Gamma": {"to_s": "Beta"}}
    return assembled(drawing, [taker, *senders], wires, records=(VOTE,), network=network)


@point("deadlock", "noted", **TWINS)
def full(drawing: Drawing) -> Protocol:
    """What is left over fills a channel, and its sender has more to say."""
    d = drawing.dice
    kind = d.weighted({"unordered": 4, "multiset": 3, "fifo": 1})
    network = Network(kind, capacity=d.weighted({1: 8, 2: 1}))  # type: ignore[arg-type]
    taken = Action("early_u", "on", (put("u", 1),), "Vote", at("u", 0))
    news = node("m", "b") if d.chance(80) else num(1)
    heard = Action("hear_u", "on", (put("uu", news),), "News", at("u", 1) if d.chance(50) else None)
    taker = cls("Beta", numbers("u", "uu"), taken, heard)
    senders = []
    for name, letter, value in (("Alpha", "x", 1), ("Gamma", "s", 2)):
        more = Action(f"do1_{letter}", "start", (send(f"to_{letter}", "News", value),))
        if d.chance(30):
            more = more._replace(when=at(letter, 1))
        begin = (send(f"to_{letter}", "Vote", 0), put(letter, 1))
        senders.append(cls(name, (*numbers(letter), *links(f"to_{letter}")),
                           Action(f"do0_{letter}", "start", begin), *((more,) if d.chance(75) else ())))  # fmt: skip
    wires = {"Alpha": {"to_x": "Beta"}, "Gamma": {"to_s": "Beta"}}
    return assembled(drawing, [taker, *senders], wires, records=(VOTE, NEWS), network=network)


@point("deadlock", "noted", **TWINS)
def resent(drawing: Drawing) -> Protocol:
    """Two messages go together later; one of them may be sent again, the other may not."""
    d = drawing.dice
    network = d.weighted({Network(): 8, Network("multiset"): 2, Network("multiset", duplicates=1): 2,
                          Network(duplicates=1): 1, Network(losses=1): 1})  # fmt: skip
    early = Action("early_u", "on", (put("u", 1),), "Vote", at("u", 0))
    late = Action("late_u", "quorum", (put("u", 2),), "Vote", at("u", 1), size=2)
    if d.chance(15):
        late = Action("late_u", "quorum", (put("u", 2),), "Vote", at("u", 1), enough=node("le", num(2), node("size")),
                      sets="maximal" if d.chance(50) else "minimal")  # fmt: skip
    if d.chance(12):
        early = Action("early_u", "quorum", (put("u", 1),), "Vote", at("u", 0),
                       enough=node("le", num(1), node("size")), sets="maximal")  # fmt: skip
    taker = cls("Beta", numbers("u"), *d.random.sample([early, late], 2))
    one = cls("Alpha", (*numbers("hid_x"), *links("to_x")),
              Action("do0_x", "start", (send("to_x", "Vote", 0), put("hid_x", 1))),
              Action("do1_x", "step", (send("to_x", "Vote", 0), put("hid_x", 2)), when=at("hid_x", 1)))  # fmt: skip
    if d.chance(25):
        one = one._replace(actions=one.actions[:1])
    two = cls("Gamma", links("to_s"), Action("do0_s", "start", (send("to_s", "Vote", 0),)))
    wires = {"Alpha": {"to_x": "Beta"}, "Gamma": {"to_s": "Beta"}}
    return assembled(drawing, [taker, one, two], wires, records=(VOTE,), network=network)


@point("deadlock", "noted", **TWINS)
def several(drawing: Drawing) -> Protocol:
    """Sets of messages that do the same, where largest ones are wanted or heads are skipped, and more may come."""
    d = drawing.dice
    network = d.weighted({Network(): 4, Network("multiset"): 2, Network("fifo", head="skip"): 4})
    enough = d.one((node("le", num(1), node("size")), node("le", num(2), node("size")), node("some", "a", 1)))
    body = (put("u", d.weighted({1: 6, 2: 1})), *((put("uu", node("size")),) if d.chance(15) else ()))
    guards = [at("u", 0), at("u", 0), None, at("u", 1)]
    where = d.one((None, None, node("ne", node("m", "a"), num(d.between(0, 1)))))
    if d.chance(30) and where is not None:
        where = node("or", where, at("uu", 1))
    actions = [Action("some_u", "quorum", body, "Vote", d.one(guards), enough=enough, sets="maximal", where=where)]
    other = Action("other_u", "on", (put("u", 1),), "Vote", d.one(guards))
    if d.chance(50):
        other = Action("other_u", "quorum", (put("u", d.between(1, 2)),), "Vote", d.one(guards), size=d.between(1, 2))
    actions.append(other)
    if d.chance(40):
        actions.append(Action("do0_u", "start", (put("uu", 1),)))
    taker = cls("Beta", numbers("u", "uu"), *d.random.sample(actions, len(actions)))
    senders = []
    for name, letter in (("Alpha", "x"), ("Gamma", "s"))[: d.weighted({1: 2, 2: 6})]:
        speech = [send(f"to_{letter}", "Vote", d.between(0, 1)) for _ in range(d.weighted({1: 4, 2: 3}))]
        senders.append(cls(name, links(f"to_{letter}"), Action(f"do0_{letter}", "start", tuple(speech))))
    wires = {each.name: {each.fields[0].name: "Beta"} for each in senders}
    return assembled(drawing, [taker, *senders], wires, records=(VOTE,), network=network)


@point()
def echo(drawing: Drawing) -> Protocol:
    """What a process waits for is hidden, and is what it was told to be sent: never the other."""
    d = drawing.dice
    pick = Action("do0_x", "start", (node("choose", "hid_x", node("options", num(1), num(2))),
                                     send("to_x", "News", mine("hid_x"))))  # fmt: skip
    wanted = node("eq", node("m", "a"), mine("hid_x"))
    forget = (put("hid_x", 0),) if d.chance(85) else ()
    body = (put("x", 1), *forget)
    hear = Action("hear0_x", "on", body, "Vote", wanted)
    if d.chance(25):
        hear = Action("hear0_x", "quorum", body, "Vote", where=wanted, size=1)
    asker = cls("Alpha", (*numbers("x", "hid_x"), *links("to_x")), pick, hear)
    back = (node("reply", make("Vote", node("m", "b"))),)
    other = cls("Beta", (), Action("hear0_u", "on", back, "News"))
    network = d.weighted({Network(): 5, Network("multiset"): 2, Network("fifo"): 1})
    return assembled(drawing, [asker, other], {"Alpha": {"to_x": "Beta"}}, records=(VOTE, NEWS), network=network)
