"""Rules of roles taken apart, implicit crashes, attackers and models of message traffic."""

from __future__ import annotations

from .rule import Group, expression, statement

ROLES = "quorate/language/roles.py"
DECOMPOSITION = "quorate/analysis/decomposition.py"
DEFINITION = "quorate/language/definition.py"
IMPLICIT = "quorate/search/implicit.py"
ATTACKER = "quorate/language/attacker.py"
DOMAINS = "quorate/language/domains.py"
TRAFFIC = "quorate/language/traffic.py"

roles = Group("roles taken apart", "processes of several roles")
implicit = Group("implicit crashes", "crash=implicit")
attackers = Group("attackers", "attackers")
traffic = Group("message traffic", "network model grm or rm")

roles.rule(
    "roles-own",
    "A class that adds something to its roles is not taken apart.",
    "definition 8 of the thesis; decision 8",
    expression(ROLES, "if «own»:", "False"),
)
roles.rule(
    "roles-within",
    "A bound on a role bounds the whole process.",
    "decision 8",
    expression(ROLES, 'if «getattr(role, "within", None) is not None»:', "False"),
    focus=("within",),
)
roles.rule(
    "roles-nested",
    "A role that is composed of roles itself is not taken apart.",
    "decision 8",
    expression(ROLES, "if «roles_of(role)»:", "False"),
)
roles.rule(
    "roles-fields",
    "Roles that share a field are not taken apart.",
    "definition 8 of the thesis",
    expression(ROLES, "if «shared»:", "False"),
)
roles.rule(
    "roles-methods",
    "Roles that both define a method are not taken apart.",
    "definition 8 of the thesis",
    expression(ROLES, "if «mine[name] is not its[name]»:", "False"),
)
roles.rule(
    "roles-messages",
    "Roles that take the same message are not taken apart.",
    "definition 8 of the thesis",
    expression(ROLES, "if «issubclass(here, there) or issubclass(there, here)»:", "False"),
)
roles.rule(
    "roles-uses",
    "Roles of which one uses the other's fields, or hands itself on, are not taken apart.",
    "definition 8 of the thesis",
    expression(ROLES, "if «seen»:", "False"),
)
roles.rule(
    "roles-channels",
    "Roles of a process that shares channels with order or room are not taken apart.",
    "design rule 18; decision 8",
    expression(DEFINITION, 'if «network.kind == "fifo" or network.capacity is not None»: raise NotDecomposed', "False"),
    focus=("fifo or bounded",),
)
roles.rule(
    "roles-crash",
    "The roles of a process crash together, so that it is not taken apart.",
    "design rule 11",
    expression(DEFINITION, "if «definition.faults.crashes»: raise NotDecomposed", "False"),
    focus=("crashes",),
)
roles.rule(
    "roles-delivery",
    "The roles of a process have one input buffer, so that it is not taken apart with delivery events.",
    "decision 8",
    expression(DEFINITION, 'if «definition.environment.network_model != "m"»: raise NotDecomposed', "False"),
    focus=("network model grm or rm",),
)
roles.rule(
    "roles-compared",
    "Roles of one process that are compared with one another are not taken apart.",
    "design rule 18; decision 8",
    expression(
        "quorate/language/pid.py",
        "if «self._index != other._index and self._server is not None and self._server == other._server»:",
        "False",
    ),
)
roles.rule(
    "roles-kinds",
    "Wherever an identity stands, it is always of one kind of role.",
    "design rule 18; decision 8",
    expression(
        DECOMPOSITION, "if «kinds.setdefault(where, role) is not role»:", "kinds.setdefault(where, role) is None"
    ),
)
roles.rule(
    "roles-taken",
    "A message to one role is not one that another role of the process takes.",
    "decision 8",
    expression(DECOMPOSITION, "if «other != column.index and any(each.takes(message) for each in takers)»:", "False"),
)
roles.rule(
    "roles-property",
    "A property that looks at more than one role of a process sees the whole.",
    "decision 8",
    expression(
        "quorate/properties/views.py", "if «whole or sum(issubclass(role, cls) for role in roles) > 1»:", "False"
    ),
)
roles.rule(
    "roles-attackers",
    "Byzantine processes are not taken apart.",
    "design rule 18",
    expression("quorate/language/build.py", "if «self.corrupted»: raise NotDecomposed", "False"),
    focus=("attackers",),
)
roles.rule(
    "roles-meant",
    "An identity in a link says which role is meant.",
    "decision 8",
    expression("quorate/language/build.py", "if «not whole.isdisjoint(names_in(value))»:", "False"),
)

