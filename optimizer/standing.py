"""How candidates stand on a set of examples: their levels, the frontier, and who wins what. Only what has changed is worked out anew."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from adapters.example import Example
from optimizer.table import Table, means
from optimizer.winners import Array, Mask, View, Winners, worths

Key = tuple[str | None, str | None]
"""An example's id and an objective's name; None where a key is about all of them."""


class Standing:
    """Candidates are rows, in the order in which they were added; the first is the seed, which the others are compared through.

    A candidate's level is the seed's mean plus its mean difference to the seed, over the cells that both have. What is asked for is
    brought up to date first: for the candidates that the table has new cells of, and for all where it has new ones of the seed. The
    arrays that come back are for reading, until something is asked again.
    """

    def __init__(self, table: Table, examples: Sequence[Example]) -> None:
        """`examples`: the ones that count. The table's objectives are known by now."""
        self._table, self._examples = table, examples
        names = table.objectives.names
        self._asked = np.zeros((len(examples), len(names)), dtype=bool)
        self._cells = Winners(self._asked.size)
        self._worths = Winners(len(examples))
        self._levels = Winners(len(names))
        self._free = np.zeros(0, dtype=bool)
        self._candidates: list[str] = []
        self._versions: list[int] = []

    def add(self, candidate: str) -> None:
        """From now on it takes part."""
        self._candidates.append(candidate)

    def levels(self) -> Array:
        """Candidates × objectives, oriented; NaN where the candidate and the seed have no cell in common."""
        self._refresh()
        return self._levels.values

    def frontier(self) -> Mask:
        """Which candidates no other dominates, among those that meet the constraints; among all, where none does."""
        self._refresh()
        return self._free

    def keys(self, view: View) -> list[Key]:
        """What there is to win in a view."""
        names, ids = self._table.objectives.names, [example.id for example in self._examples]
        objective: list[Key] = [(None, name) for name in names]
        instance: list[Key] = [(id_, None) for id_ in ids]
        both: list[Key] = list(product(ids, names))
        return {"objective": objective, "instance": instance, "hybrid": [*objective, *instance], "cartesian": both}[view]

    def wins(self, view: View) -> Mask:
        """Candidates × the view's keys: who is best where, all where several are. Some of the winners may be off the frontier."""
        self._refresh()
        if view == "hybrid":
            return np.hstack([self._levels.wins, self._worths.wins])
        return {"objective": self._levels, "instance": self._worths, "cartesian": self._cells}[view].wins

    def _refresh(self) -> None:
        now = [self._table.version(candidate) for candidate in self._candidates]
        met = len(self._versions)
        seed_is_new = now[:1] != self._versions[:1]
        stale = [row for row, version in enumerate(now) if seed_is_new or row >= met or version != self._versions[row]]
        for row in stale:
            self._update(row)
        if stale:
            # Dominance is transitive, so newcomers need only meet the frontier; a level that has changed may free others.
            rivals = np.flatnonzero(self._free) if stale[0] >= met else np.arange(met)
            self._renew_frontier(np.concatenate([rivals, np.arange(met, len(now))]))
        self._versions = now

    def _renew_frontier(self, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> None:
        self._free = np.zeros(len(self._candidates), dtype=bool)
        self._free[rows] = self._table.objectives.frontier(self._levels.values[rows])

    def _update(self, row: int) -> None:
        values = self._table.values(self._candidates[row], self._examples)
        self._cells.update(row, values.ravel())
        seed = self._cells.values[0].reshape(values.shape)
        self._levels.update(row, means(seed) + means(values - seed))
        grown = np.flatnonzero((~np.isnan(values) & ~self._asked).any(axis=1))
        self._asked |= ~np.isnan(values)
        weights = self._table.objectives.weights
        self._worths.update(row, worths(values, weights, self._asked))
        for other in np.flatnonzero(~np.isnan(self._worths.values[:, grown]).all(axis=1)):
            values = self._cells.values[other].reshape(values.shape)
            self._worths.update(int(other), worths(values, weights, self._asked))
