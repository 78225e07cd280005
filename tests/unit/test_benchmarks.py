"""The benchmarks' own parts: what peers print, the models they are given, tables, goals and files. Nothing is timed."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import against, docs, gandalf, published, symmetry
from benchmarks.__main__ import TEXTS
from benchmarks.declared import DECLARED, declared
from benchmarks.experiment import PLAIN, Case, Check, Limits, Measured, Paper, Published, Row
from benchmarks.goals import goals
from benchmarks.machine import describe
from benchmarks.overhead import overhead, pairs
from benchmarks.peers import (
    murphi_multicast,
    murphi_om,
    murphi_paxos,
    murphi_storage,
    murphi_thesis_paxos,
    promela_gandalf,
    promela_multicast,
    promela_om,
    promela_paxos,
    promela_storage,
    write,
)
from benchmarks.peers.process import Finished, PeerError, run
from benchmarks.peers.promela_paxos import Dialect
from benchmarks.peers.rumur import Rumur
from benchmarks.peers.rumur import parse as parse_rumur
from benchmarks.peers.setting import Setting
from benchmarks.peers.spin import Spin, parse
from benchmarks.results import PUBLISHED, Entry, Figure, Results, Section, figure, from_json, save
from benchmarks.runner import Runner
from benchmarks.tables import cell, details, duration, long, remarks, wide

from quorate.cli import supervisor
from quorate.explore import answers
from quorate.search import factors
from quorate.search.limits import ANALYSIS_SECONDS

FINISHED = """\

(Spin Version 6.5.2 -- 6 December 2019)
	+ Partial Order Reduction

Full statespace search for:
	never claim         	- (none specified)
	assertion violations	+
	cycle checks       	- (disabled by -DSAFETY)
	invalid end states	+

State-vector 244 byte, depth reached 26, errors: 0
  8485569 states, stored
 19307378 states, matched
 27792947 transitions (= stored+matched)
        0 atomic steps
hash conflicts:   2953458 (resolved)

Stats on memory usage (in Megabytes):
 2201.152	equivalent memory usage for states (stored*(State-vector + overhead))
 1555.931	actual memory usage for states (compression: 70.69%)
  128.000	memory used for hash table (-w24)
    6.104	memory used for DFS stack (-m100000)
 1688.987	total actual memory usage


unreached in proctype Proposer
	m.pml:27, state 88, "-end-"
	(1 of 88 states)

pan: elapsed time 33.7 seconds
pan: rate 252021.65 states/second
"""

OUT_OF_MEMORY = """\
Depth=      24 States=    1e+06 Transitions=    3e+06 Memory=   372.336	t=     3.84 R=   3e+05
pan: reached -DMEMLIM bound
	6.29117e+08 bytes used
	102400 bytes more needed
	6.29146e+08 bytes limit

(Spin Version 6.5.2 -- 6 December 2019)
Warning: Search not completed
	+ Partial Order Reduction

State-vector 308 byte, depth reached 24, errors: 0
  1932762 states, stored
  3885466 states, matched
  5818228 transitions (= stored+matched)

Stats on memory usage (in Megabytes):
  619.324	equivalent memory usage for states (stored*(State-vector + overhead))
  471.924	actual memory usage for states (compression: 76.20%)
  599.973	total actual memory usage

pan: elapsed time 9.44 seconds
pan: rate 204741.74 states/second
"""

VIOLATED = """\
pan:1: assertion violated ((learned&(learned-1))==0) (at depth 14)
pan: wrote paxos.pml.trail

(Spin Version 6.5.2 -- 6 December 2019)
Warning: Search not completed

State-vector 212 byte, depth reached 14, errors: 1
      554 states, stored
      536 states, matched
     1090 transitions (= stored+matched)

Stats on memory usage (in Megabytes):
    0.129	equivalent memory usage for states (stored*(State-vector + overhead))
    0.283	actual memory usage for states
  134.299	total actual memory usage

