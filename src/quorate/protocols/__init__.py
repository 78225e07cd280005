"""The library of protocols, each readable as its paper. Nothing is imported before it is asked for."""

CATALOGUE: dict[str, str] = {
    "paxos": "quorate.protocols.paxos:Paxos",
    "faulty-paxos": "quorate.protocols.faulty_paxos:FaultyPaxos",
    "faulty-paxos-2": "quorate.protocols.faulty_paxos_2:FaultyPaxos2",
    "paxos-single": "quorate.protocols.paxos_single:PaxosSingle",
    "two-phase-commit": "quorate.protocols.two_phase_commit:TwoPhaseCommit",
    "ping-pong": "quorate.protocols.ping_pong:PingPong",
}
"""Name on the command line -> module:class."""
