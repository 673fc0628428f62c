"""Scales of traits, read from rubrics: ours, and Karenina's as objects and as JSON."""

from types import SimpleNamespace
from typing import Any

import pytest

from scoring import (
    ObjectiveConfig,
    VerificationResult,
    compute_objective_scores,
    trait_directionalities,
    trait_max_scores,
    trait_min_scores,
)
from scoring.objective import ObjectiveError
from scoring.scorer import ScorerConfigError

TRAITS: list[dict[str, Any]] = [
    {"name": "polite", "kind": "boolean", "description": "It is polite."},
    {"name": "clear", "kind": "score", "min": 0, "max": 10, "description": "How clear."},
    {"name": "wordy", "kind": "score", "description": "How wordy.", "higher_is_better": False},
    {"name": "tone", "kind": "literal", "classes": ["cold", "flat", "warm"], "description": "Its tone."},
    {"name": "risk", "kind": "literal", "classes": {"none": -1, "some": 3}, "description": "Risk.", "higher_is_better": False},
    {"name": "drugs", "kind": "metric", "items": ["a"], "description": "Drugs."},
    {"name": "sorry", "kind": "regex", "pattern": "sorry", "higher_is_better": False},
    {"name": "short", "kind": "callable", "python": "own.py:short"},
]
KARENINA: dict[str, Any] = {
    "llm_traits": [
        {"name": "polite", "kind": "boolean", "min_score": None, "max_score": None, "higher_is_better": True},
        {"name": "clear", "kind": "score", "min_score": 1, "max_score": 5, "higher_is_better": True},
        {"name": "tone", "kind": "literal", "classes": {"cold": "…", "flat": "…", "warm": "…"}, "min_score": 0, "max_score": 2},
        {"name": "parts", "kind": "template", "higher_is_better": None},
    ],
    "regex_traits": [{"name": "sorry", "pattern": "sorry", "higher_is_better": False}],
    "callable_traits": [
        {"name": "words", "kind": "score", "min_score": -3, "max_score": 3, "higher_is_better": False},
        {"name": "form", "kind": "literal", "classes": {"a": "", "b": "", "c": ""}, "higher_is_better": True},
        {"name": "seen", "kind": "literal", "max_score": 4, "higher_is_better": True},
    ],
    "metric_traits": [{"name": "drugs", "metrics": ["f1"], "higher_is_better": None}],
    "agentic_traits": [{"name": "files", "kind": "score", "min_score": 0, "max_score": 7, "higher_is_better": True}],
}


@pytest.mark.parametrize("rubric", [TRAITS, tuple(TRAITS), {"traits": TRAITS, "votes": 3}], ids=["list", "tuple", "settings"])
def test_our_own_rubric(rubric: Any) -> None:
    assert trait_max_scores(rubric) == {"clear": 10, "wordy": 5, "tone": 2, "risk": 3, "short": 1}
    assert trait_min_scores(rubric) == {"clear": 0, "wordy": 1, "tone": 0, "risk": -1, "short": 0}
    directions = trait_directionalities(rubric)
    assert [name for name, higher in directions.items() if not higher] == ["wordy", "risk", "sorry"] and len(directions) == len(TRAITS)


def as_object(value: Any) -> Any:
    return SimpleNamespace(**{key: [SimpleNamespace(**trait) for trait in traits] for key, traits in value.items()})


@pytest.mark.parametrize("rubric", [KARENINA, as_object(KARENINA)], ids=["JSON", "object"])
def test_kareninas_rubric(rubric: Any) -> None:
    assert trait_max_scores(rubric) == {"clear": 5, "tone": 2, "words": 3, "form": 2, "seen": 4, "files": 7}
    assert trait_min_scores(rubric) == {"clear": 1, "tone": 0, "words": -3, "form": 0, "seen": 0, "files": 0}
    directions = {"polite": True, "clear": True, "sorry": False, "words": False, "form": True, "seen": True, "files": True}
    assert trait_directionalities(rubric) == directions


def test_a_questions_own_traits_keep_their_scale_and_direction() -> None:
    """Otherwise 80 of 100 would be 16, and lower would count as worse."""
    question = {"llm_traits": [{"name": "noise", "kind": "score", "min_score": 0, "max_score": 100, "higher_is_better": False}]}
    rubric = {"rubric_evaluation_performed": True, "llm_trait_scores": {"noise": 80, "clear": 5}}
    result = VerificationResult.model_validate({"rubric": rubric})
    maps = {
        "trait_max_scores": trait_max_scores(None, {"llm_traits": KARENINA["llm_traits"][1:2]}, question),
        "trait_directionalities": trait_directionalities(KARENINA, question),
    }
    scores = compute_objective_scores(result, "m", ObjectiveConfig(include_template=False), **maps)  # type: ignore[arg-type]
    assert scores == pytest.approx({"m:noise": 0.2, "m:clear": 1.0}) and not scores.warnings


def test_two_scales_for_one_trait_are_told() -> None:
    assert trait_max_scores(TRAITS, TRAITS) == trait_max_scores(TRAITS)
    with pytest.raises(ObjectiveError, match="the trait 'clear' has 10 in one rubric and 5 in another; give only the rubrics of one"):
        trait_max_scores(TRAITS, KARENINA)


@pytest.mark.parametrize("thing", ["clear", 3, {}, {"llm_traits": None}, SimpleNamespace(traits=[])])
def test_what_is_no_rubric(thing: Any) -> None:
    with pytest.raises(ObjectiveError, match="is no rubric; that is a list of traits"):
        trait_max_scores(thing)


def test_traits_that_cannot_be() -> None:
    with pytest.raises(ScorerConfigError, match="the trait 'a' has no kind 'scor'; did you mean 'score'"):
        trait_max_scores([{"name": "a", "kind": "scor"}])
    for trait in ({"kind": "score"}, {"name": "a", "higher_is_better": "no"}):
        with pytest.raises(ObjectiveError, match=r"the regex trait .* has no name, or a higher_is_better"):
            trait_directionalities({"regex_traits": [trait]})
    assert trait_max_scores({"llm_traits": []}) == {}


@pytest.mark.parametrize(
    ("trait", "told"),
    [
        ({"kind": "score", "max_score": float("nan")}, "the trait 'a': max_score is nan; it has to be a number"),
        ({"kind": "score", "max_score": "5"}, "the trait 'a': max_score is '5'"),
        ({"kind": "score", "max_score": True}, "the trait 'a': max_score is True"),
        ({"kind": "literal", "max_score": [1]}, r"the trait 'a': max_score is \[1\]"),
        ({"kind": "literal", "classes": 3}, "the trait 'a': classes is 3; it has to be a mapping or a list"),
    ],
)
def test_scales_that_are_none(trait: dict[str, Any], told: str) -> None:
    with pytest.raises(ObjectiveError, match=told):
        trait_max_scores({"llm_traits": [{"name": "a", **trait}]})
