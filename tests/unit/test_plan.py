"""`quorate plan`: what is known before any search, as text and as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import quorate
from quorate import Message, Peers, Process, System, invariant, on, start
from quorate.cli.main import app
from quorate.options import Options
from quorate.protocols import CATALOGUE
from quorate.protocols.paxos import Paxos
from quorate.search.plan import plan
from test_liveness import Locking

LIVELY = Path(__file__).parents[1] / "unit" / "test_liveness.py"


def ran(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["plan", *arguments])
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran(*arguments, "--json"))
    return found


def test_the_text() -> None:
    assert ran("paxos", "-p", "acceptors=5").splitlines()[:12] == [
        "Paxos(proposers=2, acceptors=5, learners=1, ballots=1) before any search",
        "  The network is unordered().",
        "",
        "Transitions",
        "  Learner.learn     quorum: consumes 3 Accepted from acceptor1..5; enabled in 4",
        "                    local states",
        "  Acceptor.promise  single: consumes Prepare from proposer1, proposer2; replies",
        "                    Promise to proposer1, proposer2; enabled in 15 local states",
        "  Acceptor.accept   single: consumes Accept from proposer1, proposer2; sends",
        "                    Accepted to learner1; enabled in 35 local states",
        "  Proposer.prepare  by itself: sends Prepare to acceptor1..5; enabled in 2 local",
        "                    states",
    ]


def test_the_json() -> None:
    found = document("paxos")
    assert (found["schema"], found["system"], found["target"], found["closed"]) == (1, "Paxos", "paxos", True)
    assert found["processes"]["acceptor1"] == {"local_states": 7, "merged": 4, "messages": 5, "dead": 14}
    assert found["processes"]["proposer1"] == {"local_states": 3, "merged": 3, "messages": 3, "dead": 3}
    assert {(one["from"], one["to"], one["kind"]) for one in found["enabling"]} == {
        ("Proposer.prepare", "Acceptor.promise", "message"),
        ("Acceptor.promise", "Proposer.propose", "message"),
        ("Proposer.prepare", "Proposer.propose", "local"),
        ("Proposer.propose", "Acceptor.accept", "message"),
        ("Acceptor.accept", "Learner.learn", "message"),
    }
    assert [one["name"] for one in found["transitions"] if one["reply"]] == ["Acceptor.promise"]
    assert found["properties"]["agreement"] == ["learner1.learned"]


@pytest.mark.parametrize(("colocated", "symmetry"), [(False, "auto"), (True, "auto"), (True, "naive")])
def test_the_figures_are_those_of_the_check(colocated: bool, symmetry: Any) -> None:
    """The quotient of Paxos does not depend on what is read later, so plan and check agree to the digit."""
    result = quorate.check(Paxos(colocated=colocated), por="lpor-net", symmetry=symmetry)
    searched = ("stands_for", "gain", "efficiency")
    known = {
        name: {key: value for key, value in figures.items() if key not in searched}
        for name, figures in result.reductions.items()
    }
    assert ("decomposed" in known["symmetry"]) == (colocated and symmetry == "auto")
    assert plan(Paxos(colocated=colocated), Options(por="lpor-net", symmetry=symmetry)).reductions == known


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_bundled_protocol_has_a_plan(name: str) -> None:
    found = document(name)
    process_classes = {one["name"].split(".")[0] for one in found["transitions"]}
    assert process_classes
    assert found["closed"] == found["reductions"]["closure"]["ran"]
    for why in (figures["why"] for figures in found["reductions"].values()):
        assert why


def test_a_reduction_that_is_switched_off_is_said_to_be() -> None:
    found = document("paxos", "--quotient", "off", "--dead-messages", "off")
    assert found["reductions"]["quotient"] == {"ran": False, "why": "switched off"}
    assert found["processes"]["acceptor1"] == {"local_states": 7, "merged": None, "messages": 5, "dead": None}
    assert found["enabling"] == document("paxos")["enabling"]


def test_a_closure_that_does_not_end_is_said_to() -> None:
    text = ran("gossip")
    assert "The closure did not end, so this is only what is declared." in text
    assert "A check that is not over soon takes from its searches" in text
    assert "never enabled" not in text
    found = document("gossip")
    assert (found["closed"], found["processes"], found["enabling"]) == (False, {}, [])
    assert found["transitions"][1]["consumes"] == {"Rumour": []}


def test_what_is_never_enabled_is_pointed_out() -> None:
    assert "  Replica.propose       once, by itself: never enabled" in ran("pbft")


def test_wrong_requests_are_errors_of_the_usual_kind() -> None:
    done = CliRunner().invoke(app, ["plan", "paxos", "-p", "acceptor=3"])
    assert done.exit_code == 2
    assert "did you mean" in done.stderr


def test_symmetry_classes_are_told_whether_symmetry_is_used_or_not() -> None:
    acceptors = {"class": "Acceptor", "members": ["acceptor1", "acceptor2", "acceptor3"], "why_not": None}
    assert document("paxos")["symmetry_classes"] == [acceptors]
    assert document("paxos", "--symmetry", "none")["symmetry_classes"] == [acceptors]
    assert "Symmetry classes\n  Acceptor  acceptor1..3\n" in ran("paxos")


class Hello(Message): ...


class Follower(Process):
    greeted: bool = False

    @on(Hello)
    def hear(self, m: Hello) -> None:
        self.greeted = True


class Leader(Process):
    followers: Peers

    @start
    def greet(self) -> None:
        self.send(min(self.followers, key=str), Hello())


class Favourite(System):
    """The followers look alike, but one of them is always greeted first."""

    def build(self) -> None:
        self.spawn(Leader, followers=self.spawn(Follower, 2))

    @invariant
    def fine(self) -> bool:
        return True


def test_a_family_that_is_none_says_where() -> None:
    (family,) = plan(Favourite(), Options()).symmetry_classes
    assert family["members"] == ["follower1", "follower2"]
    assert "when follower1 and follower2 are exchanged" in family["why_not"]


# Temporal properties


def test_temporal_properties_have_a_search_of_their_own() -> None:
    text = ran(f"{LIVELY}:Locking", "--por", "lpor-net")
    assert text[text.index("Temporal properties") :].splitlines() == [
        "Temporal properties",
        "  served[client1]  G(waiting -> F inside); an automaton of 2 states; reads state",
        "                   (client1)",
        "  served[client2]  G(waiting -> F inside); an automaton of 2 states; reads state",
        "                   (client2)",
        "  released         G(held -> F !held); an automaton of 2 states; reads held",
        "                   (lock1)",
        "  can_be_free      AG EF !held; by labelling states; reads held (lock1)",
        "  Assuming: every step that stays possible is taken (weak fairness), but",
        "    Client.ask need not be.",
        "",
        "Reductions for temporal properties",
        "  closure        8 local states, 6 messages, 26 behaviours: bounds what any run",
        "                 can meet",
        "  quotient       8 of 8 local states, factor 1.0: merges local states that",
        "                 nothing can tell apart",
        "  dead messages  0 of 14 dead, factor 1.0: drops messages that are never",
        "                 consumed any more",
        "  left out       por: which steps stay possible depends on the order of others;",
        "                 it keeps fairness up to process",
        "                 symmetry: it does not keep who is treated fairly: it keeps",
        "                 --fairness none and progress",
        "                 split: switched off",
    ]


@pytest.mark.parametrize("level", ["none", "process", "message", "strong"])
def test_the_plan_of_temporal_properties_is_what_the_check_does(level: str) -> None:
    system = Locking(clients=3)
    options: dict[str, Any] = {"ltl": "G F held", "fairness": level, "por": "lpor-net"}
    found = plan(system, Options.of({**options, "ltl": ("G F held",)}))
    result = quorate.check(system, **options)
    assert found.temporal is not None
    gained = {"stands_for", "gain", "efficiency"}  # what only the search knows
    told = result.reductions["symmetry"]
    assert (gained <= told.keys()) == (level == "none")
    without = {name: value for name, value in told.items() if name not in gained}
    assert found.temporal.reductions == found.reductions == {**result.reductions, "symmetry": without}
    assert result.fairness is not None
    assert (found.temporal.level, found.temporal.assuming) == (level, result.fairness["assuming"])


def test_the_plan_says_that_a_search_decides_no_temporal_property() -> None:
    told = "a bitstate search stores no graph, and without one nothing can be said about whole runs"
    assert document(f"{LIVELY}:Locking", "--store", "bitstate")["temporal"]["undecided"] == told
    assert document(f"{LIVELY}:Locking")["temporal"]["undecided"] == ""
    assert document("paxos", "--property", "agreement")["temporal"] is None


def test_formulas_from_the_command_line_are_planned() -> None:
    found = document(f"{LIVELY}:Locking", "--ltl", "F held", "--ctl", "AG EF held", "--fairness", "strong")
    assert found["temporal"]["properties"] == {
        "F held": {"formula": "F held", "reads": ["lock1.held"], "automaton_states": 1},
        "AG EF held": {"formula": "AG EF held", "reads": ["lock1.held"], "automaton_states": None},
    }
    assert found["temporal"]["fairness"]["level"] == "strong"
    why = "it does not keep who is treated fairly: it keeps --fairness none and progress"
    assert found["reductions"]["symmetry"] == {"ran": False, "why": why}
    done = CliRunner().invoke(app, ["plan", f"{LIVELY}:Locking", "--ltl", "F hold"])
    assert done.exit_code == 2
    assert "held" in done.stderr


def test_an_estimate_counts_what_a_check_would_visit() -> None:
    """Raft has 593,016 states, and 3,083 once its closure is known: more than what is searched for an estimate."""
    told = CliRunner().invoke(app, ["plan", "raft", "--estimate", "--json"])
    assert json.loads(told.stdout)["estimate"] == {"likely": 3083, "low": 3083, "high": 3083}


def test_a_plan_takes_every_option_of_a_check(tmp_path: Path) -> None:
    about_the_run = [
        "--trace",
        "text",
        "--shorten",
        "--regroup",
        "off",
        "--fail-under",
        "50",
        "--checkpoint",
        "saved",
        "--checkpoint-every",
        "10",
    ]
    for name in ("--chart", "--report", "--save", "--export", "--pytest"):
        about_the_run += [name, str(tmp_path / "never-written")]
    done = CliRunner().invoke(app, ["plan", "paxos", "--json", *about_the_run])
    assert done.exit_code == 0, done.output
    assert not list(tmp_path.iterdir())
    assert json.loads(done.output)["reductions"]["quotient"]["ran"] is False  # lines are counted


def test_a_model_out_of_memory_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "greedy_model.py"
    path.write_text(
        "from quorate import Process, System, start\n\n\n"
        "class Greedy(Process):\n"
        "    @start\n"
        "    def take(self):\n"
        "        raise MemoryError\n\n\n"
        "class Taking(System):\n"
        "    def build(self):\n"
        "        self.spawn(Greedy)\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(app, ["plan", str(path)])
    assert done.exit_code == 3
    assert done.stderr == f"quorate: out of memory in Greedy.take, {path}:7\n"
