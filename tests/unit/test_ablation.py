"""Which parts of a protocol are needed: how they are found, taken out, judged and shown."""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from quorate import check
from quorate.ablation import pool
from quorate.ablation.ablate import ablate
from quorate.ablation.judge import Judge
from quorate.ablation.parts import find_parts
from quorate.ablation.sources import Sources
from quorate.ablation.variant import changed_tree, without
from quorate.base.errors import QuorateError
from quorate.cli.main import app
from quorate.language.declared import MARK
from quorate.model.define import define
from quorate.model.target import load
from quorate.render.ablation import ablation
from quorate.render.html.ablation import document
from quorate.results.ablation import Ablation, Finding

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs/schemas/ablation.schema.json"
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none", "trace": False}

VOTES = """
from quorate import Constant, Event, Message, Peers, Process, System, can, invariant, on, quorum, start, step


class Ask(Message):
    round: int


class Vote(Message):
    yes: bool


class Thanks(Message): ...


def counted(votes):
    return sum(1 for vote in votes if vote.yes)


class Voter(Process):
    round: int = 0

    @on(Ask, when=lambda self, m: m.round > self.round and m.round < 9)
    def ask(self, m):
        self.round = m.round
        self.reply(Vote(self.choose([True, False])))


class Base(Process):
    voters: Constant[Peers]

    def over(self):
        self.open = False

    @start
    def begin(self):
        self.send(self.voters, Ask(1))


class Leader(Base):
    open: bool = True
    won: bool = False
    done: bool = False

    @start
    def begin(self):
        super().begin()

    @quorum(Vote, size=2, when=lambda self: self.open)
    def count(self, votes):
        self.over()
        if counted(votes) == len(self.voters):
            self.won, self.done = True, False
            self.send(self.voters, Thanks())
        else:
            self.done = True

    @quorum(Thanks, each="voters", when=lambda self: self.won and not self.done)
    def thanked(self, thanks):
        self.done = True


class Polite(Voter):
    @on(Thanks)
    def thanks(self, m):
        self.reply(Thanks())


class Voting(System):
    def build(self):
        self.spawn(Leader, voters=self.spawn(Polite, 2))

    @invariant
    def answered(self):
        return all(voter.round == 1 for voter in self[Voter]) or not any(each.won for each in self[Leader])

    @can
    def elects(self):
        return any(each.won for each in self[Leader])
"""


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("ablation") / "votes.py"
    path.write_text(VOTES, encoding="utf-8")
    yield str(path)
    sys.modules.pop("votes", None)


@pytest.fixture(scope="module")
def voting(votes: str) -> Ablation:
    return ablate(load(votes)(), jobs=1)


@pytest.fixture(scope="module")
def paxos() -> Ablation:
    return ablate(load("paxos")(), jobs=1)


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["ablate", *arguments], env={"COLUMNS": "140"})


# --- parts -----------------------------------------------------------------------------------------------------


