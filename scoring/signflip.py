"""The sign-flip test: how often chance alone makes a difference as large as this one.

Were the two candidates alike, each independent example (or group) could as well have come out with the opposite sign. So the sum of
the differences is compared with the sums under all patterns of signs (Fisher 1935, The Design of Experiments, chapter 3). It assumes
nothing of how scores are spread, and is exact with any number of examples, few ones too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_SUMS = 2**13
"""Different sums of half of the differences, up to which all are counted: 26 differences if all are unlike, any number with few steps."""
DRAWS = 20_000
"""Random patterns of signs beyond that."""
_DIGITS = 9
_TIE = 1e-6
"""Relative to the largest difference: what is next to the observed sum by less counts as equal."""
_BLOCK = 2_000_000

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Chance:
    """`p`: the two-sided p-value, in (0, 1]. `error`: its standard error, 0 where all patterns of signs were counted."""

    p: float
    error: float


def sign_flip(differences: ArrayLike, *, rng_seed: int) -> Chance:
    """`differences`: one number for each independent example or group, in any order. Differences of 0 tell nothing: without any other,
    p is 1. Raises ValueError for numbers that are not finite."""
    found = np.asarray(differences, dtype=np.float64).ravel()
    if not np.isfinite(found).all():
        raise ValueError("a difference is not finite; leave pairs out that lack a score")
    sizes = np.sort(np.abs(found[found != 0]))
    if not sizes.size:
        return Chance(1.0, 0.0)
    observed = abs(fsum(found.tolist())) / float(sizes[-1]) - _TIE
    sizes = sizes / sizes[-1]
    halves = [_sums(sizes[::2]), _sums(sizes[1::2])]
    if halves[0] is None or halves[1] is None:
        return _drawn(sizes, observed, np.random.default_rng(rng_seed))
    return Chance(min(1.0, _beyond(halves[0], halves[1], observed)), 0.0)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted for being a family (Holm 1979, Scandinavian Journal of Statistics 6): whoever calls those at most 0.05 differences errs
    anywhere in the family with a chance of at most 0.05."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted


def _sums(sizes: Array) -> tuple[Array, Array] | None:
    """The different sums under all patterns of signs, rising, and the share of the patterns that has each; None where they are too many."""
    sums: Array = np.zeros(1)
    shares: Array = np.ones(1)
    for size in sizes.tolist():
        both = np.round(np.concatenate([sums - size, sums + size]), _DIGITS)
        sums, where = np.unique(both, return_inverse=True)
        shares = np.bincount(where.ravel(), np.concatenate([shares, shares]) / 2).astype(np.float64)
        if len(sums) > MOST_SUMS:
            return None
    return sums, shares


def _beyond(one: tuple[Array, Array], other: tuple[Array, Array], observed: float) -> float:
    """The share of the patterns over both halves with a sum of at least `observed`, on either side; they are symmetric."""
    sums, shares = other
    tails = np.append(np.cumsum(shares[::-1])[::-1], 0.0)
    if observed <= 0:
        return 1.0
    return 2 * float(one[1] @ tails[np.searchsorted(sums, observed - one[0])])


def _drawn(sizes: Array, observed: float, rng: np.random.Generator) -> Chance:
    """From random patterns, the observed one among them, so that p is never 0 (Phipson and Smyth 2010, Statistical Applications in
    Genetics and Molecular Biology 9)."""
    hits, step = 1, max(1, _BLOCK // len(sizes))
    for start in range(0, DRAWS, step):
        signs = rng.integers(0, 2, (min(step, DRAWS - start), len(sizes)), dtype=np.int8) * 2.0 - 1.0
        hits += int((np.abs(signs @ sizes) >= observed).sum())
    p = hits / (DRAWS + 1)
    return Chance(p, float((p * (1 - p) / DRAWS) ** 0.5))
