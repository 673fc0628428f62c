"""Choosing a parent."""

import numpy as np
from numpy.typing import NDArray

from optimizer.table import Values


def choose(pool: list[Values], rng: np.random.Generator) -> int:
    """The index of the candidate to improve on, given each one's val scores (examples × objectives, NaN where missing).

    Thompson sampling with a Bayesian bootstrap (Rubin 1981, The Annals of Statistics 9): the examples get random weights, the
    objectives too, and the candidate that is best under them is chosen. So a candidate's chance is about the probability that it
    is the best for somebody, given what was seen: specialists of one objective are drawn, dominated candidates hardly ever.
    """
    examples, objectives = pool[0].shape
    by_example, by_objective = rng.standard_exponential((examples,)), rng.standard_exponential((objectives,))
    return int(np.argmax([_weighted(values, by_example, by_objective) for values in pool]))


def _weighted(values: Values, by_example: NDArray[np.float64], by_objective: NDArray[np.float64]) -> float:
    known = ~np.isnan(values)
    weight = known * by_example[:, None]
    total = weight.sum(axis=0)
    has = total > 0
    if not has.any():
        return -np.inf
    mean = (np.where(known, values, 0.0) * weight).sum(axis=0)[has] / total[has]
    return float((mean * by_objective[has]).sum() / by_objective[has].sum())
