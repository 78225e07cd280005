"""Rules of symmetry: what is checked before a renaming is believed, and how it acts."""

from __future__ import annotations

from .rule import Group, expression, statement, value

CORE = "core/reduce/symmetry/symmetry.cpp"
PYTHON = "quorate/reduce/families.py"
RENAMING = "quorate/model/renaming.py"

symmetry = Group("symmetry", "interchangeable processes")
action = Group("renamings", "interchangeable processes")

symmetry.rule(
    "symmetry-check",
    "A family is believed only after the exchange of neighbours was compared with the whole closure.",
    "rule 10; decision 7",
    expression(PYTHON, "if «breach is not None»:", "False"),
)
symmetry.rule(
    "symmetry-proposed",
    "Processes are proposed only if exchanging them leaves the set of initial states as it is.",
    "rule 10",
    expression(
        PYTHON,
        "if «content(image, [(columns[to], renamed(each, names)) for to, each in sends]) not in initials»:",
        "False",
    ),
)
symmetry.rule(
    "symmetry-initials",
    "The image of an initial state is an initial state.",
    "rule 10",
    expression(CORE, 'if («!initials.contains({image, pending})») return Breach{"initial"};', "false"),
)
symmetry.rule(
    "symmetry-local-exists",
    "The image of every local state is one of the closure.",
    "rule 10",
    expression(
        CORE,
        "if («locals[local] == none && column.locals[local].home == none») "
        'return Breach{"local", column.index, local};',
        "false",
    ),
)
symmetry.rule(
    "symmetry-message-exists",
    "The image of every message is one of the closure.",
    "rule 10",
    expression(CORE, 'if («messages[message] == none») return Breach{"message", column.index, message};', "false"),
)
symmetry.rule(
    "symmetry-sizes",
    "A process and its image have as many local states and messages.",
    "rule 10",
    expression(
        CORE,
        "if («size(column) != size(image) || column.messages.size() != image.messages.size()»)",
        "false",
    ),
)
symmetry.rule(
    "symmetry-opening",
    "What is pending from the beginning is renamed to what is pending from the beginning.",
    "rule 10",
    expression(CORE, "if («opening != wanted» || column.input != other.input || column.clean != other.clean)", "false"),
    focus=("attackers",),
)
symmetry.rule(
    "symmetry-system-bound",
    "A bound of the whole system must be known to say the same of every renamed state.",
    "rule 34",
    expression(
        PYTHON,
        "if «self._model.definition.bound is None or not self.families or symmetric[-1]»:",
        "True",
    ),
    focus=("bound of the system",),
)
symmetry.rule(
    "symmetry-stands",
    "What an attacker says is renamed to what an attacker says.",
    "rule 10",
    expression(
        CORE,
        "if (image != none && «column.messages[message].stands != other.messages[image].stands»)",
        "false",
    ),
    focus=("attackers",),
)
symmetry.rule(
    "symmetry-notices",
    "Crashes are told to the images of those to whom they are told.",
    "rule 10",
    expression(CORE, "if («sent(column.notices, true) != sent(other.notices, false)»)", "false"),
    focus=("crash notifications",),
)
symmetry.rule(
    "symmetry-crash",
    "Crashed, failed, and where a crash and a recovery lead: the same for the image.",
    "rule 10",
    expression(
        CORE,
        """if («mine.crashed != its.crashed || failure(mine.failure) != failure(its.failure) ||
        moved(mine.crash) != its.crash || moved(mine.recovery) != its.recovery»)""",
        "false",
    ),
    focus=("crashes",),
)
symmetry.rule(
    "symmetry-behaviour",
    "The image of a behaviour is a behaviour of the image.",
    "rule 10",
    expression(
        CORE,
        "if (known == nullptr || «signatures(*one.behaviour, column, true) != signatures(**known, other, false)»)",
        "false",
    ),
)
symmetry.rule(
    "symmetry-known",
    "The image of an enabled transition was evaluated.",
    "rule 10",
    value(
        CORE,
        "if («known == nullptr || signatures(*one.behaviour, column, true) != signatures(**known, other, false)»)",
        "known != nullptr && signatures(*one.behaviour, column, true) != signatures(**known, other, false)",
    ),
)
symmetry.rule(
    "symmetry-guards",
    "The image has as many transitions enabled: no more than the process itself.",
    "rule 10",
    expression(
        CORE,
        "if («closure_.enabled[column.index][local].size() != closure_.enabled[other.index][image].size()»)",
        "false",
    ),
)
symmetry.rule(
    "symmetry-filters",
    "Which messages a quorum refuses and groups is the same for the image, where that decides what is passed over.",
    "rule 10",
    expression(CORE, "if («!filters_agree(column, other, transition, local, image)»)", "false"),
    focus=("fifo with heads skipped or dropped, or maximal sets",),
)
symmetry.rule(
    "symmetry-order-sent",
    "Into a channel whose order or room counts the image sends in the same order.",
    "rules 5 and 10",
    expression(CORE, "const bool ordered = «tables_.network.sends_conflict()»;", "false"),
    focus=("fifo or bounded",),
)
symmetry.rule(
    "symmetry-order-emitted",
    "The image emits its events in the same order.",
    "rules 6 and 10",
    expression(CORE, "return !ordered && «!tables_.columns[a.first]->monitor» && a.second < b.second;", "true"),
    focus=("monitor",),
)
symmetry.rule(
    "symmetry-failure-kinds",
    "Failures count as the same only if they differ in their text alone.",
    "rule 9",
    value(
        PYTHON,
        "keys = «[(each.kind, each.file, each.line, each.code) for each in failures]»",
        '[("", "", 0, "")] * len(failures)',
    ),
)
symmetry.rule(
    "symmetry-properties",
    "A property that says something else of a renamed state is no symmetric one: its family is left out.",
    "rule 10; decision 7",
    expression(CORE, "if («first != verdicts») {", "false"),
)
symmetry.rule(
    "symmetry-properties-all",
    "Every renaming of what properties see is judged, not only the state itself.",
    "decision 7",
    expression(CORE, "if («alike.find(seen) != none») continue;", "true"),
)
symmetry.rule(
    "symmetry-properties-restart",
    "A search whose properties read new fields starts over under symmetry, since they may tell processes apart.",
    "rule 8",
    expression(
        "quorate/reduce/reductions.py",
        "self.quotient.ran or self.por.ran or «self.symmetry.ran»",
        "False",
    ),
)

