import ast
from pathlib import Path

import pytest

import quorate.por
from quorate.por import ReductionError, TransitionSystem
from quorate.por.run import Run, Tree
from quorate.por.system import bits


def test_a_system_can_be_drawn_as_a_graph() -> None:
    system = TransitionSystem.from_edges([0], [(0, "b", 1), (0, "a", 1), (0, "b", 2), (1, "a", 0)])
    assert system.transitions == ["b", "a"]
    assert system.moves(0) == {"b": (1, 2), "a": (1,)}
    assert system.moves(1) == {"a": (0,)}
    assert system.moves(2) == {}


def test_moves_are_in_the_order_of_the_transitions_and_outcomes_come_once() -> None:
    def successors(state: int, transition: str) -> list[int]:
        return [] if transition == "off" else [state + 1, state + 1]

    system = TransitionSystem(["z", "off", "a"], [0], successors)
    assert list(system.moves(0).items()) == [("z", (1,)), ("a", (1,))]
    told = TransitionSystem(["z", "off", "a"], [0], successors, enabled=lambda state: ["a", "z"])
    assert list(told.moves(0).items()) == [("z", (1,)), ("a", (1,))]


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(ReductionError, match="no initial state"):
        TransitionSystem(["a"], [], lambda state, t: [state])
    with pytest.raises(ReductionError, match="transition='a' is given twice"):
        TransitionSystem(["a", "b", "a"], [0], lambda state, t: [state])
    with pytest.raises(ReductionError, match="no transition='stop'(.|\n)*did you mean `step`"):
        TransitionSystem(["step"], [0], lambda state, t: [state], enabled=lambda state: ["stop"]).moves(0)
    with pytest.raises(ReductionError, match="transition='a' is enabled but has no successor in state=0"):
        TransitionSystem(["a"], [0], lambda state, t: [], enabled=lambda state: ["a"]).moves(0)


def test_the_library_stands_alone() -> None:
    """Usable for any transition system: nothing of processes and messages in it but the shape of errors."""
    for file in Path(quorate.por.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            ours = [name for name in names if name.startswith("quorate")]
            assert all(name.startswith("quorate.por") or name == "quorate.base.errors" for name in ours), file


def test_errors_have_a_code() -> None:
    with pytest.raises(ReductionError) as caught:
        TransitionSystem(["a"], [], lambda state, t: [state])
    assert caught.value.code == "Q800"
    assert "hint: " in str(caught.value)


def test_bits() -> None:
    assert list(bits(0b10110)) == [1, 2, 4]
    assert list(bits(0)) == []


def test_a_tree_of_runs() -> None:
    tree: Tree[int, str] = Tree({0: None, 1: (0, "up"), 2: (1, "further")})
    run = tree.run_to(2)
    assert run == Run(0, (("up", 1), ("further", 2)))
    assert (run.last, run.transitions) == (2, ("up", "further"))
    assert tree.run_to(0).last == 0
    assert str(run) == "         0\nup       1\nfurther  2"
