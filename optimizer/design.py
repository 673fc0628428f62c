"""The least squares behind the belief: normal coefficients, of which each cell holds few, and an effect of its own for every group of
cells. There are two ways to solve for them, which give the same; the sizes say which is the shorter one.

By coefficient, the groups' effects are integrated out, and what is left has the size of all coefficients that have a part in some cell.
By cell, what only one candidate has is integrated out, candidate by candidate, and what is left has the size of what several share, or of
the cells. That is the shorter way where texts are long and each words its lines anew: then nearly every line is of one candidate only.

The matrix identities are for example in Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, appendix A.3; a draw by cell
is a draw from the prior, set right by what the cells say (Matheron's rule; Journel and Huijbregts 1978, Mining Geostatistics).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optimizer.factors import HARD, NOISE, Factors, Indexes, Patch, gather
from optimizer.policy import Array

SMALL = 64
"""Triangles that are inverted at once."""


class Design(Protocol):
    """What the places of some cells tell of the coefficients, whatever the scores there are."""

    @property
    def factors(self) -> Factors: ...

    @property
    def more(self) -> int:
        """Random numbers that a draw takes beside one for each active coefficient."""
        ...

    def solve(self, left: Array) -> Array:
        """The active coefficients' means, for scores (by cell) that are so far from what is expected before."""
        ...

    def spread(self, luck: Array) -> Array:
        """How far from their means the active coefficients are in a draw; `luck`: standard normal, active ones + `more`."""
        ...

    def variances(self, parts: Array, hard: Array) -> Array:
        """By row, of the sum of the active coefficients times these parts and of the groups' effects times `hard` (rows × groups)."""
        ...


def design(found: Sequence[Patch], deviation: Array, group: Indexes, groups: int) -> Design:
    """`deviation`: the prior's, of every coefficient; `group`: by cell, out of so many `groups`."""
    factors = gather(found, deviation, group, groups)
    return ByCell.of(factors) if _work_by_cell(factors) < len(factors.active) ** 3 else ByCoefficient.of(factors)


def _work_by_cell(factors: Factors) -> int:
    """How many products it takes, roughly; by coefficient it is the third power of their number."""
    cells, shared = len(factors.group), int((factors.users > 1).sum() + (factors.met > 1).sum())
    side = min(cells, shared)
    return sum(len(rows) ** 2 * (len(rows) + shared) for rows, _, _ in factors.patches) + cells * shared * side + side**3


