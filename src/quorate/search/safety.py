"""The search of a system for all but temporal properties: with what reductions, how often, and until when."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from quorate import _core
from quorate.base.watchdog import Halted
from quorate.cluster.backend import DistributedBackend
from quorate.model.definition import Definition
from quorate.native.backend import Backend, Found, NativeBackend, Request, Stop, Traversal
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.asked import Asked
from quorate.reduce.optimistic import VOID_STATES, Universe
from quorate.reduce.partial_orders import visible
from quorate.reduce.reductions import FIRST_BEHAVIOURS, FIRST_STATES, MOST_BEHAVIOURS, WORTH_DROPPING, Reductions
from quorate.results.coverage import Coverage
from quorate.results.result import Result
from quorate.search.checkpoint import Checkpoint, Saver, unreadable
from quorate.search.closing import Closing
from quorate.search.conclusion import DROPPED, LIKELY, SHORTER_STATES, Conclusion
from quorate.search.distributed import distributed
from quorate.search.limits import Watcher
from quorate.search.probes import longest_run
from quorate.search.self_check import SAMPLE
from quorate.search.stopped import require_not_given_up
from quorate.search.verdict import broken_by

BITSTATE_BYTES = 64 << 20


class Safety:
    """One check under way."""

    def __init__(
        self,
        model: Model,
        asked: Asked,
        options: Options,
        watcher: Watcher,
        trace: bool,
        target: str | None,
        not_decomposed: str = "",
        checkpoint: Checkpoint | None = None,
    ) -> None:
        if options.coverage and model.definition.cells:
            # Which cells a process reads may depend on the order of their names: then what it has read, renamed, does
            # not tell what another one does (`for other in self.others` that stops at the first).
            options = replace(options, symmetry="none")
        self.model = model
        self.checkpoint = checkpoint
        self.definition: Definition = model.definition
        self.asked = asked
        self.options = options
        self.watcher = watcher
        self.backend: Backend = NativeBackend(model)
        self.workers: DistributedBackend | None = None
        if options.distributed:
            self.backend = self.workers = distributed(model, asked, options, watcher, target)
        self.whole = model.whole
        watcher.probe = partial(longest_run, self.definition)  # and not self: it would keep the tables
        self.conclusion = Conclusion(model, asked, options, watcher, trace, target, not_decomposed, self.workers)
        self._closing: Closing | None = None

    def run_and_close(self) -> Result:
        with self.workers or nullcontext():
            return self.run()

    def run(self) -> Result:
        limit = self.options.max_states
        try:
            few = FIRST_BEHAVIOURS if self.whole is None and self.workers is None else MOST_BEHAVIOURS
            most = self.options.max_behaviours or few
            reductions = Reductions(self.model, self.options)
            reductions.analyse(most)
            # Then it matters whether handlers may fail.
            if self.asked.only_goals and self.watcher.may_give_up and not self.definition.ranked:
                known = reductions.closure or self.model.engine.close(self.model, most)
                # Whether a monitor that grows may fail is not known either.
                self.conclusion.closed = known.complete and not self.model.engine.growing()
            if self.definition.ranked:
                reductions.open_symmetry()
            if self.whole is not None:
                reductions.require_decomposed()
            setup = self.watcher.seconds
            if reductions.unfinished and self.workers is not None:
                reductions.leave_out("it is not known what all processes may do, and workers take no universe for it")
                self.workers.without_reductions()
            elif reductions.unfinished and not reductions.dynamic:
                return self._unclosed(reductions, limit)
            if self.workers is not None:
                with self.model.spent.on("workers"):
                    self.workers.start(reductions.ran)
                setup = self.watcher.seconds
        except _core.StoppedError:
            require_not_given_up(self.watcher, self.model)
            return self._told(Found("interrupt"), None, self.watcher.seconds, 0.0)
        except Halted as halted:  # in the analysis, perhaps after a search that has shown something
            self.model.halted = halted
            return self._told(Found("interrupt"), None, self.watcher.seconds, 0.0)
        found = self._search(reductions, limit)
        return self._told(found, reductions, setup, self.watcher.seconds - setup)

    def _unclosed(self, reductions: Reductions, limit: int | None) -> Result:
        """Search while the closure goes on beside it: without reductions, then with a universe from the searches.

        Whatever comes to its end first has the answer. A closure that ends is searched with.
        """
        closing = self._closing = Closing(reductions, self.watcher, by_levels=not self.options.depth_first)
        self.watcher.closed = False
        reductions.open_symmetry()
        setup = self.watcher.seconds
        first = limit
        if self.options.depth_first or not WORTH_DROPPING:  # no levels to tell by, or no matter what they tell
            first = FIRST_STATES if limit is None else min(limit, FIRST_STATES)
        else:
            closing.drop_at(FIRST_STATES, WORTH_DROPPING * FIRST_STATES)
        with self.model.spent.on(DROPPED):
            found = self._search(reductions, first)
        if (found.stop == "states" and first == limit) or found.stop not in ("states", "overtaken"):
            return self._unclosed_result(found, reductions, setup)
        if self.conclusion.answered(found):
            return self._unclosed_result(found, reductions, setup)
        self.watcher.phase = "analysis"
        closing.drop_at(None, 0)
        if not closing.ended:
            result = self._optimistic(closing, found, limit)
            if result is not None:
                return result
        closing.reductions.close_symmetry()
        self._closing = None
        self.watcher.closed = True
        self.watcher.phase = "analysis"
        self.model.engine.clear_answers()
        reductions = Reductions(self.model, self.options)
        reductions.analyse()
        setup = self.watcher.seconds
        return self._unclosed_result(self._search(reductions, limit), reductions, setup)

    def _optimistic(self, closing: Closing, found: Found, limit: int | None) -> Result | None:
        """Search with a universe that the searches themselves extend, until one of them stays inside.

        None if the closure has ended meanwhile.
        """
        universe = Universe(self.model, closing.reductions)  # what was met so far, before cells are forgotten
        universe.reductions = closing.reductions = reductions = Reductions(self.model, self.options)
        reductions.analyse(0)
        reductions.open_symmetry()
        closing.before += found.transitions
        universe.seed()
        closing.universe = universe
        while True:
            self.watcher.phase = "analysis"
            universe.prepare(reductions)
            setup = self.watcher.seconds
            with self.model.spent.on(DROPPED):
                found = self._search(reductions, limit)
            if found.stop == "overtaken":
                return None
            if found.stop != "outgrown":
                return self._unclosed_result(found, reductions, setup)
            closing.before += found.transitions
            universe.grow(found)

    def _unclosed_result(self, found: Found, reductions: Reductions, setup: float) -> Result:
        closing = self._closing
        if closing is not None and closing.stopped is not None:
            require_not_given_up(self.watcher, self.model)
        return self._told(found, reductions, setup, self.watcher.seconds - setup)

    def _search(self, reductions: Reductions, max_states: int | None) -> Found:
        self.watcher.phase = "search"
        self.conclusion.dynamic = reductions.dynamic
        found = self._search_once(max_states, reductions=reductions)
        while found.stop == "regrown" and not self.conclusion.answered(found, void=True):
            # A property read a field that the quotient did not keep apart, so its answer is void; or it told processes
            # apart that were taken for interchangeable (docs/soundness.md, rules 8 and 10).
            reductions.apply_again()
            found = self._search_once(max_states, reductions=reductions)
        if self.conclusion.self_check is not None and found.stop != "outgrown":
            try:
                self.conclusion.self_check.verify(
                    self.model, final=reductions.universe is None or found.stop == "finished"
                )
            except _core.StoppedError:
                if found.stop == "finished":  # the search is over, but what was asked for has not been looked at
                    found = replace(found, stop="interrupt")
        reductions.searched(found)
        static = reductions.por.ran and not self.conclusion.dynamic
        if static and found.violation is not None and not self.options.depth_first:
            return self._without_por(found, found.violation.length)
        return found

    def _without_por(self, found: Found, depth: int) -> Found:
        """Look again, no deeper: partial orders do not keep shortest runs (docs/soundness.md, rule 12)."""
        self.model.engine.unrelate()
        again = self._search_once(SHORTER_STATES, depth)
        if again.violation is None:  # or it has left the universe, and knows nothing
            return found
        return replace(found, violation=again.violation, is_shortest=True)

    def _search_once(
        self, max_states: int | None, depth: int | None = None, reductions: Reductions | None = None
    ) -> Found:
        options = self.options
        try:
            saver = None if reductions is None else self._saver(reductions, max_states)
        except _core.StoppedError:  # while the model was asked again
            return self._not_taken_back("interrupt")
        bits = 0
        if options.store == "bitstate":
            bits = BITSTATE_BYTES if options.max_memory is None else max(64, options.max_memory // 2)
        traversal: Traversal = "depth_first" if options.depth_first else "breadth_first"
        if self.conclusion.dynamic:
            traversal = "dpor_classical" if options.dpor_variant == "classical" else "dpor_optimal"
        beside = None if depth is not None else self._closing
        request = Request(
            traversal,
            deadlock=self.asked.deadlock,
            visible=visible(self.model),
            threads=1 if options.depth_first else options.threads,
            stateless=options.stateless,
            bitstate_bytes=bits,
            fingerprints=options.store == "fingerprint",
            spill=options.spill,
            max_states=max_states,
            max_memory=self.watcher.memory,
            seconds=self.watcher.seconds_left,
            max_depth=options.max_depth if self.conclusion.dynamic else depth,
            void_states=VOID_STATES,
            goals_end_from=self.conclusion.goals_end_from if self.conclusion.closed else None,
            meanwhile=None if beside is None else beside.go_on,
            outgrown=beside.outgrown if beside and beside.universe and self.checkpoint is None else None,
            sample=SAMPLE if self.conclusion.self_check is not None and depth is None else None,
            all=options.all,
            census=options.coverage,
            checkpoints=saver,
        )
        try:
            found = self.backend.search(request)
        except _core.DamagedError as error:  # states that were saved are read while the search begins
            raise unreadable(error) from None
        if saver is not None and saver.resumed is not None and found.states < saver.before:
            return self._not_taken_back(found.stop)
        if found.stop not in ("regrown", "outgrown"):
            broken = (found.violation, *(first for first, _ in found.violations))
            self.watcher.finds(broken_by(each, self.model) for each in broken if each is not None)
        if request.meanwhile is not None and self._closing is not None and self._closing.stopped is not None:
            found = replace(found, stop="interrupt")
        return replace(found, is_shortest=not options.depth_first and options.por == "none" and found.miss <= LIKELY)

    def _not_taken_back(self, stop: Stop) -> Found:
        """Of a search that was stopped before it could go on: what it knew by then, it has not said again."""
        assert self.checkpoint is not None
        self.checkpoint.trouble.append("it was stopped before it could go on; the checkpoint is as it was")
        return Found(stop)

    def _saver(self, reductions: Reductions, max_states: int | None) -> Saver | None:
        """What saves the search that is about to begin, or brings it to where it was."""
        if self.checkpoint is None:
            return None
        closing = self._closing
        return self.checkpoint.searching(
            self.model,
            self.watcher,
            reductions.to_json(),
            all_states=max_states == self.options.max_states,
            go_on=lambda transitions: None if closing is None else closing.go_on(0, transitions),
            wanted=lambda: closing is not None and closing.stopped is not None,
        )

    def _told(self, found: Found, reductions: Reductions | None, setup: float, seconds: float) -> Result:
        return self.conclusion.result(found, reductions, setup, seconds, self.covered(found))

    def covered(self, found: Found) -> Coverage | None:
        if found.census is None:
            return None
        from quorate.search.coverage import coverage_of

        with self.watcher.lifted():
            return coverage_of(self.model, found.census, complete=found.stop == "finished")