def test_every_part_is_an_edit_of_the_source(votes: str) -> None:
    sites = find_parts(Sources(define(load(votes))))
    edits = {}
    for site in sites:
        before, after = ast.unparse(site.source.tree).splitlines(), ast.unparse(changed_tree(site)).splitlines()
        edits[f"{site.part.kind} {site.part.text} {site.part.change}"] = [
            line.replace("(self.won,) =", "self.won, =").replace("(self.done,) =", "self.done, =")  # of 3.12
            for line in after
            if line not in before
        ]
        assert len(before) == len(after)
        assert before != after
    assert [site.part.number for site in sites] == list(range(1, len(sites) + 1))
    assert edits == {
        "condition vote.yes removed": ["    return sum((1 for vote in votes if True))"],
        "transition @on(Ask, when=lambda self, m: m.round > self.round and m.round < 9) never taken": [
            "@on(Ask, when=lambda self, m: False)"
        ],
        "guard lambda self, m: m.round > self.round and m.round < 9 removed": ["@on(Ask, when=lambda self, m: True)"],
        "guard m.round > self.round removed": ["@on(Ask, when=lambda self, m: True and m.round < 9)"],
        "comparison m.round > self.round `>=` instead of `>`": [
            "@on(Ask, when=lambda self, m: m.round >= self.round and m.round < 9)"
        ],
        "guard m.round < 9 removed": ["@on(Ask, when=lambda self, m: m.round > self.round and True)"],
        "comparison m.round < 9 `<=` instead of `<`": [
            "@on(Ask, when=lambda self, m: m.round > self.round and m.round <= 9)"
        ],
        "assignment self.round = m.round removed": ["    pass"],
        "send self.reply(Vote(self.choose([True, False]))) removed": ["    pass"],
        "assignment self.open = False removed": ["    pass"],
        "send self.send(self.voters, Ask(1)) removed": ["    pass"],
        "transition @start never taken": ["@start(when=lambda self: False)"],
        "transition @quorum(Vote, size=2, when=lambda self: self.open) never taken": [
            "@quorum(Vote, size=2, when=lambda self: False)"
        ],
        "quorum size size=2 one less": ["@quorum(Vote, size=lambda self: max(1, 2 - 1), when=lambda self: self.open)"],
        "guard lambda self: self.open removed": ["@quorum(Vote, size=2, when=lambda self: True)"],
        "call self.over() removed": ["    pass"],
        "condition counted(votes) == len(self.voters) always true": ["    if True:"],
        "condition counted(votes) == len(self.voters) never true": ["    if False:"],
        "assignment self.won, self.done = True, False without self.won": ["        self.done, = (False,)"],
        "assignment self.won, self.done = True, False without self.done": ["        self.won, = (True,)"],
        "send self.send(self.voters, Thanks()) removed": ["        pass"],
        "assignment self.done = True removed": ["    pass"],
        "transition @quorum(Thanks, each=\"voters\", when=lambda self: self.won and not self.done) never taken": [
            "@quorum(Thanks, each='voters', when=lambda self: False)"
        ],
        "wait quorum(Thanks, each=\"voters\", when=lambda self: self.won and not self.done) does not wait for them": [
            "@__import__('quorate').step(when=lambda self: self.won and (not self.done))",
            "def thanked(self, thanks=frozenset()):",
        ],
        "quorum size each=\"voters\" one less": [
            "@quorum(Thanks, each=lambda self: tuple(self.voters)[1:], when=lambda self: self.won and (not self.done))"
        ],
        "guard lambda self: self.won and not self.done removed": [
            "@quorum(Thanks, each='voters', when=lambda self: True)"
        ],
        "guard self.won removed": [
            "@quorum(Thanks, each='voters', when=lambda self: True and (not self.done))"
        ],
        "guard not self.done removed": ["@quorum(Thanks, each='voters', when=lambda self: self.won and True)"],
        "transition @on(Thanks) never taken": ["@on(Thanks, when=lambda self, m: False)"],
        "send self.reply(Thanks()) removed": ["    pass"],
        "call super().begin() removed": ["    pass"],
    }  # fmt: skip


def test_a_variant_is_gone_when_it_has_been_looked_at(votes: str) -> None:
    definition = define(load(votes))
    before = check(load(votes), trace=False)
    for site in find_parts(Sources(definition)):
        function = site.source.function
        original = function.__code__, getattr(function, MARK, None)
        with without(site):
            assert vars(site.source.owner)[site.source.name] is function
            assert (function.__code__, getattr(function, MARK, None)) != original
        assert (function.__code__, getattr(function, MARK, None)) == original
    after = check(load(votes), trace=False)
    assert (before.verdict, before.states) == (after.verdict, after.states)


# --- verdicts --------------------------------------------------------------------------------------------------


def statuses(found: Ablation) -> dict[str, str]:
    return {f"{each.part.handler}: {each.part.kind} {each.part.text} {each.part.change}": each.status
            for each in found.findings}  # fmt: skip


def test_the_parts_of_paxos(paxos: Ablation) -> None:
    """The promise that `accept` notes is for a third proposer; the guard of `propose` for a second ballot."""
    assert [(each.part.number, each.status) for each in paxos.findings if each.status != "vacuous"] == [
        (2, "breaks"), (4, "unneeded"), (8, "needed"), (9, "unneeded"), (10, "same"), (11, "unneeded"), (12, "breaks"),
        (15, "needed"), (16, "unneeded"), (17, "needed"), (20, "needed"), (22, "unneeded"), (23, "needed"),
        (26, "needed"), (27, "needed"),
    ]  # fmt: skip
    needed = {each.part.number: [(one.property, one.steps) for one in each.breaks] for each in paxos.findings
              if each.status == "needed"}  # fmt: skip
    assert needed == {8: [("agreement", 12)], 15: [("agreement", 14)], 17: [("agreement", 14)], 20: [("agreement", 14)],
                      23: [("agreement", 14)], 26: [("agreement", 12)], 27: [("agreement", 11)]}  # fmt: skip
    assert "Learner.learned never changes" in by(paxos, 28).lost
    assert "Acceptor.promise never happens" in by(paxos, 1).lost
    assert not any("Proposer.prepare never" in each for each in by(paxos, 1).lost)  # that it is gone is no news


