"""Score: what may be in one, and how several become one."""

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.score import Score, ScoreError, discreet, merge, show, unit_value


@given(st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text(), st.complex_numbers()))
def test_a_value_is_a_float_in_0_to_1_or_an_error(value: object) -> None:
    try:
        unit = unit_value(value)
    except ScoreError as error:
        assert show(value) in str(error)
    else:
        assert type(unit) is float
        assert 0 <= unit <= 1
        assert math.isclose(unit, value, abs_tol=1e-8)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [np.float32(0.5), np.float64(0.5), np.array(0.5)])
def test_numpy_scalars_are_values(value: object) -> None:
    assert unit_value(value) == 0.5
    assert type(unit_value(value)) is float


def test_truth_of_numpy_is_a_value() -> None:
    assert unit_value(np.bool_(True)) == 1.0


def test_a_number_beyond_all_floats_is_an_error() -> None:
    with pytest.raises(ScoreError, match=r"0 is not in 0\.\.1"):
        unit_value(10**400)


def test_rounding_is_forgiven_and_no_more() -> None:
    assert unit_value(0.1 + 0.7 + 0.2 + 1e-12) == 1.0
    assert unit_value(-1e-12) == 0.0
    with pytest.raises(ScoreError, match=r"1\.0001 is not in 0\.\.1"):
        unit_value(1.0001)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"values": {"a": math.nan}}, "nan is not in 0..1"),
        ({"values": {"a": "1"}}, "'1' is not a number"),
        ({"values": {"a:b": 1}}, "'a:b' cannot name a dimension"),
        ({"values": {" ": 1}}, "' ' cannot name a dimension"),
        ({"values": {3: 1}}, "3 cannot name a dimension"),
        ({"values": {"\ud800": 1}}, "surrogate"),
        ({"values": [1]}, "values is"),
        ({"values": {}, "correct": 1}, "correct is 1"),
        ({"values": {}, "feedback": None}, "feedback is None"),
        ({"values": {}, "discreet": 3}, "discreet is 3"),
        ({"values": {}, "failure_kind": 3}, "failure_kind is 3"),
        ({"values": {}, "outcome": 3}, "outcome is 3"),
        ({"values": {}, "feedback": "\ud800"}, "feedback: the text holds half of a surrogate pair"),
        ({"values": {}, "details": {"x": object()}}, "details.x: a value of type object"),
        ({"values": {}, "details": [1]}, "details is"),
    ],
)
def test_what_cannot_be_a_score(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Score(**fields)


def test_a_score_survives_json_like_copies() -> None:
    score = Score({"a": True, "b": np.float64(0.5)}, None, "wrong", "x", "why", {"k": (1, 2)})
    assert asdict(score)["values"] == {"a": 1.0, "b": 0.5}
    assert Score(**asdict(score)) == score


def test_merging() -> None:
    one = Score({"a": 1.0}, True, None, None, "fine", {"k": 1})
    two = Score({"b": 0.0}, False, "refusal", "out", "bad")
    three = Score({"c": 0.5}, None, "wrong", "other")
    merged = merge([("one", one), ("two", two), ("three", three)])
    assert merged == Score({"a": 1.0, "b": 0.0, "c": 0.5}, False, "refusal", "out", "one: fine\ntwo: bad", {"one": {"k": 1}})
    assert merge([("x", Score({d: 1.0}, details={"of": d})) for d in "abc"]).details == {
        name: {"of": d} for name, d in (("x", "a"), ("x 2", "b"), ("x 3", "c"))
    }
    assert merge([("one", one)]) == one
    assert merge([("three", three)]).correct is None
    assert merge([("one", one), ("three", three)]).correct is True


def test_what_is_discreet_stays_so_when_merged() -> None:
    secret, open_, silent = (
        Score({"a": 0.0}, feedback="expected x", discreet="wrong"),
        Score({"b": 0.0}, feedback="long"),
        Score({"c": 0.0}),
    )
    assert discreet(secret) == "wrong" and discreet(open_) == "long"
    merged = merge([("a", secret), ("b", open_), ("c", silent)])
    assert merged.feedback == "a: expected x\nb: long" and merged.discreet == "a: wrong\nb: long"
    assert merge([("b", open_), ("c", silent)]).discreet is None
    assert merge([("a", Score({"a": 0.0}, feedback="expected x", discreet="")), ("c", silent)]).discreet == ""
    assert merge([("a", secret)]) == secret


def test_showing_cuts_the_middle() -> None:
    assert show("abc") == "'abc'"
    assert len(show("x" * 10_000)) < 210
