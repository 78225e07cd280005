"""Peterson's algorithm as in tests/spin/peterson.pml: a statement at a time, with the control states of Spin."""

from quorate import Constant, Map, Pid, Process, Shared, System, invariant, step


class Contender(Process):
    me: Constant[int]
    pids: Constant[tuple[Pid, ...]]
    round: Constant[Map[Pid, Shared[int]]]
    last: Constant[Map[int, Shared[int]]]
    inside: Constant[Shared[int]]
    at: str = "begin"
    other: int = 0
    level: int = 0

    @step(when=lambda self: self.at not in ("look", "count"))
    def go_on(self) -> None:
        at, n = self.at, len(self.pids)
        if at == "begin":
            self.level, self.at = 0, "rounds"
        elif at == "rounds":
            self.at = "announce" if self.level < n - 1 else "enter"
        elif at == "announce":
            self.round[self.pid].value, self.at = self.level, "come last"
        elif at == "come last":
            self.last[self.level].value, self.at = self.me, "first"
        elif at == "first":
            self.other, self.at = 0, "others"
        elif at == "others":
            if self.other < n:
                self.at = "which"
            else:
                self.level, self.at = self.level + 1, "rounds"
        elif at == "which":
            if self.other == self.me:
                self.other, self.at = self.other + 1, "others"
            else:
                self.at = "look"
        elif at == "enter":
            self.inside.value, self.at = self.inside.value + 1, "assert"
        elif at == "assert":
            assert self.inside.value == 1
            self.at = "leave"
        elif at == "leave":
            self.inside.value, self.at = self.inside.value - 1, "end"
        else:
            self.round[self.pid].value, self.at = 0, "begin"

    @step(when=lambda self: self.at == "look" and self.may_pass())
    def look(self) -> None:
        self.at = "count"

    @step(when=lambda self: self.at == "count")
    def count(self) -> None:
        self.other, self.at = self.other + 1, "others"

    def may_pass(self) -> bool:
        return self.round[self.pids[self.other]].value < self.level or self.last[self.level].value != self.me


class Statements(System):
    """The same states as Spin's, without its reductions."""

    processes: int = 3

    def build(self) -> None:
        pids = tuple(self.spawn(Contender, me=me) for me in range(self.processes))
        round = self.share("round", 0, each=pids)
        last = self.share("last", 0, each=range(self.processes))
        self.connect(pids, pids=pids, round=round, last=last, inside=self.share("inside", 0))

    @invariant
    def exclusive(self) -> bool:
        return bool(self.shared("inside") <= 1)
