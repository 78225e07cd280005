"""Why nobody notices that a rule is gone: another one implies it, or it refuses what is not known to go wrong.

A rule that is found after all is not looked up here.
"""

from __future__ import annotations

_INVERSE = "an exchange is its own inverse, and both sides are compared"
_NAMES = "a message bears the name of who sent it; only delivery events send under another's name, and are refused"

_SWAP = (
    "what is asked for later holds both messages or neither, or is ruled out without them: so the two can change "
    "places, however often one is repeated or lost"
)
_RENAMED = "what is not renamed does something else under its new name: the check fails, and the family is left out"

IMPLIED: dict[str, str] = {
    "cells-renamed": f"{_INVERSE}: what one side enables and the other does not has no image there",
    "local-fails": "where the chosen steps lead to no new state all are taken: `proviso-breadth-first`",
    "local-budget": "only losses, copies and crashes draw on budgets, and those are no steps of the process itself",
    "action-map": _RENAMED,
    "action-set": _RENAMED,
    "action-tuple": _RENAMED,
    "action-signed": _RENAMED,
    "action-sender": _RENAMED,
    "action-names-in": _RENAMED,
    "told-again": "the run is then not said to be a shortest one: `told-shortest`",
    "quotient-crashed": "who is alive has a local state to crash into and who has crashed has none: `quotient-crash`",
    "quotient-failed-monitor": "the failure of a monitor is part of its observation (`Column::classify`)",
    "quotient-effect": "a cut has no next local state and no failure, a failure has one, a move has a next local state",
    "universe-cell": "the step that leads there, and the cell's own steps, are noted: `universe-next`, `universe-step`",
    "universe-next": "making the cell of the next local state notes the same: `universe-cell`",
    "universe-sent": "the receiver's cell then holds a message from outside: `universe-inbox`",
    "symmetry-proposed": "the core compares initial states too (`symmetry-initials`), and see `symmetry-beginning`",
    "symmetry-initials": "processes are proposed by their initial states (`symmetry-proposed`), and see "
    "`symmetry-beginning`",
    "symmetry-sizes": f"{_INVERSE}: if all have images, there are as many on both sides",
    "symmetry-guards": f"{_INVERSE}: `symmetry-known`",
    "symmetry-known": f"{_INVERSE}: `symmetry-guards`",
    "symmetry-local-exists": "a step leads there whose image leads elsewhere: `symmetry-behaviour`, `symmetry-crash`",
    "symmetry-message-exists": "a step sends it whose image sends something else: `symmetry-behaviour`",
    "symmetry-stands": "only processes of one class are proposed, and attackers are a class of their own",
    "symmetry-notices": "who is told of crashes depends on classes alone, and so do families",
    "open-beginning": "processes are proposed by their initial states: `symmetry-proposed`",
    "open-crash": "who may crash depends on classes alone, and crashing and recovering commute with renaming",
    "open-universe-closed": "what is not in it is met by the search, which then starts over: `universe-void`",
    "symmetry-crash": "who may crash depends on classes alone, and crashing and recovering commute with renaming",
    "fields-frozen": "what is not frozen is refused when the local state is encoded (`smuggled` in model/again.py)",
    "reads-clear": "answers are filed by the values that were read, and are right for any quotient",
    "absorb-visible": "of a step that leads to the same with and without another one, one of the two shows something "
    "if the other one does, and so the set holds both: `por-visible-elsewhere`",
    "absorb-stays": "what it has read is dead after the step that makes up for it, so that it is gone too: "
    "`absorb-dead`",
    "absorb-budget": "a loss or a repetition changes no local state, so that it commutes with what takes other "
    "messages, and `absorb-overlap` excludes the rest; crashes are excluded as fragile: `absorb-other-fragile`",
    "absorb-step-fragile": "what it does after the other one it can do without it: `absorb-same`, "
    "`absorb-then-fragile`; what else it may do is taken as well, since it is in the set",
    "twins-stays": "twins that keep what they read lead to the very same state: nothing is left over",
    "por-crash-fragile": "nothing is possible after a crash but a recovery: `por-diamond-lasting`, and "
    "`por-diamond-corners` where the crash is in the set",
    "por-diamond-self": "who sends what the set takes and who takes what the set sends come along, the process itself "
    "included: `por-consumed-again`, `por-twin-pending`, `por-twin-sendable`",
    "events-failing": "the monitor ends elsewhere if one order fails: `events-order`; if both do, either is reported",
    "events-failure-seen": "an event that fails somewhere commutes with none: `events-order`, `por-events`; and "
    "failures are kept without being seen",
    "parts-family": "a fold is over all processes of a class, and only processes of one class are proposed",
    "proviso-recovery": "before every recovery there is a crash, whose budget does not come back: no cycle has one",
    "universe-live-outside": "a search that meets such a local state is void: `universe-locals`",
    "por-shared-channel": f"{_NAMES}: `por-delivery`",
    "flows-name": f"{_NAMES}: `flows-delivery`",
    "roles-initial": "roles begin with the values of the whole process (`_spawn_apart` in model/build.py), and "
    "links name roles: `roles-meant`",
    "roles-within": "outcomes are compared with those of the whole, whose `within` cuts them: `roles-outcomes`",
    "symmetry-opening": "nothing is pending from the beginning but what attackers say: `symmetry-stands`",
    "universe-live-message": "whoever sends it takes a step out of the universe: `universe-sent`",
    "universe-live-unknown": "it is sent from outside of the universe, or by a step out of it: `universe-locals`, "
    "`universe-sent`",
    "universe-diamond": "a step out of the universe is the last one of a run that counts; before it the key stays "
    "possible, `por-diamond-lasting`, and both orders lead to the same, `por-diamond-corners`",
    "universe-deed": "where a twin leads out of the universe the key does so too, and a search that meets that takes "
    "all steps and is void: `universe-leaves-in-full`, `universe-step`",
    "absorb-universe": "a step out of the universe is the last one of a run that counts, and before it the key stays "
    "possible: `absorb-lasting`",
    "dpor-useful": "without it all that are enabled are tried: `dpor-all-enabled`",
    "dpor-all-enabled": "of the steps that the racing one depends on, and itself, the first after the place of the "
    "race is possible there, and its process is among the useful ones: `dpor-useful`",
    "por-crash-part": "what is cut short could be done as a whole, in the same place; a crash is in the set together "
    "with every step of its process, and so is what those send: `por-crash-fragile`",
    "por-crash-notices": "a crash between steps has the same label, is possible wherever one in a step is, and sends "
    "them",
    "por-diamond-events": "who emits what does not commute with an event of the set comes along, the process itself "
    "included, and commuting steps emit the same in both orders: `por-events`, `por-diamond-corners`",
    "absorb-told": "a monitor asks for all it is told, and a process for what it has a use for: `por-pardons`",
    "twins-duplicates": _SWAP,
    "twins-losses": _SWAP,
    "twins-commuting": "all steps of such a process are in the set but for the twins; where a message makes the key "
    "not maximal any more, the larger set does the same: `twins-same`, `twins-left-over-either`",
    "roles-corrupted": "an attacker has none of the transitions of a role, which is compared: `roles-declared`; this "
    "says why",
    "roles-meant": "the whole process, which the link leads to, is none of the system taken apart, so that initial "
    "states differ: `roles-initial`",
    "pids-opaque": "it gives a good error; soundness comes from the check (rule 10)",
}

