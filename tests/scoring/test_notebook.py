"""The cells of Karenina's notebook on scoring, in their order, with the import changed and results made here."""

from collections import defaultdict
from typing import Any

import pytest

from scoring import (
    ObjectiveConfig,
    TraitSelectionMode,
    VerificationResult,
    benchmark_score,
    compute_improvement,
    compute_objective_scores,
    extract_failed_fields,
    model_scores,
    objective_means,
    objective_winners,
    overall_score,
    pareto_front,
    result_score,
)

HAIKU, SONNET = "langchain:claude-haiku-4-5 (claude-haiku)", "langchain:claude-sonnet-4-5 (claude-sonnet)"
TEMPLATE_ONLY = ObjectiveConfig(include_template=True, trait_mode=TraitSelectionMode.NONE)


def answered(number: int, right: bool, name: str = "haiku") -> VerificationResult:
    """A question about two numbers; a wrong answer has the second one wrong."""
    return VerificationResult.model_validate(
        {
            "metadata": {
                "question_id": f"q{number}",
                "question_text": f"Find the sum and the product of {number} and {number + 1}.",
                "raw_answer": f"{2 * number + 1}, {number * (number + 1)}",
                "answering": {"interface": "langchain", "model_name": f"claude-{name}-4-5", "config_id": f"claude-{name}"},
            },
            "template": {
                "raw_llm_response": "The numbers are as follows.",
                "verify_result": right,
                "field_results": {"sum": True, "product": right},
            },
            "rubric": {
                "rubric_evaluation_performed": True,
                "llm_trait_scores": {"clarity": 4 if right else 2},
                "regex_trait_scores": {"ends_with_number": right},
                "metric_trait_scores": {"steps": {"precision": 1.0, "recall": 0.5, "f1": 2 / 3}},
            },
        }
    )


@pytest.fixture(scope="module")
def results() -> list[VerificationResult]:
    return [answered(number, right) for number, right in enumerate([True, False, True, True, False], 1)]


@pytest.fixture(scope="module")
def by_model() -> dict[str, list[VerificationResult]]:
    """The results of a run of two models, grouped by the model that answered."""
    run = [answered(1, True), answered(2, False), answered(3, True), answered(1, True, "sonnet"), answered(2, True, "sonnet")]
    groups = defaultdict(list)
    for result in run:
        groups[result.metadata.answering_model or "unknown"].append(result)
    return dict(groups)


def test_scoring_one_result_after_the_other(results: list[VerificationResult]) -> None:
    lines = []
    for result in results:
        model_name = result.metadata.answering_model or "model"
        objectives = compute_objective_scores(result, model_name, TEMPLATE_ONLY)
        score = sum(objectives.values()) / len(objectives) if objectives else 0.0
        assert score == result_score(objectives)
        passed = result.template.verify_result if result.template else False
        lines.append(f"{'PASS' if passed else 'FAIL'} | {score:.2f} | {result.metadata.question_text[:16]}")
    assert lines[:2] == ["PASS | 1.00 | Find the sum and", "FAIL | 0.00 | Find the sum and"]


def test_one_result_under_different_configs(results: list[VerificationResult]) -> None:
    def shown(**config: Any) -> str:
        return f"{compute_objective_scores(results[0], 'claude-haiku', ObjectiveConfig(**config))}"

    assert shown(include_template=True, trait_mode=TraitSelectionMode.NONE) == "{'claude-haiku:template': 1.0}"
    traits = "'claude-haiku:clarity': 0.8, 'claude-haiku:ends_with_number': 1.0, 'claude-haiku:steps_f1': 0.6666666666666666"
    assert shown(include_template=False, trait_mode=TraitSelectionMode.ALL) == f"{{{traits}}}"
    assert shown(include_template=True, trait_mode=TraitSelectionMode.ALL) == f"{{'claude-haiku:template': 1.0, {traits}}}"
    custom = {"trait_mode": TraitSelectionMode.CUSTOM, "selected_traits": ["clarity"]}
    assert shown(**custom) == "{'claude-haiku:template': 1.0, 'claude-haiku:clarity': 0.8}"


