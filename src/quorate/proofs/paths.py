"""Every way through a piece of Python whose integers are unknown, by running it again for each.

A path is a list of decisions: conditions that were taken as true or false, and options that were picked. A prefix of
decisions is repeated, then the first side that is possible is taken; the other sides are other paths. Which sides are
possible the solver says, so no path contradicts itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from quorate.base.errors import Location, Signal
from quorate.base.watchdog import supervised
from quorate.proofs.refusal import Doubt, RefusedError, noted, running
from quorate.proofs.solver import Deadline, Query, Translation
from quorate.proofs.terms import FALSE, TRUE, Term, conjunction, negation, variables

T = TypeVar("T")
MOST_PATHS = 20_000


class Impossible(Signal):
    """The path contradicts itself, or leads where there is no transition: it is left out."""

    def __init__(self) -> None:
        super().__init__()
        noted(self)


class Path:
    """One way through, while it is taken and afterwards."""

    def __init__(self, prefix: list[Any], query: Query, assumed: Sequence[Term], deadline: Deadline) -> None:
        self._prefix = prefix
        self._deadline = deadline
        self._query = query
        self._depth = 0
        self.assumed = tuple(assumed)
        """What every path may rely on; no part of what tells this one from others."""
        self.conditions: list[Term] = []
        self.consumed: tuple[Any, ...] = ()
        """The messages that a transition has consumed so far."""
        self.outer: Path | None = None
        """The path inside of which a condition is explored for itself."""
        self.ended: BaseException | None = None
        """What was raised through the model's code to end it, whether or not that code let it through."""
        self.doubt: Doubt | None = None
        self.floats = self.hashes = False
        """Whether floats were made of integers on it, and whether unknown integers were hashed."""
        self.picked = False
        """Whether one of several options was taken that no condition tells apart."""
        self.loops = 0
        """How many loops over any number of processes were run on it."""
        self._lifted: dict[tuple[int, Any], tuple[Any, Any]] = {}
        self._known: dict[Term, bool] = {}
        self._seen: set[Term] = set()

    def ends_with(self, error: BaseException) -> None:
        """Note what ends this path. Only the first counts: what comes later comes of having caught it."""
        if self.ended is None:
            self.ended = error

    def _check(self) -> None:
        try:
            self._deadline.check()
        except BaseException as stopped:
            self.ends_with(stopped)
            raise

    def once(self, owner: Any, key: Any, make: Callable[[], Any]) -> Any:
        """A value whose structure is decided when it is first read, and kept for this path.

        Not on its owner: another path, inside of this one, may decide otherwise.
        """
        path: Path | None = self
        while path is not None:
            found = path._lifted.get((id(owner), key))
            if found is not None:
                return found[1]
            path = path.outer
        value = make()
        self._lifted[id(owner), key] = owner, value  # with the owner, so that its number is not given to another
        return value

    def assume(self, condition: Term) -> None:
        """Demand something of this path."""
        if condition is TRUE:
            return
        if condition is FALSE:
            raise Impossible
        self._note(condition)

    def _note(self, condition: Term) -> None:
        self.conditions.append(condition)
        for each in condition.args if condition.op == "and" else (condition,):
            self._known[each] = True
            self._known[negation(each)] = False
        self._seen |= variables(condition)

    def decide(self, condition: Term) -> bool:
        """Whether the condition is taken as true; both ways are taken, if both are possible."""
        if condition is TRUE or condition is FALSE:
            return condition is TRUE
        known = self._known.get(condition)
        if known is not None:
            return known
        taken = self._branch(lambda: self._sides(condition)) == 1
        self._note(condition if taken else negation(condition))
        return taken

    def _sides(self, condition: Term) -> list[int]:
        # A truth value that nothing on this path depends on so far. Should that be wrong, there is a path too many.
        atom = condition.args[0] if condition.op == "not" else condition
        if atom.op == "var" and atom not in self._seen:
            return [1, 0]
        found = []
        if self._possible(condition):
            found.append(1)
        if not found or self._possible(negation(condition)):
            found.append(0)
        return found

    def _possible(self, condition: Term) -> bool:
        # Not known to be impossible is possible: a path too many costs time, one too few would be a proof of nothing.
        self._check()
        return self._query.ask([*self.conditions, condition], seconds=min(5, self._deadline.left)) != "unsat"

    def feasible(self) -> bool:
        return self._query.ask(self.conditions, seconds=5) != "unsat"

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; each is a path of its own."""
        if not options:
            raise Impossible
        self.picked |= len(options) > 1
        return options[self._branch(lambda: list(range(len(options))))] if len(options) > 1 else options[0]

    def _branch(self, sides: Callable[[], list[int]]) -> int:
        self._check()
        if self._depth >= len(self._prefix):
            self._prefix.append(_Sides(sides()))
        choice: _Sides = self._prefix[self._depth]
        self._depth += 1
        return choice.sides[choice.at]

    @property
    def condition(self) -> Term:
        return conjunction(self.conditions)


class _Sides:
    """A decision: what was possible there, and which of it is taken now."""

    __slots__ = ("at", "sides")

    def __init__(self, sides: list[int]) -> None:
        self.sides = sides
        self.at = 0


class Taken(NamedTuple, Generic[T]):
    """A path to its end: what was returned, or what was raised."""

    path: Path
    value: T | None
    error: BaseException | None


class Explorer:
    """Runs a function along each of its paths."""

    def __init__(
        self, translate: Translation, deadline: Deadline, progress: Callable[[str], None] = lambda _: None
    ) -> None:
        self._translate, self.deadline, self._progress = translate, deadline, progress
        self.runs = 0

    def _taken(self, run: Callable[[Path], T], path: Path) -> Taken[T] | None:
        """What comes of a path; None if it is left out or refused. What was raised counts even if it was caught."""
        taken: Taken[T] | None = None
        try:
            taken = Taken(path, supervised(partial(run, path)), None)
        except (Impossible, RefusedError) as error:
            path.ends_with(error)
        except (KeyboardInterrupt, MemoryError, Signal):
            raise
        except BaseException as error:
            taken = Taken(path, None, error)
        self.deadline.check()  # a blow from outside may have been caught too
        if path.ended is not None and not isinstance(path.ended, (Impossible, RefusedError)):
            noted(path.ended)
            raise path.ended
        return taken if path.ended is None else None

    def explore(
        self, run: Callable[[Path], T], *, assumed: Sequence[Term] = (), what: str, place: Location | None
    ) -> list[Taken[T]]:
        """All paths. What the model raises is an outcome like any other; what cannot be encoded is not."""
        found: list[Taken[T]] = []
        prefix: list[Any] = []
        query = Query(self._translate)
        query.add(*assumed)
        while True:
            self.deadline.check()
            path = Path(prefix, query, assumed, self.deadline)
            self.runs += 1
            if self.runs % 50 == 0:
                self._progress(f"{what}: {self.runs} ways through the handlers")
            taken = self._taken(run, path)
            doubt = path.doubt
            if doubt is not None and taken is not None and taken.error is not None:
                if running.path is not None:  # what it raises may be caught there
                    running.path.doubt = running.path.doubt or doubt
                doubt = None
            # A line that is refused, but that no state leads to, does not matter.
            if (doubt is not None or isinstance(path.ended, RefusedError)) and path.feasible():
                refused = path.ended if isinstance(path.ended, RefusedError) else None
                if refused is None and doubt is not None:
                    refused = doubt.refusal()
                assert refused is not None
                noted(refused)
                raise refused.about(what, place) from None
            if taken is not None:
                found.append(taken)
            while prefix and prefix[-1].at + 1 >= len(prefix[-1].sides):
                prefix.pop()
            if not prefix:
                return found
            prefix[-1].at += 1
            if len(found) > MOST_PATHS:
                raise RefusedError(
                    f"more than {MOST_PATHS:,} cases to distinguish",
                    "split what it does: several transitions, or fewer processes",
                ).about(what, place)
