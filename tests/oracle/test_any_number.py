"""Any number of processes against instances: the same steps in plain states; invariants that hold in all of them."""

from typing import Any

import pytest
from benchmarks.protocols.any_paxos import AnyPaxos
from benchmarks.protocols.any_register import AnyRegister
from benchmarks.protocols.echo_broadcast import EchoBroadcast

from parametric_states import Instance
from quorate import System, check, prove
from quorate.proofs.parametric import FamilyProver
from quorate.proofs.parametric_claims import EncodedFamily, invariants, lemmas
from quorate.proofs.parametric_family import family
from quorate.proofs.parametric_models import Evaluation
from quorate.proofs.solver import Deadline
from quorate.protocols.paxos import Paxos
from quorate.protocols.regular_storage import RegularStorage
from quorate.protocols.two_phase_commit import TwoPhaseCommit

FAMILIES = {
    "two-phase commit": (TwoPhaseCommit(), "Participant", (1, 2, 3, 4)),
    "two-phase commit, crashes": (TwoPhaseCommit(crashes=1), "Participant", (1, 2, 3)),
    "echo broadcast": (EchoBroadcast(), "Receiver", (1, 2, 3)),
    "echo broadcast, crashes": (EchoBroadcast(crashes=1), "Receiver", (1, 2)),
    "register": (RegularStorage(), "Base", (1, 2, 3)),
    "Paxos": (Paxos(), "Acceptor", (1, 2, 3)),
    "Paxos, unlimited ballots": (AnyPaxos(), "Acceptor", (1, 2, 3)),
}
MOST = 70


def encoded_of(system: System, role: str) -> EncodedFamily:
    return EncodedFamily(family(system, [f"{role}=any"]))


@pytest.mark.parametrize("name", FAMILIES)
def test_steps_for_any_number_are_those_of_every_instance(name: str) -> None:
    """In both directions: no step is missing, and none is there that no instance takes."""
    system, role, numbers = FAMILIES[name]
    encoded = encoded_of(system, role)
    taken: set[str] = set()
    for number in numbers:
        instance = Instance(encoded, (number,))
        for state, structure in instance.reachable(MOST):
            assert instance.by_moves(structure) == instance.by_semantics(state)
        taken |= instance.taken
    # Every transition of the protocol was taken somewhere: nothing is proved of steps that cannot be.
    wanted = {move.name for move in encoded.steps if move.kind == "step"}
    assert wanted <= taken


@pytest.mark.parametrize("name", FAMILIES)
def test_every_step_can_be_taken(name: str) -> None:
    system, role, _ = FAMILIES[name]
    encoded = encoded_of(system, role)
    prover = FamilyProver(encoded, Deadline(60))
    assert {prover.satisfiable(move) for move in encoded.steps} == {"sat"}


def hold_everywhere(encoded: EncodedFamily, formulas: list[Any], numbers: tuple[int, ...], most: int) -> None:
    for number in numbers:
        instance = Instance(encoded, (number,))
        for _, structure in instance.reachable(most):
            run = Evaluation(structure)
            assert all(run(formula, {}) for formula in formulas)


def test_what_is_proved_for_any_number_holds_in_all_states_of_small_instances() -> None:
    system = TwoPhaseCommit()
    proof = prove(system, number=["Participant=any"], timeout=200)
    assert proof.verdict == "proved"
    assert {claim.origin for claim in proof.claims} == {"invariant", "found"}
    formulas = [formula for claim in proof.claims for formula in claim.formulas]
    hold_everywhere(encoded_of(system, "Participant"), formulas, (1, 2, 3, 4), 10_000)
    for number in (1, 2, 3, 4):
        assert check(TwoPhaseCommit(participants=number), property=["agreement", "validity"]).ok


def test_echo_broadcast_is_proved_with_a_lemma_about_quorums_that_was_found() -> None:
    proof = prove(EchoBroadcast(), number=["Receiver=any"], timeout=200)
    assert proof.verdict == "proved"
    assert any("majority(self[Receiver])" in claim.text for claim in proof.claims)
    assert proof.quorums
    formulas = [formula for claim in proof.claims for formula in claim.formulas]
    hold_everywhere(encoded_of(EchoBroadcast(), "Receiver"), formulas, (1, 2, 3), 150)
    for number in (1, 2, 3):
        assert check(EchoBroadcast(receivers=number), property="agreement").ok


@pytest.mark.parametrize(
    ("system", "role", "most"), [(AnyRegister(), "Base", 150), (AnyPaxos(), "Acceptor", 60)], ids=["register", "Paxos"]
)
def test_lemmas_that_people_write_hold_in_small_instances(system: System, role: str, most: int) -> None:
    encoded = encoded_of(system, role)
    formulas = [formula for claim in (*invariants(encoded, None), *lemmas(encoded)) for formula in claim.formulas]
    hold_everywhere(encoded, formulas, (1, 2, 3), most)
