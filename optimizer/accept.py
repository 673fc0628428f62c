"""Paired acceptance: is a child worth a closer look?"""

from dataclasses import dataclass

import numpy as np

from optimizer.policy import ROUNDING, Objectives
from optimizer.table import Values, means


@dataclass(frozen=True)
class Verdict:
    accepted: bool
    reason: str


def accept(parent: Values, child: Values, objectives: Objectives) -> Verdict:
    """Compare a child with its parent on the same examples (both examples × objectives), over the cells that both have.

    Lenient on purpose: a gate that asks for significance on a few examples lets nothing through. The child passes when its merit is
    higher, or when it dominates its parent: nowhere lower, and somewhere higher.
    """
    shared = ~np.isnan(child - parent)
    n = int(shared.any(axis=1).sum())
    if n == 0:
        return Verdict(False, "no example was scored for both parent and child")
    before, after = (means(np.where(shared, values, np.nan)) for values in (parent, child))
    change = (after - before)[shared.any(axis=0)]
    gain = objectives.merit(after) - objectives.merit(before)
    told = f"{100 * gain:+.1f} points on {n} examples"
    if gain > ROUNDING:
        return Verdict(True, told)
    if (change >= -ROUNDING).all() and (change > ROUNDING).any():
        return Verdict(True, f"better in {int((change > ROUNDING).sum())} of {len(change)} objectives, and worse in none")
    return Verdict(False, f"not better than its parent: {told}")
