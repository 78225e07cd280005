"""What differs between systems, as far as it can be tested on one of them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from quorate.base import machine
from quorate.base.errors import is_model_file
from quorate.search import limits

CORE = Path(__file__).parents[2] / "src" / "core"
# Headers and names that only Linux has. Whoever needs one guards it by #ifdef.
LINUX = r"malloc\.h|sysinfo\.h|prctl\.h|epoll\.h|linux/|sched_getcpu|mallinfo|mremap|gettid|MADV_HUGEPAGE|jthread"


def test_free_memory_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS has no SC_AVPHYS_PAGES and no /proc."""
    monkeypatch.setattr(os, "sysconf_names", {"SC_PAGE_SIZE": 30, "SC_PHYS_PAGES": 85})
    asked: list[str] = []

    def sysconf(name: str) -> int:
        asked.append(name)
        return {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}[name]

    monkeypatch.setattr(os, "sysconf", sysconf)
    monkeypatch.setattr("builtins.open", lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError()))
    assert machine.default_memory_limit() == int(4096 * 1000 * 0.9)
    assert asked == ["SC_PAGE_SIZE", "SC_PHYS_PAGES"]


def test_peak_memory_is_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    here = limits.peak_memory()
    assert 10_000_000 < here < 100_000_000_000
    monkeypatch.setattr(sys, "platform", "darwin")
    assert limits.peak_memory() * 900 < here


def test_nothing_in_the_core_is_for_linux_alone() -> None:
    for file in sorted(CORE.rglob("*.?pp")):
        depth = 0
        for number, line in enumerate(file.read_text().splitlines(), 1):
            depth += line.startswith("#if") - line.startswith("#endif")
            if re.search(LINUX, line.partition("//")[0]) and not line.startswith("#if"):
                assert depth > 0, f"{file.name}:{number}: {line.strip()}"


def test_whose_file_it_is() -> None:
    """A model that is installed beside the standard library is a model; methods that it lends to classes are not."""
    library = os.path.dirname(os.__file__)
    assert is_model_file("/home/me/model.py")
    assert is_model_file(f"{library}/site-packages/model.py")
    assert is_model_file(str(Path(limits.__file__).parent.parent / "protocols" / "paxos.py"))
    for file in (f"{library}/dataclasses.py", "<frozen importlib._bootstrap>", "<string>", limits.__file__):
        assert not is_model_file(file)
