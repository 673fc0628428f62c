"""Verification field by field, and what templates add to it."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator

from adapters.plain import NotPlainError
from scoring.compare import same
from scoring.scorer import ScorerConfigError
from scoring.template import read_template
from scoring.verify import WHOLE, FieldsError, verify_fields

leaf = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(-9, 9), st.text(max_size=3), st.lists(st.integers(-2, 2), max_size=3)
)
names = st.text("abcde", min_size=1, max_size=3)
objects = st.dictionaries(names, leaf, min_size=1, max_size=5)
comparing = st.sampled_from(["exact", "text", "numeric", "set"])


def fitting(value: Any) -> str:
    """A comparison that can compare the value."""
    if isinstance(value, list):
        return "set"
    if isinstance(value, bool):
        return "exact"
    return "numeric" if isinstance(value, int | float) else "text"


@given(objects, st.randoms())
def test_a_right_answer_scores_1_whatever_its_order(expected: dict[str, Any], random: Any) -> None:
    turned = list(expected.items())
    random.shuffle(turned)
    for comparisons in ({}, {name: fitting(value) for name, value in expected.items()}):
        result = verify_fields(expected, {**dict(turned), "zz": 1}, comparisons)
        assert result.verify_result and result.share({}) == 1
        assert set(result.field_scores.values()) == {1.0}
        assert (list(result.fields), result.extra, result.complaints()) == (list(expected), ("zz",), [])


@given(objects, st.data())
def test_changing_one_field_fails_exactly_that_field(expected: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(expected)))
    other = data.draw(leaf)
    assume(not same(expected[name], other))
    result = verify_fields(expected, {**expected, name: other})
    assert [field for field, right in result.field_results.items() if not right] == [name]
    assert result.field_results[name] is (None if other is None else False)
    assert result.share({}) == pytest.approx(1 - 1 / len(expected))
    assert len(result.complaints()) == 1
    assert result.complaints()[0].startswith(f"{name}: expected ")


@given(objects, objects)
def test_scores_stay_in_0_to_1_and_1_means_right(expected: dict[str, Any], got: dict[str, Any]) -> None:
    result = verify_fields(expected, got, {name: fitting(value) for name, value in expected.items()})
    assert 0 <= result.share({}) <= 1
    assert (result.share({}) == 1) is result.verify_result


@given(objects)
def test_an_answer_that_cannot_be_read_has_no_results(expected: dict[str, Any]) -> None:
    assert verify_fields(expected, None).field_results == dict.fromkeys(expected)


@given(st.text(st.characters(categories=["L"]), min_size=8), st.integers())
def test_withheld_values_are_not_in_the_complaints(secret: str, got: int) -> None:
    assert secret not in "".join(verify_fields({"a": secret}, {"a": got}).complaints(reveal_expected=False))


def test_null_is_a_value_only_where_it_is_expected() -> None:
    result = verify_fields({"a": None, "b": None, "c": 1}, {"a": None, "c": None})
    assert result.field_results == {"a": True, "b": None, "c": None}


def test_parts_of_objects() -> None:
    expected = {"at": {"town": "Rome", "zip": {"code": 1, "land": "I"}}, "n": 1}
    result = verify_fields(expected, {"at": {"town": "ROME", "zip": {"code": 1}}, "n": 1}, {"at.town": "text", "at.zip.code": "numeric"})
    assert result.field_results == {"at.town": True, "at.zip.code": True, "at.zip.land": None, "n": True}
    assert verify_fields(expected, {"at": 3, "n": 1}, {"at.town": "text"}).field_results == {"at.town": None, "at.zip": None, "n": True}
    assert verify_fields({"at": None}, {"at": None}, {"at.town": "text"}).verify_result


def test_extra_fields_are_counted_where_something_is_wrong() -> None:
    extra = {f"x{number}": 1 for number in range(7)}
    assert verify_fields({"a": 1}, extra).complaints()[-1] == "Not asked for: x0, x1, x2, x3, x4 and 2 more"


@pytest.mark.parametrize(
    ("expected", "comparisons", "message"),
    [
        ({}, {}, "the expected answer is {}; fields takes an object"),
        ({"a": float("nan")}, {}, "the expected answer: a: nan"),
        ({"a": 1}, {"b": "set"}, "a comparison for 'b', and the expected answer has no 'b'"),
        ({"a": {"town": 1}}, {"a.twon": "set"}, "has no 'twon'; did you mean 'town'?"),
        ({"a": [1]}, {"a.b": "set"}, "what holds 'b' is [1] and no object"),
        ({"a": 1}, {"a": "set"}, "the field 'a': set compares lists"),
        ({"a.b": 1, "a": {"b": 1, "c": 2}}, {"a.c": "exact"}, "two fields are called 'a.b'"),
    ],
)
def test_what_cannot_be_verified(expected: Any, comparisons: dict[str, str], message: str) -> None:
    with pytest.raises(FieldsError) as caught:
        verify_fields(expected, expected and {"a": 1}, comparisons)
    assert message in str(caught.value)


def test_parsed_values_have_to_be_plain() -> None:
    with pytest.raises(NotPlainError):
        verify_fields({"a": 1}, {"a": float("inf")})


def test_large_answers_are_verified_in_linear_time() -> None:
    wide = {"tags": [{"n": number} for number in range(40_000)], **{f"k{number}": number for number in range(40_000)}}
    result = verify_fields({"tags": [{"n": 1}], "a": 1}, wide, {"tags": "set"}, template=Lists)
    assert result.field_scores == {"tags": 1 / 40_000, "a": None, WHOLE: 0.0}
    assert len("".join(result.complaints())) < 3000


class Town(BaseModel):
    name: str = Field(alias="town")
    code: int | None = None


class Trip(BaseModel):
    day: date
    price: Decimal = Field(ge=0)
    kind: Literal["rail", "air"]
    to: Town | None = None
    nights: int = Field(0, alias="stays")


class Lists(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tags: list[dict[str, int]]
    a: int


TRIP = {"day": "2024-01-02", "price": 12.5, "kind": "rail"}


def test_values_are_read_as_the_model_says() -> None:
    got = {"day": "2024-01-02T00:00:00", "price": "12.50", "kind": "rail", "to": None}
    assert verify_fields(TRIP, got, {"price": "numeric"}, template=Trip).verify_result
    to = {**TRIP, "to": {"town": "Rome"}}
    assert verify_fields(to, {**TRIP, "to": {"town": "Rome", "code": None, "more": 1}}, template=Trip).verify_result
    parts = verify_fields(to, {**TRIP, "to": {"town": "rome", "code": "x"}}, {"to.town": "text"}, template=Trip)
    assert parts.field_results == {"day": True, "price": True, "kind": True, "to.town": True, "to": False}


@pytest.mark.parametrize(
    ("change", "results", "complaint"),
    [
        ({"price": -1}, {"price": False}, "price: expected '12.5', got -1 (Input should be greater than or equal to 0)"),
        ({"kind": "sea"}, {"kind": False}, "kind: expected 'rail', got 'sea' (Input should be 'rail' or 'air')"),
        ({"day": None}, {"day": None}, "day: expected '2024-01-02', got None (Input should be a valid date)"),
        ({"stays": "x"}, {"stays": False}, "stays: got 'x' (Input should be a valid integer, unable to parse string as an integer)"),
        ({"stays": 3, "nights": "x"}, {}, ""),
    ],
)
def test_values_that_do_not_fit_the_model(change: dict[str, Any], results: dict[str, Any], complaint: str) -> None:
    result = verify_fields(TRIP, {**TRIP, **change}, template=Trip)
    assert {name: right for name, right in result.field_results.items() if not right} == results
    assert result.complaints()[:1] == ([complaint] if complaint else [])


def test_what_a_template_requires_has_to_be_filled() -> None:
    result = verify_fields({"kind": "rail"}, {"kind": "rail", "price": 1}, template=Trip)
    assert result.field_results == {"kind": True, "day": None, "price": True}
    assert result.complaints() == ["day: got nothing (Field required)"]


def test_with_a_template_an_example_may_leave_open_what_is_compared() -> None:
    comparisons = {"price": "numeric", "to.town": "text"}
    assert verify_fields({"kind": "rail", "day": "2024-01-02"}, TRIP, comparisons, template=Trip).verify_result


def test_what_a_template_does_not_require_may_be_left_out() -> None:
    assert verify_fields({**TRIP, "to": None}, TRIP, template=Trip).verify_result
    result = verify_fields({**TRIP, "stays": 2}, TRIP, template=Trip)
    assert (result.verify_result, result.field_results["stays"]) == (False, None)


class Span(BaseModel):
    first: int
    last: Annotated[int, Field(lt=100)]

    @field_validator("first")
    @classmethod
    def _even(cls, first: int) -> int:
        if first % 2:
            raise ValueError("odd")
        return first

    @model_validator(mode="after")
    def _ordered(self) -> "Span":
        if self.first > self.last:
            raise ValueError("turned round")
        return self


def test_the_models_own_validators_decide_what_fits() -> None:
    expected = {"first": 2, "last": 4}
    assert verify_fields(expected, expected, template=Span).verify_result
    assert verify_fields(expected, {"first": 3, "last": 4}, template=Span).complaints() == ["first: expected 2, got 3 (Value error, odd)"]
    turned = verify_fields({"last": 4}, {"first": 6, "last": 4}, template=Span)
    assert turned.field_results == {"last": True, "first": True, WHOLE: False}
    assert turned.complaints() == [f"{WHOLE}: got {{'first': 6, 'last': 4}} (Value error, turned round)"]


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "at": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("got", "results", "complaint"),
    [
        ({"name": "a", "at": {"x": 1}}, {"name": True, "at": True}, ""),
        (
            {"name": "a", "at": {"x": 1.5}},
            {"name": True, "at": False},
            "at: expected {'x': 1}, got {'x': 1.5} (1.5 is not of type 'integer')",
        ),
        ({"at": {"x": 1}}, {"name": None, "at": True}, "name: expected 'a', got nothing (Field required)"),
        ({"name": "a", "at": {}}, {"name": True, "at": False}, "at: expected {'x': 1}, got {} (Field required)"),
        ({"name": "a"}, {"name": True, "at": None}, "at: expected {'x': 1}, got nothing"),
        ({"name": "a", "at": {"x": 1}, "b": 1}, {"name": True, "at": True, WHOLE: False}, f"{WHOLE}: got "),
    ],
)
def test_json_schemas(got: dict[str, Any], results: dict[str, Any], complaint: str) -> None:
    result = verify_fields({"name": "a", "at": {"x": 1}}, got, template=SCHEMA)
    assert result.field_results == results
    assert "".join(result.complaints()[:1]).startswith(complaint)
    assert result.verify_result is not bool(complaint)


def test_messages_are_cut() -> None:
    (complaint,) = verify_fields({"name": "a"}, {"name": ["x" * 1000]}, template=SCHEMA).complaints()
    assert len(complaint) < 500


@pytest.mark.parametrize(
    ("template", "expected", "message"),
    [
        (SCHEMA, {"nam": "a"}, "a field 'nam', which the template has not; did you mean 'name'?"),
        (SCHEMA, {"name": 1}, "does not fit the template: name: 1 is not of type 'string'"),
        (Trip, {"price": -1}, "does not fit the template: price: Input should be greater"),
    ],
)
def test_expected_answers_that_do_not_fit(template: object, expected: Any, message: str) -> None:
    with pytest.raises(FieldsError) as caught:
        verify_fields(expected, expected, template=template)
    assert message in str(caught.value)


class Several(BaseModel):
    a: int = Field(validation_alias=AliasChoices("a", "b"))


class Nothing(BaseModel):
    pass


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ({"type": "object"}, "the template has no properties"),
        ({"type": "objekt", "properties": {"a": {}}}, "the template: no JSON schema"),
        (Several, "Several.a has several aliases"),
        (Nothing, "the template Nothing has no fields"),
        (3, "the template is 3; it has to be a pydantic model"),
    ],
)
def test_templates_that_cannot_be_used(template: object, message: str) -> None:
    with pytest.raises(ScorerConfigError) as caught:
        read_template(template)
    assert message in str(caught.value)


def test_a_schema_without_end_is_named() -> None:
    endless = {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}
    with pytest.raises(ScorerConfigError, match="refers to itself without end"):
        verify_fields({"a": 1}, {"a": 1}, template=endless)
