"""Objective scores: the recorded cases, their laws, and what Karenina's users miss."""

import copy
import json
import math
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scoring import (
    ObjectiveConfig,
    ObjectiveError,
    ObjectiveKey,
    ObjectiveScores,
    ScoreError,
    Status,
    TraitSelectionMode,
    VerificationResult,
    compute_improvement,
    compute_objective_scores,
    extract_failed_fields,
)
from scoring.items import METRICS

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases" / "objective.json").read_text(encoding="utf-8"))
ERRORS = {kind.__name__: kind for kind in (ObjectiveError, TypeError, ValidationError, ZeroDivisionError)}


def verified(template: Any = None, rubric: Any = None, failure: Any = None, **metadata: Any) -> VerificationResult:
    """A result from plain data; a rubric is evaluated unless it says otherwise."""
    whole = None if rubric is None else {"rubric_evaluation_performed": True} | rubric
    return VerificationResult.model_validate({"metadata": {"failure": failure} | metadata, "template": template, "rubric": whole})


def scored(rubric: Any, *, highest: Any = None, lowest: Any = None, lower_is_better: Any = (), **config: Any) -> ObjectiveScores:
    """The traits only."""
    directions = dict.fromkeys(lower_is_better, False)
    chosen = ObjectiveConfig(**{"include_template": False} | config)
    return compute_objective_scores(verified(rubric=rubric), "m", chosen, highest, directions, trait_min_scores=lowest)


# --- the recorded cases -----------------------------------------------------------------------------------------------


def run(case: dict[str, Any], compat: bool) -> Any:
    data = case["given"]
    if case["function"] == "compute_improvement":
        return compute_improvement(*data, compat=compat)
    if case["function"] == "extract_failed_fields":
        return extract_failed_fields(verified(template=data))
    if case["function"] == "ObjectiveConfig":
        return ObjectiveConfig(**data, compat=compat)
    config = ObjectiveConfig(**data["config"], compat=compat)
    return compute_objective_scores(verified(data["template"], data["rubric"]), data["model"], config, data["max"], data["dir"])


@pytest.mark.parametrize("compat", [True, False], ids=["as Karenina", "here"])
@pytest.mark.parametrize("case", CASES, ids=[f"{case['case']}: {case['why']}" for case in CASES])
def test_recorded(case: dict[str, Any], compat: bool) -> None:
    wanted = case if compat else case.get("here", case)
    if "raises" in wanted:
        with pytest.raises(ERRORS[wanted["raises"]], match=wanted.get("match")):
            run(case, compat)
        return
    found = run(case, compat)
    if isinstance(found, ObjectiveConfig):
        dumped = found.model_dump(mode="json")
        assert {name: dumped[name] for name in wanted["returns"]} | {"metric_config": {}} == wanted["returns"] | {"metric_config": {}}
        assert dumped["metric_config"].items() >= wanted["returns"]["metric_config"].items()
        return
    assert found == wanted["returns"]
    if isinstance(found, ObjectiveScores):
        assert list(found) == list(wanted["returns"])
        if not compat:
            assert found.status == case.get("status", dict.fromkeys(found, "scored"))


def test_all_recorded_cases_are_here() -> None:
    assert [case["case"] for case in CASES] == list(range(1, 65))


# --- laws -------------------------------------------------------------------------------------------------------------

llm, other, metric = (st.sampled_from(["a.x", *own, *own, "a_f1", "template", "x:y"]) for own in ("abcde", "cfghi", "jklmn"))
inside = st.booleans() | st.integers(0, 5) | st.floats(0, 5)
strange = st.none() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
values = st.integers(0, 9).flatmap(lambda odds: strange if odds == 9 else inside)
shares = st.integers(0, 9).flatmap(lambda odds: strange if odds == 9 else st.floats(0, 1))
rubrics = st.fixed_dictionaries(
    {
        "rubric_evaluation_performed": st.sampled_from([True, True, True, False]),
        "llm_trait_scores": st.dictionaries(llm, values, max_size=4),
        "regex_trait_scores": st.dictionaries(other, values, max_size=2),
        "metric_trait_scores": st.dictionaries(metric, st.dictionaries(st.sampled_from([*METRICS, "support"]), shares), max_size=2),
    }
)
configs = st.builds(
    ObjectiveConfig,
    trait_mode=st.sampled_from(["all", "custom"]),
    selected_traits=st.lists(st.sampled_from(["a", "b", "c", "f", "g", "j", "k_recall"]), min_size=1),
    metric_config=st.fixed_dictionaries({"include_recall": st.booleans(), "use_directionality": st.booleans()}),
    normalization=st.sampled_from(["max", "minmax"]),
    missing=st.sampled_from(["skip", "skip", "zero", "raise"]),
    partial_credit=st.booleans(),
)
highest_ends, lowest_ends = (st.dictionaries(st.sampled_from("abcf"), ends, max_size=3) for ends in (st.integers(4, 9), st.integers(-2, 1)))