def by(found: Ablation, number: int) -> Finding:
    return next(each for each in found.findings if each.part.number == number)


def test_a_needed_part_has_the_run_that_breaks(paxos: Ablation) -> None:
    judge = Judge(load("paxos")(), {})
    result = judge.run(27)
    assert (result.verdict, result.property) == ("violated", "agreement")
    assert result.trace is not None
    assert len(result.trace.steps) == by(paxos, 27).breaks[0].steps == 11
    assert "agreement" in by(paxos, 27).breaks[0].run


@pytest.mark.parametrize("name", ["paxos", "ping-pong", "two-phase-commit"])
def test_what_makes_no_difference_has_the_same_states(name: str) -> None:
    judge = Judge(load(name)(), {})
    judge.look()
    plain = check(load(name), **PLAIN)
    same = 0
    for site in judge.sites:
        with without(site):
            if judge._same(site):
                same += 1
                again = check(load(name), **PLAIN)
                assert (again.states, again.transitions) == (plain.states, plain.transitions), site.part
    assert same or name != "paxos"


def test_variants_of_voting(voting: Ablation) -> None:
    found = statuses(voting)
    assert found["count: call self.over() removed"] == "unneeded"  # all votes were consumed
    assert found["ask: guard m.round < 9 removed"] == "same"
    assert found["ask: assignment self.round = m.round removed"] == "needed"
    assert found["begin: call super().begin() removed"] == "vacuous"
    assert found["count: quorum size size=2 one less"] == "vacuous"  # one vote is never two
    assert found["count: condition counted(votes) == len(self.voters) always true"] == "unneeded"  # nobody asks
    assert found["counted: condition vote.yes removed"] == "unneeded"
    lost = {f"{each.part.handler} {each.part.text}": each.lost for each in voting.findings}
    assert "elects is never reached" in lost["count size=2"]


def test_a_quorum_of_one_has_no_message_to_spare() -> None:
    judge = Judge(load("raft-election")(servers=3), {})
    # With five servers it has.
    assert [judge.judge(each.number).status for each in judge.parts if each.kind == "quorum size"] == ["same"]
    judge = Judge(load("raft-election")(servers=5, terms=1), {})
    assert [judge.judge(each.number).status for each in judge.parts if each.kind == "quorum size"] == ["needed"]


def test_what_is_asked_of_each_process_counts() -> None:
    """A client that never says that it waits cannot starve, and that is no reason to hold."""
    judge = Judge(load("lock")(), {})
    judge.look()
    part = next(each for each in judge.parts if each.text == "self.waiting = True")
    found = judge.judge(part.number)
    assert (found.status, found.lost) == ("vacuous", ("Client.waiting never changes",))


HITS = """
from quorate import Message, Pid, Process, Rank, System, invariant, on, start, step, unordered

class Tick(Message):
    stamp: Rank

class Probe(Message):
    stamp: Rank

class Clock(Process):
    top: Rank = Rank()
    hit: bool = False

    @on(Tick)
    def tick(self, m: Tick) -> None:
        self.top = max(self.top, m.stamp)

    @on(Probe)
    def probe(self, m: Probe) -> None:
        if m.stamp.later() == self.top:
            self.hit = True

class Asker(Process):
    clock: Pid
    asked: bool = False

    @start
    def begin(self) -> None:
        self.send(self.clock, Tick(Rank().later()))

    @step(when=lambda self: not self.asked)
    def ask(self) -> None:
        self.asked = True
        self.send(self.clock, Probe(Rank()))

class Hits(System):
    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        self.spawn(Asker, clock=self.spawn(Clock))

    @invariant
    def fine(self) -> bool:
        return all(not c.hit or c.top > Rank() for c in self[Clock])
"""


def test_a_later_rank_may_be_one_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "hits_model.py"
    path.write_text(HITS, encoding="utf-8")
    judge = Judge(load(str(path))(), {})
    judge.look()
    part = next(each for each in judge.parts if each.text == "self.hit = True")
    found = judge.judge(part.number)
    assert (found.status, found.lost) == ("vacuous", ("Clock.hit never changes",))


