"""Paired statistics: by how much the best differs from the seed, and how surely.

The interval is a Bayesian bootstrap (Rubin 1981, The Annals of Statistics 9): the examples get random weights, again and
again, and the spread of the weighted means is the interval. Plain, it is too narrow where it matters here, with few examples
and with scores that are 0 or 1. Three things mend that; tests/benchmarks/coverage.py measures them beside the usual methods:

- two imagined half examples, on which the best wins and loses by as much as it ever did, as in Bonett and Price's adjusted
  interval for paired proportions (2012, Statistical Methods in Medical Research 21) and in the proper Bayesian bootstrap
  (Muliere and Secchi 1996, Annals of the Institute of Statistical Mathematics 48). So five wins of five prove nothing yet;
- tails as wide as Student's t has them for that many examples, as in Hesterberg's expanded percentile interval (2015, The
  American Statistician 69);
- whole groups are weighted, not examples, because the examples of one group are not independent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from scoring.bootstrap import Array, by_group, checked, checked_groups, checked_weights, mean_of_means, weighted_means
from scoring.signflip import holm, sign_flip

LEVEL = 0.05
"""What a p-value has to be at most, to call a difference one."""


@dataclass(frozen=True)
class Difference:
    """The paired comparison of two candidates. `seed` and `best` are means in 0..1 over the pairs, `difference` is best − seed;
    `low` and `high` are the ends of its interval. `relative`: see compute_improvement. `n`: the examples with a pair. With
    n = 0 nothing is known and the numbers are None. All-zero differences give the interval [0, 0]; fewer than two
    independent examples say nothing of their spread and give [-1, 1].

    `p`: two-sided, of the sign-flip test; `p_error`: its standard error, 0 where it is exact. `p_holm`: p adjusted for the family that
    the comparison belongs to, see `as_family`; None where it stands alone."""

    seed: float | None
    best: float | None
    difference: float | None
    low: float | None
    high: float | None
    relative: float | None
    n: int
    p: float | None = None
    p_error: float | None = None
    p_holm: float | None = None


def compute_improvement(baseline_score: float, optimized_score: float, *, compat: bool = False) -> float:
    """The gain relative to the baseline: 0.25 is a quarter more. Where the baseline is 0, or so near that no float holds the ratio, the
    optimized score itself is returned. Better is positive for negative baselines too; with `compat` it is negative there, as in
    Karenina. NaN where either is NaN."""
    baseline, optimized = float(baseline_score), float(optimized_score)
    if baseline == 0.0:
        return optimized
    ratio = (optimized - baseline) / (baseline if compat else abs(baseline))
    return optimized if math.isinf(ratio) else ratio


def paired_difference(
    seed: ArrayLike, best: ArrayLike, groups: Sequence[str | None] | None = None, *, rng_seed: int, level: float = 0.95
) -> Difference:
    """The mean difference on one objective.

    `seed`, `best`: n scores in 0..1 in the same order of examples; NaN where there is none, and the pair is then left out.
    `groups`: which examples belong together; None, for all or for one: it stands alone. The same scores give the same result
    in any order of examples. Raises ValueError for scores outside 0..1 and for shapes that do not fit."""
    return overall_difference(np.reshape(seed, (-1, 1)), np.reshape(best, (-1, 1)), groups, rng_seed=rng_seed, level=level)


def overall_difference(
    seed: ArrayLike,
    best: ArrayLike,
    groups: Sequence[str | None] | None = None,
    *,
    weights: ArrayLike | None = None,
    rng_seed: int,
    level: float = 0.95,
) -> Difference:
    """The difference in the mean of the objectives: each objective's mean over its own pairs, then the weighted mean of those.

    `seed`, `best`: n × objectives, otherwise as in paired_difference. `weights`: one of 0 or more for each objective; None: all alike.
    Examples are drawn whole, with all their objectives, so objectives that rise and fall together are not taken for independent
    evidence. An objective without a pair, or with weight 0, is left out."""
    first, second = _checked(seed, best, groups)
    weight = checked_weights(weights, first.shape[1])
    paired = ~np.isnan(first) & ~np.isnan(second)
    known = paired.any(axis=0) & (weight > 0)
    first, second, paired, weight = first[:, known], second[:, known], paired[:, known], weight[known]
    n = int(paired.any(axis=1).sum())
    if n == 0:
        return Difference(None, None, None, None, None, None, 0)
    before, after = mean_of_means(first, paired, weight), mean_of_means(second, paired, weight)
    sums, counts = by_group(second - first, paired, groups)
    low, high = _interval(sums, counts, weight, np.random.default_rng(rng_seed), level)
    chance = sign_flip(sums / counts.sum(axis=0) @ (weight / weight.sum()), rng_seed=rng_seed)
    difference, relative = after - before, compute_improvement(before, after)
    return Difference(before, after, difference, min(low, difference), max(high, difference), relative, n, chance.p, chance.error)


def as_family(differences: Mapping[str, Difference]) -> dict[str, Difference]:
    """Comparisons that are read side by side, so that one of them may look like a difference by chance: with `p_holm`."""
    tested = {name: each.p for name, each in differences.items() if each.p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {name: replace(each, p_holm=adjusted.get(name)) for name, each in differences.items()}


def verdict(difference: Difference, *, lower_is_better: bool = False) -> str:
    """`improved` or `worse` where the interval lies on one side of zero and p (in a family: p_holm), if it is known, is at
    most 0.05, else `not distinguishable`. Intervals are not adjusted, so within a family p_holm is what keeps chance out."""
    higher, lower = ("worse", "improved") if lower_is_better else ("improved", "worse")
    p = difference.p if difference.p_holm is None else difference.p_holm
    if difference.low is None or difference.high is None or (p is not None and p > LEVEL):
        return "not distinguishable"
    if difference.low > 0:
        return higher
    return lower if difference.high < 0 else "not distinguishable"


def _checked(seed: ArrayLike, best: ArrayLike, groups: Sequence[str | None] | None) -> tuple[Array, Array]:
    first, second = checked(seed), checked(best)
    if first.ndim != 2 or first.shape != second.shape:
        raise ValueError(f"the scores have shapes {first.shape} and {second.shape}; both sides need the same examples and objectives")
    checked_groups(groups, len(first))
    return first, second


def _interval(sums: Array, counts: Array, weights: Array, rng: np.random.Generator, level: float) -> tuple[float, float]:
    size = len(sums)
    if size < 2:
        return -1.0, 1.0
    share = weights / weights.sum()
    largest = _largest(sums, counts, share)
    means = weighted_means(sums, counts, share, (-largest, largest), rng)
    tail = NormalDist().cdf(-_student(1 - (1 - level) / 2, size - 1))
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def _largest(sums: Array, counts: Array, share: Array) -> float:
    """The largest mean difference of any group, on any side, over its objectives."""
    has = counts > 0
    means = (share * sums / np.where(has, counts, 1)).sum(axis=1) / (share * has).sum(axis=1)
    return float(np.abs(means).max())


def _student(probability: float, freedom: int) -> float:
    """The quantile of Student's t, by the expansion in Abramowitz and Stegun 26.7.5; within 1% from 3 degrees on, too low below."""
    z = NormalDist().inv_cdf(probability)
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))
