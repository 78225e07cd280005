"""Quorate checks message-passing protocols that are written as plain Python.

    import quorate
    from quorate.protocols.paxos import Paxos

    result = quorate.check(Paxos(acceptors=5))
    assert result.ok, result

Names are imported when they are first used, so that `import quorate` costs nothing.
"""

TYPE_CHECKING = False  # known to type checkers by this name; importing it from typing would cost 10 ms
if TYPE_CHECKING:
    from typing import Any

    from quorate.base.errors import ModelError, QuorateError
    from quorate.language.constants import Constant
    from quorate.language.domains import Among, Sized
    from quorate.language.faults import crashes
    from quorate.language.lemmas import Pending, lemma
    from quorate.language.maps import Map
    from quorate.language.message import Crash, Event, Message
    from quorate.language.monitor import Monitor
    from quorate.language.network import fifo, multiset, unordered
    from quorate.language.operation import Operation
    from quorate.language.pid import Peers, Pid
    from quorate.language.process import Process
    from quorate.language.rank import Rank
    from quorate.language.scalar import Scalar
    from quorate.language.shared import Shared
    from quorate.language.signed import Signed
    from quorate.language.system import System
    from quorate.language.temporal import ctl, eventually, leads_to, ltl, repeatedly, stably
    from quorate.language.transitions import can, final, invariant, majority, on, quorum, start, step
    from quorate.proofs.prove import Proof, prove
    from quorate.results.result import Result
    from quorate.results.trace import Trace
    from quorate.search.check import check
    from quorate.search.resume import resume
    from quorate.search.simulate import simulate

_WHERE = {
    "Message": "language.message",
    "Event": "language.message",
    "Operation": "language.operation",
    "Process": "language.process",
    "Monitor": "language.monitor",
    "System": "language.system",
    "Pid": "language.pid",
    "Peers": "language.pid",
    "Rank": "language.rank",
    "Scalar": "language.scalar",
    "Shared": "language.shared",
    "Constant": "language.constants",
    "Map": "language.maps",
    "on": "language.transitions",
    "quorum": "language.transitions",
    "start": "language.transitions",
    "step": "language.transitions",
    "invariant": "language.transitions",
    "can": "language.transitions",
    "final": "language.transitions",
    "majority": "language.transitions",
    "eventually": "language.temporal",
    "leads_to": "language.temporal",
    "repeatedly": "language.temporal",
    "stably": "language.temporal",
    "ltl": "language.temporal",
    "ctl": "language.temporal",
    "unordered": "language.network",
    "multiset": "language.network",
    "fifo": "language.network",
    "Crash": "language.message",
    "crashes": "language.faults",
    "Among": "language.domains",
    "lemma": "language.lemmas",
    "Pending": "language.lemmas",
    "prove": "proofs.prove",
    "Proof": "proofs.prove",
    "Sized": "language.domains",
    "Signed": "language.signed",
    "check": "search.check",
    "resume": "search.resume",
    "simulate": "search.simulate",
    "Result": "results.result",
    "Trace": "results.trace",
    "QuorateError": "base.errors",
    "ModelError": "base.errors",
}

__all__ = [
    "Among",
    "Constant",
    "Crash",
    "Event",
    "Map",
    "Message",
    "ModelError",
    "Monitor",
    "Operation",
    "Peers",
    "Pending",
    "Pid",
    "Process",
    "Proof",
    "QuorateError",
    "Rank",
    "Result",
    "Scalar",
    "Shared",
    "Signed",
    "Sized",
    "System",
    "Trace",
    "can",
    "check",
    "crashes",
    "ctl",
    "eventually",
    "fifo",
    "final",
    "invariant",
    "leads_to",
    "lemma",
    "ltl",
    "majority",
    "multiset",
    "on",
    "prove",
    "quorum",
    "repeatedly",
    "resume",
    "simulate",
    "stably",
    "start",
    "step",
    "unordered",
]


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'quorate' has no attribute {name!r}")
    value = getattr(import_module(f"quorate.{where}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
