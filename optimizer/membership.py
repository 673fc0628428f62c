"""How sure it is that a candidate is on the frontier, when little is known of it."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scoring.pareto import non_dominated

Array = NDArray[np.float64]


def membership(draws: Array, frontier: Callable[[Array], NDArray[np.bool_]] = non_dominated) -> Array:
    """The probability of each candidate to be on the frontier, from `draws` of what the levels may be (draws × candidates × objectives,
    oriented), however they were made. `frontier`: as that of `Objectives`, where constraints hold. Raises ValueError without a draw."""
    if not len(draws):
        raise ValueError("membership needs at least one draw of the levels")
    share: Array = np.mean([frontier(levels) for levels in draws], axis=0)
    return share


def bootstrap(values: Array, number: int, rng: np.random.Generator) -> Array:
    """`number` draws of the levels of candidates from their scores (candidates × examples × objectives, NaN where missing; the first
    candidate is the seed), for `membership`.

    A Bayesian bootstrap (Rubin 1981, The Annals of Statistics 9): in each draw the examples have random weights, the same for all. Levels
    are the seed's mean and the mean difference to it over the cells that both have, so that candidates on different examples
    compare. It knows no scores but those seen: after a few examples that all went well it is too sure.
    """
    weights = rng.standard_exponential((number, values.shape[1]))
    return _means(values[:1], weights) + _means(values - values[0], weights)


def _means(values: Array, weights: Array) -> Array:
    """Draws × candidates × objectives; NaN where a candidate has no score."""
    known = ~np.isnan(values)
    sums = np.einsum("de,ceo->dco", weights, np.where(known, values, 0.0))
    with np.errstate(invalid="ignore"):  # 0 / 0: no score, no mean
        mean: Array = sums / np.einsum("de,ceo->dco", weights, known.astype(np.float64))
    return mean
