"""Write a page for every bundled protocol, from its docstrings, parameters, properties and measured instances.

    python docs/protocols/generate.py                   write the pages again
    python docs/protocols/generate.py --measure         run every instance first
    python docs/protocols/generate.py --measure paxos   or those of some protocols
    python docs/protocols/generate.py --ablate [NAME]   take out every part of all, or some, of them first

What was measured is kept in measured.json, because times vary: the pages are a function of that file and the sources,
and a test compares them. What `quorate ablate` said is in ablation.json, for the instances of ablated.json. Which
instances are measured is said in instances.json. liveness.json has formulas about whole runs with their verdicts, which
tests/unit/test_liveness_protocols.py checks.
"""

import argparse
import inspect
import json
import re
import sys
import textwrap
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import quorate
from quorate import System
from quorate.base.errors import QuorateError
from quorate.model.define import define, read_properties
from quorate.model.target import load
from quorate.model.temporal import read_temporal
from quorate.protocols import CATALOGUE
from quorate.results.ablation import STATUSES

HERE = Path(__file__).parent
PLAIN_STATES = 3_000_000  # where the search without reductions gives up
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none", "por": "none"}
MEMBER = re.compile(r"^    (\w+) = [^#\n]*#[ ]*(.+)$", re.MULTILINE)
COMMENT = re.compile(r"^    (\w+): [^#\n]*#[ ]*(.+)$", re.MULTILINE)

Row = dict[str, Any]


def read(file: str) -> dict[str, Any]:
    path = HERE / file
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


# Measuring


def measure(name: str, parameters: Row) -> Row:
    """One instance, with all reductions and with none."""
    system = system_of(name, parameters)
    began = time.process_time()  # what others do on the machine does not count
    reduced = quorate.check(system)
    seconds = time.process_time() - began
    plain = quorate.check(system, **PLAIN, max_states=PLAIN_STATES, trace=False)
    assert plain.verdict in (reduced.verdict, "incomplete"), f"{name} {parameters}: {reduced.verdict}, {plain.verdict}"
    return {
        "parameters": parameters,
        "verdict": reduced.verdict,
        "property": reduced.property,
        "steps": len(reduced.trace.steps) if reduced.trace else None,
        "plain": plain.states if plain.stopped_by is None else None,
        "reduced": reduced.states,
        "seconds": round(seconds, 3),
    }


