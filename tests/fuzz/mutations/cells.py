"""Shared cells, and answers that are recalled by what was read."""

from __future__ import annotations

from .rule import Group, expression, statement

QUOTIENT = "core/analysis/local_quotient.cpp"
TABLES = "core/model/tables.cpp"
LOCAL_STEPS = "core/reduce/por/local_steps.cpp"
RECALL = "core/binding/recall.cpp"

cells = Group("shared cells")
local_steps = Group("steps that concern nobody")
recalled = Group("recalled answers")

cells.rule(
    "cells-values",
    "Values of a cell are never merged: processes read them.",
    "rule 35",
    expression(QUOTIENT, "if («column.shared») {", "false"),
)
cells.rule(
    "cells-which",
    "Local states are merged only if they read the same cell first.",
    "rule 35",
    expression(QUOTIENT, "signature{block[local], «state.reads», state.crash", "none"),
)
cells.rule(
    "cells-views",
    "Local states are merged only if their views are, value by value.",
    "rule 35",
    expression(
        QUOTIENT, "std::size_t value = 0; «state.reads != none && value < state.views.size()»; ++value)", "false"
    ),
)
cells.rule(
    "cells-view-stands",
    "No view stands for a local state.",
    "rule 35",
    expression(QUOTIENT, "if («column.locals[local].home != none») continue;", "false"),
)
cells.rule(
    "cells-dead-home",
    "A message is dropped only if it is dead for all that its receiver may see.",
    "rules 26 and 35",
    expression(TABLES, "column.locals[«column.home(local)»].live", "local"),
)
cells.rule(
    "cells-dead-views",
    "A message is alive in a local state if it is for one of its views.",
    "rules 26 and 35",
    expression("core/analysis/dead_messages.cpp", "if («view != none») successors[local].push_back(view);", "false"),
)
cells.rule(
    "cells-home",
    "Losses, copies and crashes leave a process where it is, not in its view.",
    "rule 35",
    expression(TABLES, "const Id home = «column.home(local)»;", "local"),
)
cells.rule(
    "cells-closure",
    "In the closure a local state that reads is looked at again: there may be new values.",
    "rules 23 and 35",
    expression(
        "core/analysis/closure.cpp",
        "if (done[local] == messages.size() && «column->locals[local].reads == none») {",
        "true",
    ),
)
cells.rule(
    "cells-renamed",
    "What a view enables is enabled for the renamed view.",
    "rules 10 and 35",
    expression("core/reduce/symmetry/symmetry.cpp", "if («column.reading») if (auto breach", "false"),
)
local_steps.rule(
    "local-reads",
    "Steps that depend on a cell are not preferred.",
    "rule 35; local_steps.hpp",
    expression(LOCAL_STEPS, "|| «tables_.reads(column, cells[column]) != none» ||", "false"),
)
local_steps.rule(
    "local-hears",
    "Nor are those of a process that may take messages.",
    "rule 35; local_steps.hpp",
    expression(LOCAL_STEPS, "if («hears_[column]» || tables_", "false"),
)
local_steps.rule(
    "local-fails",
    "Nor are steps that fail or are cut.",
    "rule 35; local_steps.hpp",
    expression(LOCAL_STEPS, "&& «step.effect == Effect::moves» &&", "true"),
)
local_steps.rule(
    "local-budget",
    "Nor are steps that draw on a budget.",
    "rule 35; local_steps.hpp",
    expression(LOCAL_STEPS, "&& «step.budget == Budget::free» &&", "true"),
)
local_steps.rule(
    "local-sends",
    "Nor are steps that send, write or tell something.",
    "rule 35; local_steps.hpp",
    expression(LOCAL_STEPS, "«step.send_count == 0» &&", "true"),
)
local_steps.rule(
    "local-seen",
    "Nor are steps that a property sees.",
    "rules 17 and 35; local_steps.hpp",
    expression(LOCAL_STEPS, "&& «!step.observed»;", "true"),
)
local_steps.rule(
    "local-bound",
    "Where the whole system has a bound, no order is left out.",
    "rules 34 and 35; local_steps.hpp",
    expression(LOCAL_STEPS, "if («tables.bound != nullptr») return", "false"),
)
recalled.rule(
    "recall-some-ways",
    "A field that some ways through a handler assign, and others do not, counts as read.",
    "rule 39",
    expression("quorate/model/touched.py", "for field in sorted(«self._ever - always»):", "set()"),
)
recalled.rule(
    "recall-assigned",
    "A field that is assigned without being read has that value afterwards.",
    "rule 39",
    statement(RECALL, "«for (const Id field : record.assigned) found.push_back({field, after[field]});»"),
)
recalled.rule(
    "recall-changed",
    "A field that is read and changed has the new value afterwards.",
    "rule 39",
    expression(RECALL, "if («after[field] != before[field]») found.push_back", "false"),
)
recalled.rule(
    "recall-again",
    "Now and then an answer that is known is asked for again.",
    "rules 19 and 39",
    expression(
        RECALL, "if («owner.recalled % again == 0 || std::has_single_bit(owner.recalled)») return false;", "false"
    ),
)

RULES = (*cells.rules, *local_steps.rules, *recalled.rules)
