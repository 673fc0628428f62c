"""The frontier of a search, and the knee in it.

Levels are oriented (higher is better, optimizer/policy.py) and may be unknown (NaN); what dominance means then: scoring/pareto.py.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.pareto import non_dominated

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def frontier(levels: Array, meets: Mask, epsilon: float = 0.0) -> Mask:
    """Which rows of `levels` (candidates × objectives) no other dominates, among those that meet the constraints; among all, where none
    does.

    With an `epsilon` it is thinned out, the higher sums staying, until each candidate that took part has one left that is nowhere more
    than `epsilon` below it (additive epsilon-dominance, Laumanns et al. 2002, Evolutionary Computation 10). Raises ValueError where it
    is less than 0.
    """
    if not epsilon >= 0:
        raise ValueError(f"epsilon is {epsilon}; give 0 or more")
    here = meets if meets.any() else np.ones_like(meets)
    free = np.zeros_like(meets)
    free[here] = non_dominated(levels[here])
    return _thinned(levels, free, epsilon) if epsilon else free


def knee(levels: Array) -> int | None:
    """The row of a frontier (candidates × objectives) where giving up a little of one objective costs much of another; None where no row
    has every level.

    Each objective is scaled to 0..1 over the rows; the knee is the row that is farthest, towards the ideal, from the plane through the
    points that are 1 in one objective and 0 in the others. With two objectives these are the extremes of the frontier, and it is the knee
    of Das 1999, Structural Optimization 18; with more the frontier's own extremes need not span a plane. Of equals, the first.
    """
    whole = np.flatnonzero(~np.isnan(levels).any(axis=1))
    if not len(whole):
        return None
    rows = levels[whole]
    lowest, span = rows.min(axis=0), np.ptp(rows, axis=0)
    # All such planes are at right angles to (1, …, 1), so the distance grows with the sum. An objective without a span tells nothing.
    scaled = (rows - lowest) / np.where(span > 0, span, 1.0)
    return int(whole[np.argmax(scaled.sum(axis=1))])


def _thinned(levels: Array, free: Mask, epsilon: float) -> Mask:
    kept: list[int] = []
    members = np.flatnonzero(free)
    for index in members[np.argsort(-np.nansum(levels[members], axis=1), kind="stable")]:
        needed = levels[index] - epsilon
        covers = np.isnan(needed) | (levels[kept] >= needed)
        if not covers.all(axis=1).any():
            kept.append(int(index))
    left = np.zeros_like(free)
    left[kept] = True
    return left
