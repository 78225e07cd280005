"""Why nobody notices that a rule is gone: another one implies it, or the generator does not draw what it is about."""

from __future__ import annotations

IMPLIED: dict[str, str] = {
    "quotient-crashed": "who is alive has a local state to crash into and who has crashed has none, so that the "
    "signature tells them apart (`quotient-crash`)",
    "quotient-failed-monitor": "the failure of a monitor is part of its observation (`Column::classify`)",
    "quotient-effect": "a cut has no next local state and no failure, a failure has one, a move has a next local state",
    "universe-cell": "the steps of every cell are looked at before a search ends, and note the same (`universe-step`)",
    "universe-next": "making the cell of the next local state notes the same (`universe-cell`)",
    "universe-inbox": "a message from outside was sent by a step that left the universe (`universe-sent`)",
    "universe-sent": "the receiver's cell then holds a message from outside (`universe-inbox`)",
    "symmetry-proposed": "the core compares initial states too (`symmetry-initials`)",
    "symmetry-sizes": "an exchange is its own inverse: if all have images, there are as many on both sides",
    "symmetry-guards": "an exchange is its own inverse, and the behaviours of the image are compared as well",
    "symmetry-stands": "only processes of one class are proposed, and attackers are a class of their own",
    "symmetry-notices": "who is told of crashes depends on classes alone, and so do families",
    "symmetry-crash": "who may crash depends on classes alone, and crashing and recovering commute with renaming",
    "reads-clear": "answers are filed by the values that were read, which are right for any quotient",
    "por-shared-channel": "a message bears the name of who sent it; only delivery events send under another's "
    "name, and they are refused (`por-delivery`)",
    "flows-name": "a message bears the name of who sent it; only delivery events send under another's name, "
    "and they are refused (`flows-delivery`)",
    "pids-opaque": "it gives a good error; soundness comes from the check (design rule 10)",
}

NEVER_DRAWN: dict[str, str] = {
    "run-twice": "handlers that remember something outside of their fields",
    "message-unchanged": "handlers that change a message by way of `object.__setattr__`",
    "fields-declared": "handlers that assign undeclared fields",
    "fields-frozen": "handlers that assign mutable values",
    "told-approximate": "`store=bitstate`",
    "runs-visible": "no option asks for linear or branching time",
    "runs-single": "no option asks for linear or branching time",
    "runs-cycle": "no option asks for linear or branching time",
    "runs-budget": "no option asks for linear or branching time",
    "attacker-leak": "two attackers",
    "symmetry-initials": "scalars: initial states of processes are compared before (`symmetry-proposed`)",
}
