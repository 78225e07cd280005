"""Protocols that were drawn, in the class of `quorate project` and around it: what is said to hold for any number of
servers holds with 3, 4 and 5."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from quorate import Constant, Message, Peers, Process, System, check, invariant, on, quorum, start, step
from quorate.projection.conditions import RefusedError
from quorate.projection.project import project


class Put(Message):
    value: int
    round: int


class Done(Message):
    round: int


class Get(Message):
    round: int


class Got(Message):
    value: int
    round: int


class Server(Process):
    keeps: Constant[str]
    says: Constant[str]
    value: int = 0
    puts: int = 0

    @on(Put)
    def put(self, m: Put) -> None:
        kept = {"last": m.value, "first": self.value or m.value, "either": self.value | m.value}
        self.value = kept.get(self.keeps, max(self.value, m.value))
        self.puts = min(2, self.puts + (self.keeps == "count"))
        self.reply(Done(0 if self.says == "no round" else m.round))

    @on(Get)
    def get(self, m: Get) -> None:
        said = {"parity": self.value % 2, "whether": min(1, self.value), "count": self.puts}
        self.reply(Got(said.get(self.says, self.value), 0 if self.says == "no round" else m.round))


class Client(Process):
    servers: Peers
    rounds: Constant[tuple[int | None, ...]]  # a value to put, 3 for what was seen last; None to get
    sizes: Constant[tuple[int, int]]
    takes: Constant[str]
    by_round: Constant[bool]
    in_turn: Constant[bool]
    impatient: Constant[bool]
    at: int = 0
    waits: str = ""
    seen: int = 0
    before: int = 0
    extra: bool = False

    @start
    def begin(self) -> None:
        self.ask()

    def ask(self) -> None:
        self.waits = ""
        if self.at < len(self.rounds):
            value = self.rounds[self.at]
            self.waits = "get" if value is None else "put"
            self.send(self.servers, Get(self.at) if value is None else Put(self.seen if value == 3 else value, self.at))

    @quorum(
        Done,
        size=lambda self: self.sizes[0],
        when=lambda self: not self.in_turn or self.waits == "put",
        where=lambda self, m: not self.by_round or m.round == self.at,
    )
    def done(self, _: frozenset[Done]) -> None:
        self.go_on("put")

    @quorum(
        Got,
        size=lambda self: self.sizes[1],
        when=lambda self: not self.in_turn or self.waits == "get",
        where=lambda self, m: not self.by_round or m.round == self.at,
    )
    def got(self, answers: frozenset[Got]) -> None:
        values = [m.value for m in answers]
        often = max(values, key=lambda value: (values.count(value), value))
        taken = {"lowest": min(values), "most": often, "spread": max(values) - min(values)}
        self.before, self.seen = self.seen, taken.get(self.takes, max(values))
        self.go_on("get")

    def go_on(self, expected: str) -> None:
        if self.waits == expected:
            self.at += 1
            self.ask()
        else:
            self.extra = True

    @step(when=lambda self: self.impatient and self.at == 0 and len(self.rounds) > 1 and self.waits != "")
    def hurry(self) -> None:
        self.at += 1
        self.ask()


SIZES: dict[str, Callable[[int], int]] = {
    "majority": lambda n: n // 2 + 1,
    "one": lambda n: 1,
    "all": lambda n: n,
    "all but one": lambda n: max(1, n - 1),
    "half": lambda n: max(1, n // 2),
    "at most three": lambda n: min(3, n // 2 + 1),
}


class Plan(NamedTuple):
    keeps: str
    says: str
    clients: tuple[dict[str, Any], ...]
    wrong: tuple[int, int]


def drawn(seed: int) -> Plan:
    chance = random.Random(seed)

    def mostly(usual: str, *others: str) -> str:
        return usual if chance.random() < 0.6 else chance.choice(others)

    clients = tuple(
        {
            "rounds": tuple(chance.choice([1, 2, 3, None, None]) for _ in range(chance.choice([1, 2, 2, 3]))),
            "sizes": (mostly("majority", *SIZES), mostly("majority", *SIZES)),
            "takes": mostly("highest", "lowest", "most", "spread"),
            "by_round": chance.random() < 0.8,
            "in_turn": chance.random() < 0.7,
            "impatient": chance.random() < 0.15,
        }
        for _ in range(chance.choice([1, 2, 2]))
    )
    return Plan(
        mostly("highest", "last", "first", "either", "count"),
        mostly("value", "parity", "whether", "count", "no round"),
        clients,
        (chance.randint(0, 2), chance.randint(0, 2)),
    )


PLANS = [drawn(seed) for seed in range(200)]


class Drawn(System):
    seed: int = 0
    servers: int = 3

    def build(self) -> None:
        plan = PLANS[self.seed]
        servers = self.spawn(Server, self.servers, keeps=plan.keeps, says=plan.says)
        for client in plan.clients:
            put, get = client["sizes"]
            sizes = (SIZES[put](self.servers), SIZES[get](self.servers))
            self.spawn(Client, servers=servers, **{**client, "sizes": sizes})

    @invariant
    def never_seen(self) -> bool:
        seen = PLANS[self.seed].wrong
        return not any(each.at == len(each.rounds) and (each.before, each.seen) == seen for each in self[Client])

    @invariant
    def nothing_extra(self) -> bool:
        return not any(each.extra for each in self[Client])

    @invariant
    def agreement(self) -> bool:
        return len({each.seen for each in self[Client] if each.at == len(each.rounds)}) < 2


def verdict(seed: int, name: str) -> str:
    """Of the subsystem; what holds there has to hold with real servers."""
    try:
        found = project(Drawn(seed=seed), property=name)
    except RefusedError as refused:
        return refused.condition
    if found.verdict == "holds":
        for number in (3, 4, 5):
            full = check(Drawn(seed=seed, servers=number), property=name, trace=False, max_states=30_000)
            assert full.verdict != "violated", (seed, name, number)
    return found.verdict


@pytest.mark.parametrize("seed", range(16))
def test_what_holds_for_any_number_holds_for_some(seed: int) -> None:
    for name in ("never_seen", "nothing_extra", "agreement"):
        verdict(seed, name)


def test_both_are_drawn() -> None:
    told = Counter(verdict(seed, "nothing_extra") for seed in range(8))
    assert told["holds"] >= 2
    assert len(told) >= 3
