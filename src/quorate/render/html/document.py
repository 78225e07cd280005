"""The whole report: verdict, property, run, figures, and how to see it again."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from quorate.base import files
from quorate.base.values import show
from quorate.render.chart.svg import DARK, LIGHT, style
from quorate.render.html.coverage import coverage
from quorate.render.html.elements import Content, Markup, element, table, text
from quorate.render.html.run import run, states
from quorate.render.layout import pieces
from quorate.render.report import assumed, bounded, figures, outcome, reductions, unfinished, verdict, whole_runs

if TYPE_CHECKING:
    from quorate.results.result import Result
    from quorate.results.trace import Trace
    from quorate.search.factors import Factor

HERE = Path(__file__).parent


def write(result: Result, path: str | PathLike[str], factors: Mapping[str, Factor] | None = None) -> None:
    """Write the report of a result, with what each reduction was worth if that was measured."""
    files.write(path, document(result, factors or {}))


def document(result: Result, factors: Mapping[str, Factor] | None = None) -> str:
    """The page of a result."""
    runs = _runs(result)
    sign, tone, words = verdict(result)
    return framed(
        f"{result.system} {words}",
        [
            element(
                "header",
                element("h1", element("span", sign, class_=f"sign {tone}"), f" {result.system} ", _said(words, tone)),
                element("p", _instance(result), class_="instance"),
                _property(result),
                [element("p", plain(line), class_="open") for line in (*unfinished(result), *bounded(result))],
                element("button", "light / dark", id="theme", type="button", title="t"),
            ),
            element(
                "main",
                [run(trace, number) for number, trace in enumerate(runs)],
                _facts(result, factors or {}),
                coverage(result.covered) if result.covered is not None else None,
            ),
            element("footer", keys() if runs else None),
        ],
        [states(trace) for trace in runs],
    )


def framed(title: str, body: Content, data: object) -> str:
    """A whole page. It may load nothing from anywhere: its security policy allows its own style and script alone."""
    css = palette() + (HERE / "report.css").read_text(encoding="utf-8")
    script = (HERE / "report.js").read_text(encoding="utf-8")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(css)}'; script-src '{_digest(script)}'"
    )
    written = json.dumps(data).replace("<", "\\u003c")
    page = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", title),
            element("style", Markup(css)),
        ),
        element(
            "body",
            body,
            Markup(f'<script type="application/json" id="data">{written}</script>'),
            element("script", Markup(script)),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


def palette() -> str:
    """The colours of charts as variables, light and dark, and the classes that use them."""
    colours = "".join(f"--{name}:{value};" for name, value in LIGHT.items())
    dark = "".join(f"--{name}:{value};" for name, value in DARK.items())
    return (
        f":root{{{colours}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"{style()}\n"
    )


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _runs(result: Result) -> list[Trace]:
    found = [result.trace] if result.trace is not None else []
    found += [each.trace for each in (result.violations or ())[1:] if each.trace is not None]
    return [*found, *result.witnesses.values()]


# --- what it says ----------------------------------------------------------------------------------------------


def _said(words: str, tone: str) -> Markup:
    return element("span", words, class_=tone)


def _instance(result: Result) -> str:
    return " ".join(f"{name}={show(value)}" for name, value in result.parameters.items() if value is not None)


def _property(result: Result) -> Content:
    """What the violated property says of itself, and where it stands."""
    if result.trace is None:
        return None
    from quorate.results.claim import Claim

    prop = Claim.of(result.trace).property
    if prop is None:
        return None
    place = f"{Path(prop.location.file).name}:{prop.location.line}"
    return element(
        "p",
        element("code", prop.name),
        f": {prop.doc} " if prop.doc else " ",
        element("span", place, class_="faint"),
        class_="property",
    )


def _facts(result: Result, factors: Mapping[str, Factor]) -> Markup:
    return element(
        "div",
        box("Warnings", element("ul", [element("li", _warning(warning)) for warning in result.warnings]), wide=True)
        if result.warnings
        else None,
        box("Properties", _properties(result), _assumed(result)),
        box("Search", table([(name, plain(content)) for name, content in figures(result)])),
        box("Reductions", table(_reductions(result, factors))),
        box("Whole runs", table([(name, plain(content)) for name, content in whole_runs(result)]))
        if result.graph is not None
        else None,
        box("Again", _again(result)) if result.target is not None or result.trace is not None else None,
        class_="facts",
    )


def _reductions(result: Result, factors: Mapping[str, Factor]) -> list[tuple[Content, ...]]:
    """What each did, and how many states there would be without it."""
    worth = {name.replace("-", " "): str(factor) for name, factor in factors.items()}
    rows: list[tuple[Content, ...]] = []
    for name, content in reductions(result.reductions):
        factor = worth.pop(str(name), None)
        rows.append((str(name), [plain(content), element("p", factor, class_="factor") if factor else None]))
    return rows + [(name, element("p", factor, class_="factor")) for name, factor in worth.items()]


def box(title: str, *content: Content, wide: bool = False) -> Markup:
    return element("section", element("h2", title), *content, class_="box wide" if wide else "box")


def plain(content: object) -> str:
    return "".join(piece.text for piece in pieces(content))  # type: ignore[arg-type]


def _properties(result: Result) -> Markup:
    signs = {"holds": ("✓", "good"), "violated": ("✗", "bad"), "incomplete": ("?", "open")}
    rows: list[tuple[Content, ...]] = []
    for each in result.properties:
        sign, tone = signs[each.verdict]
        rows.append((text(element("span", sign, class_=tone), f" {each.name}"), plain(outcome(each, result))))
    return table(rows)


def _assumed(result: Result) -> Content:
    lines = [text(_said(f"{label}: ", "faint") if label else "", words) for label, words in assumed(result)]
    return [element("p", line, class_="assumed") for line in lines]


def _again(result: Result) -> Markup:
    lines: list[Content] = []
    if result.target is not None:
        given = [f"-p {name}={_written(value)}" for name, value in result.parameters.items() if value is not None]
        command = " ".join(["quorate check", shlex.quote(result.target), *given, *_options(result)])
        lines.append(element("p", "Check it again: ", element("code", command, class_="command")))
    if result.trace is not None:
        from quorate.results.json import saved_document

        content = json.dumps(saved_document(result.trace, result.target), indent=1)
        link = f"data:application/json;base64,{base64.b64encode(content.encode()).decode()}"
        lines.append(
            element(
                "p",
                element("a", "Download this run", href=link, download="run.json"),
                ", then replay it: ",
                element("code", "quorate replay run.json", class_="command"),
            )
        )
    return text(lines)


def _options(result: Result) -> Iterator[str]:
    """What else was asked for: how to search, and which faults there are."""
    if result.store != "exact":
        yield f"--store {result.store}"
    elif result.search != "bfs":
        yield "--stateless" if result.search == "stateless" else "--search dfs"
    for name, value in result.environment.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, Mapping):
            yield from (f"{option} {shlex.quote(role)}={number}" for role, number in value.items())
        else:
            yield f"{option} {value}"


def _written(value: object) -> str:
    return shlex.quote(value if isinstance(value, str) else getattr(value, "name", None) or str(value))


def keys() -> Markup:
    keys = (("j ↓", "next step"), ("k ↑", "step before"), ("Home End", "first, last"), ("s", "state"), ("t", "theme"))
    return element(
        "p",
        [text(*(element("kbd", key) for key in signs.split()), f" {what}  ") for signs, what in keys],
        class_="keys",
    )


def _warning(warning: str) -> Content:
    """A warning may be followed by a line of source, with what it is about underlined."""
    text, _, source = warning.partition("\n")
    return [text, element("pre", source)] if source else text
