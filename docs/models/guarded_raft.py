"""The frugal Raft, but a handler takes a message only where it does something with it."""

from frugal_raft import FrugalRaft
from naive_raft import AppendEntries, AppendReply, RequestVote, Server, VoteReply

from quorate import on


class GuardedServer(Server):
    def may_vote(self, m: RequestVote) -> bool:
        free = m.term > self.term or (m.term == self.term and self.voted_for is None)
        return free and (m.last_term, m.last_index) >= (self.last_term(len(self.log)), len(self.log))

    @on(RequestVote, when=lambda self, m: self.may_vote(m))
    def request_vote(self, m: RequestVote) -> None:
        self.follow(m.term)
        self.voted_for = m.sender
        self.reply(VoteReply(m.term, True))

    @on(RequestVote, when=lambda self, m: m.term > self.term, keep=True)
    def step_down(self, m: RequestVote) -> None:
        self.follow(m.term)

    @on(VoteReply, when=lambda self, m: m.term == self.term and self.role == "candidate")
    def vote_reply(self, m: VoteReply) -> None:
        super().vote_reply(m)

    @on(AppendEntries, when=lambda self, m: m.term >= self.term)
    def append_entries(self, m: AppendEntries) -> None:
        super().append_entries(m)

    @on(AppendReply, when=lambda self, m: m.term == self.term and self.role == "leader" and self.news(m))
    def append_reply(self, m: AppendReply) -> None:
        super().append_reply(m)

    def news(self, m: AppendReply) -> bool:
        return m.match > self.match_index[m.sender] if m.success else self.next_index[m.sender] > 1


class GuardedRaft(FrugalRaft):
    """Raft with guards instead of early returns."""

    server = GuardedServer
