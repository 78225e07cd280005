"""`quorate prove --number ROLE=any`: what is proved, what is not, and what is refused by its line."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.protocols.any_paxos import AnyPaxos
from benchmarks.protocols.any_register import AnyRegister
from benchmarks.protocols.echo_broadcast import Echo, EchoBroadcast, Initiator, Receiver

from bad_models import call
from quorate import (
    Constant,
    Message,
    Peers,
    Pending,
    Pid,
    Process,
    System,
    check,
    fifo,
    invariant,
    lemma,
    majority,
    multiset,
    on,
    prove,
    quorum,
    start,
    step,
)
from quorate.base.errors import ParameterError, QuorateError
from quorate.proofs.parametric_claims import EncodedFamily, invariants
from quorate.proofs.parametric_family import family
from quorate.proofs.parametric_machine import FamilyMachine
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import app, conjunction, exists, rebuilt, var
from quorate.protocols.two_phase_commit import Ballot, Coordinator, Decision, Participant, TwoPhaseCommit

PARTICIPANT = ["Participant=any"]


# --- proofs, and what becomes of them without their reasons --------------------------------------------------------


def test_a_register_for_any_number_of_base_objects_and_writes() -> None:
    proof = prove(AnyRegister(), number=["Base=any"], any=["Writer.writes"], discover=False, timeout=120)
    assert proof.verdict == "proved"
    assert proof.numbers == ("Base",)
    assert len(proof.quorums) == 1


def test_paxos_for_any_number_of_acceptors_ballots_and_values(tmp_path: Path) -> None:
    proof = prove(
        AnyPaxos(),
        number=["Acceptor=any"],
        any=["Proposer.value"],
        discover=False,
        timeout=1200,  # usually one or two minutes; how long the solver searches is a matter of luck
        certificate_folder=tmp_path,
    )
    assert proof.verdict == "proved"
    document = json.loads((tmp_path / "proof.json").read_text(encoding="utf-8"))
    assert document["numbers"] == ["Acceptor"]
    assert document["quorums"]
    assert {each["file"] for each in document["questions"]} == {each.name for each in tmp_path.glob("*.smt2")}
    assert "(declare-sort |Acceptor| 0)" in next(tmp_path.glob("*-step-*.smt2")).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("system", "role", "free"),
    [(AnyRegister(), "Base", ["Writer.writes"]), (AnyPaxos(), "Acceptor", ["Proposer.value"])],
    ids=["register", "Paxos"],
)
def test_nothing_is_proved_without_quorums_that_meet(
    system: System, role: str, free: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FamilyMachine, "meeting", lambda _: [])
    proof = prove(system, number=[f"{role}=any"], any=free, discover=False, timeout=6)
    assert proof.verdict in ("not proved", "unknown")


class Eager(Coordinator):
    """Commits if anyone says yes."""

    @quorum(Ballot, each="participants")
    def decide(self, ballots: frozenset[Ballot]) -> None:
        self.send(self.participants, Decision(any(b.yes for b in ballots)))


class EagerCommit(TwoPhaseCommit):
    def build(self) -> None:
        self.spawn(Eager, participants=self.spawn(Participant, self.participants))


def test_a_commit_on_any_yes_is_refuted_with_a_run() -> None:
    proof = prove(EagerCommit(), number=PARTICIPANT, property="validity", timeout=60)
    assert proof.verdict == "refuted"
    assert proof.trace is not None
    assert proof.trace.start == "initial"
    # Agreement holds all the same, and only a search of small instances stands between a wrong claim and a proof:
    assert check(EagerCommit(participants=2), property="validity").verdict == "violated"


def test_less_than_a_majority_is_no_quorum() -> None:
    system = EchoBroadcast(short=1)
    assert not EncodedFamily(family(system, ["Receiver=any"])).machine.meeting()
    assert prove(system, number=["Receiver=any"], timeout=20).verdict == "refuted"


class Forgetful(EchoBroadcast):
    """Agreement breaks with more receivers than are searched, so that nothing but the proof can tell."""

    def build(self) -> None:
        size = self.receivers // 2 if self.receivers > 5 else majority(self.receivers)
        receivers = self.spawn(Receiver, self.receivers, needed=size)
        self.connect(receivers, receivers=receivers)
        self.spawn(Initiator, receivers=receivers)


def test_quorums_meet_only_if_they_do_for_all_numbers_that_are_built() -> None:
    assert not EncodedFamily(family(Forgetful(), ["Receiver=any"])).machine.meeting()
    assert prove(Forgetful(), number=["Receiver=any"], timeout=8).verdict in ("not proved", "unknown")


def test_the_command_says_for_how_many() -> None:
    code, out, _ = call("prove", "benchmarks.protocols.echo_broadcast:EchoBroadcast", "--number", "Receiver=any")
    assert code == 0
    assert "any number of Receiver" in out
    assert "have a process in common" in " ".join(out.split())


# --- what is refused ------------------------------------------------------------------------------------------------


class Ask(Message): ...


class Reply(Message):
    n: int


class Note(Message):
    who: Pid


class Worker(Process):
    peers: Constant[Peers]
    boss: Pid
    n: int = 0

    @on(Ask)
    def answer(self, _: Ask) -> None:
        self.reply(Reply(self.n))


class Boss(Process):
    workers: Constant[Peers]
    most: Constant[int]
    seen: int = 0

    @start
    def ask(self) -> None:
        self.send(self.workers, Ask())

    @quorum(Reply, size="most")
    def hear(self, replies: frozenset[Reply]) -> None:
        self.work(replies)

    def work(self, replies: frozenset[Reply]) -> None:
        raise NotImplementedError


class Office(System):
    workers: int = 3
    busy = Boss

    def build(self) -> None:
        workers = self.spawn(Worker, self.workers)
        boss = self.spawn(self.busy, workers=workers, most=majority(self.workers))
        self.connect(workers, peers=workers, boss=boss)

    @invariant
    def fine(self) -> bool:
        return all(w.n >= 0 for w in self[Worker])


def office(work: Any) -> Any:
    boss = type("Busy", (Boss,), {"work": work, "__module__": __name__})
    return type("SomeOffice", (Office,), {"busy": boss, "__module__": __name__, "__annotations__": {}})()


def counts(self: Any, replies: Any) -> None:
    self.seen = len(self.workers) + 1  # LINE


def loops(self: Any, replies: Any) -> None:
    for each in replies:  # LINE
        self.seen = each.n


def one_of_them(self: Any, replies: Any) -> None:
    self.seen = next(iter(replies)).n  # LINE


def adds_up(self: Any, replies: Any) -> None:
    self.seen = sum(each.n for each in replies)  # LINE


def sizes(self: Any, replies: Any) -> None:
    self.seen = 1 if len({each.n for each in replies}) == 2 else 0  # LINE


def in_order(self: Any, replies: Any) -> None:
    self.seen = sorted(replies, key=lambda each: each.n)[0].n  # LINE


def by_number(self: Any, replies: Any) -> None:
    if self.most > 2:  # LINE
        self.seen = 1


def senders(self: Any, replies: Any) -> None:
    self.seen = 1 if {each.sender for each in replies} == self.workers else 0  # LINE


def counts_on_the_side(self: Any, replies: Any) -> None:
    n = 0
    all((n := n + 1) for each in replies)  # LINE
    self.seen = n


def appends(self: Any, replies: Any) -> None:
    found: list[int] = []
    all(found.append(each.n) for each in replies)  # type: ignore[func-returns-value]  # LINE
    self.seen = len(found)


def with_a_star(self: Any, replies: Any) -> None:
    self.seen = int(all([*replies][1].n > each.n for each in replies))  # LINE


def looks_inside(self: Any, replies: Any) -> None:
    self.seen = int(all(each.n in (other.n for other in replies) for each in replies))  # LINE


def makes_a_set(self: Any, replies: Any) -> None:
    self.seen = int(all(len(set(replies)) == 1 for each in replies))  # LINE


def calls_its_own(self: Any, replies: Any) -> None:
    found: list[int] = []

    def note(n: int) -> bool:
        found.append(n)
        return True

    all(note(each.n) for each in replies)  # LINE
    self.seen = len(found)


def uses_twice(self: Any, replies: Any) -> None:
    ready = (each.n > 0 for each in replies)
    self.seen = int(any(ready)) + int(all(ready))  # LINE


FOUND: list[int] = []


def note(n: int) -> bool:
    FOUND.append(n)
    return True


Noting = note


def calls_what_looks_like_a_class(self: Any, replies: Any) -> None:
    self.seen = int(all(Noting(each.n) for each in replies)) + len(FOUND)  # LINE


def notes_keys(self: Any, replies: Any) -> None:
    found: list[int] = []
    self.seen = max(replies, key=lambda each: (each.n, found.append(1))).n  # type: ignore[func-returns-value]  # LINE


def orders_processes(self: Any, replies: Any) -> None:
    self.seen = max(replies, key=lambda each: each.sender).n  # LINE


def matches_a_list(self: Any, replies: Any) -> None:
    match [each.n for each in replies]:  # LINE
        case [_, *_]:
            self.seen = 1


def matches_a_number(self: Any, replies: Any) -> None:
    match (self.seen, len({each.n for each in replies})):  # LINE
        case (_, int()):
            self.seen = 1


REFUSED = [counts, loops, one_of_them, adds_up, sizes, in_order, by_number, senders, counts_on_the_side, appends,
           with_a_star, looks_inside, makes_a_set, calls_its_own, uses_twice,
           calls_what_looks_like_a_class, notes_keys, orders_processes, matches_a_list, matches_a_number]  # fmt: skip


@pytest.mark.parametrize("work", REFUSED, ids=lambda work: work.__name__)
def test_what_depends_on_the_number_or_on_one_of_them_is_refused_by_its_line(work: Any) -> None:
    with pytest.raises(RefusedError) as refused:
        EncodedFamily(family(office(work), ["Worker=any"]))
    place = refused.value.location
    assert place is not None
    assert refused.value.hint
    line = Path(place.file).read_text(encoding="utf-8").splitlines()[place.line - 1]
    assert "# LINE" in line


def greatest(self: Any, replies: Any) -> None:
    self.seen = max(replies, key=lambda each: each.n).n


def listed(self: Any, replies: Any) -> None:
    known = [each.n for each in replies if each.n > 0]
    self.seen = min(known) if known else 0


def to_one(self: Any, replies: Any) -> None:
    self.send(self.choose(self.workers), Ask())


def to_whoever_has_most(self: Any, replies: Any) -> None:
    self.send(max(replies, key=lambda each: each.n).sender, Ask())


def back_to_all(self: Any, replies: Any) -> None:
    if any(each.n > self.seen for each in replies) and all(each.n < 3 for each in replies):
        self.reply(Ask())


def true_among_numbers(self: Any, replies: Any) -> None:
    self.seen = int(True in {each.n for each in replies}) + 2 * int(bool({each.n for each in replies} - {False}))


def numbers_among_flags(self: Any, replies: Any) -> None:
    self.seen = int(1 in {each.n > 0 for each in replies})


def one_in_another(self: Any, replies: Any) -> None:
    self.seen = int(all(any(two.n > one.n or two.sender == one.sender for two in replies) for one in replies))
    self.seen += 2 * int(any(all(two.n >= one.n for two in replies) and one.n > 0 for one in replies))


IDIOMS = [greatest, listed, to_one, to_whoever_has_most, back_to_all, true_among_numbers, numbers_among_flags,
          one_in_another]  # fmt: skip


@pytest.mark.parametrize("work", IDIOMS, ids=lambda work: work.__name__)
def test_idioms_do_what_the_semantics_does(work: Any) -> None:
    from parametric_states import Instance

    class Growing(Worker):
        @step(when=lambda self: self.n < 2)
        def grow(self) -> None:
            self.n += 1

    system = office(work)
    growing: Any = type(
        "Grown", (type(system),), {"__module__": __name__, "__annotations__": {}, "build": build_growing}
    )
    growing.worker = Growing
    encoded = EncodedFamily(family(growing(), ["Growing=any"]))
    for number in (1, 2, 3):
        instance = Instance(encoded, (number,))
        for state, structure in instance.reachable(60):
            mine, theirs = instance.by_moves(structure), instance.by_semantics(state)
            # Of several that tie, Python takes one that its order says; here it may be any.
            assert mine >= theirs if work is to_whoever_has_most else mine == theirs


def build_growing(self: Any) -> None:
    workers = self.spawn(type(self).worker, self.workers)
    boss = self.spawn(self.busy, workers=workers, most=majority(self.workers))
    self.connect(workers, peers=workers, boss=boss)


class Candidacy(Message): ...


class Vote(Message): ...


class Elector(Process):
    everyone: Constant[Peers]
    need: Constant[int]
    voted: Pid | None = None
    leader: bool = False

    @step(when=lambda self: self.voted is None)
    def run(self) -> None:
        self.send(self.everyone, Candidacy())

    @on(Candidacy)
    def vote(self, m: Candidacy) -> None:
        if self.voted is None or self.voted == m.sender:
            self.voted = m.sender
            self.reply(Vote())

    @quorum(Vote, size="need")
    def win(self, votes: frozenset[Vote]) -> None:
        self.leader = True


class Fickle(Elector):
    @on(Candidacy)
    def vote(self, m: Candidacy) -> None:
        self.voted = None if self.voted == m.sender else m.sender
        self.reply(Vote())


class Election(System):
    n: int = 2
    kind = Elector

    def build(self) -> None:
        everyone = self.spawn(self.kind, self.n, need=majority(self.n))
        self.connect(everyone, everyone=everyone)

    @invariant
    def one_leader(self) -> bool:
        return all(p.pid == q.pid or not (p.leader and q.leader) for p in self[Elector] for q in self[Elector])


class FickleElection(Election):
    kind = Fickle


class VotedElection(Election):
    @lemma
    def votes_are_kept(self, m: Pending[Vote], p: Elector) -> bool:
        return m.sender != p.pid or p.voted == m.to  # type: ignore[attr-defined]

    @lemma
    def leaders_have_a_majority(self, p: Elector) -> bool:
        return not p.leader or sum(q.voted == p.pid for q in self[Elector]) >= majority(self[Elector])


@pytest.mark.parametrize(("system", "role"), [(Election, "Elector"), (FickleElection, "Fickle")])
def test_a_field_may_hold_one_of_any_number_or_none(system: type[System], role: str) -> None:
    from parametric_states import Instance

    encoded = EncodedFamily(family(system(), [f"{role}=any"]))
    for number in (1, 2, 3):
        instance = Instance(encoded, (number,))
        for state, structure in instance.reachable(60):
            assert instance.by_moves(structure) == instance.by_semantics(state)


def test_one_leader_of_any_number_of_electors() -> None:
    assert prove(VotedElection(), number=["Elector=any"], discover=False, timeout=30).verdict == "proved"
    assert prove(FickleElection(), number=["Fickle=any"], discover=False, timeout=30).verdict == "refuted"


def build_with_numbers(self: Any) -> None:
    workers = [self.spawn(Worker, n=at) for at in range(self.workers)]
    boss = self.spawn(Boss, workers=Peers(workers), most=1)
    for each in workers:
        self.connect(each, peers=Peers(workers), boss=boss)


def build_in_a_ring(self: Any) -> None:
    workers = self.spawn(Worker, self.workers)
    boss = self.spawn(Boss, workers=workers, most=majority(self.workers))
    listed = list(workers)
    for at, each in enumerate(listed):
        self.connect(each, peers=Peers([listed[at - 1]]), boss=boss)


def build_more_bosses(self: Any) -> None:
    workers = self.spawn(Worker, self.workers)
    bosses = self.spawn(Boss, self.workers, workers=workers, most=1)
    self.connect(workers, peers=workers, boss=next(iter(bosses)))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (build_with_numbers, "Worker.n begins as"),
        (build_in_a_ring, "Worker.peers begins as"),
        (build_more_bosses, "other processes besides"),
    ],
    ids=["numbered", "ring", "more of others"],
)
def test_instances_have_to_be_more_of_the_same(build: Any, says: str) -> None:
    system = type("Other", (Office,), {"build": build, "__module__": __name__, "__annotations__": {}})()
    with pytest.raises(RefusedError, match=says) as refused:
        EncodedFamily(family(system, ["Worker=any"]))
    assert refused.value.location is not None


@pytest.mark.parametrize("network", [fifo(), multiset()], ids=str)
def test_networks_that_order_or_count_are_refused(network: Any) -> None:
    system = type("Net", (Office,), {"network": network, "__module__": __name__, "__annotations__": {}})()
    with pytest.raises(RefusedError):
        EncodedFamily(family(system, ["Worker=any"]))


@pytest.mark.parametrize(
    ("number", "says"),
    [("Participant=3", "ROLE=any"), ("Nobody=any", "no role Nobody"), ("Coordinator=any", "no parameter")],
)
def test_what_is_asked_wrongly_is_said(number: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says) as error:
        prove(TwoPhaseCommit(), number=[number])
    assert error.value.code == "Q755"
    assert error.value.hint


def test_greater_k_does_not_go_with_any_number() -> None:
    with pytest.raises(QuorateError, match="-k"):
        prove(TwoPhaseCommit(), number=PARTICIPANT, k=2)


# --- traps ----------------------------------------------------------------------------------------------------------


class Identical(TwoPhaseCommit):
    @invariant
    def distinct(self) -> bool:
        """True of no system: two views of one process are the same process."""
        return not any(p is q for p in self[Participant] for q in self[Participant])

    @invariant
    def counted(self) -> bool:
        return len({p.willing for p in self[Participant]}) <= 1


def test_is_means_the_same_process_and_sets_have_all_their_elements() -> None:
    proof = prove(Identical(), number=PARTICIPANT, property="distinct", discover=False, timeout=20)
    assert proof.verdict == "refuted"
    proof = prove(Identical(), number=PARTICIPANT, property="counted", discover=False, timeout=20)
    assert proof.verdict == "refuted"


class Parametric(TwoPhaseCommit):
    @invariant
    def few(self) -> bool:
        return self.participants < 4 or not any(p.committed for p in self[Participant])


def test_a_property_must_not_depend_on_the_number() -> None:
    with pytest.raises(RefusedError, match="how many processes"):
        invariants(EncodedFamily(family(Parametric(), PARTICIPANT)), ["few"])


class WithFalseLemma(TwoPhaseCommit):
    @lemma
    def nobody_commits(self, p: Participant) -> bool:
        return p.committed is not True


def test_a_lemma_that_is_false_is_refused() -> None:
    with pytest.raises(QuorateError) as error:
        prove(WithFalseLemma(), number=PARTICIPANT, timeout=30)
    assert error.value.code == "Q754"


def test_the_model_is_as_it_was() -> None:
    before = {name: getattr(Receiver, name).__code__ for name in ("echo", "deliver")}
    names = set(vars(__import__(Receiver.__module__, fromlist=["x"])))
    EncodedFamily(family(EchoBroadcast(), ["Receiver=any"]))
    assert {name: getattr(Receiver, name).__code__ for name in before} == before
    assert set(vars(__import__(Receiver.__module__, fromlist=["x"]))) == names
    assert check(EchoBroadcast(receivers=2), property="agreement").ok
    assert Echo.__name__ == "Echo"


# --- loops inside of what is said of a quorum ------------------------------------------------------------------------


class Nominate(Message):
    whom: Pid
    doubts: int


class Nominator(Process):
    teller: Constant[Pid]
    others: Constant[Peers] = Peers()

    @start
    def nominate(self) -> None:
        self.send(self.teller, Nominate(self.choose(self.others), self.choose((0, 1))))


class Teller(Process):
    nominators: Constant[Peers] = Peers()
    doubtful: bool = False

    @quorum(Nominate, each="nominators", where=lambda self, m: any(p == m.whom for p in self.nominators))
    def count(self, nominations: frozenset[Nominate]) -> None:
        if not all(m.doubts == 0 for m in nominations):
            self.doubtful = True


class Nominating(System):
    """Nobody nominates itself. In the loop of `count`, the one of `where` is about another process."""

    nominators: int = 2

    def build(self) -> None:
        teller = self.spawn(Teller)
        nominators = self.spawn(Nominator, self.nominators, teller=teller)
        self.connect(teller, nominators=nominators)
        for each in nominators:
            self.connect(each, others=nominators - {each})

    @lemma
    def another(self, m: Nominate) -> bool:
        return m.whom != m.sender

    @invariant
    def never_doubtful(self) -> bool:
        return not self[Teller][0].doubtful


def test_a_loop_within_what_is_said_of_a_quorum_is_about_other_processes() -> None:
    assert prove(Nominating(), number=["Nominator=any"], timeout=30).verdict == "refuted"


def test_what_a_quantifier_binds_is_another_variable_than_one_of_the_same_name() -> None:
    x, y, z = (var(name, "Int") for name in "xyz")
    less = app("less", [x, y])
    assert rebuilt(exists([y], less), {x: y}) is exists([var("y~1", "Int")], app("less", [y, var("y~1", "Int")]))
    assert rebuilt(exists([y], less), {y: z}) is exists([var("y~1", "Int")], app("less", [x, var("y~1", "Int")]))
    both = conjunction([less, exists([x], less)])
    assert rebuilt(both, {x: z}) is conjunction(
        [app("less", [z, y]), exists([var("x~1", "Int")], rebuilt(less, {x: var("x~1", "Int")}))]
    )
