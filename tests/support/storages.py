"""The bundled storages with operations: what their clients do is told in the words of `quorate.histories` as well."""

from quorate import System, invariant, majority, quorum, start, step
from quorate.histories import Read, Write, atomic_register, regular_register, safe_register
from quorate.histories.linearizability import Linearizability
from quorate.language.declared import WATCH_MARK
from quorate.protocols import atomic_storage, regular_storage
from quorate.protocols.atomic_storage import ReadOrder
from quorate.protocols.regular_storage import Answer, Base, Regularity, Stored


class Writer(regular_storage.Writer):
    @step(when=lambda self: not self.busy and self.time < self.writes)
    def write(self) -> None:
        super().write()
        self.invoke(Write(self.time))

    @quorum(Stored, size="majority", when=lambda self: self.busy, where=lambda self, m: m.time == self.time)
    def written(self, stored: frozenset[Stored]) -> None:
        super().written(stored)
        self.returns()


class OneRound(regular_storage.Reader):
    @start
    def read(self) -> None:
        super().read()
        self.invoke(Read())

    @quorum(Answer, size="majority", when=lambda self: self.result is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        super().collect(answers)
        self.returns(self.result)


class TwoRounds(atomic_storage.Reader):
    @start
    def read(self) -> None:
        super().read()
        self.invoke(Read())

    @quorum(Stored, size="majority", when=lambda self: self.result is None)
    def written_back(self, stored: frozenset[Stored]) -> None:
        super().written_back(stored)
        self.returns(self.result)


class Storage(System):
    """One writer; with one round to read it is regular, with two it is atomic."""

    bases: int = 3
    readers: int = 2
    writes: int = 1
    write_back: bool = True

    safe = safe_register(0)
    regular = regular_register(0)
    atomic = atomic_register(0)

    def build(self) -> None:
        bases = self.spawn(Base, self.bases)
        self.spawn(Writer, bases=bases, majority=majority(self.bases), writes=self.writes)
        reader = TwoRounds if self.write_back else OneRound
        self.spawn(reader, self.readers, bases=bases, majority=majority(self.bases))
        self.watch(Regularity)
        self.watch(ReadOrder)

    @invariant
    def agree(self) -> bool:
        """With the monitors that were written by hand: in every state, also after a violation."""
        regular = not self[Regularity].irregular
        atomic = regular and not self[ReadOrder].inverted
        mine: list[type[Linearizability]] = [getattr(each, WATCH_MARK) for each in (Storage.regular, Storage.atomic)]
        return bool(self[mine[0]].possible == regular and self[mine[1]].possible == atomic)
