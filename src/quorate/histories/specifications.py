"""Sequential specifications of the usual objects, and their operations.

Each is as plain as one that a user writes: the `initial` state, and what an operation does to a state. `apply` returns
None for an operation that cannot take effect in a state, such as acquiring a lock that is held: it has to wait.
`reads`, if it is there, names operations that never change a state, which spares recorded histories much work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quorate.language.maps import Map
from quorate.language.operation import Operation

Step = tuple[Any, Any] | None
"""The next state and the result; None if the operation has to wait."""


class Read(Operation):
    """Of a register, a counter or a log: what it holds."""


class Write(Operation, result=None):
    value: Any


class CompareAndSwap(Operation, result=bool):
    """Write `new` if the register holds `old`; whether it did."""

    old: Any
    new: Any


class Increment(Operation, result=None):
    by: int = 1


class Add(Operation, result=bool):
    """To a set; whether it was not in there."""

    value: Any


class Remove(Operation, result=bool):
    """From a set; whether it was in there."""

    value: Any


class Contains(Operation, result=bool):
    value: Any


class Enqueue(Operation, result=None):
    value: Any


class Dequeue(Operation):
    """The oldest value, None if there is none."""


class Push(Operation, result=None):
    value: Any


class Pop(Operation):
    """The newest value, None if there is none."""


class Put(Operation, result=None):
    key: Any
    value: Any


class Get(Operation):
    """The value of a key, None if it has none."""

    key: Any


class Delete(Operation, result=None):
    key: Any


class Acquire(Operation, result=None):
    """Of a lock. It waits while the lock is held."""


class Release(Operation, result=None): ...


class Append(Operation, result=int):
    """To a log; the place it got, counted from 0."""

    value: Any


def unknown(specification: object, operation: Operation) -> TypeError:
    return TypeError(f"{type(specification).__name__} has no operation {type(operation).__name__}")


class Register:
    """Read and Write."""

    reads = (Read,)

    def __init__(self, initial: Any = None) -> None:
        self.initial = initial

    def apply(self, state: Any, operation: Operation) -> Step:
        match operation:
            case Read():
                return state, state
            case Write(value=value):
                return value, None
        raise unknown(self, operation)


class CasRegister(Register):
    """Read, Write and CompareAndSwap."""

    def apply(self, state: Any, operation: Operation) -> Step:
        match operation:
            case CompareAndSwap(old=old, new=new):
                return (new, True) if state == old else (state, False)
        return super().apply(state, operation)


class Counter:
    """Increment and Read."""

    reads = (Read,)

    def __init__(self, initial: int = 0) -> None:
        self.initial = initial

    def apply(self, state: int, operation: Operation) -> Step:
        match operation:
            case Increment(by=by):
                return state + by, None
            case Read():
                return state, state
        raise unknown(self, operation)


class Set:
    """Add, Remove and Contains."""

    reads = (Contains,)

    initial: frozenset[Any] = frozenset()

    def apply(self, state: frozenset[Any], operation: Operation) -> Step:
        match operation:
            case Add(value=value):
                return state | {value}, value not in state
            case Remove(value=value):
                return state - {value}, value in state
            case Contains(value=value):
                return state, value in state
        raise unknown(self, operation)


class Queue:
    """Enqueue and Dequeue, first in, first out."""

    initial: tuple[Any, ...] = ()

    def apply(self, state: tuple[Any, ...], operation: Operation) -> Step:
        match operation:
            case Enqueue(value=value):
                return (*state, value), None
            case Dequeue():
                return (state[1:], state[0]) if state else (state, None)
        raise unknown(self, operation)


class Stack:
    """Push and Pop, last in, first out."""

    initial: tuple[Any, ...] = ()

    def apply(self, state: tuple[Any, ...], operation: Operation) -> Step:
        match operation:
            case Push(value=value):
                return (*state, value), None
            case Pop():
                return (state[:-1], state[-1]) if state else (state, None)
        raise unknown(self, operation)


class KeyValue:
    """Put, Get and Delete."""

    reads = (Get,)

    initial: Map[Any, Any] = Map()

    def apply(self, state: Map[Any, Any], operation: Operation) -> Step:
        match operation:
            case Put(key=key, value=value):
                return state | {key: value}, None
            case Get(key=key):
                return state, state.get(key)
            case Delete(key=key):
                return state.without(key) if key in state else state, None
        raise unknown(self, operation)

    def part(self, operation: Operation) -> Any:
        """What of the object an operation is about: keys do not know of one another, so each is judged alone."""
        return operation.__dict__["key"]


class Lock:
    """Acquire and Release. Acquiring waits while the lock is held; releasing one that is free waits for ever."""

    initial: bool = False

    def apply(self, state: bool, operation: Operation) -> Step:
        match operation:
            case Acquire():
                return None if state else (True, None)
            case Release():
                return (False, None) if state else None
        raise unknown(self, operation)


class Log:
    """Append, and Read of all that was appended."""

    reads = (Read,)

    initial: tuple[Any, ...] = ()

    def apply(self, state: tuple[Any, ...], operation: Operation) -> Step:
        match operation:
            case Append(value=value):
                return (*state, value), len(state)
            case Read():
                return state, state
        raise unknown(self, operation)


NAMED: Mapping[str, type] = {
    "register": Register,
    "cas-register": CasRegister,
    "counter": Counter,
    "set": Set,
    "queue": Queue,
    "stack": Stack,
    "key-value": KeyValue,
    "lock": Lock,
    "log": Log,
}
"""By the name that the command line knows them by."""
