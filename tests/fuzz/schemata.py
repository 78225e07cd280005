"""One source tree with every mutant in it, chosen by a number when it runs.

Nothing of this is in the shipped source: a copy of it is rewritten. `quorate/_mutant.py` and `core/mutant.hpp`, made
here, hold the numbers. They are read from the environment (QUORATE_MUTANT) at load, and can be changed while running,
so that one process compares a protocol with many mutants, also several at once. What could have made a difference is
noted too: a mutant whose place was not come to, or always with the outcome that it has itself, did nothing (weak
mutation, Howden 1982).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .mutations.rule import Rule, Site

HEADER = """// Which mutant runs, and which could have made a difference. Made by tests/fuzz/schemata.py.
#pragma once

extern "C" {
extern __attribute__((visibility("default"))) unsigned char quorate_mutant_on[];
extern __attribute__((visibility("default"))) unsigned char quorate_mutant_touched[];
}

namespace quorate {
inline bool mutant_is(int number) { return quorate_mutant_on[number]; }
inline bool mutant_at(int number) {
    quorate_mutant_touched[number] = 1;
    return quorate_mutant_on[number];
}
template <typename Value>
Value mutant_says(int number, Value original, Value without) {
    if (original != without) quorate_mutant_touched[number] = 1;
    return quorate_mutant_on[number] ? without : original;
}
}  // namespace quorate
"""

SOURCE = """#include "mutant.hpp"

