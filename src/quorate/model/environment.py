"""What a check assumes of the network and of faults, beyond what the system itself declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from quorate.base.errors import QuorateError, did_you_mean
from quorate.base.values import show
from quorate.language.faults import Faults
from quorate.options import MODELS, NetworkModel, option, told

CRASH = ("implicit", "explicit")


@dataclass(frozen=True)
class Environment:
    """The fault model of one check: by default, the one the system declares."""

    crash: Literal["implicit", "explicit"] | None = option(
        None, "Faults", "Implicit crashes, where they are equivalent, or crashes as steps.", choices=CRASH
    )
    """Implicit: a process that crashes just takes no further step, which every search contains. Explicit: a step."""
    crashes: int | None = option(None, "Faults", "At most this many crashes in a run, as steps.", "count", metavar="N")
    """At most so many explicit crashes; an implicit crash needs no bound."""
    byzantine: Mapping[str, int] = option(
        {}, "Faults", "Replace K processes by attackers that may send anything.", "roles", metavar="ROLE=K"
    )
    """Role -> how many of its processes an exhaustive attacker takes the place of."""
    network_model: NetworkModel = option(
        "m",
        "Faults",
        "Single buffers (m), delivery events (grm), or clean channels as well (rm).",
        choices=MODELS,
    )
    """How messages travel: with delivery events and clean channels, with delivery events, or in single buffers."""

    def __post_init__(self) -> None:
        if self.crash is not None and self.crash not in CRASH:
            raise wrong(f"crash={self.crash!r} is not a valid choice", did_you_mean(str(self.crash), CRASH))
        if self.crashes is not None and (type(self.crashes) is not int or self.crashes < 0):
            raise wrong(f"crashes={show(self.crashes)}", "it is the number of crashes in a run, 0 or more")

        if self.network_model not in MODELS:
            raise wrong(
                f"network_model={self.network_model!r} is not a valid choice",
                did_you_mean(str(self.network_model), MODELS),
            )
        for role, count in self.byzantine.items():
            if type(count) is not int or count < 0:
                raise wrong(f"byzantine={{{role!r}: {show(count)}}}", "it is the number of processes, 0 or more")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Environment:
        """From the keywords of `quorate.check`, among which there may be others."""
        return cls(**{name: given[name] for name in told(cls) if given.get(name) is not None})

    def faults(self, declared: Faults) -> Faults:
        """The crashes to explore. A number replaces the declared one; who may crash, and how, stays as declared."""
        if self.crash == "implicit":
            return Faults()
        if self.crashes is not None:
            return replace(declared, crashes=self.crashes)
        if self.crash == "explicit" and declared.crashes == 0:
            raise wrong("crash='explicit' without a number of crashes", "say how many: crashes=1, or --crashes 1")
        return declared

    def to_json(self) -> dict[str, Any]:
        """Only what was asked for, by the names that `quorate.check` gives it."""
        given = {
            "network_model": self.network_model if self.network_model != "m" else None,
            "crash": self.crash,
            "crashes": self.crashes,
            "byzantine": dict(self.byzantine) or None,
        }
        return {name: value for name, value in given.items() if value is not None}

    @staticmethod
    def from_json(saved: Mapping[str, Any]) -> Environment:
        return Environment(**saved)


def wrong(what: str, hint: str) -> QuorateError:
    """The error for an unsupported fault model, or one that does not fit the system."""
    return QuorateError(what, hint=hint, code="Q601")