@given(
    template=st.none() | st.builds(SimpleNamespace, verify_result=st.none() | st.booleans(), verify_granular_result=shares),
    rubric=st.builds(lambda data: SimpleNamespace(**data), rubrics),
    category=st.sampled_from([None, "content", "timeout", "abstention", "parsing", "nonsense"]),
    config=configs,
    highest=highest_ends,
    lowest=lowest_ends,
    directions=st.dictionaries(st.sampled_from("abcfgjk"), st.none() | st.booleans()),
)
@settings(max_examples=300)
def test_a_value_is_in_0_to_1_or_it_is_missing(
    template: Any, rubric: Any, category: Any, config: ObjectiveConfig, highest: Any, lowest: Any, directions: Any
) -> None:
    metadata = SimpleNamespace(question_id="q", failure=SimpleNamespace(category=category))
    result: Any = SimpleNamespace(template=template, rubric=rubric, metadata=metadata)
    try:
        found = compute_objective_scores(result, "m", config, highest, directions, trait_min_scores=lowest)
    except ObjectiveError as error:
        assert "'q'" in str(error)
        return
    assert all(type(value) is float and 0 <= value <= 1 for value in found.values())  # NaN is not
    assert found.keys() <= found.status.keys()
    assert all(found.status[key] is not Status.EXCLUDED for key in found)
    for key, status in found.status.items():
        assert (status is Status.SCORED) <= (key in found)
        assert ObjectiveKey.parse(key).model == "m"
    assert [key for key in found.status if key in found] == list(found)


@st.composite
def ordinary(draw: st.DrawFn) -> dict[str, Any]:
    """What both read alike: traits of one kind each, inside of their scales."""
    pool = iter(draw(st.permutations([f"t{index}" for index in range(8)])))
    kinds = {
        "llm": st.booleans() | st.integers(1, 5) | st.none(),
        "regex": st.booleans(),
        "callable": st.booleans() | st.floats(0, 5),
        "metric": st.dictionaries(st.sampled_from(METRICS[:3]), st.floats(0, 1), min_size=1),
        "agentic": st.booleans() | st.integers(0, 5),
    }
    return {f"{kind}_trait_scores": {next(pool): draw(values) for _ in range(draw(st.integers(0, 1)))} for kind, values in kinds.items()}


@given(ordinary(), st.sampled_from([None, True, False]), st.dictionaries(st.sampled_from(["t0", "t1", "t2"]), st.none() | st.booleans()))
def test_ordinary_results_score_as_in_karenina(rubric: dict[str, Any], right: bool | None, directions: dict[str, bool | None]) -> None:
    result = verified({"verify_result": right}, rubric)
    highest = dict.fromkeys(["t0", "t3", "t5"], 5)
    here = compute_objective_scores(result, "m", ObjectiveConfig(), highest, directions)
    there = compute_objective_scores(result, "m", ObjectiveConfig(compat=True), highest, directions)
    assert list(here.items()) == list(there.items())


