"""Presets of Paxos: a small instance for all larger ones, compared with those larger ones that can be checked."""

import json

import pytest
from typer.testing import CliRunner

from quorate import System, check
from quorate.base.errors import ParameterError
from quorate.cli.main import app
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.faulty_paxos_2 import FaultyPaxos2
from quorate.protocols.paxos import Paxos

INSTANCES = [(acceptors, majority) for acceptors in (1, 2, 3, 4) for majority in range(1, acceptors + 1)]


def is_safe(system: System) -> bool:
    return check(system, property="agreement", trace=False).ok


@pytest.mark.parametrize(("acceptors", "majority"), [each for each in INSTANCES if each[0] < 4])
def test_one_learner_stands_for_any_number(acceptors: int, majority: int) -> None:
    small = is_safe(Paxos.preset("any-learners", acceptors=acceptors, majority=majority))
    assert small == (2 * majority > acceptors)
    for learners in (2, 3) if acceptors < 3 else (2,):
        assert is_safe(Paxos(learners=learners, acceptors=acceptors, majority=majority)) == small


@pytest.mark.parametrize(("acceptors", "majority"), INSTANCES)
def test_two_proposers_stand_for_any_number(acceptors: int, majority: int) -> None:
    small = is_safe(Paxos.preset("any-proposers", acceptors=acceptors, majority=majority))
    assert small == (2 * majority > acceptors)
    for proposers in (3, 4) if acceptors < 3 else (3,):
        assert is_safe(Paxos(proposers=proposers, acceptors=acceptors, majority=majority)) == small


def test_one_proposer_would_not_do() -> None:
    """Two proposers are needed: one alone is always agreed with."""
    assert is_safe(Paxos(proposers=1, acceptors=2, majority=1))
    assert not is_safe(Paxos(proposers=2, acceptors=2, majority=1))


def test_the_theorem_is_about_paxos_and_not_about_its_variants() -> None:
    """An acceptor that reports its last vote instead of its highest is safe with two proposals, and not with three."""
    assert is_safe(FaultyPaxos2(proposers=2))
    assert not is_safe(FaultyPaxos2(proposers=3))
    for variant in (FaultyPaxos, FaultyPaxos2):
        with pytest.raises(ParameterError, match="has no preset `any-proposers`") as caught:
            variant.preset("any-proposers")
        assert "says nothing about variants" in caught.value.hint


def test_a_result_says_what_it_rests_on() -> None:
    result = check(Paxos.preset("any-learners", "any-proposers", acceptors=2))
    sizes = {"proposers": 2, "acceptors": 2, "learners": 1, "ballots": 1, "majority": None}
    assert {name: result.parameters[name] for name in sizes} == sizes
    assert len(result.warnings) == 2
    assert "stands for any number of learners, as far as agreement goes, by a theorem" in result.warnings[0]
    assert "which this check does not prove" in result.warnings[1]
    assert check(Paxos(acceptors=2)).warnings == ()


def test_presets_on_the_command_line() -> None:
    run = CliRunner()
    done = run.invoke(app, ["check", "paxos", "--preset", "any-proposers", "-p", "acceptors=2", "--json"])
    document = json.loads(done.stdout)
    assert (document["verdict"], document["parameters"]["proposers"]) == ("holds", 2)
    assert "any-proposers: proposers=2 stands for" in " ".join(run.invoke(app, ["list", "paxos"]).stdout.split())
    done = run.invoke(app, ["check", "paxos", "--preset", "any-proposer"])
    assert "error Q210" in done.stderr
    assert "did you mean `any-proposers`?" in done.stderr
    done = run.invoke(app, ["check", "paxos", "--preset", "any-proposers", "-p", "proposers=3"])
    assert "error Q210: the preset `any-proposers` means proposers=2" in done.stderr
