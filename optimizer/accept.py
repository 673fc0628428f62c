"""Paired acceptance: is a child worth a closer look?"""

from dataclasses import dataclass

import numpy as np

from optimizer.table import Values

ROUNDING = 1e-9
"""Differences up to this size come from adding floats in another order, and are none."""


@dataclass(frozen=True)
class Verdict:
    accepted: bool
    reason: str


def accept(parent: Values, child: Values) -> Verdict:
    """Compare a child with its parent on the same examples (both examples × objectives), over the cells that both have.

    Lenient on purpose: a gate that asks for significance on a few examples lets nothing through. The child passes when the mean
    of its objectives is higher; a child that dominates its parent always has that.
    """
    difference = child - parent
    compared = ~np.isnan(difference)
    n = int(compared.any(axis=1).sum())
    if n == 0:
        return Verdict(False, "no example was scored for both parent and child")
    columns = compared.any(axis=0)
    by_objective = np.array([difference[compared[:, k], k].mean() for k in np.flatnonzero(columns)])
    mean = float(by_objective.mean())
    if mean > ROUNDING:
        return Verdict(True, f"{100 * mean:+.1f} points on {n} examples")
    return Verdict(False, f"not better than its parent: {100 * mean:+.1f} points on {n} examples")
