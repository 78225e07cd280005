"""n-process Peterson on shared variables. There are none here: one process is the memory, and each thread is a message
to it that says where the thread is."""

from quorate import Map, Message, Process, Scalar, System, can, invariant, on, start


class Thread(Scalar): ...


class At(Message):
    thread: Thread
    label: int
    j: int


class Memory(Process):
    threads: frozenset[Thread]
    q: Map[Thread, int] = Map()
    turn: Map[int, Thread] = Map()
    inside: frozenset[Thread] = frozenset()  # a property sees fields only, not messages

    @start
    def begin(self) -> None:
        self.q = Map(dict.fromkeys(self.threads, 0))
        for thread in self.threads:
            self.send(self.pid, At(thread, 0, 0))

    @on(At)
    def run(self, m: At) -> None:
        t, j, n = m.thread, m.j, len(self.threads)
        if m.label == 0:
            label, j = 1, 1
        elif m.label == 1:
            self.q |= {t: j}
            label = 2
        elif m.label == 2:
            self.turn |= {j: t}
            label = 3
        elif m.label == 3:
            if all(q < j for u, q in self.q.items() if u != t) or self.turn[j] != t:
                j += 1
                label = 1 if j < n else 4
                if label == 4:
                    self.inside |= {t}
            else:
                label = 3
        else:
            self.q |= {t: 1}
            self.inside -= {t}
            label = 0
        self.send(self.pid, At(t, label, j))


class Peterson(System):
    n: int = 3

    def build(self) -> None:
        self.spawn(Memory, threads=self.scalars(Thread, self.n))

    @invariant
    def exclusive(self) -> bool:
        return len(self[Memory][0].inside) <= 1

    @can
    def enters(self) -> bool:
        return len(self[Memory][0].inside) == 1
