"""Pictures of how cost grows, as SVG. They need matplotlib: `pip install quorate[bench]`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from benchmarks.experiment import Measured
from benchmarks.results import Results, Section
from benchmarks.scaling import AXES

# Distinguishable also by those who see colours differently, and in grey: by marker.
LOOKS = {
    "plain": ("#777777", "o"),
    "default": ("#0072b2", "s"),
    "no symmetry": ("#cc79a7", "v"),
    "partial orders": ("#d55e00", "^"),
    "all reductions": ("#009e73", "D"),
}


def available() -> bool:
    return find_spec("matplotlib") is not None


def draw(results: Results, folder: Path) -> list[Path]:
    """A picture for each table of how cost grows."""
    return [
        _draw(results.sections[name], axis, folder)
        for name, axis in AXES.items()
        if name in results.sections and series(results.sections[name])
    ]


def series(section: Section) -> dict[str, list[tuple[int, Measured]]]:
    """By column, what has an answer, with the number on the axis."""
    found: dict[str, list[tuple[int, Measured]]] = {}
    for entry in section.entries:
        if entry.measured.answered:
            found.setdefault(entry.column, []).append((int(entry.instance), entry.measured))
    return found


def _draw(section: Section, axis: str, folder: Path) -> Path:
    import matplotlib

    matplotlib.use("Agg")
    # The same picture from the same figures, to the last byte; and letters as outlines, so that no font is needed.
    matplotlib.rcParams.update({"svg.hashsalt": "quorate", "svg.fonttype": "path", "font.size": 10})
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    threads = axis == "threads"
    quantities = ["million states per second"] if threads else ["states", "seconds to the verdict"]
    figure, axes = pyplot.subplots(
        1, len(quantities), figsize=(4.6 * len(quantities), 3.7), squeeze=False, layout="constrained"
    )
    for plot, quantity in zip(axes[0], quantities, strict=True):
        for column, points in series(section).items():
            colour, marker = LOOKS[column]
            values = [_value(measured, quantity) for _, measured in points]
            plot.plot([x for x, _ in points], values, color=colour, marker=marker, markersize=5, label=column)
        plot.set_xlabel(axis)
        plot.set_title(quantity, fontsize=10, loc="left")
        plot.xaxis.set_major_locator(MaxNLocator(integer=True))
        plot.grid(color="#dddddd", linewidth=0.6)
        plot.set_axisbelow(True)
        plot.spines[["top", "right"]].set_visible(False)
        if threads:
            plot.set_ylim(bottom=0)
        else:
            plot.set_yscale("log")
            values = [_value(measured, quantity) for points in series(section).values() for _, measured in points]
            narrow = max(values) < 100 * min(values)
            plot.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
            plot.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            plot.yaxis.set_minor_formatter(NullFormatter())
    if len(series(section)) > 1:
        # Below the axes: lines go everywhere within them.
        names = axes[0][0].get_legend_handles_labels()
        figure.legend(*names, loc="outside lower center", ncols=len(names[1]), frameon=False, fontsize=9)
    path = folder / f"{section.name}.svg"
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path


def _value(measured: Measured, quantity: str) -> float:
    match quantity:
        case "states":
            return measured.states
        case "million states per second":
            return measured.states / measured.seconds / 1e6
        case _:
            return measured.seconds
