"""The servers of a protocol: which class they are, and what each does with a request.

Everything is read off what the handlers do, on every state and request that the clients can bring about.
"""

from __future__ import annotations

from typing import Any, Literal

from quorate.base.errors import ParameterError
from quorate.base.values import encode, show
from quorate.language.message import Message, stamped
from quorate.language.process import Process
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Local, Outcome
from quorate.model.run import fire
from quorate.projection.conditions import ANSWERS, ENVIRONMENT, KINDS, SERVERS, STAMPS, RefusedError

RoundKind = Literal["store", "query"]


def content(message: Message) -> Any:
    """The message as it was before somebody sent it."""
    return type(message)(*(getattr(message, name) for name in type(message)._names))


def resized(system: System, parameter: str, number: int) -> System:
    """The same instance with another number of servers."""
    return type(system)(**{**system.parameters, parameter: number})


def find_servers(system: System) -> tuple[str, type[Process]]:
    """The parameter that says how many servers there are, and their class."""
    here = _census(define(system))
    found: dict[str, type[Process]] = {}
    for name, value in system.parameters.items():
        if type(value) is not int:
            continue
        try:
            there = _census(define(resized(system, name, value + 1)))
        except ParameterError:
            continue
        grown = [cls for cls in there if there[cls] != here.get(cls, 0)]
        if len(grown) == 1 and {*here} <= {*there} and there[grown[0]] == here.get(grown[0], 0) + 1 == value + 1:
            found[name] = grown[0]
    passive = {name: cls for name, cls in found.items() if _is_passive(cls)}
    if len(passive) == 1:
        return next(iter(passive.items()))
    if passive:
        names = " or ".join(f"{cls.__name__} ({name})" for name, cls in passive.items())
        raise RefusedError(SERVERS, f"it is not clear which processes are the servers: {names}")
    why = "; ".join(
        f"{cls.__name__} ({name}) does more than to handle messages one by one" for name, cls in found.items()
    )
    raise RefusedError(SERVERS, f"no parameter is the number of processes that only answer{'; ' if why else ''}{why}")


def _census(definition: Definition) -> dict[type[Any], int]:
    counted: dict[type[Any], int] = {}
    for column in definition.processes:
        counted[column.cls] = counted.get(column.cls, 0) + 1
    return counted


def _is_passive(cls: type[Process]) -> bool:
    from quorate.model.define import read_class

    return all(transition.kind == "on" for transition in read_class(cls).transitions)


