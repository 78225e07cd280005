import pytest

from models import Colour, Everything
from quorate.base.errors import ParameterError
from quorate.model.given import grid, instance, restored
from quorate.results.json import value_to_json


def test_values_are_read_by_type() -> None:
    system = instance(Everything, ["helpers=5", "colour=blue", "lossy=no", "note=some text = more"])
    assert dict(system.parameters) == {
        "helpers": 5,
        "colour": Colour.BLUE,
        "lossy": False,
        "note": "some text = more",
    }


def test_an_optional_parameter_can_be_none() -> None:
    assert instance(Everything, ["note=none"]).parameters["note"] is None


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (["helper=3"], "Everything has no parameter `helper`", "did you mean `helpers`?"),
        (["helpers=three"], "helpers=three is not of type int", "for example helpers=3"),
        (["lossy=perhaps"], "lossy=perhaps is not of type bool", "for example lossy=true"),
        (["colour=green"], "colour=green is not of type Colour", "one of RED, BLUE"),
        (["helpers"], "-p helpers has no value", "write -p NAME=VALUE"),
        (["=3"], "-p =3 has no value", "write -p NAME=VALUE"),
        (["helpers=1", "helpers=2"], "helpers is given twice: helpers=1 and helpers=2", ""),
    ],
)
def test_what_is_wrong_is_said(given: list[str], message: str, hint: str) -> None:
    with pytest.raises(ParameterError) as caught:
        instance(Everything, given)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_a_grid_varies_the_last_name_fastest() -> None:
    names, points = grid(Everything, ["helpers=1..2", "lossy=on,off"])
    assert names == ["helpers", "lossy"]
    assert [tuple(point.values()) for point in points] == [(1, True), (1, False), (2, True), (2, False)]


def test_a_grid_mixes_lists_and_ranges() -> None:
    assert [point["helpers"] for point in grid(Everything, ["helpers=1,3..5,9"])[1]] == [1, 3, 4, 5, 9]


def test_a_grid_without_values_is_one_instance() -> None:
    assert grid(Everything, []) == ([], [{}])


def test_dots_in_text_are_no_range() -> None:
    assert grid(Everything, ["note=1..2"])[1] == [{"note": "1..2"}]


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"helpers=5\.\.2 is empty"):
        grid(Everything, ["helpers=5..2"])


def test_saved_parameters_come_back() -> None:
    system = Everything(helpers=2, colour=Colour.BLUE, lossy=False, note="x")
    saved = {name: value_to_json(value) for name, value in system.parameters.items()}
    assert dict(restored(Everything, saved).parameters) == dict(system.parameters)


def test_a_saved_parameter_that_is_gone() -> None:
    with pytest.raises(ParameterError, match="has no parameter `old`"):
        restored(Everything, {"old": 1})
