"""A search by many workers, for whoever asks a `Backend`: the same answer as that of one thread.

The leader counts and decides; it holds no states. A level is over when every worker has expanded its share and all that
was sent was taken in. Then what each has to tell is put together: of violations the one that ranks first by length,
kind, property and content, as with threads. The run to it is found backwards, each worker looking through its own
states of the level before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self, cast

from quorate import _core
from quorate.base.errors import ModelError
from quorate.base.watchdog import Halted
from quorate.cluster.crew import Crew
from quorate.cluster.errors import ClusterError, LostError, WorkerLostError
from quorate.cluster.kept import Kept
from quorate.cluster.worker import Claim, Job, PortableState, Prepared, Setting, Share, numbered
from quorate.model.again import CAUSES
from quorate.native.backend import Cells, Found, Request, Stop, Witness
from quorate.native.model import Model
from quorate.native.portable import Reader
from quorate.properties.twin import ways

WORTH = 5
"""Times as many states without partial orders: no doubt that they are worth it (`core: breadth_first.cpp`)."""
MOST_LOSSES = 3
"""How often workers may be lost at one place: then it is not by chance."""
_GRAVEST: tuple[str, ...] = ("interrupt", "time", "memory", "states", "regrown")


@dataclass
class Level:
    """How far a search has come."""

    shares: list[Share]
    number: int = 0
    """Of the level that is to be expanded next."""
    depth: int = 0
    goals: dict[int, Claim] = field(default_factory=dict)
    given_up: int = 0
    next_trial: int = 0
    stop: str = "finished"
    observed: list[list[list[bool]]] = field(default_factory=list)
    cut: set[int] = field(default_factory=set)
    violations: list[tuple[Claim, int]] = field(default_factory=list)
    """What workers have told that do not know of it any more: they were started again."""

    def sum(self, name: str) -> Any:
        return sum(getattr(each, name) for each in self.shares)

    def before(self, shares: list[Share]) -> None:
        """Workers that were started again take over; what those before them have told stays."""
        self.observed += [each.observed for each in self.shares]
        self.cut.update(column for each in self.shares for column in each.cut)
        self.violations += [pair for each in self.shares for pair in each.violations]
        self.shares = shares


class DistributedBackend:
    """Workers that are started when the first search is asked for."""

    def __init__(
        self,
        model: Model,
        job: Job,
        launch: Callable[[Job], Crew],
        tell: Callable[[Sequence[int]], None] = lambda shares: None,
        kept: Kept | None = None,
    ) -> None:
        self.model = model
        self.job = job
        self.launch = launch
        self.tell = tell
        """Told how many states each worker has."""
        self.kept = kept
        self.reader = Reader(model.definition)
        self.dropped: list[tuple[int, str]] = []
        self.crew: Crew | None = None
        self.shares: list[Share] = []
        """Of the last search."""
        self.ran: tuple[str, ...] = ()
        """The reductions that run; all workers must have come to the same."""
        self.recovered = 0
        """How often it went on from what was kept, since a worker was lost."""
        self._calls = 0
        self._depth = 0
        self._lost_at: list[int] = []
        """What was kept whenever a worker was lost, in this search."""
        self._asked_to_stop = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if error is None or (isinstance(error, Exception) and not isinstance(error, (ClusterError, LostError))):
                self._require_pure()
        finally:
            self.close()

    def _require_pure(self) -> None:
        """Raise if the model has not been a function where workers have asked it (`properties/purity.py`)."""
        if self.crew is None:
            return
        try:
            theirs: list[list[list[bytes]]] = self.crew.each("require_pure", self._asked_to_stop)
        except WorkerLostError:
            return  # with what it was asked
        ours = ways(self.model.definition)
        for each in theirs:
            for one, other in zip(each, ours, strict=True):
                if any(said != here for said, here in zip(one, other, strict=False)):
                    raise ModelError("handlers behave differently in other processes", hint=CAUSES, code="Q104")

    def close(self) -> None:
        if self.crew is not None:
            self.crew.close()
            self.crew = None
        if self.kept is not None:
            self.kept.end()

    @property
    def cells(self) -> int:
        """Of the worker that has most: nearly all of them meet nearly all."""
        return max((each.cells for each in self.shares), default=0)

    def told(self) -> dict[str, Any]:
        """What a result says of the workers."""
        sent, states = (sum(getattr(each, name) for each in self.shares) for name in ("sent_bytes", "sent"))
        return {
            "number": self.crew.size if self.crew is not None else 0,
            "where": self.crew.where if self.crew is not None else "",
            "states": [each.states for each in self.shares],
            "sent_states": states,
            "sent_bytes": sent,
            "kept_off_the_wire": sum(each.repeated for each in self.shares),
            "recovered": self.recovered,
        }

    # --- the workers ---

    def without_reductions(self) -> None:
        """It is not known what the reductions would argue about."""
        options = self.job.options.without_reductions()
        self.job = replace(self.job, options=options)

    def start(self, ran: tuple[str, ...]) -> None:
        """Start the workers, which have to come to the same reductions."""
        self.ran = ran
        try:
            self.crew = self.launch(self.job)
        except WorkerLostError as lost:
            raise LostError(str(lost)) from None
        try:
            self._prepare(self.crew)
        except WorkerLostError as lost:
            self._begin_anew(self.crew, lost)

    def _prepare(self, crew: Crew) -> None:
        prepared: list[Prepared] = crew.each("prepare", watch=self._watch)
        if self._asked_to_stop:
            raise _core.StoppedError("the user asked to stop")
        if any(each != prepared[0] for each in prepared) or prepared[0].ran != self.ran:
            raise ClusterError(
                "the workers do not agree on what the model does",
                hint="do all machines have the same files of the model? does a handler depend on where it runs?",
            )
        crew.each("share_numbers", prepared[0].numbers)

    def _begin_anew(self, crew: Crew, lost: WorkerLostError) -> None:
        """Ray starts those again that are lost, and all of them prepare."""
        while True:
            if self.kept is None or self._asked_to_stop:
                raise LostError(str(lost)) from None
            self._lost_at.append(self.kept.level)
            if self._lost_at.count(self.kept.level) > MOST_LOSSES:
                raise LostError(str(lost), again=True) from None
            try:
                crew.recover()
                self._prepare(crew)
            except WorkerLostError as another:
                lost = another
                continue
            self.recovered += 1
            return

    def _watch(self) -> bool:
        """Tell how far the search has come; whether it is to stop."""
        crew = self.crew
        shares = crew.shares() if crew is not None else []
        self.tell([each.states for each in shares])
        states, transitions = sum(each.states for each in shares), sum(each.transitions for each in shares)
        frontier = sum(each.next_level + each.remaining for each in shares)
        if self.model.stop(states, transitions, frontier, self._depth, _core.resident_bytes()):
            self._asked_to_stop = True
        # One that has to stop has all others stop.
        return self._asked_to_stop or any(each.stop != "finished" for each in shares)

    # --- a search ---

    def search(self, request: Request) -> Found:
        self._asked_to_stop = False
        self._depth = 0
        crew = self.crew
        assert crew is not None
        setting = Setting(
            [list(each) for each in self.model.observed], tuple(self.dropped), self.model.engine.reduces_orders
        )
        if self.kept is not None:
            self.kept.begin()
        self._lost_at.clear()
        while True:
            try:
                level = self._levels(crew, request, setting, setting.partial_orders, self.kept)
                found = self._found(crew, request, level)
                crew.each("end")
                return found
            except WorkerLostError as lost:
                self._begin_anew(crew, lost)
            finally:
                self._depth = 0

    def _levels(
        self, crew: Crew, request: Request, setting: Setting, partial_orders: bool, kept: Kept | None = None
    ) -> Level:
        """Level after level, to the end, a limit or a violation."""
        again = kept is not None and kept.has_some
        begun = {"all": request.all, "max_states": request.max_states, "partial_orders": partial_orders, "empty": again}
        level = Level(crew.each("begin", setting, watch=self._watch, **begun))
        level.next_trial = _core.thresholds.few_states
        if kept is not None and kept.has_some:
            level = kept.load(crew)
            partial_orders = partial_orders and level.given_up == 0
        while True:
            self._merge(level, setting)
            if level.stop == "finished" and level.number > 0:
                if self._goals_end(request, level):
                    level.stop = "reached"
                elif partial_orders and self._gives_up(crew, request, setting, level):
                    level.given_up, partial_orders = level.number, False
            if level.stop != "finished" or (not request.all and any(each.violation for each in level.shares)):
                return level
            if level.sum("next_level") == 0:
                return level
            if request.max_depth is not None and level.number >= request.max_depth:
                return level
            if kept is not None:  # not what ends the search: workers that are started again know of no violation
                kept.save(crew, level)
            self._depth = level.depth = level.number
            observed = _union([*level.observed, *(each.observed for each in level.shares)])
            crew.level(level.number, observed, sorted(level.goals), partial_orders=partial_orders, watch=self._watch)
            level.shares = crew.each("finish_level", watch=self._watch)
            level.number += 1
            if request.max_states is not None and level.sum("states") >= request.max_states:
                level.stop = "states"

    def _merge(self, level: Level, setting: Setting) -> None:
        """What all have to tell together."""
        for goal in (goal for each in level.shares for goal in each.goals):
            best = level.goals.get(goal.property)
            if best is None or goal.rank() < best.rank():
                level.goals[goal.property] = goal
        stops = {each.stop for each in level.shares}
        if not self._asked_to_stop and not any(each.running for each in level.shares):
            stops.discard("interrupt")  # they were asked to because another one had to
        for stop in _GRAVEST:
            if stop in stops:
                level.stop = stop
                break
        if level.stop == "regrown":
            self.model.observed = _union([setting.observed, *(each.observed for each in level.shares)])
            broken = sorted({each.broken for each in level.shares if each.broken is not None})
            if broken:
                self.model.told_apart = broken[0]
                self.dropped.append(broken[0])
        halted = next((each.running for each in level.shares if each.running is not None), None)
        if halted is not None:
            self.model.halted = Halted()
            self.model.halted.running = halted

    def _goals_end(self, request: Request, level: Level) -> bool:
        if request.goals_end_from is None or level.sum("states") < request.goals_end_from:
            return False
        return len(level.goals) == sum(each.kind == "can" for each in self.model.properties)

    def _gives_up(self, crew: Crew, request: Request, setting: Setting, level: Level) -> bool:
        """Whether partial orders save less than they cost: decided as the native search does, from the same figures."""
        states = level.sum("states")
        if level.sum("next_level") == 0 or any(each.violation for each in level.shares):
            return False  # it is over
        if states >= _core.thresholds.few_states and level.sum("left_out") * 10 < level.sum("offered"):
            return True
        if states < level.next_trial:
            return False
        level.next_trial = 2 * states
        asked = replace(request, max_states=WORTH * states, max_depth=level.number, goals_end_from=None, all=False)
        depth = self._depth
        plain = self._levels(crew, asked, setting, False)
        self._depth = depth
        crew.each("end")
        if plain.stop in ("regrown", "interrupt", "time", "memory"):
            level.stop = plain.stop
            return False
        if plain.stop == "states":
            level.next_trial = 1 << 63
            return False
        return bool(plain.sum("states") * 2 < states * 3)

    # --- what was found ---

    def _found(self, crew: Crew, request: Request, level: Level) -> Found:
        self.shares = level.shares
        claims = [each.violation for each in level.shares if each.violation is not None]
        violation = min(claims, key=Claim.rank) if claims and level.stop != "regrown" else None
        stop = cast(Stop, "violation" if violation is not None else level.stop)
        over = violation is not None or stop == "finished"
        calls = level.sum("calls")
        self.model.calls += calls - self._calls
        self._calls = calls
        for sent in sorted({each for share in level.shares for each in share.unhandled}):
            self.model.unhandled.setdefault(sent)
        next_level = level.sum("next_level")
        return Found(
            stop=stop,
            states=level.sum("states"),
            transitions=level.sum("transitions"),
            depth=level.depth + (next_level > 0 and level.number > 0),
            deadlocks=level.sum("deadlocks"),
            frontier=0 if over else level.sum("remaining") + next_level,
            store_bytes=level.sum("store_bytes"),
            stands_for=level.sum("stands_for"),
            por_given_up=level.given_up,
            cut=tuple(sorted(level.cut.union(*(each.cut for each in level.shares)))),
            violation=None if violation is None else self._witness(crew, violation),
            goals=tuple(self._witness(crew, goal) for _, goal in sorted(level.goals.items())),
            violations=self._violations(crew, level) if request.all and stop != "regrown" else (),
        )

    def _violations(self, crew: Crew, level: Level) -> tuple[tuple[Witness, int], ...]:
        kinds: dict[Any, tuple[Claim, int]] = {}
        for claim, count in (*level.violations, *(pair for each in level.shares for pair in each.violations)):
            first, before = kinds.get(claim.kind(), (claim, 0))
            kinds[claim.kind()] = (min(first, claim, key=Claim.rank), before + count)
        if not kinds:
            return ()
        counts = [sum(each) for each in zip(*crew.each("count_violated"), strict=True)]
        ranked = sorted(kinds.values(), key=lambda pair: pair[0].rank())
        return tuple(
            (self._witness(crew, first), counts[first.property] if first.finding == "violated" else count)
            for first, count in ranked
        )

    def _witness(self, crew: Crew, claim: Claim) -> Witness:
        """The run to a state, found backwards."""
        states = [claim.state]
        for number in reversed(range(claim.length - (claim.finding == "failure"))):
            answers: list[tuple[int, PortableState] | None] = crew.each("step_back", number, states[-1])
            found = [each for each in answers if each is not None]
            if not found:
                raise AssertionError("a state of the search has no predecessor in the level before it")
            states.append(min(found, key=lambda each: each[0])[1])
        path = [self._cells(each) for each in reversed(states)]
        return Witness(
            finding=claim.finding,
            length=claim.length,
            path=path,
            property=claim.property,
            column=0 if claim.column == _core.NONE else claim.column,
            failure=0 if claim.failure is None else self.model.failure_id(claim.failure),
        )

    def _cells(self, state: PortableState) -> Cells:
        columns, left = self.model.engine.reduced(numbered(self.model, self.reader, state))
        return [(local, list(inbox)) for local, inbox in columns], list(left)


def _union(observed: Sequence[Sequence[Sequence[bool]]]) -> list[list[bool]]:
    return [[any(each) for each in zip(*column, strict=True)] for column in zip(*observed, strict=True)]
