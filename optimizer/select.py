"""Choosing a parent."""

from collections.abc import Sequence

import numpy as np

from optimizer.policy import Array, Objectives
from optimizer.table import Values


def choose(base: Values, differences: Sequence[Values], objectives: Objectives, rng: np.random.Generator) -> int:
    """The index of the candidate to improve on. `base`: the seed's scores on val (examples × objectives, NaN where missing);
    `differences`: each candidate's, less these.

    Thompson sampling with a Bayesian bootstrap (Rubin 1981, The Annals of Statistics 9): the examples get random weights, the
    objectives too, around their own ones, and the candidate that is best under them is chosen. So a candidate's chance is about the
    probability that it is the best for somebody, given what was seen: specialists of one objective are drawn, dominated candidates
    hardly ever.
    """
    examples, number = base.shape
    by_example, by_objective = rng.standard_exponential((examples,)), rng.standard_exponential((number,))
    weights = objectives.weights * by_objective
    start = _means(base, by_example)
    merits = [objectives.merit(start + _means(each, by_example), weights) for each in differences]
    return int(np.argmax(np.nan_to_num(merits, nan=-np.inf)))


def _means(values: Values, by_example: Array) -> Array:
    known = ~np.isnan(values)
    weight = known * by_example[:, None]
    with np.errstate(invalid="ignore"):  # 0 / 0: an objective without a value has no mean
        mean: Array = (np.where(known, values, 0.0) * weight).sum(axis=0) / weight.sum(axis=0)
    return mean
