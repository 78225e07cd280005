"""Every bad model gets the code and the line that it deserves, in JSON and in words."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bad_model_table import HEAD, ROWS
from bad_models import call, forget

NO_ERROR = ("", "exceptions", "assertions")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    forget("bad")


@pytest.mark.parametrize("name", ROWS)
def test_a_bad_model(tmp_path: Path, name: str) -> None:
    text, code = ROWS[name]
    source = HEAD + text
    (tmp_path / "bad.py").write_text(source, errors="surrogateescape")
    marked = [number for number, line in enumerate(source.splitlines(), 1) if line.endswith("# here")]
    status, out, err = call("check", "bad.py", "--json", "--max-states", "5000")
    os.chdir(tmp_path)
    assert "Traceback" not in err
    document = json.loads(out)
    if code in NO_ERROR:
        assert (document.get("property") or "", status) == (code, 1 if code else 0), document
    else:
        assert (document["error"]["code"], status) == (code, 2), document
        assert document["error"]["message"]
    if code:
        where = document["error"] if "error" in document else document["trace"]["steps"][-1]["failure"]
        assert where["line"] == (marked[0] if marked else None), where
        assert not marked or Path(where["file"]).name == "bad.py"


def test_the_same_in_words(tmp_path: Path) -> None:
    """The code, the place and the line itself; not for all, since it is the same error that is shown."""
    for name in ("list", "undeclared field", "property raises", "network of a text", "syntax", "build recurses"):
        text, code = ROWS[name]
        (tmp_path / "bad.py").write_text(HEAD + text)
        forget("bad")
        status, out, err = call("check", "bad.py")
        number, line = next(
            (number, line) for number, line in enumerate((HEAD + text).splitlines(), 1) if line.endswith("# here")
        )
        assert (status, out) == (2, "")
        assert err.startswith(f"error {code}: ")
        assert f"bad.py:{number}\n      {line.strip()}\n" in err