class Servers:
    """The servers of one instance."""

    def __init__(self, definition: Definition, cls: type[Process]) -> None:
        self.definition = definition
        self.columns = [column for column in definition.processes if column.cls is cls]
        self.clients = [column for column in definition.processes if column.cls is not cls]
        self.indexes = {column.index for column in self.columns}
        self._require_environment()
        begun = {
            encode(state[column.index]): state[column.index] for state in definition.initials for column in self.columns
        }
        if len(begun) != 1:
            raise RefusedError(SERVERS, f"not all {cls.__name__} begin alike")
        self.initial: Local = next(iter(begun.values()))
        self._known: dict[tuple[bytes, bytes], tuple[Local, Any]] = {}
        self._makers: dict[bytes, list[Message]] = {}
        self.states: dict[bytes, Local] = {encode(self.initial): self.initial}
        """Every state that a server may come to: the initial one, and what a store leaves of it."""
        self.requests: dict[bytes, Message] = {}

    def _require_environment(self) -> None:
        definition = self.definition
        network, faults = definition.network, definition.faults
        if network.losses or network.duplicates or network.bounded or network.ordered:
            raise RefusedError(
                ENVIRONMENT, f"the network is {network}: the theorem is about reliable channels without order"
            )
        if definition.environment.network_model != "m" or definition.attackers:
            raise RefusedError(ENVIRONMENT, "delivery events and Byzantine processes are not argued for")
        if definition.cells:
            raise RefusedError(ENVIRONMENT, "what clients tell one another by shared cells is in no round")
        if any(definition.posted):
            raise RefusedError(ENVIRONMENT, "messages that are there at the beginning belong to no round")
        if faults.recover:
            raise RefusedError(ENVIRONMENT, "a server that recovers may have forgotten what it stored")
        for column in self.clients:
            if column.may_crash:
                raise RefusedError(
                    ENVIRONMENT, f"{column} may crash: only servers may", hint="say who crashes: crashes(1, of=Server)"
                )
        for column in self.columns:
            if definition.notices(column):
                raise RefusedError(ENVIRONMENT, "somebody is told when a server crashes")

    # What a server does with a request

    def respond(self, state: Local, request: Message) -> tuple[Local, Any]:
        """The state that a request leaves, and the content of the answer; the same at every server."""
        key = encode(state), encode(request)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._responded(state, request)
        return known

    def _responded(self, state: Local, request: Message) -> tuple[Local, Any]:
        found: dict[bytes, tuple[Local, Any]] = {}
        for column in self.columns:
            transition, outcome = self._single(column, state, request)
            assert outcome.local is not None
            if outcome.events:
                raise RefusedError(ANSWERS, f"{transition} emits {show(outcome.events[0])}", transition.location)
            others = [receiver for receiver, _ in outcome.sends if receiver != request.sender._index]
            if others:
                other = self.definition.columns[others[0]]
                raise RefusedError(ANSWERS, f"{transition} sends to {other}, who has not asked", transition.location)
            if len(outcome.sends) != 1:
                said = "does not answer" if not outcome.sends else f"answers {len(outcome.sends)} times"
                raise RefusedError(
                    ANSWERS, f"{transition} {said} {show(content(request))} in {show(state)}", transition.location
                )
            answer = content(outcome.sends[0][1])
            found[encode((outcome.local, answer))] = outcome.local, answer
        if len(found) != 1:
            raise RefusedError(
                SERVERS, f"two servers in {show(state)} do different things with {show(content(request))}"
            )
        return next(iter(found.values()))

    def _single(self, column: Column, state: Local, request: Message) -> tuple[Transition, Outcome]:
        takers = [each for each in column.spec.transitions if each.takes(request)]
        fired = [(each, outcome) for each in takers for outcome in fire(column, each, state, (request,))]
        place = takers[0].location if takers else None
        what = f"{show(content(request))} in {show(state)}"
        if not fired:
            raise RefusedError(ANSWERS, f"{column.cls.__name__} does not take {what}, so nobody gets an answer", place)
        transition, outcome = fired[0]
        if len(fired) > 1:
            raise RefusedError(ANSWERS, f"{column.cls.__name__} has several ways to answer {what}", transition.location)
        if transition.keep:
            raise RefusedError(ANSWERS, f"{transition} keeps the request", transition.location)
        if outcome.failure is not None or outcome.cut:
            said = outcome.failure.text if outcome.failure is not None else "a bound of its own"
            raise RefusedError(ANSWERS, f"{transition} fails on {what}: {said}", transition.location)
        return transition, outcome

    # What clients have asked for

    def ask(self, request: Message) -> Local:
        """Note a request that a client sends; what it makes of the initial state."""
        after, _ = self.respond(self.initial, request)
        code = encode(request)
        if code not in self.requests:
            self.requests[code] = request
            self.states.setdefault(encode(after), after)
            if encode(after) != encode(self.initial):
                self._makers.setdefault(encode(after), []).append(request)
        return after

    def highest(self, one: Local, other: Local) -> Local:
        """The state that stays, of two that stores have made."""
        if encode(one) == encode(other):
            return one
        for kept, maker in ((one, other), (other, one)):
            for request in self._makers.get(encode(maker), ()):
                after = self.respond(kept, request)[0]
                if encode(after) not in (encode(one), encode(other)):
                    raise self._not_highest(request, kept, after)
                return after
        return one

    def _not_highest(self, request: Message, before: Local, after: Local) -> RefusedError:
        return RefusedError(
            STAMPS,
            f"{show(content(request))} leaves {show(after)} of {show(before)}, so servers do not keep the highest "
            "value they were given",
            self._place(request),
        )

    def kind(self, request: Message) -> RoundKind:
        """A query leaves every state as it is; a store gets the same answer in every state."""
        states = list(self.states.values())
        responses = [self.respond(state, request) for state in states]
        changed = [state for state, (after, _) in zip(states, responses, strict=True) if encode(after) != encode(state)]
        answers = {encode(answer) for _, answer in responses}
        if changed and len(answers) > 1:
            raise RefusedError(
                KINDS,
                f"{show(content(request))} changes the state of a server, and its answer depends on that state",
                self._place(request),
            )
        return "query" if len(answers) > 1 or (not changed and self._asks(request)) else "store"

    def _asks(self, request: Message) -> bool:
        """Whether requests of the class are queries, for one that tells nothing by itself."""
        alike = [each for each in self.requests.values() if type(each) is type(request)]
        return all(
            encode(self.respond(state, each)[0]) == encode(state) for each in alike for state in self.states.values()
        )

    def _place(self, request: Message) -> Any:
        return next((each.location for each in self.columns[0].spec.transitions if each.takes(request)), None)

    def order(self) -> dict[bytes, int]:
        """By state its rank: a store leaves the higher one of what is there and what it brings.

        What a store brings is what it makes of the initial state, so that one is the least. The relation "gives way to"
        is a total order if and only if no two states give way to equally many.
        """
        rank: dict[bytes, int] = {}
        for code, state in self.states.items():
            below = 0
            for other_code, other in self.states.items():
                if other_code == code:
                    continue
                gives_way = [encode(self.respond(other, maker)[0]) == code for maker in self._makers.get(code, ())]
                if len({*gives_way}) > 1:
                    raise RefusedError(
                        STAMPS, f"whether {show(other)} gives way to {show(state)} depends on who stores it"
                    )
                below += any(gives_way)
            rank[code] = below
        for request in self.requests.values():
            brought = self.respond(self.initial, request)[0]
            for code, state in self.states.items():
                after = encode(self.respond(state, request)[0])
                wanted = max(code, encode(brought), key=lambda each: rank[each])
                if after != wanted:
                    raise self._not_highest(request, state, self.respond(state, request)[0])
        if sorted(rank.values()) != list(range(len(rank))):
            raise RefusedError(STAMPS, "two values have stamps of which neither is higher")
        return rank

    def answers(self, request: Message) -> list[Any]:
        """What servers may answer, by state."""
        return [self.respond(state, request)[1] for state in self.states.values()]

    def sent(self, answer: Any, column: Column) -> Message:
        """An answer as this server sends it."""
        assert column.pid is not None
        sent: Message = stamped(answer, column.pid)
        return sent
