"""The frontier: candidates that no other candidate dominates (invariant I8)."""

import numpy as np
from numpy.typing import NDArray


def non_dominated(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of `values` (candidates × objectives, higher is better) no other row dominates.

    A row dominates another when it is at least as good everywhere and better somewhere; so equal rows stay together.
    A missing value (NaN) can neither win nor lose: a row is dominated over the objectives that it has, by one that has them too.
    (Compared over those that both have, three rows could dominate each other in a ring, and nobody would be left.)
    """
    at_least = np.ones((len(values), len(values)), dtype=bool)
    better = np.zeros_like(at_least)
    for column in values.T:
        here, there = column[:, None], column[None, :]
        at_least &= np.isnan(there) | (here >= there)
        better |= here > there
    dominated: NDArray[np.bool_] = np.any(at_least & better, axis=0)
    return ~dominated


def winners(values: NDArray[np.float64]) -> dict[int, list[int]]:
    """Objective → the rows that are best in it: a named view of its own, which is not the frontier."""
    best = {}
    for index, column in enumerate(values.T):
        if not np.isnan(column).all():
            best[index] = np.flatnonzero(column == np.nanmax(column)).tolist()
    return best