@given(st.permutations(["llm", "regex", "callable", "metric", "agentic"]))
def test_the_order_of_keys_is_that_of_the_kinds(given_order: list[str]) -> None:
    scores = {"llm": {"z": True, "y": 4}, "regex": {"x": True}, "callable": {"w": False}, "agentic": {"u": 2}}
    scores["metric"] = {"v": {"f1": 0.5, "recall": 0.4, "precision": 0.3}}
    rubric = {f"{kind}_trait_scores": scores[kind] for kind in given_order}
    config = ObjectiveConfig.model_validate({"metric_config": {"include_precision": True, "include_recall": True}})
    found = compute_objective_scores(verified({"verify_result": True}, rubric), "m", config)
    assert [key[2:] for key in found] == ["template", "z", "y", "x", "w", "v_precision", "v_recall", "v_f1", "u"]


# --- the mapping and its keys -----------------------------------------------------------------------------------------


def test_the_scores_are_a_dict_and_say_more() -> None:
    found = compute_objective_scores(verified({"verify_result": True}, {"llm_trait_scores": {"a": 4, "b": None}}), "m", ObjectiveConfig())
    assert found == {"m:template": 1.0, "m:a": 0.8}
    assert str(found) == "{'m:template': 1.0, 'm:a': 0.8}"
    assert json.loads(json.dumps(found)) == found
    assert {key: str(status) for key, status in found.status.items()} == {"m:template": "scored", "m:a": "scored", "m:b": "missing"}
    assert found.warnings == ("a: trait_max_scores does not name it; 5 is assumed", "b: the trait has no value")
    for other in (copy.copy(found), copy.deepcopy(found)):
        assert (other, other.status, other.warnings) == (found, found.status, found.warnings)


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(lambda text: text.strip() and ":" not in text))
def test_keys_are_read_from_the_right(model: str, dimension: str) -> None:
    try:
        key = ObjectiveKey(model, dimension)
    except ValueError as error:
        assert "surrogate" in str(error)
        return
    assert ObjectiveKey.parse(str(key)) == key


def test_a_display_string_is_a_model() -> None:
    key = ObjectiveKey.parse("langchain:claude-haiku-4-5 (claude-haiku):template")
    assert (key.model, key.dimension) == ("langchain:claude-haiku-4-5 (claude-haiku)", "template")


@pytest.mark.parametrize(
    ("model", "dimension", "told"),
    [("m", "a:b", "holds no colon"), ("m", " ", "not blank"), (" ", "a", "name a model"), (None, "a", "name a model")],
)
def test_what_cannot_be_a_key(model: Any, dimension: str, told: str) -> None:
    with pytest.raises(ScoreError, match=told):
        ObjectiveKey(model, dimension)


def test_a_text_without_a_colon_is_no_key() -> None:
    with pytest.raises(ScoreError, match="model:dimension"):
        ObjectiveKey.parse("template")


def test_a_trait_with_a_colon_is_refused_by_the_name_of_its_question() -> None:
    result = verified(rubric={"regex_trait_scores": {"has: unit": True}}, question_id="q7")
    with pytest.raises(ObjectiveError, match=r"question 'q7', 'has: unit' cannot name a dimension"):
        compute_objective_scores(result, "m", ObjectiveConfig())


# --- failures are no zeros --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", ["timeout", "connection", "rate_limit", "server_error", "parsing", "unexpected_error", "error"])
@pytest.mark.parametrize("right", [None, False])
def test_a_failed_call_is_no_wrong_answer(category: str, right: bool | None) -> None:
    result = verified({"verify_result": right}, failure={"category": category, "stage": "answer", "reason": "503"})
    config = ObjectiveConfig(trait_mode=TraitSelectionMode.CUSTOM, selected_traits=["a"], missing="zero")
    found = compute_objective_scores(result, "m", config)
    assert found == {}
    assert set(found.status.values()) == {Status.EXCLUDED}
    assert found.status.keys() == {"m:template", "m:a"}
    assert category in found.warnings[0]
    assert compute_objective_scores(result, "m", ObjectiveConfig(compat=True)) == {"m:template": 0.0}


@pytest.mark.parametrize(
    ("category", "status"),
    [
        *(("content", "scored"), ("recursion_limit", "scored"), ("abstention", "abstained"), ("sufficiency", "abstained")),
        *(("wrong", "scored"), ("parse_failure", "scored"), ("budget_stop", "scored"), ("hedged", "scored"), ("too_long", "scored")),
        *(("refusal", "abstained"), ("not_in_document", "abstained")),
    ],
)
def test_an_answer_that_failed_is_wrong(category: str, status: str) -> None:
    found = compute_objective_scores(verified({"verify_result": None}, failure={"category": category}), "m", ObjectiveConfig())
    assert (found, found.status) == ({"m:template": 0.0}, {"m:template": status})


