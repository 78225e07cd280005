"""Byzantine processes: strategies, exhaustive attackers, what they may send and what they may not."""

import json
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from typer.testing import CliRunner

from agreement import agree
from byzantine_models import (
    Bank,
    GullibleMulticast,
    Multicast,
    Order,
    Payment,
    Receipt,
    Value,
    Vote,
    Voter,
    Voting,
)
from observations import difference
from quorate import (
    Among,
    Map,
    Message,
    ModelError,
    Peers,
    Pid,
    Process,
    Signed,
    Sized,
    System,
    check,
    crashes,
    fifo,
    invariant,
    multiset,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.base.errors import LimitError, ParameterError
from quorate.cli.main import app
from quorate.language.domains import Domain, World
from quorate.language.network import Network
from quorate.language.signed import signed
from quorate.model.attacker import Attacker
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.model.target import load
from quorate.protocols import CATALOGUE
from quorate.semantics.state import State, in_flight, initial_states
from quorate.semantics.steps import steps
from support import here

MODELS = str(Path(__file__).parents[1] / "support" / "byzantine_models.py")

# Thresholds


@pytest.mark.parametrize(
    ("voters", "byzantine", "quorum", "holds"),
    [
        (3, 0, 2, True),
        (3, 1, 2, False),
        (3, 1, 3, True),
        (4, 1, 3, True),
        (4, 2, 3, False),
        (5, 1, 3, False),
        (5, 1, 4, True),
        (5, 2, 4, True),
        (5, 3, 4, False),
    ],
)
def test_votes_hold_up_to_the_threshold(voters: int, byzantine: int, quorum: int, holds: bool) -> None:
    assert (2 * quorum > voters + byzantine) == holds
    result = check(Voting(voters=voters, byzantine=byzantine, quorum=quorum), property="agreement")
    assert result.ok == holds


@pytest.mark.parametrize(
    ("receivers", "byzantine", "holds"), [(3, 0, True), (3, 1, True), (4, 1, True), (4, 2, False), (5, 2, True)]
)
def test_echoes_hold_up_to_the_threshold(receivers: int, byzantine: int, holds: bool) -> None:
    """Two sets of (2n+1)/3 receivers, rounded up, have an honest one in common unless a third is Byzantine."""
    result = check(Multicast(receivers=receivers, byzantine=byzantine), property="agreement")
    assert result.ok == holds


def test_an_attack_that_nobody_thought_of_is_found() -> None:
    """The initiator signs as well, though it is no receiver."""
    assert check(Multicast(receivers=4, byzantine=1)).ok
    result = check(GullibleMulticast(receivers=4, byzantine=1))
    assert result.property == "agreement"
    assert result.trace is not None
    assert any("signed by initiator1" in str(m) for taken in result.trace.steps for m in taken.consumed)


def test_attackers_share_what_they_hear() -> None:
    assert check(Payment(broker=False)).ok
    result = check(Payment())
    assert result.property == "nothing_is_paid"
    assert result.trace is not None
    taken = [(result.trace.definition.columns[one.column].name, one.transition) for one in result.trace.steps]
    assert [(name, str(transition)) for name, transition in taken] == [
        ("client1", "Client.ask"),
        ("broker1", "Byzantine.learn"),
        ("teller1", "Byzantine.learn"),
        ("bank1", "Bank.pay"),
    ]


@pytest.mark.parametrize(
    "system",
    [
        Voting(voters=3, byzantine=1, quorum=2),
        Voting(voters=3, byzantine=1, quorum=3),
        Voting(voters=4, byzantine=2),
        Multicast(receivers=2),
        Multicast(receivers=3, byzantine=1),
        Multicast(receivers=3, byzantine=2),
        Payment(),
        Payment(broker=False),
    ],
    ids=repr,
)
def test_the_search_agrees_with_the_reference(system: System) -> None:
    agree(system)


def test_the_search_agrees_with_the_reference_on_crashes_too() -> None:
    found = agree(Voting(voters=3, byzantine=1, quorum=2), crashes=1)
    definition = define(Voting(voters=3, byzantine=1, quorum=2), Environment(crashes=1))
    assert [column.name for column in definition.columns if column.may_crash] == ["voter1", "voter2"]
    assert found.violations == {"agreement": 4}


# Standing messages are what an attacker does who sends step by step


class Liar(Process, byzantine=True):
    """Sends one message to one voter, again and again."""

    to: Peers = Peers()

    @step(when=lambda self: True)
    def lie(self) -> None:
        self.send(self.choose(self.to), Vote(self.choose(Value)))


class Fickle(Process):
    """Votes, decides by two equal votes, and changes its mind when it hears more."""

    value: Value
    to: Peers = Peers()
    decided: Value | None = None
    heard: int = 0

    @start
    def vote(self) -> None:
        self.send(self.to, Vote(self.value))

    @quorum(Vote, size=2, same="value", when=lambda self: self.decided is None)
    def decide(self, votes: frozenset[Vote]) -> None:
        (self.decided,) = {vote.value for vote in votes}

    @on(Vote, when=lambda self, m: self.decided is not None and self.heard < 2)
    def hear(self, m: Vote) -> None:
        self.heard += 1
        if self.heard == 2:
            self.decided = m.value


class Single(Process):
    """Says two things, one after the other."""

    to: Peers
    said: int = 0

    @step(when=lambda self: self.said < 2)
    def say(self) -> None:
        self.said += 1
        self.send(self.to, Vote(Value.B))


def attacked(network: Network, exhaustive: bool) -> System:
    wanted = network

    class Attacked(System):
        network = wanted

        def build(self) -> None:
            victim = self.spawn(Fickle, value=Value.A)
            self.connect(victim, to=Peers([victim]))
            self.spawn(Single, to=Peers([victim]))
            liar = self.spawn(Liar, to=Peers([victim]))
            if exhaustive:
                self.corrupt(liar)

    return Attacked()


def the_honest(definition: Definition, state: State) -> object:
    return tuple(tuple(state.locals[column.index]) for column in definition.columns if column.cls in (Fickle, Single))


@pytest.mark.parametrize(
    "network",
    [
        unordered(),
        unordered(losses=1),
        unordered(duplicates=1),
        unordered(capacity=1),
        unordered(capacity=1, full="replace"),
        multiset(capacity=2, losses=1),
        fifo(capacity=1),
        fifo(capacity=2, head="skip"),
        fifo(capacity=1, head="drop"),
        fifo(capacity=2, full="replace"),
    ],
    ids=str,
)
def test_what_stands_could_have_been_sent_step_by_step(network: Network) -> None:
    exhaustive, literal = attacked(network, True), attacked(network, False)
    assert difference(define(exhaustive), define(literal), the_honest) == ((), ())
    agree(exhaustive)
    agree(exhaustive, crashes=1)


def test_it_costs_no_states() -> None:
    exhaustive, literal = check(attacked(unordered(), True)), check(attacked(unordered(), False))
    assert (exhaustive.states, literal.states) == (31, 109)


# Strategies


class Stubborn(Voter, byzantine=True):
    """Votes for everything."""

    @start
    def vote(self) -> None:
        for value in Value:
            self.send(self.peers, Vote(value))


class WithStrategy(Voting):
    def build(self) -> None:
        voters = [self.spawn(Voter, needed=2, value=Value.A), self.spawn(Voter, needed=2, value=Value.B)]
        voters.append(self.spawn(Stubborn, needed=2, value=Value.A))
        self.connect(voters, peers=Peers(voters))

    @invariant
    def two_are_honest(self) -> bool:
        return (len(self[Voter]), len(self[Stubborn]), len(self[Process])) == (2, 1, 2)


def test_a_strategy_is_a_subclass_that_properties_leave_out() -> None:
    assert check(WithStrategy(), property="two_are_honest").ok
    result = check(WithStrategy())
    assert result.property == "agreement"
    assert [str(pid) for pid in (column.pid for column in define(WithStrategy()).columns)][-1] == "stubborn1"


# What may be sent


class Kind(Enum):
    ONE = 1
    TWO = 2


class Pair(NamedTuple):
    kind: Kind
    flag: bool


class Inner(Message):
    flag: bool


class Sealed(Message):
    inner: Inner


FIRST, SECOND, EVIL = Pid(0, "first"), Pid(1, "second"), Pid(2, "evil")


class Instance(NamedTuple):
    voters: int = 3


def values(hint: Any, *known: Any) -> list[Any]:
    domain = Domain(World(Instance(), (FIRST, SECOND, EVIL), (EVIL,)))
    return [value for value, _ in domain._values(hint, frozenset(known), (), Inner, "flag")]


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (bool, [False, True]),
        (None, [None]),
        (Kind, [Kind.ONE, Kind.TWO]),
        (Literal[1, "x"], [1, "x"]),
        (Pid, [FIRST, SECOND, EVIL]),
        (bool | None, [False, True, None]),
        (Kind | Literal[7], [Kind.ONE, Kind.TWO, 7]),
        (Annotated[int, Among(3, 5)], [3, 5]),
        (Annotated[int, Among(lambda system: range(system.voters))], [0, 1, 2]),
        (Annotated[bool, "a note for someone else"], [False, True]),
        (tuple[bool, Literal[1]], [(False, 1), (True, 1)]),
        (Pair, [Pair(kind, flag) for kind in Kind for flag in (False, True)]),
        (frozenset[bool], [frozenset(), frozenset({False}), frozenset({True}), frozenset({False, True})]),
        (Annotated[frozenset[Pid], Sized(2)], [{FIRST, SECOND}, {FIRST, EVIL}, {SECOND, EVIL}]),
        (Annotated[Peers, Sized(lambda system: system.voters)], [frozenset({FIRST, SECOND, EVIL})]),
        (Signed[bool], [signed(False, EVIL), signed(True, EVIL)]),
    ],
)  # fmt: skip
def test_domains(hint: Any, expected: list[Any]) -> None:
    assert values(hint) == expected


