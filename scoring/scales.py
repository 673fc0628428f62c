"""Scales: what compute_objective_scores has to know of the traits that were measured, read from the rubrics that say so."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeVar

from scoring.objective import ObjectiveError
from scoring.result import KINDS
from scoring.rubric import Function, read_traits
from scoring.score import show
from scoring.traits import Classes, Grade, Trait

T = TypeVar("T")


def trait_max_scores(*rubrics: object) -> dict[str, float]:
    """Trait → the upper end of its scale, for traits with numbers on one: grades, classes (by their places, or their numbers) and
    functions.

    `rubrics`: those that one result was scored by, the benchmark's and its question's; None is none. Each is what the scorer `rubric` takes
    (the list of traits, or the mapping with `traits`), or a rubric of Karenina's, the object or its JSON.

    Raises ObjectiveError for what is no rubric and for a trait to which two rubrics give different scales, ScorerConfigError for a
    trait that cannot be."""
    return _of_all(rubrics, lambda scale: scale.high)


def trait_min_scores(*rubrics: object) -> dict[str, float]:
    """Trait → the lower end of its scale; otherwise as `trait_max_scores`."""
    return _of_all(rubrics, lambda scale: scale.low)


def trait_directionalities(*rubrics: object) -> dict[str, bool]:
    """Trait → False where lower is better, for all traits of which a direction is known; otherwise as `trait_max_scores`."""
    return _of_all(rubrics, lambda scale: scale.higher_is_better)


@dataclass(frozen=True)
class _Scale:
    """`low`, `high`: None for truth values, metrics and whatever else has no scale of its own."""

    name: str
    low: float | None = None
    high: float | None = None
    higher_is_better: bool | None = None


def _of_all(rubrics: Iterable[object], part: Callable[[_Scale], T | None]) -> dict[str, T]:
    found: dict[str, T] = {}
    for rubric in rubrics:
        for scale in () if rubric is None else _scales(rubric):
            value = part(scale)
            if value is None:
                continue
            if found.setdefault(scale.name, value) != value:
                raise ObjectiveError(
                    f"the trait {scale.name!r} has {found[scale.name]} in one rubric and {value} in another; give only the rubrics of one "
                    "question, or rename the trait in one of them"
                )
    return found


def _scales(rubric: object) -> Iterator[_Scale]:
    if isinstance(rubric, Mapping) and "traits" in rubric:
        rubric = rubric["traits"]
    if isinstance(rubric, list | tuple):
        yield from map(_own, read_traits(rubric))
        return
    lists = {kind: _get(rubric, f"{kind}_traits") for kind in KINDS}
    if not any(isinstance(traits, list | tuple) for traits in lists.values()):
        raise ObjectiveError(f"{show(rubric)} is no rubric; that is a list of traits, a mapping with `traits`, or one of Karenina's")
    for kind, traits in lists.items():
        for trait in traits or ():
            yield _karenina(trait, kind)


def _own(trait: Trait) -> _Scale:
    low: float | None = None
    high: float | None = None
    if isinstance(trait, Grade):
        low, high = trait.min, trait.max
    elif isinstance(trait, Classes):
        numbers = list(trait.classes.values()) if isinstance(trait.classes, Mapping) else range(len(trait.classes))
        low, high = min(numbers), max(numbers)
    elif isinstance(trait, Function):
        low, high = 0, 1
    return _Scale(trait.name, low, high, trait.higher_is_better)


def _karenina(trait: object, kind: str) -> _Scale:
    """Its own map leaves out functions that give classes."""
    name, direction = _get(trait, "name"), _get(trait, "higher_is_better")
    if not isinstance(name, str) or not isinstance(direction, bool | None):
        raise ObjectiveError(f"the {kind} trait {show(trait)} has no name, or a higher_is_better that is neither true, false nor null")
    how = _get(trait, "kind")
    if how == "literal":
        classes = _get(trait, "classes") or ()
        if not isinstance(classes, Mapping | list | tuple):
            raise ObjectiveError(f"the trait {name!r}: classes is {show(classes)}; it has to be a mapping or a list")
        return _Scale(name, 0, len(classes) - 1 if classes else _end(trait, "max_score"), direction)
    if how == "score":
        return _Scale(name, _end(trait, "min_score"), _end(trait, "max_score"), direction)
    return _Scale(name, higher_is_better=direction)


def _end(trait: object, side: str) -> float | None:
    value: object = _get(trait, side)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)):
        return value
    raise ObjectiveError(f"the trait {_get(trait, 'name')!r}: {side} is {show(value)}; it has to be a number")


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