REFUSED: dict[str, str] = {
    "open-universe-compared": "no proof covers a universe of which something that no search met tells names apart; no "
    "test shows a difference",
    "open-possible": "what a search has of these is asked for in ways that are not compared",
    "open-flows": "flows are not proven together with symmetry",
    "local-bound": "no proof covers a bound of the whole system; what it reads is seen, and no difference was found",
    "por-bounded-crashes": "no proof covers crashes on bounded channels; no difference was found",
    "por-redelivered": "no proof covers messages that a crash leaves pending; no difference was found",
    "universe-environment": "no proof covers what a network does to messages of a universe; no difference was found",
    "runs-budget": "no proof covers whole runs with losses and crashes; no difference was found",
    "dpor-losses": "no proof covers it; but where the protocol is stuck all that is pending can be lost without a "
    "step of the protocol, and properties do not read messages, so that some run ends in each such place",
    "traffic-clean-duplicates": "the thesis does not define it; the core and the reference agree on it",
    "traffic-clean-heads": "the thesis does not define it; the core and the reference agree on it",
    "traffic-clean-kept": "the thesis does not define it; the core and the reference agree on it",
}
"""Rules that refuse what nobody has proven, or said what it means. Without them no answer is known to be wrong."""

TOGETHER: dict[str, tuple[str, ...]] = {
    "quotient-crashed": ("quotient-crash",),
    "quotient-effect": ("quotient-failure", "quotient-next"),
    "universe-cell": ("universe-step",),
    "universe-next": ("universe-cell",),
    "universe-sent": ("universe-inbox",),
    "universe-step": ("universe-cell",),
    "universe-live-outside": ("universe-locals",),
    "universe-live-message": ("universe-sent",),
    "universe-live-unknown": ("universe-sent", "universe-locals"),
    "universe-diamond": ("por-diamond-lasting", "por-diamond-corners"),
    "universe-deed": ("universe-leaves-in-full", "universe-step"),
    "absorb-universe": ("absorb-lasting",),
    "flows-name": ("flows-delivery",),
    "symmetry-proposed": ("symmetry-initials",),
    "symmetry-initials": ("symmetry-proposed",),
    "symmetry-local-exists": ("symmetry-behaviour", "symmetry-crash"),
    "symmetry-message-exists": ("symmetry-behaviour",),
    "symmetry-sizes": ("symmetry-local-exists", "symmetry-message-exists"),
    "symmetry-guards": ("symmetry-known",),
    "symmetry-known": ("symmetry-guards",),
    "action-map": ("symmetry-check",),
    "action-set": ("symmetry-check",),
    "action-tuple": ("symmetry-check",),
    "action-signed": ("symmetry-check",),
    "action-sender": ("symmetry-check",),
    "action-names-in": ("symmetry-check",),
    "told-again": ("told-shortest",),
    "por-shared-channel": ("por-delivery",),
    "por-crash-fragile": ("por-diamond-lasting", "por-diamond-corners"),
    "por-crash-part": ("por-crash-fragile",),
    "por-crash-notices": ("por-crash-fragile",),
    "por-diamond-self": ("por-consumed-again", "por-twin-pending", "por-twin-sendable"),
    "por-diamond-events": ("por-events",),
    "absorb-visible": ("por-visible-elsewhere",),
    "absorb-stays": ("absorb-dead",),
    "absorb-budget": ("absorb-overlap", "absorb-other-fragile"),
    "absorb-step-fragile": ("absorb-same", "absorb-then-fragile"),
    "absorb-told": ("por-pardons",),
    "events-failing": ("events-order",),
    "events-failure-seen": ("events-order", "por-events"),
    "dpor-useful": ("dpor-all-enabled",),
    "dpor-all-enabled": ("dpor-useful",),
    "roles-within": ("roles-outcomes",),
    "roles-corrupted": ("roles-declared",),
    "roles-meant": ("roles-initial",),
    "roles-initial": ("roles-meant",),
}
"""The rules that imply one. Without them, where that alone goes unnoticed, the loss of the one shows."""
