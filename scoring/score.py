"""Score: what one scorer says of one traced answer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from numbers import Real
from typing import Any

from adapters.plain import plain

ROUNDING = 1e-9
"""How far a value may lie outside 0..1 by rounding alone; it is then moved onto the end."""


class ScoreError(ValueError):
    """What cannot be a score, or a part of one."""


@dataclass(frozen=True)
class Score:
    """`values`: dimension → 0..1; a dimension that could not be measured is left out, it is never 0 for that reason.
    `correct`: None where nothing was said about correctness. `failure_kind` says how it is wrong, `outcome` what was
    answered in a comparable form, `feedback` what a person (or a reflection model) should know. `details`: of what JSON
    can hold. `discreet`: the feedback without what it tells of the expected answer; None where it tells nothing of it.

    Raises ValueError: ScoreError for a value outside 0..1, for NaN, for a dimension that is blank or holds a colon, and
    NotPlainError for what the journal could not hold."""

    values: Mapping[str, float]
    correct: bool | None = None
    failure_kind: str | None = None
    outcome: str | None = None
    feedback: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    discreet: str | None = None

    def __post_init__(self) -> None:
        for name in ("values", "details"):
            if not isinstance(getattr(self, name), Mapping):
                raise ScoreError(f"{name} is {show(getattr(self, name))}; it has to be a mapping")
        if self.correct is not None and not isinstance(self.correct, bool):
            raise ScoreError(f"correct is {show(self.correct)}; it has to be True, False or None")
        for name in ("failure_kind", "outcome", "feedback", "discreet"):
            if not isinstance(getattr(self, name), str if name == "feedback" else str | None):
                raise ScoreError(f"{name} is {show(getattr(self, name))}; it has to be text")
            plain(getattr(self, name), name)
        for name in self.values:
            check_dimension(name)
        object.__setattr__(self, "values", {name: unit_value(value) for name, value in self.values.items()})
        object.__setattr__(self, "details", plain(self.details, "details"))


def merge(parts: Sequence[tuple[str, Score]]) -> Score:
    """One score out of several named ones with dimensions of their own: correct where all are that say anything, with the
    failure kind and the outcome of the first that has one. Feedback and details are labelled where there are several parts, details
    of one name with numbers: `rubric`, `rubric 2`."""

    def told(feedback: Iterable[str]) -> str:
        named = zip((name for name, _ in parts), feedback, strict=True)
        return "\n".join(f"{name}: {text}" if several else text for name, text in named if text)

    scores = [score for _, score in parts]
    said = [score.correct for score in scores if score.correct is not None]
    several = len(parts) > 1
    details: dict[str, Any] = {}
    for name, score in parts:
        if score.details:
            details[unused(name, details)] = score.details
    return Score(
        {dimension: value for score in scores for dimension, value in score.values.items()},
        all(said) if said else None,
        next((score.failure_kind for score in scores if score.failure_kind), None),
        next((score.outcome for score in scores if score.outcome is not None), None),
        told(score.feedback for score in scores),
        details if several else next(iter(details.values()), {}),
        None if all(score.discreet is None for score in scores) else told(discreet(score) for score in scores),
    )


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken: `rubric 2`."""
    return next(each for number in count(1) if (each := name if number == 1 else f"{name} {number}") not in taken)


def discreet(score: Score) -> str:
    """What of the feedback may be told where the expected answer may not."""
    return score.feedback if score.discreet is None else score.discreet


def check_dimension(name: object) -> None:
    """Raises ScoreError for what cannot name a dimension: objectives are keyed `model:dimension`."""
    if not isinstance(name, str) or not name.strip() or ":" in name:
        raise ScoreError(f"{show(name)} cannot name a dimension; that takes text that is not blank and holds no colon")
    plain(name, "dimension")


def unit_value(value: object) -> float:
    """The value as a plain float in 0..1. Raises ScoreError for anything else; True is 1 and False is 0."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # numpy's scalars hide plain numbers
    if not isinstance(value, Real):
        raise ScoreError(f"{show(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not -ROUNDING <= number <= 1 + ROUNDING:  # so is NaN
        raise ScoreError(f"{show(value)} is not in 0..1")
    return min(max(number, 0.0), 1.0)


def show(value: object, limit: int = 200) -> str:
    """The value as Python writes it, cut in the middle when it is longer than `limit` characters."""
    return shorten(repr(value), limit)


def shorten(text: str, limit: int) -> str:
    """The text, cut in the middle when it is longer than `limit` characters."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]} … {text[-half:]}"
