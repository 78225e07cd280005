"""`--all`: as many bad states as other checkers count, where these are installed, and as was published.

Spin with `-c0` counts an error each time that an assertion fails. In a process that does nothing else it fails once in
each bad state. A state in which nothing can happen is an invalid end state once. Rumur counts an error for each step
into a bad state, and does not go on from there; but each state of which a `cover` is true it counts once. Both are
shown first on five states.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from benchmarks.peers import murphi_om, murphi_paxos, murphi_storage

from agreement import PLAIN
from quorate import Process, System, check, final, invariant, quorum, step
from quorate.protocols.om import OralMessages
from quorate.protocols.paxos import Accept, Acceptor, Learner, Paxos, Promise, Proposer, Vote
from quorate.protocols.peterson import At, Contender, Peterson
from quorate.protocols.racing_increment import RacingIncrement
from quorate.protocols.regular_storage import Reader, RegularStorage, Writer
from shared_statements import Contender as Statement
from shared_statements import Statements
from spin_models import Philosophers

ROOT = Path(__file__).parents[1]
PETERSON = (ROOT / "peers" / "peterson.m").read_text()


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [each for each in programs if shutil.which(each) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


def run(place: Path, *command: str) -> str:
    return subprocess.run(command, cwd=place, check=True, capture_output=True, text=True).stdout


def rumur(text: str, place: Path) -> tuple[dict[str, int], int]:
    """In how many states each invariant is false; and how many states there are."""
    covers = re.sub(r'invariant ("[^"]*")\s*([^;]*);', r"cover \1 !(\2);", text)
    assert covers != text
    (place / "model.m").write_text(covers)
    off = ["--symmetry-reduction", "off", "--threads", "1", "--deadlock-detection", "off"]
    run(place, "rumur", *off, "--output-format", "machine-readable", "--quiet", "--output", "model.c", "model.m")
    run(place, "gcc", "-std=c11", "-O1", "-mcx16", "-w", "-o", "model", "model.c", "-lpthread")
    # Its status is 1 where something is never covered, which is an invariant that holds.
    told = subprocess.run(["./model"], cwd=place, check=False, capture_output=True, text=True).stdout
    states = re.findall(r'<summary states="(\d+)"', told)
    bad = {name: int(number) for name, number in re.findall(r'<cover_result message="([^"]*)" count="(\d+)"/>', told)}
    return bad, int(states[0])


def spin(text: str, place: Path, *defines: str) -> tuple[int, int]:
    """How many errors there are, and how many states."""
    (place / "model.pml").write_text(text)
    run(place, "spin", "-o2", *defines, "-a", "model.pml")  # -o2: values that are not read again are kept
    run(place, "gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-o", "pan", "pan.c")
    told = run(place, "./pan", "-c0", "-m100000")
    errors, states = (int(re.findall(each, told)[0]) for each in (r"errors: (\d+)", r"(\d+) states, stored"))
    return errors, states


def counted(system: System) -> tuple[dict[str, int], int]:
    result = check(system, all=True, **PLAIN)
    assert result.violations is not None
    return {each.property: each.count for each in result.violations}, result.states


class Branching(Process):
    x: int = 0

    @step(when=lambda self: self.x == 0)
    def to_one(self) -> None:
        self.x = 1

    @step(when=lambda self: self.x == 0)
    def to_two(self) -> None:
        self.x = 2

    @step(when=lambda self: self.x == 0)
    def to_three(self) -> None:
        self.x = 3

    @step(when=lambda self: 0 < self.x < 4)
    def to_four(self) -> None:
        self.x = 4

    @step(when=lambda self: self.x == 4)
    def wrap(self) -> None:
        self.x = 0


class Branches(System):
    """Three ways to 4, and back: TLC with `-continue` says once that NotFour is violated, and not three times."""

    def build(self) -> None:
        self.spawn(Branching)

    @invariant
    def not_four(self) -> bool:
        return self[Branching][0].x != 4

    @invariant
    def small(self) -> bool:
        return self[Branching][0].x < 2


BRANCHES = """
var x: 0..4;
rule "one" x = 0 ==> begin x := 1; end;
rule "two" x = 0 ==> begin x := 2; end;
rule "three" x = 0 ==> begin x := 3; end;
rule "four" x > 0 & x < 4 ==> begin x := 4; end;
rule "wrap" x = 4 ==> begin x := 0; end;
startstate begin x := 0; end;
invariant "not_four" x != 4;
invariant "small" x < 2;
"""

SPIN_BRANCHES = """
byte x;
active proctype branching() {
    do
    :: d_step { x == 0 -> x = 1 }
    :: d_step { x == 0 -> x = 2 }
    :: d_step { x == 0 -> x = 3 }
    :: d_step { x > 0 && x < 4 -> x = 4 }
    :: d_step { x == 4 -> x = 0 }
    od
}
active proctype watch() { do :: assert(GOOD) od }
"""


def test_as_many_as_was_published() -> None:
    """https://github.com/tlaplus/tlaplus/issues/690: one trace for the one state, though three ways lead to it."""
    assert counted(Branches()) == ({"not_four": 1, "small": 3}, 5)


@needs("rumur", "gcc")
def test_a_cover_counts_states(tmp_path: Path) -> None:
    assert rumur(BRANCHES, tmp_path) == counted(Branches())


@needs("spin", "gcc")
@pytest.mark.parametrize(("good", "errors"), [("x != 4", 1), ("x < 2", 3)])
def test_errors_of_spin_are_states(good: str, errors: int, tmp_path: Path) -> None:
    assert spin(SPIN_BRANCHES.replace("GOOD", good), tmp_path) == (errors, 5)


