"""What was drawn, and what was really reached, by name, for the figures at the end."""

from __future__ import annotations

from collections.abc import Iterator

from .compare import Answer
from .options import Check
from .protocol import Action, Class, Protocol, nodes_in


def features(protocol: Protocol) -> set[str]:
    """The parts of the language that a protocol uses."""
    found = set(_of_system(protocol))
    for cls in protocol.classes:
        for action in cls.actions:
            found.update(_of_action(action))
        found.update(f"field {f.type}" for f in cls.fields)
        found.update({"within"} if cls.within is not None else ())
        found.update({"byzantine subclass"} if cls.byzantine else ())
        found.update({"constant"} if cls.constants else ())
        found.update({"subclass"} if len(cls.bases) == 1 else ())
        found.update({"roles"} if len(cls.bases) > 1 else ())
        if cls.bases and {each.name for each in cls.actions} & inherited(protocol, cls):
            found.add("overridden handler")
    for record in protocol.records:
        if not record.is_event:
            found.update(f"message {f.type}" for f in record.fields)
            found.add("message without fields" if not protocol.record_fields(record.name) else "message with fields")
            found.update({"message subclass"} if record.base else ())
    named = {
        "choose",
        "reply",
        "assert",
        "raise",
        "divide",
        "lookup",
        "first",
        "emit",
        "sign",
        "crashed",
        "flight",
        "flown",
        "range",
        "if",
    }
    found.update(f"uses {each.op}" for each in nodes_in(protocol) if each.op in named)
    return found


def inherited(protocol: Protocol, cls: Class) -> set[str]:
    return {action.name for base in cls.bases for action in protocol.actions_of(base)}


def _of_system(protocol: Protocol) -> Iterator[str]:
    network = protocol.network
    yield f"network {network.kind}"
    if network.losses:
        yield "losses"
    if network.lost == "head":
        yield "losses at the head"
    if protocol.within is not None:
        yield "bound of the system"
    if protocol.posted:
        yield "posted"
    if network.duplicates:
        yield f"duplicates {'any' if network.duplicates == 'any' else 'k'}"
    if network.capacity is not None:
        yield f"capacity {network.full}"
    if network.kind == "fifo":
        yield f"head {network.head}"
    if protocol.faults.crashes:
        yield "crashes"
        if protocol.faults.recover:
            yield "recover"
        if protocol.faults.down is not None:
            yield "down"
        if protocol.faults.redeliver:
            yield "redeliver"
    if protocol.corrupt:
        yield "corrupt"
    if protocol.monitors:
        yield "monitor"
    count = len(protocol.places)
    yield f"processes {count if count < 5 else '5+'}"
    if any(value.op == "choose" for each in protocol.spawns for _, value in each.given):
        yield "several initial states"
    for each in protocol.properties:
        yield f"property {each.kind}"


def _of_action(action: Action) -> Iterator[str]:
    yield f"@{action.kind}"
    if action.kind == "quorum":
        yield "size" if action.size is not None else "each" if action.each is not None else f"enough {action.sets}"
        if action.where is not None:
            yield "where"
        if action.same is not None:
            yield "same"
    if action.keep:
        yield "keep"
    if action.message == "Crash":
        yield "@on(Crash)"


def modes(check: Check, answer: Answer) -> list[str]:
    """The options of a check, and which reductions ran."""
    if answer.code == "runs":
        return ["whole runs"]
    found = [f"--{name.replace('_', '-')} {value}" for name, value in check.options.items() if name in _SHOWN]
    found += [f"--{name.replace('_', '-')}" for name in check.options if name not in (*_SHOWN, "max_states")]
    if check.thresholds:
        found.append("early thresholds")
    result = answer.result
    if result is None:
        return found
    for name, figures in result.reductions.items():
        if figures.get("ran"):
            found.append(f"ran {name}" + (f" by {figures['based_on']}" if "based_on" in figures else ""))
    symmetry = result.reductions.get("symmetry", {})
    if "decomposed" in symmetry:
        found.append("ran decomposed")
    elif "not_decomposed" in symmetry:
        found.append("not decomposed")
    if "given_up_at_depth" in result.reductions.get("por", {}):
        found.append("por given up")
    return found


_SHOWN = ("por", "split", "symmetry", "quotient", "dead_messages", "search", "crash", "network_model")
