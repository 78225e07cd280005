"""A model that remembers something outside of its fields is told so, as by a check: nothing was shown of it.

Each way through a handler is run for itself, on what was lent to the model. So what it remembers from one step to the
next, and is lost here, would not be seen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from quorate import Process, System, invariant, prove, step
from quorate.base.errors import ModelError

TOLD: dict[str, int] = {}
TIMES = 0


def counter() -> Callable[[], int]:
    times = 0

    def next_() -> int:
        nonlocal times
        times += 1
        return times

    return next_


NEXT = counter()


class Counting(Process):
    x: int = 0
    bad: bool = False

    @step(when=lambda self: True)
    def count(self) -> None:
        self.x += 1
        self.bad = self.bad or self.times() > 100

    def times(self) -> int:
        return 0


def in_a_dict(self: Any) -> int:
    TOLD["times"] = TOLD.get("times", 0) + 1
    return TOLD["times"]


def in_a_global(self: Any) -> int:
    global TIMES
    TIMES += 1
    return TIMES


def in_a_closure(self: Any) -> int:
    return NEXT()


def in_a_default(self: Any, told: list[int] = []) -> int:  # noqa: B006
    told.append(1)
    return len(told)


class Kept:
    told: list[int] = []


def in_a_class(self: Any) -> int:
    Kept.told.append(1)
    return len(Kept.told)


def in_an_attribute(self: Any) -> int:
    Kept.times = getattr(Kept, "times", 0) + 1  # type: ignore[attr-defined]
    return int(Kept.times)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "times",
    [in_a_dict, in_a_global, in_a_closure, in_a_default, in_a_class, in_an_attribute],
    ids=lambda each: each.__name__,
)
def test_what_a_model_remembers_is_told(times: Any) -> None:
    kind = type("Tried", (Counting,), {"times": times, "__module__": __name__, "__annotations__": {}})

    class Trying(System):
        def build(self) -> None:
            self.spawn(kind)

        @invariant
        def good(self) -> bool:
            return not any(each.bad for each in self[Counting])

    with pytest.raises(ModelError) as error:
        prove(Trying(), timeout=20, discover=False)
    assert error.value.code == "Q104"


@dataclass(frozen=True)
class Point:
    x: int


def limits() -> tuple[Any, Any]:
    known = [3, 4]
    kinds = (Point, known)
    return (lambda x: x in kinds[1]), (lambda x: x not in known and kinds[0](x) == Point(x))


IN, OUT = limits()


class Asking(Counting):
    def times(self) -> int:
        return 0 if IN(self.x) or OUT(self.x) else 101


class Fine(System):
    def build(self) -> None:
        self.spawn(Asking)

    @invariant
    def good(self) -> bool:
        return not any(each.bad for each in self[Counting])


def test_what_several_functions_share_is_lent_once() -> None:
    assert prove(Fine(), timeout=20, discover=False).verdict == "proved"
