"""What is said of pydantic's errors, on models that have what the config may have one day."""

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.nearest import near, nearest
from optimizer.complaints import complaints


class Block(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Circle(Block):
    radius: float
    colour: str = "red"


class Square(Block):
    side: float
    corners: Literal["round", "sharp"] = "sharp"
    inner: Circle | None = None


class Drawing(Block):
    shapes: list[Annotated[Circle | Square, Field(description="a shape")]] = []
    labels: dict[str, int | list[str]] = {}
    day: date | None = None
    times: Literal["auto"] | Annotated[int, Field(ge=1)] = "auto"


def told(**content: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Drawing.model_validate(content)
    return [".".join(map(str, c.path)) + ": " + c.message for c in complaints(caught.value, Drawing, content)]


def test_a_word_or_a_number_is_told_as_such_and_a_number_by_its_limit() -> None:
    assert told(times="often") == ["times: expected 'auto' or a whole number, not the text 'often'"]
    assert told(times=0) == ["times: must be at least 1, not 0"]


def test_the_member_of_a_union_that_was_meant_is_told_of() -> None:
    assert told(shapes=[{"side": "x"}]) == ["shapes.0.side: expected a number, not the text 'x'"]
    assert told(shapes=[{"colour": "red"}]) == ["shapes.0.radius: this key is missing"]
    assert told(shapes=[{"side": 1, "corner": "round"}]) == ["shapes.0.corner: unknown key; did you mean 'corners'?"]
    assert told(shapes=[{"radius": 1, "coulour": "x"}, {"side": 1, "inner": {"radius": [], "x": 1}}]) == [
        "shapes.0.coulour: unknown key; did you mean 'colour'?",
        "shapes.1.inner.radius: expected a number, not a list",
        "shapes.1.inner.x: unknown key; there is radius, colour",
    ]


def test_where_nothing_tells_which_member_was_meant_all_their_keys_are_offered() -> None:
    assert told(shapes=[{"raduis": 1}]) == ["shapes.0.raduis: unknown key; did you mean 'radius'?"]
    assert told(shapes=[{"x": 1}]) == ["shapes.0.x: unknown key; there is radius, colour, side, corners, inner"]
    assert told(shapes=[{}]) == ["shapes.0: expected a mapping with radius, colour, side, corners or inner"]
    assert told(shapes=[7]) == ["shapes.0: expected a mapping, not the number 7"]


def test_unions_of_plain_kinds_are_told_in_one_line() -> None:
    assert told(labels={"a": {"b": 1}}) == ["labels.a: expected a whole number or a list, not a mapping"]
    assert told(labels={"a": [1]}) == ["labels.a.0: expected text, not the number 1; put quotes around it"]


def test_a_misspelt_key_is_one_mistake() -> None:
    assert told(shapes=[{"sied": 1, "corners": "round"}]) == ["shapes.0.sied: unknown key; did you mean 'side'?"]


def test_a_wrong_word_is_told_with_the_nearest() -> None:
    assert told(shapes=[{"side": 1, "corners": "rond"}]) == [
        "shapes.0.corners: expected 'round' or 'sharp', not the text 'rond'; did you mean 'round'?"
    ]


def test_long_texts_are_shortened() -> None:
    assert told(shapes=["a" * 41]) == [f"shapes.0: expected a mapping, not the text '{'a' * 40}…'"]


def test_other_errors_keep_pydantics_words() -> None:
    assert told(day="2024-13-01") == ["day: Input should be a valid date or datetime, month value is outside expected range of 1-12"]


def test_nearest_names() -> None:
    assert near("Rolouts", ["calls", "rollouts"]) == "rollouts"
    assert near("x", ["calls"]) is None
    assert nearest("EXACT", ["exact", "fields"]) == "; did you mean 'exact'?"
    assert nearest("x", ["exact", "fields"]) == "; there is exact, fields"
    assert nearest("x", []) == ""


def test_infinite_numbers_are_refused() -> None:
    class Finite(Block):
        model_config = ConfigDict(allow_inf_nan=False)
        x: float

    with pytest.raises(ValidationError) as caught:
        Finite.model_validate({"x": float("inf")})
    assert [c.message for c in complaints(caught.value, Finite, {"x": float("inf")})] == ["must be a finite number, not inf"]
