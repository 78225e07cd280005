"""An exception in any call-back of a model is the model's, with file and line; "internal error" is for our defects.

A table: one model with all the places where Quorate calls it, times the kinds of exceptions that a model can raise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bad_models import call, forget

# `@@name` is a place; the one that is tried gets the exception, the others `pass`.
MODEL = """
import enum, sys, typer
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple
from quorate import *

class Base(BaseException): ...
class Own(Exception): ...
class Mute(Exception):
    def __str__(self): raise ValueError("no text")
    __repr__ = __str__

def made() -> int:
    @@default_factory
    return 0

@dataclass(frozen=True)
class Frozen:
    v: int = 0
    w: int = field(default_factory=made)
    def __post_init__(self):
        @@post_init
        pass
    def __eq__(self, other):
        @@eq
        return isinstance(other, Frozen) and self.v == other.v
    def __hash__(self):
        @@hash
        return hash(self.v)
    def __repr__(self):
        @@repr
        return f"Frozen({self.v})"

class Pair(NamedTuple):
    one: int
    def __repr__(self):
        @@repr_tuple
        return "Pair"

class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    def __repr__(self):
        @@repr_enum
        return "colour"
    __str__ = __repr__
    def __hash__(self):
        @@hash_enum
        return 1

class Go(Message):
    value: Frozen
    pair: Pair = Pair(1)
    def __post_init__(self):
        @@post_init_message
        pass
    def __repr__(self):
        @@repr_message
        return "Go"

class Back(Message):
    colour: Colour = Colour.RED

class Said(Event):
    n: int = 0

def when_step(self):
    @@when_step
    return self.x < 2
def when_start(self):
    @@when_start
    return True
def when_on(self, m):
    @@when_on
    return True
def when_quorum(self):
    @@when_quorum
    return True
def where(self, m):
    @@where
    return True
def size(self):
    @@size
    return 1
def each(self):
    @@each
    return self.others
def enough(self, ms):
    @@enough
    return len(ms) > 0
def same(m):
    @@same
    return m.colour
def when_monitor(self, e):
    @@when_monitor
    return True
def options():
    yield 1
    @@options
    yield 2

class Strange:
    def __bool__(self):
        @@bool
        return True

class A(Process):
    others: Peers = Peers()
    x: int = 0
    frozen: Frozen = Frozen()
    colour: Colour = Colour.BLUE
    tuple: Pair = Pair(0)
    @@class_body

    @start(when=when_start)
    def begin(self) -> None:
        @@start
        self.x = self.choose(options())
        self.send(self.others, Go(Frozen(self.x)))
        self.emit(Said(self.x))

    @step(when=when_step)
    def more(self) -> None:
        @@step
        self.x += 1
        self.helper

    @property
    def helper(self) -> int:
        @@attribute
        return 0

    @on(Go, when=when_on)
    def go(self, m: Go) -> None:
        @@on
        self.frozen = m.value
        self.reply(Back())

    @quorum(Back, size=size, when=when_quorum, where=where, same=same)
    def back(self, ms: frozenset[Back]) -> None:
        @@quorum
        self.x = 2

    @quorum(Back, each=each, where=lambda self, m: Strange())
    def back_of_each(self, ms: frozenset[Back]) -> None:
        @@quorum_each
        self.x = 2

    @quorum(Back, enough=enough)
    def back_enough(self, ms: frozenset[Back]) -> None:
        @@quorum_enough
        self.x = 2

    def within(self) -> bool:
        @@within
        return self.x <= 2

class Liar(A, byzantine=True):
    @on(Go)
    def go(self, m: Go) -> None:
        @@strategy
        self.reply(Back(Colour.BLUE))

class Watch(Monitor):
    seen: int = 0
    @on(Said, when=when_monitor)
    def said(self, e: Said) -> None:
        @@monitor
        self.seen = e.n

def domain(system):
    @@domain
    return (1, 2)

class Ask(Message):
    n: Annotated[int, Among(domain)] = 1

class S(System):
    bound: int = 3
    def __init__(self, **values) -> None:
        @@init
        super().__init__(**values)
    def __repr__(self):
        @@repr_system
        return "S()"
    def build(self) -> None:
        @@build
        all = [self.spawn(A), self.spawn(Liar)]
        self.connect(all, others=Peers(all))
        self.watch(Watch)
    @invariant
    def low(self) -> bool:
        @@invariant
        return all(a.x < self.bound for a in self[A]) and self.helper()
    def helper(self) -> bool:
        @@property_helper
        return True
    @can
    def reached(self) -> bool:
        @@can
        return all(a.x == 2 for a in self[A])
    @final
    def ended(self) -> bool:
        @@final
        return True

