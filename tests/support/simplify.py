"""Makes a failing generated protocol small: leaves out or makes plainer one part after another while it still fails."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from generator import Look, Protocol, Role, Rule, Term
from quorate.language.network import Network

SECONDS = 120


def passes(protocol: Protocol, compare: Callable[[Protocol], object]) -> None:
    """Run a comparison; if it fails, fail with the simplest protocol that fails in the same place."""
    place = _place(protocol, compare)
    if place is None:
        return
    end = time.monotonic() + SECONDS
    simplest = simplified(protocol, lambda other: time.monotonic() < end and _place(other, compare) == place)
    print(f"the simplest protocol that fails in the same place:\n{simplest!r}")
    compare(simplest)
    raise AssertionError(f"fails now and then: {simplest!r}")


def _place(protocol: Protocol, compare: Callable[[Protocol], object]) -> object:
    """Where the comparison fails; None if it does not."""
    try:
        compare(protocol)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return type(error), frame.filename, frame.lineno
    return None


def simplified(protocol: Protocol, fails: Callable[[Protocol], bool]) -> Protocol:
    """A protocol that still fails, and of which no single part can be left out or made plainer."""
    again = True
    while again:
        again = False
        for candidate in simpler(protocol):
            if fails(candidate):
                protocol, again = candidate, True
                break
    return protocol


def simpler(protocol: Protocol) -> Iterator[Protocol]:
    """The protocols that are a little simpler, the boldest first."""
    roles = protocol.roles
    for at in range(len(roles)):
        if len(roles) > 1:
            yield protocol._replace(roles=roles[:at] + roles[at + 1 :])
    if protocol.watch is not None:
        yield protocol._replace(watch=None)
    for network in _networks(protocol.network):
        yield protocol._replace(network=network)
    for name in ("starts", "invariants", "cans"):
        for fewer in _without_one(getattr(protocol, name)):
            yield _with(protocol, name, fewer)
    plainest = {
        "crashes": 0,
        "cut_short": False,
        "crash_first_role_only": False,
        "recover": False,
        "final": None,
        "modulus": 2,
    }
    for name, plain in plainest.items():
        if getattr(protocol, name) != plain:
            yield _with(protocol, name, plain)
    for fuel in (1, 2, 3):
        if protocol.fuel < 0 or fuel < protocol.fuel:
            yield protocol._replace(fuel=fuel)
    for at, role in enumerate(roles):
        for plainer in _roles(role):
            yield protocol._replace(roles=(*roles[:at], plainer, *roles[at + 1 :]))
    if protocol.watch is not None:
        for fewer in _without_one(protocol.watch):
            yield protocol._replace(watch=fewer)
        for at, reaction in enumerate(protocol.watch):
            for part in _parts(reaction):
                yield protocol._replace(watch=(*protocol.watch[:at], part, *protocol.watch[at + 1 :]))
    for name in ("invariants", "cans"):
        looks = getattr(protocol, name)
        for at, look in enumerate(looks):
            for plainer_look in _looks(look):
                yield _with(protocol, name, (*looks[:at], plainer_look, *looks[at + 1 :]))
    if protocol.final is not None:
        for plainer_look in _looks(protocol.final):
            yield protocol._replace(final=plainer_look)


def _with(protocol: Protocol, name: str, value: Any) -> Protocol:
    return protocol._replace(**{name: value})


def _without_one(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for at in range(len(items)):
        yield items[:at] + items[at + 1 :]


def _networks(network: Network) -> Iterator[Network]:
    for name, plain in (("losses", 0), ("duplicates", 0), ("head", "block")):
        if getattr(network, name) != plain:
            yield replace(network, **{name: plain})  # type: ignore[arg-type]
    if network.full == "replace":
        yield replace(network, full="block")
    if network.capacity is not None:
        yield replace(network, capacity=None, full="block")
    if network.kind != "set":
        yield replace(network, kind="set", capacity=None, full="block", head="block")


def _roles(role: Role) -> Iterator[Role]:
    if role.number > 1:
        yield role._replace(number=role.number - 1)
    for fewer in _without_one(role.rules):
        yield role._replace(rules=fewer)
    if role.within is not None:
        yield role._replace(within=None)
    if role.x:
        yield role._replace(x=0)
    if role.durable != ("fuel",):
        yield role._replace(durable=("fuel",))
    for at, rule in enumerate(role.rules):
        for plainer in _rules(rule):
            yield role._replace(rules=(*role.rules[:at], plainer, *role.rules[at + 1 :]))


def _rules(rule: Rule) -> Iterator[Rule]:
    for fewer in _without_one(rule.actions):
        yield rule._replace(actions=fewer)
    plain = Rule(rule.kind)
    for name in ("when", "where", "same", "keep", "by_field", "message"):
        if getattr(rule, name) != getattr(plain, name) and not (rule.kind == "step" and name == "when"):
            yield rule._replace(**{name: getattr(plain, name)})
    if rule.kind in ("exact", "each", "minimal", "maximal"):
        yield rule._replace(kind="on", where=None, when=None)
        if rule.size > 1:
            yield rule._replace(size=rule.size - 1)
    if rule.kind == "step":
        yield rule._replace(kind="start", when=None)
    for at, action in enumerate(rule.actions):
        for part in _parts(action):
            yield rule._replace(actions=(*rule.actions[:at], part, *rule.actions[at + 1 :]))


def _parts(record: Any) -> Iterator[Any]:
    """Plainer terms, tests and lists within an action, a test or a reaction."""
    for name in record._fields:
        value = getattr(record, name)
        if isinstance(value, Term) and value != Term("zero"):
            yield record._replace(**{name: Term("zero")})
            if value.add:
                yield record._replace(**{name: value._replace(add=0)})
        elif name in ("when", "claim") and value is not None:
            yield record._replace(**{name: None})
        elif name == "puts":
            for fewer in _without_one(value):
                yield record._replace(puts=fewer)
        elif name == "to" and value != "next":
            yield record._replace(to="next")
        elif name == "crude" and value:
            yield record._replace(crude=False)


def _looks(look: Look | bool) -> Iterator[Look | bool]:
    if isinstance(look, bool):
        return
    yield look.then
    yield look.otherwise
    for plainer in _looks(look.then):
        yield look._replace(then=plainer)
    for plainer in _looks(look.otherwise):
        yield look._replace(otherwise=plainer)
