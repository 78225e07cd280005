"""What is wrong with a formula: always with the column, and with the text and a caret below it."""

from __future__ import annotations

from quorate.base.errors import PropertyError
from quorate.base.printable import printable


class FormulaError(PropertyError):
    """A formula cannot be read: at `column`, from 1; by the `operator` there; and what was `expected` instead."""

    default_code = "Q404"

    def __init__(
        self,
        problem: str,
        *,
        text: str,
        column: int,
        operator: str = "",
        expected: str = "",
        hint: str = "",
        code: str | None = None,
    ) -> None:
        # Whatever is not one sign wide would put the caret in the wrong place.
        shown = "".join(sign if sign.isprintable() else " " for sign in text)
        problem = printable(problem)
        super().__init__(
            f"column {column}: {problem}\n  {shown}\n  {' ' * (column - 1)}^",
            hint=hint,
            code=code,
        )
        self.problem = problem
        self.text = text
        self.column = column
        self.operator = operator
        self.expected = expected