@dataclass(frozen=True, eq=False)
class ByCoefficient:
    """`root`: active × active, a root of the covariance, which is root.T @ root."""

    factors: Factors
    root: Array

    @classmethod
    def of(cls, factors: Factors) -> "ByCoefficient":
        precision = np.eye(len(factors.active)) + _square(factors) / NOISE**2
        return cls(factors, _root(precision))

    @property
    def more(self) -> int:
        return 0

    def solve(self, left: Array) -> Array:
        rest = left - self.factors.hard(left)[self.factors.group]
        found: Array = self.root.T @ (self.root @ self.factors.pull(rest)) / NOISE**2
        return found

    def spread(self, luck: Array) -> Array:
        found: Array = luck @ self.root
        return found

    def variances(self, parts: Array, hard: Array) -> Array:
        shrunk = hard * self.factors.shrink  # the part of the groups' effects that follows from the coefficients
        known = (parts - self.factors.pull(shrunk.T[self.factors.group]).T) @ self.root.T
        found: Array = (known**2).sum(axis=1) + NOISE**2 * (hard * shrunk).sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class ByCell:
    """The covariance of the scores is that of what is each candidate's alone, and `shared` @ shared.T beside it.

    `white`: by patch, a root of the first one's inverse; what follows is measured by it. `shared`: cells × coefficients that several
    candidates have and groups that are met several times. `root`: of the inverse of the smaller of 1 + shared.T @ shared and
    1 + shared @ shared.T."""

    factors: Factors
    white: Sequence[Array]
    shared: Array
    root: Array

    @classmethod
    def of(cls, factors: Factors) -> "ByCell":
        alone, noise = factors.users == 1, NOISE**2 + np.where(factors.met > 1, 0.0, HARD**2)[factors.group]
        shared, white = _shared(factors), []
        for rows, columns, values in factors.patches:
            own = values[:, alone[columns]]
            white.append(_root(np.diag(noise[rows]) + own @ own.T))
            shared[rows] = white[-1] @ shared[rows]
        narrow = shared if shared.shape[1] < shared.shape[0] else shared.T
        return cls(factors, white, shared, _root(np.eye(narrow.shape[1]) + narrow.T @ narrow))

    @property
    def more(self) -> int:
        return len(self.factors.group) + self.factors.groups

    def solve(self, left: Array) -> Array:
        return self.factors.pull(self._weigh(left))

    def spread(self, luck: Array) -> Array:
        coefficients, noise, hard = np.split(luck, np.cumsum([len(self.factors.active), len(self.factors.group)]))
        scores = self.factors.values(coefficients) + NOISE * noise + HARD * hard[self.factors.group]
        return coefficients - self.solve(scores)

    def variances(self, parts: Array, hard: Array) -> Array:
        scores = self.factors.values(parts.T) + HARD**2 * hard.T[self.factors.group]
        before = (parts**2).sum(axis=1) + HARD**2 * (hard**2).sum(axis=1)
        found: Array = before - (scores * self._weigh(scores)).sum(axis=0)
        return found

    def _weigh(self, scores: Array) -> Array:
        """The inverse of the scores' covariance times these scores (cells, or cells × any number)."""
        found = np.zeros(scores.shape)
        for (rows, _, _), white in zip(self.factors.patches, self.white, strict=True):
            found[rows] = white @ scores[rows]
        if len(self.root) == len(found):
            found = self.root.T @ (self.root @ found)
        else:
            found -= self.shared @ (self.root.T @ (self.root @ (self.shared.T @ found)))
        for (rows, _, _), white in zip(self.factors.patches, self.white, strict=True):
            found[rows] = white.T @ found[rows]
        return found


def _shared(factors: Factors) -> Array:
    """Cells × coefficients that several candidates have and groups that are met several times."""
    common, several = factors.users > 1, factors.met > 1
    place, first = np.cumsum(common) - 1, int(common.sum())
    shared = np.zeros((len(factors.group), first + int(several.sum())))
    for rows, columns, values in factors.patches:
        here = common[columns]
        shared[np.ix_(rows, place[columns[here]])] = values[:, here]
    again = np.flatnonzero(several[factors.group])
    shared[again, first + (np.cumsum(several) - 1)[factors.group[again]]] = HARD
    return shared


def _square(factors: Factors) -> Array:
    """All factors' product with themselves, the groups' own effects integrated out. Where a group is met once, that is a weight."""
    size, group, several = len(factors.active), factors.group, factors.met > 1
    place, once = np.cumsum(several) - 1, np.where(several, 1.0, np.sqrt(1 - factors.shrink))
    square, sums = np.zeros((size, size)), np.zeros((int(several.sum()), size))
    for rows, columns, values in factors.patches:
        weighed = values * once[group[rows], None]
        square[np.ix_(columns, columns)] += weighed.T @ weighed
        shared = several[group[rows]]
        np.add.at(sums, (place[group[rows[shared]]][:, None], columns[None, :]), values[shared])
    sums *= np.sqrt(factors.shrink[several])[:, None]
    square -= sums.T @ sums
    return square


def _root(matrix: Array) -> Array:
    """Of the matrix's inverse, lower triangular: root.T @ root."""
    return inverse(np.linalg.cholesky(matrix).astype(np.float64))


def inverse(root: Array) -> Array:
    """Of a lower triangular matrix, by halves: nearly all of it is products, and numpy has no solver for triangles."""
    if len(root) <= SMALL:
        return np.tril(np.linalg.inv(root))
    half = len(root) // 2
    found = np.zeros_like(root)
    found[:half, :half], found[half:, half:] = inverse(root[:half, :half]), inverse(root[half:, half:])
    found[half:, :half] = -found[half:, half:] @ root[half:, :half] @ found[:half, :half]
    return found
