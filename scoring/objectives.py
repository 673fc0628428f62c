"""Objective scores: a verified result as one number in 0..1 for every `model:dimension`.

Names, defaults and numbers are those of Karenina's GEPA integration. Where that crashes, leaves 0..1 or loses something, this
does not; docs/scoring.md lists the differences, and `ObjectiveConfig(compat=True)` turns them off.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scoring.compat import original_scores
from scoring.items import METRICS
from scoring.objective import ObjectiveScores, ObjectiveSheet, Status
from scoring.objective_config import DEFAULT_MAX, DEFAULT_MIN, ObjectiveConfig, TraitSelectionMode
from scoring.result import KINDS, Verified, abstained, all_scores_of, failure_of, scores_of
from scoring.score import ScoreError, show, unit_value
from scoring.scorer import TEMPLATE

OUTSIDE = frozenset({"retry", "system"})
"""Groups of failures that say nothing of the answer."""

INVALID_CLASS = -1
"""What a literal trait holds where the judge named none of its classes."""


def compute_objective_scores(
    result: Verified,
    model_name: str,
    config: ObjectiveConfig,
    trait_max_scores: Mapping[str, float] | None = None,
    trait_directionalities: Mapping[str, bool | None] | None = None,
    *,
    trait_min_scores: Mapping[str, float] | None = None,
) -> ObjectiveScores:
    """The template first, then the traits in the order of the result, a metric trait's metrics in the order of METRICS.

    `trait_max_scores`, `trait_min_scores`: the ends of the traits' scales; a trait that is not there is taken for one of 1 to 5
    (a literal one for one from 0), with a warning. `trait_directionalities`: False where lower is better; the value is then
    1 − value. Raises ObjectiveError for a model without a name, for values outside of their scale and scales without width,
    for dimensions that clash, are called `template` or hold a colon, and for a config that cannot produce anything."""
    highest, directions = trait_max_scores or {}, trait_directionalities or {}
    if config.compat:
        values = original_scores(result, model_name, config, highest, directions)
        return ObjectiveScores(values, dict.fromkeys(values, Status.SCORED))
    question = getattr(getattr(result, "metadata", None), "question_id", None)
    sheet = ObjectiveSheet(model_name, config.missing, f"question {question!r}, " if question else "")
    if config.include_template:
        _enter_template(sheet, result, config)
    if config.trait_mode is not TraitSelectionMode.NONE:
        _Traits(sheet, result, config, highest, trait_min_scores or {}, directions).enter()
    return sheet.scores()


def _enter_template(sheet: ObjectiveSheet, result: Verified, config: ObjectiveConfig) -> None:
    template = result.template
    verdict = getattr(template, "verify_result", None)
    failed = _failed_outside(result)
    if failed and not verdict:
        sheet.leave(TEMPLATE, Status.EXCLUDED, f"{failed}; that is no wrong answer")
    elif verdict and getattr(template, "embedding_override_applied", False) is True:
        sheet.enter(TEMPLATE, config.embedding_override)
        sheet.warn(TEMPLATE, "the fields were wrong, and only the likeness of the embeddings made it right")
    elif verdict:
        sheet.enter(TEMPLATE, 1.0)
    elif _group(result) == "abstained" or abstained(template):
        sheet.enter(TEMPLATE, 0.0, Status.ABSTAINED)
    elif not template:
        sheet.enter(TEMPLATE, 0.0, Status.MISSING)
        sheet.warn(TEMPLATE, "the result has none; counted as 0")
    elif verdict is None and _group(result) is None:
        sheet.enter(TEMPLATE, 0.0, Status.NOT_VERIFIED)
        sheet.warn(TEMPLATE, "nobody checked the answer; counted as 0")
    else:
        sheet.enter(TEMPLATE, _share_of_fields(sheet, template) if config.partial_credit else 0.0)


def _share_of_fields(sheet: ObjectiveSheet, template: Any) -> float:
    """Of a wrong answer. 0 where every field is right: then something else is wrong with it."""
    graded = getattr(template, "verify_granular_result", None)
    if not _is_number(graded):
        fields = list((getattr(template, "field_scores", None) or {}).values())
        graded = sum(score or 0.0 for score in fields) / len(fields) if fields else 0.0
    try:
        share = unit_value(graded)
    except ScoreError as error:
        raise sheet.error(TEMPLATE, f"its partial credit: {error}") from None
    return share if share < 1 else 0.0


@dataclass(frozen=True)
class _Traits:
    """The traits of one result, on their way to the sheet."""

    sheet: ObjectiveSheet
    result: Verified
    config: ObjectiveConfig
    highest: Mapping[str, float]
    lowest: Mapping[str, float]
    directions: Mapping[str, bool | None]

    def enter(self) -> None:
        self._check_ends()
        rubric = self.result.rubric
        performed = bool(rubric and rubric.rubric_evaluation_performed)
        values = all_scores_of(rubric) if performed else {}
        if not performed:
            held = rubric and any(scores_of(rubric, kind) for kind in KINDS)
            told = "it says that it was not evaluated, so the scores in it are not read" if held else "no traits were evaluated"
            self.sheet.warn("rubric", told)
        barren = [name for name, value in values.items() if not self._trait(name, value)]
        if barren and self.sheet.empty:
            raise self.sheet.error(barren[0], "metric_config includes no metric of it, and there is nothing else to score; include one")
        for name in barren:
            self.sheet.warn(name, "metric_config includes no metric of it")
        self._absent(values)

    def _check_ends(self) -> None:
        for what, ends in (("trait_max_scores", self.highest), ("trait_min_scores", self.lowest)):
            for name, end in ends.items():
                if not _finite(end):
                    raise self.sheet.error(name, f"{what} has {show(end)} for it; that has to be a number")

    def _trait(self, name: str, value: object) -> bool:
        """False where it is selected, but nothing of it is included."""
        metrics = self._metrics(name, value)
        if not self._selected(name) and not metrics:
            return True
        kinds = [kind for kind in KINDS if name in scores_of(self.result.rubric, kind)]
        if len(kinds) > 1:
            raise self.sheet.error(name, f"there is a trait of that name of the kinds {' and '.join(kinds)}; rename one of them")
        if isinstance(value, Mapping):
            for metric in metrics:
                self._metric(name, metric, value)
            return bool(metrics)
        if name == TEMPLATE:
            raise self.sheet.error(name, "a trait is called like the dimension of correctness; rename it")
        if isinstance(value, bool):
            self._enter(name, name, float(value))
        elif _is_number(value):
            self._number(name, value, kinds)
        elif value is None:
            self.sheet.leave(name, Status.MISSING, "the trait has no value")
        else:
            self.sheet.leave(name, Status.EXCLUDED, f"it is {show(value)}; only truth values, numbers and metrics can be objectives")
        return True

    def _number(self, name: str, value: Any, kinds: Iterable[str]) -> None:
        if not _finite(value):
            self.sheet.leave(name, Status.ERROR, f"it is {show(value)}, which is no measurement")
            return
        if "." in name and name not in self.highest:
            self.sheet.leave(name, Status.EXCLUDED, "a numeric field has no scale of its own; give one in trait_max_scores")
            return
        judged = not {"regex", "callable"}.intersection(kinds)
        if value == INVALID_CLASS and judged and self.lowest.get(name, 0) > INVALID_CLASS:
            self.sheet.leave(name, Status.ERROR, "the judge named none of the trait's classes")
            return
        low, high = self._scale(name)
        if low >= high:
            raise self.sheet.error(name, f"its scale is {low} to {high}, which has no width; correct trait_max_scores")
        known = name in self.highest
        told = "correct trait_max_scores" if known else "that is assumed where trait_max_scores does not name a trait; let it name this one"
        problem = f"it is {value}, outside of its scale {low} to {high}; {told}"
        self._place(name, name, (float(value) - low) / (float(high) - low), problem)

    def _scale(self, name: str) -> tuple[float, float]:
        """The lower end is 0 where only the upper end counts."""
        if name not in self.highest:
            self.sheet.warn(name, f"trait_max_scores does not name it; {DEFAULT_MAX} is assumed")
        high = self.highest.get(name, DEFAULT_MAX)
        if self.config.normalization == "max":
            return 0, high
        if name not in self.lowest:
            literal = name in (getattr(self.result.rubric, "llm_trait_labels", None) or {})
            low = 0 if literal else DEFAULT_MIN
            self.sheet.warn(name, f"trait_min_scores does not name it; {low} is assumed")
            return low, high
        return self.lowest[name], high

    def _metric(self, name: str, metric: str, values: Mapping[str, Any]) -> None:
        dimension, value = f"{name}_{metric}", values.get(metric)
        if value is None:
            there = ", ".join(other for other in values if values[other] is not None)
            self.sheet.leave(dimension, Status.MISSING, f"it has no value; the trait has {there or 'no metric at all'}")
        elif not _finite(float(value) if isinstance(value, bool) else value):
            self.sheet.leave(dimension, Status.ERROR, f"it is {show(value)}, which is no measurement")
        else:
            self._place(dimension, name, float(value), f"it is {value}; metrics are in 0..1")

    def _place(self, dimension: str, name: str, share: float, problem: str) -> None:
        """`problem`: what is wrong where the share is not in 0..1."""
        try:
            value = unit_value(share)
        except ScoreError:
            raise self.sheet.error(dimension, problem) from None
        self._enter(dimension, name, value)

    def _enter(self, dimension: str, name: str, value: float) -> None:
        """Onto the sheet, in the direction of the trait."""
        lower_is_better = self.directions.get(name) is False
        if lower_is_better and dimension != name and not self.config.metric_config.use_directionality:
            self.sheet.warn(dimension, "lower is said to be better; metrics heed that with metric_config.use_directionality only")
            lower_is_better = False
        self.sheet.enter(dimension, 1.0 - value if lower_is_better else value)

    def _selected(self, name: str) -> bool:
        """By its name, or by the name of the trait that it is a field of."""
        return self.config.should_include_trait(name) or self.config.should_include_trait(name.partition(".")[0])

    def _metrics(self, name: str, value: object) -> list[str]:
        """The metrics of a metric trait that are to be objectives: those included, and those selected by name."""
        if not isinstance(value, Mapping):
            return []
        included = self.config.metric_config.get_enabled_metrics() if self._selected(name) else []
        return [metric for metric in METRICS if metric in included or f"{name}_{metric}" in self._named]

    @property
    def _named(self) -> frozenset[str]:
        return frozenset(self.config.selected_traits or ()) if self.config.trait_mode is TraitSelectionMode.CUSTOM else frozenset()

    def _absent(self, values: Mapping[str, Any]) -> None:
        """What is expected, and is not there: selected by name, or known to be a trait because its scale is."""
        custom = self.config.trait_mode is TraitSelectionMode.CUSTOM
        there = {*values, *(name.partition(".")[0] for name in values)}
        there |= {f"{name}_{metric}" for name, value in values.items() if isinstance(value, Mapping) for metric in METRICS}
        skipped = getattr(self.result.rubric, "dynamic_rubric_skipped_traits", None) or {}
        failed = _failed_outside(self.result)
        lacking = "the result has no such trait; spell it as in the rubric" if values else "the result has no scores of traits"
        for name in dict.fromkeys((self.config.selected_traits or ()) if custom else self.highest):
            if name in there:
                continue
            if name in skipped:
                self.sheet.leave(name, Status.EXCLUDED, f"the trait does not apply: {skipped[name]}")
            elif failed:
                self.sheet.leave(name, Status.EXCLUDED, f"{failed}; that is no bad answer")
            else:
                self.sheet.leave(name, Status.MISSING, lacking)


def _group(result: Verified) -> str | None:
    failure = failure_of(result)
    return failure.group if failure else None


def _failed_outside(result: Verified) -> str:
    """In words, where a call failed or a part of the machinery did; else empty."""
    failure = failure_of(result)
    return f"the run failed ({failure.category})" if failure and failure.group in OUTSIDE else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    """Also False for whole numbers that no float holds."""
    return _is_number(value) and abs(value) <= sys.float_info.max
