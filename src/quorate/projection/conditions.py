"""What a protocol has to satisfy so that a subsystem stands for any number of servers, by name."""

from __future__ import annotations

from typing import NamedTuple

from quorate.base.errors import Location, ModelError


class Condition(NamedTuple):
    """A condition that was decided, and what it was decided from."""

    name: str
    reason: str


class RefusedError(ModelError):
    """A condition does not hold, so the theorem says nothing about this protocol."""

    default_code = "Q603"

    def __init__(self, name: str, reason: str, location: Location | None = None, hint: str = "") -> None:
        hint = hint or "check numbers of servers one by one: `quorate sweep`; docs/registers.md lists the conditions"
        super().__init__(
            f"no subsystem stands for any number of servers: {name}: {reason}", hint=hint, location=location
        )
        self.condition = name
        self.reason = reason


SERVERS = "interchangeable servers"
ENVIRONMENT = "network and faults"
ANSWERS = "servers answer"
KINDS = "stores and queries"
STAMPS = "the highest stays"
BROADCASTS = "clients ask all servers"
ROUNDS = "rounds are bounded"
QUORUMS = "fixed quorums"
MEET = "quorums meet"
APART = "answers belong to a round"
HIGHEST = "the highest answer decides"
UNIFORM = "numbers do not matter"
PROPERTIES = "properties see clients"
"""The names of the conditions, in the order in which they are decided."""
