"""Comparisons of single values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.compare import AsSet, AsText, ComparisonError, Exactly, Numeric, read_comparison, read_comparisons, same
from scoring.scorer import ScorerConfigError

plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3)),
    max_leaves=8,
)


@given(plain, plain)
def test_sameness_is_that_of_json(one: Any, other: Any) -> None:
    assert same(one, json.loads(json.dumps(one)))
    assert same(one, other) is same(other, one)


@given(plain, plain)
def test_members_of_sets_are_told_apart_as_values_are(one: Any, other: Any) -> None:
    assert (AsSet().credit([one], [other]) == 1) is same(one, other)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, True, False),
        (0, False, False),
        (1, 1.0, True),
        ([1, [2]], [1, [2]], True),
        ([1], [1, 2], False),
        ({"a": 1}, {"b": 1}, False),
        (None, "", False),
    ],
)
def test_sameness(one: Any, other: Any, alike: bool) -> None:
    assert same(one, other) is alike
    assert Exactly().credit(one, other) == float(alike)


@pytest.mark.parametrize(
    ("settings", "expected", "got", "right"),
    [
        ({}, 12, 12.0, True),
        ({}, 12, "12", True),
        ({}, "1,204", 1204, True),
        ({}, 1204, " 1,204.0 ", True),
        ({}, 12, "12 kg", False),
        ({}, 12, "twelve", False),
        ({}, 1, True, False),
        ({}, None, None, True),
        ({}, None, 0, False),
        ({"tolerance": 0.01}, 10, 10.01, True),
        ({"tolerance": 0.01}, 10.01, 10, True),
        ({"tolerance": 0.1}, 0.3, 0.2, True),
        ({"tolerance": 0.01}, 10, 10.011, False),
        ({"tolerance": 1}, -1, "-2", True),
        ({"relative": 0.05}, 200, 210, True),
        ({"relative": 0.05}, 200, 211, False),
        ({"relative": 0.05}, -200, -190, True),
        ({"relative": 0.5}, 0, 0.0001, False),
        ({"tolerance": 1, "relative": 0.05}, 0, 1, True),
        ({"tolerance": 1}, 1e308, 1, False),
        ({"tolerance": 1}, 10**399, 10**399 + 1, True),
        ({"tolerance": 1}, 10**399, 10**399 + 2, False),
        ({"tolerance": 1}, 1, 10**400, False),
        ({"tolerance": 1}, 1, "1" * 1_000_000, False),
        ({"tolerance": 1}, 1, "1e9999", False),
        ({"tolerance": 1}, 1, [1], False),
    ],
)
def test_numbers(settings: dict[str, float], expected: Any, got: Any, right: bool) -> None:
    assert Numeric(**settings).credit(expected, got) == float(right)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.integers(0, 10**6))
def test_the_tolerance_is_exact_in_hundredths(expected: int, got: int, tolerance: int) -> None:
    right = abs(expected - got) <= tolerance
    assert Numeric(tolerance / 100).credit(expected / 100, got / 100) == float(right)


@pytest.mark.parametrize(
    ("expected", "got", "credit"),
    [
        (["a", "b"], ["b ", "a"], 1.0),
        (["a", "b"], ["b", "a", "a"], 1.0),
        (["a", "b"], ["a"], 0.5),
        (["a"], ["a", "b", "c", "d"], 0.25),
        ([1, True], [1.0, True], 1.0),
        ([1], [True], 0.0),
        ([{"a": [1], "b": "x"}], [{"b": "x ", "a": [1.0]}], 1.0),
        ([], [], 1.0),
        ([], ["a"], 0.0),
        (["a"], "a", 0.0),
        (None, None, 1.0),
        (None, [], 0.0),
    ],
)
def test_sets(expected: Any, got: Any, credit: float) -> None:
    assert AsSet().credit(expected, got) == credit


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        ("New  York", "new york\n", True),
        ("1,204 m", "1204 M", True),
        (1204, "1,204", True),
        ("12", 12.0, True),
        ("a", "b", False),
        ("true", True, False),
        ("a", ["a"], False),
        (None, None, True),
        (None, "x", False),
    ],
)
def test_texts(expected: Any, got: Any, right: bool) -> None:
    assert AsText().credit(expected, got) == float(right)


@pytest.mark.parametrize(
    ("name", "expected", "message"),
    [
        ("numeric", "ten", "numeric compares numbers, and the expected value is 'ten'"),
        ("numeric", True, "numeric compares numbers"),
        ("set", "a", "set compares lists, and the expected value is 'a'"),
        ("text", ["a"], "text compares texts and numbers"),
    ],
)
def test_expected_values_that_cannot_be_compared(name: str, expected: Any, message: str) -> None:
    with pytest.raises(ComparisonError, match=message):
        read_comparison(name).credit(expected, 1)


def test_reading() -> None:
    assert read_comparison({"numeric": {"tolerance": 1}}) == Numeric(1)
    assert read_comparison(Numeric(1)) == Numeric(1)
    assert read_comparisons({"a": "set", "b.c": "text"}) == {"a": AsSet(), "b.c": AsText()}


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ({"a": "sets"}, "a: there is no comparison 'sets'; did you mean 'set'?"),
        ({"a": 1}, "a: the comparison 1 cannot be read; write exact, text"),
        ({"a": {"numeric": 1}}, "cannot be read"),
        ({"a": {"numeric": {}, "set": {}}}, "cannot be read"),
        ({"a": {"numeric": {"tolerence": 1}}}, "numeric has no setting 'tolerence'; did you mean 'tolerance'?"),
        ({"a": {"set": {"of": 1}}}, "set has no setting 'of'"),
        ({"a": {"numeric": {"tolerance": "1"}}}, "the comparison numeric: tolerance is '1'; it has to be a number, 0 or more"),
        ({"a": {"numeric": {"relative": -1}}}, "relative is -1"),
        ({1: "set"}, "1 cannot name a field"),
        ({"a": "set", "a.b": "text"}, "both 'a' and a part of it"),
        (["a"], "they have to be a mapping"),
    ],
)
def test_what_cannot_be_read(specs: Any, message: str) -> None:
    with pytest.raises(ScorerConfigError) as caught:
        read_comparisons(specs)
    assert message in str(caught.value)