def measure_all(names: list[str]) -> None:
    measured, instances = read("measured.json"), read("instances.json")
    for name in names:
        measured[name] = []
        for parameters in instances.get(name, [{}]):
            measured[name].append(measure(name, parameters))
            print(name, measured[name][-1], file=sys.stderr)
    rows = [
        f"{json.dumps(name)}: [\n" + ",\n".join(f"  {json.dumps(row)}" for row in measured[name]) + "\n]"
        for name in CATALOGUE
        if name in measured
    ]
    (HERE / "measured.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


# Ablation

EACH, IN_ALL = 5.0, 120.0  # seconds for a variant, and for a protocol


def ablate_all(names: list[str]) -> None:
    from quorate.ablation.ablate import ablate
    from quorate.render.ablation import described, owner, why

    known, instances = read("ablation.json"), read("ablated.json")
    for name in names:
        parameters: Row = instances.get(name, {})
        system = system_of(name, parameters)
        try:
            found = ablate(system, target=name, each=EACH, timeout=IN_ALL)
        except QuorateError as error:
            known[name] = {"parameters": parameters, "refused": error.message}
            keep(known)
            continue
        rows = [
            {"line": each.part.line, "of": owner(each.part), "part": described(each.part), "status": each.status,
             "why": why(each).removeprefix(": ")}
            for each in found.findings
            if each.status not in ("needed", "breaks")
        ]  # fmt: skip
        counts = {status: found.count(status) for status in STATUSES if found.count(status)}
        known[name] = {
            "parameters": parameters,
            "asked": list(found.properties),
            "parts": len(found.parts),
            "counts": counts,
            "seconds": round(found.seconds, 1),
            "rows": rows,
        }
        print(name, counts, known[name]["seconds"], file=sys.stderr)
        keep(known)


def keep(known: dict[str, Any]) -> None:
    kept = [f"{json.dumps(name)}: {json.dumps(known[name], indent=1)}" for name in CATALOGUE if name in known]
    (HERE / "ablation.json").write_text("{\n" + ",\n".join(kept) + "\n}\n", encoding="utf-8")


def system_of(name: str, parameters: Row) -> System:
    declared = load(name).declared_parameters()
    return load(name)(**{key: declared[key].parse(str(value)) for key, value in parameters.items()})


# Writing


def page(name: str, measured: list[Row], lively: list[Row], ablated: Row | None) -> str:
    system = load(name)
    module = sys.modules[system.__module__]
    file = Path(inspect.getsourcefile(system) or "").name
    parts = [f"# {name}", (inspect.getdoc(system) or "").strip()]
    text = (inspect.getdoc(module) or "").strip()
    if text and text != parts[-1]:
        parts.append(text)
    parts.append(f"    quorate check {name}")
    parts.append(f"[The protocol as it is checked](../../src/quorate/protocols/{file}).")
    parts += ["## Parameters", parameters(system), "## Properties", properties(system)]
    if lively:
        parts += ["## Liveness", liveness(lively)]
    if measured:
        parts += ["## Measured", instances(measured)]
    if ablated:
        parts += ["## Parts", parts_of(name, ablated)]
    return "\n\n".join(parts) + "\n"


def parameters(system: type[System]) -> str:
    declared = system.declared_parameters()
    if not declared:
        return "It has none."
    notes: dict[str, str] = {}
    for cls in reversed(system.__mro__):
        if issubclass(cls, System) and cls is not System:
            notes |= dict(COMMENT.findall(inspect.getsource(cls)))
    for key, parameter in declared.items():
        if issubclass(parameter.type, Enum):
            said = MEMBER.findall(inspect.getsource(parameter.type))
            notes[key] = "; ".join(f"`{member.lower()}`: {note}" for member, note in said)
    rows = [
        (f"`{key}`", parameter.type_name, "required" if parameter.required else written(parameter.default))
        for key, parameter in declared.items()
    ]
    return table(
        ("parameter", "type", "default", "meaning"),
        [(*row, notes.get(key, "")) for row, key in zip(rows, declared, strict=True)],
    )


def properties(system: type[System]) -> str:
    said = {
        "invariant": "holds in every state",
        "can": "can be reached",
        "final": "where a run may end; ending elsewhere is a `deadlock`",
    }
    rows = [(f"`{each.name}`", said[each.kind], " ".join(each.doc.split())) for each in read_properties(system)]
    for claimed in read_temporal(system):
        about = f", of each {claimed.each.__name__}" if claimed.each is not None else ""
        rows.append((f"`{claimed.name}`", f"`{claimed.formula}`{about}", " ".join(claimed.doc.split())))
    definition = define(system())
    network, faults = definition.network, definition.faults
    crashes = f", {faults.crashes} crash{'es' if faults.crashes > 1 else ''}" if faults.crashes else ""
    recovery = " with recovery" if faults.crashes and faults.recover else ""
    about = f"By default the network is `{network}`{crashes}{recovery}."
    return table(("property", "claim", "meaning"), rows) + "\n\n" + about


def liveness(rows: list[Row]) -> str:
    """What was asked about whole runs, with the option to ask it by."""
    lines = []
    for row in rows:
        kind = next(key for key in ("ltl", "ctl", "property") if key in row)
        given = [f"-p {key}={written(value)}" for key, value in row["parameters"].items()]
        given += [f"--{key} {value}" for key, value in row["options"].items()]
        said = {"holds": "holds", "violated": "violated", "incomplete": "not decided"}[row["verdict"]]
        question = row[kind] if kind == "property" else f"'{row[kind]}'"
        lines.append((f"`--{kind} {question}`", " ".join(f"`{each}`" for each in given), said, row.get("note", "")))
    note = (
        "By default every step that stays possible is taken; [temporal properties](../temporal.md#fairness) has what "
        "else may be assumed."
    )
    return table(("formula", "with", "verdict", ""), lines) + "\n\n" + textwrap.fill(note, 120)


def instances(measured: list[Row]) -> str:
    rows = [
        (
            " ".join(f"`{key}={written(value)}`" for key, value in row["parameters"].items()) or "defaults",
            row["verdict"] if row["property"] is None else f"{row['verdict']}: `{row['property']}`{shown(row)}",
            f"{row['plain']:,}" if row["plain"] is not None else f"> {PLAIN_STATES:,}",
            f"{row['reduced']:,}",
            f"{row['seconds']:.2f}",
        )
        for row in measured
    ]
    heading = ("parameters", "verdict", "states, plain", "states, reduced", "seconds")
    note = (
        "Plain is without reductions, reduced is as checked by default; a search ends at the first violation. Seconds "
        "of one core are for the latter, with setting up and replaying what was found."
    )
    return table(heading, rows) + "\n\n" + textwrap.fill(note, 120)


def parts_of(name: str, ablated: Row) -> str:
    """What `quorate ablate` says: how many parts are needed, and which of the others a reader would want to know."""
    given = "".join(f" -p {key}={written(value)}" for key, value in ablated["parameters"].items())
    command = f"`quorate ablate {name}{given}`"
    if "refused" in ablated:
        return textwrap.fill(f"{command} has nothing to say: {ablated['refused']}.", 120)
    counts = ablated["counts"]
    told = ", ".join(f"{number} {SAID[status]}" for status, number in counts.items())
    left = ablated["parts"] - sum(counts.values())
    told += f", {left} not looked at" if left else ""
    asked = ", ".join(f"`{each}`" for each in ablated["asked"])
    text = f"{command} takes out {ablated['parts']} parts of the source, one at a time, and asks {asked} again: {told}."
    rows = [
        (f"`{row['of']}`", str(row["line"]), f"`{row['part']}`", SAID[row["status"]])
        for row in ablated["rows"]
        if row["status"] in ("unneeded", "undecided")
    ]
    text = textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)
    if not rows:
        return text
    note = (
        "A part that is not needed keeps the model small, serves a larger instance or another environment, or would be "
        "noticed by a property that nobody has stated."
    )
    return "\n\n".join([text, table(("of", "line", "part", "without it"), rows), textwrap.fill(note, 120)])


