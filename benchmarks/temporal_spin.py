"""Quorate and Spin on the same formulas of the same models, under weak fairness of processes."""

from __future__ import annotations

from benchmarks.experiment import PLAIN, Case, Check, Row, Verdict
from benchmarks.peers import promela_lock, promela_storage
from benchmarks.peers.spin import Spin
from benchmarks.temporal import LOCK

TEMPORAL_SPIN = "temporal-spin"
TABLES = {
    TEMPORAL_SPIN: """\
## Peers: temporal properties

The same LTL on the same models: Spin with `-a -f`, Quorate with `--fairness process`, both one thread. A lock is given
to whoever comes first ([Promela](../benchmarks/models/lock.pml)); the register is `regular-storage` as (bases, readers,
writes), asked whether a read ends. Spin counts states of the product, Quorate those of the system. Spin is built with
`gcc -O3 -DNFAIR=4`; its partial-order reduction is on unless the name says otherwise. In
`tests/unit/test_temporal_spin.py` both say the same of 51 formulas on eleven more models, with and without
fairness.""",
}

REGISTER = "benchmarks.protocols.temporal_storage:RegularRegister"


def rows(quick: bool) -> dict[str, list[Row]]:
    sizes = (8, 12) if quick else (8, 10, 12, 14)
    instances = [(3, 1, 2), (3, 2, 1)] if quick else [(3, 1, 2), (3, 2, 1), (4, 2, 1), (3, 2, 2)]
    found = [_lock(clients, "released", "holds") for clients in sizes]
    found += [_lock(clients, "served", "violated") for clients in sizes]
    found += [_register(*instance) for instance in instances]
    return {TEMPORAL_SPIN: found}


def _lock(clients: int, formula: str, verdict: Verdict) -> Row:
    text = promela_lock.model(clients)
    return Row(
        f"lock, {clients} clients",
        verdict,
        (*_quorate(LOCK, {"clients": clients}, formula), *_spin(text, formula)),
        claim=formula,
        growing=True,
    )


def _register(bases: int, readers: int, writes: int) -> Row:
    parameters = {"bases": bases, "readers": readers, "writes": writes}
    text = promela_storage.temporal(bases, readers, writes)
    return Row(
        f"register ({bases},{readers},{writes})",
        "holds",
        (*_quorate(REGISTER, parameters, "ends"), *_spin(text, "ends")),
        claim="ends",
        growing=True,
    )


def _quorate(target: str, parameters: dict[str, int], formula: str) -> list[Case]:
    options = {"property": formula, "fairness": "process"}
    return [
        Check("Quorate", target, parameters, options),
        Check("Quorate, plain", target, parameters, {**PLAIN, **options}),
        Check("Quorate, partial orders", target, parameters, {**options, "por": "lpor-net"}),
    ]


def _spin(text: str, formula: str) -> list[Case]:
    return [
        Spin("Spin", text, formula=formula),
        Spin("Spin, no reduction", text, build="no reduction", formula=formula),
    ]
