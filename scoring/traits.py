"""Traits: what a rubric measures. Those that a judge tells with one value stand here: yes or no, a grade, a class."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from adapters.digest import Json
from adapters.example import Example
from scoring.score import check_dimension, show
from scoring.scorer import TEMPLATE

WIDEST = 100
"""Steps of a grade's scale."""
FARTHEST = 1_000_000_000
"""How far from 0 a scale's numbers may lie."""


class TraitError(ValueError):
    """A trait that cannot be, an example that it cannot be measured on, or something said that is not on its scale."""


@dataclass(frozen=True)
class Reading:
    """What one judge said of one trait: dimension → 0..1, the same in words, and why. A dimension without a value is left out."""

    values: Mapping[str, float]
    said: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Trait:
    """`description`: what is measured, in words. `higher_is_better`: False turns the values round."""

    name: str
    description: str = ""
    higher_is_better: bool = True

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        """Raises TraitError."""
        try:
            check_dimension(self.name)
        except ValueError as error:
            raise TraitError(f"name: {error}") from None
        if self.name == TEMPLATE:
            raise TraitError(f"name: {TEMPLATE!r} is the dimension of correctness; call the trait otherwise")
        check_type(self, "description", str, "text")
        check_type(self, "higher_is_better", bool, "true or false")

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (self.name,)


class Judged(Trait, ABC):
    """A trait that a judge tells."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.description.strip():
            raise TraitError("there is no description; it tells the judge what to judge")

    @property
    @abstractmethod
    def answers(self) -> Mapping[str, Json]:
        """What the judge is to say: name → JSON schema."""

    @property
    @abstractmethod
    def question(self) -> str:
        """How the judge is to say it."""

    def material(self, _example: Example, /) -> str:
        """What the judge has to know of the example for this trait. Raises TraitError where the example lacks it."""
        return ""

    @abstractmethod
    def read(self, said: Mapping[str, Any], example: Example, /) -> Reading:
        """Raises TraitError for what is not on the trait's scale."""


@dataclass(frozen=True, kw_only=True)
class YesNo(Judged):
    kind: ClassVar[str] = "boolean"

    @property
    def answers(self) -> Mapping[str, Json]:
        return {"value": {"type": "boolean"}}

    @property
    def question(self) -> str:
        return "value: true where this holds of the answer, otherwise false"

    def read(self, said: Mapping[str, Any], _example: Example, /) -> Reading:
        value = said.get("value")
        if not isinstance(value, bool):
            raise TraitError(f"the judge said {show(value)}, which is not true or false")
        return Reading({self.name: float(value)}, "yes" if value else "no")


@dataclass(frozen=True, kw_only=True)
class Grade(Judged):
    """A whole number from `min` to `max`."""

    min: int = 1
    max: int = 5

    kind: ClassVar[str] = "score"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_type(self, "min", int, "a whole number")
        check_type(self, "max", int, "a whole number")
        if max(abs(self.min), abs(self.max)) > FARTHEST:
            raise TraitError(f"its scale is {show(self.min)} to {show(self.max)}; both have to lie within {FARTHEST} of 0")
        if not 1 <= self.max - self.min <= WIDEST:
            raise TraitError(f"its scale is {self.min} to {self.max}; max has to be 1 to {WIDEST} more than min")

    @property
    def answers(self) -> Mapping[str, Json]:
        # Not minimum and maximum: more providers enforce an enumeration.
        return {"value": {"type": "integer", "enum": list(range(self.min, self.max + 1))}}

    @property
    def question(self) -> str:
        return f"value: a whole number from {self.min} (least) to {self.max} (most)"

    def read(self, said: Mapping[str, Any], _example: Example, /) -> Reading:
        value = said.get("value")
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(self.min, self.max + 1):
            raise TraitError(f"the judge said {show(value)}, which is not a whole number from {self.min} to {self.max}")
        return Reading({self.name: (value - self.min) / (self.max - self.min)}, f"{value:g} on a scale of {self.min} to {self.max}")


@dataclass(frozen=True, kw_only=True)
class Classes(Judged):
    """One of `classes`: texts from worst to best, or text → number, which is then placed between the least and the greatest."""

    classes: list[str] | Mapping[str, float]

    kind: ClassVar[str] = "literal"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_classes(self.classes)

    @cached_property
    def places(self) -> Mapping[str, float]:
        """Class → 0..1."""
        values = self.classes if isinstance(self.classes, Mapping) else {label: float(i) for i, label in enumerate(self.classes)}
        least, most = min(values.values()), max(values.values())
        return {label: (value - least) / (most - least) for label, value in values.items()}

    @property
    def answers(self) -> Mapping[str, Json]:
        return {"value": {"type": "string", "enum": list(self.classes)}}

    @property
    def question(self) -> str:
        return "value: the one that fits best of the classes " + ", ".join(f'"{label}"' for label in self.classes)

    def read(self, said: Mapping[str, Any], _example: Example, /) -> Reading:
        value = said.get("value")
        label = value.strip() if isinstance(value, str) else value
        if not isinstance(label, str) or label not in self.places:
            raise TraitError(f"the judge said {show(value)}, which is none of the classes")
        return Reading({self.name: self.places[label]}, repr(label))


def _check_classes(classes: object) -> None:
    if not isinstance(classes, list | Mapping) or not 2 <= len(classes) <= WIDEST:
        raise TraitError(f"classes is {show(classes)}; it has to be a list of 2 to {WIDEST} texts, or a mapping text → number")
    for label in classes:
        if not isinstance(label, str) or not label or label != label.strip():
            raise TraitError(f"classes: {show(label)} is not text without white space around it; put it in quotes")
    if len(set(classes)) < len(classes):
        raise TraitError("classes: one is given twice")
    if isinstance(classes, Mapping):
        numbers = [*classes.values()]
        if not all(type(number) in (int, float) and abs(number) <= FARTHEST for number in numbers) or min(numbers) == max(numbers):
            raise TraitError(f"classes: {show(numbers)} have to be numbers within {FARTHEST} of 0, not all of them the same")


def check_type(trait: Trait, name: str, kind: type, what: str) -> None:
    """Raises TraitError where the trait's setting is of another type; True is no number."""
    value = getattr(trait, name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TraitError(f"{name} is {show(value)}; it has to be {what}")
