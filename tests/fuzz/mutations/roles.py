"""Rules of processes taken apart into their roles."""

from __future__ import annotations

from .rule import Group, expression, statement

DECOMPOSITION = "quorate/reduce/decomposition.py"
DEFINE = "quorate/model/define.py"
BUILD = "quorate/model/build.py"

roles = Group("roles taken apart", "processes of several roles")

roles.rule(
    "roles-channels",
    "Roles of a process that shares channels with order or room are not taken apart.",
    "rule 18; decision 8",
    expression(DEFINE, "if «network.ordered or network.bounded»: raise DecompositionError", "False"),
    focus=("fifo or bounded",),
)
roles.rule(
    "roles-crash",
    "The roles of a process crash together, so that it is not taken apart.",
    "rule 11",
    expression(DEFINE, "if «definition.faults.crashes»: raise DecompositionError", "False"),
    focus=("crashes",),
)
roles.rule(
    "roles-delivery",
    "The roles of a process have one input buffer, so that it is not taken apart with delivery events.",
    "decision 8",
    expression(DEFINE, 'if «definition.environment.network_model != "m"»: raise DecompositionError', "False"),
    focus=("network model grm or rm",),
)
roles.rule(
    "roles-corrupted",
    "Byzantine processes are not taken apart.",
    "rule 18",
    expression(BUILD, "if «self.corrupted»: raise DecompositionError", "False"),
    focus=("attackers",),
)
roles.rule(
    "roles-byzantine",
    "Neither are those that the check asks to be Byzantine.",
    "rule 18",
    expression(BUILD, "if «byzantine and builder.servers»: raise DecompositionError", "False"),
    focus=("attackers",),
)
roles.rule(
    "roles-meant",
    "An identity in a link says which role is meant.",
    "decision 8",
    expression(BUILD, "if «not whole.isdisjoint(names_in(value))»:", "False"),
)
roles.rule(
    "roles-initial",
    "The initial states of the roles are those of the whole processes.",
    "decomposition.py, 1",
    expression(
        DECOMPOSITION,
        "if «{encode(self.locals(state)) for state in apart.initials} != {encode(state) for state in whole.initials}»:",
        "False",
    ),
)
roles.rule(
    "roles-declared",
    "A transition of the whole is declared as it is in the role.",
    "decomposition.py, 2",
    expression(DECOMPOSITION, "if «other is None or other.declaration is not each.declaration»:", "other is None"),
)
roles.rule(
    "roles-within",
    "Nothing bounds the process as a whole.",
    "decomposition.py, 2",
    expression(DECOMPOSITION, "if «len(group) > 1 and whole.spec.within is not None»:", "False"),
    focus=("within",),
)
roles.rule(
    "roles-twice",
    "A field or transition of the whole belongs to one role alone.",
    "decomposition.py, 2",
    expression(DECOMPOSITION, "if «twice»:", "False"),
)
roles.rule(
    "roles-added",
    "A field or transition of the whole belongs to some role.",
    "decomposition.py, 2",
    expression(DECOMPOSITION, "if «added»:", "False"),
)
roles.rule(
    "roles-request-possible",
    "What a quorum asks for, the whole asks for: or neither does.",
    "decomposition.py, 3",
    expression(DECOMPOSITION, "if «(found is None) != (asked is None)»:", "False"),
)
roles.rule(
    "roles-request",
    "What a quorum asks for, the whole asks for.",
    "decomposition.py, 3",
    expression(
        DECOMPOSITION,
        "if «found.size != asked.size or names != {encode(pid) for pid in found.senders or ()}»:",
        "False",
    ),
)
roles.rule(
    "roles-request-names",
    "`each=` names no two roles of one process.",
    "decomposition.py, 5",
    expression(DECOMPOSITION, "if «len(names) < len(senders)»:", "False"),
)
roles.rule(
    "roles-request-named",
    "An identity that `each=` names is joined with no other sender.",
    "decomposition.py, 5",
    statement(
        DECOMPOSITION,
        "«named |= {encode(joined): pid for joined, pid in zip(senders, asked.senders or (), strict=True)}»",
        when="senders",
    ),
)
roles.rule(
    "roles-accepts",
    "Which messages a quorum takes, the whole takes.",
    "decomposition.py, 3",
    expression(DECOMPOSITION, "if «(found is None) != (group is None)»:", "False"),
)
roles.rule(
    "roles-groups",
    "What the messages of a set must agree on is the same for the whole.",
    "decomposition.py, 3",
    expression(DECOMPOSITION, "if «known.setdefault(found, group) != group»:", "False"),
)
roles.rule(
    "roles-outcomes",
    "What a handler does, the whole does.",
    "decomposition.py, 3",
    expression(
        DECOMPOSITION,
        "if «{_effect(outcome) for outcome in found} != "
        "{_effect(self._outcome(column, outcome)) for outcome in outcomes}»:",
        "False",
    ),
)
roles.rule(
    "roles-reaction",
    "How a monitor reacts to a role, it reacts to the whole.",
    "decomposition.py, 3",
    expression(DECOMPOSITION, "if «_effect(found) != _effect(self._outcome(column, outcome))»:", "False"),
    focus=("monitor",),
)
roles.rule(
    "roles-blind",
    "A role looks at no field of another.",
    "decomposition.py, 3",
    expression(DECOMPOSITION, "if «self._looked_at»:", "False"),
)
roles.rule(
    "roles-same-message",
    "Messages to a process that differ between roles differ for the whole.",
    "decomposition.py, 4",
    expression(DECOMPOSITION, "if «known.setdefault(encode(self.renamed(message)), message) is not message»:", "False"),
)
roles.rule(
    "roles-taken",
    "What is sent to one role is not taken by another.",
    "decomposition.py, 4",
    expression(DECOMPOSITION, "if «other != index and self._takes(other, message)»:", "False"),
)
roles.rule(
    "roles-senders",
    "Where a transition takes several messages, those of different roles are of different processes.",
    "decomposition.py, 5",
    expression(DECOMPOSITION, "if «senders.setdefault(joined, message.sender) != message.sender»:", "False"),
)
roles.rule(
    "roles-property",
    "Properties are evaluated on whole processes.",
    "decomposition.py",
    expression("quorate/native/judging.py", "if «self.whole is None»: try: return evaluate(", "True"),
)

RULES = roles.rules
