"""Histories of operations: sequential specifications, and whether a history is linearizable by one of them.

    from quorate.histories import Read, Register, Write, linearizable

    class Storage(System):
        atomic = linearizable(Register(0))

A specification is a plain class: the `initial` state of an object, and `apply(state, operation)`, which returns the
next state and the result. `specifications.py` has the usual objects, `registers.py` weaker registers,
`register_formulas.py` the same as temporal formulas over operations that `named.py` names, `recorded.py` histories that
were recorded elsewhere.
"""

from quorate.histories.linearizability import linearizable
from quorate.histories.named import operation, operations
from quorate.histories.register_formulas import atomic_formula, operations_end, regular_formula, safe_formula
from quorate.histories.registers import (
    atomic_register,
    reads_last,
    reads_meanwhile,
    regular_register,
    safe_register,
)
from quorate.histories.sequential import sequentially_consistent
from quorate.histories.specifications import (
    Acquire,
    Add,
    Append,
    CasRegister,
    CompareAndSwap,
    Contains,
    Counter,
    Delete,
    Dequeue,
    Enqueue,
    Get,
    Increment,
    KeyValue,
    Lock,
    Log,
    Pop,
    Push,
    Put,
    Queue,
    Read,
    Register,
    Release,
    Remove,
    Set,
    Stack,
    Write,
)

__all__ = [
    "Acquire",
    "Add",
    "Append",
    "CasRegister",
    "CompareAndSwap",
    "Contains",
    "Counter",
    "Delete",
    "Dequeue",
    "Enqueue",
    "Get",
    "Increment",
    "KeyValue",
    "Lock",
    "Log",
    "Pop",
    "Push",
    "Put",
    "Queue",
    "Read",
    "Register",
    "Release",
    "Remove",
    "Set",
    "Stack",
    "Write",
    "atomic_formula",
    "atomic_register",
    "linearizable",
    "operation",
    "operations",
    "operations_end",
    "reads_last",
    "reads_meanwhile",
    "regular_formula",
    "regular_register",
    "safe_formula",
    "safe_register",
    "sequentially_consistent",
]
