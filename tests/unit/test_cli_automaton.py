import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from quorate.cli.main import app

SCHEMA = Path(__file__).parents[2] / "docs/schemas/automaton.schema.json"


def ran(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["automaton", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_as_a_table() -> None:
    assert ran("[](p -> <> q)") == (
        0,
        """\
G(p -> F q): 2 states, 5 edges, 1 acceptance set
  a word is accepted if it has a run that takes edges of set 0 again and again

  state 0  (initial)
    !p | q  → 0  {0}
    p & !q  → 1

  state 1
    q       → 0  {0}
    !q      → 1
""",
        "",
    )


def test_negated() -> None:
    status, out, _ = ran("G(p -> F q)", "--negate")
    assert status == 0
    assert out.startswith("!G(p -> F q): 2 states, 3 edges, 1 acceptance set\n")


@pytest.mark.parametrize(
    ("formula", "negate", "said"),
    [
        ("G p | F !p", False, "every word satisfies this formula: as a property it says nothing"),
        ("G p | F !p", True, "no word satisfies this formula: as a property it can never hold"),
        ("G p & F !p", False, "no word satisfies this formula: as a property it can never hold"),
        ("true", False, "every word satisfies this formula: as a property it says nothing"),
    ],
)
def test_what_says_nothing_is_said(formula: str, negate: bool, said: str, tmp_path: Path) -> None:
    options = ["--negate"] if negate else []
    status, out, _ = ran(formula, *options)
    assert status == 0
    assert said in out
    assert said in ran(formula, "--hoa", *options)[2]
    ran(formula, "--svg", str(tmp_path / "a.svg"), *options)
    assert said[:20] in (tmp_path / "a.svg").read_text()
    assert "says nothing" not in ran("G p")[1]


def test_hanoi() -> None:
    status, out, err = ran("G F p", "--hoa")
    assert (status, err) == (0, "")
    assert out.startswith("HOA: v1\n")
    assert out.endswith("--END--\n")


@pytest.mark.parametrize("formula", ["G(p -> F q)", "true", "false", "G F p & G F q"])
@pytest.mark.parametrize("negate", [False, True])
def test_json(formula: str, negate: bool) -> None:
    status, out, err = ran(formula, "--json", *(["--negate"] if negate else []))
    assert (status, err) == (0, "")
    document = json.loads(out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert document["negated"] is negate
    assert document["tautology"] is (formula == "true")
    assert document["unsatisfiable"] is (formula == "false")


def test_the_edges_in_json() -> None:
    document = json.loads(ran("p U q", "--json")[1])
    assert document["predicates"] == ["p", "q"]
    assert (document["states"], document["initial"], document["acceptance_sets"]) == (2, 0, 1)
    assert document["edges"] == [
        {"source": 0, "true": ["p"], "false": ["q"], "target": 0, "sets": []},
        {"source": 0, "true": ["q"], "false": [], "target": 1, "sets": []},
        {"source": 1, "true": [], "false": [], "target": 1, "sets": [0]},
    ]


def test_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "response.svg"
    status, out, err = ran("G(p -> F q)", "--svg", str(file))
    assert (status, out, err) == (0, "", f"wrote {file}\n")
    assert file.read_text(encoding="utf-8").startswith("<svg")


def test_errors(tmp_path: Path) -> None:
    status, out, err = ran("G(waiting -> X b)")
    assert (status, out) == (2, "")
    assert err.startswith("error Q406: column 14: X (next) is not supported: no property may count steps\n")
    assert "    G(waiting -> X b)\n                 ^\n" in err
    assert ran("AG EF p")[0] == 2
    assert "Q407" in ran("AG EF p")[2]
    assert "Q206" in ran("p", "--hoa", "--json")[1]
    assert "Q310" in ran("p", "--svg", str(tmp_path / "no" / "a.svg"))[2]
    assert json.loads(ran("p &", "--json")[1])["error"]["code"] == "Q404"
