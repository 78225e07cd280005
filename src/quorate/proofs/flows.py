"""Message flows: which transition of which class sends which messages to whom, after consuming what.

They come from the actions, so from every way through a handler, not from the runs that were met.
"""

from __future__ import annotations

from typing import NamedTuple

from quorate.model.definition import Definition
from quorate.proofs.encode import Encoded


class Flow(NamedTuple):
    """One transition of a class: what it takes, and what it may send where."""

    owner: str
    transition: str
    consumes: str | None
    sends: list[tuple[str, str]]
    """Class of message, class of receiver."""
    senders: list[str]
    """The classes whose messages it consumes."""


def flows(definition: Definition) -> list[Flow]:
    found: dict[tuple[str, str], Flow] = {}
    for action in Encoded(definition).actions:
        if action.transition is None or action.kind != "step":
            continue
        key = action.column.cls.__name__, action.transition.name
        message = action.transition.message
        flow = found.setdefault(key, Flow(*key, message.__name__ if message is not None else None, [], []))
        for put in action.sends:
            sent = put.channel.cls.__name__, put.channel.receiver.cls.__name__
            if sent not in flow.sends:
                flow.sends.append(sent)
        for put in action.consumed:
            if put.channel.sender.cls.__name__ not in flow.senders:
                flow.senders.append(put.channel.sender.cls.__name__)
    return list(found.values())
