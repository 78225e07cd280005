"""Quorate, Spin and Rumur on the same instances of the same protocols, one after the other, each single-threaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.experiment import ALL, DEFAULT, PLAIN, Case, Check, Row, Verdict
from benchmarks.peers import (
    murphi_multicast,
    murphi_om,
    murphi_paxos,
    murphi_storage,
    murphi_thesis_paxos,
    promela_multicast,
    promela_om,
    promela_paxos,
    promela_storage,
)
from benchmarks.peers.rumur import Rumur
from benchmarks.peers.setting import Setting
from benchmarks.peers.spin import Spin

PAXOS, OM, THESIS = "peers-paxos", "peers-om", "peers-thesis"
STORAGE, MULTICAST, BUGS = "peers-storage", "peers-multicast", "peers-bugs"

TABLES = {
    PAXOS: """\
## Peers: Paxos

Instances are (proposers, acceptors, learners), one ballot a proposer. Spin and Rumur verify models of
`quorate check paxos` that were written for this benchmark, step for step the same: with reductions off, the three count
the same states and transitions. In the Promela model, receives take messages in any order, a proposer prepares in one
step, a quorum step consumes an exact majority, each majority being a choice of its own, and stale messages stay
pending. Each is shown not to be vacuous below.

* `Spin` verifies a model that is written as the Python is: an inbox a process, typed messages with the same fields
  ([the text for three acceptors](../benchmarks/models/paxos-messages.pml)). The goals are about this one.
* `Spin, packed` verifies what an expert would write for speed alone: no channels, one process, a message is a bit
  ([text](../benchmarks/models/paxos-packed.pml)). It is here to be fair to Spin; it no longer reads as the protocol.
* `Rumur` verifies a Murphi model with acceptors as a scalarset ([text](../benchmarks/models/paxos.m)); `scalarsets` is
  its exhaustive symmetry reduction, which has the fewest states, and `scalarsets, heuristic` its default, which is
  faster.

Spin is built with `gcc -O3 -DSAFETY`, its own partial-order reduction is on unless the name says otherwise, and it
searches depth-first, its usual mode, in which a counterexample need not be the shortest; the others search
breadth-first. Seconds are those of the verification alone: without generating and compiling a verifier, without
starting Python; for Quorate with the analysis. Bytes are those a state: Spin's are its own figure for stored states,
without hash table and stack; Quorate's are the growth of resident memory, with everything; Rumur's are its highest
resident memory.""",
    OM: """\
## Peers: Oral Messages

One round of passing on, one traitor, `ic1` and `ic2`; an instance is a number of lieutenants. The same steps in all
three; Spin has one state more, from which it chooses who is the traitor. In Murphi, lieutenants are a scalarset.""",
    THESIS: """\
## Peers: Paxos and Oral Messages in the thesis' grain

Rumur on what the thesis checks with Murphi, with the same steps and the same observed property in both. Paxos sends or
receives one message a step, has two proposers, three acceptors and no learners, and proposers are interchangeable:
which ballot each has is open at the beginning ([ours](../benchmarks/protocols/thesis_paxos.py),
[in Murphi](../benchmarks/models/thesis-paxos.m)). In Oral Messages, with three and four lieutenants, reports are heard
one at a time ([ours](../benchmarks/protocols/thesis_om.py), [in Murphi](../benchmarks/models/thesis-om.m)).""",
    STORAGE: """\
## Peers: regular storage

Instances are (base objects, readers, writes). The same steps in all three. In Murphi, base objects and readers are
scalarsets.""",
    MULTICAST: """\
## Peers: Echo Multicast

Instances are (honest receivers, honest initiators, Byzantine receivers, Byzantine initiators). The same steps in all
three, those of the attackers among them. In Murphi, receivers that are told the same are scalarsets, and so are honest
and Byzantine initiators.""",
    BUGS: """\
## Peers: the models are not vacuous

