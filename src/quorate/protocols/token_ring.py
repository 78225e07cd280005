"""Mutual exclusion by a token that goes round (Le Lann 1977).

Whoever has the token may be inside; whoever does not want to passes it on. The token never stops, so the graph of
states is a cycle without an end. A member may want to enter at any time and need not ever.
"""

from quorate import Message, Pid, Process, System, invariant, leads_to, on, repeatedly, step


class Token(Message): ...


class Member(Process):
    next: Pid | None = None
    first: bool
    greedy: bool
    wants: bool = False
    inside: bool = False
    began: bool = False

    @step(when=lambda self: self.first and not self.began)
    def begin(self) -> None:
        self.began = True
        self.pass_on()

    @step(when=lambda self: not self.wants, fair=False)  # it may want to enter, but need not
    def ask(self) -> None:
        self.wants = True

    @on(Token)
    def take(self, _: Token) -> None:
        if self.wants:
            self.inside = True
        else:
            self.pass_on()

    @step(when=lambda self: self.inside)
    def leave(self) -> None:
        if self.greedy and self.choose((True, False)):
            return  # once more
        self.wants = self.inside = False
        self.pass_on()

    def pass_on(self) -> None:
        assert self.next is not None
        self.send(self.next, Token())


class TokenRing(System):
    """At most one is inside, and whoever waits gets in; with `greedy=true` one may keep the token for ever."""

    members: int = 3
    greedy: bool = False  # who is inside may stay for another turn, and another

    def build(self) -> None:
        self.require(self.members > 0, "a ring has a member")
        ring = [self.spawn(Member, first=i == 0, greedy=self.greedy) for i in range(self.members)]
        for member, following in zip(ring, ring[1:] + ring[:1], strict=True):
            self.connect(member, next=following)

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(member.inside for member in self[Member]) <= 1

    @leads_to("inside", each=Member)
    def wants(self, member: Member) -> bool:
        """Nobody starves."""
        return member.wants

    def inside(self, member: Member) -> bool:
        return member.inside

    @repeatedly
    def nobody_is_inside(self) -> bool:
        """Nobody stays."""
        return not any(member.inside for member in self[Member])
