"""Which dimensions of a verified result become objectives, and how."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from scoring.items import METRICS

DEFAULT_MIN, DEFAULT_MAX = 1, 5
"""The scale of a score trait of which nothing else is known."""


class TraitSelectionMode(StrEnum):
    ALL = "all"
    NONE = "none"
    CUSTOM = "custom"


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class MetricObjectiveConfig(_Config):
    """A metric trait becomes one objective for each metric that is included here, called `trait_metric`."""

    include_precision: bool = False
    include_recall: bool = False
    include_f1: bool = True
    include_specificity: bool = False
    include_accuracy: bool = False
    use_directionality: bool = False
    """Whether a metric trait whose directionality is False counts as 1 − value. Otherwise metrics are better when higher."""

    def get_enabled_metrics(self) -> list[str]:
        """In the order of METRICS."""
        return [metric for metric in METRICS if getattr(self, f"include_{metric}")]


class ObjectiveConfig(_Config):
    include_template: bool = True
    """Whether correctness is an objective, called `template`."""
    trait_mode: TraitSelectionMode = TraitSelectionMode.ALL
    selected_traits: list[str] | None = None
    """For CUSTOM: names of traits, of fields (`trait.field`) and of metrics (`trait_metric`). They also say what to expect: what
    is not there is reported as missing."""
    metric_config: MetricObjectiveConfig = Field(default_factory=MetricObjectiveConfig)
    normalization: Literal["max", "minmax"] = "max"
    """`max`: value / max, so the worst of 1..5 is 0.2. `minmax`: (value − min) / (max − min), so it is 0."""
    partial_credit: bool = False
    """Whether a wrong answer gets the share of its fields that are right, instead of 0."""
    embedding_override: float = Field(default=1.0, ge=0, le=1)
    """What an answer is worth whose fields are wrong, and which only the likeness of its embedding made right, 0..1."""
    missing: Literal["skip", "zero", "raise"] = "skip"
    """What becomes of dimensions that are missing or could not be measured: left out, counted as 0, or an error. What failed
    for reasons outside the answer is left out in any case."""
    compat: bool = False
    """Whether to compute just what Karenina does, its mistakes included; docs/scoring.md lists them."""

    def should_include_trait(self, trait_name: str) -> bool:
        """Whether this very name is selected."""
        if self.trait_mode is TraitSelectionMode.CUSTOM:
            return trait_name in (self.selected_traits or ())
        return self.trait_mode is TraitSelectionMode.ALL

    @model_validator(mode="after")
    def _selects_something(self) -> "ObjectiveConfig":
        if self.trait_mode is TraitSelectionMode.CUSTOM and not self.selected_traits:
            raise ValueError("trait_mode is custom, but selected_traits names no trait")
        if self.trait_mode is TraitSelectionMode.NONE and not self.include_template:
            raise ValueError("nothing is left to score: include the template, or set trait_mode to all or custom")
        return self

    @model_validator(mode="after")
    def _compat_stands_alone(self) -> "ObjectiveConfig":
        metrics = self.metric_config
        new = {name: getattr(self, name) for name in ("normalization", "partial_credit", "missing")}
        new |= {name: getattr(metrics, name) for name in ("include_specificity", "include_accuracy", "use_directionality")}
        chosen = [name for name, value in new.items() if value not in ("max", "skip", False)]
        chosen += ["embedding_override"] if self.embedding_override != 1 else []
        if self.compat and chosen:
            raise ValueError(f"compat computes what Karenina does, which has no {', '.join(chosen)}; leave out one or the other")
        return self