The same models with a mistake put in, or with a claim that is wrong: the peers find it. In Paxos, a proposer ignores
the votes that are reported to it; in the thesis' Paxos, acceptors ignore what they promised; in Oral Messages there are
two traitors; in storage, a base object takes an older value for a newer one, or the claim is the wrong one of the
thesis. For multicast, the table above has an instance where agreement fails.""",
}

Options = Mapping[str, Any]
THESIS_PAXOS = "benchmarks/protocols/thesis_paxos.py:ThesisPaxos"
THESIS_OM = "benchmarks/protocols/thesis_om.py:ThesisOM"
EXACT = ("", "no reduction", "COLLAPSE")
EVERY = (*EXACT, "bitstate")


def quorate(target: str, parameters: Options, *, plain: bool = True, property: Sequence[str] = ()) -> list[Case]:
    asked = {"property": list(property)} if property else {}
    return [
        *([Check("Quorate, plain", target, parameters, {**PLAIN, **asked})] if plain else []),
        Check("Quorate", target, parameters, {**DEFAULT, **asked}),
        Check("Quorate, no symmetry", target, parameters, {"symmetry": "none", **asked}),
        Check("Quorate, all reductions", target, parameters, {**ALL, **asked}),
    ]


def spin(text: str, builds: Sequence[str], model: str = "") -> list[Case]:
    names = [", ".join(["Spin", *filter(None, (model, build))]) for build in builds]
    return [Spin(name, text, build) for name, build in zip(names, builds, strict=True)]


def rumur(text: str, *, heuristic: bool = True) -> list[Case]:
    return [
        Rumur("Rumur", text),
        *([Rumur("Rumur, scalarsets, heuristic", text, "heuristic")] if heuristic else []),
        Rumur("Rumur, scalarsets", text, "exhaustive"),
    ]


def peers(promela: str, murphi: str, *, large: bool) -> list[Case]:
    """Spin and Rumur in every way on the large instance of a table, in the usual ways on the others.

    To build a verifier takes longer than to run it on a small one.
    """
    return [*spin(promela, EVERY if large else ("",)), *rumur(murphi, heuristic=large)]


def rows(quick: bool) -> dict[str, list[Row]]:
    return {
        PAXOS: _paxos(quick),
        OM: _om(quick),
        THESIS: _thesis(quick),
        STORAGE: _storage(quick),
        MULTICAST: _multicast(quick),
        BUGS: _bugs(quick),
    }


def _paxos(quick: bool) -> list[Row]:
    # What a peer cannot do within the limits is tried in one way, not in all.
    builds: dict[tuple[int, int], tuple[tuple[str, ...], bool]] = {
        (2, 3): (("",), True),
        (3, 3): (("", "COLLAPSE"), False) if quick else (EVERY, True),
    }
    if not quick:
        builds |= {
            (2, 4): (EVERY, True),
            (4, 2): (EVERY, True),
            (2, 5): (EVERY, True),
            (5, 2): (EVERY, True),
            (3, 4): (("", "bitstate"), False),
            (4, 3): (("",), False),
            (2, 6): (("",), False),
        }
    result = []
    for (proposers, acceptors), (spin_builds, small) in builds.items():
        messages = promela_paxos.model("messages", proposers, acceptors)
        packed = promela_paxos.model("packed", proposers, acceptors)
        murphi = murphi_paxos.model(proposers, acceptors)
        parameters = {"proposers": proposers, "acceptors": acceptors}
        cases = [
            *quorate("paxos", parameters, plain=small or quick),
            *spin(messages, spin_builds),
            *spin(packed, ("",), "packed"),
            *(rumur(murphi, heuristic=not quick) if small else []),
        ]
        result.append(_row(f"({proposers},{acceptors},1)", "holds", cases))
    return result


def _om(quick: bool) -> list[Row]:
    result = []
    for lieutenants in (4,) if quick else (3, 4, 5, 6):
        cases = [
            *quorate("om", {"lieutenants": lieutenants}, property=("ic1", "ic2")),
            *peers(promela_om.model(lieutenants), murphi_om.model(lieutenants), large=lieutenants == 6),
        ]
        result.append(_row(str(lieutenants), "holds", cases))
    return result


def _thesis(quick: bool) -> list[Row]:
    cases = [*quorate(THESIS_PAXOS, {}), *rumur(murphi_thesis_paxos.model(), heuristic=not quick)]
    result = [_row("Paxos", "holds", cases)]
    for lieutenants in (3,) if quick else (3, 4):
        murphi = murphi_om.model(lieutenants, single=True)
        cases = [*quorate(THESIS_OM, {"lieutenants": lieutenants}), *rumur(murphi, heuristic=not quick)]
        result.append(_row(f"OM(1), {lieutenants} lieutenants", "holds", cases))
    return result


def _storage(quick: bool) -> list[Row]:
    result = []
    numbers = [(3, 2, 1)] if quick else [(3, 1, 1), (3, 2, 1), (3, 1, 2), (5, 1, 1), (3, 3, 1)]
    for bases, readers, writes in numbers:
        promela = promela_storage.model(bases, readers, writes)
        murphi = murphi_storage.model(bases, readers, writes)
        cases = [
            *quorate("regular-storage", {"bases": bases, "readers": readers, "writes": writes}),
            *peers(promela, murphi, large=readers == 3),
        ]
        result.append(_row(f"({bases},{readers},{writes})", "holds", cases))
    return result


def _multicast(quick: bool) -> list[Row]:
    numbers = [(3, 1, 1, 1), (2, 1, 2, 1)]
    numbers += [] if quick else [(3, 0, 1, 1), (2, 1, 0, 1), (4, 1, 1, 0), (3, 2, 1, 1)]
    result = []
    for setting in (Setting(*each) for each in numbers):
        cases = [
            *quorate("echo-multicast", asdict(setting)),
            *peers(promela_multicast.model(setting), murphi_multicast.model(setting), large=setting.initiators == 3),
        ]
        # Where a third of the receivers or more is Byzantine, honest ones can be made to disagree.
        result.append(_row(str(setting), "violated" if setting.byzantine_receivers == 2 else "holds", cases))
    return result


def _bugs(quick: bool) -> list[Row]:
    """Quorate beside them where it has the same mistake bundled."""
    ignored: list[Case] = [
        Spin("Spin", promela_paxos.model("messages", 2, 3), defines=(promela_paxos.SEEDED_BUG,)),
        Spin("Spin, packed", promela_paxos.model("packed", 2, 3), defines=(promela_paxos.SEEDED_BUG,)),
        Rumur("Rumur, scalarsets", murphi_paxos.model(2, 3, bug=True), "exhaustive"),
    ]
    traitors: list[Case] = [
        Check("Quorate", "om", {"traitors": 2}, {"property": ["ic1", "ic2"]}),
        Spin("Spin", promela_om.model(3, 2)),
        Rumur("Rumur, scalarsets", murphi_om.model(3, 2), "exhaustive"),
    ]
    heedless: list[Case] = [Rumur("Rumur, scalarsets", murphi_thesis_paxos.model(bug=True), "exhaustive")]
    single: list[Case] = [
        Check("Quorate", THESIS_OM, {"traitors": 2}),
        Rumur("Rumur, scalarsets", murphi_om.model(3, 2, single=True), "exhaustive"),
    ]
    forgetful: list[Case] = [
        Spin("Spin", promela_storage.model(3, 1, 2), defines=(promela_storage.SEEDED_BUG,)),
        Rumur("Rumur, scalarsets", murphi_storage.model(3, 1, 2, bug=True), "exhaustive"),
    ]
    wrong: list[Case] = [
        Check("Quorate", "wrong-regular-storage", {"readers": 2}),
        Spin("Spin", promela_storage.model(3, 2, wrong=True)),
        Rumur("Rumur, scalarsets", murphi_storage.model(3, 2, wrong=True), "exhaustive"),
    ]
    found = [
        _row("Paxos (2,3,1), votes ignored", "violated", ignored),
        _row("Oral Messages, 3 lieutenants, 2 traitors", "violated", traitors),
        _row("storage (3,1,2), base objects that forget", "violated", forgetful),
    ]
    rest = [
        _row("thesis' Paxos, promises ignored", "violated", heedless),
        _row("thesis' Oral Messages, 3 lieutenants, 2 traitors", "violated", single),
        _row("storage (3,2,1), wrong claim", "violated", wrong),
    ]
    return found if quick else [*found, *rest]


def _row(instance: str, verdict: Verdict, cases: Sequence[Case]) -> Row:
    return Row(instance, verdict, tuple(cases))
