"""A candidate's mean score by itself, and how far it may be off.

The interval is a Bayesian bootstrap with half an imagined example at 0 and half a one at 1, see scoring/bootstrap.py. For scores of 0 or
1 it is Jeffreys' interval, the quantiles of Beta(right + 1/2, wrong + 1/2), which Brown, Cai and DasGupta (2001, Statistical Science 16)
recommend for few examples. It asks nothing of how other scores are spread.

Two candidates are compared by their paired difference (scoring/improvement.py), and not by whether their intervals overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.bootstrap import by_group, checked, checked_groups, checked_weights, mean_of_means, weighted_means


@dataclass(frozen=True)
class Average:
    """`mean` in 0..1 over the `n` examples that have a score, `low` and `high` the ends of its interval. With n = 0 nothing is known, and
    they are None. A single independent example, or group, says nothing of the spread: the interval is then [0, 1]."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


def average(scores: ArrayLike, groups: Sequence[str | None] | None = None, *, rng_seed: int, level: float = 0.95) -> Average:
    """On one objective.

    `scores`: n of 0..1, NaN where there is none. `groups`: which examples belong together; None, for all or for one: it stands alone. The
    same scores give the same result in any order. Raises ValueError for scores outside 0..1 and for shapes that do not fit."""
    return overall_average(np.reshape(scores, (-1, 1)), groups, rng_seed=rng_seed, level=level)


def overall_average(
    scores: ArrayLike,
    groups: Sequence[str | None] | None = None,
    *,
    weights: ArrayLike | None = None,
    rng_seed: int,
    level: float = 0.95,
) -> Average:
    """Over several objectives: each one's mean over the examples that have it, then the weighted mean of those.

    `scores`: n × objectives. `weights`: one of 0 or more for each objective; None: all alike. An objective that nobody has, or with weight
    0, is left out."""
    found = checked(scores)
    if found.ndim != 2:
        raise ValueError(f"the scores have the shape {found.shape}; they need to be examples × objectives")
    checked_groups(groups, len(found))
    weight, known = checked_weights(weights, found.shape[1]), ~np.isnan(found)
    counted = known.any(axis=0) & (weight > 0)
    found, known, weight = found[:, counted], known[:, counted], weight[counted]
    n = int(known.any(axis=1).sum())
    if n == 0:
        return Average(None, None, None, 0)
    mean = mean_of_means(found, known, weight)
    sums, counts = by_group(found, known, groups)
    if len(sums) < 2:
        return Average(mean, 0.0, 1.0, n)
    means = weighted_means(sums, counts, weight / weight.sum(), (0.0, 1.0), np.random.default_rng(rng_seed))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Average(mean, min(low, mean), max(high, mean), n)
