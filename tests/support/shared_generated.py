"""Random small protocols with shared cells: plain data, acted out by classes of the language, and explored on its own.

`explored` is an explorer that shares no code with Quorate: states are tuples of numbers, and a rule is interpreted from
its data. A number determines a protocol, and a protocol prints as the data that makes it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from quorate import (
    Constant,
    Map,
    Message,
    Peers,
    Pid,
    Process,
    Shared,
    System,
    can,
    crashes,
    fifo,
    final,
    invariant,
    multiset,
    on,
    step,
    unordered,
)

MODULUS = 3

Expression = tuple[Any, ...]
"""("const", k), ("x",), ("n",), ("global", i), ("own",); of the others' cells ("any", k), ("all", k), ("sum",); and
("add", e, k)"""


class Rule(NamedTuple):
    kind: str
    """`step`, or `on` a message."""
    guard: tuple[Expression, str, Expression] | None
    actions: tuple[tuple[Any, ...], ...]
    """("x", e), ("global", i, e), ("own", e), ("others", e), ("send", e), ("pick",): that is n from then on."""
    at: int | None = None
    """The value of y at which the guard is asked at all."""
    to: int = 0
    """The value of y after it; if `at` says something."""


class Protocol(NamedTuple):
    threads: int
    cells: int
    rules: tuple[Rule, ...]
    claims: tuple[tuple[Expression, str, Expression], ...]
    network: str
    crashes: int
    odd: bool
    """The first thread begins with another value: the threads are not all alike."""


class Told(Message):
    n: int


def drawn(seed: int) -> Protocol:
    """The protocol of a number."""
    dice = random.Random(seed)
    cells = dice.randint(1, 2)

    def expression(message: bool, depth: int = 0) -> Expression:
        kind = dice.choice(["const", "x", "global", "global", "own", "any", "all", "sum", "add", "n"])
        if kind == "n" and message:
            return ("n",)
        if kind == "add" and depth == 0:
            return ("add", expression(message, 1), 1)
        if kind in ("any", "all"):
            return (kind, dice.randrange(MODULUS))
        if kind == "global":
            return (kind, dice.randrange(cells))
        return (kind,) if kind in ("x", "own", "sum") else ("const", dice.randrange(MODULUS))

    def test(message: bool) -> tuple[Expression, str, Expression]:
        return expression(message), dice.choice(["==", "!=", "<"]), expression(message)

    def actions(message: bool, sends: bool) -> tuple[tuple[Any, ...], ...]:
        found: list[tuple[Any, ...]] = []
        if dice.random() < 0.2:
            found.append(("pick",))
            message = True
        for _ in range(dice.randint(1, 3)):
            kind = dice.choice(["x", "x", "global", "own", "others", "send"])
            if kind == "global":
                found.append((kind, dice.randrange(cells), expression(message)))
            elif kind != "send" or sends:
                found.append((kind, expression(message)))
        return tuple(found)

    sends = dice.random() < 0.4
    rules = [Rule("step", test(False), actions(False, sends)) for _ in range(dice.randint(2, 3))]
    if dice.random() < 0.5:  # a sequence of steps, some of which have to do with no cell
        rules = []
        length = dice.randint(3, 4)
        for at in range(length):
            to = dice.choice([(at + 1) % length, (at + 1) % length, dice.randrange(length)])
            if dice.random() < 0.4:
                rules.append(Rule("step", None, (("x", ("const", dice.randrange(MODULUS))),), at, to))
            else:
                guard = test(False) if dice.random() < 0.4 else None
                rules.append(Rule("step", guard, actions(False, sends), at, to))
    if sends:
        rules.append(Rule("on", test(True) if dice.random() < 0.6 else None, actions(True, dice.random() < 0.3)))
    network = (
        dice.choice(["unordered", "unordered", "multiset", "fifo", "drop", "skip", "lossy"]) if sends else "unordered"
    )
    return Protocol(
        dice.choice([2, 2, 3]),
        cells,
        tuple(rules),
        tuple((("total", dice.choice(["x", "own"])), dice.choice(["!=", "<"]), ("global", 0)) for _ in range(2)),
        network,
        1 if dice.random() < 0.15 else 0,
        dice.random() < 0.2,
    )


COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": lambda one, two: one == two,
    "!=": lambda one, two: one != two,
    "<": lambda one, two: one < two,
}
NETWORKS = {
    "unordered": unordered(),
    "multiset": multiset(capacity=2),
    "fifo": fifo(capacity=2),
    "drop": fifo(capacity=2, head="drop"),
    "skip": fifo(capacity=2, head="skip"),
    "lossy": unordered(losses=1),
}


# The language


def made(protocol: Protocol) -> System:
    """The protocol as a system."""

    class Thread(Process):
        others: Constant[Peers]
        shared: Constant[tuple[Shared[int], ...]]
        own: Constant[Map[Pid, Shared[int]]]
        x: int = 0
        y: int = 0

        def evaluated(self, e: Expression, n: int) -> int:
            kind = e[0]
            if kind == "const":
                return int(e[1])
            if kind == "x":
                return self.x
            if kind == "n":
                return n
            if kind == "global":
                return self.shared[e[1]].value
            if kind == "own":
                return self.own[self.pid].value
            if kind == "any":
                return int(any(self.own[other].value == e[1] for other in self.others))
            if kind == "all":
                return int(all(self.own[other].value == e[1] for other in self.others))
            if kind == "sum":
                return sum(self.own[other].value for other in self.others) % MODULUS
            return (self.evaluated(e[1], n) + int(e[2])) % MODULUS

        def holds(self, guard: tuple[Expression, str, Expression] | None, n: int) -> bool:
            return guard is None or COMPARE[guard[1]](self.evaluated(guard[0], n), self.evaluated(guard[2], n))

        def act(self, rule: Rule, n: int) -> None:
            if rule.at is not None:
                self.y = rule.to
            for action in rule.actions:
                kind = action[0]
                if kind == "pick":
                    n = self.choose((0, 1))
                    continue
                value = self.evaluated(action[-1], n)
                if kind == "x":
                    self.x = value
                elif kind == "global":
                    self.shared[action[1]].value = value
                elif kind == "own":
                    self.own[self.pid].value = value
                elif kind == "others":
                    for other in self.others:
                        self.own[other].value = value
                else:
                    self.send(self.others, Told(value))

    members: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    for number, rule in enumerate(protocol.rules):
        members[f"rule{number}"] = _handler(rule)
    acting: Any = type("Acting", (Thread,), members)

    class Generated(System):
        network = NETWORKS[protocol.network]
        faults = crashes(protocol.crashes, cut_short=False) if protocol.crashes else System.faults

        def build(self) -> None:
            threads = self.spawn(acting, protocol.threads)
            shared = tuple(self.share(f"global{i}", 0) for i in range(protocol.cells))
            own = self.share("own", 0, each=threads)
            for pid in threads:
                self.connect(pid, others=threads - {pid}, shared=shared, own=own)
            if protocol.odd:
                self.connect(next(iter(threads)), x=1)

        def total(self, what: str) -> int:
            threads: Any = self[acting]
            if what == "x":
                return sum(thread.x for thread in threads)
            return sum(self.shared("own", thread.pid) for thread in threads)

        @invariant
        def first(self) -> bool:
            (_, what), compare, (_, cell) = protocol.claims[0]
            return COMPARE[compare](self.total(what), self.shared(f"global{cell}") + 3)

        @invariant
        def always(self) -> bool:
            return bool(self.total("x") + self.total("own") >= self.shared("global0") - MODULUS)

        @can
        def second(self) -> bool:
            (_, what), compare, (_, cell) = protocol.claims[1]
            return not COMPARE[compare](self.total(what), self.shared(f"global{cell}") + 2)

        @final
        def done(self) -> bool:
            return self.total("x") > 1

    return Generated()


def _handler(rule: Rule) -> Any:
    if rule.kind == "step":

        def take(self: Any) -> None:
            self.act(rule, 0)

        return step(when=lambda self: rule.at in (None, self.y) and self.holds(rule.guard, 0))(take)

    def hear(self: Any, m: Told) -> None:
        self.act(rule, m.n)

    return on(Told, when=lambda self, m: self.holds(rule.guard, m.n))(hear)


# On its own

State = tuple[Any, ...]
"""The values x (None with the value, of a crashed thread), the global cells, the own cells, the inboxes as lists of
(sender, n), what is left of crashes and losses, and the values y."""


class Explored(NamedTuple):
    states: int
    transitions: int
    stuck: frozenset[State]
    first: bool
    second: bool
    deadlock: bool


def explored(protocol: Protocol, most: int = 3000) -> Explored | None:
    """Every reachable state; None if there are too many."""
    losses = 1 if protocol.network == "lossy" else 0
    threads = range(protocol.threads)
    xs = tuple((1 if protocol.odd and i == 0 else 0, False) for i in threads)
    nothing = (0,) * protocol.threads
    pending: tuple[Any, ...] = ((),) * protocol.threads
    initial: State = (xs, (0,) * protocol.cells, nothing, pending, protocol.crashes, losses, nothing)
    seen, level, transitions, stuck = {initial}, [initial], 0, set()
    first, second, deadlock = True, False, False
    while level:
        following: list[State] = []
        for state in level:
            first &= _claimed(protocol.claims[0], state, 3)
            second |= not _claimed(protocol.claims[1], state, 2)
            moves = False
            for own, after in _steps(protocol, state):
                transitions += 1
                moves |= own
                if after not in seen:
                    seen.add(after)
                    following.append(after)
            if not moves:
                stuck.add(state)
                deadlock |= sum(x for x, _ in state[0]) <= 1
        if len(seen) > most:
            return None
        level = following
    return Explored(len(seen), transitions, frozenset(stuck), first, second, deadlock)


def _claimed(claim: tuple[Expression, str, Expression], state: State, more: int) -> bool:
    (_, what), compare, (_, cell) = claim
    total = sum(x for x, _ in state[0]) if what == "x" else sum(state[2])
    return COMPARE[compare](total, state[1][cell] + more)


def _steps(protocol: Protocol, state: State) -> Iterator[tuple[bool, State]]:
    """What can happen: whether the protocol does it, and the state after it. Equal ends of one choice are one step."""
    xs, shared, own, inboxes, crashes_left, losses, ys = state
    for me in range(protocol.threads):
        if xs[me][1]:
            for place in _distinct(inboxes[me]) if losses else ():
                yield False, (xs, shared, own, _without(inboxes, me, place), crashes_left, losses - 1, ys)
            continue
        for rule in protocol.rules:
            if rule.kind == "step":
                here = rule.at in (None, ys[me]) and _holds(rule.guard, state, me, 0)
                ends = [_act(protocol, rule, state, me, 0, None)] if here else []
                for end in ends:
                    for after in dict.fromkeys(end):
                        yield True, after
                continue
            for place in _offered(protocol, rule, state, me):
                n = inboxes[me][place][1]
                if _holds(rule.guard, state, me, n):
                    for after in dict.fromkeys(_act(protocol, rule, state, me, n, place)):
                        yield True, after
        if losses:
            for place in _distinct(inboxes[me]):
                yield False, (xs, shared, own, _without(inboxes, me, place), crashes_left, losses - 1, ys)
        if protocol.network == "drop":
            for place, (sender, n) in enumerate(inboxes[me]):
                head = place == 0 or inboxes[me][place - 1][0] != sender
                wanted = any(rule.kind == "on" and _holds(rule.guard, state, me, n) for rule in protocol.rules)
                if head and not wanted:
                    yield True, (xs, shared, own, _without(inboxes, me, place), crashes_left, losses, ys)
        if crashes_left:
            after_xs = (*xs[:me], (xs[me][0], True), *xs[me + 1 :])
            yield False, (after_xs, shared, own, inboxes, crashes_left - 1, losses, ys)


def _distinct(inbox: tuple[Any, ...]) -> list[int]:
    return [place for place, message in enumerate(inbox) if message not in inbox[:place]]


def _offered(protocol: Protocol, rule: Rule, state: State, me: int) -> list[int]:
    inbox = state[3][me]
    if protocol.network not in ("fifo", "drop", "skip"):
        return _distinct(inbox)
    found = []
    for sender in sorted({sender for sender, _ in inbox}):
        queue = [place for place, message in enumerate(inbox) if message[0] == sender]
        if protocol.network == "skip":
            found += [place for place in queue if _holds(rule.guard, state, me, inbox[place][1])][:1]
        else:
            found.append(queue[0])
    return found


def _without(inboxes: tuple[Any, ...], me: int, place: int) -> tuple[Any, ...]:
    mine = inboxes[me][:place] + inboxes[me][place + 1 :]
    return (*tuple(inboxes[:me]), mine, *tuple(inboxes[me + 1 :]))


def _value(e: Expression, x: int, state: State, me: int, n: int) -> int:
    _, shared, own = state[:3]
    others = [own[i] for i in range(len(own)) if i != me]
    kind = e[0]
    if kind == "add":
        return (_value(e[1], x, state, me, n) + int(e[2])) % MODULUS
    given: dict[str, Any] = {"x": x, "n": n, "own": own[me], "sum": sum(others) % MODULUS}
    if kind in given:
        return int(given[kind])
    if kind == "global":
        return int(shared[e[1]])
    if kind == "const":
        return int(e[1])
    return int(e[1] in others if kind == "any" else all(each == e[1] for each in others))


def _holds(guard: tuple[Expression, str, Expression] | None, state: State, me: int, n: int) -> bool:
    x = state[0][me][0]
    return guard is None or COMPARE[guard[1]](_value(guard[0], x, state, me, n), _value(guard[2], x, state, me, n))


def _act(protocol: Protocol, rule: Rule, state: State, me: int, n: int, place: int | None) -> list[State]:
    """The states after the rule; none if a channel is full. A message that is consumed is gone before others arrive."""
    found = []
    for option in (0, 1) if ("pick",) in rule.actions else (0,):
        xs, shared, own, inboxes, crashes_left, losses, ys = state
        if place is not None:
            inboxes = _without(inboxes, me, place)
        value_of_n, sent = n, []
        for action in rule.actions:
            if action == ("pick",):
                value_of_n = option
                continue
            now = (xs, shared, own)
            value = _value(action[-1], xs[me][0], now, me, value_of_n)
            if action[0] == "x":
                xs = (*xs[:me], (value, False), *xs[me + 1 :])
            elif action[0] == "global":
                shared = (*shared[: action[1]], value, *shared[action[1] + 1 :])
            elif action[0] == "own":
                own = (*own[:me], value, *own[me + 1 :])
            elif action[0] == "others":
                own = tuple(own[i] if i == me else value for i in range(len(own)))
            else:
                sent += [(i, value) for i in range(protocol.threads) if i != me]
        pending = [list(each) for each in inboxes]
        blocked = False
        for to, value in sent:
            message = (me, value)
            if protocol.network in ("unordered", "lossy"):
                if message not in pending[to]:
                    pending[to].append(message)
            elif sum(each[0] == me for each in pending[to]) >= 2:
                blocked = True
            else:
                pending[to].append(message)
        if blocked:
            continue
        in_order = protocol.network in ("fifo", "drop", "skip")
        arranged = tuple(
            tuple(sorted(each, key=(lambda message: message[0]) if in_order else None)) for each in pending
        )
        after_ys = ys if rule.at is None else (*ys[:me], rule.to, *ys[me + 1 :])
        found.append((xs, shared, own, arranged, crashes_left, losses, after_ys))
    return found
