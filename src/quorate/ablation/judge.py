"""What becomes of a protocol without one of its parts.

First its handlers alone are asked whether anything is different where the protocol gets to (`search/survey.py`). If
so, every property that holds with all parts in place is checked. A variant that passes is looked at once more: what
happened before and never happens now is a poor reason to hold.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from quorate.ablation.parts import Site, find_parts
from quorate.ablation.sources import Sources
from quorate.ablation.variant import without
from quorate.base.errors import LimitError, PropertyError, QuorateError
from quorate.base.watchdog import Halted
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.model.outcome import Unread
from quorate.model.run import prepare
from quorate.results.ablation import Break, Finding, Part
from quorate.results.result import Progress, Result
from quorate.search.check import check
from quorate.search.limits import Watcher
from quorate.search.survey import Survey, survey

EACH = 10.0
"""Seconds for each variant, unless it is said otherwise."""
MANY = 200_000
"""With more states than this, every local state with everything pending is too much to look at."""
WIDER = 4
"""A variant may have this many times the states of the original before it counts as one that grows without end."""

Watch = Callable[[Progress], object]


class Judge:
    """A protocol with all its parts, and what each of them is needed for."""

    def __init__(
        self,
        system: System | type[System],
        options: dict[str, Any],
        *,
        target: str | None = None,
        properties: list[str] | None = None,
        each: float = EACH,
        timeout: float | None = None,
        progress: Watch | None = None,
    ) -> None:
        self.system = system
        self.options = options
        self.environment = Environment.of(options)
        self.target = target
        self.each = each
        self.progress = progress
        definition = define(system, self.environment)
        sources = Sources(definition)
        self.sites = find_parts(sources)
        self.unread = tuple(sources.unread)
        trees = [node for source in sources.in_order() for node in ast.walk(source.tree)]
        self._assigned = {
            node.attr for node in trees if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        """The names of fields that handlers set."""
        self._caches = definition.memory.caches
        self.parameters = definition.parameters
        self.name = definition.name
        self.result = check(
            system, property=properties, all=True, trace=False, target=target, progress=progress,
            timeout=6 * each if timeout is None else min(6 * each, max(timeout, each)), **options,
        )  # fmt: skip
        if self.result.stopped_by == "interrupt":
            raise KeyboardInterrupt
        if self.result.verdict == "incomplete":
            raise LimitError(
                f"{self.name} with all its parts was not checked to its end: {self.result.states:,} states in "
                f"{self.result.seconds + self.result.setup_seconds:.0f} s",
                hint="take a smaller instance with -p, fewer properties with --property, or more time with --each",
                code="Q507",
            )
        self.violated = tuple(each.name for each in self.result.properties if each.verdict == "violated")
        self.holding = [each.name for each in self.result.properties if each.verdict == "holds"]
        self.kinds = {each.name: each.kind for each in self.result.properties}
        self.claims = [name for name in self.holding if self.kinds[name] != "assertion"]
        if not self.claims:
            what = "violates all of its properties" if self.violated else "states no property"
            raise PropertyError(
                f"{self.name} {what}, so nothing can notice that a part is missing",
                hint="state what must hold with @invariant, @can or ltl(...); mend what is violated first",
                code="Q410",
            )
        self.survey: Survey | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(site.part for site in self.sites)

    def look(self) -> None:
        """See what happens with all parts in place: with every process for itself, or at least one of each kind."""
        limits = {"timeout": self.each, "max_states": MANY}
        self.survey = survey(self.system, self.environment, self.claims, symmetry="none", **limits)
        if self.survey is None:
            self.survey = survey(self.system, self.environment, self.claims, timeout=self.each)

    def judge(self, number: int) -> Finding:
        """Take out the part of that number."""
        site = self.sites[number - 1]
        began = time.perf_counter()
        try:
            if self._waits_for_one(site):
                return Finding(site.part, "same", note="it waits for one message")
            with self._without(site):
                found = self._judge(site)
        except QuorateError as error:
            if isinstance(error, LimitError) and error.code != "Q501":
                raise
            where = f", line {error.location.line}" if error.location is not None else ""
            found = Finding(site.part, "breaks", note=f"{error.code}: {error.message}{where}")
        return _timed(found, time.perf_counter() - began)

    def run(self, number: int) -> Result:
        """The check of the protocol without that part, with the run that breaks it."""
        with self._without(self.sites[number - 1]):
            return check(
                self.system, property=self.claims, target=self.target, timeout=self.each, progress=self.progress,
                **self.options,
            )  # fmt: skip

    @contextmanager
    def _without(self, site: Site) -> Iterator[None]:
        """While this lasts, the part is not there; nor is what helpers with a cache knew when it was."""
        with without(site):
            self._forget()
            yield
        self._forget()

    def _forget(self) -> None:
        for cache in self._caches:
            cache.cache_clear()

    def _judge(self, site: Site) -> Finding:
        part = site.part
        if self._same(site):
            return Finding(part, "same", note="it makes no difference in any reachable state")
        result = self._checked()
        shown = {each.property: each.trace for each in result.violations or ()}
        if result.trace is not None and result.property is not None:
            shown.setdefault(result.property, result.trace)
        broken = [each for each in result.properties if each.verdict == "violated"]
        hard = [each for each in broken if each.kind != "can"]
        if hard:
            breaks = tuple(_break(each.name, shown.get(each.name)) for each in hard)
            failed = all(each.kind == "assertion" for each in hard) and not _asserts(hard)
            return Finding(part, "breaks" if failed else "needed", breaks, states=result.states)
        if result.stopped_by == "interrupt":
            raise KeyboardInterrupt
        if result.stopped_by is not None:
            return Finding(part, "undecided", note=_stopped(result), states=result.states)
        lost = [f"{each.name} is never reached" for each in broken]
        return self._vacuity(site, lost, result.states)

    def _waits_for_one(self, site: Site) -> bool:
        """Whether the quorum has one message as it is, and so none to spare."""
        if site.action != "size less":
            return False
        definition = define(self.system, self.environment)
        sizes: set[int | None] = set()
        for column in definition.processes:
            for each in column.spec.transitions if issubclass(column.cls, site.source.roles) else ():
                if each.name != site.source.name or each.kind != "quorum":
                    continue
                always = replace(each, declaration=replace(each.declaration, when=None))
                for state in definition.initials:
                    reads: dict[int, None] = {}
                    try:
                        request = prepare(column, always, state[column.index], reads)
                    except Unread:  # a shared cell says how many
                        return False
                    fixed = request is not None and self._assigned.isdisjoint(column.fields[at] for at in reads)
                    sizes.add(request.size if request is not None and fixed else None)
        return sizes == {1}

    def _same(self, site: Site) -> bool:
        moves = self.survey.moves if self.survey is not None else None
        if moves is None:
            return False
        try:
            with Watcher(self.each, None):
                return moves.same(define(self.system, self.environment), site.source.roles, site.source.transition)
        except Halted:  # whatever it was: the check will tell
            return False

    def _checked(self) -> Result:
        """First not much further than the original goes: that finds all properties that notice, even without an end."""
        few = max(10_000, WIDER * self.result.states)
        given: dict[str, Any] = {"property": self.claims, "target": self.target, "progress": self.progress}
        given |= {"timeout": self.each, **self.options}
        result = check(self.system, all=True, **{**given, "max_states": few})
        if result.verdict == "incomplete" and result.stopped_by == "states":
            result = check(self.system, all=False, **given)
        return result

    def _vacuity(self, site: Site, lost: list[str], states: int) -> Finding:
        part = site.part
        if self.survey is None:
            note = "" if lost else "whether anything never happens any more is not known: too many states"
            return Finding(part, "vacuous" if lost else "unneeded", lost=tuple(lost), note=note, states=states)
        now = survey(self.system, self.environment, self.claims, timeout=self.each)
        if now is None:
            note = "" if lost else "whether anything never happens any more is not known: too many states"
        else:
            note = ""
            mine = {f"{role.__name__}.{part.handler} never happens" for role in site.source.roles}
            gone = self.survey.happens - now.happens - (mine if part.kind == "transition" else set())
            lost += sorted(gone)
        return Finding(part, "vacuous" if lost else "unneeded", lost=_shortest(lost), note=note, states=states)


def _shortest(lost: list[str]) -> tuple[str, ...]:
    """Without what follows: a field that never changes is never any other value."""
    still = {each.partition(" ")[0] for each in lost if each.endswith("never changes")}
    return tuple(each for each in lost if not (" is never " in each and each.partition(" ")[0] in still))


def _asserts(outcomes: list[Any]) -> bool:
    return any(each.name == "assertions" for each in outcomes)


def _break(name: str, trace: Any) -> Break:
    from quorate.render.text import run

    if trace is None:
        return Break(name)
    text = run(trace, 100, "text").plain()
    return Break(name, len(trace.steps), text)


def _stopped(result: Result) -> str:
    at = f" in {result.running.what}, line {result.running.line}," if result.running is not None else ""
    return f"stopped by the limit on {result.stopped_by}{at} after {result.states:,} states"


def _timed(found: Finding, seconds: float) -> Finding:
    return replace(found, seconds=seconds)
