"""Shared variables: cells that several processes read and write.

    class Thread(Process):
        counter: Constant[Shared[int]]

        @step(when=lambda self: not self.done)
        def increment(self) -> None:
            self.counter.value += 1
            self.done = True

    counter = self.share("counter", 0)                     # in `build`: one cell
    number = self.share("number", 0, each=threads)         # one for each of several keys: a Map

A step reads and writes cells in one go, together with all else that it does. With `access="single"` a step that has to
do with the cell has no other access: it reads one cell or writes one, as a processor does.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, Protocol, TypeVar

from quorate.base.errors import ModelError, caller
from quorate.base.values import SHARED, Kind, encode, freeze, register, show
from quorate.language.message import Event, stamped
from quorate.language.monitor import Monitor
from quorate.language.transitions import on

T = TypeVar("T")

Access = Literal["atomic", "single"]


class Memory(Protocol):
    """Who knows what cells hold."""

    def read_cell(self, cell: Shared[Any]) -> Any: ...

    def write_cell(self, cell: Shared[Any], value: Any) -> None: ...


class _Present:
    """What is being evaluated. Models run one at a time."""

    memory: Memory | None = None


PRESENT = _Present()


class Shared(Generic[T]):
    """A shared variable, made by `System.share`; processes hold it in a field, `counter: Constant[Shared[int]]`."""

    __slots__ = ("_encoded", "_key", "_name", "_single")
    _name: str
    _key: Any
    """Which of several cells of that name; `()` if there is but one."""
    _single: bool
    _encoded: bytes

    def __init__(self, *_: Any, **__: Any) -> None:
        raise ModelError(
            "Shared(...) was called: cells are made by their system",
            hint='in `build`, write self.share("counter", 0), and give it to processes',
            code="Q108",
            location=caller(),
        )

    @property
    def value(self) -> T:
        """What the cell holds."""
        value: T = _present("read").read_cell(self)
        return value

    @value.setter
    def value(self, value: T) -> None:
        _present("written").write_cell(self, value)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Shared and self._encoded == other._encoded)

    def __hash__(self) -> int:
        return hash(int.from_bytes(self._encoded, "big"))

    def __str__(self) -> str:
        return self._name if self._key == () else f"{self._name}[{show(self._key)}]"

    __repr__ = __str__


def shared(name: str, key: Any, single: bool) -> Shared[Any]:
    """A cell; for the language, not for models."""
    made: Shared[Any] = object.__new__(Shared)
    made._name = name
    made._key = freeze(key)
    made._single = single
    made._encoded = SHARED + encode((name, made._key, single))
    return made


def cell_name(cell: Shared[Any]) -> str:
    return cell._name


def cell_key(cell: Shared[Any]) -> Any:
    return cell._key


def is_single(cell: Shared[Any]) -> bool:
    return cell._single


def with_key(cell: Shared[Any], key: Any) -> Shared[Any]:
    """The cell of the same name for another key."""
    return shared(cell._name, key, cell._single)


class Written(Event):
    """A step has written a cell. Nobody sees it but the cell."""

    cell: Any
    value: Any


class Cell(Monitor):
    """What a cell is in a state: a column that takes what is written, as a monitor takes what it is told.

    Unlike a monitor, processes read it.
    """

    value: Any

    @on(Written)
    def write(self, e: Written) -> None:
        self.value = e.value


def written(cell: Shared[Any], value: Any, pid: Any) -> Written:
    made: Written = stamped(Written(cell, value), pid)
    return made


def _present(how: str) -> Memory:
    memory = PRESENT.memory
    if memory is None:
        raise ModelError(
            f"a shared cell was {how} outside of a transition or a property",
            hint="its first value is given to self.share(...); from then on transitions read and write it",
            code="Q108",
            location=caller(),
        )
    return memory


register(Shared, Kind(lambda cell: cell, lambda cell: cell._encoded, str), simple=True)
