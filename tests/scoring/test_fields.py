"""fields: JSON, field by field."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.fields import Fields
from scoring.loading import load_scorer
from scoring.score import Score
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
    results, scores = {"name": True, "age": False}, {"name": 1.0, "age": 0.0}
    assert partial.details == {"verify_result": False, "field_results": results, "field_scores": scores}
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


async def score(text: str, expected: Any = EXAMPLE.expected, **settings: Any) -> Score:
    return await Fields(**settings).score(Example("e1", {}, expected), TracedAnswer(text))


async def test_why_an_answer_could_not_be_read_is_told() -> None:
    told = (await score('{"name": "Ada", "name": "Bo"}')).feedback
    assert told.endswith("(the key 'name' is given twice in one object).")
    assert len((await score('{"' + "k" * 100_000 + '": NaN}')).feedback) < 700


async def test_an_unreadable_answer_has_no_results() -> None:
    assert (await score("?")).details == {
        "verify_result": False,
        "field_results": {"name": None, "age": None},
        "field_scores": {"name": None, "age": None},
    }


async def test_comparisons_and_weights() -> None:
    compare = {"name": "text", "age": {"numeric": {"tolerance": 1}}}
    assert (await score('{"name": "ADA", "age": 37}', compare=compare)).correct
    got = await score('{"name": "ADA", "age": 38}', compare=compare, partial=True, weights={"name": 3})
    assert (got.values["template"], got.correct) == (0.75, False)
    parts = await score('{"at": {"x": 1, "y": 3}}', {"at": {"x": 1, "y": 2}}, partial=True, weights={"at.y": 3})
    assert (parts.values["template"], parts.details["field_results"]) == (0.25, {"at.x": True, "at.y": False})


async def test_lists_in_any_order_have_partial_credit() -> None:
    got = await score('{"tags": ["b"]}', {"tags": ["a", "b"]}, compare={"tags": "set"}, partial=True)
    assert (got.values["template"], got.correct) == (0.5, False)


async def test_expected_values_can_be_withheld() -> None:
    told = (await score('{"name": "Bo", "more": 1}')).discreet
    assert told == "Wrong fields:\nname: got 'Bo'\nage: got nothing\nNot asked for: more"
    unread = await score("?")
    assert unread.discreet is None and "Ada" not in unread.feedback


async def test_an_object_in_other_text_only_where_that_is_asked_for() -> None:
    text = 'It is {"name": "Ada", "age": 36}.'
    assert (await score(text)).failure_kind == "parse_failure"
    assert (await score(text, anywhere=True)).correct


MODEL = """
from pydantic import BaseModel

class Person(BaseModel):
    name: str
    age: int
    town: str | None = None
"""
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}


async def test_a_template_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(MODEL)
    scorer = load_scorer({"fields": {"template": "models.py:Person"}}, tmp_path)
    assert (await scorer.score(EXAMPLE, TracedAnswer('{"name": "Ada", "age": "36"}'))).correct
    wrong = await scorer.score(EXAMPLE, TracedAnswer('{"name": "Ada", "age": "x"}'))
    assert wrong.feedback.startswith("Wrong fields:\nage: expected 36, got 'x' (Input should be a valid integer")
    file.write_text(MODEL + "    land: str = ''\n")
    assert load_scorer({"fields": {"template": "models.py:Person"}}, tmp_path).version != scorer.version


def test_the_version_tells_settings_apart() -> None:
    made = [{}, {"partial": True}, {"compare": {"age": "numeric"}}, {"template": SCHEMA}, {"anywhere": True}]
    assert len({Fields(**settings).version for settings in made}) == len(made)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"anywhere": 1}, "anywhere is 1"),
        ({"compare": ["age"]}, "fields: compare is ['age']; it has to be a mapping"),
        ({"compare": {"age": "number"}}, "fields: compare: age: there is no comparison 'number'"),
        ({"weights": {"age": 2}}, "with `partial: true` only"),
        ({"weights": ["age"], "partial": True}, "weights is ['age']; it has to be a mapping"),
        ({"weights": {"age": 0}, "partial": True}, "the weight of 'age' is 0; leave fields"),
        ({"weights": {"age": "2"}, "partial": True}, "the weight of 'age' is '2'; it has to be a number"),
        ({"template": 3}, "the template is 3; it has to be a pydantic model"),
        ({"template": int}, "the template is <class 'int'>; it has to be a pydantic model"),
        ({"template": "models.py"}, "write 'file.py:attribute'"),
        (
            {"template": SCHEMA, "compare": {"aeg": "numeric"}},
            "compare or weights names 'aeg', which the template has not; did you mean 'age'?",
        ),
    ],
)
def test_settings_that_cannot_be_used(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ScorerConfigError) as caught:
        Fields(**settings)
    assert message in str(caught.value)


async def test_examples_that_a_comparison_does_not_fit() -> None:
    with pytest.raises(ScorerError, match="example 'e1': the field 'name': numeric compares numbers, and the expected value is 'Ada'"):
        await score('{"name": 1}', compare={"name": "numeric"})
    with pytest.raises(ScorerError, match="no 'nam'; did you mean 'name'"):
        await score("{}", compare={"nam": "text"})
