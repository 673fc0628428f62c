"""regex: a pattern, in limited time."""

from pathlib import Path
from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring import timed
from scoring.loading import load_scorer
from scoring.pattern import Regex
from scoring.scorer import ScorerConfigError, ScorerError

NUMBER = r"####\s*(?P<answer>-?\d+)"


@pytest.mark.parametrize(
    ("written", "text", "fault"),
    [
        (r"\d+", "It is 12", None),
        (r"\d+", "twelve", "wrong"),
        (r"\A\d+\Z", "It is 12", "wrong"),
        (r"(?i)YES", "yes", None),
        (NUMBER, "so\n#### 12", None),
        (NUMBER, "#### 13", "wrong"),
        (NUMBER, "12", "parse_failure"),
        (NUMBER, "#### 12 #### 12", None),
        (NUMBER, "#### 11 #### 12", "hedged"),
        (r"(?P<answer>\d+)?x", "x", "parse_failure"),
    ],
)
async def test_right_or_wrong(written: str, text: str, fault: str | None) -> None:
    score = await Regex(written).score(Example("e1", {}, 12), TracedAnswer(text))
    assert (dict(score.values), score.correct, score.failure_kind) == ({"template": float(fault is None)}, fault is None, fault)


async def test_without_a_group_nothing_has_to_be_expected() -> None:
    assert (await Regex("a").score(Example("e1", {}), TracedAnswer("a"))).correct
    with pytest.raises(ScorerError, match="there is no expected answer"):
        await Regex(NUMBER).score(Example("e1", {}), TracedAnswer("a"))


async def test_feedback_and_outcome() -> None:
    taken = await Regex(NUMBER).score(Example("e1", {}, 12), TracedAnswer("#### 13"))
    assert (taken.outcome, taken.feedback) == ("13", "Wrong: expected '12', got '13'.")
    found = await Regex(r"\d").score(Example("e1", {}), TracedAnswer("x"))
    assert found.feedback == r"Wrong: expected a match of \d, got 'x'."


async def test_another_dimension_says_nothing_about_correctness() -> None:
    scorer = Regex(r"\A\{", "form")
    assert scorer.dimensions == ("form",)
    score = await scorer.score(Example("e1", {}), TracedAnswer("x"))
    assert (dict(score.values), score.correct, score.failure_kind) == ({"form": 0.0}, None, None)
    assert "expected a match" in score.feedback


@pytest.mark.parametrize("written", [r"(x+x+)+y", r"(?:x+x+)+(?P<answer>[yz])"])
async def test_a_pattern_without_end_is_stopped_and_gives_no_score(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed, "SECONDS", 0.05)
    with pytest.raises(ScorerError, match=r"scorer 'regex', example 'e1': the pattern .* takes longer than 0.05 s on an answer of 6000"):
        await Regex(written).score(Example("e1", {}, "z"), TracedAnswer("x," * 1000 + "x" * 4000))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "pattern"),
        ({"pattern": ""}, "pattern holds ''; each has to be a text that is not blank"),
        ({"pattern": 3}, "pattern holds 3"),
        ({"pattern": "(a"}, r"the pattern '\(a' cannot be read: missing \)"),
        ({"pattern": "a", "dimension": "a:b"}, "regex: 'a:b' cannot name a dimension"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        load_scorer({"regex": settings}, tmp_path)


def test_the_version_follows_the_settings() -> None:
    assert len({Regex("a").version, Regex("b").version, Regex("a", "form").version}) == 3
