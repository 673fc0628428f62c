"""Objective scores just as Karenina computes them, for those whose numbers rest on that.

Nothing is checked: values may leave 0..1, names may overwrite one another, and whatever went wrong is 0 or not there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.objective_config import DEFAULT_MAX, ObjectiveConfig, TraitSelectionMode
from scoring.result import Verified, all_scores_of
from scoring.scorer import TEMPLATE


def original_scores(
    result: Verified,
    model_name: str,
    config: ObjectiveConfig,
    trait_max_scores: Mapping[str, float],
    trait_directionalities: Mapping[str, bool | None],
) -> dict[str, float]:
    """Raises ZeroDivisionError for a max of 0."""
    scores: dict[str, float] = {}
    if config.include_template:
        scores[f"{model_name}:{TEMPLATE}"] = float(bool(result.template and result.template.verify_result))
    rubric = result.rubric
    if config.trait_mode is TraitSelectionMode.NONE or not rubric or not rubric.rubric_evaluation_performed:
        return scores
    for name, value in all_scores_of(rubric).items():
        if not config.should_include_trait(name):
            continue
        if isinstance(value, dict):
            scores.update((f"{model_name}:{name}_{metric}", number) for metric, number in _metrics(value, config))
        elif isinstance(value, int | float):
            share = float(value) if isinstance(value, bool) else float(value) / float(trait_max_scores.get(name, DEFAULT_MAX))
            lower_is_better = trait_directionalities.get(name) is False
            scores[f"{model_name}:{name}"] = 1.0 - share if lower_is_better else share
    return scores


def _metrics(value: Mapping[str, Any], config: ObjectiveConfig) -> Iterator[tuple[str, float]]:
    for metric in config.metric_config.get_enabled_metrics():
        if metric in value:
            yield metric, float(value[metric])
