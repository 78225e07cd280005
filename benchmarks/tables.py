"""The results as tables on the terminal, and the words that terminal and documentation share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.results import Peer, Results, Row

GOALS = ("", "measured", "goal", "margin")
# The last two: by which factor Quorate is faster, and uses less memory a state.
PEERS = ("instance", "program", "states", "seconds", "states/s", "bytes", "faster", "smaller")


def goal_cells(row: Row) -> tuple[str, str, str, str]:
    sign = {"higher": "≥", "lower": "≤", "equal": "="}[row.better]
    goal = "" if row.goal is None else f"{sign} {quantity(row.goal, row.unit)}"
    margin = "" if row.margin is None else f"{row.margin:.2f}x"
    return row.what, quantity(row.value, row.unit), goal, margin


def peer_cells(peers: Sequence[Peer]) -> list[tuple[str, ...]]:
    """A line for each, with the factors by which Quorate does better on that instance."""
    ours = {peer.instance: peer for peer in peers if peer.program == "Quorate"}
    lines: list[tuple[str, ...]] = []
    for peer in peers:
        base = ours[peer.instance]
        rated = peer.lasts and base.lasts
        lines.append(
            (
                peer.instance,
                peer.name,
                f"{peer.states:,}" if peer.complete else f"> {peer.states:,}",
                f"{peer.seconds:.2f}",
                quantity(peer.states_per_second, "states/s") if rated else "",
                f"{peer.bytes_per_state:.0f}" if rated else "",
                f"{base.states_per_second / peer.states_per_second:.1f}x" if rated else "",
                f"{peer.bytes_per_state / base.bytes_per_state:.1f}x" if rated else "",
            )
        )
    return lines


def quantity(value: float, unit: str) -> str:
    match unit:
        case "states/s":
            return f"{value / 1e6:.2f} M/s"
        case "bytes":
            return f"{value:.1f} bytes"
        case "s":
            return f"{value:.2f} s"
        case "x":
            return f"{value:.2f}x" if value < 10 else f"{value:.1f}x" if value < 100 else f"{value:.0f}x"
        case _:
            return f"{value:,.0f}"


def show(results: Results, console: Console) -> None:
    for section in results.sections.values():
        console.print()
        if section.rows:
            table = Table(
                *GOALS, title=section.name, title_justify="left", title_style="bold", box=None, pad_edge=False
            )
            for column in table.columns[1:]:
                column.justify = "right"
                column.no_wrap = True
            for row in section.rows:
                what, measured, goal, margin = goal_cells(row)
                style = {True: "green", False: "red", None: ""}[row.met]
                table.add_row(what, Text(measured, style=style), goal, Text(margin, style=style))
            console.print(table)
        if section.peers:
            peers = Table(*PEERS, box=None, pad_edge=False)
            for column in peers.columns[2:]:
                column.justify = "right"
            for line in peer_cells(section.peers):
                peers.add_row(*line)
            console.print()
            console.print(peers)
        for note in (*section.notes, busy(section.load, results.machine["cores"])):
            if note:
                console.print(note, style="dim", highlight=False)


def busy(load: tuple[float, float], cores: int) -> str:
    """A load near one is the benchmark itself."""
    return f"Load average {load[0]:.1f} before, {load[1]:.1f} after, on {cores} cores."
