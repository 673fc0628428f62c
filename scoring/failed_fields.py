"""What is wrong with an answer that was verified."""

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.compare import same
from scoring.result import Verified, failure_of


def extract_failed_fields(result: Verified) -> list[str]:
    """The fields whose own check said no, in their order, also of an answer that passed as a whole. As in Karenina, fields for
    which no value was found are not among them; see explain_failure."""
    return [name for name, verdict in _field_results(result).items() if _says_no(verdict)]


def explain_failure(result: Verified) -> list[str]:
    """What is wrong, one thing in a line: why the run failed, fields that are wrong or were not found, patterns that did not match,
    errors of the verification. Where there are no verdicts on fields, those that differ from the expected ones. Empty for an
    answer that passed, and where nobody checked and nothing failed."""
    template = result.template
    if getattr(template, "verify_result", None):
        return []
    lines = [*_failure(result), *_detected(template), *_fields(result)]
    patterns = getattr(template, "regex_validation_results", None) or {}
    lines += [f"{name}: the pattern does not match" for name, matches in patterns.items() if not matches]
    broken = getattr(template, "field_verification_error", None)
    return [*lines, f"the verification broke: {broken}"] if broken else lines


def _failure(result: Verified) -> Iterator[str]:
    failure = failure_of(result)
    if failure is not None:
        yield f"failed ({failure.category}): {failure.reason}" if failure.reason else f"failed ({failure.category})"


def _detected(template: object) -> Iterator[str]:
    if getattr(template, "abstention_detected", None) is True:
        yield "the model declined to answer"
    if getattr(template, "sufficiency_detected", None) is False:
        yield "the answer says too little"


def _fields(result: Verified) -> Iterator[str]:
    verdicts = _field_results(result)
    for name, verdict in verdicts.items():
        if verdict is None:
            yield f"{name}: no value was found in the answer"
        elif _says_no(verdict):
            yield f"{name}: wrong"
    expected = getattr(result.template, "parsed_gt_response", None) or {}
    got = getattr(result.template, "parsed_llm_response", None) or {}
    for name in () if verdicts or not got else expected:
        if not same(expected[name], got.get(name)):
            yield f"{name}: not the expected value"


def _field_results(result: Verified) -> Mapping[str, Any]:
    return getattr(result.template, "field_results", None) or {}


def _says_no(verdict: object) -> bool:
    return verdict is False or (isinstance(verdict, dict) and not verdict.get("passed", True))
