"""Writes the table of options in docs/cli.md from the one that they are made of: `python docs/options.py`."""

from __future__ import annotations

import re
from pathlib import Path

from quorate.model.environment import Environment
from quorate.options import Options, Told, told

PAGE = Path(__file__).parent / "cli.md"
BLOCK = re.compile("(<!-- options: by `python docs/options.py` -->\n).*?(<!-- end of options -->)", re.DOTALL)


def rows() -> list[str]:
    """A line for each option."""
    tables: dict[str, Told] = {**told(Options), **told(Environment)}
    found = ["| command line | Python | default | |", "| --- | --- | --- | --- |"]
    for panel in dict.fromkeys(each.panel for each in tables.values()):
        for name, each in tables.items():
            if each.panel == panel:
                found.append(_row(name, each))
    return found


def _row(name: str, each: Told) -> str:
    flag = "--" + name.replace("_", "-")
    takes = "\\|".join(each.choices) or (each.metavar or "")
    default = getattr(Options() if name in told(Options) else Environment(), name)
    shown = "" if default is None or default in ((), {}, False) else f"`{default}`"
    python = "por_options" if name == "por_without" else name
    return f"| `{f'{flag} {takes}'.strip()}` | `{python}` | {shown} | {each.panel}. {each.help} |"


def written(page: str) -> str:
    """The page with the table as it should be."""
    return BLOCK.sub(lambda found: found[1] + "\n" + "\n".join(rows()) + "\n\n" + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