class Crowd(Peterson):
    """Claims that many states of Peterson's algorithm break."""

    @invariant
    def nobody_inside(self) -> bool:
        return all(each.at is not At.INSIDE for each in self[Contender])

    @invariant
    def nobody_beside(self) -> bool:
        ones = list(self[Contender])
        return not any(one is not two and one.level > 0 and one.level == two.level for one in ones for two in ones)

    @invariant
    def one_waits_at_most(self) -> bool:
        return sum(each.at is At.WAIT for each in self[Contender]) <= 1


CROWD = f"""{PETERSON}
invariant "nobody_inside" forall p: process do at[p] != Inside end;
invariant "nobody_beside"
  forall p: process do forall q: process do p = q | level[p] = 0 | level[p] != level[q] end end;
invariant "one_waits_at_most"
  forall p: process do forall q: process do p = q | at[p] != Wait | at[q] != Wait end end;
"""


class Heedless(Proposer):
    """It proposes its own value, whatever acceptors have voted for."""

    @quorum(Promise, size="majority", when=lambda self: self.waiting, where=lambda self, m: m.ballot == self.ballot)
    def propose(self, promises: frozenset[Promise]) -> None:
        self.waiting = False
        self.send(self.acceptors, Accept(Vote(self.ballot, self.value)))


class HeedlessPaxos(Paxos):
    def build(self) -> None:
        learners = self.spawn(Learner, 1, majority=2)
        acceptors = self.spawn(Acceptor, 3, learners=learners)
        for number, proposer in enumerate(self.spawn(Heedless, 2, majority=2), 1):
            self.connect(proposer, value=number, ballots=(number,), acceptors=acceptors)

    @invariant
    def nothing_is_learned(self) -> bool:
        return not self[Learner][0].learned


class Register(RegularStorage):
    @invariant
    def nothing_is_read_meanwhile(self) -> bool:
        return not any(reader.result is not None for reader in self[Reader]) or not self[Writer][0].busy

    @invariant
    def all_read_the_same(self) -> bool:
        return len({reader.result for reader in self[Reader]}) == 1


REGISTER = f"""{murphi_storage.model(3, 2)}
invariant "nothing_is_read_meanwhile" !busy | forall r: reader do result[r] = -1 end;
invariant "all_read_the_same" forall r: reader do forall s: reader do result[r] = result[s] end end;
"""
HEEDLESS = f"""{murphi_paxos.model(2, 3, bug=True)}
invariant "nothing_is_learned" forall b: ballot do !learned[b] end;
"""

MURPHI: dict[str, tuple[System, str]] = {
    "peterson": (Crowd(processes=3), CROWD),
    "paxos": (HeedlessPaxos(), HEEDLESS),
    "om": (OralMessages(traitors=2), murphi_om.model(3, 2)),
    "storage": (Register(readers=2), REGISTER),
}


@needs("rumur", "gcc")
@pytest.mark.parametrize("name", MURPHI)
def test_as_many_bad_states_as_rumur(name: str, tmp_path: Path) -> None:
    system, text = MURPHI[name]
    theirs, states = rumur(text, tmp_path)
    ours = counted(system)
    named = {each.replace(" ", "_"): number for each, number in theirs.items() if number}
    assert named
    assert ours == (named, states)


class Claims(Statements):
    @invariant
    def free(self) -> bool:
        return bool(self.shared("inside") == 0)

    @invariant
    def rounds_differ(self) -> bool:
        first, *_, last = self[Statement]
        return not first.round[first.pid].value == last.round[last.pid].value == 1


@needs("spin", "gcc")
@pytest.mark.parametrize(
    ("name", "good"), [("free", "inside == 0"), ("rounds_differ", "!(round[0] == 1 && round[N-1] == 1)")]
)
def test_as_many_bad_states_of_peterson_as_spin(name: str, good: str, tmp_path: Path) -> None:
    text = (ROOT / "peers" / "peterson.pml").read_text() + f"active proctype watch() {{ do :: assert({good}) od }}\n"
    bad, states = counted(Claims(processes=3))
    assert spin(text, tmp_path, "-DN=3") == (bad[name], states)


class Racing(RacingIncrement):
    """Every end is one too many."""

    @final
    def all_are_done(self) -> bool:
        return False


RACING = """
byte counter, left[3] = 2;
active [3] proctype thread() {
    byte read;
    do
    :: d_step { left[_pid] > 0 -> read = counter };
       d_step { counter = read + 1; read = 0; left[_pid]-- }
    od
}
"""
WATCHED = (
    RACING
    + """
active proctype watch() { do :: assert(left[0] + left[1] + left[2] > 0 || counter == 6) od }
"""
)


@needs("spin", "gcc")
def test_as_many_lost_increments_and_ends_as_spin(tmp_path: Path) -> None:
    bad, states = counted(Racing(threads=3, increments=2, atomic=False))
    assert bad.keys() == {"nothing_is_lost", "deadlock"}
    assert spin(WATCHED, tmp_path) == (bad["nothing_is_lost"], states)
    assert spin(RACING, tmp_path) == (bad["deadlock"], states)


class Hungry(Philosophers):
    @final
    def never(self) -> bool:
        return False


@needs("spin", "gcc")
def test_as_many_deadlocks_as_spin(tmp_path: Path) -> None:
    errors, states = spin((ROOT / "spin" / "philosophers.pml").read_text(), tmp_path)
    assert errors > 0
    assert counted(Hungry()) == ({"deadlock": errors}, states)
