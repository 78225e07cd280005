"""Drawing how a protocol is checked: keywords of `quorate.check`, and how soon its modes switch."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from .expressions import Dice
from .protocol import Protocol
from .system import DECLARED, Environment

PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
REFINEMENTS = ("conditional", "necessary", "smallest", "commuting", "key", "twins")
FILES = (("core.narrow_index", 12), ("core.index_lines", 8), ("core.index_segmented", 128), ("core.index_step", 1),
         ("core.index_segment_bits", 3))  # fmt: skip
"""So that the index of a small system grows in steps, as that of a large one does."""
BOTH = (("all", True), ("coverage", True))
MOST_STATES = 20_000
"""Runs without a store visit states again and again."""


class Check(NamedTuple):
    """One check: keywords, the environment among them as it is, and thresholds by module."""

    keywords: tuple[tuple[str, Any], ...] = ()
    environment: Environment = Environment()
    thresholds: tuple[tuple[str, int], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """What is handed to `quorate.check`."""
        found = dict(self.keywords)
        given = self.environment
        if given.crash is not None:
            found["crash"] = given.crash
        if given.crashes is not None:
            found["crashes"] = given.crashes
        if given.byzantine:
            found["byzantine"] = dict(given.byzantine)
        if given.network_model != "m":
            found["network_model"] = given.network_model
        return found

    @property
    def command(self) -> str:
        """The options as they are written on the command line."""
        words: list[str] = []
        for name, value in self.options.items():
            flag = "--" + name.replace("_", "-")
            if name == "property":
                words += [f"--property {each}" for each in value]
            elif name == "byzantine":
                words += [f"--byzantine {role}={count}" for role, count in value.items()]
            elif name == "por_options":
                words += [f"--por-without {each}" for each in value]
            elif value is True:
                words.append(flag)
            else:
                words.append(f"{flag} {value}")
        return " ".join(words)


def of(keywords: dict[str, Any], environment: Environment = DECLARED, thresholds: Any = ()) -> Check:
    return Check(tuple(keywords.items()), environment, tuple(thresholds))


def draw_environment(dice: Dice, protocol: Protocol, attacks: bool) -> Environment:
    """Mostly what the system declares."""
    found = Environment()
    if dice.chance(4):
        found = found._replace(crash="implicit")
    elif dice.chance(3):
        found = found._replace(crashes=dice.between(0, 2))
    if (attacks and not protocol.corrupt and dice.chance(85)) or dice.chance(1.5):
        spawn = dice.one(protocol.spawns)
        found = found._replace(byzantine=((spawn.cls.lower(), 2 if spawn.number > 1 and dice.chance(25) else 1),))
    if dice.chance(5):
        found = found._replace(network_model="grm" if dice.chance(65) else "rm")
    return found


def draw_checks(dice: Dice, protocol: Protocol, environment: Environment, style: str) -> list[Check]:
    """Plain, so that counts can be compared; with the defaults; and some more."""
    checks = [of(PLAIN, environment)]
    often = {"roles": 45.0, "counter": 95.0}.get(style, 80.0)  # by partial orders
    if style != "counter" or dice.chance(30):
        checks.append(of({}, environment))
    if dice.chance(4) and environment == DECLARED:
        checks.append(of({"keep": (dice.one(("linear", "branching")), dice.between(0, 11), dice.chance(50))}))
    for _ in range(3):
        partial = dice.chance(often)
        keywords = draw_keywords(dice, protocol, partial)
        if style == "roles" and dice.chance(60):
            keywords.pop("symmetry", None)
        thresholds = draw_thresholds(dice)
        if protocol.monitors and dice.chance(40):  # so that a monitor has no table
            thresholds.append(("core.most_reactions", dice.between(0, 3)))
        checks.append(of(keywords, environment, thresholds))
    return [_kept(each, dice, number) for number, each in enumerate(checks)]


def _kept(check: Check, dice: Dice, number: int) -> Check:
    """Now and then the states are kept in another way: as fingerprints, in files, or in checkpoints to go on from. And
    now and then a search goes on after a violation, or what was covered or is vacuous is asked for as well.

    This is drawn beside all else, so that the cases of all numbers stay what they are.
    """
    options = check.options
    if (
        options.get("search") == "dfs"
        or options.get("por") == "dpor"
        or options.keys() & {"store", "stateless", "keep"}
    ):
        return check
    aside = Random()
    aside.setstate(dice.random.getstate())
    chance = (aside.random() + number * 0.37) % 1
    if chance < 0.04 and "por" not in options and "self_check" not in options:
        return check._replace(keywords=(*check.keywords, ("store", "fingerprint")))
    if chance < 0.08:
        return check._replace(keywords=(*check.keywords, ("spill", True)), thresholds=(*check.thresholds, *FILES))
    if chance < 0.12 and "self_check" not in options:
        return check._replace(keywords=(*check.keywords, ("checkpoint", 1 + int(chance * 1e6) % 20)))
    if 0.12 < chance < 0.22 and "por" not in options:
        more = (("all", True),) if chance < 0.16 else (("coverage", True),) if chance < 0.19 else BOTH
        return check._replace(keywords=(*check.keywords, *more))
    if 0.22 < chance < 0.24:
        return check._replace(keywords=(*check.keywords, ("vacuity", True)))
    return check


def draw_keywords(dice: Dice, protocol: Protocol, partial: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    names = [each.name for each in protocol.properties if each.kind != "final"]
    final = any(each.kind == "final" for each in protocol.properties)
    if dice.chance(55):
        alone = [*names, *(["deadlock"] * (3 if final else 1)), "assertions"]
        found["property"] = tuple(dict.fromkeys([dice.one(alone)] + ([dice.one(alone)] if dice.chance(15) else [])))
    if partial:
        found["por"] = dice.weighted({"lpor-net": 7, "lpor": 2.5, "dpor": 2})
        if found["por"] == "dpor":
            if dice.chance(40):
                found["max_depth"] = dice.between(1, 12)
            if dice.chance(30):
                found["dpor_variant"] = "classical"
        else:
            if dice.chance(35):
                found["split"] = dice.one(("reply", "quorum", "combined"))
            if dice.chance(15):
                found["por_options"] = tuple(sorted({dice.one(REFINEMENTS) for _ in range(2)}))
    if dice.chance(35):
        found["symmetry"] = dice.weighted({"none": 2, "naive": 1})
    if dice.chance(25):
        found["quotient"] = "off"
        if dice.chance(50):
            found["dead_messages"] = "off"
    elif dice.chance(20):
        found["dead_messages"] = "off"
    if dice.chance(15):
        found["search"] = "dfs"
    if found.get("por") == "dpor":
        found.pop("search", None)
    elif dice.chance(6):
        found["stateless"] = True
        found.pop("search", None)
    elif dice.chance(3):
        found["store"] = "bitstate"
        found.pop("search", None)
    if dice.chance(8):
        found["threads"] = 2
    if dice.chance(20):
        found["self_check"] = True
    if dice.chance(6):
        found["max_behaviours"] = dice.between(1, 40)
    if dice.chance(3):
        found["shorten"] = True
    if found.get("por") == "dpor" or "stateless" in found:
        found["max_states"] = MOST_STATES
    return found


NEVER = 1_000_000


def draw_thresholds(dice: Dice) -> list[tuple[str, int]]:
    """Small systems meet the modes of large ones if these begin sooner."""
    found: list[tuple[str, int]] = []
    if dice.chance(15):
        found += [("core.few_states", dice.between(1, 8)), ("core.few_smallest", dice.between(1, 2))]
        found += [("core.most_twins", dice.between(0, 1)), ("core.portion", dice.between(1, 4))]
        found += [("core.most_waiting", dice.between(1, 4)), ("core.most_judged", dice.between(2, 50))]
    if dice.chance(82):
        return found
    found += [
        ("check.FIRST_BEHAVIOURS", dice.between(1, 20)),
        ("check.FIRST_STATES", dice.between(1, 6)),
        ("check.WORTH_DROPPING", 0),
        ("reductions.MOST_BEHAVIOURS", dice.between(1, 40)),
    ]
    # Sometimes the closure goes on beside the search until it ends, sometimes it does not get anywhere.
    states = found[-2][1]
    found.append(("share.TRANSITIONS_PER_BEHAVIOUR", states if states % 2 else NEVER))
    if dice.chance(50):
        found.append(("check.MOST_BEHAVIOURS", dice.between(1, 40)))
    if dice.chance(90):
        found.append(("optimistic.LITTLE", 0))
    if dice.chance(80):
        found += [("optimistic.WALKS", dice.between(0, 2)), ("optimistic.WALK_STEPS", dice.between(1, 4))]
    if dice.chance(80):
        found.append(("optimistic.VOID_STATES", dice.between(1, 4)))
        found.append(("check.VOID_STATES", found[-1][1]))
    if dice.chance(40):
        found.append(("optimistic.MOST_BEHAVIOURS", dice.between(1, 60)))
    if dice.chance(20):
        found.append(("optimistic.MOST_ROUNDS", dice.between(1, 3)))
    if dice.chance(10):
        found.append(("optimistic.MOST_VOID_STATES", dice.between(1, 20)))
    return found