def test_an_acknowledgement_that_is_not_waited_for(tmp_path: Path) -> None:
    """The question of the register paper: is it needed that a read waits for its second round?"""
    page = (ROOT / "docs/registers.md").read_text(encoding="utf-8")
    listed = re.search(r"<!-- file: storage.py -->\n\n```python\n(.*?)```", page, re.DOTALL)
    assert listed is not None
    path = tmp_path / "storage_model.py"
    path.write_text(listed[1], encoding="utf-8")
    judge = Judge(load(str(path))(), {}, properties=["atomic", "regular"])
    wait = next(each.number for each in judge.parts if (each.handler, each.kind) == ("stored", "wait"))
    found = judge.judge(wait)
    assert (found.status, [each.property for each in found.breaks]) == ("needed", ["atomic"])


LOOPING = """
from quorate import Message, Process, System, invariant, start


class Counter(Process):
    left: int = 3

    @start
    def count(self):
        left = self.left
        while True:
            left -= 1
            if left <= 0:
                break
        self.left = left

class Counting(System):
    def build(self):
        self.spawn(Counter)

    @invariant
    def positive(self):
        return all(each.left >= 0 for each in self[Counter])
"""


def test_a_variant_that_is_stopped_in_a_loop_is_not_decided(tmp_path: Path) -> None:
    path = tmp_path / "looping_model.py"
    path.write_text(LOOPING, encoding="utf-8")
    found = ablate(load(str(path))(), jobs=1, each=0.5)
    endless = next(each for each in found.findings if each.part.change == "never true")
    assert endless.status == "undecided"
    assert re.match(r"stopped by the limit on time in Counter\.count, line 1[1-5], after ", endless.note), endless.note


STUCK_IN_C = LOOPING.replace("while True:", "while sum(range(10**12 if left < -3 else 3)):")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_variant_stuck_in_c_is_not_decided_and_the_others_are(
    tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "GRACE", 5.0)
    monkeypatch.setattr(pool, "CHECKS", 0)
    path = tmp_path / "stuck_model.py"
    path.write_text(STUCK_IN_C, encoding="utf-8")
    found = ablate(load(str(path)), target=str(path), jobs=jobs, each=60.0)
    assert [each.part for each in found.findings] == list(found.parts)
    stuck = [each for each in found.findings if each.status == "undecided"]
    assert {each.part.change for each in stuck} == {"always true", "never true"}, stuck
    assert {each.note for each in stuck} == {"stopped in count, line 11, which did not come back in time"}
    assert len(stuck) < len(found.findings)


def test_all_cores_say_the_same(votes: str, voting: Ablation) -> None:
    together = ablate(load(votes)(), target=votes, jobs=2)
    assert [(each.part, each.status, each.lost) for each in together.findings] == [
        (each.part, each.status, each.lost) for each in voting.findings
    ]


# --- bad input -------------------------------------------------------------------------------------------------


def test_without_a_property_nothing_can_notice(tmp_path: Path) -> None:
    path = tmp_path / "mute_model.py"
    path.write_text(LOOPING.partition("    @invariant")[0], encoding="utf-8")
    with pytest.raises(QuorateError, match="states no property") as caught:
        ablate(load(str(path))())
    assert caught.value.code == "Q410"


def test_a_protocol_that_cannot_be_checked_is_refused() -> None:
    with pytest.raises(QuorateError, match="was not checked to its end") as caught:
        ablate(load("raft")(), each=0.001)
    assert caught.value.code == "Q507"


def test_there_is_no_such_part(votes: str) -> None:
    found = invoke(votes, "--show", "99")
    assert found.exit_code == 2
    assert "error Q212: --show 99: there are" in found.output


# --- showing ---------------------------------------------------------------------------------------------------


def test_the_table(paxos: Ablation) -> None:
    text = ablation(paxos, 120).plain()
    first = "Paxos: 28 parts: 7 needed, 2 without which the code breaks, 13 without which it holds vacuously, "
    assert " ".join(text.split()).startswith(first + "5 not needed (4, 9, 11, 16, 22), 1 that makes no difference")
    assert '  27    72  needed           filter same="vote": agreement (11 steps)' in text


def test_time_in_all_gives_what_is_known(votes: str) -> None:
    found = invoke(votes, "-j", "1", "--timeout", "0.001s")
    assert found.exit_code == 3
    assert "not looked at (out of time)" in found.output


