"""The documentation runs: its Python is imported, its commands print what it says they print.

A Python or JSON block under `<!-- file: NAME -->` is written to NAME for the commands; all other Python of a page forms
one module.
In the output of a command, a line `...` stands for any lines and a `...` at the end of one for the rest of it; figures
that depend on the machine are not compared.
"""

import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pytest
from benchmarks.scaling import AXES

from bad_models import call, forget
from quorate.base import values

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n+)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
VOLATILE = re.compile(r"^  (time|memory|tables) .*$")


def blocks(page: Path, kind: str) -> list[tuple[str | None, str]]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [(match["file"], match["body"]) for match in found if match["kind"] == kind]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name)
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for file, body in blocks(page, "python"):
        if file is not None:
            Path(file).write_text(body, encoding="utf-8")
    rest = "\n".join(body for file, body in blocks(page, "python") if file is None)
    module_name = f"documentation_{page.stem}".lower()
    Path(f"{module_name}.py").write_text(rest, encoding="utf-8")
    for stem in [Path(file).stem for file, _ in blocks(page, "python") if file is not None] + [module_name]:
        spec = importlib.util.spec_from_file_location(stem, tmp_path / f"{stem}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, stem, module)
        spec.loader.exec_module(module)
        for key, value in list(vars(module).items()):  # a page may show tests
            if key.startswith("test_") and callable(value):
                value()


def commands(body: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def stable(line: str) -> str:
    return VOLATILE.sub(lambda match: f"  {match[1]}", line).rstrip()


def matches(expected: list[str], actual: list[str]) -> bool:
    def one(line: str) -> str:
        if line == "...":
            return "(?:.*\n)*?"
        start, dots, _ = line.partition(" ...")
        return re.escape(stable(start)) + (".*" if dots else "") + "\n"

    return re.fullmatch("".join(map(one, expected)), "".join(stable(line) + "\n" for line in actual)) is not None


def written(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Go to a folder with the models of a page, as one who types its commands; returns the models' names."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "80")
    for variable in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    models: list[str] = []
    for file, body in [*blocks(page, "python"), *blocks(page, "json")]:
        if file is not None:
            Path(file).write_text(body, encoding="utf-8")
            models.append(Path(file).stem)
    return models


def fresh(models: list[str], *arguments: str) -> tuple[int, str, str]:
    """A command as a new process would run it: no class of these models has been met before.

    A second class of the same name is told apart from the first by its encoding, and of several shortest runs another
    may come first then.
    """
    forget(*models)
    values._TOKENS.clear()
    return call(*arguments)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=name)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process, which is far cheaper. That the programs say the same as processes, `test_cli.py` shows."""
    models = written(page, tmp_path, monkeypatch)
    for _, body in blocks(page, "console"):
        for command, expected in commands(body):
            program, *arguments = shlex.split(command)
            if program != "quorate":
                continue
            _, out, err = fresh(models, *arguments)
            while expected and not expected[-1]:
                expected.pop()
            actual = (out + err).rstrip("\n").splitlines()
            assert matches(expected, actual), f"$ {command}\n" + "\n".join(actual)


PICTURES = {
    "faulty-paxos.svg": "faulty-paxos",
    "lossy-lock.svg": "lossy_lock.py --property deadlock",
    "starving-client.svg": "lock -p queue=false",
    "attacker.svg": "two-phase-commit -p participants=2 --byzantine Coordinator=1 --property validity",
}
"""How each was drawn: `quorate check ... --chart docs/pictures/NAME`."""


AUTOMATA = {"response.svg": "G(p -> F q)"}
"""The same by `quorate automaton ... --svg docs/pictures/NAME`."""


def test_the_pictures_are_what_is_drawn_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = written(ROOT / "docs/tutorial.md", tmp_path, monkeypatch)
    plots = {f"{table}.svg" for table in AXES}  # of measurements, by the benchmarks
    assert {path.name for path in (ROOT / "docs/pictures").iterdir()} == {*PICTURES, *AUTOMATA, *plots}
    drawings = {picture: ["check", *shlex.split(arguments), "--chart"] for picture, arguments in PICTURES.items()}
    drawings |= {picture: ["automaton", formula, "--svg"] for picture, formula in AUTOMATA.items()}
    for picture, arguments in drawings.items():
        fresh(models, *arguments, picture)
        drawn = (tmp_path / picture).read_text(encoding="utf-8")
        assert drawn == (ROOT / "docs/pictures" / picture).read_text(encoding="utf-8"), picture


def test_every_error_code_is_explained() -> None:
    explained = set(re.findall(r"Q\d{3}", (ROOT / "docs/errors.md").read_text(encoding="utf-8")))
    used: set[str] = set()
    for file in (ROOT / "src/quorate").rglob("*.py"):
        used |= set(re.findall(r"\"(Q\d{3})\"", file.read_text(encoding="utf-8")))
    bases = {code for code in used if code.endswith("00")}  # what a class has unless it says more precisely
    assert used - bases <= explained, sorted(used - bases - explained)


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{name(page)} -> {target}"
