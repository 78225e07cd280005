"""Whether relations hold what they promise, checked on the states of a system: definitions 15, 16, 17 and 22.

Reduction by wrong relations loses states without a word. This helper explores the system without reduction, up to a
budget, and tries every claim in every state it meets: that a pair is independent, that one cannot enable the other,
that a transition is necessary, invisible or deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal

from quorate.por.brute import Graph, Interference, Kind, interferences
from quorate.por.errors import RelationError
from quorate.por.relations import Relations
from quorate.por.run import Run, Tree
from quorate.por.system import S, T, TransitionSystem

Claim = Literal["dependent", "can_enable", "necessary", "to_fire", "visible", "deterministic"]


@dataclass(frozen=True)
class WrongClaim(Generic[S, T]):
    """A claim that a state refutes: `claim` is the relation, `pair` what it was asked about (t twice, if only t)."""

    claim: Claim
    pair: tuple[T, T]
    state: S
    run: Run[S, T]  # a run to `state`
    text: str

    def __str__(self) -> str:
        way = ", ".join(str(each) for each in self.run.transitions)
        return f"{self.text}\n  in state {self.state!r}, " + (f"reached by {way}" if way else "an initial state")


@dataclass(frozen=True)
class Report(Generic[S, T]):
    """What `verify_relations` looked at, and the first state it found against each wrong claim."""

    wrong: tuple[WrongClaim[S, T], ...]
    states: int
    complete: bool

    @property
    def ok(self) -> bool:
        """No claim was refuted. If `complete`, the relations are right for this system; else for these states."""
        return not self.wrong

    def raise_if_wrong(self) -> None:
        """Raise a `RelationError` that shows every wrong claim."""
        if self.wrong:
            raise RelationError(
                f"the relations are wrong:\n{self}",
                hint="add the pair to `dependent` or `can_enable`, or take it out of `necessary` or `to_fire`",
            )

    def __str__(self) -> str:
        seen = f"{self.states} states" if self.complete else f"the first {self.states} states"
        if self.ok:
            return f"no claim is wrong in {seen}"
        return "\n".join([*map(str, self.wrong), f"{len(self.wrong)} wrong in {seen}"])


def verify_relations(
    system: TransitionSystem[S, T],
    relations: Relations[T],
    *,
    observe: Callable[[S], Hashable] | None = None,
    budget: int = 10_000,
) -> Report[S, T]:
    """Try every claim of the relations in the first `budget` states.

    `observe` is what the property reads of a state, or the invariant itself; without it `visible` is not tried.
    """
    graph = Graph(system, budget)
    wrong = [*_local(graph, relations, observe), *_necessary(graph, relations), *_to_fire(graph, relations)]
    return Report(tuple(wrong), len(graph.moves), graph.complete)


def _local(
    graph: Graph[S, T], relations: Relations[T], observe: Callable[[S], Hashable] | None
) -> Iterator[WrongClaim[S, T]]:
    reported: set[tuple[Kind, T, T]] = set()
    answers: dict[tuple[Kind, T, T], bool] = {}

    def claimed(kind: Kind, first: T, second: T) -> bool:
        if (kind, first, second) not in answers:
            answers[kind, first, second] = _excludes(relations, kind, first, second)
        return answers[kind, first, second] and (kind, first, second) not in reported

    for each in interferences(graph, observe, claimed):
        kind: Kind = "disables" if each.kind == "order" else each.kind
        if (kind, each.first, each.second) not in reported:
            reported.add((kind, each.first, each.second))
            claim, text = _say(each)
            yield WrongClaim(claim, (each.first, each.second), each.state, graph.tree.run_to(each.state), text)


def _excludes(relations: Relations[T], kind: Kind, first: T, second: T) -> bool:
    """Whether the relations say that this kind of thing never happens."""
    match kind:
        case "enables":
            return not relations.can_enable(first, second)
        case "disables" | "order":
            return not relations.dependent(first, second)
        case "outcomes":
            return relations.deterministic is not None and relations.deterministic(first)
        case "changes":
            return relations.visible is not None and not relations.visible(first)


def _say(each: Interference[S, T]) -> tuple[Claim, str]:
    match each.kind:
        case "enables":
            return "can_enable", f"can_enable({each.first!s}, {each.second!s}) is False, but it does"
        case "disables":
            return (
                "dependent",
                f"dependent({each.first!s}, {each.second!s}) is False, but the first disables the second",
            )
        case "order":
            return "dependent", (
                f"dependent({each.first!s}, {each.second!s}) is False, but in this order they lead to {each.after!r}, "
                "in the other they cannot"
            )
        case "outcomes":
            return "deterministic", f"deterministic({each.first!s}) is True, but it has several outcomes"
        case "changes":
            return "visible", f"visible({each.first!s}) is False, but it changes what is observed"


def _necessary(graph: Graph[S, T], relations: Relations[T]) -> Iterator[WrongClaim[S, T]]:
    necessary, transitions = relations.necessary, graph.system.transitions
    if necessary is None:
        return
    for second in transitions:
        firsts = [first for first in transitions if necessary(first, second)]
        avoiding = graph.avoiding(second) if firsts else Tree()
        for first in firsts:
            for state in avoiding:
                if first in graph.moves[state]:
                    text = f"necessary({first!s}, {second!s}) is True, but the first is enabled without the second"
                    yield WrongClaim("necessary", (first, second), state, avoiding.run_to(state), text)
                    break


def _to_fire(graph: Graph[S, T], relations: Relations[T]) -> Iterator[WrongClaim[S, T]]:
    asked, transitions = relations.candidates or relations.necessary, graph.system.transitions
    if relations.to_fire is None or asked is None:
        return
    for first in transitions:
        for second in transitions:
            if not asked(first, second):
                continue
            able = graph.can_enable_without(first, second)
            for state, moves in graph.moves.items():
                # Nobody asks about a transition that is enabled.
                if state in able and first not in moves and relations.to_fire(state, first, second):
                    text = (
                        f"to_fire(..., {first!s}, {second!s}) is True, but from here the first can be enabled without"
                    )
                    yield WrongClaim("to_fire", (first, second), state, graph.tree.run_to(state), text)
                    break