def test_what_was_found_right_before_a_failure_is_right() -> None:
    result = verified({"verify_result": True}, failure={"category": "server_error"})
    assert compute_objective_scores(result, "m", ObjectiveConfig()) == {"m:template": 1.0}


def test_right_by_embeddings_only_is_told() -> None:
    found = compute_objective_scores(verified({"verify_result": True, "embedding_override_applied": True}), "m", ObjectiveConfig())
    assert found == {"m:template": 1.0}
    assert any("embeddings" in warning for warning in found.warnings)


def test_right_by_embeddings_only_can_be_worth_less() -> None:
    likely = verified({"verify_result": True, "embedding_override_applied": True})
    config = ObjectiveConfig(embedding_override=0.25)
    assert compute_objective_scores(likely, "m", config) == {"m:template": 0.25}
    assert compute_objective_scores(verified({"verify_result": True}), "m", config) == {"m:template": 1.0}
    for worth in (-0.1, 1.1, math.nan):
        with pytest.raises(ValidationError):
            ObjectiveConfig(embedding_override=worth)


@pytest.mark.parametrize(
    ("abstention", "sufficiency", "status"), [(True, None, "abstained"), (False, False, "abstained"), (None, True, "scored")]
)
def test_what_was_detected_of_an_answer_tells_why_it_is_worth_nothing(abstention: Any, sufficiency: Any, status: str) -> None:
    template = {"verify_result": False, "abstention_detected": abstention, "sufficiency_detected": sufficiency}
    found = compute_objective_scores(verified(template), "m", ObjectiveConfig())
    assert (found, found.status) == ({"m:template": 0.0}, {"m:template": status})


# --- what is not there ------------------------------------------------------------------------------------------------


def test_every_result_has_the_same_keys_when_missing_counts_as_0() -> None:
    """Otherwise the mean of `a` is over those results only that have it."""
    config = ObjectiveConfig(trait_mode=TraitSelectionMode.CUSTOM, selected_traits=["a", "b_f1"], missing="zero")
    whole = verified({"verify_result": True}, {"llm_trait_scores": {"a": 5}, "metric_trait_scores": {"b": {"f1": 0.5}}})
    assert compute_objective_scores(whole, "m", config) == {"m:template": 1.0, "m:a": 1.0, "m:b_f1": 0.5}
    bare = verified({"verify_result": False})
    found = compute_objective_scores(bare, "m", config)
    assert found == {"m:template": 0.0, "m:a": 0.0, "m:b_f1": 0.0}
    assert found.status == {"m:template": "scored", "m:a": "missing", "m:b_f1": "missing"}


def test_a_trait_with_a_scale_is_expected() -> None:
    found = scored({"regex_trait_scores": {"b": True}}, highest={"a": 5}, missing="zero")
    assert (found, found.status["m:a"]) == ({"m:b": 1.0, "m:a": 0.0}, Status.MISSING)


@pytest.mark.parametrize("value", [None, math.nan, -1])
def test_what_could_not_be_measured_is_a_0_or_an_error_where_that_is_asked(value: Any) -> None:
    rubric = {"llm_trait_scores": {"a": value, "b": True}}
    assert scored(rubric) == {"m:b": 1.0}
    assert list(scored(rubric, missing="zero").items()) == [("m:a", 0.0), ("m:b", 1.0)]
    with pytest.raises(ObjectiveError, match=r"'a': it is (missing|error), and the config says missing: raise"):
        scored(rubric, missing="raise")


def test_nobody_checked_is_an_error_where_nothing_may_be_missing() -> None:
    for template in (None, {"verify_result": None}):
        with pytest.raises(ObjectiveError, match="'template'"):
            compute_objective_scores(verified(template), "m", ObjectiveConfig(missing="raise"))