def test_json_is_what_its_schema_says(votes: str, paxos: Ablation) -> None:
    found = invoke(votes, "-j", "1", "--json")
    assert found.exit_code == 0
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    for each in (json.loads(found.stdout), json.loads(json.dumps(paxos.to_json()))):
        validator.validate(each)
    assert [Finding.from_json(each.to_json()).to_json() for each in paxos.findings] == [
        each.to_json() for each in paxos.findings
    ]


def test_one_variant_is_shown(votes: str, voting: Ablation) -> None:
    number = next(each.part.number for each in voting.findings if each.status == "needed")
    found = invoke(votes, "--show", str(number))
    assert found.exit_code == 1
    assert f"without part {number}, Voter.ask line" in found.output
    assert "violates answered" in found.output


def test_the_page_has_the_source_coloured(paxos: Ablation) -> None:
    page = document(paxos)
    assert 'class="unneeded"' in page
    assert "the run that violates agreement" in page
    assert "@quorum(Accepted, size=&quot;majority&quot;, same=&quot;vote&quot;)" in page


def test_what_a_condition_names_stays_where_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "named.py"
    path.write_text(
        "from quorate import Message, Process, System, invariant, on, start\n\n\n"
        "class Told(Message):\n    number: int\n\n\n"
        "class Hears(Process):\n    sum: int = 0\n\n"
        "    @on(Told)\n    def hear(self, m):\n        if (twice := 2 * m.number) > 1:\n            self.sum = twice\n"
        "        else:\n            self.sum = twice - 2\n\n\n"
        "class Tells(Process):\n    other: object\n\n"
        "    @start\n    def tell(self):\n        self.send(self.other, Told(1))\n\n\n"
        "class Named(System):\n    def build(self):\n        self.spawn(Tells, other=self.spawn(Hears))\n\n"
        "    @invariant\n    def even(self):\n        return all(each.sum in (0, 2) for each in self[Hears])\n"
    )
    sites = [site for site in find_parts(Sources(define(load(str(path))))) if site.part.kind == "condition"]
    found = {site.part.change: ast.unparse(changed_tree(site)) for site in sites}
    assert "if (twice := (2 * m.number)) > 1 or True:" in found["always true"]
    assert "if (twice := (2 * m.number)) > 1 and False:" in found["never true"]
    assert {each.status for each in ablate(load(str(path)), jobs=1).findings} <= {"same", "vacuous", "unneeded"}


GUARDS = """
import functools
from quorate import Message, Peers, Process, System, can, invariant, on, start
from {helpers} import enough


class Ask(Message):
    n: int

    def is_small(self):
        return self.n < 9


class Yes(Message):
    n: int


class Never(Message): ...


class Numbers:
    @staticmethod
    @functools.cache
    def above(one, other):
        return one > other


def is_new(self, m):
    return Numbers.above(m.n, self.seen) and m.n < 9


def told(handler):
    @functools.wraps(handler)
    def inner(self, m):
        handler(self, m)

    return inner


class Voter(Process):
    seen: int = 0

    @on(Ask, when=is_new)
    @told
    def ask(self, m):
        match m:
            case Ask(n=number) if m.is_small():
                self.seen: int = number
                [self.reply(each) for each in (Yes(number),)]
            case _:
                self.reply(Never())

    @property
    def odd(self):
        return self.seen >= 1


class Boss(Process):
    n: int
    voters: Peers
    got: int = 0

    @start
    def go(self):
        for voter in self.voters:
            self.send(voter, Ask(self.n))

    @on(Yes)
    def yes(self, m):
        if enough(self.got):
            self.got += 1

    made = on(Never)(lambda self, m: None)


class Guards(System):
    def build(self):
        voters = self.spawn(Voter, 2)
        self.spawn(Boss, n=1, voters=voters)
        self.spawn(Boss, n=0, voters=voters)

    @invariant
    def only_one(self):
        return self[Boss][1].got == 0

    @invariant
    def few(self):
        return self[Boss][0].got <= 2

    @can
    def one(self):
        return self[Boss][0].got == 2 and all(voter.seen for voter in self[Voter])
"""