implicit.rule(
    "implicit-deadlock",
    "Implicit crashes are refused for deadlocks.",
    "design rule 11; theorem 2 of the thesis",
    expression(IMPLICIT, "if «asked.deadlock»:", "False"),
)
implicit.rule(
    "implicit-replace",
    "Implicit crashes are refused for channels that replace messages.",
    "design rule 11; section 3.2.3 of the thesis",
    expression(IMPLICIT, 'if «network.full == "replace"»:', "False"),
    focus=("bounded, replacing",),
)
implicit.rule(
    "implicit-duplicates",
    "Implicit crashes are refused for bounded channels that repeat messages.",
    "implicit.py",
    expression(IMPLICIT, 'if «network.capacity is not None and network.duplicates not in (0, "any")»:', "False"),
    focus=("bounded", "duplicates"),
)
implicit.rule(
    "implicit-recover",
    "Implicit crashes are refused for processes that recover.",
    "implicit.py",
    expression(IMPLICIT, "if «definition.declared.recover»:", "False"),
    focus=("recovery",),
)
implicit.rule(
    "implicit-notified",
    "Implicit crashes are refused where the protocol is told of crashes.",
    "implicit.py",
    expression(IMPLICIT, "if «transition.message is not None and issubclass(transition.message, Crash)»:", "False"),
    focus=("crash notifications",),
)
implicit.rule(
    "implicit-maximal",
    "Implicit crashes are refused for maximal sets: a message that a crash would have left out gets in the way.",
    "implicit.py; design rule 16",
    expression(IMPLICIT, 'if «transition.mode == "maximal"»:', "False"),
    focus=("maximal sets",),
)
implicit.rule(
    "implicit-flag",
    "Implicit crashes are refused for properties that read who has crashed.",
    "design rule 11",
    expression(
        IMPLICIT, "if «any(field == CRASH_FLAG for _, field in evaluate(definition, prop, state).reads)»:", "False"
    ),
    expression(
        IMPLICIT,
        'if «model.definition.environment.crash == "implicit" and any(fields[0] for fields in model.observed)»:',
        "False",
    ),
)
implicit.rule(
    "implicit-flag-later",
    "Also if they read that only later in the search.",
    "design rule 11",
    expression(
        IMPLICIT,
        'if «model.definition.environment.crash == "implicit" and any(fields[0] for fields in model.observed)»:',
        "False",
    ),
)

attackers.rule(
    "attacker-maximal",
    "Attackers are refused for maximal sets, which depend on what is not there.",
    "attacker.py",
    expression(ATTACKER, 'if «transition.mode == "maximal"»:', "False"),
    focus=("maximal sets",),
)
attackers.rule(
    "attacker-leak",
    "Attackers share what they learn.",
    "attacker.py",
    expression(ATTACKER, "if «not isinstance(m, Leak)»:", "False"),
    focus=("several attackers that learn",),
)
attackers.rule(
    "attacker-learns",
    "What an attacker was sent that others have signed it can use.",
    "design 2; attacker.py",
    expression(ATTACKER, "return «any(isinstance(one, cls) for cls in self._signed)» and signer", "False"),
    focus=("attackers that learn",),
)
attackers.rule(
    "attacker-subclasses",
    "Subclasses of a message that a process takes are messages that it takes.",
    "attacker.py",
    statement(ATTACKER, "«todo += cls.__subclasses__()»", when="cls.__subclasses__()"),
    focus=("subclassed messages",),
)
attackers.rule(
    "attacker-nested",
    "What was signed is found in tuples and sets too.",
    "domains.py",
    expression(DOMAINS, "elif «isinstance(value, tuple | frozenset)»:", "False"),
    focus=("signed values in tuples",),
)
attackers.rule(
    "attacker-inside-signed",
    "What was signed may lie inside of what was signed.",
    "domains.py",
    statement(DOMAINS, "yield value «yield from evidence(value.value)»"),
    focus=("signed values in signed values",),
)
attackers.rule(
    "attacker-inside-message",
    "What was signed may lie inside of a message that is handed on.",
    "domains.py",
    statement(DOMAINS, "«yield from evidence(getattr(value, name))»"),
    focus=("signed values",),
)
attackers.rule(
    "attacker-signs",
    "Attackers sign for themselves and for one another.",
    "attacker.py",
    expression(
        DOMAINS, "own = [signed(value, pid) for pid in «self._world.attackers» for value in again(arguments[0])]", "()"
    ),
    focus=("signed values",),
)
attackers.rule(
    "attacker-all-pids",
    "An identity in a message may be anybody's.",
    "domains.py",
    expression(DOMAINS, "if hint is Pid: return «self._world.pids»", "self._world.attackers"),
)

traffic.rule(
    "traffic-bounded",
    "Delivery events are refused for bounded channels.",
    "section 3.1 of the thesis",
    expression(TRAFFIC, "if «network.capacity is not None»:", "False"),
    focus=("bounded",),
)
traffic.rule(
    "traffic-clean-duplicates",
    "Clean channels are refused where consuming removes nothing.",
    "section 3.1 of the thesis",
    expression(TRAFFIC, 'if «network.duplicates == "any"»:', "False"),
    focus=("unlimited duplicates",),
)
traffic.rule(
    "traffic-clean-heads",
    "Clean channels are refused where heads are skipped or dropped.",
    "section 3.1 of the thesis",
    expression(TRAFFIC, 'if «network.kind == "fifo" and network.head != "block"»:', "False"),
    focus=("fifo",),
)
traffic.rule(
    "traffic-clean-kept",
    "Clean channels are refused for transitions that read without consuming.",
    "section 3.1 of the thesis",
    expression(TRAFFIC, "if «transition.keep»:", "False"),
    focus=("keep=True",),
)
traffic.rule(
    "traffic-clean",
    "With clean channels a transition consumes all that was delivered, or is not enabled.",
    "section 3.1 of the thesis",
    expression(
        "core/tables.cpp",
        "if («column.clean && column.sets[consumption.set].size() != inbox.size()») continue;",
        "false",
    ),
    focus=("network model rm",),
)

RULES = [*roles.rules, *implicit.rules, *attackers.rules, *traffic.rules]
