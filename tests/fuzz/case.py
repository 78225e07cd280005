"""One case: a protocol and the checks to make, all from one number; and what came out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from quorate import Result

from .claims import Claims
from .compare import Answer, Finding, ask, asked, compare, loaded
from .draw import Drawing
from .drawn_flight import in_flight, without_reductions
from .explorer import Exploration, Verdicts, explore, verdicts
from .options import Check, draw_checks, draw_environment, draw_keywords, of
from .pointed import POINTS
from .protocol import Protocol, nodes_in
from .system import Environment, System, TooLarge
from .varied import FIRST, varied

MOST_STATES = 200


@dataclass
class Case:
    """A protocol with its checks."""

    seed: int
    protocol: Protocol
    checks: list[Check]
    style: str = ""
    explored: tuple[Environment, System, Exploration] | None = None
    """What drawing the properties needed to know already."""


@dataclass
class Outcome:
    """What one case came to."""

    findings: list[tuple[Check, Finding]] = field(default_factory=list)
    answers: list[tuple[Check, Answer]] = field(default_factory=list)
    states: int = 0


class Reference:
    """A protocol explored in its environments, each once."""

    def __init__(self, case: Case, most_states: int = MOST_STATES) -> None:
        self.protocol = case.protocol
        self.most_states = most_states
        self.explored = case.explored
        self._known: dict[Environment, tuple[System, Exploration, Verdicts]] = {}

    def at(self, environment: Environment) -> tuple[System, Exploration, Verdicts]:
        if environment not in self._known:
            if self.explored is not None and self.explored[0] == environment:
                _, system, found = self.explored
            else:
                system = System(self.protocol, environment)
                if refused(self.protocol, system):
                    raise TooLarge
                found = explore(system, self.most_states)
            self._known[environment] = system, found, verdicts(system, found, self.protocol.properties)
        return self._known[environment]


def draw(seed: int) -> Case:
    """The case of a number; raises TooLarge if it is not worth its time."""
    drawing = Drawing(seed % FIRST)
    structure = drawing.structure()
    if seed >= FIRST:
        structure = varied(structure, seed)
    environment = drawing.environment or draw_environment(drawing.dice, structure, drawing.style == "attack")
    system = System(structure, environment)
    if len(system.attackers) > 2 or len(system.attackers) == system.count or refused(structure, system):
        raise TooLarge
    found = explore(system, MOST_STATES)
    if drawing.point:
        return pointed(seed, drawing, structure, (environment, system, found))
    properties = claims(drawing, system, found).properties()
    protocol = replace(structure, properties=properties)
    checks = draw_checks(drawing.dice, protocol, environment, drawing.style)
    if seed >= FIRST:
        protocol = in_flight(seed, protocol, system, found)
        checks = without_reductions(seed, checks, protocol)
    return Case(seed, protocol, checks, drawing.style, (environment, system, found))


def pointed(
    seed: int, drawing: Drawing, structure: Protocol, explored: tuple[Environment, System, Exploration], only: int = 0
) -> Case:
    """A case around a point: some checks as always, and some as the point wants them; or so many of these alone."""
    d = drawing.dice
    environment, system, found = explored
    point = POINTS[drawing.point]
    said = claims(drawing, system, found)
    look = d.one(point.looks) if point.looks else ""
    properties = structure.properties or (said.looks() if look in ("noted", "deadlock") else said.properties())
    protocol = replace(structure, properties=properties)
    checks = [] if only else draw_checks(d, protocol, environment, drawing.style)[:-1]
    for _ in range(only or 1):
        keywords = draw_keywords(d, protocol, False)
        for name in ("stateless", "store", "threads", "max_behaviours", "shorten", "search"):
            if only or name in point.keywords:
                keywords.pop(name, None)
        if "por" in point.keywords and d.chance(80):
            keywords.pop("self_check", None)
        if look in ("noted", "deadlock"):
            keywords["property"] = (look,)
        elif only:
            keywords.pop("property", None)
        keywords |= {name: value for name, value in point.keywords.items() if name != "crash"}
        if keywords.get("por") == "dpor":
            for name in ("search", "stateless", "store", "threads"):
                keywords.pop(name, None)
            keywords["dpor_variant"] = d.one(("optimal", "classical"))
        checks.append(of(keywords, environment, point.thresholds(d) if point.thresholds else ()))
    return Case(seed, protocol, checks, drawing.style, explored)


def claims(drawing: Drawing, system: System, found: Exploration) -> Claims:
    """Claims from what was seen; of implicit crashes mostly from what explicit ones show, which must be the same."""
    environment = system.environment
    if environment.crash == "implicit" and drawing.dice.chance(80):
        explicit = System(system.protocol, environment._replace(crash="explicit", crashes=1))
        return Claims(drawing.dice, explicit, explore(explicit, 4 * MOST_STATES), drawing.failing, bool(drawing.point))
    return Claims(drawing.dice, system, found, drawing.failing, bool(drawing.point))


def refused(protocol: Protocol, system: System) -> bool:
    """Bounds that exclude the beginning; attackers where a field has no small domain."""
    wide = any(f.type in ("map", "peers", "scalar", "note") for record in protocol.records for f in record.fields)
    return system.outside or (bool(system.attackers) and wide)


def examine(case: Case) -> Outcome:
    """Make the checks of a case, and compare each with the reference."""
    reference = Reference(case)
    outcome = Outcome()
    with loaded(case.protocol) as system:
        for check in case.checks:
            outcome.states = reference.at(check.environment)[1].states
            answer = ask(system, check)
            outcome.answers.append((check, answer))
            finding = judged(reference, check, answer)
            if finding is not None:
                outcome.findings.append((check, finding))
    return outcome


def judged(reference: Reference, check: Check, answer: Answer) -> Finding | None:
    """What is wrong with an answer, if anything is: in its own environment, or by what is promised of others."""
    there, found, said = reference.at(check.environment)
    finding = compare(reference.protocol, there, found, said, check, answer)
    if finding is None and answer.result is not None and answer.result.stopped_by is None:
        finding = _unlike_what_is_promised(reference, check, found, said, answer.result)
    return finding


def _unlike_what_is_promised(
    reference: Reference, check: Check, found: Exploration, said: Verdicts, result: Result
) -> Finding | None:
    """What docs/faults.md says: implicit crashes, where they are not refused, give the answers of explicit ones; and on
    multisets every model of message traffic gives the same answers, but for deadlocks. Nothing is promised of what was
    left undecided: a search that ends with a violation need not have met what it would have been refused for."""
    environment = check.environment
    protocol = reference.protocol
    names = {each.op for each in nodes_in(protocol)}
    what = asked(protocol, check)
    about = {*what.invariants, *what.cans}
    if environment.crash == "implicit":
        other = environment._replace(crash="explicit", crashes=1)
        about |= {"deadlock"} if what.deadlock else set()
    elif environment.network_model != "m" and protocol.network.kind == "multiset" and "crashed" not in names:
        other = environment._replace(network_model="m")
        if any(action.sets == "maximal" for cls in protocol.classes for action in cls.actions):
            return None
    else:
        return None
    try:
        _, theirs, told = reference.at(other)
    except TooLarge:
        return None
    broken = {each.name for each in result.properties if each.verdict == "violated" and each.kind != "can"}
    about &= {each.name for each in result.properties if each.verdict != "incomplete"}
    failures = {each for each in (*found.failures, *theirs.failures) if not broken or f"{each}s" in broken}
    mine = (said.broken.keys() & about, said.reached.keys() & about, found.failures.keys() & failures)
    if mine != (told.broken.keys() & about, told.reached.keys() & about, theirs.failures.keys() & failures):
        return Finding("models of faults differ", f"{said} and {told}, {found.failures} and {theirs.failures}")
    return None
