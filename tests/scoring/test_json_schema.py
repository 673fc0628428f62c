"""json_schema: JSON that fits."""

from pathlib import Path
from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.json_schema import JsonSchema
from scoring.loading import load_scorer
from scoring.scorer import ScorerConfigError, ScorerError

SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
EXAMPLE = Example("e1", {})


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (TracedAnswer('{"age": 36}'), None),
        (TracedAnswer('```json\n{"age": 36}\n```\n'), None),
        (TracedAnswer('```{"age": 36}```'), None),
        (TracedAnswer("", parsed={"age": 36}), None),
        (TracedAnswer('{"age": "36"}'), "wrong"),
        (TracedAnswer("[]"), "wrong"),
        (TracedAnswer('{"age": 36}', parsed={}), "wrong"),
        (TracedAnswer("36 years"), "parse_failure"),
        (TracedAnswer('Here: ```json\n{"age": 36}\n```'), "parse_failure"),
        (TracedAnswer(""), "parse_failure"),
        (TracedAnswer("[" * 100_000), "parse_failure"),
        (TracedAnswer("", parsed={"age": float("nan")}), "parse_failure"),
        (TracedAnswer('{"age": 36}', failure_kind="refusal"), "refusal"),
    ],
)
async def test_right_or_wrong(answer: TracedAnswer, fault: str | None) -> None:
    score = await JsonSchema(SCHEMA).score(EXAMPLE, answer)
    assert (dict(score.values), score.correct, score.failure_kind) == ({"template": float(fault is None)}, fault is None, fault)


async def test_feedback_says_where_it_does_not_fit() -> None:
    misfit = await JsonSchema(SCHEMA).score(EXAMPLE, TracedAnswer('{"age": "x"}'))
    assert misfit.feedback.startswith("Wrong: expected JSON that fits the schema ($.age: 'x' is not of type 'integer'), got")
    junk = await JsonSchema(SCHEMA).score(EXAMPLE, TracedAnswer("junk"))
    assert junk.feedback.startswith("Failed (parse_failure): expected JSON (Expecting value")


async def test_lists_can_be_asked_for() -> None:
    assert (await JsonSchema({"type": "array"}).score(EXAMPLE, TracedAnswer("[1]"))).correct


async def test_another_dimension_says_nothing_about_correctness() -> None:
    scorer = JsonSchema(SCHEMA, dimension="form")
    assert scorer.dimensions == ("form",)
    score = await scorer.score(EXAMPLE, TracedAnswer("{}"))
    assert (dict(score.values), score.correct) == ({"form": 0.0}, None)


async def test_a_schema_without_end() -> None:
    with pytest.raises(ScorerError, match="scorer 'json_schema', example 'e1': the JSON schema refers to itself without end"):
        await JsonSchema({"$ref": "#"}).score(EXAMPLE, TracedAnswer("1"))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "schema"),
        ({"schema": "age.json"}, "schema is 'age.json'; it has to be a mapping"),
        ({"schema": {"type": "number?"}}, "json_schema: no JSON schema: "),
        ({"schema": {"$ref": "https://example.org/x"}}, "nothing is fetched from elsewhere"),
        ({"schema": {}, "dimension": " "}, "json_schema: ' ' cannot name a dimension"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        load_scorer({"json_schema": settings}, tmp_path)


def test_the_version_follows_the_settings() -> None:
    assert len({JsonSchema(SCHEMA).version, JsonSchema({}).version, JsonSchema(SCHEMA, "form").version}) == 3
