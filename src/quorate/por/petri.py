"""Petri nets as transition systems, with relations read off the arcs: the example of section 4.3.1 of the thesis.

A net is a few lines of text, in which `#` starts a comment:

    place idle 2                        # a place, and how many tokens it holds at the start
    place busy
    transition start: idle -> busy      # inputs -> outputs
    transition stop:  2 busy -> 2 idle  # arcs with a weight
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from quorate.base.errors import Location, did_you_mean
from quorate.por.errors import ReductionError
from quorate.por.relations import Relations
from quorate.por.system import TransitionSystem

Marking = tuple[int, ...]

_NAME = re.compile(r"[^\s:,#>-][^\s:,#]*")


@dataclass(frozen=True)
class PetriNet:
    """Places, in order, the tokens they hold at the start, and for each transition what it takes and gives."""

    places: tuple[str, ...]
    initial: Marking
    takes: Mapping[str, Marking]
    gives: Mapping[str, Marking]

    @staticmethod
    def read(text: str, file: str = "<net>") -> PetriNet:
        """A net from its text."""
        return _Reader(file).read(text)

    @staticmethod
    def load(path: str | Path) -> PetriNet:
        """A net from a file."""
        return PetriNet.read(Path(path).read_text(encoding="utf-8"), str(path))

    @property
    def system(self) -> TransitionSystem[Marking, str]:
        """The net as a transition system; its states are markings, tuples of tokens in the order of `places`."""
        return TransitionSystem(list(self.takes), [self.initial], self._fire)

    def _fire(self, marking: Marking, transition: str) -> tuple[Marking, ...]:
        arcs = list(zip(marking, self.takes[transition], self.gives[transition], strict=True))
        if any(tokens < takes for tokens, takes, _ in arcs):
            return ()
        return (tuple(tokens - takes + gives for tokens, takes, gives in arcs),)

    def show(self, marking: Marking) -> str:
        """A marking as a person would write it."""
        held = zip(marking, self.places, strict=True)
        return ", ".join(place if tokens == 1 else f"{tokens} {place}" for tokens, place in held if tokens) or "empty"

    def relations(self, watch: Collection[str] | None = None) -> Relations[str]:
        """What the arcs alone say about pairs of transitions; `watch` are the places that the property reads."""
        for place in watch or ():
            if place not in self.places:
                raise ReductionError(f"there is no place={place!r} to watch", hint=did_you_mean(place, self.places))
        visible: Callable[[str], bool] | None = None
        if watch is not None:
            watched = [self.places.index(place) for place in watch]

            def visible(transition: str) -> bool:
                return any(self.takes[transition][place] != self.gives[transition][place] for place in watched)

        return Relations(
            dependent=self._dependent,
            can_enable=self._enables,
            necessary=lambda first, second: self._needs(self.initial, first, second),
            visible=visible,
            deterministic=lambda transition: True,
            to_fire=self._needs,
            candidates=lambda first, second: any(
                takes and self._only_source(place) == second for place, takes in enumerate(self.takes[first])
            ),
        )

    # Firing adds and subtracts, so two orders that are both possible end in the same marking. What is left of
    # definition 16 is disabling, in either direction: if t2 disables t1 but not the other way round, t1 then t2 is
    # possible and t2 then t1 is not.
    def _dependent(self, first: str, second: str) -> bool:
        return first != second and (self._disables(first, second) or self._disables(second, first))

    def _disables(self, first: str, second: str) -> bool:
        # If the smallest marking that enables both is enough for one after the other, so is any larger one.
        return any(
            max(takes, wants) - takes + gives < wants
            for takes, gives, wants in zip(self.takes[first], self.gives[first], self.takes[second], strict=True)
        )

    def _enables(self, first: str, second: str) -> bool:
        return any(
            gives > takes and takes < wants
            for takes, gives, wants in zip(self.takes[first], self.gives[first], self.takes[second], strict=True)
        )

    def _needs(self, marking: Marking, first: str, second: str) -> bool:
        """Whether `first` lacks tokens in a place that only `second` adds to (definitions 17 and 22)."""
        return any(
            tokens < wants and self._only_source(place) == second
            for place, (tokens, wants) in enumerate(zip(marking, self.takes[first], strict=True))
        )

    def _only_source(self, place: int) -> str | None:
        sources = [each for each in self.takes if self.gives[each][place] > self.takes[each][place]]
        return sources[0] if len(sources) == 1 else None


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._line = 0
        self._tokens: dict[str, int] = {}
        self._arcs: dict[str, tuple[dict[str, int], dict[str, int], int]] = {}

    def read(self, text: str) -> PetriNet:
        for self._line, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split(maxsplit=1)
            if not words:
                continue
            if words[0] not in ("place", "transition"):
                raise self._error(f"a line starts with {words[0]!r}", "write `place NAME` or `transition NAME: ...`")
            rest = words[1].strip() if len(words) > 1 else ""
            self._place(rest) if words[0] == "place" else self._transition(rest)
        places = tuple(self._tokens)
        for takes, gives, number in self._arcs.values():
            self._line = number
            for place in (*takes, *gives):
                if place not in self._tokens:
                    raise self._error(f"there is no place={place!r}", did_you_mean(place, places))
        return PetriNet(
            places=places,
            initial=tuple(self._tokens.values()),
            takes={name: tuple(takes.get(each, 0) for each in places) for name, (takes, _, _) in self._arcs.items()},
            gives={name: tuple(gives.get(each, 0) for each in places) for name, (_, gives, _) in self._arcs.items()},
        )

    def _place(self, text: str) -> None:
        name, _, tokens = text.partition(" ")
        tokens = tokens.strip() or "0"
        if not _NAME.fullmatch(name) or not _is_number(tokens):
            raise self._error(f"place {text!r} cannot be read", "write `place NAME` or `place NAME TOKENS`")
        if name in self._tokens:
            raise self._error(f"place={name!r} is declared twice", "give each place one line, with all its tokens")
        self._tokens[name] = int(tokens)

    def _transition(self, text: str) -> None:
        name, colon, arcs = text.partition(":")
        takes, arrow, gives = arcs.partition("->")
        if not colon or not arrow or not _NAME.fullmatch(name.strip()):
            raise self._error(f"transition {text!r} cannot be read", "write `transition NAME: inputs -> outputs`")
        if name.strip() in self._arcs:
            raise self._error(f"transition={name.strip()!r} is declared twice", "give each a name of its own")
        self._arcs[name.strip()] = (self._side(takes), self._side(gives), self._line)

    def _side(self, text: str) -> dict[str, int]:
        weights: dict[str, int] = {}
        for arc in text.split(",") if text.strip() else ():
            *weight, place = arc.split() or [""]
            if not _NAME.fullmatch(place) or len(weight) > 1 or not all(map(_is_number, weight)):
                raise self._error(f"arc {arc.strip()!r} cannot be read", "separate places by commas: `p, 2 q -> r`")
            weights[place] = weights.get(place, 0) + (int(weight[0]) if weight else 1)
        return weights

    def _error(self, message: str, hint: str) -> ReductionError:
        return ReductionError(message, hint=hint, location=Location(self._file, self._line))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