SAID = {
    "needed": "needed",
    "breaks": "without which the code breaks",
    "vacuous": "without which it holds vacuously",
    "unneeded": "not needed",
    "same": "that make no difference",
    "undecided": "not decided",
}


def shown(row: Row) -> str:
    return f" in {row['steps']} step{'s' if row['steps'] != 1 else ''}" if row["steps"] is not None else ""


def index() -> str:
    rows = [(f"[{name}]({name}.md)", summary(load(name))) for name in CATALOGUE]
    return "\n\n".join(
        [
            "# The bundled protocols",
            "Each is a Python file that reads like its paper, and can be checked by name: `quorate check paxos`.",
            table(("name", "what it shows"), rows),
            "These pages are written by `python docs/protocols/generate.py`.\n",
        ]
    )


def summary(system: type[System]) -> str:
    return " ".join((inspect.getdoc(system) or "").split("\n\n")[0].split())


def table(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    used = [i for i, title in enumerate(heading) if i == 0 or any(row[i] for row in rows)]  # no empty columns
    lines = [heading, ("---",) * len(heading), *rows]
    return "\n".join("| " + " | ".join(line[i].replace("|", "\\|") for i in used) + " |" for line in lines)


def written(value: object) -> str:
    """A value as on the command line."""
    if isinstance(value, Enum):
        return value.name.lower()
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def pages() -> dict[Path, str]:
    """Every file and what it should say."""
    measured, lively, ablated = read("measured.json"), read("liveness.json"), read("ablation.json")
    found = {
        HERE / f"{name}.md": page(name, measured.get(name, []), lively.get(name, []), ablated.get(name))
        for name in CATALOGUE
    }
    found[HERE / "README.md"] = index()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--measure", nargs="*", metavar="NAME", help="run the instances of these (all) protocols first")
    parser.add_argument(
        "--ablate", nargs="*", metavar="NAME", help="take out every part of these (all) protocols first"
    )
    asked = parser.parse_args()
    if asked.measure is not None:
        measure_all(asked.measure or list(CATALOGUE))
    if asked.ablate is not None:
        ablate_all(asked.ablate or list(CATALOGUE))
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
