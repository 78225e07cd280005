"""What is declared, what a model remembers, and what newer parts of the language rest on; tests show these rules."""

from __future__ import annotations

from .rule import Group, expression

LOST = "quorate/language/lost.py"
CONCLUSION = "quorate/search/conclusion.py"
RANKS = "quorate/model/renumbering.py"

declared = Group("declarations")
memory = Group("what models remember")
ranks = Group("ranks")
approximate = Group("fingerprints")
in_flight = Group("messages in flight")

declared.rule(
    "declared-lost",
    "What the body of a class declares is there when the class is complete.",
    "rule 43",
    expression(LOST, "if «id(function) in kept» or name not in members:", "True"),
)
declared.rule(
    "declared-hidden",
    "Of two bases not both have a transition, or a property, of one name.",
    "rule 43",
    expression(
        LOST,
        "if «issubclass(base, language) and issubclass(first, language) and not issubclass(first, base)»:",
        "False",
    ),
)
memory.rule(
    "remember-metaclass",
    "What a metaclass of the model holds is compared too.",
    "rule 19",
    expression("quorate/model/memory.py", "in (*cls.__mro__[1:], «type(cls)»):", "object"),
)
memory.rule(
    "remember-behind-caches",
    "What is behind a cache is compared once it was asked without the cache.",
    "rule 19",
    expression(
        "quorate/properties/purity.py",
        "if «definition.memory.caches»:  # what a full cache has hidden",
        "False",
    ),
)
ranks.rule(
    "rank-numbers",
    "What is asked does the same with other numbers in the same order.",
    "rule 40",
    expression(RANKS, "if «any(each != seen[0] for each in seen)»:", "False"),
)
ranks.rule(
    "rank-odd",
    "Odd numbers are tried too, and numbers with gaps of 2 and 3 by turns.",
    "rule 40",
    expression(
        RANKS, "tried += «[each for each in (range(3, 2 * size + 2, 2), _mixed(size)) if each[-1] < 2 * MOST]»", "[]"
    ),
)
approximate.rule(
    "fingerprint-odds",
    "If a state may well have been missed, nothing holds.",
    "rule 36",
    expression(CONCLUSION, 'approximate = options.store == "bitstate" or «found.miss > LIKELY»', "False"),
)
in_flight.rule(
    "pending-reductions",
    "Where a property reads messages in flight, reductions are off.",
    "rule 38",
    expression("quorate/search/in_flight.py", "return «options.without_reductions()»", "options"),
)

RULES = (*declared.rules, *memory.rules, *ranks.rules, *approximate.rules, *in_flight.rules)
