"""Writing HTML by hand, with everything escaped unless it was made here."""

from __future__ import annotations

import html
from collections.abc import Iterable

from quorate.base.printable import printable_lines


def escape(text: str) -> str:
    """Text as HTML. Lines stay apart; what no browser shows is written as an escape."""
    return html.escape(printable_lines(text))


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Markup | Iterable["Content"] | None


def text(*content: Content) -> Markup:
    """Content as HTML: plain strings are escaped, markup is not, lists are joined."""
    parts: list[str] = []
    for item in content:
        if item is None:
            continue
        if isinstance(item, Markup):
            parts.append(item)
        elif isinstance(item, str):
            parts.append(escape(item))
        else:
            parts.append(text(*item))
    return Markup("".join(parts))


def element(tag: str, *content: Content, **attributes: str | int | bool | None) -> Markup:
    """`element("td", "1 < 2", class_="number")`. An attribute that is None or False is left out; `_` stands for `-`."""
    written = ""
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        written += f" {name}" if value is True else f' {name}="{escape(str(value))}"'
    if tag in ("meta", "link", "br", "hr", "input"):
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{text(*content)}</{tag}>")


def table(rows: Iterable[tuple[Content, ...]], *, heading: tuple[str, ...] = (), class_: str | None = None) -> Markup:
    """Rows whose first cell is their name."""
    head = element("thead", element("tr", [element("th", name, scope="col") for name in heading])) if heading else None
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    return element("table", head, element("tbody", body), class_=class_)
