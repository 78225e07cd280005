"""What a model remembers where it is seldom looked for: in a metaclass, behind a cache (rule 19)."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from quorate import Process, System, can, check, step
from quorate.base.errors import ModelError


class Counting(type):
    calls = 0

    def call(cls) -> int:
        Counting.calls += 1
        return Counting.calls


class Called(Process, metaclass=Counting):
    x: int = 0

    @step(when=lambda self: self.x < 2)
    def go(self) -> None:
        self.x = min(2, type(self).call())


class Calls(System):
    def build(self) -> None:
        self.spawn(Called, 2)


ASKED: list[int] = []


@functools.lru_cache(None)
def how_often(value: int) -> int:
    ASKED.append(value)
    return len(ASKED)


class Asking(Process):
    x: int = 0

    @step(when=lambda self: self.x < 2)
    def ask(self) -> None:
        self.x = min(2, how_often(self.x))


class Asks(System):
    def build(self) -> None:
        self.spawn(Asking, 2)

    @can
    def one(self) -> bool:
        return any(asking.x == 1 for asking in self[Asking])


@pytest.mark.parametrize("system", [Calls, Asks])
@pytest.mark.parametrize("options", [{}, {"por": "dpor"}, {"quotient": "off", "symmetry": "none"}])
def test_it_is_found_each_time(system: type[System], options: dict[str, Any]) -> None:
    for _ in range(2):  # also if what is remembered makes no difference any more
        with pytest.raises(ModelError) as error:
            check(system, **options)
        assert error.value.code == "Q104"