def test_signed_values_are_its_own_or_those_it_was_shown() -> None:
    shown = signed(True, FIRST)
    assert values(Signed[bool], shown, signed(7, FIRST)) == [*values(Signed[bool]), shown]
    assert values(Signed[bool | None], signed(None, FIRST))[-1] == signed(None, FIRST)


def sent(definition: Definition, name: str) -> set[str]:
    """What stands in somebody's inbox from the beginning, with its sender."""
    (state, *_) = initial_states(definition)
    index = next(column.index for column in definition.columns if column.name == name)
    return {f"{message} from {message.sender}" for message in state.pending[index]}


def test_messages_that_are_handed_on_are_signed_by_their_sender() -> None:
    assert sent(define(Payment()), "bank1") == {
        f"Receipt(order=Order(pay={flag})) from {name}" for flag in (False, True) for name in ("broker1", "teller1")
    }
    (state,) = initial_states(define(Payment()))
    orders = [m.order for m in state.pending[3] if isinstance(m, Receipt)]
    assert {str(order.sender) for order in orders} == {"broker1", "teller1"}
    assert all(isinstance(order, Order) for order in orders)


def test_a_message_goes_to_everyone_who_takes_it_and_to_nobody_else() -> None:
    definition = define(Multicast(receivers=2))
    assert sent(definition, "initiator1") == set()
    assert {text for text in sent(definition, "receiver1") if "Init" in text} == {
        "Init(value=Value.A) from initiator1",
        "Init(value=Value.B) from initiator1",
    }
    assert not any("Echo" in text for text in sent(definition, "receiver1"))
    assert sent(definition, "receiver1") == sent(definition, "receiver2")


