"""Pareto's frontier, and the winners of single objectives: two views that are not the same.

Of the prompts A (.65, .70), B (.70, .60), C (.60, .75) and D (.68, .72), B, C and D are on the frontier: nothing is better than
D in both. But D wins neither objective; the winners are B and C.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

BLOCK = 256
"""Rows that are compared at a time: what is compared stays in the processor's cache."""


def pareto_front(candidates: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The candidates that no other dominates, in their order. `candidates`: name → objective → value, higher is better. An
    objective that a candidate lacks is missing, see `non_dominated`."""
    if not candidates:
        return []
    values, _ = _table(candidates)
    return [name for name, free in zip(candidates, non_dominated(values), strict=True) if free]


def objective_winners(candidates: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """Objective → the candidates that are best in it, all where several are. `candidates`: as for `pareto_front`."""
    if not candidates:
        return {}
    values, objectives = _table(candidates)
    names = list(candidates)
    return {objectives[index]: [names[row] for row in best] for index, best in winners(values).items()}


def non_dominated(values: Values) -> NDArray[np.bool_]:
    """Which rows of `values` (candidates × objectives, higher is better) no other row dominates.

    A row dominates another when it is at least as good everywhere and better somewhere; so equal rows stay together.
    A missing value (NaN) can neither win nor lose: a row is dominated over the objectives that it has, by one that has them too.
    (Compared over those that both have, three rows could dominate each other in a ring, and nobody would be left.)
    """
    free = np.zeros(len(values), dtype=bool)
    left = np.arange(0)
    order = _dominating_first(values)
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        rivals = np.concatenate([left, rows])
        left = np.concatenate([left, rows[~_dominated(values[rows], values[rivals])]])
    free[left] = True
    return free


def winners(values: Values) -> dict[int, list[int]]:
    """Objective → the rows that are best in it: a named view of its own, which is not the frontier."""
    best = {}
    for index, column in enumerate(values.T):
        if not np.isnan(column).all():
            best[index] = np.flatnonzero(column == np.nanmax(column)).tolist()
    return best


def _dominating_first(values: Values) -> NDArray[np.intp]:
    """The rows in an order in which each comes after those that dominate it: by the sum of its ranks, where a missing value has the
    lowest. (Sums of the values themselves would do but for rounding.)"""
    if len(values) <= BLOCK:
        return np.arange(len(values))
    ranks = np.zeros(values.shape, dtype=np.int64)
    for column, rank in zip(values.T, ranks.T, strict=True):
        known = ~np.isnan(column)
        rank[known] = 1 + np.unique(column[known], return_inverse=True)[1]
    return np.argsort(-ranks.sum(axis=1), kind="stable")


def _dominated(rows: Values, rivals: Values) -> NDArray[np.bool_]:
    """Which rows are dominated by one of the rivals."""
    at_least = np.ones((len(rivals), len(rows)), dtype=bool)
    better = np.zeros_like(at_least)
    for there, here in zip(rows.T, rivals.T, strict=True):
        at_least &= np.isnan(there) | (here[:, None] >= there)
        better |= here[:, None] > there
    dominated: NDArray[np.bool_] = np.any(at_least & better, axis=0)
    return dominated


def _table(candidates: Mapping[str, Mapping[str, float]]) -> tuple[Values, list[str]]:
    objectives = list(dict.fromkeys(objective for values in candidates.values() for objective in values))
    rows = [[values.get(objective, np.nan) for objective in objectives] for values in candidates.values()]
    return np.array(rows, dtype=np.float64), objectives