extern "C" {
__attribute__((visibility("default"), used)) unsigned char quorate_mutant_on[%d] = {};
__attribute__((visibility("default"), used)) unsigned char quorate_mutant_touched[%d] = {};
}
"""

MODULE = '''"""Which mutant runs, and which could have made a difference. Made by tests/fuzz/schemata.py."""

import ctypes
import os
from typing import Any

from quorate import _core

COUNT = %d
_library = ctypes.CDLL(_core.__file__)
_native_on = (ctypes.c_ubyte * COUNT).in_dll(_library, "quorate_mutant_on")
_native_touched = (ctypes.c_ubyte * COUNT).in_dll(_library, "quorate_mutant_touched")
_touched: set[int] = set()
_on: frozenset[int] = frozenset()


def differs(number: int) -> bool:
    return number in _on


def at(number: int) -> bool:
    _touched.add(number)
    return number in _on


def says(number: int, original: Any, without: Any) -> Any:
    if (bool(original) if isinstance(without, bool) else original) != without:
        _touched.add(number)
    return without if number in _on else original


def switch(*to: int) -> None:
    """Run without these rules from now on; 0 stands for none."""
    global _on
    _on = frozenset(to) - {0}
    for number in range(COUNT):
        _native_on[number] = number in _on


def touched() -> set[int]:
    """Those whose place was come to with another outcome than theirs since this was asked last."""
    found = _touched | {number for number, mark in enumerate(_native_touched) if mark}
    _touched.clear()
    ctypes.memset(_native_touched, 0, COUNT)
    return found


switch(*(int(each) for each in os.environ.get("QUORATE_MUTANT", "0").split(",")))
'''


LITERALS = ("true", "false", "True", "False")


class SnippetError(Exception):
    """A snippet of the catalogue does not fit the source (any more)."""


@dataclass
class Edit:
    """A replacement of a span of the pristine text, with those inside of it."""

    begin: int
    end: int
    number: int
    site: Site
    noted: bool
    """Whether it is noted that the place was come to; of several sites of a rule, at the first."""
    inner: list[Edit] = field(default_factory=list)


def rewrite(source: Path, rules: Iterable[tuple[int, Rule]]) -> None:
    """Put all mutants into the tree below `source`, which has `core` and `quorate`."""
    by_file: dict[str, list[Edit]] = {}
    most = 0
    for number, rule in rules:
        most = max(most, number)
        for site in rule.sites:
            text = (source / site.file).read_text()
            begin, end = find(text, site, rule.id)
            by_file.setdefault(site.file, []).append(Edit(begin, end, number, site, site is rule.sites[0]))
    for file, edits in by_file.items():
        path = source / file
        text = path.read_text()
        body = _apply(text, 0, len(text), _nested(edits))
        path.write_text(_with_include(body) if file.startswith("core/") else _with_import(body))
    (source / "core" / "mutant.hpp").write_text(HEADER)
    (source / "core" / "mutant.cpp").write_text(SOURCE % (most + 1, most + 1))
    (source / "quorate" / "_mutant.py").write_text(MODULE % (most + 1))


def find(text: str, site: Site, name: str) -> tuple[int, int]:
    """Where the part to be replaced lies."""
    before, mark, rest = site.snippet.partition("«")
    inside, end_mark, after = rest.partition("»")
    if not mark:
        before, inside, after = "", site.snippet, ""
    elif not end_mark:
        raise SnippetError(f"{name}: « without » in {site.snippet!r}")
    pattern = f"{_loose(before, 'r')}(?P<inside>{_loose(inside, '')}){_loose(after, 'l')}"
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        raise SnippetError(f"{name}: {len(found)} places in {site.file} look like {site.snippet!r}")
    return found[0].span("inside")


def _loose(text: str, open_end: str) -> str:
    """A pattern for the text in which any white space stands for any other."""
    pattern = r"\s+".join(map(re.escape, text.split()))
    if text and open_end == "r" and text[-1].isspace():
        pattern += r"\s+"
    if text and open_end == "l" and text[0].isspace():
        pattern = r"\s+" + pattern
    return pattern


def _nested(edits: list[Edit]) -> list[Edit]:
    """Those that lie in no other, each with those inside of it. Of two that are the same one is inside the other."""
    outer: list[Edit] = []
    for edit in sorted(edits, key=lambda each: (each.begin, -each.end, each.number)):
        home = outer
        while home and home[-1].end >= edit.end:
            home = home[-1].inner
        if home and home[-1].end > edit.begin:
            raise SnippetError(f"sites overlap: {home[-1].site.snippet!r} and {edit.site.snippet!r}")
        home.append(edit)
    return outer


def _apply(text: str, begin: int, end: int, edits: list[Edit]) -> str:
    parts: list[str] = []
    for edit in edits:
        parts.append(text[begin : edit.begin])
        original = _apply(text, edit.begin, edit.end, edit.inner)
        indent = text[text.rfind("\n", 0, edit.begin) + 1 : edit.begin]
        parts.append(_choice(edit, original, indent))
        begin = edit.end
    return "".join([*parts, text[begin:end]])


def _choice(edit: Edit, original: str, indent: str) -> str:
    site, number = edit.site, edit.number
    native = site.file.startswith("core/")
    prefix = "quorate::mutant_" if native else "_mutant."
    here = f"{prefix}{'at' if edit.noted else 'is' if native else 'differs'}({number})"
    if edit.noted and (site.kind == "value" or (site.kind == "expression" and site.without in LITERALS)):
        # Both are known, so that it is noted whether they differ: if they never do, neither does the mutant.
        kind = f"<decltype({original})>" if native and site.kind == "value" else "<bool>" if native else ""
        return f"{prefix}says{kind}({number}, ({original}), ({site.without}))"
    if native and site.kind != "statement":
        return f"({here} ? ({site.without}) : ({original}))"
    if site.when:
        here = f"({site.when}) && {here}" if native else f"({site.when}) and {here}"
    if native:
        return f"{{ if ({here}) {{ {site.without} }} else {{ {original} }} }}"
    if site.kind != "statement":
        return f"(({site.without}) if {here} else ({original}))"
    if indent.strip():
        raise SnippetError(f"a statement must begin its line: {site.snippet!r}")
    inside = "\n".join(f"    {line}" if line.strip() else line for line in original.splitlines())
    other = site.without.replace("\n", f"\n{indent}    ") or "pass"
    return f"if {here}:\n{indent}    {other}\n{indent}else:\n{indent}{inside}"


def _with_include(text: str) -> str:
    """Before the first line that includes something, or behind the pragma of a header that includes nothing."""
    place = re.search(r"^#include", text, re.MULTILINE)
    at = place.start() if place else text.index("#pragma once") + len("#pragma once\n")
    return f'{text[:at]}#include "mutant.hpp"\n{text[at:]}'


def _with_import(text: str) -> str:
    line = "from __future__ import annotations\n"
    if text.count(line) != 1:
        raise SnippetError("a module without annotations from the future has no place for the import")
    return text.replace(line, f"{line}\nfrom quorate import _mutant\n")
