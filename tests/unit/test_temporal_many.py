"""More predicates than one graph has room for: each formula may have 64, and all formulas together any number."""

from typing import Any

import pytest

from quorate import Process, System, check, leads_to, ltl, step
from quorate.base.errors import LimitError


class Light(Process):
    n: int = 0
    fails: bool = False

    @step(when=lambda self: self.n < 2)
    def on(self) -> None:
        self.n += 1
        assert not self.fails or self.n < 2, "burnt out"

    def is_at(self, n: int) -> bool:
        return self.n == n


def at(place: int, n: int) -> Any:
    return lambda self: self[Light][place].n == n


class Lights(System):
    lights: int = 3
    fails: bool = False

    def build(self) -> None:
        self.spawn(Light, self.lights, fails=self.fails)

    @leads_to("full", each=Light)
    def half(self, light: Light) -> bool:
        return light.n == 1

    def full(self, light: Light) -> bool:
        return light.n == 2


PREDICATES = {f"p{i}": at(i % 3, i // 3) for i in range(90)}
Wide: Any = type("Wide", (Lights,), PREDICATES | {f"e{i}": ltl(f"F p{i}") for i in range(90)})


def test_properties_are_decided_on_several_graphs() -> None:
    result = check(Wide)
    verdicts = {each.name: each.verdict for each in result.properties}
    assert len(verdicts) == 93
    assert {name for name, verdict in verdicts.items() if verdict == "holds"} == {
        *(f"half[light{number}]" for number in (1, 2, 3)),
        *(f"e{i}" for i in range(9)),  # a light is off, half or full
    }
    assert set(verdicts.values()) == {"holds", "violated"}
    assert result.trace is not None
    assert result.trace.property == "e9"
    assert result.fairness is not None
    assert result.fairness["would_hold"] is None
    assert result.states == 27


def test_the_first_violation_is_shown_whichever_graph_it_is_in() -> None:
    late: Any = type("Late", (Wide,), {f"e{i}": None for i in range(9, 70)})
    result = check(late)
    assert result.trace is not None
    assert result.trace.property == "e70"
    assert [each.verdict for each in result.properties[-3:]] == ["violated"] * 3


def test_a_limit_or_a_failure_leaves_the_rest_open() -> None:
    found = check(Wide(fails=True))
    assert found.property == "assertions"
    assert len(found.properties) == 94
    assert {each.verdict for each in found.properties[1:]} == {"incomplete"}
    cut = check(Wide(), max_states=5)
    assert cut.stopped_by == "states"
    assert not any(each.verdict == "holds" for each in cut.properties)


@pytest.mark.parametrize("kind", ["ltl", "ctl"])
def test_one_formula_has_a_limit_that_is_told_before_the_search(kind: str) -> None:
    text = " & ".join(f"{'F' if kind == 'ltl' else 'EF'} p{i}" for i in range(70))
    options: dict[str, Any] = {kind: text}
    with pytest.raises(LimitError, match="70 predicates, and at most 64") as caught:
        check(Wide, **options)
    assert caught.value.code == "Q505"
