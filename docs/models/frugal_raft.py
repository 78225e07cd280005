"""The naive Raft, but the monitor remembers what properties ask, and no more."""

from naive_raft import Entry, Log, NaiveRaft

from quorate import Map, Monitor, invariant, on


class Summary(Monitor):
    won: frozenset[int] = frozenset()
    twice: bool = False
    committed: Map[int, tuple[Entry, ...]] = Map()
    lost: bool = False

    @on(Log, when=lambda self, e: e.text == "elected")
    def elected(self, e: Log) -> None:
        self.twice |= e.term in self.won
        self.won |= {e.term}
        self.lost |= any(e.entries[: len(log)] != log for term, log in self.committed.items() if term < e.term)

    @on(Log, when=lambda self, e: e.text == "committed")
    def commit(self, e: Log) -> None:
        self.committed |= {e.term: e.entries}


class FrugalRaft(NaiveRaft):
    """Raft with a monitor that forgets."""

    def build(self) -> None:
        servers = self.spawn(self.server, self.servers, terms=self.terms, entries=self.entries)
        for server in servers:
            self.connect(server, peers=servers - {server})
        self.watch(Summary)

    @invariant
    def election_safety(self) -> bool:
        return not self[Summary].twice

    @invariant
    def leader_completeness(self) -> bool:
        return not self[Summary].lost
