"""Values and texts that nobody expects: shown, saved and replayed all the same."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.base.failures import described
from quorate.base.printable import printable, printable_lines
from quorate.base.values import show
from quorate.results.json import value_to_json

MODEL = """
from quorate import Process, System, invariant, start

class A(Process):
    x: object = 0

    @start
    def begin(self) -> None:
        self.x = VALUE
        assert FAILS, TEXT

class S(System):
    def build(self) -> None:
        self.spawn(A, 2)

    @invariant
    def ok(self) -> bool:
        return all(a.x == 0 for a in self[A])
"""

VALUES = {
    "huge": "10**5000",
    "huge negative": "-(10**5000)",
    "huge inside": "(1, frozenset({10**5000}))",
    "surrogate": "'a\\\\ud800b'",
    "escape": "'\\\\x1b[2J\\\\x1b]0;title\\\\x07'",
    "lines": "'a\\\\nb\\\\r\\\\0\\\\x85\\\\u2028'",
    "direction": "'\\\\u202eabc'",
    "markup": "'<script>alert(1)</script>]]>--&;#'",
    "quotes": "'\"\"\"' + \"'\" + '\\\\\\\\'",
    "umlaut": "'\\\\xfc\\\\u2713\\\\U0001f600'",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def quorate(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "quorate", *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert b"Traceback" not in done.stderr
    assert b"Q900" not in done.stderr
    return done


def safe(content: bytes) -> str:
    text = content.decode("utf-8")
    assert text == printable_lines(text)
    return text


@pytest.mark.parametrize("fails", [False, True], ids=["invariant", "assertion"])
@pytest.mark.parametrize("value", VALUES)
def test_an_odd_value_in_every_form(value: str, fails: bool) -> None:
    written = VALUES[value].replace("\\\\", "\\")
    text = written if written[0] == "'" else "'no'"
    model = MODEL.replace("VALUE", "0" if fails else written).replace("FAILS", str(not fails)).replace("TEXT", text)
    Path("odd.py").write_text(model)
    files = ["a.svg", "b.mmd", "c.txt", "d.html", "e.shiviz"]
    shown = quorate(
        *("check", "odd.py", "--chart", "a.svg", "--chart", "b.mmd", "--chart", "c.txt", "--report", "d.html"),
        *("--export", "e.shiviz", "--export", "f.itf.json", "--save", "run.json", "--pytest", "test_odd.py"),
    )
    assert shown.returncode == 1
    safe(shown.stdout)
    safe(shown.stderr)
    for name in files:
        safe(Path(name).read_bytes())
    ElementTree.parse("a.svg")
    json.loads(Path("f.itf.json").read_text())
    compile(Path("test_odd.py").read_text(), "test_odd.py", "exec")
    assert json.loads(quorate("check", "odd.py", "--json").stdout)["verdict"] == "violated"
    assert quorate("replay", "run.json", "--trust").returncode == 1
    ascii_only = quorate("check", "odd.py", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert ascii_only.returncode == 1
    assert ascii_only.stdout.isascii()
    safe(quorate("check", "odd.py", "--trace", "text", LC_ALL="C", PYTHONIOENCODING="ascii").stdout)


@given(st.text(st.characters()) | st.text("\x00\x1b\n\r\x85\u2028\u202e\ud800a"))
def test_what_is_printable_is_one_line_that_can_be_encoded(text: str) -> None:
    shown = printable(text)
    assert shown.encode("utf-8").decode("utf-8").splitlines() == ([shown] if shown else [])
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("value", "text", "form"),
    [
        (10**639, "1" + "0" * 639, 10**639),
        (2**20_000 + 5, "0x80000000…00000005 (20,001 bits)", {"$": "int", "hex": f"{2**20_000 + 5:x}"}),
        (-(2**20_000), "-0x80000000…00000000 (20,001 bits)", {"$": "int", "hex": f"{-(2**20_000):x}"}),
    ],
    ids=["whole", "huge", "huge negative"],
)
def test_integers_of_any_size(value: int, text: str, form: object) -> None:
    assert show(value) == text
    assert value_to_json(value) == form


def test_texts_of_any_length() -> None:
    """Nobody reads a million characters, and to lay them out takes minutes; as data they are whole."""
    assert show("x" * 2000) == repr("x" * 2000)
    assert show("x" * 2001) == repr("x" * 1000) + "… (2,001 characters)"
    assert show(b"x" * 2001) == repr(b"x" * 1000) + "… (2,001 bytes)"
    assert value_to_json("x" * 2001) == "x" * 2001
    assert described(ValueError("x" * 3_000_000)) == "ValueError: " + "x" * 2000 + "… (3,000,000 characters)"


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ("--max-states 1e30", 0),
        ("--max-states 1e400", 0),
        ("--max-memory 1e30", 0),
        ("--max-memory 1e999", 0),
        ("--timeout 1e400", 0),
        ("--max-behaviours 1e30", 0),
        ("--por dpor --max-depth 1e30", 0),
        ("--threads 99999999999999999999", 2),
        ("--crashes 99999999999999999999", 2),
        ("--byzantine player=99999999999999999999", 2),
        (f"-p rally={'9' * 5000}", 2),
    ],
)
def test_limits_beyond_what_is_counted(options: str, status: int) -> None:
    assert quorate("check", "ping-pong", "--trace", "none", *options.split()).returncode == status


DEEP = """
from quorate import Process, System, invariant, step

class A(Process):
    x: tuple = ()

    @step(when=lambda self: True)
    def go(self) -> None:
        self.x = DEEPER

class S(System):
    def build(self) -> None:
        self.spawn(A, 1)

    @invariant
    def ok(self) -> bool:
        return True
"""


@pytest.mark.parametrize("deeper", ["(self.x,)", "(1, (2, self.x))", "frozenset({self.x})"])
def test_a_value_that_grows_deeper_is_a_limit_and_no_defect(deeper: str) -> None:
    Path("deep.py").write_text(DEEP.replace("DEEPER", deeper))
    done = quorate("check", "deep.py", "--max-states", "3000", "--timeout", "20")
    assert done.returncode in (2, 3)
    if done.returncode == 2:
        assert b"error Q501: a value of the model is nested too deeply" in done.stderr