def test_standing_messages_are_not_in_flight() -> None:
    definition = define(Voting(voters=2, byzantine=1, quorum=2))
    (state,) = initial_states(definition)
    assert in_flight(definition, state) == []
    assert sent(definition, "voter1") == {"Vote(value=Value.A) from voter2", "Vote(value=Value.B) from voter2"}
    (vote,) = steps(definition, state)
    assert vote.next is not None
    assert [(column.name, str(message)) for column, message in in_flight(definition, vote.next)] == [
        ("voter1", "Vote(value=Value.B)"),
        ("voter2", "Vote(value=Value.B)"),
    ]


def test_subclasses_of_what_is_taken_are_sent_as_well() -> None:
    definition = define(OnlyShout())
    assert sent(definition, "listener1") == {"Say(loud=None) from listener2", "Shout(loud=None) from listener2"}


class Say(Message):
    loud: None


class Shout(Say): ...


class Listener(Process):
    @on(Say)
    def hear(self, m: Say) -> None: ...


class OnlyShout(System):
    def build(self) -> None:
        self.corrupt(self.spawn(Listener, 2), 1)


# What cannot be had


class Number(Message):
    number: int  # here: number


class Many(Message):
    members: Peers


class Deep(Message):
    deep: "Deep | None"


class Odd(Message):
    odd: Map[Pid, bool]


