"""Models of message traffic (section 3.1 of the thesis): where a message is between being sent and being consumed.

* M: in one buffer per receiver. It is sent, and from then on it can be consumed.
* GRM: in two, with a delivery event in between that moves it from the channel into the receiver's input buffer.
* RM: as GRM, with clean channels: a transition consumes all that is in the input buffer of its process, or it is not
  enabled; a spontaneous one is enabled only when the input buffer is empty.

The channel to a process is a column of its own, whose one transition delivers any message, as it is. Messages are lost
and duplicated on the channel only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from quorate.base.errors import ModelError, QuorateError
from quorate.language.automaton import Automaton
from quorate.language.message import Message
from quorate.language.network import Network
from quorate.language.transitions import on
from quorate.options import NetworkModel

if TYPE_CHECKING:
    from quorate.model.definition import Spec


class Channel(Automaton):
    """What was sent to a process and is not delivered yet."""

    @on(Message)
    def delivers(self, m: Message) -> None:
        """Never run: `fire` passes the message on, with the sender it has."""


def check_network(model: NetworkModel, network: Network, specs: Iterable[Spec]) -> None:
    """Refuse the networks and transitions for which the model is not defined."""
    if model == "m":
        return
    if network.bounded:
        raise _refused(
            f"network_model={model!r} with bounded channels, {network}",
            "these models have unbounded channels; a bound on two buffers in a row differs from a bound on one",
        )
    if model == "grm":
        return
    if network.copies_for_ever:
        raise _refused(
            f"network_model='rm' with {network}",
            "clean channels: what is consumed leaves the input buffer, and here consuming removes nothing",
        )
    if network.passes_over:
        raise _refused(
            f"network_model='rm' with {network}",
            "clean channels: a message that is skipped or dropped would have to be consumed with the others",
        )
    for spec in specs:
        for transition in spec.transitions:
            if transition.keep:
                raise ModelError(
                    f"network_model='rm': {transition} reads without consuming (keep=True)",
                    hint="with clean channels a transition consumes everything that was delivered; use 'grm' or 'm'",
                    code="Q602",
                    location=transition.location,
                )


def differences(model: NetworkModel, specs: Iterable[Spec], deadlock: bool) -> list[str]:
    """Why the answer may be another one than that of single buffers, which theorem 1 does not cover."""
    found: list[str] = []
    greedy = [each for spec in specs for each in spec.transitions if each.mode == "maximal"]
    if model != "m" and greedy:
        found.append(f"{greedy[0]} takes maximal sets of what was delivered, in single buffers of what was sent")
    if model == "rm" and deadlock:
        found.append("with clean channels a process that was delivered what it does not want is stuck: a deadlock too")
    return found


def _refused(what: str, why: str) -> QuorateError:
    return QuorateError(what, hint=f"{why}; use network_model='m'", code="Q602")
