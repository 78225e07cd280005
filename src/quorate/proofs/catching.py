"""What a model catches, while it runs on integers that are not known."""

from __future__ import annotations

import dis
import sys
import types

from quorate.base.errors import is_model_file
from quorate.proofs.refusal import RefusedError


def caught() -> None:
    """Look at an exception that the model catches, or does something on the way of.

    Code that is not written in Python tells what stands for an integer from one, and Python's stack is deeper on it.
    """
    todo = [sys.exc_info()[1]]
    while todo:
        error = todo.pop()
        if isinstance(error, BaseExceptionGroup):
            todo.extend(error.exceptions)
        elif isinstance(error, (TypeError, AttributeError, RecursionError)) and not _is_raised(error.__traceback__):
            raise RefusedError(
                f"catches {type(error).__name__}, which an integer without a bound may raise where a number would not",
                "compare or compute without catching it; what a `raise` of the model raises may be caught",
            )


def _is_raised(trace: types.TracebackType | None) -> bool:
    """Whether the exception comes of a `raise` in the model's own code."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_model_file(trace.tb_frame.f_code.co_filename):
        return False
    at = trace.tb_lasti
    listed = dis.get_instructions(trace.tb_frame.f_code)
    return any(each.offset == at for each in listed if each.opname == "RAISE_VARARGS")
