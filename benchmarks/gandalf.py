"""Paxos in Spin, tables 1 and 2 of Delzanno, Tatarek and Traverso (GandALF 2014), checked by Quorate.

Their instances are (proposers, acceptors, size of a channel, votes that count as a majority). Our channels have no
size: all that was sent is there to be taken, in any order. So rows that differ only in it are one to us.
"""

from __future__ import annotations

from benchmarks.experiment import ALL, DEFAULT, PLAIN, Case, Check, Paper, Published, Row, Verdict
from benchmarks.peers import promela_gandalf
from benchmarks.peers.spin import Spin

TABLES = {
    "gandalf-1": """\
## Paxos, votes counted one by one (GandALF 2014, table 1)

Instances are (proposers, acceptors, size of a channel, votes that count as a majority). The authors model it in
Promela, where a receive takes the first message that fits; `quorate check paxos-counting` takes messages in any order,
so it explores more. Our channels have no size: rows that differ only in it are one instance to us. `Spin, again` is a
model of ours after the paper's description ([text](../benchmarks/models/gandalf.pml)), which comes to the published
counts, to the last state.""",
    "gandalf-2": """\
## Paxos, quorums taken in one step (GandALF 2014, table 2)

Ours is `quorate check paxos`, where a step consumes the messages of a whole quorum, whichever arrived. The authors'
optimised Promela model counts messages in a guard, and its prepare messages are never removed; as printed it is
vacuous, since no quorum ever reports a vote. So the counts are not to be compared, but the instances are, and which of
them get an answer. `bitstate` marks what the authors could only approximate: it may miss an error, and where four of
eight acceptors count as a majority, it did.""",
}

Instance = tuple[int, int, int, int]  # proposers, acceptors, size of a channel, majority


def _out(states: int) -> Published:
    return Published(states, note="out of memory")


def _app(verdict: Verdict | None, states: int | None = None, seconds: float | None = None) -> Published:
    return Published(states, seconds, "bitstate", verdict)


def _violated(states: int) -> Published:
    return Published(states, verdict="violated")


TABLE_1: dict[Instance, Published] = {
    (2, 2, 3, 1): _violated(346),
    (2, 2, 3, 2): Published(824),
    (2, 2, 4, 2): Published(790),
    (2, 3, 3, 1): _violated(2_195),
    (2, 3, 6, 2): Published(65_091, 0.285),
    (2, 4, 3, 1): _violated(20_045),
    (2, 4, 3, 2): _violated(52_281),
    (2, 4, 3, 3): Published(979_118, 4.06),
    (2, 4, 6, 3): Published(794_775),
    (2, 4, 7, 3): Published(754_072),
    (2, 4, 8, 3): Published(744_224, 5.97),
    (2, 5, 3, 1): _violated(151_550),
    (2, 5, 3, 2): _violated(377_295),
    (2, 5, 3, 3): _out(7_807_712),
    (2, 5, 10, 3): _out(5_186_311),
    (2, 5, 20, 3): _out(3_476_531),
    (2, 6, 12, 2): _app("violated"),
    (2, 6, 12, 3): _app("violated"),
}

TABLE_2: dict[Instance, Published] = {
    (2, 2, 4, 2): Published(61),
    (2, 3, 6, 2): Published(926),
    (2, 4, 8, 3): Published(4_421, 0.02),
    (2, 5, 10, 3): Published(91_956, 0.4),
    (2, 5, 15, 2): _app("violated"),
    (2, 6, 12, 4): Published(473_261, 2.74),
    (2, 7, 14, 4): Published(9_762_358, 71.9),
    (2, 8, 16, 5): _out(28_208_534),
    (2, 8, 16, 4): _app("holds"),
    (3, 2, 6, 2): Published(987),
    (3, 3, 9, 2): Published(104_761, 0.35),
    (3, 4, 12, 3): Published(1_339_802, 7.3),
    (3, 5, 15, 3): _out(30_813_015),
    (4, 2, 8, 2): Published(16_457),
    (4, 3, 12, 2): Published(9_547_976, 48.1),
    (4, 4, 16, 3): _out(29_450_661),
    (4, 4, 16, 2): _app("violated"),
    (5, 2, 10, 2): Published(270_237),
    (5, 3, 15, 2): Published(122_000_000, 3600, "out of memory"),
    (5, 3, 15, 1): _app("violated"),
    (6, 2, 12, 2): Published(4_397_176),
    (7, 2, 14, 2): Published(71_298_752, 558),
    (8, 2, 16, 2): _out(149_840_000),
    (8, 2, 16, 1): _app("violated"),
}

# Without reductions only where that ends within the limits; what is left out is larger than what is just within.
PLAIN_UP_TO = {"paxos-counting": 1_000_000, "paxos": 1_400_000}
QUICK_FROM, QUICK_UP_TO = 500, 100_000
AGAIN = "Spin, again"
LIMIT = 60.0  # seconds, for what took the authors hours or all their memory


def rows(quick: bool) -> dict[str, list[Row]]:
    return {
        "gandalf-1": _rows("paxos-counting", TABLE_1, quick),
        "gandalf-2": _rows("paxos", TABLE_2, quick),
    }


def _rows(target: str, table: dict[Instance, Published], quick: bool) -> list[Row]:
    return [
        _row(target, instance, published)
        for instance, published in table.items()
        if not quick or QUICK_FROM <= (published.states or 0) <= QUICK_UP_TO
    ]


def _row(target: str, instance: Instance, published: Published) -> Row:
    proposers, acceptors, _, majority = instance
    parameters = {"proposers": proposers, "acceptors": acceptors, "majority": majority}
    # Two quorums that have no acceptor in common can choose differently; else Paxos is right.
    verdict: Verdict = "violated" if 2 * majority <= acceptors else "holds"
    cases: list[Case] = [Paper("Spin, published", published)]
    if target == "paxos-counting" and not published.note:
        cases.append(Spin(AGAIN, promela_gandalf.model(*instance)))
    if published.states is not None and published.states <= PLAIN_UP_TO[target]:
        cases.append(Check("plain", target, parameters, PLAIN))
    cases.append(Check("default", target, parameters, DEFAULT))
    cases.append(Check("no symmetry", target, parameters, {"symmetry": "none"}))
    if target == "paxos-counting":
        cases.append(Check("partial orders", target, parameters, {"symmetry": "none", "por": "lpor-net"}))
    cases.append(Check("all reductions", target, parameters, ALL))
    return Row(str(instance).replace(" ", ""), verdict, tuple(cases), seconds=LIMIT)