pan: elapsed time 0 seconds
"""

RUMUR_PROGRESS = """\
<?xml version="1.0" encoding="UTF-8"?>
<rumur_run>
<progress states="10000" duration_seconds="1" rules_fired="21000" queue_size="4000" thread_id="0"/>
<progress states="20000" duration_seconds="2" rules_fired="43000" queue_size="7000" thread_id="0"/>
"""
RUMUR_FINISHED = RUMUR_PROGRESS + '<summary states="43681" rules_fired="111326" errors="0" duration_seconds="3"/>\n'

QUIET = Limits(seconds=60, repeat=1)


def ended(output: str, *, wall: float = 40.0, cpu: float = 20.0, stopped: str = "") -> Finished:
    return Finished(output, 0, wall, cpu, 50 << 20, stopped)


# --- what peers print ----------------------------------------------------------------------------------------------


def test_a_finished_search() -> None:
    found = parse(ended(FINISHED))
    assert (found.status, found.states, found.transitions) == ("holds", 8_485_569, 27_792_946)
    assert (found.seconds, found.core_seconds) == (33.7, 33.7 / 2)
    assert round(found.bytes_per_state, 1) == 192.3
    assert found.peak_memory_bytes == int(1688.987 * 2**20)


def test_a_search_that_met_a_limit() -> None:
    found = parse(ended(OUT_OF_MEMORY))
    assert (found.status, found.states, found.seconds) == ("incomplete", 1_932_762, 9.44)
    assert found.note == "limit of memory"
    assert round(found.bytes_per_state) == 256


def test_a_violation() -> None:
    found = parse(ended(VIOLATED, wall=0.02, cpu=0.01))
    assert (found.status, found.states, found.seconds) == ("violated", 554, 0.01)


def test_output_that_is_none() -> None:
    with pytest.raises(PeerError, match="states, stored"):
        parse(ended("pan: out of luck\n"))
    with pytest.raises(PeerError, match="no summary"):
        parse_rumur(ended("Illegal instruction\n"))


def test_rumur_finished_and_stopped() -> None:
    found = parse_rumur(ended(RUMUR_FINISHED))
    assert (found.status, found.states, found.transitions, found.seconds) == ("holds", 43_681, 111_326, 40.0)
    stopped = parse_rumur(ended(RUMUR_PROGRESS, stopped="time"))
    assert (stopped.status, stopped.states, stopped.note) == ("incomplete", 20_000, "limit of time")


def test_a_process_is_interrupted_at_its_limit_and_may_still_speak(tmp_path: Path) -> None:
    script = "trap 'echo so far; exit 0' INT; echo begun; while true; do sleep 0.05; done"
    found = run(["sh", "-c", script], tmp_path, Limits(seconds=0.3))
    assert (found.output, found.stopped) == ("begun\nso far\n", "time")


# --- their models ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", write.texts())
def test_the_committed_models_are_those_generated(name: str) -> None:
    assert (write.MODELS / name).read_text() == write.texts()[name], "run `python -m benchmarks.peers.write`"


@pytest.mark.parametrize("dialect", ["messages", "packed"])
def test_every_majority_is_an_option(dialect: Dialect) -> None:
    # Five acceptors have ten majorities. `messages` has one text for any proposer and learns by ballot.
    steps = {
        "messages": {"propose() }": 10, "learn() }": 20},
        "packed": {"propose(1) }": 10, "propose(2) }": 10, "learn(1) }": 20, "learn(2) }": 20},
    }
    text = promela_paxos.model(dialect, 2, 5)
    assert {step: text.count(step) for step in steps[dialect]} == steps[dialect]


HERE = Setting(3, 0, 1, 1)  # what `quorate check echo-multicast` checks

MODELS: dict[str, tuple[str, Callable[[], str], Callable[[], str], int]] = {
    # our protocol, theirs in Promela and Murphi, and the states that Spin needs to choose an initial state
    "paxos": ("paxos", lambda: promela_paxos.model("messages", 2, 3), lambda: murphi_paxos.model(2, 3), 0),
    "om": ("om", lambda: promela_om.model(3), lambda: murphi_om.model(3), 1),
    "multicast": ("echo-multicast", lambda: promela_multicast.model(HERE), lambda: murphi_multicast.model(HERE), 0),
    "storage": ("regular-storage", lambda: promela_storage.model(3), lambda: murphi_storage.model(3), 0),
}


@pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed")
@pytest.mark.parametrize("name", MODELS)
def test_spin_counts_our_states(name: str) -> None:
    target, promela, _, more = MODELS[name]
    ours = Check("", target, {}, PLAIN).measure(QUIET)
    theirs = Spin("", promela(), "no reduction").measure(QUIET)
    assert (theirs.status, theirs.states) == ("holds", ours.states + more)


MURPHI: dict[str, tuple[str, Callable[[], str]]] = {
    **{name: (target, murphi) for name, (target, _, murphi, _) in MODELS.items()},
    "thesis-paxos": (against.THESIS_PAXOS, murphi_thesis_paxos.model),
    "thesis-om": (against.THESIS_OM, lambda: murphi_om.model(3, single=True)),
}


@pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed")
def test_spin_counts_what_was_published() -> None:
    instance = (2, 3, 6, 2)
    found = Spin("", promela_gandalf.model(*instance)).measure(QUIET)
    assert (found.status, found.states) == ("holds", gandalf.TABLE_1[instance].states)


@pytest.mark.skipif(shutil.which("rumur") is None, reason="rumur is not installed")
@pytest.mark.parametrize("name", MURPHI)
def test_rumur_counts_our_states(name: str) -> None:
    target, murphi = MURPHI[name]
    ours = Check("", target, {}, PLAIN).measure(QUIET)
    theirs = Rumur("", murphi()).measure(QUIET)
    assert (theirs.status, theirs.states) == ("holds", ours.states)


def test_a_multicast_whose_proofs_differ_is_refused_in_murphi() -> None:
    with pytest.raises(ValueError, match=r"4 may echo and 3 are needed"):
        murphi_multicast.model(Setting(4, 1, 0, 0))


# --- what is declared ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
def test_every_table_has_its_text_and_every_cell_its_name(quick: bool) -> None:
    for module in DECLARED:
        tables = module.rows(quick)
        assert set(tables) == set(module.TABLES)
        assert set(tables) <= set(TEXTS)
        for rows in tables.values():
            assert rows
            cells = [(row.instance, row.claim, case.column) for row in rows for case in row.cases]
            assert len(set(cells)) == len(cells)


def test_half_of_the_acceptors_is_no_majority() -> None:
    verdicts = {row.instance: row.verdict for row in gandalf.rows(False)["gandalf-2"]}
    assert (verdicts["(2,8,16,5)"], verdicts["(2,8,16,4)"]) == ("holds", "violated")


def test_an_option_that_does_not_exist_is_said_to_be_missing() -> None:
    found = Check("", "paxos", {}, {"por": "none", "warp": 9}).measure(QUIET)
    assert found.status == "not available"
    assert "warp" in found.note
    assert Check("", "no-such-protocol").measure(QUIET).status == "not available"
    assert Check("", "paxos", {"no_such_parameter": 1}).measure(QUIET).status == "not available"


def test_a_check_in_a_process_of_its_own() -> None:
    found = Check("", "paxos", {"acceptors": 3}, PLAIN).measure(Limits(seconds=60, repeat=3))
    assert (found.status, found.states, found.transitions, len(found.samples)) == ("holds", 8_649, 20_049, 3)
    assert found.peak_memory_bytes > 1 << 20
    stopped = Check("", "paxos", {"acceptors": 5}, {**PLAIN, "max_states": 1000}).measure(QUIET)
    assert (stopped.status, stopped.note) == ("incomplete", "limit of states")


# --- running ---------------------------------------------------------------------------------------------------------


class Scripted:
    """A case that says how often it was measured."""

    program = "Quorate"
    published = None

    def __init__(self, column: str, answers: list[Measured | BaseException]) -> None:
        self.column = column
        self.answers = answers

    @property
    def key(self) -> object:
        return self.column

    def measure(self, limits: Limits) -> Measured:
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


ANSWER = Measured("holds", 10, 20, 0.5, 0.5, 0.4, samples=(0.5,))


def test_an_interrupt_keeps_what_was_measured_and_resuming_measures_the_rest() -> None:
    kept: list[Section] = []
    once = Scripted("once", [ANSWER])
    later = Scripted("later", [KeyboardInterrupt(), ANSWER])
    cases: tuple[Case, ...] = (once, later)
    with pytest.raises(KeyboardInterrupt):
        Runner(lambda _: None, kept.append, QUIET).table("t", [Row("i", "holds", cases)])
    assert [entry.column for entry in kept[-1].entries] == ["once"]
    known = {("t", e.instance, e.claim, e.column): e.measured for e in kept[-1].entries}
    whole = Runner(lambda _: None, kept.append, QUIET, known).table("t", [Row("i", "holds", cases)])
    assert [entry.measured for entry in whole.entries] == [ANSWER, ANSWER]


def test_one_case_that_fails_does_not_end_the_run_and_the_same_case_is_measured_once() -> None:
    failing = Scripted("failing", [RuntimeError("no luck\nat all")])
    shared = Scripted("shared", [ANSWER])
    rows = [Row("a", "holds", (failing, shared)), Row("b", "holds", (shared,))]
    section = Runner(lambda _: None, lambda _: None, QUIET).table("t", rows)
    assert [entry.measured.status for entry in section.entries] == ["failed", "holds", "holds"]
    assert section.entries[0].measured.note == "no luck"


class Fresh(Scripted):
    """A case of which no other measures the same."""

    @property
    def key(self) -> object:
        return id(self)


def test_what_met_a_limit_is_not_tried_on_larger_instances_of_its_family() -> None:
    stopped = Measured("incomplete", 10, note="limit of time")
    outcomes = {"small": ANSWER, "large": stopped, "larger": ANSWER, "another": ANSWER}
    rows = [
        Row(name, "holds", (Fresh("slow", [slow]), Fresh("quick", [ANSWER])), growing="large" in name)
        for name, slow in outcomes.items()
    ]
    found = Runner(lambda _: None, lambda _: None, QUIET).table("t", rows).entries
    assert [e.measured.status for e in found if e.column == "slow"] == ["holds", "incomplete", "skipped", "holds"]
    assert [e.measured.status for e in found if e.column == "quick"] == ["holds"] * 4


def test_a_row_may_have_limits_of_its_own() -> None:
    given: list[tuple[float, int]] = []

    class Noting(Scripted):
        def measure(self, limits: Limits) -> Measured:
            given.append((limits.seconds, limits.memory_bytes))
            return ANSWER

    usual = Limits(seconds=120, memory_bytes=6 << 30)
    for number, limits in enumerate((usual, replace(usual, most=20, seconds=20))):
        runner = Runner(lambda _: None, lambda _: None, limits)
        cases = [(Noting(f"{number}{name}", []),) for name in "abc"]
        runner.table("t", [Row("usual", "holds", cases[0]), Row("short", "holds", cases[1], seconds=10)])
        runner.table("u", [Row("long", "holds", cases[2], seconds=600, memory_bytes=8 << 30)])
    assert given == [
        *((120, 6 << 30), (10, 6 << 30), (600, 8 << 30)),
        *((20, 6 << 30), (10, 6 << 30), (20, 8 << 30)),
    ]


# --- showing ---------------------------------------------------------------------------------------------------------


def test_goals_are_met_or_missed() -> None:
    assert figure("speed", "states/s", [1e6, 4e6, 3e6], goal=3e6).met
    assert Figure("memory", "bytes", 40.0, better="lower", goal=32).margin == 0.8
    assert Figure("memory", "bytes", 40.0, better="lower", goal=32).met is False
    assert Figure("count", "states", 8649, better="equal", goal=8649).met
    assert Figure("count", "states", 8648, better="equal", goal=8649).met is False
    assert Figure("speed", "states/s", 1.0).met is None


def entry(instance: str, column: str, measured: Measured, published: Published | None = None) -> Entry:
    program = column.partition(",")[0]
    return Entry(instance, "", "holds", column, program, measured, published)


PLAIN_5 = Measured("holds", 8_485_569, 27_792_946, 3.1, 3.0, 3.0, 250 << 20, 29.0, (3.1,))
REDUCED_5 = Measured("holds", 39_477, 200_000, 0.2, 0.2, 0.1, 30 << 20, 60.0, (0.2,))
SPIN_5 = Measured("holds", 8_485_569, 27_792_946, 34.0, 34.0, 34.0, 1 << 30, 290.0, (34.0,))
RUMUR_4 = Measured("holds", 206, 616, 0.1, 0.1, 0.1, 2 << 20, 0.0, (0.1,))
OURS_4 = Measured("holds", 20, 60, 0.1, 0.1, 0.1, 2 << 20, 0.0, (0.1,))


def some_results() -> Results:
    paxos = Section(
        against.PAXOS,
        (
            entry("(2,5,1)", "Quorate, plain", PLAIN_5),
            entry("(2,5,1)", "Quorate", REDUCED_5),
            entry("(2,5,1)", "Spin", SPIN_5),
        ),
    )
    four = "OM(1), 4 lieutenants"
    om = Section(against.THESIS, (entry(four, "Quorate", OURS_4), entry(four, "Rumur, scalarsets", RUMUR_4)))
    stopped = Measured("incomplete", 5_000_000, 1, 120.0, 120.0, 120.0, note="limit of time")
    gone = Published(28_208_534, note="out of memory")
    table = Section(
        "gandalf-2",
        (
            entry("(2,8,16,5)", "Spin, published", Measured("skipped", note="published only"), gone),
            entry("(2,8,16,5)", "default", stopped),
        ),
    )
    table = Section("gandalf-2", tuple(Entry(**{**vars(e), "program": "Quorate"}) for e in table.entries))
    return Results(describe(), "2024-05-01", "abc", False, True, {s.name: s for s in (table, paxos, om)})


def test_efficiency_counts_what_states_stand_for_where_there_is_no_search_without_symmetry() -> None:
    auto = Measured("holds", 100, symmetries=6, stands_for=570, group="3! Lieutenant")
    answers = {"ends": Measured("holds", 540), "does not": Measured("incomplete", 200, note="limit of time")}
    entries = [entry(name, symmetry.NONE, plain) for name, plain in answers.items()]
    entries += [entry(name, symmetry.AUTO, auto) for name in answers]
    results = replace(some_results(), sections={symmetry.THESIS_TABLE: Section(symmetry.THESIS_TABLE, tuple(entries))})
    found = {each.what: round(each.value, 2) for each in goals(results).figures}
    assert found == {"ends: efficiency of symmetry": 0.9, "does not: efficiency of symmetry": 0.95}


def test_partial_orders_are_compared_with_the_same_without_them() -> None:
    compared = {name: {pair for row in rows for pair in named_pairs(row)} for name, rows in declared(False).items()}
    assert compared["scaling-acceptors"] == {("default", "all reductions"), ("no symmetry", "partial orders")}
    assert compared["gandalf-2"] == {("default", "all reductions")}
    assert ("unreduced", "LPOR") in compared["thesis-4.1"]
    assert ("unreduced", "all reductions") not in compared["thesis-4.1"]
    assert compared["refinements"] == {("no partial orders", "all refinements")}


def named_pairs(row: Row) -> set[tuple[str, str]]:
    return {(without.column, with_it.column) for without, with_it in pairs(row)}


def test_partial_orders_that_cost_time_are_a_goal_missed() -> None:
    def took(seconds: float) -> Measured:
        return Measured("holds", 10, 10, seconds, seconds)

    times = {"8": (0.9, 5.0), "9": (2.0, 2.05), "10": (1.5, 2.9)}  # without and with; the first is too short to count
    columns = ("default", "all reductions")
    entries = tuple(entry(row, c, took(s)) for row, both in times.items() for c, s in zip(columns, both, strict=True))
    results = replace(some_results(), sections={"scaling-acceptors": Section("scaling-acceptors", entries)})
    (found,) = overhead(results)
    assert (found.value, found.goal, found.met) == (1, 2, False)
    assert found.note.startswith("1.93 times as long at the most (scaling-acceptors 10,")
    quicker = tuple(each for each in entries if each.instance != "10")
    (found,) = overhead(replace(results, sections={"scaling-acceptors": Section("scaling-acceptors", quicker)}))
    assert (found.value, found.goal, found.met) == (1, 1, True)


def test_the_goals_of_a_run() -> None:
    found = {each.what: each for each in goals(some_results()).figures}
    speed = found["Paxos (2,5,1): times faster than Spin"]
    assert (round(speed.value), speed.met) == (170, True)
    rate = found["Paxos, plain search: times more states per second than Spin, at least"]
    assert (round(rate.value, 1), rate.met) == (11.3, False)
    assert found["Paxos, plain search: times less memory per state than Spin, at least"].value == 10
    assert found["peers-paxos: searches by peers without symmetry that count our states"].met
    assert found["the thesis' OM(1), 4 lieutenants: times fewer states than Rumur with scalarsets"].value == 10.3
    gone = found["rows of the GandALF tables where Spin ran out of memory, answered exhaustively"]
    assert (gone.value, gone.goal, gone.met, gone.note) == (0, 1, False, "not: gandalf-2 (2,8,16,5)")


def test_symmetries_are_told_with_their_group() -> None:
    plain, naive, auto = (
        Measured("holds", 148_294),
        Measured("holds", 74_147, group="2! Server", symmetries=2, stands_for=148_294),
        Measured("holds", 13_213, group="2! Proposer x 3! Acceptor", symmetries=12, stands_for=148_294),
    )
    columns = {symmetry.NONE: plain, symmetry.NAIVE: naive, symmetry.AUTO: auto}
    section = Section(symmetry.THESIS_TABLE, tuple(entry("Paxos, safety", *each) for each in columns.items()))
    (found,) = goals(Results(describe(), "2024-05-01", "abc", False, True, {section.name: section})).figures
    assert (round(found.value, 3), found.met) == (0.935, True)
    assert found.note == "2! Proposer x 3! Acceptor; naive 0.17, 2! Server"
    head, lines = details(section)
    assert [dict(zip(head, line, strict=True))["group"] for line in lines] == ["", naive.group, auto.group]
    assert lines[2][-2:] == ("148,294", "2! Proposer x 3! Acceptor")


def test_another_count_or_verdict_is_wrong() -> None:
    off = Measured("holds", 8_485_568, 0, 34.0, 34.0, 34.0, 1 << 30, 290.0)
    section = Section(against.PAXOS, (entry("(2,5,1)", "Quorate, plain", PLAIN_5), entry("(2,5,1)", "Spin", off)))
    results = Results(describe(), "2024-05-01", "abc", False, True, {section.name: section})
    assert goals(results).wrong == ("peers-paxos: searches by peers without symmetry that count our states: 0, not 1",)
    violated = Section("t", (entry("i", "default", Measured("violated", 3)),))
    assert violated.wrong == ("t, i, default: violated, not holds",)
    assert wide(violated)[1][0][1] == "WRONG: violated, expected holds"


def test_cells_have_the_published_figures_beside_ours() -> None:
    paper = Published(6_247_530, 23 * 3600, "more than")
    assert cell(entry("i", "default", REDUCED_5, paper)) == "39,477 / 0.20 s\n[> 6,247,530 / 23 h 00]"
    missing = Measured("not available", note="symmetry='auto' is not available in this version")
    assert cell(entry("i", "all", missing)) == "not available"
    left_out = replace(REDUCED_5, note="symmetry left out: the closure is not complete")
    assert cell(entry("i", "naive", left_out)) == "39,477 / 0.20 s, no symmetry"
    assert remarks(Section("t", (entry("i", "naive", left_out),))) == [f"naive: {left_out.note}"]
    assert [duration(each) for each in (0.002, 4.06, 72, 577, 12_600)] == [
        "2 ms",
        "4.06 s",
        "72.0 s",
        "9 m 37",
        "3 h 30",
    ]


def test_results_survive_their_file(tmp_path: Path) -> None:
    results = some_results()
    results = results.with_section(goals(results))
    written = save(results, tmp_path / "latest.json")
    assert [path.name for path in written] == ["latest.json", "latest.csv", "latest-goals.csv"]
    assert from_json(json.loads(written[0].read_text())) == results
    page = docs.page(results, TEXTS)
    assert "| Paxos (2,5,1): times faster than Spin (0.20 s, Spin 34.0 s) | 170x | ≥ 100x | 1.70x | met |" in page
    head, lines = long(results.sections[against.PAXOS])
    spin = dict(zip(head, lines[2], strict=True))
    assert (spin["time"], spin["rate"], spin["size"]) == ("170x", "11.3x", "10.0x")
    assert "| (2,8,16,5) | no answer | [> 28,208,534, out of memory] | > 5,000,000 / 2 m 00, limit of time |" in page


def test_the_readme_quotes_the_page_and_has_a_place_for_it() -> None:
    said = " ".join(docs.headline(some_results()).split())
    assert "8,485,569 states. Without reductions Quorate visits 2.8 million states a second on one core" in said
    assert "The default reductions leave 39,477 states, and the answer takes 0.20 s. Spin" in said
    assert docs.README.read_text().count(docs.BEGIN) == docs.README.read_text().count(docs.END) == 1


def test_what_is_published_is_small_and_says_the_same(tmp_path: Path) -> None:
    results = some_results()
    results = results.with_section(goals(results))
    kept = published.write(results, tmp_path / "published.json")
    assert docs.page(kept, TEXTS) == docs.page(results, TEXTS)
    ours, theirs = kept.sections[against.PAXOS].entries[0], results.sections[against.PAXOS].entries[0]
    assert ours == replace(theirs, measured=replace(theirs.measured, samples=()))
    assert PUBLISHED.stat().st_size < 200_000


def test_the_figures_of_the_documentation_are_those_that_were_kept() -> None:
    kept = published.read(PUBLISHED)
    assert docs.PAGE.read_text() == docs.page(kept, TEXTS)
    assert docs.headline(kept) in docs.README.read_text()


def test_tables_of_a_later_run_say_when_they_were_measured(tmp_path: Path) -> None:
    full = some_results()
    again = replace(full.sections[against.THESIS], notes=("again",))
    later = Results(describe(), "2024-06-02", "def", False, True, {again.name: again})
    kept = published.write(full.with_sections_of(later), tmp_path / "published.json")
    assert kept.sections[against.THESIS].origin == later.origin
    assert kept.sections[against.PAXOS].origin is None
    assert "* Measured on 2024-06-02, at commit def.\n* again\n" in docs.page(kept, TEXTS)
    assert full.with_sections_of(replace(later, date=full.date, commit=full.commit)).sections[again.name] == again


LIMITS = {
    "cli.md": [supervisor.SLOW, ANALYSIS_SECONDS, supervisor.GRACE, supervisor.SHOWING],
    "soundness.md": [ANALYSIS_SECONDS],
    "errors.md": [answers.WAIT],
    "reading-counterexamples.md": [factors.SECONDS],
}
"""By page: the times that are no measurements but constants of the code, in the order in which they are told."""


def test_no_other_page_quotes_measurements() -> None:
    """But for what the README quotes by itself, the pages of protocols, which are written from measured.json, and the
    page on clusters, which computes from measured rates what many machines would do, and names them for that."""
    root = docs.README.parent
    pages = {
        path: path.read_text()
        for path in [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("docs/decisions/*.md")]
    }
    before, _, rest = pages[docs.README].partition(docs.BEGIN)
    pages[docs.README] = before + rest.partition(docs.END)[2]
    measured = re.compile(r"[\d.]+ (?:ms|s|seconds)\b|million states (?:a|per) second")
    quoting = {path.name: found for path, text in pages.items() if (found := measured.findall(text))}
    assert quoting.pop("benchmarks.md")
    assert quoting.pop("cluster.md") == ["million states a second"] * 2  # of threads, and of workers
    assert quoting == {page: [f"{seconds:g} seconds" for seconds in known] for page, known in LIMITS.items()}


def test_a_published_figure_is_shown_where_nothing_is_measured() -> None:
    section = Runner(lambda _: None, lambda _: None, QUIET).table(
        "t", [Row("i", "holds", (Paper("naive", Published(795_945)), Scripted("auto", [ANSWER])))]
    )
    assert wide(section) == (("instance", "verdict", "naive", "auto"), [("i", "holds", "[795,945]", "10 / 0.50 s")])
