"""choice: one option, taken without doubt."""

import time
from pathlib import Path
from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.choice import Choice
from scoring.loading import load_scorer
from scoring.scorer import ScorerConfigError, ScorerError

LETTERS = ["A", "B", "C", "D"]


async def kind(text: str, expected: object = "B", options: list[str] = LETTERS) -> str | None:
    score = await Choice(options).score(Example("e1", {}, expected), TracedAnswer(text))
    assert score.values == {"template": float(score.correct is True)}
    return score.failure_kind


@pytest.mark.parametrize(
    "text",
    [
        "B",
        " b\n",
        "(B)",
        "**B.**",
        "B) Paris",
        "(b) Paris",
        "B: Paris. A city",
        "**B**: Paris",
        "Answer: B",
        "The answer is B.",
        "**Answer:** B",
        "**Answer**: (B)",
        "First A: no. Then C: no.\nAnswer: B",
        "Answer:\nB",
        "Answer: the answer is B",
        "ANSWER: b) Paris",
        "Answer: B\nAnswer: B",
    ],
)
async def test_taken(text: str) -> None:
    assert await kind(text) is None
    assert await kind(text, "A") == "wrong"
    assert await kind(text, ["A", "B"]) is None


@pytest.mark.parametrize(
    "text",
    ["", "A B C D", "A, B", "Paris", "B Paris", "Blue", "It is B", "The answer is not B", "Answer:", "Answer: E", "AB", "B)Paris", "!"],
)
async def test_not_taken(text: str) -> None:
    assert await kind(text) == "parse_failure"


@pytest.mark.parametrize(
    "text", ["A) London B) Paris", "B. Paris\nA. London", "Answer: A\nAnswer: B", "Answer: A) or B)", "B: yes. A: no."]
)
async def test_several(text: str) -> None:
    assert await kind(text) == "hedged"


async def test_labels_of_words_and_signs() -> None:
    labels = ["refund", "Refund request", "C++", "C"]
    assert await kind("Refund Request", "Refund request", labels) is None
    assert await kind("refund: they want it back", "refund", labels) is None
    assert await kind("refund request: they want it", "Refund request", labels) is None
    assert await kind("`C++`", "C++", labels) is None
    assert await kind("C", "C++", labels) == "wrong"


async def test_the_outcome_is_the_option() -> None:
    score = await Choice(LETTERS).score(Example("e1", {}, "b"), TracedAnswer("(a) London"))
    assert (score.outcome, score.feedback) == ("A", "Wrong: expected 'b', got 'A'.")
    parsed = await Choice(LETTERS).score(Example("e1", {}, "b"), TracedAnswer("thus", parsed="B"))
    assert parsed.correct
    refused = await Choice(LETTERS).score(Example("e1", {}, "b"), TracedAnswer("B", failure_kind="refusal"))
    assert (refused.correct, refused.failure_kind) == (False, "refusal")


@pytest.mark.parametrize(
    ("expected", "told"), [("E", "'E' is none of the options"), (None, "no expected answer"), ({"a": 1}, "neither text nor a number")]
)
async def test_examples_that_cannot_be_scored(expected: Any, told: str) -> None:
    with pytest.raises(ScorerError, match=f"scorer 'choice', example 'e1'.*{told}"):
        await Choice(LETTERS).score(Example("e1", {}, expected), TracedAnswer("A"))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "options"),
        ({"options": "ABC"}, "options is 'ABC'; it has to be a list of texts"),
        ({"options": ["A"]}, "it takes two or more"),
        ({"options": ["A", "a)"]}, "the option 'A' could not be told from another one"),
        ({"options": ["A", "*"]}, r"the option '\*' is nothing but signs"),
        ({"options": [True, False]}, "options holds True.*put quotes around it"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        load_scorer({"choice": settings}, tmp_path)


@pytest.mark.parametrize("text", ["answer: " * 60_000, "answer" + " " * 500_000, "A) " * 150_000, "answer is " * 50_000, "*" * 500_000])
async def test_half_a_megabyte_takes_little_time(text: str) -> None:
    started = time.process_time()
    assert await kind(text) is not None
    assert time.process_time() - started < 5
