"""Who is best at what: views beside the frontier, which tell who has something to offer, dominated or not.

They have the names that gepa gives them: `objective`, `instance` (one example, over all objectives), `hybrid` (both), `cartesian` (one
example and one objective).
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

View = Literal["objective", "instance", "hybrid", "cartesian"]

DIGITS = 9
"""Worths are compared to so many: what is left after them comes from adding floats in another order."""


class Winners:
    """The best candidates at each of a number of keys, all where several are, kept while values come in."""

    def __init__(self, keys: int) -> None:
        self._values = np.full((1, keys), np.nan)
        self._wins = np.zeros((1, keys), dtype=bool)
        self._best = np.full(keys, -np.inf)
        self._count = 0

    def update(self, row: int, values: Array) -> None:
        """A candidate's values are these now (one for each key, NaN where unknown). A new candidate's row is the next."""
        if row == self._count:
            self._grow()
        before = self._best[self._wins[row]]
        self._values[row] = values
        fallen = np.flatnonzero(self._wins[row])[~(values[self._wins[row]] >= before)]
        raised = values > self._best
        self._best[raised] = values[raised]
        self._wins[: self._count, raised] = False
        self._wins[row] = values == self._best
        self._renew(fallen)

    @property
    def values(self) -> Array:
        """Candidates × keys, as they were given last."""
        return self._values[: self._count]

    @property
    def wins(self) -> Mask:
        """Candidates × keys. Nobody wins a key that nobody has a value for."""
        return self._wins[: self._count]

    def _renew(self, keys: NDArray[np.intp]) -> None:
        """Where a best value is no more: what is the best now?"""
        if not len(keys):
            return
        values = self.values[:, keys]
        known = ~np.isnan(values)
        self._best[keys] = np.where(known, values, -np.inf).max(axis=0)
        self._wins[: self._count, keys] = known & (values == self._best[keys])

    def _grow(self) -> None:
        self._count += 1
        if self._count > len(self._values):
            self._values = np.concatenate([self._values, np.full_like(self._values, np.nan)])
            self._wins = np.concatenate([self._wins, np.zeros_like(self._wins)])


def worths(values: Array, weights: Array, asked: Mask) -> Array:
    """What an answer is worth over all objectives: the weighted mean of its scores (… × objectives). `asked`: the objectives that have
    scores there at all; NaN for an answer that lacks one of these, since means over different objectives do not compare."""
    counted = asked & (weights > 0)
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing that counts is asked
        mean = np.where(counted, values * weights, 0.0).sum(axis=-1) / np.where(counted, weights, 0.0).sum(axis=-1)
    rounded: Array = np.round(mean, DIGITS)
    return rounded
