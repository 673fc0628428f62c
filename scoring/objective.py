"""Objectives of one result: their keys, their values, and how each came about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scoring.score import ScoreError, check_dimension, show


class ObjectiveError(ScoreError):
    """What cannot be turned into objectives, or reduced to fewer, as asked. Names the dimension, and the question where it is known."""


class Status(StrEnum):
    """How a dimension came by its value, or why it has none."""

    SCORED = "scored"
    NOT_VERIFIED = "not_verified"
    """Nobody checked the answer; it counts as 0."""
    ABSTAINED = "abstained"
    """The model declined to answer, or said too little; that counts as 0."""
    MISSING = "missing"
    """Expected, but not there. A missing template counts as 0; anything else as ObjectiveConfig.missing says."""
    ERROR = "error"
    """Measured, but the measurement failed: an invalid class, NaN. Counts as ObjectiveConfig.missing says."""
    EXCLUDED = "excluded"
    """Never counted: the call failed, the trait did not apply, or the value is nothing that can be put on a scale."""


@dataclass(frozen=True)
class ObjectiveKey:
    """One model and one dimension, written `model:dimension`. Models may hold colons, dimensions may not.

    Raises ScoreError for a blank model, and for what cannot name a dimension."""

    model: str
    dimension: str

    def __post_init__(self) -> None:
        _check_model(self.model)
        check_dimension(self.dimension)

    def __str__(self) -> str:
        return f"{self.model}:{self.dimension}"

    @classmethod
    def parse(cls, text: str) -> "ObjectiveKey":
        """Back from the written form. Raises ScoreError for any other text."""
        model, colon, dimension = text.rpartition(":")
        if not colon:
            raise ScoreError(f"{show(text)} is no objective; those are written model:dimension")
        return cls(model, dimension)


class ObjectiveScores(dict[str, float]):
    """`model:dimension` → 0..1, higher is better. Under the same keys `status` says of every dimension, also of those without a
    value, how it came about. `warnings`: what a person should look at, the dimension first."""

    def __init__(self, values: Mapping[str, float], status: Mapping[str, Status], warnings: Sequence[str] = ()) -> None:
        super().__init__(values)
        self.status = dict(status)
        self.warnings = tuple(warnings)


class ObjectiveSheet:
    """The form on which the objectives of one result are filled in. `missing`: see ObjectiveConfig; `where`: begins messages."""

    def __init__(self, model: str, missing: str, where: str) -> None:
        """Raises ObjectiveError for a blank model."""
        _check_model(model)
        self._model, self._missing, self._where = model, missing, where
        self._values: dict[str, float] = {}
        self._status: dict[str, Status] = {}
        self._warnings: list[str] = []

    def enter(self, dimension: str, value: float, status: Status = Status.SCORED) -> None:
        """`value` in 0..1. Raises ObjectiveError for a second value of one dimension, and for what cannot name one."""
        self._values[self._note(dimension, status)] = value

    def leave(self, dimension: str, status: Status, why: str) -> None:
        """No value was measured. Raises ObjectiveError where none may be missing, and as `enter` does."""
        key = self._note(dimension, status)
        self.warn(dimension, why)
        if status is not Status.EXCLUDED and self._missing == "zero":
            self._values[key] = 0.0

    def warn(self, dimension: str, text: str) -> None:
        self._warnings.append(f"{dimension}: {text}")

    def error(self, dimension: str, problem: str) -> ObjectiveError:
        return ObjectiveError(f"{self._where}the dimension {dimension!r}: {problem}")

    @property
    def empty(self) -> bool:
        """Whether no dimension has been entered or left."""
        return not self._status

    def scores(self) -> ObjectiveScores:
        return ObjectiveScores(self._values, self._status, self._warnings)

    def _note(self, dimension: str, status: Status) -> str:
        try:
            key = str(ObjectiveKey(self._model, dimension))
        except ScoreError as error:
            raise ObjectiveError(f"{self._where}{error}") from None
        if key in self._status:
            raise self.error(dimension, "two things are called that; rename one of them, or select only one")
        if self._missing == "raise" and status in (Status.MISSING, Status.ERROR, Status.NOT_VERIFIED):
            raise self.error(dimension, f"it is {status}, and the config says missing: raise")
        self._status[key] = status
        return key


def _check_model(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise ObjectiveError(f"{show(name)} cannot name a model; that takes text that is not blank")
