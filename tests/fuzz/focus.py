"""Cases for the rules of one reduction: the same protocols, drawn more often where the rules could matter.

What is drawn is what the generator draws, with other weights; and all checks of a case are of the kind that the rules
concern. So a mutant is met in minutes that the generator meets in hours, and what is never met is never drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .case import MOST_STATES, Case, claims, pointed, refused
from .draw import Drawing
from .drawn import SHAPES
from .explorer import explore
from .expressions import Dice
from .options import Check, draw_environment, draw_keywords, draw_thresholds, of
from .parts import STYLES, Style
from .pointed import POINTS
from .protocol import Faults, Network, Protocol
from .system import Environment, System, TooLarge

WEIGHTS: dict[str, dict[Style, float]] = {
    "roles": {"roles": 1, "parties": 3},
    "twins": {"messages": 1, "crowd": 5},
    "attack": {"attack": 3, "ballots": 1},
    "tables": {"hidden": 6, "modes": 3, "messages": 2, "steps": 1, "cut": 1},
    "implicit": {"cut": 6, "messages": 2, "hidden": 1},
    "symmetry": {"callers": 5, "messages": 4, "many": 2, "attack": 2, "steps": 1, "hidden": 2, "values": 4},
    "flows": {"messages": 4, "steps": 2, "many": 1, "crowd": 3},
    "environment": {"cut": 5, "cheats": 2, "messages": 3, "hidden": 1},
    "traffic": {"messages": 3, "attack": 1},
    "runs": {"messages": 3, "steps": 3, "counter": 4, "cut": 1, "crowd": 1},
    "dynamic": {"messages": 3, "steps": 1, "attack": 1, "crowd": 4},
}


LOOKING = ("partial", "twins", "events", "dynamic", "flows", "universe")
"""Where whole states get lost: properties that only look miss the most."""


def focused(seed: int, focus: str) -> Case:
    """The case of a number; raises TooLarge if it is not worth its time."""
    if focus in POINTS:
        return _around(seed, focus)
    weights = WEIGHTS.get(focus, {"steps": 2, "counter": 3, "messages": 3, "attack": 1, "crowd": 6})
    before = dict(STYLES)
    STYLES.clear()
    STYLES.update(weights)
    try:
        drawing = Drawing(seed)
    finally:
        STYLES.clear()
        STYLES.update(before)
    d = drawing.dice
    if (
        drawing.network == Network()
        and d.chance(25 if focus == "dynamic" else 45)
        and drawing.style not in SHAPES
        and focus != "roles"
    ):
        for _ in range(3):
            drawing.network = drawing._network()
    if focus in ("tables", "partial", "twins", "symmetry") and drawing.style not in SHAPES and d.chance(20):
        drawing.faults = Faults(1, (), d.chance(60), d.chance(45))
    if not drawing.monitors and (focus == "events" or (focus in ("flows", "dynamic") and d.chance(30))):
        drawing._draw_monitor()
        drawing._draw_monitor = lambda: None  # type: ignore[method-assign]
    structure = drawing.structure()
    environment = drawing.environment or draw_environment(d, structure, drawing.style == "attack")
    if focus == "implicit":
        environment = environment._replace(crash="implicit")
    if focus in ("dynamic", "flows") and d.chance(8):
        environment = environment._replace(network_model="rm")
    if focus == "traffic":
        environment = environment._replace(network_model="grm" if d.chance(40) else "rm")
    system = System(structure, environment)
    if len(system.attackers) > 2 or len(system.attackers) == system.count or refused(structure, system):
        raise TooLarge
    found = explore(system, MOST_STATES)
    said = claims(drawing, system, found)
    looking = focus in LOOKING and d.chance(75)
    properties = said.looks() if looking else said.properties()
    protocol = replace(structure, properties=properties)
    checks = [_check(d, protocol, environment, focus) for _ in range(4)]
    if focus == "runs":
        checks = [of({"keep": _whole_runs(d)}) for _ in range(6)]
        looking = False
    if looking:
        checks = [_looking(d, check) for check in checks]
    return Case(seed, protocol, checks, drawing.style, (environment, system, found))


def _whole_runs(dice: Dice) -> tuple[str, int, bool]:
    """Linear or branching time, which field is observed, and whether the tables are reduced first."""
    return dice.one(("linear", "branching")), dice.between(0, 11), dice.chance(50)


def _around(seed: int, name: str) -> Case:
    """A case around one point."""
    drawing = Drawing(seed)
    drawing.style, drawing.point = "pointed", name
    drawing.failing = drawing.asserting = 0.0
    drawing.network, drawing.faults = Network(), Faults()
    structure = drawing.structure()
    environment = drawing.environment or Environment()
    system = System(structure, environment)
    if refused(structure, system):
        raise TooLarge
    return pointed(seed, drawing, structure, (environment, system, explore(system, MOST_STATES)), only=4)


def _check(dice: Dice, protocol: Protocol, environment: Environment, focus: str) -> Check:
    keywords = draw_keywords(
        dice, protocol, focus in ("partial", "twins", "events", "dynamic", "flows") or dice.chance(50)
    )
    if focus in ("tables", "symmetry", "roles", "implicit", "attack", "traffic"):
        _drop(keywords, "por", "split", "por_options", "max_depth", "dpor_variant", "stateless", "max_states", "store")
    if focus in ("tables", "partial", "twins", "events", "universe", "flows"):
        if keywords.get("por") == "dpor":
            _drop(keywords, "max_depth", "dpor_variant", "max_states", "store")
            keywords["por"] = "lpor-net"
        keywords["symmetry"] = "none"
    if focus == "tables":
        _drop(keywords, "quotient", "dead_messages")
    if focus in ("symmetry", "roles"):
        _drop(keywords, "symmetry")
    if focus == "dynamic":
        _drop(keywords, "split", "por_options", "search", "stateless", "max_depth", "threads", "store")
        keywords |= {"por": "dpor", "dpor_variant": dice.one(("optimal", "classical")), "max_states": 5_000}
    if focus in ("partial", "events") and dice.chance(80):
        keywords["self_check"] = True
    if focus == "twins":  # a self-check runs without them
        _drop(keywords, "self_check", "por_options")
    check = of(keywords, environment)
    if focus in ("universe", "flows"):
        thresholds: list[tuple[str, int]] = []
        while not thresholds:
            thresholds = draw_thresholds(dice)
        if focus == "flows":
            thresholds.append(("optimistic.MOST_ROUNDS", 0))
        check = check._replace(thresholds=tuple(thresholds))
    return check


def _looking(dice: Dice, check: Check) -> Check:
    """One of the properties alone; deadlocks alone leave most out."""
    keywords = dict(check.keywords)
    if dice.chance(70):
        keywords.pop("self_check", None)
    if dice.chance(90):
        keywords["property"] = ("deadlock",) if dice.chance(50) else ("noted",)
    return check._replace(keywords=tuple(keywords.items()))


def _drop(keywords: dict[str, Any], *names: str) -> None:
    for name in names:
        keywords.pop(name, None)
