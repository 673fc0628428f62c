"""Factors: which coefficients have a part in which cell, and how large a one. A cell holds few of them, and most cells of a candidate
the same ones, so they are kept candidate by candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optimizer.policy import Array

Indexes = NDArray[np.intp]
Patch = tuple[Indexes, Indexes, Array]
"""One candidate's cells, the coefficients that have a part in them, and their factors (cells × coefficients)."""

NOISE, HARD = 0.4, 0.25
"""Standard deviations of a score's noise and of the groups' effects, for scores whose scale is 1."""


@dataclass(frozen=True, eq=False)
class Factors:
    """Coefficients that have a part in some cell are `active`; of the others nothing is known but their prior. All are measured in prior
    standard deviations, and scores in their scale.

    `patches`: in indexes of the active ones; every cell is in one. `group`: by cell, out of so many `groups`, each of which has an effect
    of its own."""

    active: Indexes
    patches: Sequence[Patch]
    group: Indexes
    groups: int

    @cached_property
    def met(self) -> Indexes:
        """By group, how many cells it has."""
        return np.bincount(self.group, minlength=self.groups)

    @cached_property
    def shrink(self) -> Array:
        """By group, the part of what is left over there that is its own effect."""
        return (HARD**2 / (NOISE**2 + self.met * HARD**2)).astype(np.float64)

    @cached_property
    def users(self) -> Indexes:
        """By active coefficient, how many candidates it has a part in."""
        found = np.zeros(len(self.active), dtype=np.intp)
        for _, columns, _ in self.patches:
            found[columns] += 1
        return found

    def values(self, coefficients: Array) -> Array:
        """By cell, what the active coefficients (or active × any number) add up to."""
        found = np.zeros((len(self.group), *coefficients.shape[1:]))
        for rows, columns, factors in self.patches:
            found[rows] = factors @ coefficients[columns]
        return found

    def pull(self, values: Array) -> Array:
        """By active coefficient, its factors times these values of the cells (or cells × any number), added up."""
        found = np.zeros((len(self.active), *values.shape[1:]))
        for rows, columns, factors in self.patches:
            found[columns] += factors.T @ values[rows]
        return found

    def hard(self, left: Array) -> Array:
        """By group, its own effect, where this is left over by cell."""
        found: Array = self.shrink * np.bincount(self.group, weights=left, minlength=self.groups)
        return found


def gather(found: Sequence[Patch], deviation: Array, group: Indexes, groups: int) -> Factors:
    """`found`: in indexes of all coefficients, factors as they are; `deviation`: the prior's, of every coefficient."""
    used = np.zeros(len(deviation), dtype=bool)
    for _, columns, factors in found:
        used[columns] |= factors.any(axis=0)
    place = np.cumsum(used) - 1
    cut = [(rows, columns[used[columns]], factors[:, used[columns]]) for rows, columns, factors in found]
    patches = [(rows, place[columns], factors * deviation[columns]) for rows, columns, factors in cut]
    return Factors(np.flatnonzero(used), patches, group, groups)