def test_a_trait_that_did_not_apply_is_no_0() -> None:
    rubric = {"regex_trait_scores": {"b": True}, "dynamic_rubric_skipped_traits": {"a": "no drug is named"}}
    found = scored(rubric, trait_mode="custom", selected_traits=["a", "b"], missing="zero")
    assert (found, found.status["m:a"]) == ({"m:b": 1.0}, Status.EXCLUDED)
    assert "a: the trait does not apply: no drug is named" in found.warnings


def test_a_rubric_that_is_not_read_is_told() -> None:
    found = compute_objective_scores(
        verified({"verify_result": True}, {"rubric_evaluation_performed": False, "agentic_trait_scores": {"a": True}}),
        "m",
        ObjectiveConfig(),
    )
    assert found.warnings == ("rubric: it says that it was not evaluated, so the scores in it are not read",)


# --- scales -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "share"), [(1, 0.0), (3, 0.5), (5, 1.0)])
def test_minmax_reaches_both_ends(value: int, share: float) -> None:
    rubric = {"llm_trait_scores": {"a": value}}
    assert scored(rubric, highest={"a": 5}, normalization="minmax") == {"m:a": share}
    assert scored(rubric, highest={"a": 5}, normalization="minmax", lower_is_better=["a"]) == {"m:a": 1 - share}


def test_minmax_takes_the_lower_end_that_is_given() -> None:
    rubric = {"callable_trait_scores": {"a": -3, "b": -1}}
    ends = {"highest": {"a": 3, "b": 3}, "lowest": {"a": -3, "b": -3}}
    found = scored(rubric, **ends, normalization="minmax")
    assert (found, found.warnings) == ({"m:a": 0.0, "m:b": pytest.approx(1 / 3)}, ())


def test_minmax_knows_that_classes_start_at_0() -> None:
    rubric = {"llm_trait_scores": {"a": 0, "b": 1}, "llm_trait_labels": {"a": "poor"}}
    found = scored(rubric, highest={"a": 2, "b": 5}, normalization="minmax")
    assert found == {"m:a": 0.0, "m:b": 0.0}
    assert found.warnings == ("a: trait_min_scores does not name it; 0 is assumed", "b: trait_min_scores does not name it; 1 is assumed")


@pytest.mark.parametrize(
    ("kind", "value", "ends", "told"),
    [
        ("llm", 80, {}, r"'a': it is 80, outside of its scale 0 to 5; that is assumed where trait_max_scores does not name a trait"),
        ("llm", 6, {"highest": {"a": 5}}, "correct trait_max_scores"),
        ("callable", -3, {}, "'a': it is -3"),
        ("callable", -1, {}, "'a': it is -1"),
        ("llm", -1, {"lowest": {"a": -3}}, "'a': it is -1"),
        ("llm", 2, {"highest": {"a": -2}}, "'a': its scale is 0 to -2"),
        ("llm", 2, {"highest": {"a": None}}, "'a': trait_max_scores has None for it"),
        ("llm", 2, {"lowest": {"b": math.nan}}, "'b': trait_min_scores has nan for it"),
    ],
)
def test_a_scale_that_does_not_fit_is_told(kind: str, value: Any, ends: Any, told: str) -> None:
    """A question's own trait of 0 to 100 was an objective of 16 once."""
    with pytest.raises(ObjectiveError, match=told):
        scored({f"{kind}_trait_scores": {"a": value}}, **ends)


def test_minmax_needs_a_scale_with_a_width() -> None:
    with pytest.raises(ObjectiveError, match="its scale is 2 to 2"):
        scored({"llm_trait_scores": {"a": 2}}, highest={"a": 2}, lowest={"a": 2}, normalization="minmax")


def test_numbers_that_are_no_measurements() -> None:
    found = scored({"llm_trait_scores": {"a": math.nan, "b": math.inf, "c": 10**400}, "metric_trait_scores": {"d": {"f1": None}}})
    assert found == {}
    assert [str(status) for status in found.status.values()] == ["error", "error", "error", "missing"]


def test_a_numeric_field_with_a_scale_is_scored() -> None:
    assert scored({"llm_trait_scores": {"a.n": 30}}, highest={"a.n": 60}) == {"m:a.n": 0.5}


# --- metrics ----------------------------------------------------------------------------------------------------------


