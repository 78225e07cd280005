"""Symmetry: of all states that differ in the names of interchangeable processes and values only, one is visited."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from sys import float_info

from quorate.base.watchdog import supervised
from quorate.native.backend import Found
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.kinds import Kept
from quorate.reduce.families import Family, Symmetries, proposed
from quorate.reduce.interface import Reduction
from quorate.reduce.open_symmetry import OpenSymmetries, possible

LARGEST = int(float_info.max)
"""Larger numbers are no numbers to most readers of JSON."""


class Symmetry(Reduction):
    """Families of interchangeable names are proposed by what they are, and believed after a check (`families.py`).

    The quotient by a group of automorphisms is bisimilar to the whole (Emerson and Sistla 1996; Ip and Dill 1996) for
    properties that every renaming keeps, which is judged too. Fairness of one process is not such a property
    (docs/soundness.md, rule 37).
    """

    name = "symmetry"
    off = {"symmetry": "none"}
    keeps = frozenset(Kept) - {Kept.WHO, Kept.FAIRNESS}

    def __init__(self, model: Model, options: Options) -> None:
        super().__init__(model, options)
        self.stores_nothing = ""
        """What kind of search has no states that could be merged."""

    def _reason(self, wanted: frozenset[Kept]) -> str:
        if self.wanted and wanted & {Kept.WHO, Kept.FAIRNESS} and Kept.LINEAR in wanted:
            why = "it does not keep who is treated fairly: "
            if self.options.fairness in ("none", "progress"):
                return why + "here a step is strongly fair, a process may crash implicitly, or there is an attacker"
            return why + "it keeps --fairness none and progress"
        return super()._reason(wanted)

    def why_not(self) -> str:
        return f"{self.stores_nothing} stores no states that could be merged" if self.stores_nothing else ""

    def proposed(self) -> list[Family]:
        """Families worth a look, by class and initial states."""
        if not self.wanted or self.why_not():
            return []
        return supervised(lambda: proposed(self.model.definition))  # of thousands of processes it takes long

    def check(self, families: list[Family]) -> None:
        """Compare the families with the closure, which is complete."""
        if self.ran:
            self.model.symmetries = Symmetries(self.model, families) if families else None
            self._describe()

    def open(self, wanted: frozenset[Kept]) -> None:
        """Compare the families while a search goes on, since there is no closure to compare them with."""
        self.decide(wanted)
        if not self.ran:
            return
        unknown = "images of all that a search meets are not told one by one here"
        if not possible(self.model):
            self._set(unknown)
            return
        if not isinstance(self.model.symmetries, OpenSymmetries):  # else it is what an earlier search has left
            families = self.proposed()
            self.model.symmetries = OpenSymmetries(self.model, families) if families else None
        self._describe()

    def extend(self) -> None:
        """All that was met so far belongs to a universe."""
        if self.ran and isinstance(self.model.symmetries, OpenSymmetries) and self.model.symmetries.families:
            self.model.symmetries.admit_all()

    def close(self, why: str) -> None:
        """What is compared while a search goes on ends with it."""
        if isinstance(self.model.symmetries, OpenSymmetries):
            self.model.engine.unsymmetrise()
            self.model.symmetries = None
        self._set(why)

    def broken(self) -> tuple[int, str] | None:
        """The family that a property or a monitor turned out to tell apart, if that is why the search stopped; and
        how it does."""
        broken = self.model.engine.broken_family()
        if broken is None or self.model.symmetries is None:
            return None
        if isinstance(self.model.symmetries, OpenSymmetries) and (breach := self.model.symmetries.breach()):
            return breach
        if self.model.symmetries.growing.why:
            return broken.family, self.model.symmetries.growing.why
        if broken.property is None:
            return broken.family, "the properties look at it in too many ways to compare them all"
        prop = self.model.properties[broken.property]
        place = f"{prop.location.file}:{prop.location.line}"
        return broken.family, f"the property `{prop.name}` ({place}) does not say the same of all of them"

    def drop_broken(self) -> None:
        """Leave out the family that was told apart."""
        broken = self.model.told_apart or self.broken()
        self.model.told_apart = None
        if broken is not None:
            self.drop(*broken)

    def drop(self, family: int, why: str) -> None:
        """Leave a family out after all."""
        assert self.model.symmetries is not None
        self.model.symmetries.drop(family, why)
        self._describe()

    def _describe(self) -> None:
        found = self.model.symmetries
        if found is None:
            self._set("no two processes are of one class, with the same links and fields")
            return
        left_out = [f"{family}: {why}" for family, why in found.dropped]
        if found.families:
            told = "takes one of all states that differ in names only"
            if isinstance(found, OpenSymmetries):
                why = "ranks have no closure" if self.model.definition.ranked else "the closure has not ended"
                told += f"; compared as the search asks, since {why}"
            order = found.order if found.order <= LARGEST else None
            self._set("", told, group=found.group, order=order, left_out=left_out)
        else:
            self._set("; ".join(left_out))

    def searched(self, found: Found) -> None:
        """Gain and efficiency as section 3.3.3 of the thesis defines them."""
        self.stood_for(found.stands_for, found.states)

    def stood_for(self, all_states: float, states: int) -> None:
        families = self.model.symmetries
        if self.ran and states and families is not None:
            self.figures |= gained(all_states, states, families.order)

    def taken_apart(self, roles: object, why_whole: str) -> None:
        """Note which processes were taken apart into their roles, or why they were not."""
        if roles:
            self.figures["decomposed"] = roles
        elif why_whole:
            self.figures["not_decomposed"] = why_whole


def gained(stands_for: float, states: int, order: int) -> dict[str, float | None]:
    """None where there are more states than a float can count."""
    if not isfinite(stands_for):
        return {"stands_for": None, "gain": None, "efficiency": None}
    gain = stands_for / states
    efficiency = gain / order if order <= LARGEST else float(Fraction(gain) / order)
    return {"stands_for": round(stands_for), "gain": gain, "efficiency": efficiency}
