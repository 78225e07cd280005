"""Murphi's newlist6: a linked list spread over cells. A Pred that the head sends to itself is kept as a field."""

from enum import Enum

from quorate import Message, Pid, Process, System, can, invariant, multiset, on, step


class State(Enum):
    NORMAL = 0
    WAIT_HEAD = 1
    WAIT_PRED = 2
    WAIT_DEL_ACK = 3


class Add(Message): ...


class Head(Message):
    new: Pid


class Pred(Message): ...


class ChNext(Message):
    old: Pid
    new: Pid


class DelAck(Message): ...


class Cell(Process):
    next: Pid
    state: State = State.NORMAL
    listed: bool = False

    def pass_pred(self, to: Pid) -> None:
        self.send(to, Pred())

    @on(Pred, when=lambda self, m: self.state is State.NORMAL)
    def forward(self, m: Pred) -> None:
        self.pass_pred(self.next)

    @on(ChNext, when=lambda self, m: self.state in (State.NORMAL, State.WAIT_PRED))
    def change_next(self, m: ChNext) -> None:
        if self.next != m.old:
            self.send(self.next, m)
        else:
            self.next = m.new
            self.send(m.old, DelAck())
            self.pass_pred(m.new)


class Anchor(Cell):
    pred_here: bool = True

    def pass_pred(self, to: Pid) -> None:
        if to == self.pid:
            self.pred_here = True
        else:
            self.send(to, Pred())

    @step(when=lambda self: self.pred_here and self.next != self.pid)
    def forward_own(self) -> None:
        self.pred_here = False
        self.pass_pred(self.next)

    @on(Add)
    def add(self, m: Add) -> None:
        self.send(m.sender, Head(self.next))
        self.next = m.sender


class Remote(Cell):
    head: Pid

    @step(when=lambda self: self.state is State.NORMAL)
    def begin(self) -> None:
        if self.listed:
            self.state = State.WAIT_PRED
        else:
            self.state = State.WAIT_HEAD
            self.send(self.head, Add())

    @on(Head)
    def added(self, m: Head) -> None:
        assert self.state is State.WAIT_HEAD
        self.next, self.listed, self.state = m.new, True, State.NORMAL

    @on(Pred, when=lambda self, m: self.state in (State.WAIT_PRED, State.WAIT_DEL_ACK))
    def remove(self, m: Pred) -> None:
        assert self.state is State.WAIT_PRED
        self.state = State.WAIT_DEL_ACK
        self.reply(ChNext(self.pid, self.next))

    @on(DelAck)
    def removed(self, m: DelAck) -> None:
        assert self.state is State.WAIT_DEL_ACK
        self.next, self.listed, self.state = self.pid, False, State.NORMAL


class Newlist(System):
    remotes: int = 3
    network = multiset()

    def build(self) -> None:
        head = self.spawn(Anchor, listed=True)
        for cell in (head, *self.spawn(Remote, self.remotes, head=head)):
            self.connect(cell, next=cell)

    @invariant
    def one_list(self) -> bool:
        """In quiet, all that are in the list have just one predecessor, in the list; all others point to themselves."""
        cells = self[Cell]
        if any(c.state is not State.NORMAL for c in cells):
            return True
        listed = {c.pid for c in cells if c.listed}
        return all(
            c.next in listed and [d.listed for d in cells if d.next == c.pid] == [True] if c.listed else c.next == c.pid
            for c in cells
        )

    @can
    def all_listed(self) -> bool:
        return all(c.listed for c in self[Cell])
