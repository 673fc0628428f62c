"""fields: JSON, field by field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.fields import Fields, same
from scoring.scorer import ScorerConfigError, ScorerError

EXAMPLE = Example("e1", {}, {"name": "Ada", "age": 36})


@pytest.mark.parametrize(
    ("text", "correct"),
    [
        ('{"name": "Ada", "age": 36}', True),
        ('{"name": " Ada ", "age": 36.0, "more": 1}', True),
        ('Here it is:\n```json\n{"name": "Ada", "age": 36}\n```\nDone.', True),
        ('```\n{"name": "Ada", "age": 36}\n```', True),
        ('```{"name": "Ada", "age": 36}```', True),
        ('{"name": "Ada", "age": "36"}', False),
        ('{"name": "ada", "age": 36}', False),
        ('{"name": "Ada"}', False),
    ],
)
async def test_right_or_wrong(text: str, correct: bool) -> None:
    score = await Fields().score(EXAMPLE, TracedAnswer(text))
    assert score.values == {"template": float(correct)}
    assert (score.correct, score.failure_kind) == (correct, None if correct else "wrong")


@pytest.mark.parametrize(
    "answer",
    [
        TracedAnswer("Ada, 36"),
        TracedAnswer(""),
        TracedAnswer("[1]"),
        TracedAnswer('{"name": "Ada", "name": "Ada", "age": 36}'),
        TracedAnswer('```\n{"name": "Ada"}\n```\n```\n{"age": 36}\n```'),
        TracedAnswer("[" * 100_000),
        TracedAnswer('{"name": "Ada", "age": 36}', parsed=[1]),
    ],
    ids=["prose", "nothing", "list", "twice", "two blocks", "deep", "parsed list"],
)
async def test_what_is_no_object(answer: TracedAnswer) -> None:
    score = await Fields(partial=True).score(EXAMPLE, answer)
    assert (dict(score.values), score.correct, score.failure_kind) == ({"template": 0.0}, False, "parse_failure")
    assert "expected JSON with name, age" in score.feedback


async def test_parsed_values_come_first() -> None:
    assert (await Fields().score(EXAMPLE, TracedAnswer("junk", parsed={"name": "Ada", "age": 36}))).correct


async def test_partial_credit_is_a_share() -> None:
    answer = TracedAnswer('{"name": "Ada", "age": 37}')
    full, partial = await Fields().score(EXAMPLE, answer), await Fields(partial=True).score(EXAMPLE, answer)
    assert (full.values["template"], partial.values["template"]) == (0.0, 0.5)
    assert partial.correct is False
    assert partial.feedback == "Wrong fields:\nage: expected 36, got 37"
    assert partial.details == {"fields": {"name": True, "age": False}}
    assert json.loads(partial.outcome or "") == {"name": "Ada", "age": 37}
    missing = await Fields().score(EXAMPLE, TracedAnswer('{"name": "Ada"}'))
    assert missing.feedback == "Wrong fields:\nage: expected 36, got nothing"


async def test_an_own_failure_is_kept_and_wrong() -> None:
    answer = TracedAnswer('{"name": "Ada", "age": 36}', failure_kind="refusal")
    score = await Fields().score(EXAMPLE, answer)
    assert (score.correct, score.failure_kind, dict(score.values)) == (False, "refusal", {"template": 0.0})


@pytest.mark.parametrize("expected", [None, "x", {}, ["a"]])
async def test_examples_that_cannot_be_scored(expected: Any) -> None:
    with pytest.raises(ScorerError, match=r"scorer 'fields', example 'e1'.*fields takes an object"):
        await Fields().score(Example("e1", {}, expected), TracedAnswer("{}"))


def test_settings_are_checked() -> None:
    with pytest.raises(ScorerConfigError, match="partial is 'no'"):
        Fields(partial="no")  # type: ignore[arg-type]


plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3)),
    max_leaves=8,
)


@given(plain, plain)
def test_sameness_is_that_of_json(one: Any, other: Any) -> None:
    assert same(one, json.loads(json.dumps(one)))
    assert same(one, other) is same(other, one)


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
