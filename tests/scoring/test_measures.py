"""Measures: a straight line from nothing to the limit, and nothing scored where nothing is known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.answer import Step, TracedAnswer, Usage
from adapters.example import Example
from scoring.measures import Cost, Latency, Length, Measure, Tokens
from scoring.scorer import ScorerConfigError

EXAMPLE = Example("e", {"question": "?"})


def answer(text: str = "a b c d", *, usd: float | None = 0.02, failure: str | None = None) -> TracedAnswer:
    steps = tuple(Step("model", "m", (), text, Usage(30, 20, usd), seconds=1.5) for _ in range(2))
    return TracedAnswer(text, steps=steps, failure_kind=failure)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (Cost(0.1), 0.6),
        (Latency(6), 0.5),
        (Tokens(400), 0.75),
        (Length(8), 0.5),
        (Length(28, "characters"), 0.75),
        (Latency(3), 0.0),
        (Latency(1), 0.0),
    ],
)
async def test_a_straight_line_from_one_to_zero_at_the_limit(measure: Measure, value: float) -> None:
    score = await measure.score(EXAMPLE, answer())
    assert score.values == {measure.name: pytest.approx(value)}
    assert measure.unit in score.feedback


async def test_an_unknown_price_is_not_free() -> None:
    assert (await Cost(1).score(EXAMPLE, answer(usd=None))).values == {}
    assert (await Cost(1).score(EXAMPLE, answer(usd=0.0))).values == {"cost": 1.0}


@pytest.mark.parametrize("silence", [answer(""), answer(" \n"), answer("no", failure="refusal")])
async def test_silence_is_not_brief(silence: TracedAnswer) -> None:
    assert (await Length(10).score(EXAMPLE, silence)).values == {}


@pytest.mark.parametrize("limit", [0, -1, math.nan, True, "5", None])
def test_a_limit_is_a_number_above_zero(limit: float) -> None:
    with pytest.raises(ScorerConfigError, match=r"above 0, in seconds"):
        Latency(limit)


def test_a_unit_is_known() -> None:
    with pytest.raises(ScorerConfigError, match="words or characters"):
        Length(5, "lines")  # type: ignore[arg-type]


def test_versions_tell_settings_apart() -> None:
    made = [Cost(1), Cost(2), Latency(1), Tokens(1), Length(1), Length(1, "characters")]
    assert len({measure.version for measure in made}) == len(made)


@given(st.text(), st.floats(min_value=1e-3, max_value=1e9))
def test_a_score_is_always_a_score(text: str, limit: float) -> None:
    made = answer(text)
    for measure in (Cost(limit), Latency(limit), Tokens(limit), Length(limit)):
        amount = measure.amount(made)
        assert amount is None or amount >= 0
