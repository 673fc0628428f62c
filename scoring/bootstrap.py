"""The Bayesian bootstrap (Rubin 1981, The Annals of Statistics 9): examples get random weights, again and again, and the spread of the
weighted means says how far the mean may be off.

Whole groups are weighted, not examples, because the examples of one group are not independent. Two imagined half groups, at the ends of
what may be, are weighted along with them (the proper Bayesian bootstrap of Muliere and Secchi 1996, Annals of the Institute of Statistical
Mathematics 48): what a few examples have in common is not taken for all that there is.
"""

from collections.abc import Sequence
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 10_000
IMAGINED = 0.5
"""How much of an example, or a group, each of the two imagined ones is."""
_BLOCK = 2_000_000
"""Random weights held in memory at a time."""

Array = NDArray[np.float64]


def weighted_means(sums: Array, counts: Array, share: Array, ends: tuple[float, float], rng: np.random.Generator) -> Array:
    """RESAMPLES means under random weights.

    `sums`, `counts`: groups × objectives, the sum of the scores and how many there are; `share`: what each objective counts, 1 in all;
    `ends`: the scores of the imagined half groups, which are of the usual size."""
    size, usual, means = len(sums), counts.mean(axis=0), []
    step = max(1, _BLOCK // size)
    for start in range(0, RESAMPLES, step):
        draws = min(RESAMPLES - start, step)
        drawn = rng.standard_exponential((draws, size))
        high, low = rng.standard_gamma(IMAGINED, (2, draws, 1))
        total = drawn @ sums + (low * ends[0] + high * ends[1]) * usual
        means.append((total / (drawn @ counts + (low + high) * usual)) @ share)
    return np.concatenate(means)


def by_group(scores: Array, known: NDArray[np.bool_], groups: Sequence[str | None] | None) -> tuple[Array, Array]:
    """Groups × objectives: the sum of the scores that are `known`, and how many there are. Sorted, to be the same in any order."""
    labels: list[object] = list(range(len(scores)))
    if groups is not None:
        labels = [(index,) if group is None else group for index, group in enumerate(groups)]
    members: dict[object, list[int]] = {}
    for index in np.flatnonzero(known.any(axis=1)).tolist():
        members.setdefault(labels[index], []).append(index)
    scores = np.where(known, scores, 0.0)
    rows = sorted(
        ([fsum(column) for column in scores[indexes].T.tolist()], known[indexes].sum(axis=0).tolist()) for indexes in members.values()
    )
    return np.array([sums for sums, _ in rows], dtype=np.float64), np.array([counts for _, counts in rows], dtype=np.float64)


def mean_of_means(scores: Array, known: NDArray[np.bool_], weights: Array) -> float:
    """The weighted mean of the columns' means over what is known. fsum rounds once, so the order of examples does not matter."""
    columns = [scores[known[:, k], k].tolist() for k in range(scores.shape[1])]
    means = (weight * fsum(column) / len(column) for weight, column in zip(weights.tolist(), columns, strict=True))
    return fsum(means) / fsum(weights.tolist())


def checked(scores: ArrayLike) -> Array:
    """Examples × objectives, NaN where there is no score. Raises ValueError for scores outside 0..1."""
    found = np.asarray(scores, dtype=np.float64)
    outside = found[(found < 0) | (found > 1)]
    if outside.size:
        raise ValueError(f"{outside[0]} is no score; scores are in 0..1, and NaN where there is none")
    return found


def checked_groups(groups: Sequence[str | None] | None, examples: int) -> None:
    """Raises ValueError where they are not as many as the examples."""
    if groups is not None and len(groups) != examples:
        raise ValueError(f"there are {len(groups)} groups for {examples} examples; every example needs its own entry")


def checked_weights(weights: ArrayLike | None, objectives: int) -> Array:
    """One of 0 or more for each objective; None: all alike. Raises ValueError where they do not fit."""
    found = np.ones(objectives) if weights is None else np.asarray(weights, dtype=np.float64)
    if found.shape != (objectives,) or not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(f"the weights {found.tolist()} do not fit; {objectives} objectives need as many numbers of 0 or more")
    return found
