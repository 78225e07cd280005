"""Temporal properties from the model to the verdict: what is stated, what is assumed, and the run that breaks it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quorate import (
    Event,
    Message,
    ModelError,
    Monitor,
    Pid,
    Process,
    QuorateError,
    System,
    check,
    crashes,
    ctl,
    eventually,
    invariant,
    leads_to,
    ltl,
    on,
    repeatedly,
    stably,
    start,
    step,
    unordered,
)
from quorate.base.errors import PropertyError
from quorate.cli.main import app
from quorate.model.define import define
from quorate.properties.temporal.refutation import refuted
from quorate.results.json import saved_document
from quorate.results.replay import ReplayError, replay
from quorate.search import liveness


class Ask(Message): ...


class Grant(Message): ...


class Release(Message): ...


class Lock(Process):
    held: bool = False

    @on(Ask, when=lambda self, m: not self.held)
    def grant(self, m: Ask) -> None:
        self.held = True
        self.reply(Grant())

    @on(Release)
    def free(self, m: Release) -> None:
        self.held = False


class Client(Process):
    lock: Pid
    state: str = "idle"

    @step(when=lambda self: self.state == "idle", fair=False)
    def ask(self) -> None:
        self.state = "waiting"
        self.send(self.lock, Ask())

    @on(Grant)
    def enter(self, m: Grant) -> None:
        self.state = "inside"

    @step(when=lambda self: self.state == "inside")
    def leave(self) -> None:
        self.state = "idle"
        self.send(self.lock, Release())


class Locking(System):
    clients: int = 2

    def build(self) -> None:
        self.spawn(Client, self.clients, lock=self.spawn(Lock))

    @invariant
    def exclusive(self) -> bool:
        return sum(client.state == "inside" for client in self[Client]) <= 1

    def waiting(self, client: Client) -> bool:
        return client.state == "waiting"

    def inside(self, client: Client) -> bool:
        return client.state == "inside"

    def held(self) -> bool:
        return self[Lock][0].held

    served = ltl("G(waiting -> F inside)", each=Client)
    released = ltl("G(held -> F !held)")
    can_be_free = ctl("AG EF !held")


def outcomes(result: Any) -> dict[str, str]:
    return {each.name: each.verdict for each in result.properties}


def test_a_lock_may_starve_a_client_unless_it_is_strongly_fair() -> None:
    weak = check(Locking)
    assert outcomes(weak) == {
        "exclusive": "holds",
        "served[client1]": "violated",
        "served[client2]": "violated",
        "released": "holds",
        "can_be_free": "holds",
    }
    assert weak.trace is not None
    assert weak.trace.property == "served[client1]"
    assert [str(each.transition) for each in weak.trace.loop] == [
        "Lock.grant",
        "Client.enter",
        "Client.leave",
        "Lock.free",
        "Client.ask",
    ]
    assert weak.fairness is not None
    assert weak.fairness["starved"] == ["lock1.grant (again and again)"]
    assert weak.fairness["would_hold"] == "strong"
    assert check(Locking, fairness="strong").ok


@pytest.mark.parametrize(
    ("level", "verdict", "stops"),
    [
        ("none", "violated", True),
        ("progress", "holds", None),
        ("process", "holds", None),
        ("transition", "holds", None),
        ("message", "holds", None),
        ("strong", "holds", None),
    ],
)
def test_levels(level: str, verdict: str, stops: bool | None) -> None:
    found = check(Locking, property="released", fairness=level)
    assert found.verdict == verdict
    assert (found.trace.stops if found.trace is not None else None) == stops


def test_a_formula_from_the_command_line() -> None:
    found = check(Locking, ltl="G F held", fairness="strong")
    assert found.verdict == "violated"  # nobody has to ask
    assert found.trace is not None
    assert (len(found.trace), found.trace.loop_from) == (0, 0)
    assert check(Locking, ctl="EF held").ok
    assert not check(Locking, ctl="AF held").ok


@pytest.mark.parametrize("level", ["none", "message", "strong"])
def test_reductions_change_nothing(level: str) -> None:
    reduced = check(Locking, property=["served", "released", "can_be_free"], fairness=level)
    plain = check(
        Locking,
        property=["served", "released", "can_be_free"],
        fairness=level,
        quotient="off",
        dead_messages="off",
        symmetry="none",
    )
    assert outcomes(reduced) == outcomes(plain)
    # `served` is about one client each, so that they cannot be exchanged.
    told = reduced.reductions["symmetry"]
    kept = "" if level == "none" else "it does not keep who is treated fairly: it keeps --fairness none and progress"
    assert not told["ran"]
    assert told["why"] == kept or (level == "none" and "does not say the same of all of them" in told["why"])
    alone = check(Locking, property=["released", "can_be_free"], fairness=level)
    assert alone.reductions["symmetry"]["ran"] == (level == "none")


# Shapes


class Tick(Process):
    at: int = 0

    @step(when=lambda self: self.at < 3)
    def go(self) -> None:
        self.at += 1

    @step(when=lambda self: self.at == 3)
    def back(self) -> None:
        self.at = 2


class Ticking(System):
    def build(self) -> None:
        self.spawn(Tick)

    @eventually
    def arrives(self) -> bool:
        return self[Tick][0].at == 3

    @stably
    def stays_far(self) -> bool:
        return self[Tick][0].at >= 2

    @repeatedly
    def comes_back(self) -> bool:
        return self[Tick][0].at == 2

    @leads_to("arrives")
    def begins(self) -> bool:
        return self[Tick][0].at == 0

    @leads_to(lambda self: self[Tick][0].at == 1)
    def is_far(self) -> bool:
        return self[Tick][0].at == 3

    @leads_to("arrives")
    def never(self) -> bool:
        return self[Tick][0].at > 7

    @stably
    def rests(self) -> bool:
        return self[Tick][0].at == 3


def test_every_shape() -> None:
    found = check(Ticking)
    assert outcomes(found) == {
        "arrives": "holds",
        "stays_far": "holds",
        "comes_back": "holds",
        "begins": "holds",
        "is_far": "violated",
        "never": "holds",
        "rests": "violated",
    }
    assert [each.kind for each in found.properties][:2] == ["eventually", "stably"]
    notes = {each.name: each.note for each in found.properties}
    assert notes["never"] == "vacuously: never is never true"


@pytest.mark.parametrize(
    ("formula", "note"),
    [
        ("G(arrives & never -> F begins)", "vacuously: arrives & never is never true"),
        ("F never -> F begins", "vacuously: never is never true"),
        ("F G begins -> F never", "vacuously: no run satisfies F G begins"),
        ("never -> F arrives", "vacuously: never is true in no initial state"),
        ("G(F G begins -> F never)", "vacuously: no run satisfies F F G begins"),
        ("G F arrives -> G F comes_back", ""),
        ("G(arrives & !never -> F comes_back)", ""),
        ("begins -> F arrives", ""),
    ],
)
def test_what_holds_for_want_of_a_run_that_it_is_about(formula: str, note: str) -> None:
    found = check(Ticking, ltl=formula)
    assert found.ok
    assert found.properties[0].note == note


def test_what_a_bound_hides_is_not_said_to_be_never_true() -> None:
    found = check(Doors(most=2), ltl="F far -> F near")
    assert (found.verdict, found.bounds) == ("holds", ("Count.within",))
    assert "vacuously" not in found.properties[0].note


# Faults


class Data(Message): ...


class Ack(Message): ...


class Sender(Process):
    to: Pid
    done: bool = False

    @step(when=lambda self: not self.done)
    def send_again(self) -> None:
        self.send(self.to, Data())

    @on(Ack)
    def acknowledged(self, m: Ack) -> None:
        self.done = True


class Receiver(Process):
    @on(Data)
    def receive(self, m: Data) -> None:
        self.reply(Ack())


class StopAndWait(System):
    network = unordered(losses="any")

    def build(self) -> None:
        self.spawn(Sender, to=self.spawn(Receiver))

    @eventually
    def arrives(self) -> bool:
        return self[Sender][0].done


class FairLossy(StopAndWait):
    network = unordered(losses="any", fair=True)


def test_fair_lossy_channels_deliver_what_is_sent_again_and_again() -> None:
    assert not check(StopAndWait).ok
    assert check(StopAndWait, fairness="strong").ok
    found = check(FairLossy)
    assert found.ok
    assert found.fairness is not None
    assert "what is sent again and again is received" in found.fairness["assuming"]


class Server(Process):
    durable = ()

    @on(Data)
    def serve(self, m: Data) -> None:
        self.reply(Ack())


class Caller(Process):
    server: Pid
    answered: bool = False

    @start
    def call(self) -> None:
        self.send(self.server, Data())

    @on(Ack)
    def hear(self, m: Ack) -> None:
        self.answered = True


class Calling(System):
    faults = crashes(1, of=Server)

    def build(self) -> None:
        self.spawn(Caller, server=self.spawn(Server))

    @eventually
    def answer(self) -> bool:
        return self[Caller][0].answered


class ComesBack(Calling):
    faults = crashes(1, of=Server, recover="fair", cut_short=False)


class MayComeBack(Calling):
    faults = crashes(1, of=Server, recover=True, cut_short=False)


@pytest.mark.parametrize(
    ("system", "options", "verdict"),
    [
        (Calling, {}, "violated"),
        (Calling, {"crashes": 0}, "holds"),
        (Calling, {"crash": "implicit"}, "violated"),
        (MayComeBack, {}, "violated"),
        (ComesBack, {}, "holds"),
    ],
)
def test_crashes(system: type[System], options: dict[str, Any], verdict: str) -> None:
    assert check(system, property="answer", **options).verdict == verdict


class Counter(Process):
    at: int = 0

    def within(self) -> bool:
        return self.at < 3

    @step(when=lambda self: True)
    def count(self) -> None:
        self.at += 1


class Counting(System):
    def build(self) -> None:
        self.spawn(Counter)

    @eventually
    def far(self) -> bool:
        return self[Counter][0].at == 10


def test_a_bound_that_ends_a_run_decides_nothing() -> None:
    found = check(Counting)
    assert found.verdict == "incomplete"
    assert found.properties[-1].note == "not decided: Counter.within ends a run on which it is still open"
    assert found.trace is None


class Branching(Process):
    """It may go on beyond the bound, and it may also do something else."""

    steps: int = 0
    rested: bool = False

    def within(self) -> bool:
        return self.steps < 3

    @step(when=lambda self: not self.rested)
    def go(self) -> None:
        self.steps += 1

    @step(when=lambda self: not self.rested)
    def rest(self) -> None:
        self.rested = True


class Roaming(System):
    def build(self) -> None:
        self.spawn(Branching)

    def rested(self) -> bool:
        return self[Branching][0].rested

    def begun(self) -> bool:
        return self[Branching][0].steps > 0 or self.rested()

    def far(self) -> bool:
        return self[Branching][0].steps == 2

    def never(self) -> bool:
        return self[Branching][0].steps < 0


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("F rested", "incomplete"),  # beyond the bound it may go on for ever
        ("F begun", "holds"),  # decided before the bound, on every run
        ("G F rested", "incomplete"),
        ("F G rested", "incomplete"),
        ("G !far", "violated"),
        ("G !never", "incomplete"),
        ("!far W begun", "holds"),
    ],
)
def test_a_run_that_may_go_on_beyond_a_bound_is_open(formula: str, verdict: str) -> None:
    result = check(Roaming, ltl=formula)
    (outcome,) = result.properties
    assert (result.verdict, result.bounds) == (verdict, ("Branching.within",))
    if verdict == "incomplete":
        assert outcome.note == "not decided: Branching.within ends a run on which it is still open"
    if verdict == "holds":
        assert outcome.note == "on every run, before Branching.within ends it"


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("EF far", "holds"),  # a run shows it, whatever others do
        ("EF never", "incomplete"),
        ("!EF far", "violated"),
        ("!EF never", "incomplete"),
        ("A(G begun) | EF EG !rested", "incomplete"),
        ("AG EF rested", "incomplete"),
        ("!EF EF far", "violated"),
    ],
)
def test_branching_time_beyond_a_bound(formula: str, verdict: str) -> None:
    """More runs make more true of `some run`, and less of `every run`."""
    assert check(Roaming, ctl=formula).verdict == verdict


# Violations before the whole graph is there


@pytest.mark.parametrize("formula", ["G F held", "F G !held", "G(held -> F !held)", "F held", "G !held"])
@pytest.mark.parametrize("level", ["none", "process", "message"])
@pytest.mark.parametrize("por", ["none", "lpor-net"])
def test_a_violation_is_found_in_a_part_of_the_graph(
    formula: str, level: str, por: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"ltl": formula, "fairness": level, "por": por}
    whole = check(Locking(clients=3), **options)
    monkeypatch.setattr(liveness, "FIRST_LOOK", 4)
    monkeypatch.setattr(liveness, "GROWTH", 2)
    found = check(Locking(clients=3), **options)
    assert found.verdict == whole.verdict
    if found.verdict == "holds":
        assert found.states == whole.states
        return
    assert found.trace is not None
    assert whole.trace is not None
    if not found.trace.loop:
        assert whole.trace.loop or len(found.trace.steps) == len(whole.trace.steps), "a run that ends is a shortest one"


def test_the_search_ends_once_every_property_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "FIRST_LOOK", 8)
    both: dict[str, Any] = {"ltl": ["G F held", "F G held"], "fairness": "none"}
    early = check(Locking(clients=3), **both)
    assert early.fairness is not None
    assert (early.verdict, early.fairness["not_tried"]) == ("violated", "ended early")
    assert "stronger fairness was not tried: the search ended with this run" in str(early)
    one = check(Locking(clients=3), ltl=["G F held", "G(held -> held)"], fairness="none")
    whole = check(Locking(clients=3), ltl="G(held -> held)", fairness="none")
    assert early.states < one.states == whole.states
    assert [each.verdict for each in one.properties] == ["violated", "holds"]


class Door(Process):
    open: bool = False
    through: bool = False

    @step(when=lambda self: not self.through)
    def swing(self) -> None:
        self.open = not self.open

    @step(when=lambda self: self.open and not self.through)
    def enter(self) -> None:
        self.through = True


class Count(Process):
    most: int
    n: int = 0

    @step(when=lambda self: self.n < 60, fair=False)
    def up(self) -> None:
        self.n += 1

    def within(self) -> bool:
        return self.n <= self.most


class Doors(System):
    most: int = 60

    def build(self) -> None:
        self.spawn(Door)
        self.spawn(Count, most=self.most)

    @eventually
    def inside(self) -> bool:
        return self[Door][0].through

    def near(self) -> bool:
        return self[Count][0].n == 0

    def far(self) -> bool:
        return self[Count][0].n == 5


@pytest.mark.parametrize("cut", [{"most": 3}, {"max_states": 40}], ids=["by a bound", "by a limit"])
def test_that_no_fairness_would_help_is_not_said_of_a_part_of_the_graph(cut: dict[str, int]) -> None:
    """Found by hand: what was only undecided at the stronger levels was told as violated there too."""
    whole = check(Doors)
    assert whole.fairness is not None
    assert whole.fairness["would_hold"] == "strong"
    part = check(Doors(most=cut.get("most", 60)), property="inside", max_states=cut.get("max_states"))
    assert part.fairness is not None
    assert (part.verdict, part.fairness["not_tried"]) == ("violated", "open")
    assert "whether stronger fairness would make it hold is open" in str(part)
    assert "no stronger fairness" not in str(part)


# Byzantine processes


class Rumour(Message): ...


class Liar(Process, byzantine=True):
    to: Pid
    said: bool = False

    @step(when=lambda self: not self.said)
    def lie(self) -> None:
        self.said = True
        self.send(self.to, Rumour())


class Believer(Process):
    heard: bool = False

    @on(Rumour)
    def hear(self, m: Rumour) -> None:
        self.heard = True


class Gossiping(System):
    def build(self) -> None:
        self.spawn(Liar, to=self.spawn(Believer))

    def said(self) -> bool:
        return self[Liar][0].said

    def heard(self) -> bool:
        return self[Believer][0].heard


def test_a_byzantine_process_need_not_send_but_what_it_has_sent_arrives() -> None:
    assert check(Gossiping, ltl="F said").verdict == "violated"
    assert check(Gossiping, ltl="F heard").verdict == "violated"
    assert check(Gossiping, ltl="G(said -> F heard)").verdict == "holds"


@pytest.mark.parametrize(
    "options", [{"stateless": True}, {"store": "bitstate"}, {"store": "fingerprint"}, {"por": "dpor"}]
)
def test_without_a_stored_graph_nothing_is_said_about_whole_runs(options: dict[str, Any]) -> None:
    found = check(Locking, property=["exclusive", "released"], **options)
    assert found.verdict == "incomplete"
    assert "stores no graph" in found.properties[-1].note


def test_a_limit_leaves_it_open() -> None:
    assert check(Locking, property="can_be_free", max_states=3).verdict == "incomplete"
    assert check(Locking, property="released", max_states=3).verdict == "incomplete"


# Runs


def test_a_lasso_is_saved_and_replayed(tmp_path: Path) -> None:
    found = check(Locking)
    assert found.trace is not None
    document = json.loads(json.dumps(saved_document(found.trace, "lock.py:Locking")))
    trace = replay(define(Locking()), document["trace"])
    assert (trace.loop_from, trace.fairness, len(trace)) == (2, "message", 7)
    assert "again and again" in str(trace)
    with pytest.raises(ReplayError, match="it is not fair: lock1.grant"):
        replay(define(Locking()), document["trace"] | {"fairness": "strong"})
    with pytest.raises(ReplayError, match="which the model no longer has"):
        replay(define(Locking()), document["trace"] | {"property": "gone"})
    with pytest.raises(ReplayError, match="released holds on it"):
        replay(define(Locking()), document["trace"] | {"property": "released"})


def test_what_refutes_a_lasso() -> None:
    found = check(Locking)
    trace = found.trace
    assert trace is not None
    from quorate.properties.temporal.stated import temporal_of

    prop = temporal_of(trace.definition)[0]
    arguments = (trace.definition, prop, prop.formula, trace.initial, trace.steps)
    assert refuted(*arguments, 2, "message") == ""
    assert refuted(*arguments, 1, "message") == "its loop does not close"
    assert refuted(*arguments, 7, "message").startswith("it is not fair: lock1.grant")
    assert refuted(*arguments, 2, "message", stopped=[0]) == "a crashed process goes on"


# Bad input: all before any search


@pytest.mark.parametrize(
    ("formula", "code", "said"),
    [
        ("G(waits -> X held)", "Q405", "column 3: no predicate is called waits"),
        ("G(held -> X held)", "Q406", "column 11: X (next) is not supported"),
        ("G(hel -> F held)", "Q405", "did you mean `held`?"),
        ("G(held -> ", "Q404", "column"),
        ("G held held", "Q404", "column 8"),
        ("held @ held", "Q404", "column 6"),
        ("A G held", "Q407", "belongs to CTL"),
    ],
)
def test_bad_formulas(formula: str, code: str, said: str) -> None:
    with pytest.raises(PropertyError) as caught:
        check(Locking, ltl=formula)
    assert caught.value.code == code
    assert said in str(caught.value)


def test_a_formula_over_a_formula_is_refused() -> None:
    class Over(Locking):
        calm = ltl("F released")

    class Itself(Locking):
        held = ltl("F held")  # type: ignore[assignment]  # was a method

    for system in (Over, Itself):
        with pytest.raises(PropertyError, match="is a formula itself, and formulas are about methods") as caught:
            check(system)
        assert caught.value.code == "Q405"


@pytest.mark.parametrize(
    ("formula", "verdict", "runs"),
    [
        ("true", "holds", "every"),
        ("F held | G !held", "holds", "every"),
        ("false", "violated", "no"),
        ("F held & G !held", "violated", "no"),
    ],
)
def test_formulas_that_say_nothing_about_the_model(formula: str, verdict: str, runs: str) -> None:
    result = check(Locking, ltl=formula)
    assert result.verdict == verdict
    assert result.warnings == (f"{formula} is true of {runs} run, whatever the model does",)
    assert check(Locking, ltl="G(held -> F !held)").warnings == ()


def test_a_formula_that_is_given_twice_is_one_property() -> None:
    result = check(Locking, ltl=["G F held", "G F held"], ctl=["EF held", "EF held"])
    assert [each.name for each in result.properties] == ["G F held", "EF held"]


def test_a_name_that_cannot_be_a_predicate_here() -> None:
    with pytest.raises(PropertyError) as caught:
        check(Locking, ltl="G waiting")
    assert caught.value.code == "Q405"
    assert "is a method, but predicates of this formula take only self" in caught.value.hint
    with pytest.raises(PropertyError) as caught:
        check(Locking, ltl="G build")
    assert caught.value.hint.startswith("there is: "), "that it takes only self is not what is wrong with it"


class Sometimes:
    """No system by itself."""

    __getitem__: Any

    @eventually
    def odd(self) -> bool:
        return bool(self[Tick][0].at % 2 == 1)

    def even(self) -> bool:
        return not self.odd()


class Mixed(Sometimes, Ticking):
    again = ltl("G F even")


def test_predicates_of_a_mixin() -> None:
    result = check(Mixed, property=["odd", "again"])
    assert [(each.name, each.verdict) for each in result.properties] == [("odd", "holds"), ("again", "holds")]


def test_bad_declarations() -> None:
    with pytest.raises(ModelError, match="name a class of processes"):
        ltl("G p", each=Locking)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="a formula is a text"):
        ltl(3)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="unknown fairness"):
        step(when=lambda self: True, fair="weak")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="fair=True without losses='any'"):
        unordered(fair=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'fair'"):
        crashes(1, fair=True)  # type: ignore[call-arg]  # a crash need never happen
    with pytest.raises(ModelError, match="True, False or 'fair'"):
        crashes(1, recover="perhaps")  # type: ignore[arg-type]
    with pytest.raises(QuorateError, match="fairness='fair' is not a valid choice"):
        check(Locking, fairness="fair")


class NoBool(Ticking):
    def odd(self) -> bool:
        return self[Tick][0].at  # type: ignore[return-value]


class Raises(Ticking):
    def odd(self) -> bool:
        raise KeyError("odd")


@pytest.mark.parametrize(("system", "code"), [(NoBool, "Q402"), (Raises, "Q403")])
def test_predicates_that_do_not_answer(system: type[System], code: str) -> None:
    with pytest.raises(PropertyError) as caught:
        check(system, ltl="F odd")
    assert caught.value.code == code
    assert "odd" in caught.value.message


class Ticked(Event): ...


class Watching(Monitor):
    seen: bool = False

    @on(Ticked, fair=False)  # it sees an event in the step that emits it
    def see(self, e: Ticked) -> None:
        self.seen = True


class Watched(Ticking):
    def build(self) -> None:
        super().build()
        self.watch(Watching)


def test_a_monitor_is_not_fair_or_unfair() -> None:
    with pytest.raises(ModelError, match="Watching.see: a monitor only reacts to events") as caught:
        check(Watched)
    assert caught.value.code == "Q106"


class TwoParameters(System):
    def build(self) -> None:
        self.spawn(Tick)

    @eventually
    def odd(self, tick: Tick) -> bool:
        return True


class NoSuchRole(Ticking):
    def some(self, lock: Lock) -> bool:
        return True

    odd = ltl("F some", each=Lock)


@pytest.mark.parametrize("system", [TwoParameters, NoSuchRole])
def test_declarations_that_do_not_fit(system: type[System]) -> None:
    with pytest.raises(ModelError) as caught:
        check(system)
    assert caught.value.code == "Q409"


def test_the_command_line_says_what_is_assumed(tmp_path: Path) -> None:
    runner = CliRunner()
    shown = runner.invoke(app, ["check", f"{__file__}:Locking", "--property", "released"])
    assert shown.exit_code == 0
    assert "assuming: every step that stays possible is taken" in " ".join(shown.output.split())
    starved = runner.invoke(app, ["check", f"{__file__}:Locking", "--json"])
    assert starved.exit_code == 1
    document = json.loads(starved.output)
    assert document["fairness"]["level"] == "message"
    assert document["trace"]["loop_from"] == 2
