"""Rules of monitors that grow, and of properties by parts."""

from __future__ import annotations

from .rule import Group, expression

GROWING = "quorate/reduce/growing.py"
PARTS = "quorate/properties/parts.py"
JUDGING = "quorate/native/judging.py"
EVENTS = "core/reduce/por/events.cpp"
PROVISO = "core/reduce/por/proviso.cpp"

growing = Group("monitors that grow", "monitor")
parts = Group("properties by parts", "properties of several processes")

growing.rule(
    "growing-commute",
    "Events depend on one another if a monitor that grows is told of both.",
    "rule 32",
    expression(EVENTS, "commuting.assign(static_cast<std::size_t>(count) * count, «!column.grows»);", "true"),
    focus=("partial orders",),
)
growing.rule(
    "growing-visible",
    "An event that a monitor which grows is told of may be seen by a property.",
    "rule 32",
    expression(EVENTS, "visible.assign(count, «column.grows»);", "false"),
    focus=("partial orders",),
)
growing.rule(
    "growing-fails",
    "A monitor that grows may fail.",
    "rule 32",
    expression(PROVISO, "if («column->grows») return true;", "false"),
    focus=("partial orders", "deadlock alone"),
)
growing.rule(
    "growing-renaming",
    "The reactions of a monitor that grows must commute with renaming.",
    "rules 10 and 32",
    expression(GROWING, "if «not self._alike(index, number, mine, self._reactions[index, *image])»: place", "False"),
    focus=("symmetry",),
)
growing.rule(
    "growing-orbit",
    "The whole orbit of a local state and an event is compared, not only the pair that was asked for.",
    "rules 10 and 32",
    expression(GROWING, "for pair in «orbit if not self.why else ()»: mine", "orbit[:1] if not self.why else ()"),
    focus=("symmetry",),
)
growing.rule(
    "growing-failure",
    "A reaction that fails is like no reaction that does not.",
    "rules 10 and 32",
    expression(GROWING, "both = «mine.failure is None and its.failure is None»", "True"),
    focus=("symmetry",),
)
growing.rule(
    "growing-specification",
    "What a specification does to a state of the object must commute with renaming.",
    "rules 10 and 32",
    expression(GROWING, 'if «not alike»: self._break(number, f"the specification', "False"),
    focus=("symmetry",),
)

parts.rule(
    "parts-order",
    "A fold that keeps the order of processes is not symmetric.",
    "rule 10",
    expression(
        PARTS, "self.symmetric = source.only_folds(rest) and «all(fold.any_order for fold in self.folds)»", "True"
    ),
    focus=("symmetry",),
)
parts.rule(
    "parts-rest",
    "A property that reads anything besides its folds is not symmetric by what it is made of.",
    "rule 10",
    expression(PARTS, "self.symmetric = «source.only_folds(rest)» and all(", "True"),
    focus=("symmetry",),
)
parts.rule(
    "parts-integers",
    "Only integers are summed and compared in any order.",
    "rule 10",
    expression(
        PARTS,
        'return «type(self.values[element]) is int or (self.kind == "sum" and type(self.values[element]) is bool)»',
        "True",
    ),
    focus=("symmetry",),
)
parts.rule(
    "parts-crashed",
    "An element that asks whether its process has crashed cannot be told by its fields.",
    "architecture: properties by parts",
    expression(PARTS, "if «any(field == CRASH_FLAG for _, field in self._panel.reads)»: return", "False"),
    focus=("crashes",),
)
parts.rule(
    "parts-alike",
    "A fold is symmetric if it reads the same of every local state and of its image.",
    "rule 10",
    expression(
        JUDGING, "if «not fold.folds(element) or image == NONE or its[image][there] != element»: return", "False"
    ),
    focus=("symmetry",),
)
parts.rule(
    "parts-family",
    "A fold is symmetric if it is over all names that are exchanged, or none.",
    "rule 10",
    expression(JUDGING, "if «{columns[index] for index in fold.columns} != {*fold.columns}»: return False", "False"),
    focus=("symmetry",),
)

parts.rule(
    "parts-apart",
    "What looks the same to a fold has images that look the same to it.",
    "rule 10",
    expression(JUDGING, "if «images.setdefault(mine[local][here], element) != element»: return True", "False"),
    focus=("symmetry",),
)
parts.rule(
    "parts-hidden",
    "A variable that a lambda or a comprehension hides does not stand for what it was set to.",
    "rule 8",
    expression(PARTS, "if len(held) != 1 or «self._bound.count(node.id) != 1»:", "False"),
    focus=("symmetry",),
)
parts.rule(
    "parts-text",
    "A text is taken apart only if it was compiled to what runs, comprehensions included.",
    "rule 8",
    expression(PARTS, "if «not _same(code, self.function.__code__)»:", "False"),
    focus=("symmetry",),
)

RULES = (*growing.rules, *parts.rules)
