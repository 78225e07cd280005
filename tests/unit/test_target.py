import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quorate.base.errors import QuorateError, TargetError
from quorate.model.target import load

MODEL = """
from quorate import Process, System, step

class Counter(Process):
    count: int = 0

    @step(when=lambda self: self.count < 3)
    def up(self) -> None:
        self.count += 1

class Counting(System):
    def build(self) -> None:
        self.spawn(Counter)
"""


@pytest.fixture(autouse=True)
def _clean_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if not name.startswith("quorate"):
            del sys.modules[name]


def refused(target: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        load(target)
    return caught.value


@pytest.mark.parametrize("name", ["model.PY", "model", "model.py.orig", "notes.md"])
def test_a_file_whose_name_is_no_file_of_python(name: str) -> None:
    Path(name).write_text(MODEL)
    error = refused(f"./{name}")
    assert (error.message, error.code) == (f"./{name} is no file of Python", "Q302")


def test_a_bundled_protocol() -> None:
    assert load("paxos").__name__ == "Paxos"


def test_every_bundled_protocol_loads() -> None:
    from quorate.protocols import CATALOGUE

    for name in CATALOGUE:
        load(name)


def test_an_unknown_name_gets_a_guess() -> None:
    error = refused("paxsos")
    assert error.code == "Q301"
    assert "did you mean `paxos`?" in error.hint


def test_a_file_without_its_ending_gets_a_guess() -> None:
    Path("mine.py").write_text(MODEL)
    assert refused("mine").hint == "did you mean `mine.py`?"


def test_a_file_with_a_name_and_one_without() -> None:
    Path("mine.py").write_text(MODEL)
    assert load("mine.py:Counting") is load("mine.py")
    assert load("./mine.py").__name__ == "Counting"


def test_a_module() -> None:
    Path("package").mkdir()
    Path("package/mine.py").write_text(MODEL)
    assert load("package.mine:Counting").__name__ == "Counting"


def test_a_file_imports_its_neighbours() -> None:
    Path("sub").mkdir()
    Path("sub/parts_of_it.py").write_text(MODEL)
    Path("sub/whole.py").write_text("from parts_of_it import Counting\nclass Whole(Counting): ...\n")
    assert load("sub/whole.py").__name__ == "Whole"


def test_a_file_may_have_the_name_of_a_library() -> None:
    import random

    Path("random.py").write_text(MODEL)
    assert load("random.py").__name__ == "Counting"
    assert sys.modules["random"] is random


def test_two_files_of_one_name() -> None:
    for directory in ("a", "b"):
        Path(directory).mkdir()
        Path(directory, "mine.py").write_text(MODEL.replace("count < 3", f"count < {ord(directory)}"))
    assert load("a/mine.py") is not load("b/mine.py")


def test_a_missing_file_gets_a_guess() -> None:
    Path("mine.py").write_text(MODEL)
    error = refused("mime.py")
    assert error.message == "there is no file mime.py"
    assert error.hint == "did you mean `mine.py`?"
    assert "no directory nowhere" in refused("nowhere/mine.py").hint


def test_a_missing_module() -> None:
    assert refused("no.such.module:System").message == "there is no module no.such.module"


def test_a_file_with_a_syntax_error_names_the_line() -> None:
    Path("mine.py").write_text("x = 1\ndef f(:\n")
    error = refused("mine.py")
    assert "mine.py is not valid Python" in error.message
    assert error.location is not None
    assert error.location.line == 2


def test_a_file_that_raises_names_the_line() -> None:
    Path("mine.py").write_text("import sys\n\nx = 1 / 0\n")
    error = refused("mine.py")
    assert error.message == "mine.py cannot be imported: ZeroDivisionError: division by zero"
    assert error.location is not None
    assert (Path(error.location.file).name, error.location.line) == ("mine.py", 3)


def test_a_file_that_needs_what_is_not_installed() -> None:
    Path("mine.py").write_text("import no_such_library\n")
    assert "No module named 'no_such_library'" in refused("mine.py").message
    assert refused("mine.py").location is not None


def test_a_module_that_needs_what_is_not_installed_is_not_called_missing() -> None:
    Path("mine.py").write_text("import no_such_library\n")
    assert refused("mine:System").message.startswith("mine cannot be imported")


def test_a_file_that_exits_does_not_end_the_command() -> None:
    Path("mine.py").write_text("raise SystemExit(3)\n")
    assert "SystemExit: 3" in refused("mine.py").message


def test_an_error_of_the_model_keeps_its_code() -> None:
    Path("mine.py").write_text("from quorate import Message\nclass M(Message):\n    sender: int\n")
    with pytest.raises(QuorateError) as caught:
        load("mine.py")
    assert caught.value.code == "Q106"


def test_no_system_and_several_systems() -> None:
    Path("none.py").write_text("x = 1\n")
    assert refused("none.py").message == "none.py defines no System"
    Path("two.py").write_text(MODEL + "class Second(Counting): ...\n")
    error = refused("two.py")
    assert error.message == "two.py defines 2 systems, so say which: two.py:Counting"
    assert error.hint == "it defines Counting, Second"


def test_a_name_that_is_not_there_or_not_a_system() -> None:
    Path("mine.py").write_text(MODEL)
    assert refused("mine.py:Countin").hint == "did you mean `Counting`?"
    assert refused("mine.py:Counter").message == "Counter in mine.py is not a System"
