"""The library of protocols, each readable as its paper. Nothing is imported before it is asked for."""

CATALOGUE: dict[str, str] = {
    "paxos": "quorate.protocols.paxos:Paxos",
    "faulty-paxos": "quorate.protocols.faulty_paxos:FaultyPaxos",
    "faulty-paxos-2": "quorate.protocols.faulty_paxos_2:FaultyPaxos2",
    "paxos-single": "quorate.protocols.paxos_single:PaxosSingle",
    "two-phase-commit": "quorate.protocols.two_phase_commit:TwoPhaseCommit",
    "two-phase-commit-recovery": "quorate.protocols.two_phase_commit_recovery:TwoPhaseCommitRecovery",
    "three-phase-commit": "quorate.protocols.three_phase_commit:ThreePhaseCommit",
    "multi-paxos": "quorate.protocols.multi_paxos:MultiPaxos",
    "raft-election": "quorate.protocols.raft_election:RaftElection",
    "pbft": "quorate.protocols.pbft:Pbft",
    "ben-or": "quorate.protocols.ben_or:BenOr",
    "chandra-toueg": "quorate.protocols.chandra_toueg:ChandraToueg",
    "chain-replication": "quorate.protocols.chain_replication:ChainReplication",
    "lamport-mutex": "quorate.protocols.lamport_mutex:LamportMutex",
    "gossip": "quorate.protocols.gossip:Gossip",
    "ping-pong": "quorate.protocols.ping_pong:PingPong",
}
"""Name on the command line -> module:class."""
