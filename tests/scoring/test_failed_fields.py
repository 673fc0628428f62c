"""What is wrong with a verified answer. The recorded cases of extract_failed_fields are in test_objectives.py."""

from types import SimpleNamespace
from typing import Any

import pytest

from scoring import VerificationResult, explain_failure, extract_failed_fields


def verified(failure: Any = None, **template: Any) -> VerificationResult:
    return VerificationResult.model_validate({"metadata": {"failure": failure}, "template": template or None})


def test_everything_that_is_wrong_is_told() -> None:
    result = verified(
        failure={"category": "content", "reason": "not as expected"},
        verify_result=False,
        field_results={"year": False, "month": None, "day": True},
        regex_validation_results={"has_unit": False, "has_sign": True},
        field_verification_error="KeyError: 'x'",
    )
    assert explain_failure(result) == [
        "failed (content): not as expected",
        "year: wrong",
        "month: no value was found in the answer",
        "has_unit: the pattern does not match",
        "the verification broke: KeyError: 'x'",
    ]
    assert extract_failed_fields(result) == ["year"]


def test_declining_and_saying_too_little_are_told_and_enough_is_no_fault() -> None:
    told = ["the model declined to answer", "the answer says too little"]
    assert explain_failure(verified(verify_result=False, abstention_detected=True, sufficiency_detected=False)) == told
    assert explain_failure(verified(verify_result=False, abstention_detected=False, sufficiency_detected=True)) == []
    assert explain_failure(verified(verify_result=True, sufficiency_detected=True)) == []


def test_without_verdicts_on_fields_the_values_are_compared() -> None:
    values = {"parsed_gt_response": {"a": 1, "b": "x", "c": [1]}, "parsed_llm_response": {"a": 1.0, "b": "y"}}
    assert explain_failure(verified(verify_result=False, **values)) == ["b: not the expected value", "c: not the expected value"]
    assert explain_failure(verified(verify_result=False, field_results={"a": False}, **values)) == ["a: wrong"]
    assert explain_failure(verified(verify_result=False, parsed_gt_response={"a": 1})) == []


def test_nothing_is_wrong_with_an_answer_that_passed() -> None:
    """Such as one whose fields are alternatives."""
    result = verified(verify_result=True, field_results={"a": True, "b": False})
    assert explain_failure(result) == []
    assert extract_failed_fields(result) == ["b"]


def test_a_run_that_failed_has_no_template() -> None:
    assert explain_failure(verified(failure={"category": "timeout"})) == ["failed (timeout)"]
    assert explain_failure(verified()) == []


@pytest.mark.parametrize("template", [None, SimpleNamespace(), SimpleNamespace(field_results=None)])
def test_results_of_other_makes(template: Any) -> None:
    result: Any = SimpleNamespace(template=template, rubric=None)
    assert extract_failed_fields(result) == []
    assert explain_failure(result) == []
