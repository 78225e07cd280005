"""A system ready to be proved something about: its variables, its actions, and its code to run on unknown integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from quorate.model.definition import Definition
from quorate.proofs.actions import Action, Encoder, code_of
from quorate.proofs.leaves import SLOTS
from quorate.proofs.lifting import Lifting
from quorate.proofs.machine import ChangedError, Machine
from quorate.proofs.paths import Explorer
from quorate.proofs.solver import Deadline, Translation
from quorate.proofs.terms import ZERO, Term, app, conjunction, forall, ge, implies, var


class Encoded:
    """Everything that induction needs of a system."""

    def __init__(
        self,
        definition: Definition,
        *,
        free: Iterable[str] = (),
        slots: int = SLOTS,
        deadline: Deadline | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.definition = definition
        self.translate = Translation()
        self.explorer = Explorer(self.translate, deadline or Deadline(None), progress)
        assigned: set[tuple[type, str]] = set()
        while True:
            self.machine = Machine(definition, free=free, assigned=assigned, slots=slots)
            self.lifting = Lifting(code_of(self.machine))
            try:
                with self.lifting.lent():
                    self.actions: list[Action] = Encoder(self.machine, self.explorer, self.lifting).actions()
                break
            except ChangedError as changed:
                assigned.add(changed.key)

    @cached_property
    def background(self) -> Term:
        """What the encoding itself guarantees of every state: types, and what messages look like."""
        machine = self.machine
        rules = [machine.well_formed()]
        for channel in machine.channels.values():
            bound = [var(f":w{suffix}", sort) for suffix, sort in channel.shape.leaves]
            read = app(channel.pending, bound, "Int" if machine.counting else "Bool")
            wf = implies(machine.held(channel, bound), channel.shape.wf(bound))
            if machine.counting:
                wf = conjunction([wf, ge(read, ZERO)])
            rules.append(forall(bound, wf, [[read]]))
            ghost = app(channel.sent, bound)
            rules.append(forall(bound, implies(ghost, channel.shape.wf(bound)), [[ghost]]))
            # By construction: what is pending was sent, since nothing else puts it there.
            rules.append(forall(bound, implies(machine.held(channel, bound), ghost), [[read]]))
        return conjunction(rules)
