"""Points about what is not known beforehand: a universe that began with little, flows, processes taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.protocol import PASS, Action, Faults, Field, Network, Protocol, Record, node

from .point import (
    assembled,
    at,
    both,
    cls,
    flows,
    links,
    make,
    mine,
    num,
    numbers,
    options,
    point,
    put,
    send,
    universes,
)

if TYPE_CHECKING:
    from fuzz.draw import Drawing
    from fuzz.expressions import Dice

PING, VOTE, NEWS = Record("Ping"), Record("Vote", None, (Field("a", "int"),)), Record("News")
SEEN = Record("Seen", None, (Field("v", "int"),), is_event=True)


@point("noted", thresholds=universes(), symmetry="none")
def late(drawing: Drawing) -> Protocol:
    """A message comes late that tells apart what nothing else does; where it leads has been seen before."""
    d = drawing.dice
    fresh = both(at("x", 0), at("hid_x", 0))
    picks = Action("do0_x", "step", (node("choose", "hid_x", options(1, 2)),), when=fresh)
    told = Action("hear0_x", "on", (put("x", mine("hid_x")), put("hid_x", 0)), "Ping",
                  node("lt", num(0), mine("hid_x")))  # fmt: skip
    direct = Action("hear1_x", "on", (node("choose", "x", options(1, 2)),), "News", fresh)
    taker = cls("Alpha", numbers("x", "hid_x"), *d.random.sample([picks, told, direct], 3))
    most = d.between(1, 9)
    counts = Action("do0_u", "step", (put("u", node("plus", mine("u"), 1, 9)),), when=node("lt", mine("u"), num(most)))
    says = Action("do1_u", "step", (send("to_u", "Ping"), put("u", 0 if d.chance(50) else most)), when=at("u", most))
    early = Action("do2_u", "step", (send("to_u", "News"), put("u", 12)), when=at("u", 0))
    speaker = cls("Beta", (*numbers("u"), *links("to_u")), counts, says, early)
    network = d.weighted({Network(): 6, Network("multiset"): 2, Network("fifo"): 1})
    return assembled(drawing, [taker, speaker], {"Beta": {"to_u": "Alpha"}}, records=(PING, NEWS), network=network)


@point("deadlock", thresholds=universes(), por="lpor-net", symmetry="none")
def lulled(drawing: Drawing) -> Protocol:
    """One process turns round until it is told to stop; that it may be told is not known at first."""
    d = drawing.dice
    turns = Action("do0_x", "step", (PASS if d.chance(60) else put("xx", node("cycle", mine("xx"), 1, 2)),),
                   when=at("x", 0))  # fmt: skip
    stops = Action("hear0_x", "on", (put("x", 1),), "Ping")
    idler = cls("Alpha", numbers("x", "xx"), turns, stops)
    most = d.between(1, 3)
    counts = Action("do0_u", "step", (put("u", node("plus", mine("u"), 1, 3)),), when=node("lt", mine("u"), num(most)))
    says = Action("do1_u", "step", (send("to_u", "Ping"), put("u", 4)), when=at("u", most))
    speaker = cls("Beta", (*numbers("u"), *links("to_u")), counts, says)
    return assembled(drawing, [idler, speaker], {"Beta": {"to_u": "Alpha"}}, records=(PING,))


def _little(dice: Dice) -> list[tuple[str, int]]:
    return [*universes()(dice), ("optimistic.MOST_BEHAVIOURS", dice.between(2, 8))]


@point("deadlock", "noted", thresholds=_little, por="lpor-net", symmetry="none")
def as_it_is(drawing: Drawing) -> Protocol:
    """Too much would have to be asked about one process; what it says rules out what another one does."""
    d = drawing.dice
    moves = Action("do0_x", "step", (put("x", 1),), when=at("x", 0))
    hears = Action("hear0_x", "on", (put("x", 2),), "Ping", at("x", 0))
    small = cls("Alpha", numbers("x"), moves, hears)
    says = Action("do1_u", "start", (send("to_u", "Ping"),))
    grows = [
        Action(f"do{n}_u", "step", (put(name, node("plus", mine(name), 1, 2)),), when=node("lt", mine(name), num(2)))
        for n, name in ((0, "u"), (2, "uu"))
    ]
    large = cls("Beta", (*numbers("u", "uu"), *links("to_u")), says, *grows[: d.between(1, 2)])
    return assembled(drawing, [small, large], {"Beta": {"to_u": "Alpha"}}, records=(PING,))


@point("deadlock", "noted", thresholds=universes(), por="lpor-net", symmetry="none")
def surroundings(drawing: Drawing) -> Protocol:
    """What the network and crashes do to messages, in a universe that began with little."""
    d = drawing.dice
    ways = (
        Network(losses=1), Network(losses="any"), Network("multiset", duplicates=1), Network("fifo", losses=1),
        Network(capacity=1), Network("fifo", capacity=1), Network("fifo", head="drop"), Network(),
        Network("fifo", duplicates=1, head="drop"), Network("multiset", capacity=2),
    )  # fmt: skip
    network = d.one(ways)
    faults = Faults(1, (), d.chance(80), d.chance(25)) if network == Network() or d.chance(15) else Faults()
    takes = [
        Action(f"hear{n}_x", "on", (put("x", n + 1),), "Vote",
               both(node("eq", node("m", "a"), num(n)), at("x", *d.one(((0,), (0, 1), (0, 1, 2))))))
        for n in range(2)
    ]  # fmt: skip
    if d.chance(50):
        takes.append(Action("do0_x", "start", (put("x" if d.chance(50) else "xx", d.between(1, 2)),)))
    taker = cls("Alpha", numbers("x", "xx"), *takes, durable=("xx",) if faults.recover else ())
    speech = [send("to_u", "Vote", n) for n in d.one(((0, 1), (1, 0), (0, 0), (0,)))]
    says = [Action("do0_u", "start", tuple(speech))]
    if d.chance(50):
        says = [Action(f"do{n}_u", "start", (each,)) for n, each in enumerate(speech)]
    if d.chance(40):
        says.append(
            Action("do5_u", "step", (put("u", node("plus", mine("u"), 1, 2)),), when=node("lt", mine("u"), num(2)))
        )
    speaker = cls("Beta", (*numbers("u"), *links("to_u")), *says, durable=("to_u",) if faults.recover else ())
    return assembled(drawing, [taker, speaker], {"Beta": {"to_u": "Alpha"}}, records=(VOTE,), network=network,
                     faults=faults)  # fmt: skip


@point("deadlock", "noted", thresholds=flows, por="lpor-net", symmetry="none")
def no_room(drawing: Drawing) -> Protocol:
    """One step of a process is possible and one waits for room, which another process makes."""
    d = drawing.dice
    fills = Action("do0_x", "step", (send("to_x", "Ping"), put("x", 1)), when=at("x", 0))
    goes = Action("do1_x", "step", (put("x", 2),), when=at("x", 1))
    waits = Action("do2_x", "step", (send("to_x", "Ping" if d.chance(50) else "News"), put("x", 3)), when=at("x", 1))
    sender = cls("Alpha", (*numbers("x"), *links("to_x")), *d.random.sample([fills, goes, waits], 3))
    taker = cls("Beta", numbers("u"), Action("hear0_u", "on", (put("u", 1),), "Ping"))
    kind = d.one(("multiset", "fifo", "multiset", "unordered"))
    network = Network(kind, capacity=d.weighted({1: 8, 2: 1}))  # type: ignore[arg-type]
    return assembled(drawing, [sender, taker], {"Alpha": {"to_x": "Beta"}}, records=(PING, NEWS), network=network)


@point("noted", thresholds=flows, por="lpor-net", symmetry="none")
def told_only(drawing: Drawing) -> Protocol:
    """One process shows nothing itself, but tells a monitor; another one shows something."""
    d = drawing.dice
    tells = (node("emit", make("Seen", d.between(1, 2))), *((put("hid_x", 1),) if d.chance(50) else ()))
    teller = cls("Alpha", numbers("hid_x"), Action("do0_x", "start", tells))
    shows = cls("Beta", numbers("u"), Action("do0_u", "start", (put("u", 1),)))
    reaction = Action("told", "on", (put("n", node("m", "v")),), "Seen")
    watch = cls("Watch", numbers("n"), reaction, is_monitor=True)
    classes = [teller, shows]
    if d.chance(25):
        classes.append(cls("Gamma", numbers("s"), Action("do0_s", "start", (put("s", 1),))))
    return assembled(drawing, classes, {}, records=(SEEN,), monitors=(watch,))
