"""exact: letter for letter."""

from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.exact import Exact
from scoring.scorer import ScorerError


@pytest.mark.parametrize(
    ("expected", "answer", "correct"),
    [
        ("yes", TracedAnswer("yes"), True),
        (" yes", TracedAnswer("yes\n"), True),
        ("yes", TracedAnswer("Yes"), False),
        ("yes", TracedAnswer("yes."), False),
        (["yes", "y"], TracedAnswer("y"), True),
        (["yes", "y"], TracedAnswer("no"), False),
        ("yes", TracedAnswer("The answer is yes", parsed="yes"), True),
        ("yes", TracedAnswer("yes", parsed="no"), False),
        (12, TracedAnswer("12"), True),
        (12.0, TracedAnswer("12"), True),
        (1e-7, TracedAnswer("0.0000001"), True),
        (12, TracedAnswer("twelve", parsed=12.0), True),
        (12, TracedAnswer("12.0"), False),
        (True, TracedAnswer("true"), True),
        (True, TracedAnswer("1", parsed=True), True),
        (1, TracedAnswer("1", parsed=True), False),
        ("x", TracedAnswer("x", parsed={"a": 1}), True),
        ("x", TracedAnswer("x", parsed=float("inf")), True),
        ("", TracedAnswer(" "), True),
    ],
)
async def test_right_or_wrong(expected: Any, answer: TracedAnswer, correct: bool) -> None:
    score = await Exact().score(Example("e1", {}, expected), answer)
    assert score.values == {"template": float(correct)}
    assert score.correct is correct
    assert score.failure_kind == (None if correct else "wrong")


async def test_feedback_says_both_sides() -> None:
    score = await Exact().score(Example("e1", {}, ["yes", 3]), TracedAnswer(" no "))
    assert score.feedback == "Wrong: expected 'yes' or '3', got 'no'."
    assert score.outcome == "no"


async def test_an_own_failure_is_kept_and_wrong() -> None:
    score = await Exact().score(Example("e1", {}, "yes"), TracedAnswer("yes", failure_kind="refusal"))
    assert (score.correct, score.failure_kind) == (False, "refusal")
    assert score.feedback == "Failed (refusal): expected 'yes', got 'yes'."


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (None, "example 'e1': there is no expected answer"),
        ([], "there is no expected answer"),
        ({"a": 1}, "the scorer fields compares those"),
        (["a", None], "None is neither text nor a number; write it as text"),
    ],
)
async def test_examples_that_cannot_be_scored(expected: Any, told: str) -> None:
    with pytest.raises(ScorerError, match=told):
        await Exact().score(Example("e1", {}, expected), TracedAnswer("x"))
