"""Workers against threads on one machine, and what many machines would do: `python -m benchmarks.cluster`.

Two workers and two threads search the same system one after the other, a few times in turn, so that what else runs on
the machine hits both. Starting Ray and preparing the model is left out: `seconds` of a result is the search.

What 64 machines would do is computed from these figures, not measured: see `model`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median

import quorate
from quorate.protocols.paxos import Paxos
from quorate.results.result import Result

PLAIN = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
GOAL = 0.7
NETWORK = 25e9 / 8
"""Bytes a second that a machine sends, at 25 Gbit/s."""


def measured(acceptors: int, **options: int) -> Result:
    result = quorate.check(Paxos(acceptors=acceptors), trace=False, **PLAIN, **options)  # type: ignore[arg-type]
    assert result.ok
    return result


def compared(acceptors: int, times: int, say: Callable[[str], None]) -> tuple[list[float], Result]:
    """How fast two workers are, in two threads' rates; and what they said last."""
    ratios: list[float] = []
    while True:
        threads, many = measured(acceptors, threads=2), measured(acceptors, workers=2)
        assert (many.states, many.transitions, many.depth) == (threads.states, threads.transitions, threads.depth)
        ratios.append(many.states_per_second / threads.states_per_second)
        say(
            f"{many.states:,} states: two threads {threads.states_per_second:,.0f}/s, "
            f"two workers {many.states_per_second:,.0f}/s, ratio {ratios[-1]:.2f}"
        )
        if len(ratios) >= times:
            return ratios, many


def model(result: Result, machines: int, cores: int) -> dict[str, float]:
    """A worker that was measured with another one sends half of its successors; of many, nearly all.

    A successor that is sent costs its sender and its receiver what the measured ones cost on top of a local one. That
    is bounded here by the whole of a worker's time: the rate of a worker is taken to fall as the sent share grows, from
    1/2 to (n - 1)/n, as if a worker did nothing but send and receive.
    """
    assert result.workers is not None
    workers = machines * cores
    sent = result.workers["sent_states"] + result.workers["kept_off_the_wire"]
    share = sent / result.transitions
    bytes_each = result.workers["sent_bytes"] / result.workers["sent_states"]
    kept_off = result.workers["kept_off_the_wire"] / sent
    rate = result.states / result.seconds / result.workers["number"]
    remote = (workers - 1) / workers
    slower = share / remote
    states = workers * rate * slower
    # Of all that is sent, what goes to another machine.
    per_machine = cores * rate * slower * result.transitions / result.states * (1 - kept_off) * bytes_each
    wire = per_machine * (machines - 1) / machines
    return {
        "states a second": states * min(1.0, NETWORK / wire),
        "bytes a second and machine": min(wire, NETWORK),
        "of what the network carries": wire / NETWORK,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--acceptors", type=int, default=5)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    ratios, many = compared(given.acceptors, given.times, print)
    assert many.workers is not None
    sent, states = many.workers["sent_states"], many.workers["sent_bytes"]
    print(f"median ratio {median(ratios):.2f}, goal {GOAL}")
    print(f"{states / sent:.1f} bytes a state sent, {states / many.transitions:.1f} bytes a transition")
    print(f"{many.workers['kept_off_the_wire'] / (sent + many.workers['kept_off_the_wire']):.0%} kept off the wire")
    for name, figure in model(many, 64, 16).items():
        print(f"computed, 64 machines of 16 cores: {name} {figure:,.3g}")


if __name__ == "__main__":
    main()