def test_the_mean_over_a_benchmark(results: list[VerificationResult]) -> None:
    def mean_objective_score(result: VerificationResult) -> float:
        objectives = compute_objective_scores(result, result.metadata.answering_model or "model", TEMPLATE_ONLY)
        return sum(objectives.values()) / len(objectives) if objectives else 0.0

    by_hand = sum(mean_objective_score(result) for result in results) / len(results)
    assert by_hand == 0.6
    assert benchmark_score(compute_objective_scores(result, HAIKU, TEMPLATE_ONLY) for result in results) == by_hand


def test_two_models_have_keys_of_their_own(by_model: dict[str, list[VerificationResult]]) -> None:
    assert {model: len(own) for model, own in by_model.items()} == {HAIKU: 3, SONNET: 2}
    scores = {model: [compute_objective_scores(result, model, TEMPLATE_ONLY) for result in own] for model, own in by_model.items()}
    means = objective_means(objectives for own in scores.values() for objectives in own)
    assert means == {f"{HAIKU}:template": pytest.approx(2 / 3), f"{SONNET}:template": 1.0}
    assert means.counts == {f"{HAIKU}:template": 3, f"{SONNET}:template": 2}


def test_the_mean_of_the_models(by_model: dict[str, list[VerificationResult]]) -> None:
    by_hand = {}
    for model_name, own in by_model.items():
        per_result = []
        for result in own:
            objectives = compute_objective_scores(result, model_name, TEMPLATE_ONLY)
            per_result.append(sum(objectives.values()) / len(objectives) if objectives else 0.0)
        by_hand[model_name] = sum(per_result) / len(per_result) if per_result else 0.0
    overall = sum(by_hand.values()) / len(by_hand)
    scores = {model: [compute_objective_scores(result, model, TEMPLATE_ONLY) for result in own] for model, own in by_model.items()}
    assert model_scores(scores) == by_hand == {HAIKU: pytest.approx(2 / 3), SONNET: 1.0}
    assert overall_score(scores) == overall == pytest.approx(5 / 6)


def test_failed_fields(results: list[VerificationResult]) -> None:
    failed = [result for result in results if result.template and not result.template.verify_result]
    assert [extract_failed_fields(result) for result in failed] == [["product"], ["product"]]
    assert failed[0].metadata.raw_answer == "5, 6"
    assert failed[0].template is not None
    assert failed[0].template.raw_llm_response[:3] == "The"
    assert extract_failed_fields(results[0]) == []


def test_improvement() -> None:
    assert f"{compute_improvement(0.60, 0.75):.2%}" == "25.00%"
    assert f"{compute_improvement(0.0, 0.50):.2%}" == "50.00%"
    assert f"{compute_improvement(0.70, 0.60):.2%}" == "-14.29%"
    assert f"{compute_improvement(0.50, 0.50):.2%}" == "0.00%"


def test_correctness_alone(results: list[VerificationResult]) -> None:
    scores = [result_score(compute_objective_scores(result, HAIKU, TEMPLATE_ONLY)) for result in results]
    assert scores == [1.0, 0.0, 1.0, 1.0, 0.0]


def test_the_table_of_generations() -> None:
    generations = [0.40, 0.45, 0.52, 0.58, 0.55, 0.62, 0.65, 0.70]
    improvements = [f"{compute_improvement(generations[0], score):+.1%}" for score in generations]
    assert improvements == ["+0.0%", "+12.5%", "+30.0%", "+45.0%", "+37.5%", "+55.0%", "+62.5%", "+75.0%"]
    assert generations.index(max(generations)) == 7


def test_the_four_prompts() -> None:
    """The notebook says in words who is on the frontier; here it is computed."""
    candidates = {
        "Prompt A": {"haiku": 0.65, "sonnet": 0.70},
        "Prompt B": {"haiku": 0.70, "sonnet": 0.60},
        "Prompt C": {"haiku": 0.60, "sonnet": 0.75},
        "Prompt D": {"haiku": 0.68, "sonnet": 0.72},
    }
    means = {name: sum(scores.values()) / len(scores) for name, scores in candidates.items()}
    assert max(means, key=lambda name: means[name]) == "Prompt D"
    assert pareto_front(candidates) == ["Prompt B", "Prompt C", "Prompt D"]
    assert objective_winners(candidates) == {"haiku": ["Prompt B"], "sonnet": ["Prompt C"]}
