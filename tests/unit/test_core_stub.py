"""The stub of the native core is generated from the module, and must be what it would be if it were generated now."""

from __future__ import annotations

import ast
import enum
import subprocess
import sys
from pathlib import Path

from quorate import _core

STUB = Path(__file__).parents[2] / "src" / "quorate" / "_core.pyi"


def declared(stub: str) -> list[str]:
    """What a stub says, however it is laid out."""
    return [
        ast.unparse(each)
        for each in ast.parse(stub).body
        if not isinstance(each, ast.Import | ast.ImportFrom | ast.Expr)
    ]


def test_the_stub_is_what_the_module_says(tmp_path: Path) -> None:
    fresh = tmp_path / "core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "quorate._core", "-o", str(fresh)]
    subprocess.run(command, check=True, timeout=60)
    assert declared(STUB.read_text()) == declared(fresh.read_text()), "src/core/binding has changed: make stub"


def test_nothing_takes_many_arguments_by_position() -> None:
    """More than five things are a struct, which is made with keywords."""
    functions = [each for each in ast.walk(ast.parse(STUB.read_text())) if isinstance(each, ast.FunctionDef)]
    assert len(functions) > 100
    assert [each.name for each in functions if len(each.args.args) > 6] == []


def test_enumerations_go_across_as_such() -> None:
    assert issubclass(_core.Stop, enum.Enum)
    assert [each.name for each in _core.Order] == ["set", "multiset", "fifo"]


def test_a_report_is_a_struct() -> None:
    network = _core.Network(
        order=_core.Order.set,
        when_full=_core.WhenFull.block,
        head=_core.Head.block,
        capacity=None,
        losses_unlimited=False,
        duplicates_unlimited=False,
        crashes_unlimited=False,
        losses=0,
        duplicates=0,
        crashes=0,
        cut_short=False,
        redeliver=False,
        loses_heads=False,
        down=None,
    )
    engine = _core.Engine(network)
    engine.add_column(monitor=False, transitions=[])
    engine.set_initials([[engine.add_local(0, content=0, values=[], failure=None, crashed=False)]], [])
    found = engine.search(object(), _core.SearchOptions(traversal=_core.Traversal.depth_first, deadlock=True))
    assert (found.stop, found.states, found.deadlocks) == (_core.Stop.violation, 1, 1)
    assert found.violation is not None
    assert found.violation.finding is _core.Finding.deadlock
    assert found.violation.path == [([(0, [])], [0, 0, 0])]
    assert found.goals == []
