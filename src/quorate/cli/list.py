"""`quorate list`: the bundled protocols."""

import json
from typing import Annotated, Any

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, guarded

EPILOG = """
Examples:

  quorate list

  quorate list paxos
"""


@guarded
def show(
    name: Annotated[str | None, typer.Argument(metavar="[TARGET]", help="Only this one, in detail.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> int:
    """List the bundled protocols, with their parameters and properties."""
    from quorate.cli.output import out, width
    from quorate.cli.output import show as show_page
    from quorate.model.target import load
    from quorate.protocols import CATALOGUE
    from quorate.render.layout import Page, Piece

    entries = {target: _describe(load(target)) for target in ([name] if name is not None else CATALOGUE)}
    interrupts.answering()
    if as_json:
        print(json.dumps({"schema": 1, "protocols": entries}), file=out())
        return HOLDS
    page = Page(width(out()))
    for target, entry in entries.items():
        page.gap()
        page.add(Piece(target, "good"), "  ", entry["summary"], hanging=4)
        if name is not None:
            for line in entry["doc"].splitlines()[1:]:
                page.lines.append((Piece(f"  {line}" if line else ""),))
            page.gap()
        parameters = " ".join(f"{key}={_written(p)}" for key, p in entry["parameters"].items())
        rows = [("parameters", parameters or "none")]
        if name is None:
            rows.append(("properties", ", ".join(entry["properties"]) or "none"))
            page.table(rows)
        else:
            rows += [("preset", text) for text in entry["presets"].values()]
            page.table([*rows, ("source", entry["file"])])
            page.gap()
            page.table((key, _claim(p)) for key, p in entry["properties"].items())
    show_page(page)
    return HOLDS


def _written(parameter: dict[str, Any]) -> str:
    value = parameter["default"]
    if isinstance(value, dict):  # a member of an enumeration
        value = value["name"].lower()
    return f"({parameter['type']}, required)" if parameter["required"] else str(value)


def _claim(described: dict[str, Any]) -> str:
    said: str = described.get("formula", described["kind"])
    if "each" in described:
        said += f" for each {described['each']}"
    return f"{said}: {described['doc']}" if described["doc"] else said


def _describe(system: Any) -> dict[str, Any]:
    import inspect

    from quorate.model.define import read_properties
    from quorate.model.temporal import read_temporal
    from quorate.results.json import value_to_json

    doc = inspect.getdoc(system) or ""
    return {
        "system": system.__name__,
        "summary": _summary(doc),
        "doc": doc,
        "file": inspect.getsourcefile(system) or "",
        "parameters": {
            key: {
                "type": parameter.type_name,
                "default": None if parameter.required else value_to_json(parameter.default),
                "required": parameter.required,
            }
            for key, parameter in system.declared_parameters().items()
        },
        "presets": {key: preset.caveat(key) for key, preset in system.__dict__.get("presets", {}).items()},
        "properties": {
            **{p.name: {"kind": p.kind, "doc": _summary(p.doc)} for p in read_properties(system)},
            **{
                p.name: {"kind": p.kind, "doc": _summary(p.doc), "formula": p.formula}
                | ({"each": p.each.__name__} if p.each is not None else {})
                for p in read_temporal(system)
            },
        },
    }


def _summary(doc: str | None) -> str:
    return (doc or "").strip().split("\n\n")[0].replace("\n", " ")
