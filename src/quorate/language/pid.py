"""Process identities: opaque names that can be compared, stored and sent, but not ordered or computed with.

That is the scalarset discipline (Ip and Dill 1996). It is what later lets identical processes be exchanged for one
another, so it is kept by the type rather than by good intentions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from quorate.base.errors import IdentityError, caller
from quorate.base.values import PID, ContentSet, Kind, register, register_set


class DecompositionError(Exception):
    """A process cannot be taken apart into its roles after all."""


class Pid:
    """The identity of one process, made by `System.spawn`; `str(pid)` is e.g. `acceptor2`."""

    __slots__ = ("_encoded", "_index", "_name", "_roles", "_server")
    _index: int
    _name: str
    _encoded: bytes
    _server: int | None
    """Where a process is taken apart into its roles: the number of the process that this is a role of."""
    _roles: dict[type, Pid]
    """Of a process that is taken apart: its roles."""

    def __init__(self, index: int, name: str, server: int | None = None, roles: dict[type, Pid] | None = None) -> None:
        self._index = index
        self._name = name
        self._encoded = PID + index.to_bytes(4, "big")
        self._server = server
        self._roles = roles or {}

    def playing(self, role: type) -> Pid:
        """The same process, addressed in one of its roles; for links in `build`, so that it can be taken apart."""
        return self._roles.get(role, self)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Pid and self._index == other._index)

    def __hash__(self) -> int:
        return self._index

    def __str__(self) -> str:
        return self._name

    __repr__ = __str__

    def _refuse(self, *_: Any) -> NoReturn:
        raise IdentityError(
            f"{self._name} is the identity of a process, not a number: it cannot be ordered or used in arithmetic",
            hint="compare identities with == only; give processes that differ a field of their own, "
            "e.g. self.spawn(Proposer, rank=1)",
            location=caller(),
        )

    if not TYPE_CHECKING:  # to a type checker an identity has no such operations, so that it refuses them too
        __lt__ = __le__ = __gt__ = __ge__ = _refuse
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse
        __floordiv__ = __xor__ = __and__ = __or__ = __neg__ = _refuse
        __int__ = __index__ = __float__ = _refuse


class Peers(ContentSet[Pid]):
    """An immutable set of process identities that iterates in the order of spawning."""

    __slots__ = ()

    def playing(self, role: type) -> Peers:
        """The same processes, addressed in one of their roles; see `Pid.playing`."""
        return Peers(pid.playing(role) for pid in self)


def column_of(pid: Pid) -> int:
    """The column of the process in the global state; for the engine, not for models."""
    return pid._index


def server_of(pid: Pid) -> int | None:
    """Of a role of a process that is taken apart: which process that is; for the engine, not for models."""
    return pid._server


register(Pid, Kind(lambda pid: pid, lambda pid: pid._encoded, str), simple=True)
register_set(Peers)
