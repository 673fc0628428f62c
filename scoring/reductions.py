"""From many objectives to few numbers: per result, per benchmark, per model, overall.

Nothing is averaged over nothing: where there is no result, or every one failed for reasons outside the answer, that is an error,
not a 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import stdev

from scoring.objective import ObjectiveError, ObjectiveKey, Status
from scoring.objective_config import ObjectiveConfig
from scoring.objectives import compute_objective_scores
from scoring.result import Verified
from scoring.scorer import TEMPLATE

Objectives = Mapping[str, float]
"""What compute_objective_scores gives, or any mapping like it."""


class ObjectiveMeans(dict[str, float]):
    """`model:dimension` → mean. `counts`: over how many results; where these differ, so do the questions behind the means, and
    they should not be compared. `errors`: the standard error, for objectives with two results or more."""

    def __init__(self, values: Mapping[str, Sequence[float]]) -> None:
        super().__init__({key: sum(numbers) / len(numbers) for key, numbers in values.items()})
        self.counts = {key: len(numbers) for key, numbers in values.items()}
        self.errors = {key: stdev(numbers) / len(numbers) ** 0.5 for key, numbers in values.items() if len(numbers) > 1}


def result_score(objectives: Objectives, weights: Mapping[str, float] | None = None) -> float | None:
    """One number for one result: the mean of its objectives. 0.0 where it has none; but None where that is because the run failed
    for reasons outside the answer.

    `weights`: dimension → its weight; every dimension of the result needs one. Raises ObjectiveError for one that has none, for
    negative weights and for those that add up to 0."""
    if not objectives:
        return None if Status.EXCLUDED in getattr(objectives, "status", {}).values() else 0.0
    shares = [_weight(key, weights) for key in objectives]
    if sum(shares) <= 0:
        raise ObjectiveError(f"the weights of {', '.join(objectives)} add up to 0; give one of them more")
    return sum(share * value for share, value in zip(shares, objectives.values(), strict=True)) / sum(shares)


def benchmark_score(results: Iterable[Objectives], weights: Mapping[str, float] | None = None) -> float:
    """The mean of the results' scores, those left out that have none. Raises ObjectiveError where no result has one."""
    return _mean((result_score(objectives, weights) for objectives in results), "")


def model_scores(results: Mapping[str, Iterable[Objectives]], weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Model → the benchmark score of its results. Raises ObjectiveError for a model without any."""
    return {model: _mean((result_score(each, weights) for each in own), f" of {model!r}") for model, own in results.items()}


def overall_score(results: Mapping[str, Iterable[Objectives]], weights: Mapping[str, float] | None = None) -> float:
    """The mean of the models' scores: every model counts the same, however many results it has. Raises ObjectiveError for no
    models, and for one without results."""
    return _mean(model_scores(results, weights).values(), "")


def objective_means(results: Iterable[Objectives]) -> ObjectiveMeans:
    """The mean of each objective over the results that have it: of one candidate's questions and models, or of repeats of one
    question. Raises ObjectiveError for no results."""
    values: dict[str, list[float]] = {}
    known = False
    for objectives in results:
        known = True
        for key, value in objectives.items():
            values.setdefault(key, []).append(value)
    if not known:
        raise ObjectiveError("there is no result to take means of")
    return ObjectiveMeans(values)


def compute_single_score(result: Verified, template_weight: float = 0.7, rubric_weight: float = 0.3) -> float | None:
    """Correctness and the mean of the traits, weighted; correctness alone where there are no traits. None where the run failed for
    reasons outside the answer."""
    objectives = dict(compute_objective_scores(result, "result", ObjectiveConfig()))
    right = objectives.pop(f"result:{TEMPLATE}", None)
    if right is None:
        return None
    return template_weight * right + rubric_weight * sum(objectives.values()) / len(objectives) if objectives else right


def compute_weighted_score(results: Mapping[str, Verified], template_weight: float = 0.7, rubric_weight: float = 0.3) -> float:
    """The mean of the single scores. Raises ObjectiveError where no result has one."""
    return _mean((compute_single_score(result, template_weight, rubric_weight) for result in results.values()), "")


def compute_multi_model_score(
    results_by_model: Mapping[str, Sequence[Verified]], template_weight: float = 0.7, rubric_weight: float = 0.3
) -> tuple[float, dict[str, float]]:
    """The mean of the models' means, and those. Raises ObjectiveError for no models, and for one without results."""
    means = {
        model: _mean((compute_single_score(result, template_weight, rubric_weight) for result in results), f" of {model!r}")
        for model, results in results_by_model.items()
    }
    return _mean(means.values(), ""), means


def _weight(key: str, weights: Mapping[str, float] | None) -> float:
    if weights is None:
        return 1.0
    dimension = ObjectiveKey.parse(key).dimension
    if dimension not in weights:
        raise ObjectiveError(f"the dimension {dimension!r} has no weight; give it one, 0 to leave it out")
    if not weights[dimension] >= 0:
        raise ObjectiveError(f"the weight of {dimension!r} is {weights[dimension]}; weights are 0 or more")
    return weights[dimension]


def _mean(scores: Iterable[float | None], whose: str) -> float:
    known = [score for score in scores if score is not None]
    if not known:
        raise ObjectiveError(f"no result{whose} has a score, so there is no mean; leave it out, or run it again")
    return sum(known) / len(known)