class Hashed(Message):
    digest: Annotated[bytes, Sized(2)]


class Wide(Message):
    one: Annotated[int, Among(lambda _: range(1000))]
    two: Annotated[int, Among(lambda _: range(1000))]


def taking(message: type[Message], processes: int = 2) -> System:
    class Taker(Process):
        @on(message)
        def take(self, m: Message) -> None: ...

    class Taking(System):
        def build(self) -> None:
            self.corrupt(self.spawn(Taker, processes), 1)

    return Taking()


@pytest.mark.parametrize(
    ("system", "message", "hint"),
    [
        (taking(Number), r"Number\.number: int has no finite domain", r"`number: Annotated\[int, Among\(0, 1\)\]`"),
        (taking(Many, 11), r"Many\.members: it may be any set of 11 elements", r"Annotated\[Peers, Sized\(3\)\]"),
        (taking(Deep), r"Deep: Deep holds messages of its own class", "Among"),
        (taking(Odd), r"Odd\.odd: .*Map\[.*\] has no finite domain", "Among"),
        (taking(Hashed), r"Hashed\.digest: Sized\(\.\.\.\) is about sets, not about bytes", "Among"),
    ],
    ids=lambda value: "" if isinstance(value, System) else value,
)
def test_a_field_without_a_finite_domain_is_named(system: System, message: str, hint: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        define(system)
    assert caught.value.code == "Q116"
    assert re.search(hint, caught.value.hint)
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    if "number" in message:
        assert tuple(caught.value.location) == here("number")


def test_too_many_messages_are_refused_with_the_sizes() -> None:
    with pytest.raises(LimitError, match=r"1,000,000 different Wide \(one: 1,000, two: 1,000\)") as caught:
        define(taking(Wide))
    assert caught.value.code == "Q503"


def test_maximal_sets_are_refused() -> None:
    class Greedy(Process):
        @quorum(Vote, enough=lambda self, ms: True, sets="maximal")
        def take(self, ms: frozenset[Vote]) -> None: ...

    class Greed(System):
        def build(self) -> None:
            self.corrupt(self.spawn(Greedy, 2), 1)

    with pytest.raises(ModelError, match=r"Greedy\.take takes maximal sets") as caught:
        define(Greed())
    assert caught.value.code == "Q117"
    assert "class Liar(Greedy, byzantine=True)" in caught.value.hint


def building(build: Callable[[System], None]) -> type[System]:
    return type("Built", (System,), {"build": build})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda self: self.corrupt(self.spawn(Listener, 2), 3), "from 0 to 2"),
        (lambda self: self.corrupt(self.spawn(Listener, 2), -1), "from 0 to 2"),
        (lambda self: self.corrupt([1]), "not the identity of a process"),
        (lambda self: self.corrupt(self.spawn(Listener, 2)), "all processes of Built are Byzantine"),
    ],
)
def test_corrupt_says_what_is_wrong(build: Callable[[System], None], message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        define(building(build)())
    assert caught.value.code == "Q109"


def test_nobody_signs_for_another() -> None:
    with pytest.raises(ModelError, match="only the signer itself can sign"):
        Signed(1, FIRST)

    class Scribe(Process):
        seen: Signed[int] | None = None

        @start
        def write(self) -> None:
            self.seen = self.sign(1)

    class Writing(System):
        def build(self) -> None:
            self.spawn(Scribe)

        @invariant
        def unsigned(self) -> bool:
            return self[Scribe][0].seen is None

    result = check(Writing())
    assert "scribe1.seen = 1 signed by scribe1" in str(result)
    assert result.trace is not None
    json.dumps(result.trace.to_json())


# From outside: a role by name


def test_a_role_is_replaced_by_name() -> None:
    plain = Voting(voters=3, byzantine=0, quorum=2)
    assert check(plain).ok
    for role in ("voter", "Voter"):
        assert check(plain, byzantine={role: 1}).property == "agreement"
    result = check(plain, byzantine={"VOTER": 1})
    assert result.to_json()["environment"] == {"byzantine": {"VOTER": 1}}
    assert "1 of the processes VOTER: may send anything" in str(result)
    definition = define(plain, Environment(byzantine={"voter": 1}))
    assert [column.cls for column in definition.columns] == [Voter, Voter, Attacker]
    assert check(plain, byzantine={"voter": 0}).states == check(plain).states


@pytest.mark.parametrize(
    ("roles", "message"), [({"vote": 1}, "no processes of the role `vote`"), ({"voter": 5}, "5 Byzantine of 4 Voter")]
)
def test_a_role_that_is_not_there(roles: dict[str, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        check(Voting(byzantine=0), byzantine=roles)
    assert caught.value.code == "Q207"


def command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stdout + done.stderr


def test_the_command_line(tmp_path: Path) -> None:
    target = f"{MODELS}:Voting"
    options = ("-p", "voters=3", "-p", "byzantine=0", "-p", "quorum=2")
    assert command("check", target, *options)[0] == 0
    file = str(tmp_path / "run.json")
    status, text = command("check", target, *options, "--byzantine", "voter=1", "--save", file)
    assert status == 1
    assert "voter3 is Byzantine: any message may come at any time" in text
    document = json.loads(Path(file).read_text())
    assert document["environment"] == {"byzantine": {"voter": 1}}
    assert document["trace"]["byzantine"] == ["voter3"]
    status, text = command("replay", file, "--trust")
    assert (status, "still violates agreement" in text) == (1, True)
    status, text = command("check", target, "--byzantine", "voter")
    assert (status, "error Q207" in text) == (2, True)
    status, text = command(
        "sweep", target, "-p", "voters=3..4", "-p", "byzantine=0", "--byzantine", "voter=1", "--property", "agreement"
    )
    assert (status, text.count("holds")) == (0, 2)


FINITE = {
    "echo-multicast",
    "pbft",
    "two-phase-commit",
    "two-phase-commit-recovery",
    "three-phase-commit",
    "token-ring",
    "lock",
    "dining-philosophers",
}
"""The bundled protocols whose messages are finite; the others have numbers in them."""
SHARED = {"racing-increment", "ticket-lock", "peterson", "bakery", "shared-philosophers"}
"""Those with shared cells: what an attacker would write there is not explored."""


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_role_of_every_protocol_can_be_corrupted_or_says_which_field_is_in_the_way(name: str) -> None:
    system = load(name)()
    for role in sorted({column.name.rstrip("0123456789") for column in define(system).processes}):
        if name in FINITE:
            result = check(system, byzantine={role: 1}, max_states=200, trace=False)
            assert result.to_json()["environment"] == {"byzantine": {role: 1}}
        elif name in SHARED:
            with pytest.raises(ModelError, match="Byzantine processes and shared cells") as caught:
                check(system, byzantine={role: 1})
            assert caught.value.code == "Q126"
        else:
            with pytest.raises(ModelError, match="int has no finite domain") as caught:
                check(system, byzantine={role: 1})
            assert caught.value.code == "Q116"
            assert "Among" in caught.value.hint


def test_crashed_and_byzantine_are_different_faults() -> None:
    class Both(Voting):
        faults = crashes(1, of=Voter)

    definition = define(Both(voters=3, byzantine=1, quorum=2))
    assert [column.may_crash for column in definition.columns] == [True, True, False]
    assert issubclass(definition.columns[2].cls, Attacker)
    assert not issubclass(Bank, Attacker)


class Ballot(Message):
    number: Literal[0, 1]


class Forged(Ballot):
    _of = "an attribute that nothing of ours may mistake for its own"


class Counter(Process):
    fooled: bool = False

    @on(Ballot)
    def count(self, m: Ballot) -> None:
        self.fooled = self.fooled or isinstance(m, Forged)


class Caster(Process):
    to: Pid

    @start
    def cast(self) -> None:
        self.send(self.to, Ballot(0))


class Counting(System):
    def build(self) -> None:
        self.spawn(Caster, to=self.spawn(Counter))

    @invariant
    def never_fooled(self) -> bool:
        return not any(counter.fooled for counter in self[Counter])


def test_no_attribute_of_a_message_hides_it_from_an_attacker() -> None:
    assert check(Counting(), byzantine={"caster": 1}).verdict == "violated"
