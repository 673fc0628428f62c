"""Karenina's records load, and what is not read of them does no harm."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from scoring import Failure, ModelIdentity, ObjectiveConfig, VerificationResult, compute_objective_scores
from scoring.result import FAILURE_GROUPS, failure_of

EXPORTED = {
    "metadata": {
        "question_id": "q1",
        "template_id": "t1",
        "failure": {"category": "rate_limit", "stage": "GenerateAnswer", "reason": "429", "details": {"tries": 5}, "group": "retry"},
        "caveats": ["retries_used"],
        "warnings": [],
        "retry_counts": {"rate_limit": {"used": 5, "budget": 5}},
        "question_text": "How many?",
        "raw_answer": "12",
        "answering": {"interface": "langchain", "model_name": "claude-haiku-4-5", "tools": ["search", "wiki"], "config_id": "haiku"},
        "parsing": {"interface": "langchain", "model_name": "claude-haiku-4-5", "tools": []},
        "execution_time": 1.5,
        "timestamp": "2026-01-01T00:00:00",
        "result_id": "0123456789abcdef",
        "replicate": 2,
    },
    "template": {"raw_llm_response": "12", "verify_result": None, "field_results": {"count": None}, "investigation_trace": None},
    "rubric": {
        "rubric_evaluation_performed": True,
        "llm_trait_scores": {"clarity": 4, "safe": True, "detail.words": 7, "detail.tone": "dry"},
        "callable_trait_scores": {"short": True, "length": 2.5, "rank": 3},
        "metric_trait_scores": {"names": {"f1": 0.5, "recall": None}},
        "trait_provenance": {"clarity": "global"},
    },
    "deep_judgment": {"deep_judgment_enabled": False},
    "used_full_trace": True,
}


def test_an_exported_result_loads() -> None:
    result = VerificationResult.model_validate_json(json.dumps(EXPORTED))
    assert result.metadata.question_text == "How many?"
    assert result.metadata.answering_model == "langchain:claude-haiku-4-5 (haiku) +[search, wiki]"
    assert result.metadata.failure == Failure(category="rate_limit", stage="GenerateAnswer", reason="429")
    assert result.metadata.failure.group == "retry"
    assert result.template is not None
    assert result.template.raw_llm_response == "12"
    assert VerificationResult.model_validate(result.model_dump()) == result


def test_truth_values_stay_truth_values() -> None:
    result = VerificationResult.model_validate_json(json.dumps(EXPORTED))
    assert result.rubric is not None
    scores = result.rubric.get_all_trait_scores()
    assert list(scores) == ["clarity", "safe", "detail.words", "detail.tone", "short", "length", "rank", "names"]
    assert (scores["safe"], scores["short"], scores["length"], scores["rank"]) == (True, True, 2.5, 3)
    assert [type(scores[name]) for name in ("safe", "short", "length", "rank")] == [bool, bool, float, int]


def test_an_exported_result_scores() -> None:
    result = VerificationResult.model_validate(EXPORTED)
    found = compute_objective_scores(result, result.metadata.answering_model, ObjectiveConfig())
    model = "langchain:claude-haiku-4-5 (haiku) +[search, wiki]"
    assert found == {
        f"{model}:clarity": 0.8,
        f"{model}:safe": 1.0,
        f"{model}:short": 1.0,
        f"{model}:length": 0.5,
        f"{model}:rank": 0.6,
        f"{model}:names_f1": 0.5,
    }
    assert found.status[f"{model}:template"] == "excluded"


def test_of_two_traits_with_one_name_the_later_kind_is_read() -> None:
    rubric = {"llm_trait_scores": {"a": 5, "b": 1}, "regex_trait_scores": {"a": False}}
    whole = VerificationResult.model_validate({"rubric": rubric}).rubric
    assert whole is not None
    assert list(whole.get_all_trait_scores().items()) == [("a", False), ("b", 1)]


@pytest.mark.parametrize(
    ("identity", "shown"),
    [
        ({"interface": "langchain", "model_name": "haiku"}, "langchain:haiku"),
        ({"interface": "langchain", "model_name": "haiku", "config_id": "haiku"}, "langchain:haiku"),
        ({"interface": "mcp", "model_name": "haiku", "config_id": "h", "tools": ["x"]}, "mcp:haiku (h) +[x]"),
    ],
)
def test_models_are_shown_as_karenina_shows_them(identity: dict[str, Any], shown: str) -> None:
    assert ModelIdentity.model_validate(identity).display_string == shown


def test_a_result_can_be_made_by_hand() -> None:
    result = VerificationResult.model_validate({"metadata": {"answering_model": "haiku"}, "template": {"verify_result": True}})
    assert (result.metadata.answering_model, result.metadata.question_id, result.rubric) == ("haiku", "", None)
    with pytest.raises(ValidationError, match="frozen"):
        result.template = None


def test_every_category_has_one_of_five_groups() -> None:
    assert len(FAILURE_GROUPS) == 22
    assert {Failure(category=category).group for category in FAILURE_GROUPS} == {"content", "autofail", "retry", "abstained", "system"}


def test_a_category_of_later_versions_needs_a_group() -> None:
    assert Failure(category="cosmic_rays", group="system").group == "system"
    assert Failure(category="timeout", group="content").group == "retry"
    with pytest.raises(ValidationError, match="there is no failure category 'time_out'; did you mean 'timeout'"):
        Failure(category="time_out")


@pytest.mark.parametrize(
    "metadata", [None, SimpleNamespace(failure=None), SimpleNamespace(failure=SimpleNamespace(category="nonsense")), SimpleNamespace()]
)
def test_what_is_no_known_failure_is_none(metadata: Any) -> None:
    result: Any = SimpleNamespace(template=None, rubric=None, metadata=metadata)
    assert failure_of(result) is None
