"""Numbers in texts: which there are, and their values."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.numbers import number, numbers
from scoring.text import fold, plain_number
from scoring.whole import one_dash, places


def read(text: str) -> str:
    return one_dash(fold(text))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("none here", []),
        ("12", ["12"]),
        ("12 kg and 0.50", ["12", "0.5"]),
        (".5 or x.5 or ...5", ["0.5", "5", "5"]),
        ("1,204,567.25", ["1204567.25"]),
        ("1,2", ["1", "2"]),
        ("12-15", ["12", "15"]),
        ("-12, −3 and (-4)", ["-12", "-3", "-4"]),
        ("$5, -$6, $-7, $8-$9", ["5", "-6", "-7", "8", "9"]),
        ("1e5, 1E-2, 2.5e+3", ["100000", "0.01", "2500"]),
        ("1e12345", []),
        ("1.2.3 on 12.05.2023", []),
        ("45 million, 1.5-billion, 2 thousand, 3 trillions", ["45000000", "1500000000", "2000", "3000000000000"]),
        ("45 millionaires", ["45"]),
        ("1e2 thousand", ["100000"]),
        ("x1_2", ["1", "2"]),
        ("5² and ５", ["5"]),
        ("9" * 400, ["9" * 400]),
        ("9" * 401, []),
    ],
)
def test_values(text: str, values: list[str]) -> None:
    assert [found.value for found in numbers(read(text))] == [Decimal(value) for value in values]


def test_a_long_number_keeps_every_digit() -> None:
    assert next(numbers("-1234567890123456789012345678901234567.5")).value == Decimal("-1234567890123456789012345678901234567.5")


def test_places_hold_the_signs_and_the_scale() -> None:
    text = "lost -$1.5 million"
    (found,) = numbers(text)
    assert text[found.start : found.end] == "-$1.5 million"


@pytest.mark.parametrize(("begin", "values"), [(0, [12, 34]), (1, [34]), (3, [34]), (4, [])])
def test_only_those_that_begin_in_the_stretch(begin: int, values: list[int]) -> None:
    assert [found.value for found in numbers("12 34", begin)] == values


def test_a_sign_before_the_stretch_leaves_no_number() -> None:
    assert list(numbers("-12", 1)) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", "12"),
        ("-0.50", "-0.5"),
        ("45 million", "45000000"),
        ("12 kg", None),
        ("a 12", None),
        ("$12", None),
        ("-$12", None),
        ("", None),
    ],
)
def test_a_text_that_is_a_number(text: str, value: str | None) -> None:
    assert number(text) == (None if value is None else Decimal(value))


@given(st.text(alphabet="0123456789.,-+e$% x–", max_size=30), st.one_of(st.integers(-99, 99), st.floats(-9, 9).map(lambda x: round(x, 1))))
def test_what_is_found_as_text_is_found_as_a_number(text: str, label: float) -> None:
    """Two ways, one answer: a label in plain digits stands in a text just where a number of its value does."""
    written, folded = plain_number(label), read(text)
    if list(places(folded, written)):
        assert Decimal(written) in [found.value for found in numbers(folded)]


@given(st.text(alphabet="0123456789.,-+e$% x–", max_size=30))
def test_what_is_found_as_a_number_is_found_as_text(text: str) -> None:
    folded = read(text)
    for found in numbers(folded):
        written = folded[found.start : found.end]
        assert list(places(folded, written.removeprefix("$")))
