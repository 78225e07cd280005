"""Rules of the searches themselves: what is judged, what starts over, what a result may say."""

from __future__ import annotations

from .rule import Group, expression, statement, value

REDUCTIONS = "quorate/reduce/reductions.py"
JUDGING = "quorate/native/judging.py"

reads = Group("what properties read")
search = Group("search")
semantics = Group("steps")
told = Group("what a result says")
self_check = Group("self-check", "--self-check")

reads.rule(
    "reads-restart",
    "An answer that read a field which was not observed is void, and the search starts over.",
    "rule 8",
    expression(JUDGING, "if «new and self.restart_on_new_reads»:", "False"),
)
reads.rule(
    "reads-restart-quotient",
    "That is so with the quotient: a representative's field may hold another local state's value.",
    "rule 8",
    expression(REDUCTIONS, "self.model.restart_on_new_reads = «self.quotient.ran» or", "False"),
)
reads.rule(
    "reads-restart-por",
    "That is so with partial orders: what a property reads decides which steps are visible.",
    "rule 8",
    expression(REDUCTIONS, "self.quotient.ran or «self.por.ran» or", "False"),
    focus=("partial orders",),
)
reads.rule(
    "reads-observe",
    "Without reductions a field that turns out to be read is observed from then on.",
    "rule 8",
    statement(JUDGING, "«self.engine.observe(self.observed)» self.engine.add_answer(number, path, said)"),
)
reads.rule(
    "reads-clear",
    "When the search starts over all answers are forgotten.",
    "rule 8",
    statement(REDUCTIONS, "«self.model.engine.clear_answers()» self.apply()"),
)
reads.rule(
    "reads-step",
    "A property is judged again where a step changes a field that it reads.",
    "rule 8",
    expression(
        "core/model/tables.cpp",
        "step.observed = «step.next != none && column.cells[step.next].observation != column.cells[cell].observation»;",
        "false",
    ),
)
reads.rule(
    "reads-monitor",
    "A property is judged again where an event changes a monitor's field that it reads.",
    "rule 6",
    expression(
        "core/model/expander.hpp",
        "observed |= «reached.observation != tables.columns[send->column]->cells[old].observation»;",
        "false",
    ),
    focus=("monitor",),
)
reads.rule(
    "reads-void-level",
    "A violation of a level in which a property read a new field is void.",
    "rule 8",
    expression(
        "core/search/verdicts.cpp",
        "if («stop_ == Stop::regrown») violation_.reset();",
        "false",
    ),
)
reads.rule(
    "reads-final",
    "The predicate that says which final states are fine is a property too: what it reads is observed.",
    "rule 8",
    expression(
        "quorate/properties/asked.py",
        "final = «(definition.final,) if deadlock and definition.final is not None else ()»",
        "()",
    ),
    focus=("final",),
)
reads.rule(
    "reads-crash-flag",
    "Asking whether a process has crashed is a read.",
    "rules 8 and 11",
    statement("quorate/model/views.py", "«reading.panel.reads.setdefault((reading.index, CRASH_FLAG))»"),
    focus=("crashes",),
)

search.rule(
    "store-equal",
    "A state counts as known only if it is equal to a stored one, not on a hash alone.",
    "store.hpp",
    # The bits of a hash that a slot has are a part of the comparison: small systems never differ in the rest alone.
    expression(
        "core/store/store.hpp",
        "for (std::uint32_t found = «seen.tagged»; found != 0; found &= found - 1) {",
        "~seen.free & 0xffff",
    ),
    expression("core/store/store.hpp", "if («!layout_.equal(this->at(other), packed)») continue; known", "false"),
)
search.rule(
    "store-widen",
    "A cell that does not fit its field widens the packed form before it is stored.",
    "store.hpp; layout.hpp",
    statement("core/search/successors.hpp", "«misfit |= !layout.fits(column, after);»"),
)
search.rule(
    "store-widen-canonical",
    "So does a cell of a canonical form.",
    "store.hpp; layout.hpp",
    statement(
        "core/search/successors.hpp",
        "for (Id column = 0; column < form.size(); ++column) «misfit |= !layout.fits(column, form[column]);»",
    ),
    focus=("interchangeable processes",),
)
search.rule(
    "search-goal-raises",
    "A property that raises has no answer: the search reports it.",
    "rule 9",
    expression(
        "core/search/judge.hpp", "if («verdict == Verdict::raises») go_on = found(Finding::raises, i);", "false"
    ),
    focus=("properties that raise",),
)
search.rule(
    "deadlock-protocol",
    "Deadlock means that no step of the protocol is possible, whatever the environment can do.",
    "rule 7",
    expression(
        "core/model/tables.cpp", "step.protocol = «step.kind == Kind::step || step.kind == Kind::discard»;", "true"
    ),
    focus=("losses, duplicates or crashes", "deadlock"),
)

