"""Verification results: the part of Karenina's records that scoring reads.

Karenina's JSON loads with `VerificationResult.model_validate_json`; what is not read here is ignored. The functions that take
a result look at attributes only, so Karenina's own objects, or anything shaped alike, do as well.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adapters.nearest import nearest

KINDS = ("llm", "regex", "callable", "metric", "agentic")
"""Kinds of traits, in the order in which their scores are read."""

FAILURE_GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "content": "content",
        "recursion_limit": "autofail",
        "trace_validation": "autofail",
        "deep_judgment": "autofail",
        "deep_judgment_rubric": "autofail",
        "timeout": "retry",
        "connection": "retry",
        "rate_limit": "retry",
        "server_error": "retry",
        "abstention": "abstained",
        "sufficiency": "abstained",
        "template_validation": "system",
        "parsing": "system",
        "unexpected_error": "system",
        # What the scorers of answers say, see scoring.answer:
        "wrong": "content",
        "hedged": "content",
        "too_long": "content",
        "parse_failure": "content",
        "budget_stop": "autofail",
        "refusal": "abstained",
        "not_in_document": "abstained",
        "error": "system",
    }
)
"""Failure category, or kind of failure → its group. `retry` and `system` are not the answer's doing; `autofail` is."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Failure(_Record):
    """Why a result is no pass. `category`: a key of FAILURE_GROUPS, or any other that comes with its group; `stage`: the step of
    the verification that it came from."""

    category: str
    stage: str = ""
    reason: str = ""
    group: str = ""

    @model_validator(mode="after")
    def _grouped(self) -> "Failure":
        group = FAILURE_GROUPS.get(self.category, self.group)
        if group not in FAILURE_GROUPS.values():
            raise ValueError(f"there is no failure category {self.category!r}{nearest(self.category, FAILURE_GROUPS)}")
        object.__setattr__(self, "group", group)
        return self


class ModelIdentity(_Record):
    """`config_id`: what the user calls this configuration of the model."""

    interface: str
    model_name: str
    tools: tuple[str, ...] = ()
    config_id: str | None = None

    @property
    def display_string(self) -> str:
        """`interface:model_name`, then ` (config_id)` where that is another name, then ` +[tools]`. It holds colons."""
        other = f" ({self.config_id})" if self.config_id and self.config_id != self.model_name else ""
        tools = f" +[{', '.join(self.tools)}]" if self.tools else ""
        return f"{self.interface}:{self.model_name}{other}{tools}"


class VerificationResultMetadata(_Record):
    """`answering_model`: the display string of `answering` where that is given; empty where nobody knows. `execution_time`: in
    seconds. `replicate`: 1, 2, 3 … for a question that was asked several times."""

    question_id: str = ""
    question_text: str = ""
    raw_answer: str | None = None
    keywords: list[str] | None = None
    answering: ModelIdentity | None = None
    answering_model: str = ""
    failure: Failure | None = None
    caveats: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    execution_time: float | None = None
    timestamp: str = ""
    result_id: str = ""
    run_name: str | None = None
    replicate: int | None = None
    evaluation_mode: str | None = None

    @model_validator(mode="after")
    def _named(self) -> "VerificationResultMetadata":
        if self.answering is not None:
            object.__setattr__(self, "answering_model", self.answering.display_string)
        return self


class VerificationResultTemplate(_Record):
    """Whether the answer is right. `verify_result`: None where nobody checked. `field_results`: field → right; None where no
    value was found in the answer. `field_scores`: field → 0..1. `sufficiency_detected`: True says that the answer sufficed."""

    raw_llm_response: str = ""
    parsed_gt_response: dict[str, Any] | None = None
    parsed_llm_response: dict[str, Any] | None = None
    template_verification_performed: bool = False
    verify_result: bool | None = None
    verify_granular_result: Any = None
    field_verification_error: str | None = None
    field_results: dict[str, Any] | None = None
    field_scores: dict[str, float | None] | None = None
    composition_strategy: str | None = None
    embedding_similarity_score: float | None = None
    embedding_override_applied: bool = False
    regex_validation_results: dict[str, bool] | None = None
    regex_overall_success: bool | None = None
    recursion_limit_reached: bool = False
    response_timeout_partial: bool = False
    abstention_detected: bool | None = None
    abstention_override_applied: bool = False
    sufficiency_detected: bool | None = None
    sufficiency_override_applied: bool = False
    usage_metadata: dict[str, Any] | None = None


class VerificationResultRubric(_Record):
    """Scores by trait. A literal trait's score is the index of its class, and −1 where the judge named none of them; its label
    is in `llm_trait_labels`. Fields of a template trait are named `trait.field`. `dynamic_rubric_skipped_traits`: trait → why
    it does not apply."""

    rubric_evaluation_performed: bool = False
    llm_trait_scores: dict[str, Any] | None = None
    llm_trait_labels: dict[str, str] | None = None
    regex_trait_scores: dict[str, bool | None] | None = None
    callable_trait_scores: dict[str, bool | int | float | None] | None = None
    metric_trait_scores: dict[str, dict[str, float | None]] | None = None
    agentic_trait_scores: dict[str, Any] | None = None
    dynamic_rubric_skipped_traits: dict[str, str] | None = None

    def get_all_trait_scores(self) -> dict[str, Any]:
        """All kinds in one; of two traits with one name, the later kind's."""
        return {name: value for kind in KINDS for name, value in scores_of(self, kind).items()}


class VerificationResult(_Record):
    """One question, answered by one model and verified. `template` and `rubric` are None where that part did not take place."""

    metadata: VerificationResultMetadata = Field(default_factory=VerificationResultMetadata)
    template: VerificationResultTemplate | None = None
    rubric: VerificationResultRubric | None = None


class Verified(Protocol):
    """What the functions ask of a result: attributes as VerificationResult has them; absent ones count as not known."""

    @property
    def template(self) -> Any: ...

    @property
    def rubric(self) -> Any: ...


def scores_of(rubric: Any, kind: str) -> Mapping[str, Any]:
    """The scores of one kind of trait."""
    scores = getattr(rubric, f"{kind}_trait_scores", None)
    return scores if isinstance(scores, Mapping) else {}


def all_scores_of(rubric: Any) -> Mapping[str, Any]:
    """As the rubric itself puts them together, if it can."""
    together = getattr(rubric, "get_all_trait_scores", None)
    scores: Mapping[str, Any] = (together or partial(VerificationResultRubric.get_all_trait_scores, rubric))()
    return scores


def failure_of(result: Verified) -> Failure | None:
    """None where it has no failure, or one that nobody knows."""
    failure = getattr(getattr(result, "metadata", None), "failure", None)
    category, group = _plain(getattr(failure, "category", None)), _plain(getattr(failure, "group", None))
    group = FAILURE_GROUPS.get(category, group)
    if group not in FAILURE_GROUPS.values():
        return None
    return Failure(category=category, group=group, reason=getattr(failure, "reason", None) or "")


def abstained(template: Any) -> bool:
    """Whether the model was seen to decline, or to say too little. (Of sufficiency, True is the good news; None says nothing.)"""
    return getattr(template, "abstention_detected", None) is True or getattr(template, "sufficiency_detected", None) is False


def _plain(name: Any) -> Any:
    """Out of an enumeration."""
    return getattr(name, "value", name)
