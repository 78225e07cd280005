"""Shared cells: what the language says of them, what is refused, and how runs with them are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agreement import PLAIN, agree
from quorate import (
    Constant,
    Map,
    Message,
    ModelError,
    Peers,
    Pid,
    Process,
    QuorateError,
    Shared,
    System,
    can,
    check,
    fifo,
    final,
    invariant,
    on,
    simulate,
    start,
    step,
)
from quorate.model.define import define
from quorate.protocols.bakery import Bakery
from quorate.protocols.peterson import Peterson
from quorate.protocols.racing_increment import RacingIncrement
from quorate.protocols.shared_philosophers import SharedPhilosophers
from quorate.protocols.ticket_lock import TicketLock
from quorate.render.chart.model import chart
from quorate.render.html.document import document
from quorate.results.json import trace_to_json
from quorate.results.replay import replay
from shared_statements import Statements

# Bundled protocols


@pytest.mark.parametrize(
    "system",
    [
        RacingIncrement(threads=3),
        TicketLock(),
        TicketLock(threads=2, atomic=False),
        Peterson(),
        Peterson(processes=2, one_by_one=True),
        Peterson(processes=2, swapped=True),
        Bakery(highest=2),
        Bakery(highest=2, choosing=False),
        SharedPhilosophers(),
        SharedPhilosophers(philosophers=2, atomic=False),
    ],
    ids=str,
)
def test_the_core_agrees_with_the_plain_semantics(system: System) -> None:
    agree(system)


@pytest.mark.parametrize(
    ("system", "broken", "steps"),
    [
        (RacingIncrement(atomic=False), "nothing_is_lost", 4),
        (TicketLock(atomic=False), "mutual_exclusion", 6),
        (TicketLock(numbers=2), "mutual_exclusion", 5),
        (Peterson(swapped=True), "mutual_exclusion", 14),
        (Bakery(choosing=False), "mutual_exclusion", 14),
        (SharedPhilosophers(left_first=True), "deadlock", 6),
        (SharedPhilosophers(atomic=False), "neighbours_do_not_eat_together", 10),
    ],
    ids=str,
)
def test_faulty_variants_break(system: System, broken: str, steps: int) -> None:
    for options in ({}, PLAIN):
        found = check(system, **options)
        assert (found.property, found.trace and len(found.trace)) == (broken, steps)


def test_symmetry_exchanges_cells_with_their_processes() -> None:
    found = check(Peterson(), property="mutual_exclusion")
    assert "symmetry" in found.reductions
    assert found.reductions["symmetry"]["ran"]
    plain = check(Peterson(), property="mutual_exclusion", **PLAIN)
    assert found.reductions["symmetry"]["stands_for"] == plain.states > 5 * found.states


# What a step sees


class Note(Message): ...


def one(*rules: Any, cells: tuple[str, ...] = ("x",), access: Any = "atomic", **members: Any) -> Any:
    """A system of two threads with these transitions, and an invariant that x is never 9."""
    body: dict[str, Any] = {"__module__": __name__, **{rule.__name__: rule for rule in rules}, **members}
    body["__annotations__"] = dict.fromkeys(cells, "Constant[Shared[int]]") | {"n": "int"}
    body["n"] = 0
    thread: Any = type("Thread", (Process,), body)

    class Two(System):
        def build(self) -> None:
            made = {name: self.share(name, 0, access=access) for name in cells}
            self.spawn(thread, 2, **made)

        @invariant
        def never_nine(self) -> bool:
            return bool(self.shared("x") != 9)

    return Two()


def refused(code: str, system: System, text: str = ".") -> None:
    """It is an error, with the line in this file."""
    with pytest.raises(QuorateError, match=text) as raised:
        check(system)
    assert raised.value.code == code
    assert raised.value.location is not None
    assert raised.value.location.file == __file__


def test_a_step_sees_what_it_has_written() -> None:
    @start
    def twice(self: Any) -> None:
        self.x.value = 4
        self.x.value = self.x.value + 5

    assert check(one(twice)).property == "never_nine"


def test_others_see_the_last_value_alone() -> None:
    @start
    def twice(self: Any) -> None:
        self.x.value = 9
        self.x.value = 1

    assert check(one(twice)).ok


def test_a_guard_reads() -> None:
    @start
    def set_it(self: Any) -> None:
        self.x.value = 1

    @step(when=lambda self: self.x.value == 1 and self.n == 0)
    def follow(self: Any) -> None:
        self.n, self.x.value = 1, 9

    found = check(one(set_it, follow))
    assert found.trace is not None
    assert [each.transition.name for each in found.trace.steps if each.transition] == ["set_it", "follow"]


def test_single_access() -> None:
    @start
    def read_and_write(self: Any) -> None:
        self.x.value = self.x.value + 1

    refused("Q126", one(read_and_write, access="single"), "x read, x written")

    @start
    def read_twice(self: Any) -> None:
        self.n = self.x.value + self.x.value

    assert check(one(read_twice, access="single")).ok

    @start
    def read_both(self: Any) -> None:
        self.n = self.x.value + self.y.value

    refused("Q126", one(read_both, cells=("x", "y"), access="single"), "x read, y read")


def test_the_guard_counts_as_access() -> None:
    @step(when=lambda self: self.x.value == 0)
    def take(self: Any) -> None:
        self.x.value = 1

    refused("Q126", one(take, access="single"))
    assert check(one(take)).ok


def test_a_signal_that_is_swallowed_counts() -> None:
    @step(when=lambda self: self.n == 0)
    def careless(self: Any) -> None:
        self.n = 1
        try:
            self.x.value += 1
        except BaseException:  # not Quorate's business
            self.x.value = 9

    assert check(one(careless)).ok


@pytest.mark.parametrize("value", [1, []])
def test_a_guard_does_not_write(value: Any) -> None:
    def wrong(self: Any) -> bool:
        self.x.value = value
        return True

    @step(when=wrong)
    def go(self: Any) -> None: ...

    refused("Q108", one(go))


def test_what_no_state_can_hold_is_refused() -> None:
    @start
    def put(self: Any) -> None:
        self.x.value = [1]

    refused("Q101", one(put), "list")


def test_a_bound_of_a_process_does_not_read() -> None:
    @start
    def go(self: Any) -> None: ...

    refused("Q108", one(go, within=lambda self: self.x.value < 3), "knows its own process alone")


# Building


class Bad(System):
    how: int = 0

    def build(self) -> None:
        if self.how == 0:
            cell = self.share("x", 0)
            self.share("x", 0)
        elif self.how == 1:
            cell = self.share("x", [])  # type: ignore[arg-type]
        elif self.how == 2:
            cell = self.share("x", 0, access="twice")  # type: ignore[call-overload]
        else:
            cell = self.share("x", 0)
            cell.value = 3
        self.spawn(Holder, x=cell)


class Holder(Process):
    x: Constant[Shared[int]]


@pytest.mark.parametrize(("how", "code"), [(0, "Q109"), (1, "Q109"), (2, "Q109"), (3, "Q108")])
def test_mistakes_in_build(how: int, code: str) -> None:
    with pytest.raises(QuorateError) as raised:
        check(Bad(how=how))
    assert raised.value.code == code
    assert raised.value.location is not None
    assert raised.value.location.file == __file__


def test_nobody_makes_cells_but_a_system() -> None:
    with pytest.raises(ModelError, match="made by their system"):
        Shared(3)


def test_what_has_no_rule_is_refused_by_name(tmp_path: Path) -> None:
    refused: list[tuple[System, dict[str, Any]]] = [
        (Peterson(), {"workers": 2, "property": "mutual_exclusion"}),
        (Peterson(), {"checkpoint": tmp_path / "saved", "property": "mutual_exclusion"}),
        (TicketLock(), {"byzantine": {"thread": 1}}),
    ]
    for system, options in refused:
        with pytest.raises(QuorateError, match="shared cell"):
            check(system, **options)
    found = check(Peterson(processes=2), por="dpor", property="mutual_exclusion")
    assert not found.reductions["por"]["ran"]
    assert "shared cells" in found.reductions["por"]["why"]


def test_steps_that_concern_nobody_else_go_first() -> None:
    plain = check(Statements(processes=2), **PLAIN)
    for others in ({}, PLAIN):
        found = check(Statements(processes=2), por="lpor", **others)
        assert found.ok
        assert found.reductions["por"]["ran"]
        assert 2 * found.states < plain.states
    temporal = check(Peterson(processes=2), por="lpor", property="contending")
    assert not temporal.reductions["por"]["ran"]


# Reductions (docs/soundness.md, rule 35)


class Flipper(Process):
    flag: Constant[Shared[bool]]

    @start
    def flip(self) -> None:
        self.flag.value = True


class Waiter(Process):
    flag: Constant[Shared[bool]]
    done: bool = False

    @step(when=lambda self: self.flag.value and not self.done)
    def go(self) -> None:
        self.done = True


class Flag(System):
    def build(self) -> None:
        flag = self.share("flag", False)
        self.spawn(Flipper, flag=flag)
        self.spawn(Waiter, flag=flag)

    @can
    def goes(self) -> bool:
        return any(waiter.done for waiter in self[Waiter])

    @invariant
    def stays(self) -> bool:
        return not any(waiter.done for waiter in self[Waiter])


def test_values_that_no_property_reads_are_kept_apart() -> None:
    assert check(Flag(), property="goes").ok
    found = check(Flag(), property="stays")
    assert found.reductions["quotient"]["ran"]
    assert found.trace is not None
    assert len(found.trace) == 2


class Listener(Process):
    """While the flag is down the note is of no use to it."""

    flag: Constant[Shared[bool]]
    heard: bool = False
    steps: int = 0

    @on(Note, when=lambda self, m: self.flag.value)
    def hear(self, _: Note) -> None:
        self.heard = True

    @step(when=lambda self: not self.flag.value and self.steps < 1)
    def wait(self) -> None:
        self.steps += 1


class Teller(Process):
    to: Pid

    @start
    def tell(self) -> None:
        self.send(self.to, Note())


class Late(System):
    def build(self) -> None:
        flag = self.share("flag", False)
        listener = self.spawn(Listener, flag=flag)
        self.spawn(Teller, to=listener)
        self.spawn(Flipper, flag=flag)

    @invariant
    def nobody_hears(self) -> bool:
        return not any(each.heard for each in self[Listener])


def test_a_message_that_is_dead_for_one_value_is_alive_for_another() -> None:
    found = check(Late())
    assert found.reductions["dead-messages"]["ran"]
    assert found.property == "nobody_hears"


class Chooser(Process):
    peers: Constant[Peers]
    mine: Constant[Map[Pid, Shared[int]]]
    favoured: bool = False

    @start
    def look(self) -> None:
        self.mine[self.pid].value = 1

    @step(when=lambda self: self.mine[next(iter(self.peers))].value == 1 and not self.favoured)
    def favour(self) -> None:
        self.favoured = True


class Favours(System):
    def build(self) -> None:
        pids = self.spawn(Chooser, 3)
        self.connect(pids, peers=pids, mine=self.share("mine", 0, each=pids))

    @invariant
    def the_last_is_left_out(self) -> bool:
        return sum(each.favoured for each in self[Chooser]) < 3


def test_whoever_reads_somebody_in_particular_is_not_exchanged() -> None:
    found = check(Favours())
    assert found.property == "the_last_is_left_out"
    assert not found.reductions["symmetry"]["ran"] or "2!" in found.reductions["symmetry"]["group"]


class Pairs(System):
    def build(self) -> None:
        pids = self.spawn(Chooser, 2)
        one, two = pids
        between = self.share("between", 0, each=[(one, two)])
        self.connect(pids, peers=pids, mine=Map({one: between[one, two], two: between[one, two]}))

    @invariant
    def holds(self) -> bool:
        return True


def test_a_cell_of_two_names_keeps_their_family_from_being_exchanged() -> None:
    assert not check(Pairs()).reductions["symmetry"]["ran"]


class Dropping(System):
    """A head that is not wanted while the flag is down is thrown away."""

    network = fifo(head="drop")

    def build(self) -> None:
        flag = self.share("flag", False)
        listener = self.spawn(Listener, flag=flag)
        self.spawn(Teller, to=listener)
        self.spawn(Flipper, flag=flag)

    @final
    def heard(self) -> bool:
        return all(each.heard for each in self[Listener])


def test_what_is_discarded_depends_on_what_is_read() -> None:
    agree(Dropping())
    assert check(Dropping()).property == "deadlock"


# Shown


def test_a_run_is_drawn_told_and_replayed() -> None:
    found = check(RacingIncrement(atomic=False))
    assert found.trace is not None
    notes = [note for each in chart(found.trace).happenings for note in each.notes]
    assert notes == ["reads counter = 0", "reads counter = 0", "writes counter = 1", "writes counter = 1"]
    assert "writes counter = 1" in str(found.trace)
    assert "counter = 1" in found.trace.reason
    assert "writes" in document(found)
    told = trace_to_json(found.trace)
    assert told["steps"][0]["reads"] == [{"cell": "counter", "value": 0}]
    assert told["steps"][2]["writes"] == [{"cell": "counter", "value": 1}]
    assert told["steps"][2]["events"] == []
    assert len(replay(define(RacingIncrement(atomic=False)), told)) == 4


def test_random_runs_meet_it() -> None:
    assert simulate(RacingIncrement(atomic=False), runs=200, depth=20, seed=1).property == "nothing_is_lost"


def test_nobody_starves_and_somebody_does() -> None:
    assert check(TicketLock(threads=2), property="waiting").ok
    assert check(Peterson(processes=2), property="contending").ok
    assert check(SharedPhilosophers(philosophers=2), property="hungry").ok


def test_the_search_is_as_fast_as_it_is_without_python() -> None:
    """Python is asked for what steps read, not for states."""
    found = check(RacingIncrement(threads=6, atomic=False), property="deadlock", **PLAIN)
    assert found.states == 13_494
    assert found.python_calls < 400


# Temporal properties


class Taking(Process):
    cell: Constant[Shared[int]]

    @on(Note)
    def take(self, m: Note) -> None:
        self.cell.value = 1 - self.cell.value


class Giving(Process):
    to: Pid

    @step(when=lambda self: True)
    def give(self) -> None:
        self.send(self.to, Note())


class Filled(System):
    network = fifo(capacity=2)

    def build(self) -> None:
        self.spawn(Giving, to=self.spawn(Taking, cell=self.share("cell", 0)))

    def one(self) -> bool:
        return self[Taking][0].cell.value == 1


@pytest.mark.parametrize("options", [{}, {"quotient": "off"}, {"max_behaviours": 1}])
def test_a_process_that_reads_only_with_some_messages(options: dict[str, Any]) -> None:
    # Without a message the process reads nothing: its steps are known before its view of the cell is.
    assert check(Filled, ltl="F one", **options).verdict == "holds"
    assert check(Filled, ltl="F G one", **options).verdict == "violated"
