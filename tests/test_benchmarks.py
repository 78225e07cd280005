"""The benchmarks' own parts: what Spin prints, the Promela it is given, and rows with goals. Nothing here is timed."""

import json
from pathlib import Path

import pytest
from benchmarks import docs
from benchmarks.machine import describe
from benchmarks.promela import Dialect, committed, model
from benchmarks.results import Peer, Results, Row, Section, from_json, row, save
from benchmarks.spin import SpinError, parse

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


def test_a_finished_search() -> None:
    found = parse(FINISHED, cpu_seconds=20.0, wall_seconds=40.0)
    assert (found.states, found.transitions, found.errors, found.complete) == (8_485_569, 27_792_946, 0, True)
    assert found.seconds == 33.7
    assert found.core_seconds == 33.7 / 2
    assert round(found.bytes_per_state, 1) == 192.3
    assert found.total_memory_bytes == int(1688.987 * 2**20)


def test_a_search_that_met_a_limit() -> None:
    found = parse(OUT_OF_MEMORY)
    assert (found.states, found.errors, found.complete, found.seconds) == (1_932_762, 0, False, 9.44)
    assert round(found.bytes_per_state) == 256


def test_a_violation() -> None:
    found = parse(VIOLATED)
    assert (found.states, found.errors, found.seconds) == (554, 1, 0.0)


def test_output_that_is_none() -> None:
    with pytest.raises(SpinError, match="states, stored"):
        parse("pan: out of luck\n")


@pytest.mark.parametrize("dialect", ["messages", "packed"])
def test_the_committed_models_are_those_generated(dialect: Dialect) -> None:
    assert committed(dialect).read_text() == model(dialect, 2, 3), "run `python -m benchmarks.promela`"


@pytest.mark.parametrize("dialect", ["messages", "packed"])
def test_every_majority_is_an_option(dialect: Dialect) -> None:
    # Five acceptors have ten majorities. `messages` has one text for any proposer and learns by ballot.
    steps = {
        "messages": {"propose() }": 10, "learn() }": 20},
        "packed": {"propose(1) }": 10, "propose(2) }": 10, "learn(1) }": 20, "learn(2) }": 20},
    }
    text = model(dialect, 2, 5)
    assert {step: text.count(step) for step in steps[dialect]} == steps[dialect]


def test_goals() -> None:
    assert row("speed", "states/s", [1e6, 4e6, 3e6], goal=3e6).met
    assert Row("memory", "bytes", 40.0, better="lower", goal=32).margin == 0.8
    assert Row("memory", "bytes", 40.0, better="lower", goal=32).met is False
    assert Row("count", "states", 8649, better="equal", goal=8649).met
    assert Row("count", "states", 8648, better="equal", goal=8649).met is False
    assert Row("speed", "states/s", 1.0).met is None


def test_results_survive_their_file(tmp_path: Path) -> None:
    quorate = Peer("(2,5,1)", "Quorate", "paxos", "plain", 8_485_569, 27_792_946, True, 3.0, 2.9, 29.0)
    spin = Peer("(2,5,1)", "Spin", "messages", "plain", 5_000_000, 15_500_000, False, 34.0, 32.0, 256.0)
    ratio = Row("times the states per second of Spin", "x", 18.7, (18.7,), goal=10)
    section = Section("spin", (ratio,), (quorate, spin), ("A note.",), (0.5, 1.0), 40.0)
    results = Results(describe(), "2024-05-01", False, {"spin": section})
    written = save(results, tmp_path / "latest.json")
    assert [path.name for path in written] == ["latest.json", "latest.csv", "latest-peers.csv"]
    assert from_json(json.loads(written[0].read_text())) == results
    page = docs.page(results)
    assert "| times the states per second of Spin | 18.7x | ≥ 10.0x | 1.87x | met |" in page
    assert "| (2,5,1) | Spin | > 5,000,000 | 34.00 | 0.16 M/s | 256 | 18.7x | 8.8x |" in page
