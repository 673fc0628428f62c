"""numeric: a number, near enough."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.loading import load_scorer
from scoring.numeric import Numeric
from scoring.scorer import ScorerConfigError, ScorerError


async def kind(text: str, expected: object, **settings: Any) -> str | None:
    score = await Numeric(**settings).score(Example("e1", {}, expected), TracedAnswer(text))
    assert score.values == {"template": float(score.correct is True)}
    assert (score.failure_kind is None) is score.correct
    return score.failure_kind


@pytest.mark.parametrize(
    ("text", "expected", "fault"),
    [
        ("12", 12, None),
        ("It is 12.0 kg.", 12, None),
        ("1,204 euros", "1204", None),
        ("45 million", 45e6, None),
        ("−3", -3, None),
        ("3", -3, "wrong"),
        ("12", [11, 12], None),
        ("12 and again 12.00", 12, None),
        ("11 or 12", 12, "hedged"),
        ("twelve", 12, "parse_failure"),
        ("", 0, "parse_failure"),
        ("0", 0, None),
        ("-0", 0, None),
        ("1e-7", 1e-7, None),
        ("12.05.2023", 2023, "parse_failure"),
    ],
)
async def test_right_or_wrong(text: str, expected: object, fault: str | None) -> None:
    assert await kind(text, expected) == fault


@pytest.mark.parametrize(
    ("text", "settings", "fault"),
    [
        ("10.01", {"tolerance": 0.01}, None),
        ("9.99", {"tolerance": 0.01}, None),
        ("10.011", {"tolerance": 0.01}, "wrong"),
        ("10.5", {"relative": 0.05}, None),
        ("10.51", {"relative": 0.05}, "wrong"),
        ("10.5", {"relative": 0.01, "tolerance": 0.5}, None),
        ("-10", {"tolerance": 19, "relative": 1}, "wrong"),
    ],
)
async def test_how_near(text: str, settings: dict[str, float], fault: str | None) -> None:
    assert await kind(text, 10, **settings) == fault


async def test_the_last_of_several() -> None:
    assert await kind("3 + 4 = 7", 7) == "hedged"
    assert await kind("3 + 4 = 7", 7, pick="last") is None
    assert await kind("7 = 3 + 4", 7, pick="last") == "wrong"


@given(st.floats(-1e6, 1e6), st.floats(0, 10), st.floats(-20, 20))
async def test_tolerance_is_a_distance(wanted: float, tolerance: float, off: float) -> None:
    if abs(abs(off) - tolerance) > 1e-6:  # at the edge itself, the sum of floats decides
        assert (await kind(f"{wanted + off:f}", f"{wanted:f}", tolerance=tolerance) is None) is (abs(off) < tolerance)


async def test_what_the_adapter_saw_comes_first() -> None:
    example = Example("e1", {}, 12)
    assert (await Numeric().score(example, TracedAnswer("x", parsed=12.0))).correct
    refused = await Numeric().score(example, TracedAnswer("12", failure_kind="refusal"))
    assert (refused.correct, refused.failure_kind, dict(refused.values)) == (False, "refusal", {"template": 0.0})
    assert refused.feedback == "Failed (refusal): expected '12', got '12'."


async def test_numbers_without_end_are_no_trouble() -> None:
    assert await kind("1e9999", 1, relative=1e300) == "wrong"
    assert await kind("9" * 1_000_000, 1) == "parse_failure"


@pytest.mark.parametrize("expected", [None, "twelve", "12 kg", True, {"a": 1}, [12, "x"], float("nan")])
async def test_examples_that_cannot_be_scored(expected: Any) -> None:
    with pytest.raises(ScorerError, match="scorer 'numeric', example 'e1'"):
        await Numeric().score(Example("e1", {}, expected), TracedAnswer("12"))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tolerance": -1}, "numeric: tolerance is -1; it has to be a number, 0 or more"),
        ({"relative": float("nan")}, "numeric: relative is nan"),
        ({"relative": "0.1"}, "numeric: relative is '0.1'"),
        ({"tolerance": True}, "numeric: tolerance is True"),
        ({"pick": "first"}, "numeric: pick is 'first'; it has to be only or last"),
        ({"absolute": 1}, "no setting 'absolute'"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        load_scorer({"numeric": settings}, tmp_path)
