"""What clients can do if every quorum answers as it may: the protocol in closed form, for any number of servers.

A *round* is a request to all servers and the quorum of answers that ends it. With the conditions of `conditions.py`,
all that a query can bring back is the value v of a store that had begun before the query ended (or the initial one),
where v is no lower than any value whose store had ended before the query began. That is explored here, with no
server. It is the universe about which the conditions are decided: if all of it satisfies them, no run of any number
of servers leaves it. Take the shortest one that does: up to its last step the conditions hold, so this exploration
has come to the same local states of the clients, and has taken the last step as well (as for an optimistic universe,
decision 6).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, groupby, product
from random import Random
from typing import Any, Literal, NamedTuple

from quorate.base.errors import LimitError, Location, ModelError
from quorate.base.values import encode, show
from quorate.language.message import Message
from quorate.model.again import signature
from quorate.model.definition import Column, Transition
from quorate.model.outcome import Local, Outcome
from quorate.model.run import accepts, fire, prepare
from quorate.projection.answering import RoundKind, Servers, content
from quorate.projection.conditions import APART, BROADCASTS, HIGHEST, MEET, QUORUMS, ROUNDS, RefusedError
from quorate.projection.uniform import Varying, Walk

MOST_ROUNDS = 12
MOST_STATES = 200_000
MOST_SETS = 400_000
"""How many sets of answers are tried for one number of servers."""


Tried = Literal["all", "some", "none"]
"""On which sets of answers it is tried whether the highest one decides."""
AT_LENGTH = 4
"""Up to so many answers are shown one by one."""
EACH_COUNT = 24
"""Up to this size of a quorum every number of lower answers is tried, of larger ones few and nearly all."""
SAMPLES = 12
"""How many sets are drawn for one quorum beside those that are counted out."""


class TimeUpError(Exception):
    """The time was up."""


class Past(NamedTuple):
    """A round of a client: what it asked, and the size of the quorum that ended it; 0 while it has not ended."""

    request: bytes
    size: int


class Client(NamedTuple):
    """What is known of a client: its local state, its rounds, and what an open query brings back at the least."""

    local: bytes
    rounds: tuple[Past, ...] = ()
    least: bytes = b""

    @property
    def open(self) -> Past | None:
        return self.rounds[-1] if self.rounds and not self.rounds[-1].size else None


class World(NamedTuple):
    """The clients, the values of all stores that have begun, and the highest one of those that have ended."""

    clients: tuple[Client, ...]
    begun: frozenset[bytes]
    ended: bytes


class Followed(NamedTuple):
    """A step of a client, and the world after it; there is none if the step fails."""

    client: int
    transition: Transition
    outcome: Outcome
    world: World | None


class Asked(NamedTuple):
    """A quorum transition of a client that asks for answers."""

    client: int
    local: bytes
    rounds: tuple[Past, ...]
    transition: int
    size: int


Sets = tuple[Sequence[Column], Sequence[bytes]]
"""Servers that answer, and the state of each."""


class Round(NamedTuple):
    """The `number`-th round of a client, as a store or as a query."""

    client: int
    number: int
    kind: RoundKind


class Rounds:
    """The exploration for one number of servers."""

    def __init__(
        self,
        servers: Servers,
        varying: Varying | None = None,
        *,
        tried: Tried = "all",
        look: Callable[[], None] | None = None,
    ) -> None:
        self.servers = servers
        self.varying: Varying = varying or {}
        self._grouped: dict[tuple[int, bytes, int, bytes], set[bytes | None]] = {}
        self._look = look or (lambda: None)
        self.number = len(servers.columns)
        self.locals: dict[bytes, Local] = {}
        self.asked: set[Asked] = set()
        self.rounds: dict[Round, set[int]] = {}
        """The rounds, with the sizes of their quorums."""
        self.requests: dict[Round, set[bytes]] = {}
        self.worlds = 0
        self.sets = 0
        self._fired: dict[tuple[int, int, bytes, bytes], tuple[Outcome, ...]] = {}
        known: tuple[int, list[RoundKind]] = (-1, [])
        while True:  # what a request is for is known once all states of servers are
            kinds = {code: servers.kind(each) for code, each in servers.requests.items()}
            self._kinds: dict[bytes, RoundKind] = kinds
            now = len(servers.states), [kinds[code] for code in sorted(kinds)]
            if now == known:
                break
            known = now
            self._explore()
        self.rank = servers.order()
        self._require_one_kind()
        self._require_telling()
        self._require_meeting()
        self._require_possible()
        for asked in self._waiting():
            self._require_apart(asked)
        if tried != "none":
            self._require_highest_of_all(tried)

    # Exploring

    def _explore(self) -> None:
        servers = self.servers
        self._grouped.clear()
        self.asked, self.rounds, self.requests, self.worlds = set(), {}, {}, 0
        self.walk, self.begun = Walk(servers.clients, self.varying), []
        nothing = encode(servers.initial)
        seen: dict[World, int] = {}
        for state in servers.definition.initials:
            locals = [state[each.index] for each in servers.clients]
            self.begun.append([self.walk.begin(at, local) for at, local in enumerate(locals)])
            world = World(tuple(Client(self._local(local)) for local in locals), frozenset(), nothing)
            seen.setdefault(world, len(seen))
        todo = deque(seen)
        while todo:
            world = todo.popleft()
            source = seen[world]
            self._look()
            for index, transition, outcome, following in self._following(world):
                if following is None:
                    assert outcome.failure is not None
                    self.walk.fail(source, index, transition, outcome.failure)
                    continue
                if following not in seen:
                    if len(seen) == MOST_STATES:
                        raise LimitError(
                            f"the clients alone have more than {MOST_STATES:,} states",
                            hint="use fewer clients or operations",
                            code="Q501",
                        )
                    seen[following] = len(seen)
                    todo.append(following)
                self.walk.note(source, seen[following], index, transition, outcome)
        self.worlds = len(seen)

    def _local(self, local: Local) -> bytes:
        code = encode(local)
        self.locals.setdefault(code, local)
        return code

    def _following(self, world: World) -> Iterator[Followed]:
        for index, column in enumerate(self.servers.clients):
            client = world.clients[index]
            local = self.locals[client.local]
            for transition in column.spec.transitions:
                if transition.kind in ("start", "step"):
                    for outcome in self._outcomes(column, transition, client.local, ()):
                        yield from self._moved(world, index, transition, outcome, 0)
                elif transition.kind == "quorum":
                    request = prepare(column, transition, local)
                    if request is not None:
                        size = self._size(column, transition, request.size, client)
                        self.asked.add(Asked(index, client.local, client.rounds, transition.index, size))
                        yield from self._ended(world, index, transition, size)
                else:
                    self._require_not_single(column, transition, client)

    def _ended(self, world: World, index: int, transition: Transition, size: int) -> Iterator[Followed]:
        """The quorum transition ends the open round, with any answer that its quorum may bring."""
        client, column = world.clients[index], self.servers.clients[index]
        if client.open is None or size > self.number:
            return
        request = self.servers.requests[client.open.request]
        for code in self._brought(world, client):
            answer = self.servers.respond(self.servers.states[code], request)[1]
            consumed = self._answers([answer] * size, self.servers.columns)
            if (
                not transition.takes(answer)
                or accepts(column, transition, self.locals[client.local], consumed[0]) is None
            ):
                continue
            for outcome in self._outcomes(column, transition, client.local, consumed):
                yield from self._moved(world, index, transition, outcome, size)

    def _brought(self, world: World, client: Client) -> list[bytes]:
        assert client.open is not None
        if self._kinds.get(client.open.request) == "store":
            return [encode(self.servers.initial)]
        states = self.servers.states
        possible = {encode(self.servers.initial), *world.begun}
        least = states[client.least]
        return sorted(code for code in possible if encode(self.servers.highest(states[code], least)) == code)

    def _moved(
        self, world: World, index: int, transition: Transition, outcome: Outcome, size: int
    ) -> Iterator[Followed]:
        """The world after a step of a client; a step that fails is left to the check of the subsystem."""
        if outcome.local is None:
            if outcome.cut:
                raise RefusedError(
                    ROUNDS, f"`within` of {transition.owner.__name__} cuts runs off", transition.location
                )
            failure = outcome.failure
            assert failure is not None
            if failure.kind == "model":  # the model is wrong, which is no finding about the protocol
                place = Location(failure.file, failure.line)
                raise ModelError(failure.text, hint=failure.hint, code=failure.code or None, location=place)
            yield Followed(index, transition, outcome, None)
            return
        client, ended = world.clients[index], world.ended
        rounds = client.rounds
        if size and client.open is not None:
            rounds = (*rounds[:-1], Past(client.open.request, size))
            made = self.servers.ask(self.servers.requests[client.open.request])
            if self._kinds.get(client.open.request) == "store":
                ended = encode(self.servers.highest(self.servers.states[ended], made))
            self._note(index, rounds, size)
        begun, least = world.begun, b""
        request = self._request(transition, outcome)
        if request is not None:
            code = encode(request)
            made = self.servers.ask(request)
            if code not in self._kinds:
                self._kinds[code] = self.servers.kind(request)
            rounds = (*rounds, Past(code, 0))
            if len(rounds) > MOST_ROUNDS:
                name = self.servers.clients[index].name
                raise RefusedError(ROUNDS, f"{name} may begin more than {MOST_ROUNDS} rounds", transition.location)
            if self._kinds[code] == "store":
                begun |= {encode(made)}
            else:
                least = ended
            self._note(index, rounds, 0)
        elif rounds and not rounds[-1].size:
            least = client.least
        moved = Client(self._local(outcome.local), rounds, least)
        clients = (*world.clients[:index], moved, *world.clients[index + 1 :])
        yield Followed(index, transition, outcome, World(clients, begun, ended))

    def _note(self, index: int, rounds: tuple[Past, ...], size: int) -> None:
        this = Round(index, len(rounds), self._kinds[rounds[-1].request])
        sizes = self.rounds.setdefault(this, set())
        self.requests.setdefault(this, set()).add(rounds[-1].request)
        if size:
            sizes.add(size)

    def _request(self, transition: Transition, outcome: Outcome) -> Message | None:
        """What a step asks of all servers, if it does."""
        if not outcome.sends:
            return None
        receivers = [receiver for receiver, _ in outcome.sends]
        contents = {encode(message): message for _, message in outcome.sends}
        for receiver in receivers:
            if receiver not in self.servers.indexes:
                other = self.servers.definition.columns[receiver]
                raise RefusedError(
                    BROADCASTS, f"{transition} sends to {other}, which is no server", transition.location
                )
        if len(contents) > 1:
            shown = " and ".join(show(content(each)) for each in list(contents.values())[:2])
            raise RefusedError(
                BROADCASTS, f"{transition} sends different requests in one step: {shown}", transition.location
            )
        if sorted(receivers) != sorted(self.servers.indexes):
            raise RefusedError(
                BROADCASTS, f"{transition} sends to some servers, not to each of them once", transition.location
            )
        return outcome.sends[0][1]

    def _outcomes(
        self, column: Column, transition: Transition, local: bytes, consumed: tuple[Message, ...]
    ) -> tuple[Outcome, ...]:
        key = column.index, transition.index, local, encode(consumed)
        known = self._fired.get(key)
        if known is None:
            known = self._fired[key] = fire(column, transition, self.locals[local], consumed)
        return known

    def _answers(self, answers: list[Any], columns: list[Column]) -> tuple[Message, ...]:
        """The answers as the first of these servers send them, in content order."""
        pairs = zip(answers, columns, strict=False)
        return tuple(sorted((self.servers.sent(answer, column) for answer, column in pairs), key=encode))

    # The conditions

    def _size(self, column: Column, transition: Transition, size: int | None, client: Client) -> int:
        if transition.keep:
            raise RefusedError(QUORUMS, f"{transition} reads answers and keeps them", transition.location)
        if size is None:
            if self._may_take(column, transition, client):
                raise RefusedError(
                    QUORUMS, f"{transition} does not wait for a fixed number of answers", transition.location
                )
            return 0
        return size

    def _require_not_single(self, column: Column, transition: Transition, client: Client) -> None:
        if self._may_take(column, transition, client):
            raise RefusedError(
                QUORUMS, f"{transition} takes answers one by one, so it may count them", transition.location
            )

    def _may_take(self, column: Column, transition: Transition, client: Client) -> bool:
        requests = [self.servers.requests[each.request] for each in client.rounds]
        return any(transition.takes(answer) for request in requests for answer in self.servers.answers(request))

    def _waiting(self) -> list[Asked]:
        return [asked for asked in sorted(self.asked) if 0 < asked.size <= self.number]

    def _require_possible(self) -> None:
        """A quorum of more servers than there are never comes; in the subsystem it does."""
        for asked in sorted(each for each in self.asked if each.size > self.number):
            waits = bool(asked.rounds) and not asked.rounds[-1].size
            if waits and self._groups(asked, asked.rounds[-1]) != {None}:
                column, transition = self._of(asked)
                raise RefusedError(
                    QUORUMS,
                    f"{transition} of {column} waits for {asked.size} answers, and there are {self.number} servers",
                    transition.location,
                )

    def _require_highest_of_all(self, sets: Tried) -> None:
        tried: set[tuple[Any, ...]] = set()
        for asked in self._waiting():
            key = asked.client, asked.local, asked.transition, asked.rounds[-1:] if asked.rounds else ()
            if key not in tried:
                tried.add(key)
                self._require_highest(asked, sets)

    def _require_one_kind(self) -> None:
        for each in self.rounds:
            if each.kind == "store" and each._replace(kind="query") in self.rounds:
                raise RefusedError(ROUNDS, f"{self.named(each)} stores in some runs and asks in others")

    def _require_telling(self) -> None:
        """Of two answers that differ it is known which server is the higher one: the subsystem goes by that.

        With quorums of one no set of answers shows it: 1, 2 and 1 again may be said by higher and higher servers.
        """
        servers, rank = self.servers, self.rank
        for each, requests in self.requests.items():
            for request in [servers.requests[code] for code in sorted(requests) if each.kind == "query"]:
                rising = sorted(servers.states, key=lambda code: rank[code])
                said = [encode(servers.respond(servers.states[code], request)[1]) for code in rising]
                if len([*groupby(said)]) > len({*said}):
                    raise RefusedError(
                        HIGHEST, f"an answer to {self.named(each)} does not tell how high the server's state is"
                    )

    def _require_apart(self, asked: Asked) -> None:
        """Answers to earlier rounds, which may come late, make up no quorum, neither alone nor with others."""
        open_round = asked.rounds[-1] if asked.rounds and not asked.rounds[-1].size else None
        late, takes_open = 0, False
        names: list[str] = []
        column, transition = self._of(asked)
        for past in asked.rounds:
            groups = self._groups(asked, past)
            if groups == {None}:
                continue
            if past is open_round:
                if len(groups) > 1:
                    raise RefusedError(
                        APART,
                        f"which answers {transition} takes depends on what they say, not only on what was asked",
                        transition.location,
                    )
                takes_open = True
                late += asked.size  # a quorum of these is what it waits for: nothing else may be among them
            else:
                late += self.number - past.size
            names.append(show(content(self.servers.requests[past.request])))
        if len(names) > 1 and late >= asked.size:
            raise RefusedError(
                APART,
                f"{transition} of {column} takes late answers to {names[0]} for answers to {names[-1]}",
                transition.location,
            )
        if len(names) == 1 and not takes_open and late >= asked.size:
            how = "twice in the round" if open_round is None else "in another round, with late answers to"
            raise RefusedError(APART, f"{transition} of {column} can happen {how} {names[0]}", transition.location)

    def _groups(self, asked: Asked, past: Past) -> set[bytes | None]:
        """Of the answers to a round: what a set of them must agree on; None for those that are not taken."""
        key = asked.client, asked.local, asked.transition, past.request
        if key in self._grouped:
            return self._grouped[key]
        column, transition = self._of(asked)
        local, request = self.locals[asked.local], self.servers.requests[past.request]
        found = self._grouped[key] = set()
        for answer in self.servers.answers(request):
            for server in self.servers.columns:
                taken = transition.takes(answer)
                found.add(accepts(column, transition, local, self.servers.sent(answer, server)) if taken else None)
        return found

    def _require_highest(self, asked: Asked, sets: Tried) -> None:
        """A quorum transition depends on the highest state among the servers that answer, and on nothing else."""
        column, transition = self._of(asked)
        if not asked.rounds or asked.rounds[-1].size or self._groups(asked, asked.rounds[-1]) == {None}:
            return
        request = self.servers.requests[asked.rounds[-1].request]
        kind = self._kinds[asked.rounds[-1].request]
        states = list(self.servers.states)
        answer = {code: self.servers.respond(self.servers.states[code], request)[1] for code in states}
        answered = states if kind == "query" else states[:1]
        expected: dict[bytes, set[bytes]] = {}
        for highest in answered:
            consumed = self._answers([answer[highest]] * asked.size, self.servers.columns)
            expected[highest] = self._does(column, transition, asked, consumed)
        for columns, chosen in (self._all_sets if sets == "all" else self._some_sets)(answered, asked.size):
            self.sets += 1
            self._look()
            if self.sets > MOST_SETS:
                raise LimitError(
                    f"there are more than {MOST_SETS:,} sets of answers to try with {self.number} servers",
                    hint="use fewer operations or a smaller number of servers to begin with",
                    code="Q501",
                )
            consumed = self._answers([answer[code] for code in chosen], list(columns))
            highest = max(chosen, key=lambda code: self.rank[code])
            if self._does(column, transition, asked, consumed) != expected[highest]:
                said = _said(consumed)
                raise RefusedError(
                    HIGHEST,
                    f"{transition} does something else with {said} than with {asked.size} answers like the highest",
                    transition.location,
                )

    def _all_sets(self, answered: list[bytes], size: int) -> Iterator[Sets]:
        for columns in combinations(self.servers.columns, size):
            for chosen in product(answered, repeat=size):
                yield columns, chosen

    def _some_sets(self, answered: list[bytes], size: int) -> Iterator[Sets]:
        """Of many servers: each number of answers that are lower than the rest, from the first and the last servers.

        A handler that counts answers, of whatever kind, is told from one that does not; and some sets by chance.
        """
        columns, chance = self.servers.columns, Random(size)
        counts: Sequence[int] = range(1, size)
        if size > EACH_COUNT:
            counts = (*counts[: EACH_COUNT // 2], *counts[-EACH_COUNT // 2 :])
        for some in (columns[:size], columns[-size:]):
            yield some, (answered[0],) * size
            for high in answered:
                for low in (each for each in answered if self.rank[each] < self.rank[high]):
                    for many in counts:
                        yield some, (high,) * many + (low,) * (size - many)
        for _ in range(SAMPLES):
            yield chance.sample(columns, size), chance.choices(answered, k=size)

    def _does(self, column: Column, transition: Transition, asked: Asked, consumed: tuple[Message, ...]) -> set[bytes]:
        return {signature(each) for each in self._outcomes(column, transition, asked.local, consumed)}

    def _require_meeting(self) -> None:
        for store, query in self.pairs():
            for one, other in product(self.rounds[store], self.rounds[query]):
                if one + other <= self.number:
                    raise RefusedError(
                        MEET,
                        f"with {self.number} servers, {one} that answer {self.named(store)} and {other} that answer "
                        f"{self.named(query)} need have none in common",
                    )

    def _of(self, asked: Asked) -> tuple[Column, Transition]:
        column = self.servers.clients[asked.client]
        return column, column.spec.transitions[asked.transition]

    # What the subsystem is made of

    def pairs(self) -> list[tuple[Round, Round]]:
        """Every store with every query that may see it: not with an earlier one of the same client."""
        stores = sorted(each for each in self.rounds if each.kind == "store")
        queries = sorted(each for each in self.rounds if each.kind == "query")
        return [
            (store, query)
            for store, query in product(stores, queries)
            if store.client != query.client or store.number < query.number
        ]

    def named(self, each: Round) -> str:
        return f"{self.servers.clients[each.client].name}.{each.number}"


def _said(answers: Sequence[Message]) -> str:
    """Answers in few words, however many there are."""
    shown = [show(content(each)) for each in answers]
    if len(shown) <= AT_LENGTH:
        return ", ".join(shown)
    return ", ".join(f"{shown.count(each)} times {each}" for each in dict.fromkeys(shown))
