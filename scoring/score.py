"""Score: what one scorer says of one traced answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Score:
    """`values`: dimension → 0..1; a dimension that could not be measured is left out, it is never 0 for that reason.
    `correct`: None where nothing was said about correctness. `failure_kind` says how it is wrong, `outcome` what was
    answered in a comparable form, `feedback` what a person (or a reflection model) should know."""

    values: Mapping[str, float]
    correct: bool | None = None
    failure_kind: str | None = None
    outcome: str | None = None
    feedback: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
