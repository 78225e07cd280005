"""Rules of implicit crashes, attackers and models of message traffic."""

from __future__ import annotations

from .rule import Group, expression, statement

IMPLICIT = "quorate/search/implicit.py"
ATTACKER = "quorate/model/attacker.py"
DOMAINS = "quorate/language/domains.py"
TRAFFIC = "quorate/model/traffic.py"

implicit = Group("implicit crashes", "crash=implicit")
attackers = Group("attackers", "attackers")
traffic = Group("message traffic", "network model grm or rm")

implicit.rule(
    "implicit-deadlock",
    "Implicit crashes are refused for deadlocks.",
    "rule 11; theorem 2 of the thesis",
    expression(IMPLICIT, "if «asked.deadlock»:", "False"),
)
implicit.rule(
    "implicit-replace",
    "Implicit crashes are refused for channels that replace messages.",
    "rule 11; section 3.2.3 of the thesis",
    expression(IMPLICIT, "if «network.replaces»:", "False"),
    focus=("bounded, replacing",),
)
implicit.rule(
    "implicit-duplicates",
    "Implicit crashes are refused for bounded channels that repeat messages.",
    "implicit.py",
    expression(IMPLICIT, "if «network.bounded and network.duplicates and not network.copies_for_ever»:", "False"),
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
    "implicit.py; rule 16",
    expression(IMPLICIT, 'if «transition.mode == "maximal"»:', "False"),
    focus=("maximal sets",),
)
implicit.rule(
    "implicit-flag",
    "Implicit crashes are refused for properties that read who has crashed.",
    "rule 11",
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
    "rule 11",
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
    "rule 27; attacker.py",
    expression(ATTACKER, "return «any(isinstance(one, cls) for cls in self._signed)» and signer", "False"),
    focus=("attackers that learn",),
)
attackers.rule(
    "attacker-subclasses",
    "Subclasses of a message that a process takes are messages that it takes.",
    "attacker.py",
    statement(ATTACKER, "«todo += derived(cls)»", when="derived(cls)"),
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
    expression(TRAFFIC, "if «network.bounded»:", "False"),
    focus=("bounded",),
)
traffic.rule(
    "traffic-clean-duplicates",
    "Clean channels are refused where consuming removes nothing.",
    "section 3.1 of the thesis",
    expression(TRAFFIC, "if «network.copies_for_ever»:", "False"),
    focus=("unlimited duplicates",),
)
traffic.rule(
    "traffic-clean-heads",
    "Clean channels are refused where heads are skipped or dropped.",
    "section 3.1 of the thesis",
    expression(TRAFFIC, "if «network.passes_over»:", "False"),
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
        "core/model/tables.cpp",
        "if («column.clean && column.sets[consumption.set].size() != inbox.size()») continue;",
        "false",
    ),
    focus=("network model rm",),
)

RULES = [*implicit.rules, *attackers.rules, *traffic.rules]
