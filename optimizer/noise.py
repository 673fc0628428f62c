"""Noise: how far scores are chance, told by cells that were filled more than once.

A score varies with the prompt, with the example, and with nothing at all: the same model says something else when it is asked again, at
hosted providers also at temperature 0, and a judge does too. The last part is the variance within cells, between their repeats. It is
measured on some of the seed's cells, and grows surer with every cell that is repeated later.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adapters.example import Example
from optimizer.evaluate import Cell, Spot, TaskModel
from optimizer.policy import Objectives
from scoring.suite import Suite

AUTO = 3
"""How often a cell may be filled where the config leaves it to the run."""
PROBES, PART = 10, 4
"""Cells of the seed that are filled twice, at most, and at most one in so many."""
NOISY = 0.05
"""The share of the variance from which noise is worth repeating for."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """`share`: of the variance of one model's scores, over all that it has run, the part that is noise, 0..1; `n`: how many of its cells
    tell, having been filled more than once."""

    share: float
    n: int


def repeatable(repeats: int | Literal["auto"], models: Sequence[TaskModel], suite: Suite, examples: Sequence[Example]) -> dict[str, int]:
    """Model → how often its cells may be filled: once, where that always gives the same score."""
    most = AUTO if repeats == "auto" else repeats
    judges = most > 1 and any(not judge.capabilities.exact for example in examples for judge, _ in suite.requests(example))
    return {model.id: most if judges or (most > 1 and not model.client.capabilities.exact) else 1 for model in models}


def probes(spots: Sequence[Spot], repeats: Mapping[str, int]) -> list[Spot]:
    """The spots, out of those of the seed, that it is run in again: as many for each model as for any other that may vary."""
    varying = sorted((spot for spot in spots if repeats.get(spot.model, 1) > 1), key=lambda spot: list(repeats).index(spot.model))
    size = min(most_probes(len(spots), repeats), len(varying))
    return [varying[len(varying) * k // size]._replace(repeat=1) for k in range(size)]


def most_probes(spots: int, repeats: Mapping[str, int]) -> int:
    """How many of so many spots there are at most."""
    return min(PROBES, spots // PART) if max(repeats.values(), default=1) > 1 else 0


def measured(cells: Iterable[Cell], objectives: Objectives) -> dict[str, Noise]:
    """By model, of those that have a cell with two scores."""
    places: dict[str, dict[tuple[str, str], list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        if cell.score is not None:
            values = [cell.score.values.get(dimension, np.nan) for dimension in objectives.dimensions]
            places[cell.model][cell.candidate, cell.example.id].append(values)
    found = {}
    for model in objectives.models:
        repeated = sum(len(rows) > 1 for rows in places[model].values())
        if repeated:
            share = _share([np.array(rows) for rows in places[model].values()], objectives.weights[objectives.columns(model)])
            found[model] = Noise(share, repeated)
    return found


def averaged(cells: Iterable[Cell]) -> list[tuple[Cell, Mapping[str, float]]]:
    """Of all cells of a candidate on an example with a model, the first that has scores, and the means of their values."""
    places: dict[tuple[str, str, str], list[tuple[Cell, Mapping[str, float]]]] = {}
    for cell in cells:
        if cell.score is not None:
            places.setdefault((cell.candidate, cell.example.id, cell.model), []).append((cell, cell.score.values))
    return [(known[0][0], _means([values for _, values in known])) for known in places.values()]


def _means(known: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    if len(known) == 1:
        return known[0]
    names = dict.fromkeys(name for values in known for name in values)
    return {name: fmean(values[name] for values in known if name in values) for name in names}


def is_noisy(noise: Mapping[str, Noise]) -> bool:
    """Whether the models together are. One alone has too few cells to tell."""
    n = sum(each.n for each in noise.values())
    return n > 0 and sum(each.n * each.share for each in noise.values()) >= NOISY * n


def _share(rows: Sequence[Values], weights: Values) -> float:
    """`rows`: of each cell, repeats × dimensions. A dimension that no cell has twice says nothing."""
    inside = [_squares(values) for values in rows]
    within, freedom = sum(squares for squares, _ in inside), sum(n for _, n in inside)
    squares, n = _squares(np.concatenate(rows))
    told = weights * (freedom > 0)
    noise, whole = (float(told @ (each / np.maximum(of, 1))) for each, of in ((within, freedom), (squares, n)))
    return min(1.0, noise / whole) if whole > 0 else 0.0


def _squares(values: Values) -> tuple[Values, Values]:
    """By dimension: the squared deviations from the mean, added up, and how many there are beyond the first."""
    known = ~np.isnan(values)
    n = known.sum(axis=0).astype(np.float64)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares: Values = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
    return squares, np.maximum(n - 1, 0)
