"""Paxos with unlimited ballots for any number of acceptors: `--number Acceptor=any --any Proposer.value`.

The handlers are those of `unbounded_paxos`, and so are the lemmas.
"""

from benchmarks.protocols.unbounded_paxos import ByHand


class AnyPaxos(ByHand):
    """Agreement of Paxos: two proposers, unlimited ballots, arbitrary values, any number of acceptors."""
