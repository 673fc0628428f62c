"""What is wanted: which objectives count, how much, which way is better, what has to be reached, and who is the best.

Inside the search every value is oriented: 0..1, higher is better, also where a dimension is to be small. People read raw values, as
the scorers gave them; `raw` turns one into the other.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from optimizer.config import DimensionConfig, ObjectivesConfig
from optimizer.frontier import frontier

Array = NDArray[np.float64]

ALL_ALIKE = ObjectivesConfig()
DIGITS = 9
ROUNDING = 10.0**-DIGITS
"""Differences up to this size come from adding floats in another order, and are none."""


def steady(values: Array) -> Array:
    """Without differences that are none, so that of equals the first is chosen on every machine, however many threads add there."""
    rounded: Array = np.round(values, DIGITS)
    return rounded


@dataclass(frozen=True, eq=False)
class Objectives:
    """The objectives of a run, `model:dimension`, model by model. Levels are arrays with one value for each of them."""

    models: Sequence[str]
    dimensions: Sequence[str]
    config: ObjectivesConfig = ALL_ALIKE
    base: Array | None = None
    """The seed's levels, from which floors are measured; None: they are not known, and floors ask for nothing."""

    @classmethod
    def wanted(
        cls, models: Sequence[str], config: ObjectivesConfig, given: Sequence[str] | None, emitted: Iterable[str] = ()
    ) -> "Objectives":
        """Of the dimensions that the config names; or else of those `given`, which the scorers declare; or else (None) of the `emitted`,
        those of scores."""
        return cls(models, tuple(config.dimensions or given or dict.fromkeys(emitted)), config)

    @cached_property
    def names(self) -> list[str]:
        return [f"{model}:{dimension}" for model, dimension in product(self.models, self.dimensions)]

    @cached_property
    def weights(self) -> Array:
        """How much each counts, 0 or more."""
        pairs = product(self.models, self._aims)
        return np.array([self.config.models.get(model, 1.0) * aim.weight for model, aim in pairs], dtype=np.float64)

    @cached_property
    def required(self) -> Array:
        """The oriented level that each has to reach; NaN where any will do."""
        levels = [math.nan if aim.required is None else aim.required for aim in self._aims]
        required: Array = np.array(levels * len(self.models), dtype=np.float64)
        return required if self.base is None else np.fmax(required, self.base - self.floors)

    @cached_property
    def floors(self) -> Array:
        """How far each may be below the seed's, 0..1; NaN where any will do."""
        floors = [math.nan if aim.floor is None else aim.floor for aim in self._aims]
        return np.array(floors * len(self.models), dtype=np.float64)

    @cached_property
    def lower_is_better(self) -> NDArray[np.bool_]:
        return np.array([self.config.lower_is_better(name) for name in self.dimensions] * len(self.models), dtype=bool)

    @cached_property
    def constraints(self) -> dict[str, str]:
        """Objective → its constraint as the config spells it."""
        spelled = [aim.constraint for aim in self._aims] * len(self.models)
        return {name: text for name, text in zip(self.names, spelled, strict=True) if text is not None}

    def columns(self, model: str) -> slice:
        start = list(self.models).index(model) * len(self.dimensions)
        return slice(start, start + len(self.dimensions))

    def orient(self, values: Array, part: slice = slice(None)) -> Array:
        """Raw values (… × objectives, or that part of them) as oriented ones, and back."""
        return np.where(self.lower_is_better[part], 1 - values, values)

    def raw(self, levels: Array) -> dict[str, float]:
        """Objective → level as its scorer gives it; those that are not known (NaN) are left out."""
        pairs = zip(self.names, self.orient(levels).tolist(), strict=True)
        return {name: level for name, level in pairs if not math.isnan(level)}

    def levels(self, raw: Mapping[str, float]) -> Array:
        """The other way round."""
        return self.orient(np.array([raw.get(name, math.nan) for name in self.names]))

    def of(self, model: str) -> "Objectives":
        """This model's alone, as if there were no other."""
        return Objectives([model], self.dimensions, self.config, None if self.base is None else self.base[self.columns(model)])

    def beside(self, seed: Array) -> "Objectives":
        """With floors below these levels of the seed, which then are constraints like others."""
        return self if np.isnan(self.floors).all() else replace(self, base=seed)

    def meets(self, levels: Array) -> NDArray[np.bool_]:
        """Which rows (candidates × objectives) meet every constraint. An unknown level counts as the worst."""
        met: NDArray[np.bool_] = ~np.any(self._lacking(levels) > 0, axis=1)
        return met

    def frontier(self, levels: Array, epsilon: float = 0.0) -> NDArray[np.bool_]:
        """Which rows are on the frontier, see `optimizer.frontier.frontier`."""
        return frontier(levels, self.meets(levels), epsilon)

    def overall(self, levels: Array) -> float:
        """The weighted mean over the objectives that are known; NaN where nothing that counts is."""
        return weighted_mean(levels, self.weights)

    def worth(self, levels: Array, weights: Array | None = None) -> float:
        """What the policy looks at: the overall mean, or that of the model with the lowest. `weights`: other ones than the config's."""
        weights = self.weights if weights is None else weights
        if self.config.best != "worst_model":
            return weighted_mean(levels, weights)
        by_model = [weighted_mean(levels[part], weights[part]) for part in map(self.columns, self.models)]
        return min((each for each in by_model if not math.isnan(each)), default=math.nan)

    def shortfall(self, levels: Array) -> float:
        """How far the levels are from meeting every constraint, added up; 0 where they do. An unknown level counts as the worst."""
        return float(self._lacking(levels).sum())

    def met(self, levels: Array) -> dict[str, bool]:
        """Objective → whether its level meets its constraint, for those that have both."""
        met = (self._lacking(levels) == 0).tolist()
        known = (~np.isnan(levels + self.required)).tolist()
        return {name: each for name, each, both in zip(self.names, met, known, strict=True) if both}

    def merit(self, levels: Array, weights: Array | None = None) -> float:
        """What the search climbs: worth less shortfall, so that a constraint that is not met pulls as hard as all objectives together."""
        return self.worth(levels, weights) - self.shortfall(levels)

    def rank(self, levels: Array) -> tuple[float, float]:
        """The higher the better: first the constraints, then the worth (the feasibility rules of Deb 2000, Computer Methods in Applied
        Mechanics and Engineering 186)."""
        worth = self.worth(levels)
        return -self.shortfall(levels), -math.inf if math.isnan(worth) else worth

    def _lacking(self, levels: Array) -> Array:
        """How far each level is below what it has to reach; 0 where it is not, and where any will do."""
        lacking = self.required - np.nan_to_num(levels, nan=0.0)
        return np.where(lacking > ROUNDING, lacking, 0.0)

    @cached_property
    def _aims(self) -> list[DimensionConfig]:
        chosen = self.config.dimensions or {}
        return [chosen.get(dimension, DimensionConfig()) for dimension in self.dimensions]


def weighted_mean(levels: Array, weights: Array) -> float:
    """Over the known levels; NaN where none of them has a weight."""
    known = ~np.isnan(levels)
    total = math.fsum(weights[known].tolist())
    return math.fsum((weights[known] * levels[known]).tolist()) / total if total > 0 else math.nan
