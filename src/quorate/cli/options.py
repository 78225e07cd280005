"""The options that say how to check, shared by every command that checks."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from quorate.cli.sizes import number, seconds, size

if TYPE_CHECKING:
    from quorate.model.environment import Environment

T = TypeVar("T")


class Search(StrEnum):
    bfs = "bfs"
    dfs = "dfs"


class Store(StrEnum):
    exact = "exact"
    bitstate = "bitstate"


class Switch(StrEnum):
    on = "on"
    off = "off"


class Por(StrEnum):
    none = "none"
    lpor = "lpor"
    lpor_net = "lpor-net"
    dpor = "dpor"


class Split(StrEnum):
    none = "none"
    reply = "reply"
    quorum = "quorum"
    combined = "combined"


class Symmetry(StrEnum):
    none = "none"
    naive = "naive"
    auto = "auto"


class NetworkModel(StrEnum):
    rm = "rm"
    grm = "grm"
    m = "m"


class Crash(StrEnum):
    implicit = "implicit"
    explicit = "explicit"


def _read(parse: Callable[[str], T]) -> Callable[[str], T]:
    """A parser whose complaint reaches the user in its own words."""

    def read(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return read


def _searching(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="Search", **more)


def _reducing(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="Reductions", **more)


def _failing(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="Faults", **more)


def _limiting(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="Limits", **more)


_WHERE = "A bundled protocol (see `quorate list`), path/to/file.py:System or package.module:System."

Target = Annotated[str, typer.Argument(metavar="TARGET", help=_WHERE)]
Presets = Annotated[
    list[str] | None,
    typer.Option("--preset", metavar="NAME", help="A named set of parameters, see `quorate list TARGET`; repeatable."),
]
Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="NAME", help="Check only this property, or `deadlock`; repeatable."),
]

SearchOption = Annotated[Search | None, _searching("--search", "Breadth-first (finds shortest runs) or depth-first.")]
StoreOption = Annotated[Store, _searching("--store", "Exact, or a few bits per state, which may miss states.")]
Stateless = Annotated[bool, _searching("--stateless", "Store no states: little memory, much time.")]
Threads = Annotated[int, _searching("--threads", "How many; the answer does not depend on it.", min=1, metavar="N")]

Quotient = Annotated[Switch, _reducing("--quotient", "Merge local states that no property and no run can tell apart.")]
DeadMessages = Annotated[Switch, _reducing("--dead-messages", "Drop messages that their receiver will never consume.")]
PorOption = Annotated[Por, _reducing("--por", "Partial-order reduction: none, lpor, lpor-net or dpor.", metavar="KIND")]
PorWithout = Annotated[
    list[str] | None,
    _reducing("--por-without", "Switch off a refinement of --por (docs/partial-orders.md).", metavar="NAME"),
]
SplitOption = Annotated[Split, _reducing("--split", "For --por: none, reply, quorum or combined.", metavar="KIND")]
SymmetryOption = Annotated[Symmetry, _reducing("--symmetry", "Symmetry: none, naive or auto.", metavar="KIND")]
SelfCheck = Annotated[
    bool, _reducing("--self-check", "Test the reductions against their definition and an unreduced search.")
]

NetworkModelOption = Annotated[
    NetworkModel,
    _failing(
        "--network-model",
        "Single buffers (m), delivery events (grm), or clean channels as well (rm).",
        case_sensitive=False,
    ),
]
CrashOption = Annotated[
    Crash | None, _failing("--crash", "Implicit crashes, where they are equivalent, or crashes as steps.")
]
Crashes = Annotated[
    int | None, _failing("--crashes", "At most this many crashes in a run, as steps.", min=0, metavar="N")
]
Byzantine = Annotated[
    list[str] | None,
    _failing("--byzantine", "Replace K processes by attackers that may send anything.", metavar="ROLE=K"),
]

MaxStates = Annotated[
    int | None, _limiting("--max-states", "For example 1000000 or 10M.", parser=_read(number), metavar="N")
]
MaxMemory = Annotated[
    int | None, _limiting("--max-memory", "For example 4GB or 512M.", parser=_read(size), metavar="SIZE")
]
MaxDepth = Annotated[
    int | None, _limiting("--max-depth", "Cut the runs of --por dpor at this depth.", parser=_read(number), metavar="N")
]
MaxBehaviours = Annotated[
    int | None,
    _limiting("--max-behaviours", "Behaviours to evaluate before the search.", parser=_read(number), metavar="N"),
]
Timeout = Annotated[
    float | None, _limiting("--timeout", "For example 30 or 10m.", parser=_read(seconds), metavar="SECONDS")
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


def environment(
    crash: Crash | None, crashes: int | None, byzantine: list[str] | None, network_model: NetworkModel
) -> "Environment":
    """The options about faults and traffic, as a check takes them."""
    from quorate.model.environment import Environment
    from quorate.model.given import roles

    return Environment(crash.value if crash is not None else None, crashes, roles(byzantine or []), network_model.value)