def test_a_part_is_gone_wherever_its_function_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what a guard calls, with a cache, below a decorator, of another module, in a case, in a comprehension.

    What was done to a guard that is named elsewhere made no difference at all.
    """
    (tmp_path / "guards_helpers.py").write_text("def enough(got):\n    return got < 2\n")
    path = tmp_path / "guards.py"
    path.write_text(GUARDS.format(helpers="guards_helpers"))
    monkeypatch.syspath_prepend(str(tmp_path))
    found = ablate(load(str(path)), jobs=1)
    statuses = {f"{each.part.kind} {each.part.text} {each.part.change}": each.status for each in found.findings}
    assert statuses == {
        "comparison one > other `>=` instead of `>`": "needed",
        "condition Numbers.above(m.n, self.seen) removed": "needed",
        "condition m.n < 9 removed": "same",
        "comparison m.n < 9 `<=` instead of `<`": "same",
        "transition @on(Ask, when=is_new) never taken": "vacuous",
        "guard is_new removed": "needed",
        "condition Ask(n=number) never true": "vacuous",
        "condition m.is_small() always true": "same",
        "comparison self.n < 9 `<=` instead of `<`": "same",
        "assignment self.seen: int = number removed": "vacuous",
        "send self.reply(each) removed": "vacuous",
        "condition _ never true": "same",
        "send self.reply(Never()) removed": "same",
        "comparison self.seen >= 1 `>` instead of `>=`": "same",
        "transition @start never taken": "vacuous",
        "send self.send(voter, Ask(self.n)) removed": "vacuous",
        "transition @on(Yes) never taken": "vacuous",
        "condition enough(self.got) always true": "same",
        "assignment self.got += 1 removed": "vacuous",
        "comparison got < 2 `<=` instead of `<`": "same",
    }
    assert found.notes == ("Boss.made: not looked into, since only a `def` of a module or a class can be changed",)


class _Instead(ast.NodeTransformer):
    """A module with another version of one function."""

    def __init__(self, old: ast.FunctionDef, new: ast.FunctionDef) -> None:
        self.place, self.new = (old.lineno, old.col_offset), new

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        found = (node.lineno, node.col_offset) == self.place
        return self.new if found else self.generic_visit(node)


def test_a_variant_does_what_it_does_when_it_is_written_out(tmp_path: Path) -> None:
    source = VOTES.replace("when=lambda self: self.open)", "when=is_open)").replace(
        "class Voter(", "def is_open(self):\n    return self.open and not self.won\n\n\nclass Voter(", 1
    )
    path = tmp_path / "whole.py"
    path.write_text(source, encoding="utf-8")
    system = load(str(path))
    for site in find_parts(Sources(define(system))):
        written = _Instead(site.source.tree, changed_tree(site)).visit(ast.parse(source))
        variant = tmp_path / f"variant{site.part.number}.py"
        variant.write_text(ast.unparse(written), encoding="utf-8")
        with without(site):
            here = _counted(system)
        assert here == _counted(load(str(variant))), site.part


def _counted(system: Any) -> Any:
    try:
        result = check(system, all=True, max_states=2000, **PLAIN)
    except QuorateError as error:
        return error.code
    return result.states, {each.name: each.verdict for each in result.properties}


SHARED = """
from quorate import Message, Pid, Process, System, can, invariant, on, start


class Told(Message):
    n: int


class Again(Message):
    n: int


class Never(Message):
    n: int


def above(n, least):
    return n > least


def fits(n, least):
    return above(n, least)


class First(Process):
    got: int = 0

    @on(Told)
    def told(self, m):
        if fits(m.n, 0):
            self.got = m.n


class Second(Process):
    got: int = 0

    @on(Told)
    def told(self, m):
        if fits(m.n, 1):
            self.got = m.n

    @on(Again)
    def again(self, m):
        self.take(m)

    @on(Never)
    def take(self, m):
        if m.n < 3:
            self.got = m.n


class Teller(Process):
    first: Pid
    second: Pid

    @start
    def go(self):
        self.send(self.first, Told(2))
        self.send(self.second, Told(1))
        self.send(self.second, Again(3))


class Shared(System):
    def build(self):
        self.spawn(Teller, first=self.spawn(First), second=self.spawn(Second))

    @invariant
    def low(self):
        return self[Second][0].got == 0

    @can
    def high(self):
        return self[First][0].got == 2
"""


def test_a_part_is_judged_for_all_that_run_it(tmp_path: Path) -> None:
    """A function that two roles reach by another one, and a handler that another handler calls: where the first of them
    does the same, the second need not."""
    path = tmp_path / "shared_parts.py"
    path.write_text(SHARED, encoding="utf-8")
    statuses = {each.part.text: each.status for each in ablate(load(str(path)), jobs=1).findings if each.breaks}
    assert statuses == {"n > least": "needed", "fits(m.n, 1)": "needed", "m.n < 3": "needed"}