def test_specificity_and_accuracy_can_be_included() -> None:
    included = {"include_f1": False, "include_specificity": True, "include_accuracy": True}
    found = scored({"metric_trait_scores": {"a": {"accuracy": 0.8, "specificity": 0.9}}}, metric_config=included)
    assert list(found.items()) == [("m:a_specificity", 0.9), ("m:a_accuracy", 0.8)]


def test_the_direction_of_a_metric_counts_where_that_is_asked() -> None:
    rubric = {"metric_trait_scores": {"a": {"f1": 0.75}}}
    assert scored(rubric, lower_is_better=["a"], metric_config={"use_directionality": True}) == {"m:a_f1": 0.25}
    found = scored(rubric, lower_is_better=["a"])
    assert found == {"m:a_f1": 0.75}
    assert "use_directionality" in found.warnings[0]


def test_a_metric_can_be_selected_by_its_name_alone() -> None:
    rubric = {"metric_trait_scores": {"a": {"precision": 0.5, "f1": 0.7}, "b": {"f1": 0.1}}}
    assert scored(rubric, trait_mode="custom", selected_traits=["a_precision"]) == {"m:a_precision": 0.5}
    both = scored(rubric, trait_mode="custom", selected_traits=["a_precision", "a"])
    assert list(both.items()) == [("m:a_precision", 0.5), ("m:a_f1", 0.7)]


def test_a_metric_trait_without_an_included_metric_is_told() -> None:
    found = scored({"regex_trait_scores": {"b": True}, "metric_trait_scores": {"a": {"f1": 0.9}}}, metric_config={"include_f1": False})
    assert (found, found.warnings) == ({"m:b": 1.0}, ("a: metric_config includes no metric of it",))


def test_a_metric_outside_0_to_1_is_refused_and_one_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ObjectiveError, match=r"'a_f1': it is 1\.2; metrics are in 0\.\.1"):
        scored({"metric_trait_scores": {"a": {"f1": 1.2}}})
    result: Any = SimpleNamespace(
        template=None, rubric=SimpleNamespace(rubric_evaluation_performed=True, metric_trait_scores={"a": {"f1": "0.9"}, "b": {"f1": True}})
    )
    found = compute_objective_scores(result, "m", ObjectiveConfig(include_template=False))
    assert (found, found.status["m:a_f1"]) == ({"m:b_f1": 1.0}, Status.ERROR)


def test_metrics_as_json_holds_them() -> None:
    result = VerificationResult.model_validate_json(
        '{"rubric": {"rubric_evaluation_performed": true, "metric_trait_scores": {"a": {"f1": null, "recall": 0.5}}}}'
    )
    found = compute_objective_scores(result, "m", ObjectiveConfig(include_template=False))
    assert (found, found.status, found.warnings) == ({}, {"m:a_f1": "missing"}, ("a_f1: it has no value; the trait has recall",))


# --- partial credit ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "credit"),
    [
        ({"verify_result": False, "verify_granular_result": 0.75}, 0.75),
        ({"verify_result": False, "field_scores": {"a": 1.0, "b": None, "c": 0.5, "d": 0.0}}, 0.375),
        ({"verify_result": False}, 0.0),
        ({"verify_result": False, "verify_granular_result": 1.0}, 0.0),
        ({"verify_result": True, "verify_granular_result": 0.5}, 1.0),
        ({"verify_result": None, "verify_granular_result": 0.5}, 0.0),
        ({"verify_result": False, "verify_granular_result": True}, 0.0),
    ],
)
def test_partial_credit(template: Any, credit: float) -> None:
    result = verified(template)
    assert compute_objective_scores(result, "m", ObjectiveConfig(partial_credit=True)) == {"m:template": credit}
    assert compute_objective_scores(result, "m", ObjectiveConfig()) == {"m:template": float(template["verify_result"] is True)}


def test_partial_credit_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ObjectiveError, match=r"'template': its partial credit: 2\.0 is not in 0\.\.1"):
        compute_objective_scores(
            verified({"verify_result": False, "verify_granular_result": 2.0}), "m", ObjectiveConfig(partial_credit=True)
        )


