"""What comments, tests and the catalogue of mutants cite is there, and what docs/soundness.md names exists."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.mutations import RULES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "soundness.md"
HEADING = re.compile(r"^### (\d+)\. (.+)$", re.MULTILINE)
CITED = re.compile(r"\brules? (\d+)(?:(?:,? and|,| to) (\d+))*")
# The rules of some algorithms are numbered where they are argued: "rule 3 of stubborn.hpp". And mutants are counted.
ELSEWHERE = re.compile(r"^ (of \w+\.hpp|are noticed)")
# Documents that were never in the repository.
ABSENT = re.compile(r"\b[Dd]esign (?:rules? )?\d|\b[Ss]ection 3[a-d]\b")
SOURCES = [
    path
    for folder in ("src", "tests", "benchmarks", "docs")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".pyi", ".hpp", ".cpp", ".md", ".js") and path != Path(__file__)
]


def rules() -> dict[int, str]:
    """The text of every rule, by its number."""
    parts = HEADING.split(PAGE.read_text())[1:]
    return {int(number): body for number, body in zip(parts[::3], parts[2::3], strict=True)}


def cited(text: str) -> Iterator[int]:
    joined = re.sub(r"\n\s*(?://|#|\*)?\s*", " ", text)  # a comment may break between "rule" and its number
    for found in CITED.finditer(joined):
        if not ELSEWHERE.match(joined[found.end() :]):
            yield from map(int, re.findall(r"\d+", found[0]))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def names(path: Path) -> set[str]:
    """The tests and models of a file."""
    return {
        node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def test_rules_are_numbered_without_a_gap() -> None:
    numbers = [int(number) for number, _ in HEADING.findall(PAGE.read_text())]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_the_list_by_number_leads_to_every_rule() -> None:
    page = PAGE.read_text()
    for number, title in HEADING.findall(page):
        anchor = re.sub(r"[^\w -]", "", f"{number}. {title}".lower()).replace(" ", "-")
        assert f"[{number} {title}](#{anchor})" in page


def test_citations_are_found() -> None:
    assert list(cited("(docs/soundness.md, rules 8 and 10), rule 3 of stubborn.hpp, rule\n//   7")) == [8, 10, 7]
    assert ABSENT.search("as design rule 3 says")
    assert ABSENT.search("(design 3a)")


def test_every_rule_that_is_cited_exists() -> None:
    unknown = {name(path): set(cited(path.read_text(encoding="utf-8"))) - set(rules()) for path in SOURCES}
    assert {path: numbers for path, numbers in unknown.items() if numbers} == {}


def test_no_document_is_cited_that_is_not_there() -> None:
    """Of the core only numbers are held to the page: its comments are being rewritten."""
    here = [path for path in SOURCES if ROOT / "src" / "core" not in path.parents]
    assert [name(path) for path in here if ABSENT.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("number", rules())
def test_every_rule_names_its_source_and_what_fails_without_it(number: int) -> None:
    body = rules()[number]
    assert "\n- Source: " in body
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", body)
    assert tests
    for file, test in tests:
        assert test in names(ROOT / file), f"{file}::{test}"
    mutants = re.search(r"^- Mutants: (.*)$", body, re.MULTILINE)
    known = {rule.id for rule in RULES}
    assert mutants is None or set(re.findall(r"`([^`]+)`", mutants[1])) <= known


def test_every_path_that_the_pages_name_exists() -> None:
    """`core:` stands for src/core, and a path without a folder of ours for one below src/quorate."""
    for page in ("architecture", "soundness", "bibliography"):
        text = (ROOT / "docs" / f"{page}.md").read_text()
        for path in re.findall(r"`(?:core: )?([\w/]+/(?:\w+\.(?:py|hpp|cpp|json))?)(?:::\w+)?`", text):
            places = [ROOT, ROOT / "src" / "core", ROOT / "src" / "quorate"]
            assert any((place / path).exists() for place in places), f"{page}.md: {path}"


def test_mutants_that_a_rule_claims_were_noticed() -> None:
    """One of them at least: otherwise the tests that are named are all the evidence."""
    known = json.loads((ROOT / "tests" / "fuzz" / "mutants.json").read_text())
    for number, body in rules().items():
        listed = re.search(r"^- Mutants: (.*)$", body, re.MULTILINE)
        if listed is not None and number != 21:  # that one has a model, and was added after the last long run
            assert any(known.get(each, {}).get("found") for each in re.findall(r"`([^`]+)`", listed[1])), number


def test_works_that_the_code_cites_are_in_the_bibliography() -> None:
    """A name with a year, on one line; of several authors the last one before the year."""
    work = re.compile(r"\b([A-Z][a-z]+(?:-[A-Z][a-z]+)?)(?: and others| et al\.)?,? \(?((?:19|20)\d\d)\b")
    listed = (ROOT / "docs" / "bibliography.md").read_text().splitlines()
    missing: set[tuple[str, str]] = set()
    for path in SOURCES:
        if ROOT / "src" in path.parents:
            for author, year in work.findall(path.read_text(encoding="utf-8")):
                if not any(author in line and year in line for line in listed):
                    missing.add((author, year))
    assert missing == set()


def test_links_to_headings_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    headings = {
        page: {
            re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        }
        for page in pages
    }
    for page in pages:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            goal = (page.parent / target).resolve() if target else page
            assert anchor in headings[goal], f"{name(page)} -> {target}#{anchor}"
