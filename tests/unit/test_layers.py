"""Lower layers never know higher ones: the layers are those of docs/architecture.md."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import quorate

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "quorate"
UPWARD = {
    ("results.result", "render.report"),
    ("results.trace", "render.text"),
    ("proofs.prove", "render.proofs"),
    ("results.simulation", "render.simulation"),
}
"""Named below the list of layers."""
ALIKE = {"result"}
"""The package `results`, and what it is named after."""


def layers() -> list[str]:
    """Lowest first."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    listed = re.search(r"^```layers\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert listed is not None
    return [line.split()[0] for line in listed[1].splitlines()]


@functools.cache
def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def imports(tree: ast.AST) -> Iterator[str]:
    """The modules of the package that are imported when it runs, at the head of a file or inside of a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (each.name.removeprefix("quorate.") for each in node.names if each.name.startswith("quorate."))
        elif isinstance(node, ast.ImportFrom) and node.module == "quorate":
            # Names of the public surface stand for the modules that they live in.
            yield from (quorate._WHERE.get(each.name, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("quorate."):
            module = node.module.removeprefix("quorate.")
            known = modules()
            inside = [f"{module}.{each.name}" for each in node.names if f"{module}.{each.name}" in known]
            yield from inside or [module]
        yield from imports(node)


def test_every_module_belongs_to_a_layer() -> None:
    outside = {"", "__init__", "__main__", "pytest_plugin"}  # the surface, and the ways in
    assert {name.split(".")[0] for name in modules()} - outside == set(layers())


@pytest.mark.parametrize("layer", layers())
def test_no_layer_knows_a_higher_one(layer: str) -> None:
    rank = {name: place for place, name in enumerate(layers())}
    up: list[str] = []
    for name, path in modules().items():
        if name.split(".")[0] != layer:
            continue
        for found in imports(ast.parse(path.read_text())):
            higher = rank.get(found.split(".")[0], -1) > rank[layer]
            if higher and (name, found) not in UPWARD:
                up.append(f"{name} imports {found}")
    assert up == []


def test_the_references_that_go_up_are_still_there() -> None:
    for name, found in UPWARD:
        assert found in set(imports(ast.parse(modules()[name].read_text())))


def test_no_two_modules_differ_by_an_s() -> None:
    names = {name.rpartition(".")[2] for name in modules()}
    assert {name for name in names if f"{name}s" in names} - ALIKE == set()
