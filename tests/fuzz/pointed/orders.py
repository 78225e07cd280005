"""Points about steps whose order matters: of one process, with copies, budgets, events, and steps made up for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzz.protocol import PASS, Action, Class, Faults, Field, Network, Protocol, Record, node

from .point import assembled, at, both, cls, links, make, mine, num, numbers, options, point, put, said, send

if TYPE_CHECKING:
    from fuzz.draw import Drawing

PING, VOTE, NEWS = Record("Ping"), Record("Vote", None, (Field("a", "int"),)), Record("News")
ORDERS: dict[str, Any] = {"por": "lpor-net", "symmetry": "none"}


def _shown(drawing: Drawing) -> Class:
    """A step beside, which a property sees: then all that are seen stay together, and others need not."""
    kind = "start" if drawing.dice.chance(70) else "step"
    guard = at("u", 0) if kind == "step" else None
    return cls("Beta", numbers("u"), Action("do0_u", kind, (put("u", 1),), when=guard))  # type: ignore[arg-type]


@point("noted", **ORDERS)
def copies(drawing: Drawing) -> Protocol:
    """Two steps take the same message, of which there are two; what the one shows depends on the other."""
    d = drawing.dice
    network = d.weighted({Network("multiset"): 6, Network("fifo", head=d.one(("block", "skip"))): 2, Network(): 1})
    twice = [send("to_s", "Ping"), send("to_s", "Ping")]
    sender = cls("Gamma", links("to_s"), Action("do0_s", "start", tuple(twice[: d.weighted({2: 9, 1: 1})])))
    if d.chance(25):
        sender = sender._replace(actions=tuple(Action(f"do{n}_s", "start", (twice[n],)) for n in range(2)))
    once = at("x", 0) if d.chance(60) else None
    shows = Action("show_x", "on", (put("x", node("plus", mine("hid_x"), 1, 2)),), "Ping", once)
    hides = Action("hide_x", "on", (put("hid_x", 1),), "Ping", at("hid_x", 0) if d.chance(60) else None)
    taker = cls("Alpha", numbers("x", "hid_x"), *d.random.sample([shows, hides], 2))
    return assembled(drawing, [taker, _shown(drawing), sender], {"Gamma": {"to_s": "Alpha"}}, records=(PING,),
                     network=network)  # fmt: skip


@point("noted", **ORDERS)
def again(drawing: Drawing) -> Protocol:
    """A step is possible, then is not, then is again: and shows something else."""
    d = drawing.dice
    guard = both(at("hid_x", *d.one(((0, 2), (0, 2), (0, 1), (0, 1, 2)))), at("x", 0) if d.chance(70) else None)
    shows = node("if", at("hid_x", 2), (put("x", 2),), (put("x", 1),))
    steps = [
        Action("show_x", "step", (shows,), when=guard),
        Action("one_x", "step", (put("hid_x", 1),), when=at("hid_x", 0)),
        Action("two_x", "step", (put("hid_x", 2),), when=at("hid_x", 1)),
    ]
    taker = cls("Alpha", numbers("x", "hid_x"), *d.random.sample(steps, 3))
    return assembled(drawing, [taker, _shown(drawing)], {})


@point("noted", "reached", **ORDERS, por_options=("key",))
def strong(drawing: Drawing) -> Protocol:
    """One step stays where it is, one leads away; a third is possible only before, and rules the second out."""
    d = drawing.dice
    steps = [
        Action("stay_x", "step", (PASS,), when=at("x", 0)),
        Action("leave_x", "step", (put("x", 1),), when=both(at("x", 0), at("xx", 0) if d.chance(85) else None)),
        Action("mark_x", "step", (put("xx", d.between(1, 2)),), when=both(at("x", 0), at("xx", 0))),
    ]
    taker = cls("Alpha", numbers("x", "xx"), *d.random.sample(steps, 3))
    return assembled(drawing, [taker, _shown(drawing)] if d.chance(30) else [taker], {})


@point("noted", "reached", **ORDERS, por_options=("key",))
def draws(drawing: Drawing) -> Protocol:
    """A step that changes nothing is disturbed by a fault; the same fault elsewhere shows, and there is one only."""
    d = drawing.dice
    way = d.one(("losses", "duplicates", "crashes"))
    faults = Faults()
    if way == "crashes":
        network = d.one((Network(), Network(), Network("multiset")))
        faults = Faults(1, (), True, False)
        idle = cls("Alpha", numbers("x"), Action("stay_x", "step", (PASS,), when=at("x", 0)))
        speech = d.random.sample([send("to_u", "Vote", 0), send("to_u", "Vote", 1)], 2)
        speaker = cls("Beta", (*numbers("u"), *links("to_u")), Action("do0_u", "start", tuple(speech)))
        hear = cls("Gamma", numbers("s"), *(Action(f"hear{n}_s", "on", (put("s", n + 1),), "Vote",
                                                   both(said("a", n), at("s", 0))) for n in range(2)))  # fmt: skip
        return assembled(drawing, [idle, speaker, hear], {"Beta": {"to_u": "Gamma"}}, records=(VOTE,), network=network,
                         faults=faults)  # fmt: skip
    idle = cls("Alpha", numbers("x"), Action("stay_x", "on", (PASS,), "Ping", at("x", 0), keep=True))
    if way == "losses":
        network = Network("fifo", losses=1, head="block")
        heard = (Action("hear0_u", "on", (put("u", 1),), "Vote", said("a", 1)),)
    else:
        network = Network("multiset", duplicates=1)
        heard = (Action("hear0_u", "on", (put("u", node("plus", mine("u"), 1, 2)),), "Vote"),)
    speech = [send("to_s", "Ping"), send("via_s", "Vote", 0)]
    if way == "losses":
        speech.append(send("via_s", "Vote", 1))
    sender = cls("Gamma", links("to_s", "via_s"), Action("do0_s", "start", tuple(speech)))
    return assembled(drawing, [idle, cls("Beta", numbers("u"), *heard), sender],
                     {"Gamma": {"to_s": "Alpha", "via_s": "Beta"}}, records=(PING, VOTE), network=network)  # fmt: skip


@point("deadlock", "deadlock", "noted", **ORDERS)
def skipping(drawing: Drawing) -> Protocol:
    """After another step an earlier message passes the filter, and hides the one that is wanted."""
    d = drawing.dice
    where = node("or", node("ne", node("m", "a"), num(0)), at("u", 1))
    enough = node(d.one(("every", "every", "some")), "a", 1)
    body = (put("uu", d.one((num(1), node("size"), node("top", "a")))),)
    once = at("uu", 0) if d.chance(30) else None
    sets = d.one(("minimal", "minimal", "maximal"))
    taken = Action("some_u", "quorum", body, "Vote", once, enough=enough, sets=sets, where=where)  # type: ignore[arg-type]
    moved = Action("move_u", "start", (put("u", 1),))
    speech = [send("to_s", "Vote", n) for n in d.one(((0, 1), (0, 1), (0, 0, 1), (1, 0), (0, 1, 1)))]
    sender = cls("Gamma", links("to_s"), Action("do0_s", "start", tuple(speech)))
    return assembled(drawing, [cls("Beta", numbers("u", "uu"), taken, moved), sender], {"Gamma": {"to_s": "Beta"}},
                     records=(VOTE,), network=Network("fifo", head="skip" if d.chance(90) else "drop"))  # fmt: skip


@point("deadlock", "deadlock", "noted", **ORDERS)
def places(drawing: Drawing) -> Protocol:
    """The same message stands in a channel twice, and one of the two is lost or repeated."""
    d = drawing.dice
    lost = d.chance(60)
    losses = d.one(("any", 1, 1)) if lost else 0
    network = Network("fifo", losses, 0 if lost else 1, head=d.one(("drop", "drop", "block", "skip")))  # type: ignore[arg-type]
    answers = [node("reply", make("Vote", n)) for n in d.one(((1, 0), (1, 0), (0, 1), (0, 0)))]
    asks = [Action(f"do{n}_x", "start", (send("to_x", "Ping"),)) for n in range(2)]
    if d.chance(60):
        wanted = d.one((None, said("a", 1), both(said("a", 1), at("x", 0)), both(said("a", 0), at("x", 1))))
        asks.append(Action("hear0_x", "on", (put("x", node("plus", node("m", "a"), 1, 2)),), "Vote", wanted))
    asker = cls("Alpha", (*numbers("x"), *links("to_x")), *asks)
    answerer = cls("Beta", (), Action("hear0_u", "on", tuple(answers), "Ping"))
    return assembled(drawing, [asker, answerer], {"Alpha": {"to_x": "Beta"}}, records=(PING, VOTE), network=network)


@point("noted", "deadlock", **ORDERS)
def made_up(drawing: Drawing) -> Protocol:
    """What is newer makes up for what is older, but for what the older one has told: itself, or a monitor."""
    d = drawing.dice
    watch: tuple[Class, ...] = ()
    older = said("a", 1)
    told = [node("send", node("me"), make("Ping")), node("emit", make("Seen", 0)), send("to_u", "News")]
    way = d.weighted({0: 4, 1: 5, 2: 1})
    register = "hid_u" if d.chance(80) else "u"
    newer = put(register, node("m", "a"))
    actions = [
        Action("low_u", "on", (told[way], newer), "Vote", both(older, node("lt", mine(register), num(1)))),
        Action("high_u", "on", (newer,), "Vote", both(said("a", 2), node("lt", mine(register), num(2)))),
    ]
    if way == 0:
        actions.append(Action("self_u", "on", (put("uu", 1),), "Ping"))
    taker = cls("Beta", (*numbers("u", "uu", "hid_u"), *links("to_u")), *actions)
    speech = tuple(d.random.sample([send("to_s", "Vote", 1), send("to_s", "Vote", 2)], 2))
    sender = cls("Gamma", links("to_s"), Action("do0_s", "start", speech))
    classes = [taker, sender]
    records: tuple[Record, ...] = (PING, VOTE, NEWS)
    if way == 1:
        reveal = node("if", node("eq", node("m", "v"), num(0)), (put("hid_n", 1),), (put("n", mine("hid_n")),))
        watch = (cls("Watch", numbers("n", "hid_n"), Action("told", "on", (reveal,), "Seen"), is_monitor=True),)
        records = (*records, Record("Seen", None, (Field("v", "int"),), is_event=True))
        classes.append(cls("Alpha", numbers("hid_x"), Action("do0_x", "start", (node("emit", make("Seen", 1)),))))
    if way == 2:
        classes.append(cls("Alpha", numbers("x"), Action("hear0_x", "on", (put("x", 1),), "News")))
    wires = {"Gamma": {"to_s": "Beta"}, "Beta": {"to_u": "Alpha" if way == 2 else "Gamma"}}
    return assembled(drawing, classes, wires, records=records, monitors=watch)


@point("reached", "noted", **ORDERS, search="dfs")
def rolling(drawing: Drawing) -> Protocol:
    """One outcome of a step comes back, another leaves; only after the first is something else possible."""
    d = drawing.dice
    roll = (node("choose", "x", options(*d.one(((0, 1), (1, 0))))),)
    stays = at("x", 0) if d.chance(60) else at("x", 0, 1)
    if d.chance(85):
        roll = (node("if", both(at("xx", 0), at("x", 0)), roll, ()),)
    steps = [
        Action("roll_x", "step", roll, when=stays),
        Action("mark_x", "step", (put("xx", 1),), when=both(at("x", 0), at("xx", 0))),
    ]
    if d.chance(25):
        steps.append(Action("back_x", "step", (put("x", d.between(0, 2)),), when=at("x", 1)))
    taker = cls("Alpha", numbers("x", "xx"), *d.random.sample(steps, len(steps)))
    return assembled(drawing, [taker, _shown(drawing)] if d.chance(30) else [taker], {})


@point("noted", "deadlock", **ORDERS)
def cut_short(drawing: Drawing) -> Protocol:
    """A step that is cut short sends a part of its messages, on channels with or without room."""
    d = drawing.dice
    capacity = d.weighted({None: 2, 1: 4, 2: 1})
    kind = d.one(("unordered", "multiset", "fifo"))
    network = Network(kind, capacity=capacity, head=d.one(("block", "skip")) if kind == "fifo" else "block")  # type: ignore[arg-type]
    speech = d.random.sample([send("to_x", "Vote", 0), send("to_x", "Vote", 1), send("via_x", "Ping")], d.between(1, 3))
    actions = [Action("do0_x", "start", tuple(speech))]
    if d.chance(50):
        actions = [Action("do0_x", "on", tuple(speech), "News")]
    if d.chance(50):
        actions.append(Action("do1_x", "start", (send("to_x", "Vote", d.between(0, 1)),)))
    sender = cls("Alpha", (*numbers("x"), *links("to_x", "via_x")), *actions)
    hears = [
        Action(
            f"hear{n}_u", "on", (put("u", n + 1),), "Vote", both(said("a", n), at("u", *d.one(((0,), (0, 1), (1,)))))
        )
        for n in d.one(((0, 1), (0,), (1,)))
    ]
    if d.chance(40):
        hears.append(Action("mourn_u", "on", (put("uu", 1),), "Crash"))
    if d.chance(40):
        hears.append(Action("do0_u", "start", (put("uu", 2),)))
    taker = cls("Beta", numbers("u", "uu"), *hears)
    relay = cls("Gamma", (*numbers("s"), *links("to_s", "via_s")), Action("hear0_s", "on", (send("to_s", "Vote", 1),),
                "Ping"), Action("do0_s", "start", (send("via_s", "News"),)))  # fmt: skip
    wires = {"Alpha": {"to_x": "Beta", "via_x": "Gamma"}, "Gamma": {"to_s": "Beta", "via_s": "Alpha"}}
    faults = Faults(1, (d.one(("Alpha", "Beta", "Gamma")),) if d.chance(60) else (), d.chance(90), False)
    return assembled(drawing, [sender, taker, relay], wires, records=(PING, VOTE, NEWS), network=network, faults=faults)


@point("deadlock", **ORDERS)
def tales(drawing: Drawing) -> Protocol:
    """One process tells a monitor two things, in any order; the monitor minds the order."""
    d = drawing.dice
    kept = d.one((node("m", "v"), node("if", node("eq", mine("n"), num(0)), node("m", "v"), mine("n"))))
    watch = cls("Watch", numbers("n"), Action("told", "on", (put("n", kept),), "Seen"), is_monitor=True)
    tell = [node("emit", make("Seen", n)) for n in (1, 2)]
    steps = [Action(f"do{n}_x", "start", (each, *((put(f"hid{n}_x", 1),) if d.chance(30) else ())))
             for n, each in enumerate(tell)]  # fmt: skip
    if d.chance(30):
        steps[1] = Action("do1_x", "on", steps[1].body, "Ping")
    teller = cls("Alpha", numbers("hid0_x", "hid1_x"), *steps)
    sender = cls("Gamma", links("to_s"), Action("do0_s", "start", (send("to_s", "Ping"),)))
    records = (PING, Record("Seen", None, (Field("v", "int"),), is_event=True))
    return assembled(drawing, [teller, sender], {"Gamma": {"to_s": "Alpha"}}, records=records, monitors=(watch,))


@point("deadlock", **ORDERS)
def own_twin(drawing: Drawing) -> Protocol:
    """A process sends itself the same message twice; on a set two are one while the first is pending."""
    d = drawing.dice
    says = [Action(f"do{n}_x", "start", (node("send", node("me"), make("Ping")),)) for n in range(2)]
    if d.chance(40):
        says[1] = Action("do1_x", "step", (*says[1].body, put("hid_x", 1)), when=at("hid_x", 0))
    hears = Action("hear0_x", "on", (put("x", node("plus", mine("x"), 1, 2)),), "Ping")
    actions = d.random.sample([*says, hears], 3)
    classes = [cls("Alpha", numbers("x", "hid_x"), *actions)]
    return assembled(drawing, [*classes, _shown(drawing)] if d.chance(40) else classes, {}, records=(PING,))
