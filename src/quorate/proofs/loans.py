"""What a model is given in place of its own, for a while: lent, looked at again, and taken back."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from quorate.proofs.proxies import SymInt, lifted


class Loan(NamedTuple):
    """A value of the model's, and what it was given in its place."""

    name: str
    now: Callable[[], Any]
    lent: Any
    value: Any

    def is_as_it_was(self) -> bool:
        return self.now() is self.lent and _alike(self.lent, lifted(self.value))


def _alike(one: Any, two: Any) -> bool:
    """Whether two liftings of one value are still equal."""
    if type(one) is not type(two):
        return False
    if type(one) is SymInt:
        return one.term is two.term
    if type(one) is dict:
        return _alike([*one.items()], [*two.items()])
    if isinstance(one, (tuple, list)) or type(one) is set:
        return len(one) == len(two) and all(map(_alike, one, two))
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return all(_alike(getattr(one, each.name), getattr(two, each.name)) for each in dataclasses.fields(one))
    return True  # it cannot be changed, or is what the model's author made, which is looked at afterwards


def change(
    function: types.FunctionType, new_code: types.CodeType, undo: list[Callable[[], None]], loans: list[Loan]
) -> None:
    code, defaults, named = function.__code__, function.__defaults__, function.__kwdefaults__

    def restore() -> None:
        function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, named

    undo.append(restore)
    function.__code__ = lifted_code(new_code)
    name = function.__qualname__
    if defaults:
        function.__defaults__ = new = lifted(defaults)
        loans.append(Loan(f"the defaults of {name}", lambda: function.__defaults__, new, defaults))
    if named:
        function.__kwdefaults__ = new = lifted(named)
        loans.append(Loan(f"the defaults of {name}", lambda: function.__kwdefaults__, new, named))


def fill(cells: Mapping[int, tuple[types.CellType, str]], undo: list[Callable[[], None]], loans: list[Loan]) -> None:
    """Lend what functions have in their closures, which they may share."""
    for cell, owner in cells.values():
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if isinstance(value, type) or callable(value):
            continue
        new = lifted(value)
        if new is not value:
            undo.append(_refilling(cell, value))
            cell.cell_contents = new
            loans.append(Loan(f"a variable of {owner}", partial(_content, cell), new, value))


def _content(cell: types.CellType) -> Any:
    return cell.cell_contents


def _refilling(cell: types.CellType, value: Any) -> Callable[[], None]:
    def restore() -> None:
        cell.cell_contents = value

    return restore


def restoring(space: dict[str, Any], name: str, value: Any) -> Callable[[], None]:
    def restore() -> None:
        space[name] = value

    return restore


def removing(space: dict[str, Any], name: str) -> Callable[[], None]:
    def restore() -> None:
        space.pop(name, None)

    return restore


def lifted_code(code: types.CodeType) -> types.CodeType:
    constants = tuple(
        lifted_code(each) if isinstance(each, types.CodeType) else lifted(each) for each in code.co_consts
    )
    return code.replace(co_consts=constants)


def held(holder: Any, name: str) -> Any:
    return vars(holder).get(name)


def put(holder: Any, name: str, value: Any) -> None:
    if isinstance(holder, type):
        type.__setattr__(holder, name, value)
    else:
        setattr(holder, name, value)
