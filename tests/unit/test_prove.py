"""`quorate prove`: verdicts, lemmas, certificates, and what is said about them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from benchmarks.protocols.bakery import Bakery

from bad_models import call
from quorate import Message, Pending, Pid, Process, System, check, invariant, lemma, on, prove, start, step
from quorate.base.errors import ModelError, PropertyError, QuorateError
from quorate.model.define import define
from quorate.proofs.candidates import Generator
from quorate.proofs.encode import Encoded
from quorate.proofs.execution_plans import Planner
from quorate.proofs.induction import Prover
from quorate.proofs.propositions import lemma as as_claim
from quorate.proofs.prove import Proof
from quorate.proofs.refusal import RefusedError
from quorate.proofs.samples import Sampler
from quorate.proofs.solver import Deadline, Query, Translation
from quorate.protocols.chain_replication import ChainReplication
from quorate.protocols.fd_consensus import DetectorConsensus
from quorate.protocols.two_phase_commit import Ballot, Coordinator, Decision, Participant, Prepare, TwoPhaseCommit
from quorate.render.proofs import report as proof_report
from second_solver import answer


def test_two_phase_commit_is_proved_without_a_human_lemma(tmp_path: Path) -> None:
    proof = prove(TwoPhaseCommit(), timeout=120, certificate_folder=tmp_path)
    assert proof.verdict == "proved"
    assert proof.goals == ("agreement", "validity")
    assert {claim.origin for claim in proof.claims} == {"invariant", "found"}
    # Every question of the proof once more, by a solver that shares nothing with the first.
    questions = sorted(tmp_path.glob("*.smt2"))
    assert len(questions) > 30
    assert {answer(each) for each in questions} == {"unsat"}
    document = json.loads((tmp_path / "proof.json").read_text(encoding="utf-8"))
    assert {each["file"] for each in document["questions"]} == {each.name for each in questions}
    assert all(each["status"] == "proved" for each in document["graph"])


def test_a_certificate_says_nothing_if_its_hypotheses_are_left_out(tmp_path: Path) -> None:
    prove(TwoPhaseCommit(), timeout=120, certificate_folder=tmp_path)
    goal = next(path for path in sorted(tmp_path.glob("001-step*.smt2")))
    lines = goal.read_text(encoding="utf-8").splitlines()
    asserted = [number for number, line in enumerate(lines) if line.startswith("(assert")]
    kept = [line for number, line in enumerate(lines) if number not in asserted[:-2]]
    goal.write_text("\n".join(kept), encoding="utf-8")
    assert answer(goal) != "unsat"


def test_a_proof_leaves_nothing_that_an_attacker_could_say() -> None:
    """Proofs derive views from message classes; they are no messages of the protocol."""
    before = check(TwoPhaseCommit(participants=2), byzantine={"coordinator": 1})
    proof = prove(TwoPhaseCommit(), timeout=120)
    after = check(TwoPhaseCommit(participants=2), byzantine={"coordinator": 1})
    assert proof.verdict == "proved"
    assert (after.verdict, after.states) == (before.verdict, before.states)


def test_consensus_is_proved_for_all_proposals() -> None:
    system = DetectorConsensus(processes=2)
    proof = prove(system, timeout=200, property="agreement", any=["Participant.value"])
    assert proof.verdict == "proved"


def test_faulty_twins_are_refuted_with_a_run() -> None:
    from quorate.protocols.faulty_fd_consensus import FaultyDetectorConsensus

    proof = prove(FaultyDetectorConsensus(), timeout=60, property="agreement")
    assert proof.verdict == "refuted"
    assert proof.trace is not None
    assert proof.trace.start == "initial"
    assert len(proof.trace) > 3


def test_what_is_proved_holds_and_what_is_violated_is_not_proved() -> None:
    for crashes in (0, 1):
        system = TwoPhaseCommit(participants=2, crashes=crashes)
        assert check(system, property=["agreement", "validity"]).ok
        assert prove(system, timeout=60).verdict == "proved"


class Copying(TwoPhaseCommit):
    """A vote may be counted again and again: then agreement fails."""

    def build(self) -> None:
        from quorate import unordered

        super().build()
        self.network = unordered(duplicates="any")


def test_consuming_matters() -> None:
    assert prove(Copying(participants=2), timeout=60).verdict == "refuted"


def test_the_step_that_breaks_an_induction_is_taken_and_drawn(tmp_path: Path) -> None:
    proof = prove(TwoPhaseCommit(), timeout=60, discover=False)
    assert proof.verdict == "not proved"
    trace = proof.trace
    assert trace is not None
    assert trace.start == "any"
    assert len(trace) == 1
    assert "need not be reachable" in str(trace)
    from quorate.properties.evaluate import evaluate
    from quorate.render.chart.write import write

    definition = trace.definition
    prop = definition.property(trace.property)
    assert evaluate(definition, prop, trace.initial.locals).value
    assert not evaluate(definition, prop, trace.states[-1].locals).value
    write(trace, tmp_path / "step.svg")
    assert "<svg" in (tmp_path / "step.svg").read_text(encoding="utf-8")


# --- lemmas ----------------------------------------------------------------------------------------------------


class Numbered(Message):
    n: int


class Sender(Process):
    to: Pid
    n: int = 0

    @step(when=lambda self: True)
    def count(self) -> None:
        self.n += 2
        self.send(self.to, Numbered(self.n))


class Receiver(Process):
    last: int = 0

    @on(Numbered)
    def note(self, m: Numbered) -> None:
        self.last = m.n


class Even(System):
    """An even number arrives, whatever was sent before: infinitely many states, and no bound."""

    def build(self) -> None:
        self.spawn(Sender, to=self.spawn(Receiver))

    @invariant
    def even(self) -> bool:
        return all(r.last % 2 == 0 for r in self[Receiver])


class EvenWithLemmas(Even):
    @lemma
    def sends_even(self, m: Numbered) -> bool:
        return m.n % 2 == 0

    @lemma
    def counts_even(self, p: Sender) -> bool:
        return p.n % 2 == 0


class EvenWithFalseLemma(Even):
    @lemma
    def small(self, m: Pending[Numbered]) -> bool:
        return m.n < 10


class EvenWithFalseProcessLemma(Even):
    @lemma
    def small(self, p: Receiver, q: Sender) -> bool:
        return p.last <= q.n < 6


def test_infinitely_many_states_are_proved_with_lemmas_that_are_given() -> None:
    assert check(Even(), max_states=1000).verdict == "incomplete"
    assert prove(Even(), discover=False).verdict == "not proved"
    proof = prove(EvenWithLemmas(), discover=False)
    assert proof.verdict == "proved"
    graph = {claim.name: [each.name for each in proof.nodes[claim].rests_on] for claim in proof.claims}
    assert graph == {"even": ["sends_even"], "sends_even": ["counts_even"], "counts_even": []}


def test_a_lemma_that_a_run_breaks_is_told_before_a_solver_starts() -> None:
    with pytest.raises(PropertyError, match="the lemma small is false in a reachable state"):
        prove(EvenWithFalseLemma())


def test_check_tests_lemmas_about_processes_as_invariants() -> None:
    result = check(EvenWithFalseProcessLemma())
    assert result.verdict == "violated"
    assert result.property == "small"
    assert result.trace is not None
    assert len(result.trace) == 3


def test_a_lemma_without_types_is_refused() -> None:
    with pytest.raises(ModelError, match="the parameter `p` has no type"):

        @lemma
        def wrong(self: Any, p) -> bool:  # type: ignore[no-untyped-def]
            return True


def test_a_lemma_over_something_else_is_refused() -> None:
    class Wrong(Even):
        @lemma
        def about_numbers(self, n: int) -> bool:
            return True

    with pytest.raises(ModelError, match="neither a process nor a message"):
        prove(Wrong())


def test_found_lemmas_mean_what_they_say() -> None:
    """The Python that is printed, run by the same machinery, is the formula that was proved."""
    definition = define(TwoPhaseCommit(participants=2))
    encoded = Encoded(definition)
    samples = Sampler(definition, encoded.machine).states(200, Deadline(10))
    generator = Generator(encoded, samples, Deadline(60), literals=2)
    prover = Prover(encoded, Deadline(60))
    space = {
        "lemma": lemma, "Pending": Pending, "Participant": Participant, "Coordinator": Coordinator,
        "Ballot": Ballot, "Decision": Decision, "Prepare": Prepare,
    }  # fmt: skip
    candidates = list(generator.candidates())
    assert len(candidates) > 50
    from random import Random

    from quorate.proofs.solver import Query
    from quorate.proofs.terms import conjunction, negation

    for number, candidate in enumerate(Random(1).sample(candidates, 25)):
        claim = generator.claim(candidate, f"lemma_{number}")
        exec(claim.text, space)
        written = as_claim(encoded, claim.name, space[claim.name])
        # Neither can be true where the other is false. Messages range over what is sampled, states over all.
        for sample in samples[:40]:
            assert prover.holds(claim, sample.values, sample.channels) == prover.holds(
                written, sample.values, sample.channels
            )
        if not any(each.bound for each in (*claim.instances, *written.instances)):
            query = Query(encoded.translate)
            one, two = conjunction(claim.formulas), conjunction(written.formulas)
            wf = encoded.machine.well_formed()
            assert query.ask([wf, one, negation(two)]) == "unsat"
            assert query.ask([wf, two, negation(one)]) == "unsat"


def test_every_candidate_holds_in_every_sample() -> None:
    definition = define(DetectorConsensus(processes=2))
    encoded = Encoded(definition)
    samples = Sampler(definition, encoded.machine).states(150, Deadline(10))
    generator = Generator(encoded, samples, Deadline(60), literals=2)
    prover = Prover(encoded, Deadline(60))
    for number, candidate in enumerate(generator.candidates()):
        claim = generator.claim(candidate, f"lemma_{number}")
        if number % 7 == 0:
            assert all(prover.holds(claim, each.values, each.channels) for each in samples[:60]), claim.text


# --- greater k -------------------------------------------------------------------------------------------------


def test_the_bakery() -> None:
    proof = prove(Bakery(strengthened=True), k=3, discover=False)
    assert proof.verdict == "proved"
    (goal,) = proof.claims
    assert proof.nodes[goal].k == 3
    assert prove(Bakery(), k=6, discover=False).verdict == "not proved"
    assert prove(Bakery(), timeout=60).verdict == "proved"  # with lemmas that are found


def test_transitions_are_strengthened_by_what_the_step_before_leaves_true() -> None:
    proof = prove(Bakery(), k=10, discover=False, strengthen=True)
    assert proof.verdict == "proved"
    goal = proof.claims[0]
    assert (goal.name, proof.nodes[goal].k) == ("mutual_exclusion", 3)
    assert [(each.transition, each.after, each.condition, each.assertion) for each in proof.strengthened] == [
        ("Shop.first_enters", ("Shop.first_draws",), "p.first == Place.TRYING", "not (p.y1 == 0)"),
        ("Shop.second_enters", ("Shop.second_draws",), "p.second == Place.TRYING", "not (p.y2 == 0)"),
    ]
    assert all(proof.nodes[claim].status == "proved" for claim in proof.claims)
    assert {claim.origin for claim in proof.claims} == {"invariant", "derived"}
    text = "\n".join("".join(piece.text for piece in line) for line in proof_report(proof).lines)
    assert "only after Shop.first_draws" in text
    document = proof.to_json()
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/proof.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    assert [each["lemma"] for each in document["strengthened"]] == ["before_first_enters", "before_second_enters"]


def test_what_another_step_invalidates_strengthens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """That its ticket is the greater one holds right after it was drawn, and only until the other draws."""

    def assertions() -> set[str]:
        encoded = Encoded(define(Bakery()))
        planner = Planner(Prover(encoded, Deadline(60)), Generator(encoded, [], Deadline(60)))
        return {each.assertion for each in planner.found() if each.transition == "Shop.first_enters"}

    greater = "not (p.y1 <= p.y2)"
    assert greater not in assertions()
    monkeypatch.setattr(Planner, "_kept", lambda *_: True)
    assert greater in assertions()


# --- the command line ------------------------------------------------------------------------------------------


def test_exit_statuses_and_json() -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/proof.schema.json").read_text(encoding="utf-8"))
    status, out, _ = call("prove", "two-phase-commit", "-p", "participants=2", "--json")
    document = json.loads(out)
    jsonschema.validate(document, schema)
    assert status == 0
    assert document["verdict"] == "proved"
    assert {each["class"] for each in document["graph"]} <= {"goal", "D", "SM", "MF", "SV"}
    status, out, _ = call("prove", "two-phase-commit", "--given", "--json")
    assert (status, json.loads(out)["verdict"]) == (3, "not proved")
    jsonschema.validate(json.loads(out), schema)
    status, out, _ = call("prove", "faulty-fd-consensus", "--property", "agreement", "--json")
    assert (status, json.loads(out)["verdict"]) == (1, "refuted")
    assert json.loads(out)["trace"] is not None


def test_bad_requests() -> None:
    status, _, error = call("prove", "two-phase-commit", "--property", "agrement")
    assert status == 2
    assert "did you mean `agreement`?" in error
    status, _, error = call("prove", "two-phase-commit", "--any", "Participant.wiling")
    assert status == 2
    assert "did you mean `Participant.willing`?" in error
    status, _, error = call("prove", "lamport-mutex")
    assert status == 2
    assert "Q752" in error
    assert "queues have no encoding yet" in error


def test_pictures(tmp_path: Path) -> None:
    call("prove", "two-phase-commit", "-p", "participants=2", "--graph", str(tmp_path / "graph.svg"))
    drawn = (tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "agreement" in drawn
    status, out, _ = call("flows", "two-phase-commit", "--svg", str(tmp_path / "flows.svg"))
    assert status == 0
    assert "Coordinator.decide" in out
    assert "Decision → Participant" in out
    assert "Ballot" in (tmp_path / "flows.svg").read_text(encoding="utf-8")


def test_the_time_limit_is_kept() -> None:
    import time

    began = time.monotonic()
    proof = prove(DetectorConsensus(processes=3), timeout=1)
    assert time.monotonic() - began < 30
    assert proof.verdict in ("unknown", "not proved")
    assert proof.stopped == "time"


def test_the_time_limit_is_kept_while_handlers_are_encoded() -> None:
    began = time.monotonic()
    proof = prove(ChainReplication(), timeout=1)  # its actions take minutes to make
    assert time.monotonic() - began < 15
    assert (proof.verdict, proof.stopped, proof.actions) == ("unknown", "time", 0)
    assert proof.goals


@pytest.mark.parametrize("phase", ["encoding", "sampling states", "looking for lemmas", "agreement"])
def test_ctrl_c_is_answered_with_what_is_known(phase: str) -> None:
    done: list[str] = []

    def told(text: str) -> None:
        if text.startswith(phase) and not done:
            done.append(text)
            signal.raise_signal(signal.SIGINT)

    proof = prove(DetectorConsensus(), property="agreement", any=["Participant.value"], timeout=60, progress=told)
    assert proof.verdict in ("unknown", "not proved")
    assert proof.stopped == "interrupted"
    text = "\n".join("".join(piece.text for piece in line) for line in proof_report(proof).lines)
    assert "interrupted before" in text


class Cancelled:
    """A solver that uses up its time to the microsecond."""

    def set(self, _: str, milliseconds: int) -> None:
        self.seconds = milliseconds / 1000

    def check(self) -> str:
        ends = time.perf_counter() + self.seconds
        while time.perf_counter() < ends:
            pass
        return "unknown"

    def reason_unknown(self) -> str:
        return "canceled"

    def push(self) -> None: ...
    def pop(self) -> None: ...
    def model(self) -> None: ...


@pytest.mark.parametrize("seconds", [0.0004, 0.0019, 0.0039])
def test_a_solver_whose_time_is_up_was_not_interrupted(seconds: float) -> None:
    """It says "canceled" of both, and has whole milliseconds."""
    query = Query(Translation())
    query.solver = Cancelled()
    assert query.ask(seconds=seconds) == "unknown"


def test_integers_that_no_step_relates_are_not_compared() -> None:
    from benchmarks.protocols.unbounded_paxos import Proposer, UnboundedPaxos

    from quorate.proofs.kinds import Kinds
    from quorate.protocols.paxos import Accept, Acceptor

    encoded = Encoded(define(UnboundedPaxos()), free=["Proposer.value"])
    kinds = Kinds(encoded)
    terms = {
        (each.column.cls, term.args[0].partition(".")[2]): term
        for fields in encoded.machine.fields
        for each in fields
        for term in each.terms
    }
    ballot, value = kinds.of(terms[Proposer, "ballot"]), kinds.of(terms[Proposer, "value"])
    assert ballot == kinds.of(terms[Acceptor, "promised"]) == kinds.of_message(Accept, ".vote.ballot")
    assert value == kinds.of_message(Accept, ".vote.value") != ballot
    assert kinds.strides(ballot) == [2]
    assert kinds.strides(value) == []


def test_the_same_is_said_of_processes_whether_a_field_is_fixed_or_differs_between_initial_states() -> None:
    from quorate.proofs.lexicon import Lexicon
    from quorate.proofs.patterns import bindings, patterns
    from quorate.protocols.chang_roberts import ChangRoberts

    encoded = Encoded(define(ChangRoberts()))
    lexicon = Lexicon(encoded, [])
    for pattern in patterns(encoded):
        texts = {tuple(atom.text for atom in lexicon.atoms(bound)) for bound in bindings(encoded, pattern)}
        assert len(texts) <= 1


def test_the_lemmas_of_paxos_are_inductive_relative_to_each_other() -> None:
    """Unlimited ballots and all values: the heart of the proof, without the search for what it rests on."""
    from benchmarks.protocols.unbounded_paxos import ByHand

    from quorate.proofs.propositions import invariants
    from quorate.proofs.propositions import lemmas as given_lemmas

    encoded = Encoded(define(ByHand()), free=["Proposer.value"])
    prover = Prover(encoded, Deadline(120))
    given = {claim.name: claim for claim in given_lemmas(encoded)}
    (agreement,) = invariants(encoded, None)
    chosen = [given[name] for name in ("learned_was_chosen", "safe", "one_proposal_a_ballot", "votes_were_proposed")]
    assert prover.establish(agreement, [], chosen).status == "proved"
    assert prover.establish(agreement, [], [each for each in chosen if each.name != "safe"]).status != "proved"
    promises = ("promises_are_kept", "promises_tell_votes", "promises_tell_the_last", "proposals_were_promised")
    once = ("votes_were_proposed", "one_proposal_a_ballot", "nothing_proposed_while_waiting")
    rests_on = [given[name] for name in (*promises, *once)]
    node = prover.establish(given["safe"], [], rests_on)
    assert (node.status, node.queries) == ("proved", len(node.obligations))


def test_a_counterexample_to_induction_has_nothing_in_it_that_does_not_matter() -> None:
    proof = prove(TwoPhaseCommit(), property="agreement", discover=False)
    assert proof.verdict == "not proved"
    assert proof.trace is not None
    text = "\n".join("".join(piece.text for piece in line) for line in proof_report(proof).lines)
    text = " ".join(text.split())
    assert "before the step, in a state that need not be reachable:" in text
    assert "from nowhere" in text
    assert "everything else as it is initially" in text
    assert "willing" not in text.partition("1. participant1")[0]
    (step_,) = proof.trace.steps
    inboxes = [len(inbox) for inbox in proof.trace.initial.pending]
    assert sum(inboxes) == len(step_.consumed) == 1


def test_without_the_solver_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(QuorateError, match="needs the solver z3") as missing:
        prove(TwoPhaseCommit())
    assert "quorate[prove]" in missing.value.hint


def test_nothing_else_imports_the_solver() -> None:
    code = "import sys, quorate.cli.main, quorate.search.check; print('z3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_field_that_cannot_be_encoded_is_named_with_its_line() -> None:
    class Texts(Process):
        text: str = ""

        @start
        def say(self) -> None:
            self.text += "a"

    class Saying(System):
        def build(self) -> None:
            self.spawn(Texts)

        @invariant
        def short(self) -> bool:
            return True

    with pytest.raises(RefusedError, match="Texts.text is declared as str") as refused:
        prove(Saying())
    assert refused.value.location is not None
    assert refused.value.location.file == __file__


def test_a_proof_is_true_like_its_verdict() -> None:
    assert not Proof("x", {}, "unknown")
    assert Proof("x", {}, "proved")