action.rule(
    "action-mentioned-messages",
    "A name that occurs in a pending message occurs in the cell.",
    "symmetry.hpp, marks",
    statement(CORE, "«for (Id message : pending) note(message_marks_[column][message]);»", when="!pending.empty()"),
)
action.rule(
    "action-mentioned-locals",
    "A name that occurs in a local state occurs in the cell.",
    "symmetry.hpp, marks",
    statement(
        CORE,
        "«note(local_marks_[column][owner.cells[cell].local]);»",
        when="!local_marks_[column][owner.cells[cell].local].of.empty()",
    ),
)
action.rule(
    "action-class-marks",
    "The marks of merged local states are the sums over them: their representative is not renamed to the other's.",
    "rule 4; decision 7",
    statement(
        CORE,
        "«for (Id name = 0; name < names_; ++name) row[name] += mix(marks.base);»",
        "return;",
        when="tables.merged(column, local) != local",
    ),
)
action.rule(
    "action-twins",
    "Names of the same colour are taken for twins only after their exchange was seen to change nothing.",
    "decision 7",
    expression(
        "core/reduce/symmetry/canonical.cpp",
        "return «symmetry_.act(pair, column, cells[column]) == cells[symmetry_.column(one, two, column)]»;",
        "true",
    ),
)
action.rule(
    "action-map",
    "Names in maps are renamed.",
    "renaming.py",
    expression(
        RENAMING,
        "return «freeze(Map({renamed(key, names): renamed(item, names) for key, item in value.items()}))»",
        "value",
    ),
    focus=("identities in maps",),
)
action.rule(
    "action-set",
    "Names in sets are renamed.",
    "renaming.py",
    expression(RENAMING, "return «freeze(cls(renamed(item, names) for item in value))»", "value"),
    focus=("identities in sets",),
)
action.rule(
    "action-tuple",
    "Names in tuples are renamed.",
    "renaming.py",
    expression(RENAMING, "if cls is tuple: return «tuple([renamed(item, names) for item in value])»", "value"),
    focus=("identities in tuples",),
)
action.rule(
    "action-signed",
    "Signers are renamed.",
    "renaming.py",
    expression(RENAMING, "return «signed(renamed(value.value, names), renamed(value.signer, names))»", "value"),
    focus=("signed values",),
)
action.rule(
    "action-sender",
    "The sender of a message is renamed.",
    "renaming.py",
    statement(
        RENAMING,
        """«new.__dict__["_origin"] = renamed(value.__dict__["_origin"], names)»""",
        """new.__dict__["_origin"] = value.__dict__["_origin"]""",
    ),
)
action.rule(
    "action-names-in",
    "A name inside of a value is found however deep it lies.",
    "renaming.py",
    statement(RENAMING, "«todo += parts_of(one)»", "todo += [part for part in parts_of(one) if is_name(part)]"),
)

RULES = [*symmetry.rules, *action.rules]
