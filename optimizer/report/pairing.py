"""The seed beside what was chosen, on the same examples: overall, for each objective, and for each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from adapters.example import Example
from optimizer.table import Table, Values, means
from scoring.improvement import Difference, as_family, compute_improvement, overall_difference, paired_difference


@dataclass(frozen=True, eq=False)
class Pairing:
    """`seed`: a candidate's id; `chosen`: model → the id of the candidate beside it. `table` holds the cells of both on the `examples`.
    Differences of objectives are in the units of their scorers; where lower is
    better, a gain is below zero. Means over objectives are oriented: there a gain is above zero."""

    seed: str
    chosen: Mapping[str, str]
    examples: Sequence[Example]
    table: Table
    random_seed: int

    def overall(self) -> Difference:
        return self._mean(slice(None))

    def models(self) -> dict[str, Difference]:
        """Each model's mean over its objectives; nothing where there is one model, which is the overall then."""
        objectives = self.table.objectives
        return as_family({model: self._mean(objectives.columns(model)) for model in objectives.models if len(objectives.models) > 1})

    def objectives(self) -> dict[str, Difference]:
        objectives = self.table.objectives
        made = {}
        for k, name in enumerate(objectives.names):
            difference = paired_difference(self._seed[:, k], self._best[:, k], self._groups, rng_seed=self.random_seed)
            made[name] = _turned(difference) if objectives.lower_is_better[k] else difference
        return as_family(made)

    def constraints(self) -> dict[str, dict[str, object]]:
        """Objective → the constraint on it, and whether the means of the seed and the best meet it; None where there is no mean."""
        objectives = self.table.objectives
        met = [objectives.met(means(values)) for values in (self._seed, self._best)]
        return {
            name: {"constraint": text, "seed": met[0].get(name), "best": met[1].get(name)} for name, text in objectives.constraints.items()
        }

    @cached_property
    def _seed(self) -> Values:
        return self.table.values(self.seed, self.examples)

    @cached_property
    def _best(self) -> Values:
        """Each model's columns from the candidate that was chosen for it."""
        columns = self.table.objectives.columns
        parts = [self.table.values(who, self.examples)[:, columns(model)] for model, who in self.chosen.items()]
        return np.concatenate(parts, axis=1)

    @cached_property
    def _groups(self) -> list[str | None]:
        return [example.group for example in self.examples]

    def _mean(self, part: slice) -> Difference:
        weights = self.table.objectives.weights[part]
        seed, best = self._seed[:, part], self._best[:, part]
        return overall_difference(seed, best, self._groups, weights=weights, rng_seed=self.random_seed)


def _turned(oriented: Difference) -> Difference:
    """In the units of a scorer whose values are better when lower."""
    if oriented.n == 0:
        return oriented
    seed, best, difference, low, high = map(known, (oriented.seed, oriented.best, oriented.difference, oriented.low, oriented.high))
    relative = compute_improvement(1 - seed, 1 - best)
    return replace(oriented, seed=1 - seed, best=1 - best, difference=-difference, low=-high, high=-low, relative=relative)


def known(value: float | None) -> float:
    """A number of a comparison that has pairs."""
    if value is None:
        raise ValueError("a difference with pairs has every number")
    return value