@@module
"""
PLACES = [line.strip()[2:] for line in MODEL.splitlines() if line.strip().startswith("@@")]
KINDS = {
    "ValueError": "raise ValueError('no')",
    "no text": "raise KeyError",
    "AttributeError": "raise AttributeError('no')",
    "assertion": "assert False, 'no'",
    "division": "1 // 0",
    "StopIteration": "raise StopIteration",
    "own": "raise Own('no')",
    "without text": "raise Mute",
    "group": "raise ExceptionGroup('no', [ValueError(1)])",
    "recursion": "(lambda f: f(f))(lambda f: f(f))",
    "exit": "sys.exit(0)",
    "exit with text": "sys.exit('bye')",
    "exit of typer": "raise typer.Exit(0)",
    "abort of typer": "raise typer.Abort",
    "parameter of typer": "raise typer.BadParameter('no')",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "base": "raise Base('no')",
    "base group": "raise BaseExceptionGroup('no', [KeyboardInterrupt()])",
    "not an exception": "raise 3",
    "from elsewhere": "int('x')",
}
ALWAYS = {
    "module", "class_body", "init", "build", "start", "step", "on", "quorum", "quorum_each", "quorum_enough",
    "when_step", "when_start", "when_on", "when_quorum", "where", "size", "each", "enough", "same", "within", "monitor",
    "options",
    "when_monitor", "invariant", "property_helper", "can", "strategy", "post_init", "default_factory",
    "post_init_message", "attribute", "bool",
}  # fmt: skip
"""Places that are met in any case; whether Quorate compares or prints a value by the model's own code is its choice."""


SKIPPED = {("options", "StopIteration")}
"""Python makes another error of it, whose traceback does not know the line."""


def source(place: str, kind: str) -> tuple[str, int]:
    lines: list[str] = []
    at = 0
    for line in MODEL.splitlines():
        if line.strip() == f"@@{place}":
            at = len(lines) + 1
            line = line.replace(f"@@{place}", KINDS[kind])
        elif line.strip().startswith("@@"):
            line = line.partition("@@")[0] + "pass"
        lines.append(line)
    return "\n".join(lines) + "\n", at


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget("blamed")


def failed_at(document: dict[str, Any], trace: dict[str, Any] | None) -> tuple[str, int] | None:
    """Where the model failed, as the answer has it: an error, or a run whose last step fails."""
    if "error" in document:
        assert document["error"]["code"] not in ("Q900", "Q901", "Q902"), document["error"]
        return document["error"]["file"], document["error"]["line"]
    for step in (trace or {}).get("steps", []):
        if step.get("failure"):
            return step["failure"]["file"], step["failure"]["line"]
    return None


@pytest.mark.parametrize("place", PLACES)
def test_exceptions_are_blamed_on_the_model(tmp_path: Path, place: str) -> None:
    target = tmp_path / "blamed.py"
    for kind in KINDS:
        if (place, kind) in SKIPPED:
            continue
        text, line = source(place, kind)
        target.write_text(text)
        forget("blamed")
        status, out, err = call("check", str(target), "--json", "--max-states", "2000")
        document = json.loads(out)
        where = failed_at(document, document.get("trace"))
        assert "internal error" not in out + err
        assert "Traceback" not in err
        if "error" in document:
            assert status == 2, (kind, document)
        if where is not None or place in ALWAYS:
            assert where == (str(target), line), (kind, document.get("error"), document.get("verdict"), line)


def test_the_same_in_words_and_files(tmp_path: Path) -> None:
    """With all that renders a run: charts, a report, a test, a saved run; then in a plan, a sweep and a replay."""
    target = tmp_path / "blamed.py"
    files = [f"--{name}={tmp_path / file}" for name, file in FILES.items()]
    for place in PLACES:
        text, _ = source(place, "without text")
        target.write_text(text)
        forget("blamed")
        found = [call("check", str(target), "-p", "bound=2", "--max-states", "2000", *files)]
        forget("blamed")
        found.append(call("plan", str(target)))
        forget("blamed")
        found.append(call("sweep", str(target), "-p", "bound=2", "-j", "1", "--max-states", "500"))
        for status, out, err in found:
            assert "internal error" not in out + err, (place, err)
            assert "Q900" not in out + err
            assert "Traceback" not in err
            assert status in (0, 1, 2, 3)


FILES = {"chart": "run.svg", "report": "run.html", "pytest": "test_run.py", "save": "run.json", "export": "run.mmd"}
