"""Rules of symmetry where the closure has not ended: what a search asks for is compared as it asks."""

from __future__ import annotations

from .rule import Group, expression, statement

ORBITS = "core/reduce/symmetry/orbits.cpp"
COLUMN = "core/model/column.hpp"
ANALYSIS = "core/binding/analysis.cpp"
PYTHON = "quorate/reduce/open_symmetry.py"
UNIVERSE = "quorate/reduce/optimistic.py"
FAMILIES = "quorate/reduce/symmetry.py"

opened = Group("symmetry without a closure", "interchangeable processes", "no closure")

opened.rule(
    "open-compared",
    "What a search asks for is compared under the exchanges of neighbouring names.",
    "rule 10; orbits.hpp",
    expression(ORBITS, "if («alike(query, image(query, one), one, helper.failures())») continue;", "true"),
)
opened.rule(
    "open-usable",
    "What only the closure beside the search has asked for is not used before it is compared.",
    "rule 10; decision 16",
    expression(
        COLUMN,
        "return «!compares || compared[static_cast<std::size_t>(kind)].find(key) != nullptr»;",
        "true",
    ),
)
opened.rule(
    "open-beginning",
    "The image of an initial state is an initial state.",
    "rule 10",
    statement(ORBITS, "if (breach) return breach;"),
)
opened.rule(
    "open-crash",
    "Where a crash and a recovery lead commutes with renaming.",
    "rule 10",
    expression(
        ORBITS,
        "if («!alike(*tables_.columns[column], number, *tables_.columns[image.column], image.number, one, "
        "helper.failures())») return tell_apart({",
        "false",
    ),
)
opened.rule(
    "open-requests",
    "The image of a quorum asks for as many messages, of the images of the same senders.",
    "rule 10",
    expression(
        ORBITS,
        "return «asked.enabled == wanted.enabled && asked.mode == wanted.mode && asked.size == wanted.size && "
        "senders == others»;",
        "true",
    ),
)
opened.rule(
    "open-refused",
    "The image of a message that a quorum refuses is refused.",
    "rule 10",
    expression(
        ORBITS,
        "if (accepted == rejected || other == rejected) return «accepted == other»;",
        "true",
    ),
)
opened.rule(
    "open-groups",
    "Messages agree for a quorum if and only if their images do.",
    "rule 10",
    expression(ORBITS, "return «groups_.emplace(key, other).first->second == other»;", "true"),
)
opened.rule(
    "open-order",
    "Into channels with an order, and to monitors, the image sends in the same order.",
    "rules 5, 6 and 10",
    expression(ORBITS, "return «!ordered && !tables_.columns[a.first]->monitor» && a.second < b.second;", "true"),
)
opened.rule(
    "open-universe-closed",
    "An optimistic universe is closed under renaming.",
    "rules 4 and 10",
    statement(ANALYSIS, "if (orbits) orbits->extend();"),
)
opened.rule(
    "open-universe-compared",
    "All that was evaluated for a universe is compared.",
    "rules 4 and 10",
    statement(ANALYSIS, "oracle.fill(orbits->facts(*closure));"),
)
opened.rule(
    "open-elements",
    "What looks the same to a fold has images that look the same to it.",
    "rule 10",
    expression(
        PYTHON,
        "if «there is None or self._elements.setdefault(place, there) != there»:",
        "False",
    ),
)
opened.rule(
    "open-alike",
    "A fold is symmetric as long as it reads the same of every local state that was met and of its images.",
    "rule 10",
    expression(PYTHON, "«number not in self._unlike» and parts is not None", "True"),
)
opened.rule(
    "open-properties",
    "A property that does more than fold is compared on renamed states.",
    "rule 10",
    expression(PYTHON, "parts is not None and «self._is_symmetric(parts)»", "True"),
)
opened.rule(
    "open-bound",
    "A bound of the whole system that turns out to tell processes apart breaks their family.",
    "rule 34",
    expression(PYTHON, "if «parts.property is model.definition.bound»:", "False"),
)
opened.rule(
    "open-possible",
    "Off for attackers, shared cells, ranks, and properties that read messages.",
    "decision 16",
    expression(PYTHON, "return «not special and not routed» and model.whole is None", "True"),
)
opened.rule(
    "open-flows",
    "With partial orders by flows symmetry is off.",
    "decision 16",
    expression(UNIVERSE, "if «reductions.por.wanted»: # nothing is proven for both", "False"),
)

RULES = tuple(opened.rules)
