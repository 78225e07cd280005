"""Random small protocols: plain data that says what each handler does, acted out by real classes of the language.

A description prints as the Python that makes it, so a failing one can be pasted into a test. What bundled protocols
rarely do is made often here: resends, self-sends, cycles, FIFO and bounded channels, budgets, events, choices, quorums.
`test_generator.py` counts how often.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from hypothesis import strategies as st

from agreement import PLAIN
from quorate import (
    Crash,
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    can,
    check,
    crashes,
    final,
    invariant,
    on,
    quorum,
)
from quorate import start as at_start
from quorate import step as at_step
from quorate.language.network import Budget, Network

T = TypeVar("T")


class Ask(Message):
    n: int


class Tell(Message):
    n: int


class Shout(Tell):
    """Taken by whoever takes a Tell."""


class Done(Event):
    n: int


class Noted(Event):
    n: int


MESSAGES: dict[str, type[Any]] = {"Ask": Ask, "Tell": Tell, "Shout": Shout, "Crash": Crash}
EVENTS: dict[str, type[Any]] = {"Done": Done, "Noted": Noted}
COMPARE: dict[str, Callable[[int, int], bool]] = {"==": operator.eq, "!=": operator.ne, "<": operator.lt}

Source = Literal["x", "y", "n", "count", "chosen", "zero"]
Field = Literal["x", "y"]
Operator = Literal["==", "!=", "<"]
OPERATORS: tuple[Operator, ...] = ("!=", "!=", "==", "<")
FIELDS: tuple[Field, ...] = ("x", "y")
Receivers = Literal["self", "all", "others", "next", "friend", "back"]
Kind = Literal["start", "step", "on", "exact", "each", "minimal", "maximal"]


class Term(NamedTuple):
    """A small number: a field, the sum of the consumed `n`, how many were consumed, the last choice; plus `add`."""

    source: Source
    add: int = 0


class Guard(NamedTuple):
    """Compares two terms."""

    left: Term
    compare: Operator
    right: Term


class Put(NamedTuple):
    field: Field
    value: Term


class Send(NamedTuple):
    to: Receivers
    message: str
    n: Term


class Emit(NamedTuple):
    event: str
    n: Term


class Pick(NamedTuple):
    """Without options the transition is not enabled."""

    options: tuple[int, ...]


class Befriend(NamedTuple):
    """Remember who sent the first of the consumed messages."""


class Claim(NamedTuple):
    """An assertion, or (if `crude`) a division by zero, where the test is false."""

    test: Guard
    crude: bool = False


Action = Put | Send | Emit | Pick | Befriend | Claim


class Rule(NamedTuple):
    """A transition of a process."""

    kind: Kind
    message: str = "Ask"
    when: Guard | None = None
    where: Guard | None = None
    same: bool = False
    keep: bool = False
    size: int = 2
    """exact: so many; each: from the first so many; minimal, maximal: at least so many, or a sum of `n` so large."""
    by_field: bool = False
    """exact: the size is `1 + x`; each: the senders are the friend alone; minimal, maximal: the sum counts."""
    actions: tuple[Action, ...] = ()


class Reaction(NamedTuple):
    """What a monitor does about an event; `claim` may fail."""

    event: str
    when: Guard | None
    puts: tuple[Put, ...]
    claim: Guard | None


class Look(NamedTuple):
    """A property: reads one field of one column and goes on with what it finds, so states differ in what is read."""

    column: int
    field: Literal["x", "y", "crashed"]
    value: int
    then: Look | bool
    otherwise: Look | bool


class Role(NamedTuple):
    """A class of processes."""

    number: int
    x: int
    rules: tuple[Rule, ...]
    within: int | None = None
    """The value of `y` that is out of bounds."""
    durable: tuple[str, ...] = ("fuel",)


class Protocol(NamedTuple):
    """A whole system."""

    network: Network
    modulus: int
    fuel: int
    """How many times each process may send; negative for any number."""
    roles: tuple[Role, ...]
    watch: tuple[Reaction, ...] | None = None
    starts: tuple[int, ...] = ()
    """The initial values of `y` of the first process, one initial state each; `()` for just 0."""
    crashes: int = 0
    crash_first_role_only: bool = False
    cut_short: bool = True
    recover: bool = False
    invariants: tuple[Look | bool, ...] = ()
    cans: tuple[Look | bool, ...] = ()
    final: Look | bool | None = None
    links: tuple[tuple[int, ...], ...] = ()
    """Per process the numbers of those it knows besides itself; `()` if all know all."""


# Acting it out


def sum_of(messages: Iterable[Any]) -> int:
    return sum(getattr(m, "n", 0) for m in messages)  # a Crash has none


class Numbers:
    """What terms may refer to while a handler runs."""

    def __init__(self, owner: Any, messages: Iterable[Any]) -> None:
        found = tuple(messages)
        self.owner = owner
        self.modulus: int = owner.MODULUS
        self.known = {"zero": 0, "n": sum_of(found), "count": len(found), "chosen": 0}

    def __call__(self, term: Term) -> int:
        value = getattr(self.owner, term.source) if term.source in ("x", "y") else self.known[term.source]
        return int((value + term.add) % self.modulus)

    def test(self, test: Guard | None) -> bool:
        return test is None or COMPARE[test.compare](self(test.left), self(test.right))


def act(self: Any, rule: Rule, messages: tuple[Any, ...]) -> None:
    """The body of every handler."""
    numbers = Numbers(self, messages)
    for action in rule.actions:
        match action:
            case Put(field, value):
                setattr(self, field, numbers(value))
            case Pick(options):
                numbers.known["chosen"] = self.choose(options)
            case Befriend():
                self.friend = messages[0].sender if messages else self.pid
            case Emit(event, n):
                self.emit(EVENTS[event](numbers(n)))
            case Claim(test, crude):
                if crude:
                    numbers(Term("zero")) // int(numbers.test(test))
                assert numbers.test(test), "claim"
            case Send(to, message, n):
                if self.fuel == 0:
                    continue
                self.fuel -= 1 if self.fuel > 0 else 0
                made = MESSAGES[message](numbers(n))
                if to == "back" and messages:
                    self.reply(made)
                else:
                    self.send(_receivers(self, to), made)


def _receivers(self: Any, to: str) -> Pid | Peers:
    if to == "all":
        return self.peers  # type: ignore[no-any-return]
    if to == "others":
        return self.peers - {self.pid}  # type: ignore[no-any-return]
    if to == "friend" and self.friend is not None:
        return self.friend  # type: ignore[no-any-return]
    if to == "self":
        return self.pid  # type: ignore[no-any-return]
    ring = list(self.peers)
    return ring[(ring.index(self.pid) + 1) % len(ring)]  # type: ignore[no-any-return]


def transition(rule: Rule) -> Any:
    """A decorated handler."""
    message = MESSAGES[rule.message]

    def alone(self: Any) -> bool:
        return Numbers(self, ()).test(rule.when)

    def each_passes(self: Any, m: Any) -> bool:
        return Numbers(self, (m,)).test(rule.where)

    if rule.kind in ("start", "step"):

        def spontaneous(self: Any) -> None:
            act(self, rule, ())

        if rule.kind == "step":
            return at_step(when=alone)(spontaneous)
        return at_start(spontaneous) if rule.when is None else at_start(when=alone)(spontaneous)
    if rule.kind == "on":

        def single(self: Any, m: Any) -> None:
            act(self, rule, (m,))

        guard = None if rule.when is None else lambda self, m: Numbers(self, (m,)).test(rule.when)
        return on(message, when=guard, keep=rule.keep)(single)

    def together(self: Any, ms: frozenset[Any]) -> None:
        act(self, rule, tuple(ms))

    options: dict[str, Any] = {"keep": rule.keep}
    if rule.when is not None:
        options["when"] = alone
    if rule.where is not None:
        options["where"] = each_passes
    if rule.same:
        options["same"] = "n"
    if rule.kind == "exact":
        options["size"] = (lambda self: 1 + self.x) if rule.by_field else rule.size
    elif rule.kind == "each":
        options["each"] = _friends if rule.by_field else lambda self: tuple(self.peers)[: rule.size]
    else:
        measure = sum_of if rule.by_field else len
        options["enough"] = lambda self, ms: measure(ms) >= rule.size
        options["sets"] = rule.kind
    return quorum(message, **options)(together)


def _friends(self: Any) -> tuple[Pid, ...]:
    return () if self.friend is None else (self.friend,)


def reaction(described: Reaction) -> Any:
    def react(self: Any, e: Any) -> None:
        numbers = Numbers(self, (e,))
        for put in described.puts:
            setattr(self, put.field, numbers(put.value))
        assert numbers.test(described.claim), "the monitor's claim"

    guard = None if described.when is None else lambda self, e: Numbers(self, (e,)).test(described.when)
    return on(EVENTS[described.event], when=guard)(react)


def property_of(look: Look | bool, columns: int) -> Callable[[Any], bool]:
    def holds(self: Any) -> bool:
        here = look
        while isinstance(here, Look):
            views = self[Process]
            if self.WATCHED and here.column % columns == columns - 1 and here.field != "crashed":
                view = self[self.WATCHED]  # the last column
            else:
                view = views[here.column % len(views)]
            here = here.then if getattr(view, here.field) == here.value else here.otherwise
        return here

    return holds


def system(protocol: Protocol, extra: dict[str, Any] | None = None) -> System:
    """The system a description describes; `extra` adds to its class, properties above all."""
    roles = [_role(protocol, number, role) for number, role in enumerate(protocol.roles)]
    watched = None
    if protocol.watch is not None:
        names = {f"reaction{number}": reaction(each) for number, each in enumerate(protocol.watch)}
        fields = {"__annotations__": {"x": int, "y": int}, "x": 0, "y": 0, "MODULUS": protocol.modulus}
        watched = type("Watch", (Monitor,), {**fields, **names})
    columns = sum(role.number for role in protocol.roles) + (watched is not None)

    def build(self: Any) -> None:
        self.network = protocol.network
        if protocol.crashes:
            whose = roles[0] if protocol.crash_first_role_only else None
            self.faults = crashes(protocol.crashes, of=whose, cut_short=protocol.cut_short, recover=protocol.recover)
        pids = [self.spawn(cls) for cls, role in zip(roles, protocol.roles, strict=True) for _ in range(role.number)]
        self.connect(pids, peers=Peers(pids))
        for number, known in enumerate(protocol.links[: len(pids)]):
            others = (pids[other] for other in known if other < len(pids))
            self.connect(pids[number], peers=Peers([pids[number], *others]))
        if protocol.starts:
            self.connect(pids[0], y=self.choose(protocol.starts) % protocol.modulus)
        if watched is not None:
            self.watch(watched)

    members: dict[str, Any] = {"build": build, "WATCHED": watched}
    for number, each in enumerate(protocol.invariants):
        members[f"invariant{number}"] = invariant(property_of(each, columns))
    for number, each in enumerate(protocol.cans):
        members[f"can{number}"] = can(property_of(each, columns))
    if protocol.final is not None:
        members["ended"] = final(property_of(protocol.final, columns))
    made: type[System] = type("Generated", (System,), {**members, **(extra or {})})
    return made()


def _role(protocol: Protocol, number: int, role: Role) -> type[Process]:
    fields = {"peers": Peers, "x": int, "y": int, "friend": Pid | None, "fuel": int}
    members: dict[str, Any] = {
        "__annotations__": fields,
        "x": role.x % protocol.modulus,
        "y": 0,
        "friend": None,
        "fuel": protocol.fuel,
        "MODULUS": protocol.modulus,
        "durable": role.durable,
    }
    for index, rule in enumerate(role.rules):
        members[f"{rule.kind}{index}"] = transition(rule)
    starts = {start % protocol.modulus for start in protocol.starts} | {0}
    if role.within is not None and role.within not in starts:
        members["within"] = lambda self: self.y != role.within
    return type(f"Role{number}", (Process,), members)


def fitted(protocol: Protocol, most: int) -> Protocol | None:
    """The same protocol, or the nearest tamer one that has at most so many states; None if none has."""
    calm = protocol._replace(crashes=min(protocol.crashes, 1), network=replace(protocol.network, losses=0))
    calmer = calm._replace(crashes=0, network=replace(calm.network, duplicates=0))
    fewer = calmer._replace(roles=tuple(role._replace(number=1) for role in calmer.roles))
    for candidate in dict.fromkeys((protocol, calm, calmer, fewer)):
        for fuel in dict.fromkeys((candidate.fuel, 4, 3, 2, 1)):
            if 0 <= candidate.fuel < fuel:
                continue
            smaller = candidate._replace(fuel=fuel)
            sized = system(without_claims(smaller))  # a failure would end the search before its size is known
            if check(sized, property=(), **PLAIN, max_states=most).stopped_by is None:
                return smaller
    return None


def without_claims(protocol: Protocol) -> Protocol:
    """The same protocol with nothing in it that can fail."""

    def tame(rule: Rule) -> Rule:
        return rule._replace(actions=tuple(action for action in rule.actions if not isinstance(action, Claim)))

    roles = tuple(role._replace(rules=tuple(map(tame, role.rules))) for role in protocol.roles)
    watch = None if protocol.watch is None else tuple(each._replace(claim=None) for each in protocol.watch)
    return protocol._replace(roles=roles, watch=watch)


# Making them up


class Tape:
    """Turns bytes into choices. A byte 0 takes the first option, so that a failing protocol shrinks to a simple one.

    One draw of bytes, rather than many draws of small things, because Hypothesis makes five near copies of every
    example in which it sees parts of one kind.
    """

    LENGTH = 512

    def __init__(self, content: bytes) -> None:
        self._rest = iter(content)

    def pick(self, options: Sequence[T]) -> T:
        return options[next(self._rest, 0) % len(options)]

    def one_in(self, count: int) -> bool:
        return next(self._rest, 0) % count == count - 1

    def several(self, least: int, most: int, make: Callable[[], T]) -> tuple[T, ...]:
        return tuple([make() for _ in range(self.pick(range(least, most + 1)))])

    # Parts of a protocol

    def term(self, *sources: Source) -> Term:
        return Term(self.pick(sources), self.pick((0, 1, 2)))

    def test(self, *sources: Source) -> Guard:
        compare = self.pick(OPERATORS)
        left = Term(self.pick(sources))
        other: Source = "x" if left.source == "y" else "y"
        return Guard(left, compare, Term("zero", self.pick((0, 1, 2))) if not self.one_in(4) else Term(other))

    def filter(self) -> Guard:
        """What a quorum says of each message: half of the time it depends on the process too."""
        left, compare = Term("n"), self.pick(OPERATORS)
        return Guard(left, compare, Term(self.pick(FIELDS)) if self.one_in(2) else Term("zero", self.pick((0, 1))))

    def test_in(self, count: int, *sources: Source) -> Guard | None:
        return self.test(*sources) if self.one_in(count) else None

    def put(self) -> Put:
        return Put(self.pick(FIELDS), self.term("zero", "x", "y", "n", "count", "chosen", "x", "y"))

    def send(self) -> Send:
        to: Receivers = self.pick(("next", "others", "all", "self", "back", "friend", "others", "all", "others"))
        n = self.term("zero", "zero", "x", "n", "chosen")
        return Send(to, self.pick(("Ask", "Ask", "Ask", "Tell", "Tell", "Shout")), n._replace(add=n.add % 2))

    def emit(self) -> Emit:
        return Emit(self.pick(("Done", "Done", "Noted")), self.term("zero", "x", "n", "chosen"))

    def choice(self) -> Pick:
        return Pick(self.pick(((0, 1), (1, 2), (0, 1, 2), (0, 1), (1, 1), (1,), ())))

    def body(self, silent: int) -> tuple[Action, ...]:
        """What a handler does; one in `silent` sends nothing."""
        actions: list[Action] = []
        if self.one_in(5):
            actions += [self.choice(), Put(self.pick(FIELDS), Term("chosen"))]
        actions.append(self.put())
        if self.one_in(5):
            actions.append(Befriend())
        if self.one_in(20):
            actions.append(Claim(self.test("x", "y", "n"), crude=self.one_in(3)))
        if not self.one_in(silent):
            actions.append(self.send())
        if self.one_in(6):
            actions.append(self.send())
        if self.one_in(3):
            actions.append(self.emit())
        if self.one_in(4):
            actions.append(self.put())
        return tuple(actions)

    def starting(self, x: int) -> Rule:
        """A rule that is enabled initially, and sends."""
        if self.one_in(3):
            guard = (
                Guard(Term("x"), "==", Term("zero", x)) if self.one_in(2) else Guard(Term("y"), "<", Term("zero", 1))
            )
            return Rule("step", when=guard, actions=self.body(12))
        return Rule("start", actions=self.body(12))

    def spontaneous(self) -> Rule:
        if self.one_in(2):
            return Rule("step", when=self.test("x", "y"), actions=self.body(2))
        return Rule("start", when=self.test_in(3, "x", "y"), actions=self.body(2))

    def consuming(self, message: str) -> Rule:
        kind: Kind = self.pick(
            ("on", "on", "on", "on", "on", "exact", "exact", "each", "each", "minimal", "minimal", "maximal", "maximal")
        )
        keep = self.one_in(8)
        actions = self.body(2)
        if kind == "on":
            return Rule(kind, message, self.test_in(3, "n", "x", "y"), keep=keep, actions=actions)
        return Rule(
            kind,
            message,
            when=self.test_in(4, "x", "y"),
            where=self.filter() if self.one_in(3) else None,
            same=message != "Crash" and self.one_in(4),
            keep=keep,
            size=self.pick((1, 2, 2, 3)),
            by_field=self.one_in(4),
            actions=actions,
        )

    def role(self, count: int, first: bool, crashes: int) -> Role:
        x = self.pick((0, 1, 2))
        rules = [self.starting(x)] if first or not self.one_in(3) else []
        rules += [self.consuming(message) for message in ("Ask", "Ask", "Tell") if not self.one_in(4)]
        if self.one_in(3):
            rules.append(self.consuming("Shout"))
        if crashes and self.one_in(3):
            rules.append(self.consuming("Crash"))
        if self.one_in(3):
            rules.append(self.spontaneous())
        within = self.pick((1, 2)) if self.one_in(4) else None
        durable = self.pick((("fuel",), ("fuel", "x"), ("fuel", "friend", "y"), ("fuel",)))
        return Role(count, x, tuple(rules), within, durable)

    def network(self) -> Network:
        kind: Literal["set", "multiset", "fifo"] = self.pick(("set", "set", "multiset", "fifo", "fifo"))
        capacity = self.pick((None, None, 1, 2))
        may_replace = capacity is not None and (kind == "fifo" or capacity == 1)
        full: Literal["block", "replace"] = "replace" if may_replace and self.one_in(2) else "block"
        budgets: tuple[Budget, ...] = (0, 0, 0, 1, 1, 2)
        losses = self.pick((*budgets, "any"))
        duplicates = self.pick(budgets if kind == "fifo" else (*budgets, "any"))
        head: Literal["block", "skip", "drop"] = self.pick(("block", "skip", "drop")) if kind == "fifo" else "block"
        return Network(kind, capacity, full, losses, duplicates, head)

    def look(self, answers: tuple[bool, ...], depth: int = 0) -> Look | bool:
        if depth > 0 and self.pick((1, 2, 3)) <= depth:
            return self.pick(answers)
        field: Literal["x", "y", "crashed"] = self.pick(("x", "y", "x", "y", "x", "y", "crashed"))
        where, value = self.pick(range(5)), self.pick((0, 1, 2))
        return Look(where, field, value, self.look(answers, depth + 1), self.look(answers, depth + 1))

    def reaction(self) -> Reaction:
        event = self.pick(("Done", "Done", "Noted"))
        return Reaction(event, self.test_in(2, "n", "x"), self.several(1, 2, self.put), self.test_in(3, "x", "y", "n"))

    def protocol(self) -> Protocol:
        network = self.network()
        bounded = network.capacity is not None or (network.kind == "set" and network.duplicates in (0, "any"))
        crashes = self.pick((0, 0, 0, 1, 1, 2))
        counts = self.pick(((2,), (2, 1), (2, 1), (1, 2), (1, 2), (3,), (3,)))
        return Protocol(
            network=network,
            modulus=self.pick((2, 2, 3)),
            fuel=self.pick((-1, -1, 3) if bounded else (2, 3, 1)),
            roles=tuple([self.role(count, number == 0, crashes) for number, count in enumerate(counts)]),
            watch=self.several(1, 2, self.reaction) if self.one_in(2) else None,
            starts=self.pick(((0, 1), (1, 2))) if self.one_in(4) else (),
            crashes=crashes,
            crash_first_role_only=self.one_in(2),
            cut_short=self.one_in(2),
            recover=self.one_in(3),
            invariants=self.several(1, 2, lambda: self.look((True, True, True, False))),
            cans=self.several(0, 2, lambda: self.look((False, False, True))),
            final=self.look((True, False)) if self.one_in(2) else None,
        )


def protocols() -> st.SearchStrategy[Protocol]:
    tapes = st.binary(min_size=Tape.LENGTH, max_size=Tape.LENGTH)
    return tapes.map(lambda tape: Tape(tape).protocol())