semantics.rule(
    "crash-cuts-end",
    "Into a FIFO channel a crash in the midst of a step cuts off the end, and leaves nothing out before.",
    "definition 3 of the thesis",
    expression(
        "core/model/tables.cpp",
        "if («network.ordered() && !keeps_order(messages, chosen)») continue;",
        "false",
    ),
    focus=("crashes", "fifo"),
)
semantics.rule(
    "crash-whole",
    "What cannot be done as a whole, for lack of room, cannot be cut short by a crash.",
    "definition 3 of the thesis, condition (1)",
    statement(
        "core/model/tables.cpp",
        "«if (network.blocks_when_full()) stop.whole = static_cast<Id>(i);»",
    ),
    focus=("crashes", "bounded"),
)
semantics.rule(
    "raise-request",
    "Where the guard of a quorum raises, a message is asked for, so that the failure is met.",
    "rule 9",
    expression("quorate/model/run.py", "return «Request(size=1)»", "None"),
    focus=("guards that raise",),
)
semantics.rule(
    "raise-accept",
    "Where the filter of a quorum raises, the message is taken as accepted, so that the failure is met.",
    "rule 9",
    expression("quorate/model/run.py", 'return «b""»  # taken as accepted', "None"),
    focus=("guards that raise",),
)
semantics.rule(
    "run-twice",
    "A sample of the evaluations is run again, at once and at the end, and what a model could remember is compared.",
    "rule 19",
    expression("quorate/model/run.py", "if «count & (count - 1) == 0»: require_same", "False"),
    expression("quorate/properties/purity.py", "if «thread_time() >= until»:", "True"),
    expression("quorate/model/memory.py", "if «before == after or not self._is_named(place)»:", "True"),
    focus=("handlers that remember",),
)
semantics.rule(
    "message-unchanged",
    "A handler that changes the message it received is refused.",
    "rule 19",
    expression("quorate/model/again.py", "if «not _unchanged(each)»:", "False"),
    focus=("handlers that change messages",),
)
semantics.rule(
    "message-unchanged-at-once",
    "That a handler changes a message is looked for before it is run again, which may change it back.",
    "rule 19",
    expression(
        "quorate/model/run.py",
        "if «transition.sample.note(_paths, (column, transition, local, messages), outcomes)»:",
        "transition.sample.note(_paths, (column, transition, local, messages), outcomes) and False",
    ),
    focus=("handlers that change messages",),
)
semantics.rule(
    "fields-declared",
    "Only declared fields are part of a process: nothing else can be assigned.",
    "docs/language.md",
    expression("quorate/language/automaton.py", "if «name not in self._fields»:", "False"),
    expression("quorate/model/run.py", "if «list(held) == list(fields)»: return", "True"),
    focus=("handlers that remember",),
)
semantics.rule(
    "fields-frozen",
    "Fields hold immutable values alone.",
    "docs/language.md",
    expression("quorate/language/automaton.py", "if «type(value) not in SIMPLE»:", "False"),
    focus=("mutable values",),
)
semantics.rule(
    "pids-opaque",
    "Identities cannot be ordered or computed with.",
    "rule 10, which says that soundness comes from the check",
    statement(
        "quorate/language/pid.py",
        """«raise IdentityError(
            f"{self._name} is the identity of a process, not a number: it cannot be ordered or used in arithmetic",
            hint="compare identities with == only; give processes that differ a field of their own, "
            "e.g. self.spawn(Proposer, rank=1)",
            location=caller(),
        )»""",
        "return False",
    ),
    focus=("identities that are ordered",),
)

told.rule(
    "told-approximate",
    "What a bit array has searched is never said to hold.",
    "Holzmann's bitstate hashing",
    expression("quorate/search/verdict.py", '"holds" if finished and «not approximate» else', "True"),
    focus=("bitstate",),
)
told.rule(
    "told-stopped",
    "What was stopped never holds.",
    "outcomes.py",
    value("quorate/search/verdict.py", 'rest: Verdict = "holds" if «finished» and', "found.violation is None"),
    focus=("limits",),
)
told.rule(
    "told-shortest",
    "A run found with partial orders is not said to be a shortest one.",
    "rule 12",
    expression("quorate/search/safety.py", 'is_shortest=not options.depth_first and «options.por == "none"»', "True"),
    focus=("partial orders",),
)
told.rule(
    "told-again",
    "After a violation with partial orders the search is repeated without them, for a shortest run.",
    "rule 12",
    expression(
        "quorate/search/safety.py",
        "if static and «found.violation is not None» and not self.options.depth_first:",
        "False",
    ),
    focus=("partial orders",),
)

self_check.rule(
    "self-check-twins",
    "A check by definition runs without twins, whose states differ in messages that nobody asks for.",
    "partial_orders.py",
    expression("quorate/reduce/partial_orders.py", 'twins="twins" not in without and «not options.self_check»', "True"),
    focus=("partial orders",),
)
self_check.rule(
    "self-check-whole",
    "Only a search that has seen all it has to see misses something.",
    "self_check.py",
    expression("quorate/search/self_check.py", "and kept and «whole» and theirs - mine:", "True"),
    focus=("limits",),
)
self_check.rule(
    "self-check-kept",
    "Where deadlocks alone are asked for, observations may be missed.",
    "self_check.py",
    expression("quorate/search/self_check.py", 'if self.figures["compared"] and «kept» and whole', "True"),
    focus=("partial orders", "deadlock alone"),
)
self_check.rule(
    "self-check-symmetry",
    "With symmetry what differs in names only is left out on purpose.",
    "self_check.py",
    expression("quorate/search/self_check.py", "clean and «not symmetric»", "True"),
    focus=("interchangeable processes",),
)

RULES = [*reads.rules, *search.rules, *semantics.rules, *told.rules, *self_check.rules]