# --- the config -------------------------------------------------------------------------------------------------------


def test_the_modes_are_texts() -> None:
    assert [TraitSelectionMode(name) for name in ("all", "none", "custom")] == ["all", "none", "custom"]
    assert ObjectiveConfig() == ObjectiveConfig(trait_mode=TraitSelectionMode.ALL, selected_traits=None, include_template=True)
    assert ObjectiveConfig().metric_config.get_enabled_metrics() == ["f1"]


@pytest.mark.parametrize(("mode", "included"), [("all", [True, True]), ("custom", [True, False])])
def test_selection_is_by_the_very_name(mode: str, included: list[bool]) -> None:
    config = ObjectiveConfig.model_validate({"trait_mode": mode, "selected_traits": ["clarity"]})
    assert [config.should_include_trait(name) for name in ("clarity", "Clarity")] == included
    assert not ObjectiveConfig(trait_mode=TraitSelectionMode.NONE).should_include_trait("clarity")


@pytest.mark.parametrize(
    "new",
    [
        {"normalization": "minmax"},
        {"missing": "zero"},
        {"partial_credit": True},
        {"embedding_override": 0.5},
        {"metric_config": {"include_accuracy": True}},
        {"metric_config": {"use_directionality": True}},
    ],
)
def test_compat_has_none_of_what_is_new(new: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="compat computes what Karenina does, which has no"):
        ObjectiveConfig(**new, compat=True)


def test_the_manual_shows_what_happens() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text(encoding="utf-8")
    code = page.split("## Objectives of verified results")[1].split("```python\n")[1].split("```")[0]
    rubric = {"rubric_evaluation_performed": True, "llm_trait_scores": {"clarity": 4}}
    names: dict[str, Any] = {"text": json.dumps({"template": {"verify_result": True}, "rubric": rubric})}
    exec(code, names)
    scores = names["scores"]
    shown = [line.split("# ")[1].removesuffix(": a dict") for line in code.splitlines() if line.startswith("scores") and "# " in line]
    assert shown == [str(scores), str({key: str(status) for key, status in scores.status.items()}), str(scores.warnings)]


# --- results of other makes -------------------------------------------------------------------------------------------


class Category(str, Enum):  # noqa: UP042 - as Karenina writes it
    RATE_LIMIT = "rate_limit"
    NEW = "cosmic_rays"


@pytest.mark.parametrize("compat", [True, False])
def test_anything_with_the_attributes_scores(compat: bool) -> None:
    config = ObjectiveConfig(compat=compat)
    bare: Any = SimpleNamespace(template=SimpleNamespace(verify_result=True), rubric=None)
    assert compute_objective_scores(bare, "m", config) == {"m:template": 1.0}
    mock = MagicMock()
    mock.template.verify_result = False
    mock.rubric.get_all_trait_scores.return_value = {"a": 4, "b": True, "c": {"f1": 0.5}}
    assert compute_objective_scores(mock, "m", config) == {"m:template": 0.0, "m:a": 0.8, "m:b": 1.0, "m:c_f1": 0.5}
    split: Any = SimpleNamespace(template=None, rubric=SimpleNamespace(rubric_evaluation_performed=True, regex_trait_scores={"a": True}))
    assert compute_objective_scores(split, "m", config) == {"m:template": 0.0, "m:a": 1.0}


@pytest.mark.parametrize(("failure", "status"), [(SimpleNamespace(category=Category.RATE_LIMIT), "excluded"), (None, "scored")])
def test_failures_of_other_makes_are_understood(failure: Any, status: str) -> None:
    result: Any = SimpleNamespace(
        metadata=SimpleNamespace(failure=failure, question_id="q"), template=SimpleNamespace(verify_result=False), rubric=None
    )
    found = compute_objective_scores(result, "m", ObjectiveConfig(trait_mode=TraitSelectionMode.NONE))
    assert found.status == {"m:template": status}
    result.metadata.failure = SimpleNamespace(category=Category.NEW, group="system")
    found = compute_objective_scores(result, "m", ObjectiveConfig(trait_mode=TraitSelectionMode.NONE))
    assert found.warnings == ("template: the run failed (cosmic_rays); that is no wrong answer",)
