"""Partial-order reduction: of orders of steps that make no difference, one is enough.

Static (`lpor`, `lpor-net`): stubborn sets from relations between steps that are read off the closure or the universe,
and where neither is known, from which classes of messages processes send to whom (docs/partial-orders.md). Dynamic
(`dpor`): runs are compared as they are found (docs/dpor.md).
"""

from __future__ import annotations

from quorate import _core
from quorate._core import ReductionReport
from quorate.native.backend import Found
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.kinds import Kept, kind_of
from quorate.reduce.interface import Basis, Reduction


class _Static(Reduction):
    """What stubborn sets keep of whole runs (docs/soundness.md, rule 30)."""

    keeps = frozenset({Kept.SAFETY, Kept.DEADLOCKS, Kept.LINEAR, Kept.BRANCHING, Kept.WHO})

    def _reason(self, wanted: frozenset[Kept]) -> str:
        why = super()._reason(wanted)
        level = self.options.fairness
        if not self.wanted or Kept.LINEAR not in wanted:
            return why
        if wanted & {Kept.FAIRNESS, Kept.WHICH}:
            if level not in ("none", "progress", "process"):
                return "which steps stay possible depends on the order of others; it keeps fairness up to process"
            return "it does not keep fairness, unless all steps are weakly fair and nobody crashes implicitly"
        if level == "process" and Kept.BRANCHING in wanted:
            return "it does not keep branching time together with fairness of processes"
        return why


class PartialOrders(_Static):
    """Stubborn sets (Valmari 1998; chapter 4 of the thesis)."""

    name = "por"
    off = {"por": "none"}

    def __init__(self, model: Model, options: Options) -> None:
        super().__init__(model, options)
        self.split = Split(model, options)
        self.keep = _core.Keep.safety

    def _reason(self, wanted: frozenset[Kept]) -> str:
        why = super()._reason(wanted)
        if not why and self.model.definition.shared and wanted & {Kept.LINEAR, Kept.BRANCHING}:
            return "nothing is proven for whole runs of processes that share cells"
        return why

    def decide(self, wanted: frozenset[Kept], unknown: str = "") -> None:
        # Where cells are shared, nothing has to be known of what a run may meet.
        super().decide(wanted, "" if self.model.definition.shared else unknown)
        self.keep = _core.Keep.safety if visible(self.model) else _core.Keep.deadlocks
        if Kept.LINEAR in wanted:
            self.keep = _core.Keep.branching if Kept.BRANCHING in wanted else _core.Keep.linear

    @property
    def of_processes(self) -> bool:
        """Whether fairness of processes is to be kept. Then the steps of one process never count as independent: a run
        without a step of the chosen set is then unfair to a process of the set."""
        return self.keep == _core.Keep.linear and self.options.fairness == "process"

    def apply(self, basis: Basis, sizes: ReductionReport) -> None:
        if not self.ran:
            return
        if self.model.definition.shared:
            why = self.model.engine.relate_local_steps()
            self._set(why, "takes steps first that concern nobody else: who may come to a shared cell is not known")
            self.split.tell("only whole processes are chosen or left out, since they share cells")
        elif self.model.engine.knows_all():
            self._relate(basis)
        else:
            self._relate_by_flows()

    def allow_flows(self, why_not: str) -> None:
        """Although nothing else is known."""
        if self.wanted:
            self._set(why_not)

    def _relate(self, basis: Basis) -> None:
        """By relations between steps, if the network and the transitions have relations that are proven."""
        options, without = self.options, self.options.por_without
        asked = _core.PorOptions(
            necessary=options.por == "lpor-net" and "necessary" not in without,
            conditional="conditional" not in without,
            smallest="smallest" not in without,
            commuting="commuting" not in without and not self.of_processes,
            key="key" not in without,
            # A check by definition cannot see that two states differ only in messages that nobody asks for.
            twins="twins" not in without and not options.self_check,
            split_quorums=options.split in ("quorum", "combined"),
            split_replies=options.split in ("reply", "combined"),
            keep=self.keep,
        )
        why = self.model.engine.relate(asked)
        based_on = {} if why else {"based_on": basis.kind}
        self._set(why, "leaves out orders of steps that do not matter", **based_on)
        self.split.tell(why, "each part of a transition is chosen or left out alone")

    def _relate_by_flows(self) -> None:
        """What is left where it is not known what a process may do: the classes of messages it sends, and to whom."""
        unknown = "it is not known what all processes may do"
        why = self.model.engine.relate_by_flows(visible(self.model))
        if why:
            self._set(f"{unknown}, and {why}")
            self.split.tell(self.why)
        else:
            told = "leaves out orders of steps of processes that do not wait for each other, by the classes of messages"
            self._set("", f"{told} that they were seen to send to whom, since {unknown}", based_on="types")
            self.split.tell(f"only whole processes are chosen or left out, since {unknown}")

    def searched(self, found: Found) -> None:
        self.given_up(found.por_given_up)

    def given_up(self, depth: int) -> None:
        """From this depth on all steps were taken; 0 if there is none."""
        if self.ran and depth:
            self.why = f"saved too little for what it takes, and was given up at depth {depth}"
            self.figures["given_up_at_depth"] = depth


class Split(_Static):
    """Transition refinement: the parts of a quorum transition, or of its replies, as transitions of their own.

    It makes stubborn sets smaller, and has no effect without them.
    """

    name = "split"
    off = {"split": "none"}

    def tell(self, why_not: str, why: str = "") -> None:
        if self.wanted:
            self._set(why_not, why, kind=self.options.split)


class DynamicPartialOrders(Reduction):
    """Learns from runs which orders matter, and needs to know nothing beforehand (Flanagan and Godefroid 2005)."""

    name = "por"
    off = {"por": "none"}
    keeps = frozenset({Kept.SAFETY, Kept.DEADLOCKS})

    def __init__(self, model: Model, options: Options) -> None:
        super().__init__(model, options)
        self.split = Split(model, options)

    def decide(self, wanted: frozenset[Kept], unknown: str = "") -> None:
        why = self._reason(wanted) or self.model.engine.dpor_unsupported()
        told = "runs one order of steps for each that makes a difference"
        self._set(why, told, variant=self.options.dpor_variant)

    def allow_flows(self, why_not: str) -> None:
        """It goes by runs alone."""

    def given_up(self, depth: int) -> None:
        """It never is."""

    def searched(self, found: Found) -> None:
        if self.ran:
            self.figures["executions"] = found.executions
            if found.blocked:
                self.figures["given_up"] = found.blocked


def visible(model: Model) -> bool:
    """Whether anything but deadlocks is asked for, so that steps may be visible."""
    return any(Kept.DEADLOCKS not in kind_of(each).needs for each in model.properties)
