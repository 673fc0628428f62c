"""The least squares behind the belief: normal coefficients, of which each cell holds few, and an effect of its own for every group of
cells, which is integrated out. Only what has a part in some cell is solved for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.policy import Array

Indexes = NDArray[np.intp]
Block = tuple[Indexes, Indexes, Array]
"""One candidate's cells, the coefficients that have a part in them, and their factors (cells × coefficients)."""

NOISE, HARD = 0.4, 0.25
"""Standard deviations of a score's noise and of the groups' effects, for scores whose scale is 1."""
SMALL = 64
"""Triangles that are inverted at once."""


@dataclass(frozen=True, eq=False)
class Design:
    """What the places of some cells tell of the coefficients, whatever the scores there are. Coefficients that have a part in some cell are
    `active`; of the others nothing is known but their prior. All are measured in prior standard deviations, and scores in their scale.

    `blocks`: in indexes of the active ones. `group`: by cell. `shrink`: by group, the part of what is left over there
    that is its own effect. `root`: active × active, a root of the covariance, which is root.T @ root."""

    active: Indexes
    blocks: Sequence[Block]
    group: Indexes
    shrink: Array
    root: Array

    def solve(self, left: Array) -> Array:
        """The active coefficients' means, for scores that are so far from what is expected before."""
        rest, pull = left - self.hard(left)[self.group], np.zeros(len(self.active))
        for rows, columns, factors in self.blocks:
            pull[columns] += factors.T @ rest[rows]
        found: Array = self.root.T @ (self.root @ pull) / NOISE**2
        return found

    def less(self, values: Array, coefficients: Array) -> Array:
        """What the active coefficients leave of the values."""
        left = values.copy()
        for rows, columns, factors in self.blocks:
            left[rows] -= factors @ coefficients[columns]
        return left

    def hard(self, left: Array) -> Array:
        """By group, its own effect."""
        found: Array = self.shrink * np.bincount(self.group, weights=left, minlength=len(self.shrink))
        return found

    def leaning(self, weights: Array) -> Array:
        """How much of the groups' effects, weighed (rows × groups), the active coefficients take away: rows × active."""
        parts, found = (weights * self.shrink)[:, self.group], np.zeros((len(weights), len(self.active)))
        for rows, columns, factors in self.blocks:
            found[:, columns] += parts[:, rows] @ factors
        return found

    def unknown(self, weights: Array) -> Array:
        """By row, the variance of the groups' effects, weighed, that is left where all coefficients are known."""
        found: Array = weights**2 @ self.shrink * NOISE**2
        return found


def design(found: Sequence[Block], deviation: Array, group: Indexes, groups: int) -> Design:
    """`deviation`: the prior's, of every coefficient; `group`: by cell, out of so many `groups`."""
    used = np.zeros(len(deviation), dtype=bool)
    for _, columns, factors in found:
        used[columns] |= factors.any(axis=0)
    place = np.cumsum(used) - 1
    cut = [(rows, columns[used[columns]], factors[:, used[columns]]) for rows, columns, factors in found]
    blocks = [(rows, place[columns], factors * deviation[columns]) for rows, columns, factors in cut]
    met = np.bincount(group, minlength=groups)
    shrink = (HARD**2 / (NOISE**2 + met * HARD**2)).astype(np.float64)
    precision = np.eye(int(used.sum())) + _square(blocks, group, met, shrink, int(used.sum())) / NOISE**2
    return Design(np.flatnonzero(used), blocks, group, shrink, inverse(np.linalg.cholesky(precision).astype(np.float64)))


def _square(blocks: Sequence[Block], group: Indexes, met: Indexes, shrink: Array, size: int) -> Array:
    """All factors' product with themselves, the groups' own effects integrated out. Where a group is met once, that is a weight."""
    several = met > 1
    place, once = np.cumsum(several) - 1, np.where(several, 1.0, np.sqrt(1 - shrink))
    square, sums = np.zeros((size, size)), np.zeros((int(several.sum()), size))
    for rows, columns, factors in blocks:
        weighed = factors * once[group[rows], None]
        square[np.ix_(columns, columns)] += weighed.T @ weighed
        shared = several[group[rows]]
        np.add.at(sums, (place[group[rows[shared]]][:, None], columns[None, :]), factors[shared])
    sums *= np.sqrt(shrink[several])[:, None]
    square -= sums.T @ sums
    return square


def inverse(root: Array) -> Array:
    """Of a lower triangular matrix, by halves: nearly all of it is products, and numpy has no solver for triangles."""
    if len(root) <= SMALL:
        return np.tril(np.linalg.inv(root))
    half = len(root) // 2
    found = np.zeros_like(root)
    found[:half, :half], found[half:, half:] = inverse(root[:half, :half]), inverse(root[half:, half:])
    found[half:, :half] = -found[half:, half:] @ root[half:, :half] @ found[:half, :half]
    return found
