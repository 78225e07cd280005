"""The options that say how to check, from the one table of them to the command line (`quorate/options.py`)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from quorate.cli.sizes import number, seconds, size
from quorate.options import Options, Told, told

if TYPE_CHECKING:
    from quorate.model.environment import Environment

T = TypeVar("T")

_WHERE = "A bundled protocol (see `quorate list`), path/to/file.py:System or package.module:System."

Target = Annotated[str, typer.Argument(metavar="TARGET", help=_WHERE)]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=VALUE", help="Set a parameter of the system; repeatable."),
]
Presets = Annotated[
    list[str] | None,
    typer.Option("--preset", metavar="NAME", help="A named set of parameters, see `quorate list TARGET`; repeatable."),
]
Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="NAME", help="Check only this property, or `deadlock`; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else (docs/json.md).")]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save",
        "--trace-file",
        metavar="FILE",
        help="Save the run for `quorate replay FILE`.",
        rich_help_panel="The run that shows it",
    ),
]


class Asked(NamedTuple):
    """The options that were given, read."""

    given: Mapping[str, Any]
    """By their names in Python."""

    @property
    def options(self) -> Options:
        return Options(**{name: value for name, value in self.given.items() if name in told(Options)})

    @property
    def environment(self) -> Environment:
        from quorate.model.environment import Environment

        return Environment(**{name: value for name, value in self.given.items() if name in told(Environment)})

    @property
    def keywords(self) -> dict[str, Any]:
        """As `quorate.check` takes them."""
        given = dict(self.given)
        without = given.pop("por_without", ())
        return {**given, "por_options": dict.fromkeys(without, False)}


def takes_options(*panels: str, hidden: tuple[str, ...] = ()) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Let a command take the options of these panels; it gets them as `asked`. Those of `hidden` ones are not told."""

    def decorate(command: Callable[..., T]) -> Callable[..., T]:
        table = {name: each for name, each in _table().items() if each.panel in (*panels, *hidden)}

        @functools.wraps(command)
        def run(**given: Any) -> T:
            read = {name: _value(table[name], given.pop(name)) for name in table}
            return command(**given, asked=Asked(read))

        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.name != "asked"]
        more = [_parameter(name, hidden=table[name].panel in hidden) for name in table]
        run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (*own, *more)}
        return run

    return decorate


@functools.cache
def _table() -> dict[str, Told]:
    from quorate.model.environment import Environment

    return {**told(Options), **told(Environment)}


def _default(name: str) -> Any:
    from quorate.model.environment import Environment

    return getattr(Options() if name in told(Options) else Environment(), name)


@functools.cache  # several commands take the same ones
def _parameter(name: str, *, hidden: bool = False) -> inspect.Parameter:
    """As Typer wants it: a type, and how it is read and shown."""
    each = _table()[name]
    kind, more = _READ[each.reads]
    default = _default(name)
    if each.choices:
        enumeration: Any = StrEnum
        kind, more = enumeration(name, {choice: choice for choice in each.choices}), {"case_sensitive": False}
        if each.reads == "switch":
            default = "on" if default else "off"
        default = None if default is None else kind(default)
    elif each.reads in ("names", "roles"):
        default = default or None
    flag = "--" + name.replace("_", "-")
    how = typer.Option(flag, help=each.help, rich_help_panel=each.panel, metavar=each.metavar, hidden=hidden, **more)
    shape = kind if default is not None else kind | None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[shape, how])


def _value(each: Told, given: Any) -> Any:
    if each.reads == "names":
        return tuple(given or ())
    if each.reads == "roles":
        from quorate.model.given import roles

        return roles(given or [])
    if each.reads == "switch":
        return given.value == "on"
    return given.value if isinstance(given, StrEnum) else given


def reader(parse: Callable[[str], T]) -> Callable[[str], T]:
    """A parser whose complaint reaches the user in its own words."""

    def read(text: str | T) -> T:
        if not isinstance(text, str):  # a default
            return text
        try:
            return parse(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return read


_READ: dict[str, tuple[Any, dict[str, Any]]] = {
    "choice": (str, {}),
    "text": (str, {}),
    "switch": (str, {}),
    "flag": (bool, {}),
    "count": (int, {"min": 0}),
    "positive": (int, {"min": 1}),
    "number": (int, {"parser": reader(number)}),
    "size": (int, {"parser": reader(size)}),
    "seconds": (float, {"parser": reader(seconds)}),
    "names": (list[str], {}),
    "roles": (list[str], {}),
    "path": (str, {}),
}
