"""One case: a protocol and the checks to make, all from one number; and what came out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .claims import Claims
from .compare import Answer, Finding, ask, compare, loaded
from .draw import Drawing
from .explorer import Exploration, Verdicts, explore, verdicts
from .options import Check, draw_checks, draw_environment
from .protocol import Protocol
from .system import Environment, System, TooLarge

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
    drawing = Drawing(seed)
    structure = drawing.structure()
    environment = draw_environment(drawing.dice, structure, drawing.style == "attack")
    system = System(structure, environment)
    if len(system.attackers) > 1 or len(system.attackers) == system.count or refused(structure, system):
        raise TooLarge
    found = explore(system, MOST_STATES)
    properties = Claims(drawing.dice, system, found, drawing.failing).properties()
    protocol = replace(structure, properties=properties)
    checks = draw_checks(drawing.dice, protocol, environment, drawing.style)
    return Case(seed, protocol, checks, drawing.style, (environment, system, found))


def refused(protocol: Protocol, system: System) -> bool:
    """Bounds that exclude the beginning; attackers where a set must be maximal, or a field has no small domain."""
    actions = [action for index in range(system.count) for action in system.actions[system.classes[index]]]
    wide = any(f.type in ("map", "peers") for record in protocol.records for f in record.fields)
    greedy = any(action.sets == "maximal" for action in actions)
    return system.outside or (bool(system.attackers) and (wide or greedy))


def examine(case: Case) -> Outcome:
    """Make the checks of a case, and compare each with the reference."""
    reference = Reference(case)
    outcome = Outcome()
    with loaded(case.protocol) as system:
        for check in case.checks:
            there, found, said = reference.at(check.environment)
            outcome.states = found.states
            answer = ask(system, check)
            outcome.answers.append((check, answer))
            finding = compare(case.protocol, there, found, said, check, answer)
            if finding is not None:
                outcome.findings.append((check, finding))
    return outcome
