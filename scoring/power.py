"""Power: how large a gain has to be, so that a report on so many examples shows it.

All here is of scores of 0 or 1, which vary the most of all scores with their mean, and of the verdict of scoring.improvement: at such
scores it is that of the exact sign test, since the interval leaves out 0 wherever p is at most 0.05. Its power is summed up over how many
pairs differ (Schork and Williams 1980, Communications in Statistics - Simulation and Computation 9).

How many differ is not known in advance. It is taken to be what it is if the two prompts fail independently of each other. Prompts
mostly fail on the same, hard examples: then fewer differ, and smaller gains are shown (Connor 1987, Biometrics 43).
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scoring.improvement import LEVEL

POWER = 0.8
"""The chance that a gain has to have of being shown."""
SURELY = 0.95
"""The chance from which on a draw is taken to hold what is looked for."""
MOST = 2_000
"""Examples that are counted; more show no less."""
_STEPS = 12
"""Halvings: to a fortieth of a point."""

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def power(pieces: int, won: float, lost: float) -> float:
    """The chance that the best is called improved.

    `pieces`: independent examples, or groups, 0 or more. `won`, `lost`: the chances, together at most 1, that one of them is right with
    the best alone, and with the seed alone."""
    if won <= 0:
        return 0.0
    n = min(pieces, MOST)
    return float(_binomial(n, min(1.0, won + lost)) @ _enough_won(n, won / (won + lost)))


def detectable(pieces: int, seed: float | None = None) -> float | None:
    """The smallest gain, 0..1, that is shown with the chance POWER; None where not even the largest is.

    `seed`: its mean, 0..1. None: not known, and taken to be where the largest gain is needed, with the two means as far below a half as
    above."""

    def shown(gain: float) -> bool:
        before = (1 - gain) / 2 if seed is None else seed
        return power(pieces, (1 - before) * (before + gain), before * (1 - before - gain)) >= POWER

    low, high = 0.0, 1.0 if seed is None else 1 - seed
    if not shown(high):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def pieces_needed(failing: float) -> int | None:
    """So many have to be run, that a best which is right everywhere is shown with the chance POWER, where the seed is wrong on the share
    `failing`, 0..1; None for more than MOST."""
    found = bisect_left(range(MOST + 1), True, key=lambda pieces: power(pieces, failing, 0.0) >= POWER)
    return None if found > MOST else found


@cache
def wins_needed(differing: int) -> int:
    """Of so many pairs that differ, how many the best has to win to be called improved; one more than there are where all do not do."""
    at_least = np.cumsum(_binomial(differing, 0.5)[::-1])[::-1]
    return int((2 * at_least > LEVEL).sum())


@cache
def fewest() -> int:
    """With fewer independent examples nothing can be told from chance, were all of them won."""
    return next(pieces for pieces in range(1, MOST) if wins_needed(pieces) <= pieces)


def pieces_of(sizes: Sequence[int]) -> int:
    """How many independent examples groups of these sizes are worth, if the examples of a group are all alike (Kish 1965, Survey
    Sampling)."""
    return math.floor(sum(sizes) ** 2 / sum(size * size for size in sizes) + 1e-9) if sizes else 0


def share_interval(hits: int, n: int) -> tuple[float, float]:
    """The 95% interval of a share, of which `hits` of n tell, n at least 1 (Wilson 1927, Journal of the American Statistical Association
    22)."""
    z = NormalDist().inv_cdf(1 - LEVEL / 2)
    middle, half = hits + z * z / 2, z * math.sqrt(hits * (n - hits) / n + z * z / 4)
    return max(0.0, (middle - half) / (n + z * z)), min(1.0, (middle + half) / (n + z * z))


def chance_of_one(share: float, n: int) -> float:
    """That of n examples drawn at random at least one is among the `share`, 0..1, of all."""
    return float(1 - (1 - share) ** n)


def size_for_one(share: float) -> int | None:
    """How many have to be drawn at random, for that chance to be SURELY at least; None where the share is 0."""
    if share <= 0:
        return None
    return 1 if share >= SURELY else math.ceil(math.log(1 - SURELY) / math.log(1 - share))


def _enough_won(n: int, share: float) -> Array:
    """The chances that of 0 to n pairs that differ enough are won, if each is with the chance `share`. From k to k + 1 pairs a chance
    rises by the last win that was lacking; where one more win is needed then, those drop out that just had enough."""
    pairs = np.arange(n)
    needed = np.array([wins_needed(k) for k in range(n + 1)])
    before, after = needed[:-1], needed[1:]
    steps = share * _chances(pairs, before - 1, share) - np.where(after > before, _chances(pairs + 1, before, share), 0.0)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _binomial(n: int, share: float) -> Array:
    """The chances of 0 to n hits."""
    return _chances(np.full(n + 1, n), np.arange(n + 1), share)


def _chances(n: Counts, hits: Counts, share: float) -> Array:
    """The chance of so many hits of n, 0 to n, each with the chance `share`, above 0."""
    if share >= 1:
        return np.where(hits == n, 1.0, 0.0)
    logs = _log_factorials(1 << int(n.max(initial=0)).bit_length())
    chances: Array = np.exp(logs[n] - logs[hits] - logs[n - hits] + hits * math.log(share) + (n - hits) * math.log1p(-share))
    return chances


@cache
def _log_factorials(size: int) -> Array:
    """Of 0 to `size`."""
    found: Array = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size + 1)))])
    return found
