"""Processes of which there may be any number, and collections of them: what handlers and properties are given.

Such a process is a `Node`: only compared. All of them, or a quorum of messages from them, are `Members`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from quorate.language.pid import Pid
from quorate.proofs.proxies import Opaque, SymInt, Unseen, decide, truth
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    conjunction,
    disjunction,
    equal,
    exists,
    negation,
    var,
)

IDIOMS = "all(), any(), max(), min(), a sum of conditions and set comprehensions work"


@dataclass(frozen=True)
class Role:
    """A class of processes of which there may be any number. Its name is that of the sort of its processes."""

    name: str
    cls: type
    parameter: str = ""


class Node(Opaque):
    """One process of a role."""

    __slots__ = ("role", "term")

    def __init__(self, role: Role, term: Term) -> None:
        self.role, self.term = role, term

    def equals(self, other: object) -> Term:
        if isinstance(other, Node) and other.role == self.role:
            return equal(self.term, other.term)
        return FALSE

    def __eq__(self, other: object) -> Any:
        return truth(self.equals(other))

    def __ne__(self, other: object) -> Any:
        return truth(negation(self.equals(other)))

    def __hash__(self) -> int:
        raise RefusedError(
            f"looks up one of any number of {self.role.name} in a set or map",
            "compare with ==, or keep what is known of a process in a field of its own",
        )

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(f"orders or computes with the identity of a {self.role.name}", "compare it with == alone")

    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __sub__ = __mod__ = __index__ = __int__ = _no

    def _shown(self) -> str:
        return f"<{self.role.name} {self.term}>"

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Pid


class OfNumber(Unseen):
    """An integer that depends on how many processes there are: its values in the instances that were built."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[int]) -> None:
        self.values = tuple(values)

    def _each(self, other: Any, how: Callable[[int, int], int]) -> Any:
        if isinstance(other, OfNumber):
            return OfNumber([how(a, b) for a, b in zip(self.values, other.values, strict=True)])
        known = other.known if isinstance(other, SymInt) else other if type(other) is int else None
        if known is None:
            raise self._refused()
        return OfNumber([how(each, known) for each in self.values])

    def __add__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a // b)

    def _refused(self) -> RefusedError:
        return RefusedError(
            "computes or compares with a number that depends on how many processes there are",
            "such a number can be the size of a quorum, or what a count of processes is compared with: "
            "sum(... for p in self[Role]) >= majority(self[Role])",
        )

    def _no(self, *_: Any) -> NoReturn:
        raise self._refused()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __index__ = __int__ = __truediv__ = _no
    __hash__ = _no
    __mod__ = __neg__ = __abs__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __float__ = _no

    def _shown(self) -> str:
        return f"<{self.values[0]}, {self.values[1]}, ... by the number of processes>"


def like_integers(cls: Any) -> None:
    """What integers do and this cannot is refused, not missing."""
    for name in dir(int):
        if name.startswith("__") and name not in dir(object) and not hasattr(cls, name):
            setattr(cls, name, cls._no)


like_integers(OfNumber)


# --- collections of any number -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Generic:
    """Any number of things: one for every process of a sort of which a condition holds."""

    sort: str
    make: Callable[[Term], Any]
    facts: Callable[[Term], Term] = lambda _: TRUE
    """What is so of exactly those that belong to it."""
    nonempty: bool = True


class Members(Unseen):
    """A collection with any number of members, perhaps with some plain ones besides."""

    def __init__(
        self, what: str, generics: Sequence[Generic], items: Sequence[Any] = (), size: OfNumber | None = None
    ) -> None:
        self.what, self.generics, self.items, self.size = what, tuple(generics), tuple(items), size

    def __iter__(self) -> Iterator[Any]:
        from quorate.proofs.parametric_loops import Cursor

        return Cursor(self)

    def __bool__(self) -> bool:
        if self.items or any(each.nonempty for each in self.generics):
            return True
        return decide(disjunction(_some(each) for each in self.generics))

    def __len__(self) -> int:
        raise RefusedError(f"counts {self.what}, of which there may be any number", IDIOMS)

    def __contains__(self, wanted: Any) -> bool:
        return decide(self.holds(wanted))

    def holds(self, wanted: Any) -> Term:
        raise RefusedError(f"asks what is in {self.what}", IDIOMS)

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError(f"computes with {self.what}, of which there may be any number", IDIOMS)

    __getitem__ = __add__ = __radd__ = __and__ = __rand__ = __lt__ = __le__ = __gt__ = __ge__ = _no
    __eq__ = __ne__ = __sub__ = __rsub__ = __or__ = __ror__ = __xor__ = __rxor__ = _no
    __hash__ = _no

    def _shown(self) -> str:
        return f"<{self.what}>"


def _some(generic: Generic) -> Term:
    x = var(f"some:{generic.sort}", generic.sort)
    return exists([x], generic.facts(x))


class Nodes(Members):
    """Identities: all processes of a role, or all of which a condition holds, and certain others."""

    def __init__(
        self,
        role: Role,
        holds: Callable[[Term], Term] = lambda _: TRUE,
        items: Sequence[Pid] = (),
        *,
        nonempty: bool = True,
        size: OfNumber | None = None,
    ) -> None:
        generic = Generic(role.name, lambda term: Node(role, term), holds, nonempty)
        super().__init__(f"the processes of {role.name}", [generic], items, size)
        self.role, self.member = role, holds

    def holds(self, wanted: Any) -> Term:
        if isinstance(wanted, Node):
            return self.member(wanted.term) if wanted.role == self.role else FALSE
        return TRUE if wanted in self.items else FALSE

    def __sub__(self, others: Any) -> Nodes:  # type: ignore[override]
        if isinstance(others, Members) or not isinstance(others, Named):
            self._no()
        gone = list(others.items)
        member = self.member

        def holds(x: Term) -> Term:
            return conjunction(
                [
                    member(x),
                    *(
                        negation(equal(x, each.term))
                        for each in gone
                        if isinstance(each, Node) and each.role == self.role
                    ),
                ]
            )

        kept = [each for each in self.items if each not in [other for other in gone if type(other) is Pid]]
        return Nodes(self.role, holds, kept, nonempty=False)


class Named(Unseen):
    """A set display with processes of a role in it, which have no hash: `{self.pid}`."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = tuple(items)

    def __contains__(self, wanted: Any) -> bool:
        return builtins.any(bool(wanted == each) for each in self.items)

    def _no(self, *_: Any) -> NoReturn:
        raise RefusedError("does with a set of processes what has no formula", "in, and self.peers - {self.pid}, work")

    __iter__ = __len__ = __sub__ = __rsub__ = __or__ = __ror__ = __and__ = __rand__ = __le__ = __lt__ = _no
    __eq__ = __ne__ = __hash__ = _no


def display(items: tuple[Any, ...]) -> Any:
    """A set display."""
    return Named(items) if builtins.any(isinstance(each, Node) for each in items) else set(items)
