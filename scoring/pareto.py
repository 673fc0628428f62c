"""Pareto's frontier, and the winners of single objectives: two views that are not the same.

Of the prompts A (.65, .70), B (.70, .60), C (.60, .75) and D (.68, .72), B, C and D are on the frontier: nothing is better than
D in both. But D wins neither objective; the winners are B and C.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


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
    at_least = np.ones((len(values), len(values)), dtype=bool)
    better = np.zeros_like(at_least)
    for column in values.T:
        here, there = column[:, None], column[None, :]
        at_least &= np.isnan(there) | (here >= there)
        better |= here > there
    dominated: NDArray[np.bool_] = np.any(at_least & better, axis=0)
    return ~dominated


def winners(values: Values) -> dict[int, list[int]]:
    """Objective → the rows that are best in it: a named view of its own, which is not the frontier."""
    best = {}
    for index, column in enumerate(values.T):
        if not np.isnan(column).all():
            best[index] = np.flatnonzero(column == np.nanmax(column)).tolist()
    return best


def _table(candidates: Mapping[str, Mapping[str, float]]) -> tuple[Values, list[str]]:
    objectives = list(dict.fromkeys(objective for values in candidates.values() for objective in values))
    rows = [[values.get(objective, np.nan) for objective in objectives] for values in candidates.values()]
    return np.array(rows, dtype=np.float64), objectives
