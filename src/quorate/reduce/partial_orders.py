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


class PartialOrders(Reduction):
    """Stubborn sets (Valmari 1998; chapter 4 of the thesis)."""

    name = "por"
    off = {"por": "none"}
    keeps = frozenset({Kept.SAFETY, Kept.DEADLOCKS})

    def __init__(self, model: Model, options: Options) -> None:
        super().__init__(model, options)
        self.split = Split(model, options)

    def apply(self, basis: Basis, sizes: ReductionReport) -> None:
        if not self.ran:
            return
        if self.model.engine.knows_all():
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
            commuting="commuting" not in without,
            key="key" not in without,
            # A check by definition cannot see that two states differ only in messages that nobody asks for.
            twins="twins" not in without and not options.self_check,
            split_quorums=options.split in ("quorum", "combined"),
            split_replies=options.split in ("reply", "combined"),
            keep=_core.Keep.safety if visible(self.model) else _core.Keep.deadlocks,
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
        if self.ran and found.por_given_up:
            self.why = f"saved too little for what it takes, and was given up at depth {found.por_given_up}"
            self.figures["given_up_at_depth"] = found.por_given_up


class Split(Reduction):
    """Transition refinement: the parts of a quorum transition, or of its replies, as transitions of their own.

    It makes stubborn sets smaller, and has no effect without them.
    """

    name = "split"
    off = {"split": "none"}
    keeps = PartialOrders.keeps

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

    def searched(self, found: Found) -> None:
        if self.ran:
            self.figures["executions"] = found.executions
            if found.blocked:
                self.figures["given_up"] = found.blocked


def visible(model: Model) -> bool:
    """Whether anything but deadlocks is asked for, so that steps may be visible."""
    return any(Kept.DEADLOCKS not in kind_of(each).needs for each in model.properties)
