"""Plain values: everything that JSON holds comes through unchanged, nothing else comes through unnoticed."""

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.plain import DEEPEST, NotPlainError, parse_json, plain

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20)


@given(values)
def test_what_json_holds_comes_through_unchanged(value: Any) -> None:
    assert plain(value) == value
    assert parse_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2021, 3, 4), "2021-03-04"),
        (datetime(2021, 3, 4, 5, 6, tzinfo=UTC), "2021-03-04T05:06:00+00:00"),
        (time(5, 6), "05:06:00"),
        (Decimal("12.50"), "12.50"),
        ({"a": (1, [date(2020, 1, 1)])}, {"a": [1, ["2020-01-01"]]}),
    ],
)
def test_dates_and_decimals_become_text(value: object, expected: object) -> None:
    assert plain(value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {"b": [0, float("nan")]}}, r"a\.b\[1\]: nan is not a number"),
        ({"a": float("-inf")}, "a: -inf is not a number"),
        ({"a": {1: "x"}}, "a: the key 1 is not text; put quotes around it"),
        ({"a": {1, 2}}, "a: a value of type set has no form in JSON"),
        ([b"x"], r"\[0\]: a value of type bytes"),
        ({"a": "\ud800"}, "a: the text holds half of a surrogate pair"),
        ({"\udfff": 1}, "half of a surrogate pair"),
    ],
)
def test_what_json_lacks_is_refused_with_its_place(value: object, message: str) -> None:
    with pytest.raises(NotPlainError, match=message):
        plain(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "a: nan"),
        ('{"a": 1e999}', "a: inf"),
        ('{"a": 1, "b": 2, "a": 3}', "the key 'a' is given twice"),
        ('"\\ud800"', "surrogate"),
        ("9" * 5000, "too many digits"),
        ("[" * 100_000 + "]" * 100_000, f"more than {DEEPEST} levels"),
    ],
)
def test_what_pythons_parser_lets_pass_is_refused(text: str, message: str) -> None:
    with pytest.raises(NotPlainError, match=message):
        parse_json(text)


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "\U0001f600"


def test_no_json_is_jsons_own_error() -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_json("{")


def test_nesting_is_allowed_up_to_its_limit() -> None:
    value: list[Any] = []
    for _ in range(DEEPEST - 1):
        value = [value]
    assert plain(value) == value
    with pytest.raises(NotPlainError, match="levels deep"):
        plain([value])


@pytest.mark.parametrize(
    "text",
    ["{" + ",".join(f'"{number}":0' for number in [*range(80_000), 79_999]) + "}", '{"' + "k" * 500_000 + '":[' + "0," * 250_000 + "NaN]}"],
    ids=["a late second key", "many values under a long key"],
)
def test_the_time_that_hostile_texts_take_is_linear(text: str) -> None:
    """Squared it would be minutes."""
    with pytest.raises(NotPlainError, match=r"twice|kkk"):
        parse_json(text)
