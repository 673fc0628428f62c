"""From many objectives to few numbers, and nothing out of nothing."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import (
    ObjectiveConfig,
    ObjectiveError,
    ObjectiveScores,
    Status,
    VerificationResult,
    benchmark_score,
    compute_multi_model_score,
    compute_objective_scores,
    compute_single_score,
    compute_weighted_score,
    model_scores,
    objective_means,
    overall_score,
    result_score,
)

RIGHT, WRONG = {"m:template": 1.0}, {"m:template": 0.0}
FAILED = ObjectiveScores({}, {"m:template": Status.EXCLUDED})


def verified(right: bool | None = None, failure: str | None = None, **traits: Any) -> VerificationResult:
    rubric = {"rubric_evaluation_performed": True, "agentic_trait_scores": traits} if traits else None
    cause = {"category": failure} if failure else None
    return VerificationResult.model_validate({"metadata": {"failure": cause}, "template": {"verify_result": right}, "rubric": rubric})


def test_one_result() -> None:
    assert result_score({"m:template": 1.0, "m:a": 0.5}) == 0.75
    assert result_score({}) == 0.0
    assert result_score(ObjectiveScores({}, {"m:a": Status.MISSING})) == 0.0
    assert result_score(FAILED) is None
    assert result_score(ObjectiveScores({"m:a": 0.5}, {"m:template": Status.EXCLUDED, "m:a": Status.SCORED})) == 0.5


def test_weights_are_by_dimension() -> None:
    """So that more traits do not make correctness count for less."""
    objectives = {"x:y:template": 1.0, "x:y:a": 0.5, "x:y:b": 0.0}
    assert result_score(objectives, {"template": 2, "a": 1, "b": 1}) == 0.625
    assert result_score(objectives, {"template": 1, "a": 1, "b": 0}) == 0.75
    assert benchmark_score([objectives, RIGHT], {"template": 2, "a": 1, "b": 1}) == 0.8125


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({"other": 1}, "'template' has no weight"),
        ({"template": -1}, "is -1; weights"),
        ({"template": math.nan}, "is nan"),
        ({"template": 0}, "add up to 0"),
    ],
)
def test_weights_that_do_not_weigh(weights: dict[str, float], told: str) -> None:
    with pytest.raises(ObjectiveError, match=told):
        result_score(RIGHT, weights)


def test_a_benchmark() -> None:
    assert benchmark_score([RIGHT, WRONG, RIGHT, WRONG]) == 0.5
    assert benchmark_score(iter([RIGHT, {}])) == 0.5
    assert benchmark_score([RIGHT, FAILED]) == 1.0


def test_every_model_counts_the_same() -> None:
    by_model = {"one": [RIGHT, RIGHT], "two": [WRONG]}
    assert model_scores(by_model) == {"one": 1.0, "two": 0.0}
    assert overall_score(by_model) == 0.5
    assert benchmark_score([RIGHT, RIGHT, WRONG]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("nothing", [[], [FAILED, FAILED]])
def test_nothing_has_no_mean(nothing: list[Any]) -> None:
    with pytest.raises(ObjectiveError, match="no result has a score"):
        benchmark_score(nothing)
    for reduce in (model_scores, overall_score):
        with pytest.raises(ObjectiveError, match="no result of 'two' has a score"):
            reduce({"one": [RIGHT], "two": nothing})
    with pytest.raises(ObjectiveError, match="no result has a score"):
        overall_score({})
    assert model_scores({}) == {}


def test_means_of_objectives_say_over_how_many_results() -> None:
    found = objective_means([{"m:template": 1.0, "m:a": 1.0}, {"m:template": 0.0}, {"n:template": 0.5}])
    assert found == {"m:template": 0.5, "m:a": 1.0, "n:template": 0.5}
    assert found.counts == {"m:template": 2, "m:a": 1, "n:template": 1}
    assert found.errors == {"m:template": 0.5}


def test_repeats_are_averaged() -> None:
    repeats = [compute_objective_scores(verified(right), "m", ObjectiveConfig()) for right in (True, True, False)]
    found = objective_means(repeats)
    assert found == {"m:template": pytest.approx(2 / 3)}
    assert found.errors == {"m:template": pytest.approx(1 / 3)}


def test_means_need_a_result() -> None:
    with pytest.raises(ObjectiveError, match="no result"):
        objective_means([])
    assert objective_means([FAILED]) == {}


@given(st.lists(st.dictionaries(st.sampled_from(["m:a", "m:b", "n:a"]), st.floats(0, 1)), min_size=1))
def test_means_of_scores_are_scores(results: list[dict[str, float]]) -> None:
    assert all(0 <= value <= 1 for value in objective_means(results).values())
    assert 0 <= benchmark_score(results) <= 1


@pytest.mark.parametrize(
    ("result", "weights", "score"),
    [
        (verified(True), (), 1.0),
        (verified(True, a=3, b=False), (), 0.7 + 0.3 * 0.3),
        (verified(False, a=5), (0.5, 0.5), 0.5),
        (verified(False, a=5), (1.0, 0.0), 0.0),
        (verified(None), (), 0.0),
        (verified(None, "timeout"), (), None),
    ],
)
def test_a_single_score(result: VerificationResult, weights: tuple[float, ...], score: float | None) -> None:
    assert compute_single_score(result, *weights) == (None if score is None else pytest.approx(score))


def test_weighted_and_multi_model_scores() -> None:
    results = {"1": verified(True, a=5), "2": verified(False, a=5), "3": verified(None, "timeout")}
    assert compute_weighted_score(results) == pytest.approx((1.0 + 0.3) / 2)
    assert compute_weighted_score(results, 1.0, 0.0) == 0.5
    overall, by_model = compute_multi_model_score({"one": list(results.values()), "two": [verified(True)]}, 1.0, 0.0)
    assert (overall, by_model) == (0.75, {"one": 0.5, "two": 1.0})
    with pytest.raises(ObjectiveError, match="no result has a score"):
        compute_weighted_score({})
    with pytest.raises(ObjectiveError, match="of 'two'"):
        compute_multi_model_score({"one": [verified(True)], "two": []})
