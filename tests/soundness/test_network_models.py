"""RM, GRM and M: the same observations, the same verdicts, and where that ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agreement import agree
from byzantine_models import Payment, Voter, Voting
from observations import difference
from quorate import (
    Message,
    ModelError,
    Pid,
    Process,
    System,
    check,
    fifo,
    invariant,
    multiset,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.base.errors import QuorateError
from quorate.cli.main import app
from quorate.language.network import Network
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.options import NetworkModel
from quorate.protocols.paxos import Paxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps
from small_instances import SMALL, small

# Four replicas of which three say all there is to say have too many deliveries for a comparison of runs. Bounded
# channels are refused: see below.
NAMES = [name for name in SMALL if name != "pbft" and not define(small(name)).network.bounded]
DELIVERING: tuple[NetworkModel, ...] = ("grm", "rm")


def reads(name: str) -> bool:
    """Whether a transition reads without consuming, which clean channels have no meaning for: see below."""
    definition = define(small(name))
    return any(each.keep for column in definition.processes for each in definition.transitions(column))


PAIRS = [(name, model) for name in NAMES for model in DELIVERING if model == "grm" or not reads(name)]


def delivering(system: System, model: NetworkModel) -> Definition:
    return define(system, Environment(network_model=model))


@pytest.mark.parametrize(("name", "model"), PAIRS)
def test_the_models_show_the_same(name: str, model: NetworkModel) -> None:
    """Theorem 1: stuttering equivalence."""
    system = small(name)
    assert difference(define(system), delivering(system, model)) == ((), ())


@pytest.mark.parametrize(("name", "model"), PAIRS)
def test_the_models_give_the_same_verdicts(name: str, model: NetworkModel) -> None:
    system = small(name)
    for each in define(system).properties:
        verdict = check(system, property=each.name).verdict
        assert check(system, property=each.name, network_model=model).verdict == verdict


@pytest.mark.parametrize(("name", "model"), PAIRS)
def test_the_search_agrees_with_the_reference(name: str, model: NetworkModel) -> None:
    agree(small(name), network_model=model)


def test_single_buffers_have_the_fewest_states() -> None:
    for symmetry, fewest, most in (("none", 100, 1156), ("auto", 68, 628)):
        found = {
            model: check(Paxos(acceptors=2), network_model=model, symmetry=symmetry).states
            for model in ("m", "grm", "rm")
        }
        assert found == {"m": fewest, "grm": most, "rm": most}


# Networks


class Word(Message):
    n: int


class Writer(Process):
    to: Pid
    words: tuple[int, ...]
    written: int = 0

    @step(when=lambda self: self.written < len(self.words))
    def write(self) -> None:
        self.send(self.to, Word(self.words[self.written]))
        self.written += 1


class Reader(Process):
    """Takes even words first, and at most three."""

    read: tuple[int, ...] = ()

    @on(Word, when=lambda self, m: len(self.read) < 3 and (m.n % 2 == 0 or 2 in self.read))
    def take(self, m: Word) -> None:
        self.read = (*self.read, m.n)


def dictation(network: Network, *words: int) -> System:
    wanted = network

    class Dictation(System):
        network = wanted

        def build(self) -> None:
            self.spawn(Writer, to=self.spawn(Reader), words=words)

    return Dictation()


@pytest.mark.parametrize(
    "network",
    [
        unordered(),
        unordered(losses=1),
        unordered(losses="any"),
        unordered(duplicates=1),
        multiset(losses=1, duplicates=1),
        fifo(),
        fifo(losses=1),
    ],
    ids=str,
)
@pytest.mark.parametrize("model", DELIVERING)
def test_networks(network: Network, model: NetworkModel) -> None:
    system = dictation(network, 2, 1, 4)
    assert difference(define(system), delivering(system, model)) == ((), ())
    agree(system, network_model=model)
    agree(system, network_model=model, crashes=1)


@pytest.mark.parametrize("network", [unordered(duplicates="any"), fifo(head="skip"), fifo(head="drop")], ids=str)
def test_networks_for_which_only_unclean_channels_are_defined(network: Network) -> None:
    system = dictation(network, 1, 2, 4)
    assert difference(define(system), delivering(system, "grm")) == ((), ())
    agree(system, network_model="grm")
    with pytest.raises(QuorateError, match="network_model='rm' with") as caught:
        check(system, network_model="rm")
    assert caught.value.code == "Q602"


@pytest.mark.parametrize("model", DELIVERING)
def test_bounded_channels_are_refused(model: NetworkModel) -> None:
    with pytest.raises(QuorateError, match="with bounded channels") as caught:
        check(dictation(fifo(capacity=1), 1), network_model=model)
    assert caught.value.code == "Q602"


def test_lemma_2_needs_that_nothing_is_sent_again_while_it_is_pending() -> None:
    """In a set, a second copy of a pending message is no message. With two buffers one copy may be in each."""
    twice = dictation(unordered(), 2, 2)
    more, nothing = difference(delivering(twice, "grm"), define(twice))
    assert nothing == ()
    last: Any = more[-1]
    assert last[0] == ("reader1", ((2, 2),))
    assert [shown[1][1][2] for shown in more] == [0, 1, 2, 2, 2]  # type: ignore[index]
    # The second was written before the first was read: in a single set they are one.
    again = dictation(multiset(), 2, 2)
    assert difference(delivering(again, "grm"), define(again)) == ((), ())
    assert difference(delivering(again, "rm"), define(again)) == ((), ())


# What clean channels mean


class Fussy(Process):
    """Wants one word; an unwanted one blocks it, if channels are clean."""

    got: int = 0
    idle: bool = False

    @on(Word, when=lambda self, m: m.n == 1)
    def take(self, m: Word) -> None:
        self.got = m.n

    @start
    def rest(self) -> None:
        self.idle = True


class Fuss(System):
    def build(self) -> None:
        fussy = self.spawn(Fussy)
        self.spawn(Writer, to=fussy, words=(1, 2))

    @invariant
    def nothing(self) -> bool:
        return True


def follow(definition: Definition, *names: str) -> State:
    (state,) = initial_states(definition)
    for name in names:
        taken = next(each for each in steps(definition, state) if each.transition and each.transition.name == name)
        assert taken.next is not None
        state = taken.next
    return state


def possible(definition: Definition, state: State) -> set[str]:
    return {each.transition.name for each in steps(definition, state) if each.transition is not None}


def test_a_transition_consumes_all_that_was_delivered_or_is_not_enabled() -> None:
    rm, grm = delivering(Fuss(), "rm"), delivering(Fuss(), "grm")
    for definition in (rm, grm):
        assert possible(definition, follow(definition, "write")) == {"rest", "write", "delivers"}
    assert possible(rm, follow(rm, "write", "delivers")) == {"take", "write"}
    assert possible(grm, follow(grm, "write", "delivers")) == {"take", "write", "rest"}
    full = ("write", "delivers", "write", "delivers")
    assert possible(rm, follow(rm, *full)) == set()
    assert possible(grm, follow(grm, *full)) == {"take", "rest"}


def test_dead_messages_block_and_so_they_are_kept() -> None:
    result = check(Fuss(), network_model="rm")
    assert result.reductions["dead-messages"]["ran"] is False
    assert "clean channels" in result.reductions["dead-messages"]["why"]
    assert check(Fuss(), network_model="grm").reductions["dead-messages"]["ran"] is True


def test_reading_without_consuming_is_refused() -> None:
    class Peek(Process):
        @on(Word, keep=True)
        def look(self, m: Word) -> None: ...

    class Peeking(System):
        def build(self) -> None:
            self.spawn(Writer, to=self.spawn(Peek), words=(1,))

    check(Peeking(), network_model="grm")
    with pytest.raises(ModelError, match=r"Peek\.look reads without consuming") as caught:
        check(Peeking(), network_model="rm")
    assert caught.value.code == "Q602"


def test_the_result_warns_where_the_models_may_differ() -> None:
    class All(Process):
        got: int = 0

        @quorum(Word, enough=lambda self, ms: True, sets="maximal")
        def take(self, ms: frozenset[Word]) -> None:
            self.got = len(ms)

    class Greed(System):
        def build(self) -> None:
            target = self.spawn(All)
            self.spawn(Writer, 2, to=target, words=(1,))

    assert "All.take takes maximal sets of what was delivered" in str(check(Greed(), network_model="grm"))
    agree(Greed(), network_model="grm")
    agree(Greed(), network_model="rm")
    assert difference(delivering(Greed(), "grm"), define(Greed()))[0] != ()
    assert "is stuck" in str(check(TwoPhaseCommit(), network_model="rm"))
    assert "warning" not in str(check(TwoPhaseCommit(), network_model="grm"))


# With attackers


def the_honest(definition: Definition, state: State) -> object:
    return tuple(tuple(state.locals[column.index]) for column in definition.columns if column.cls is Voter)


@pytest.mark.parametrize("model", DELIVERING)
def test_attackers(model: NetworkModel) -> None:
    system = Voting(voters=2, byzantine=1, quorum=2)
    assert difference(define(system), delivering(system, model), the_honest) == ((), ())
    agree(system, network_model=model)
    assert check(Payment(), network_model=model).property == "nothing_is_paid"
    agree(Payment(), network_model=model)


# How it is shown


def test_deliveries_in_a_run(tmp_path: Path) -> None:
    file = str(tmp_path / "run.json")
    options = ["faulty-paxos", "-p", "acceptors=2", "-p", "majority=1", "--network-model", "GRM", "--save", file]
    done = CliRunner().invoke(app, ["check", *options])
    assert done.exit_code == 1
    assert "network    delivers  Prepare(ballot=1) from proposer1 to acceptor1" in done.stdout
    assert "grm: messages are delivered by steps of their own" in done.stdout
    document = json.loads(Path(file).read_text())
    assert document["environment"] == {"network_model": "grm"}
    assert set(document["trace"]["initial"]["processes"]) == {
        "learner1",
        "acceptor1",
        "acceptor2",
        "proposer1",
        "proposer2",
    }
    delivery = next(each for each in document["trace"]["steps"] if each["kind"] == "deliver")
    assert delivery["process"].startswith("acceptor")
    assert [each["to"] for each in delivery["in_flight"] if "delivered" in each] == [delivery["process"]]
    done = CliRunner().invoke(app, ["replay", file])
    assert done.exit_code == 1
    assert "still violates agreement" in " ".join(done.stdout.split())


def test_a_model_that_is_none() -> None:
    with pytest.raises(QuorateError, match="network_model='mr' is not a valid choice") as caught:
        check(Fuss(), network_model="mr")  # type: ignore[arg-type]
    assert caught.value.code == "Q601"


def test_partial_order_reduction_is_left_out_with_the_reason() -> None:
    result = check(Fuss(), network_model="grm", por="lpor")
    assert result.reductions["por"]["ran"] is False
    assert "delivery events" in result.reductions["por"]["why"]
