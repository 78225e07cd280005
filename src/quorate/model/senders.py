"""Which processes send messages of a type, as far as their code says so."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from quorate.language.message import Message
from quorate.model.definition import Column, Definition


def senders(definition: Definition, message: type[Message]) -> list[Column]:
    """The processes whose code names the type. Who gets at it in another way is found out by the search."""
    return [column for column in definition.processes if column.index not in definition.attackers
            and not column.cls._byzantine and _names(column.cls, message)]  # fmt: skip


def _names(cls: type, message: type[Message]) -> bool:
    """Whether a method of a class names a type, or a function that it calls does."""
    todo = [value for base in cls.__mro__ for value in vars(base).values() if isinstance(value, FunctionType)]
    seen: set[FunctionType] = set()
    while todo:
        function = todo.pop()
        seen.add(function)
        for value in _named(function):
            if isinstance(value, type) and issubclass(value, message):
                return True
            if isinstance(value, FunctionType) and value not in seen and not value.__module__.startswith("quorate."):
                todo.append(value)
    return False


def _named(function: FunctionType) -> Iterator[Any]:
    names = list(_words(function.__code__))
    for cell in function.__closure__ or ():
        if cell != type(cell)():  # not an empty one
            yield cell.cell_contents
    for name in names:
        value = function.__globals__.get(name)
        yield value
        if isinstance(value, ModuleType):
            yield from (vars(value).get(each) for each in names)


def _words(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _words(constant)
