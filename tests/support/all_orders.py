"""Histories by definition: all orders, one by one. Slow, and obviously right."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any, NamedTuple

from quorate.base.values import encode


class Op(NamedTuple):
    """One operation of a history: places in the order of events, and no end if it never ended."""

    process: object
    operation: Any
    begin: int
    end: int | None = None
    result: Any = None


def operations(events: Sequence[tuple[Any, ...]]) -> list[Op]:
    """Of events ("began", process, operation) and ("ended", process, result)."""
    found: list[Op] = []
    open_: dict[object, int] = {}
    for place, (kind, process, what) in enumerate(events):
        if kind == "began":
            open_[process] = len(found)
            found.append(Op(process, what, place))
        else:
            number = open_.pop(process)
            found[number] = found[number]._replace(end=place, result=what)
    return found


def precedes(one: Op, two: Op) -> bool:
    return one.end is not None and one.end < two.begin


def linearizable(specification: Any, history: Sequence[Op], *, sequential: bool = False) -> bool:
    """Herlihy and Wing: some order of those that ended, and of some that did not, keeps to precedence and is legal.

    Sequentially consistent if only the order of each process has to be kept.
    """
    ended = [op for op in history if op.end is not None]
    others = [op for op in history if op.end is None]
    for chosen in range(1 << len(others)):
        taken = ended + [op for number, op in enumerate(others) if chosen >> number & 1]
        if any(_legal(specification, order) for order in permutations(taken) if _keeps(order, sequential)):
            return True
    return False


def _keeps(order: Sequence[Op], sequential: bool) -> bool:
    return not any(
        precedes(later, earlier) and (not sequential or later.process == earlier.process)
        for i, earlier in enumerate(order)
        for later in order[i + 1 :]
    )


def _legal(specification: Any, order: Sequence[Op]) -> bool:
    state = specification.initial
    for op in order:
        step = specification.apply(state, op.operation)
        if step is None or (op.end is not None and encode(step[1]) != encode(op.result)):
            return False
        state = step[0]
    return True


def regular(history: Sequence[Op], initial: object, *, safe: bool = False) -> bool:
    """Each read that ended returns a write that is not superseded for it, and did not begin after it; or anything, if
    the register is only safe and a write overlaps the read."""
    writes = [Op(None, None, -2, -1), *(op for op in history if type(op.operation).__name__ == "Write")]
    for read in history:
        if type(read.operation).__name__ != "Read" or read.end is None:
            continue
        before = [w for w in writes if not precedes(read, w)]
        if safe and any(not precedes(w, read) for w in before):
            continue
        allowed = [w for w in before if not any(precedes(w, v) and precedes(v, read) for v in before)]
        if read.result not in [initial if w.operation is None else w.operation.value for w in allowed]:
            return False
    return True
