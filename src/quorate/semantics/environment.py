"""What happens to the protocol: messages that are thrown away, lost or copied, and processes that crash or recover."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from quorate.base.values import encode
from quorate.model.definition import Column, Definition
from quorate.model.outcome import Crashed, Outcome, is_crashed
from quorate.model.run import fire, recovered
from quorate.semantics.channels import Channels, Inboxes, Sends, channels
from quorate.semantics.firing import consumable, take, wants
from quorate.semantics.state import State, Step, looked_at


def discards(definition: Definition, state: State, column: Column) -> Iterator[Step]:
    """FIFO with head="drop": a head that no transition of the receiver takes may be thrown away."""
    local = looked_at(definition, state, column)
    if is_crashed(local):
        return
    inbox = state.pending[column.index]
    for place in channels(definition).discardable(column, inbox):
        head = inbox[place]
        if not any(wants(column, transition, local, head) for transition in definition.transitions(column)):
            inboxes = Inboxes(definition, state.pending)
            inboxes.remove(column, place)
            after = State(state.locals, inboxes.arranged(), state.budget)
            yield Step("discard", column.index, consumed=(head,), next=after)


def mishaps(definition: Definition, state: State, column: Column) -> Iterator[Step]:
    """Messages that the network loses or copies."""
    if column.routes is not None:
        return  # what was delivered is safe
    policy = channels(definition)
    lossy, copying = policy.lossy(state.budget), policy.copying(state.budget)
    inbox = state.pending[column.index]
    places = policy.places(column, inbox) if lossy or copying else []
    if lossy:
        for place, before in places:
            if not policy.may_lose(column, inbox, place):
                continue
            inboxes = Inboxes(definition, state.pending)
            inboxes.remove(column, place)
            after = State(state.locals, inboxes.arranged(), policy.after_loss(state.budget))
            yield Step("lose", column.index, consumed=(inbox[place],), next=after, place=before)
    if copying:
        for place, before in places:
            if policy.has_room(inbox, inbox[place]):
                inboxes = Inboxes(definition, state.pending)
                inboxes.copy(column, place)
                after = State(state.locals, inboxes.arranged(), policy.after_copy(state.budget))
                yield Step("duplicate", column.index, consumed=(inbox[place],), next=after, place=before)


def crashes(definition: Definition, state: State, column: Column) -> Iterator[Step]:
    """A crash between steps, or in the midst of one: the process has moved, but sent only a part of its messages."""
    local = looked_at(definition, state, column)
    if is_crashed(local):
        if definition.faults.recover:
            back = (*state.locals[: column.index], recovered(column, local), *state.locals[column.index + 1 :])
            yield Step("recover", column.index, next=State(back, state.pending, state.budget))
        return
    losses, duplicates, left = state.budget
    faults = definition.faults
    unlimited = faults.crashes == "any"
    if (left == 0 and not unlimited) or not column.may_crash:
        return
    if faults.down is not None and sum(map(is_crashed, state.locals)) >= faults.down:
        return
    less = State(state.locals, state.pending, (losses, duplicates, 0 if unlimited else left - 1))
    notices = definition.notices(column)
    stop = take(definition, less, column, None, (), Outcome(Crashed(local), tuple(notices)))
    if stop is not None:
        yield stop
    if not definition.faults.cut_short:
        return
    policy = channels(definition)
    for transition in definition.transitions(column):
        for consumed in consumable(definition, state, column, transition):
            for outcome in fire(column, transition, local, consumed):
                if outcome.local is None or take(definition, state, column, transition, consumed, outcome) is None:
                    continue  # condition (1) of definition 3: only what can be done as a whole can be cut short
                parts = _strict_parts(policy, outcome.sends)
                for part in parts:
                    cut = outcome._replace(local=Crashed(outcome.local), sends=(*part, *notices))
                    stop = take(definition, less, column, transition, consumed, cut)
                    if stop is not None:
                        yield stop
                # What was consumed and not acknowledged never left; then all may have been sent as well.
                removes = not policy.stays(transition) and any(not definition.stands(column, each) for each in consumed)
                for part in (outcome.sends, *parts) if faults.redeliver and removes else ():
                    cut = outcome._replace(local=Crashed(outcome.local), sends=(*part, *notices))
                    stop = take(definition, less, column, transition, consumed, cut, redelivered=True)
                    if stop is not None:
                        yield stop


def _strict_parts(policy: Channels, sends: Sends) -> list[Sends]:
    """All but the whole that a crash may leave, each once."""
    places = [chosen for size in range(len(sends)) for chosen in combinations(range(len(sends)), size)]
    parts = [tuple(sends[place] for place in chosen) for chosen in places if policy.may_be_cut(sends, chosen)]
    return list({encode(part): part for part in parts if encode(part) != encode(sends)}.values())
