"""The score table: what is known of every candidate on every example, for every objective."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from adapters.example import Example
from optimizer.evaluate import Cell

Values = NDArray[np.float64]


class Table:
    """Cells by candidate, example and model, and their scores as arrays examples × objectives.

    A score that is not there is NaN: the cell failed, was never filled, or its scorer left the dimension out. Objectives are
    named `model:dimension` and stand model by model; they are fixed by the dimensions given.
    """

    def __init__(self, examples: Sequence[Example], models: Sequence[str], dimensions: Sequence[str]) -> None:
        self._row = {example.id: index for index, example in enumerate(examples)}
        self.models = list(models)
        self.fix(dimensions)
        self._values: dict[str, Values] = {}
        self._cells: dict[tuple[str, str, str], Cell] = {}

    def fix(self, dimensions: Sequence[str]) -> None:
        """Say which dimensions there are, before the first cell is entered."""
        self.dimensions = list(dimensions)
        self.objectives = [f"{model}:{dimension}" for model, dimension in product(self.models, dimensions)]

    def add(self, cells: Iterable[Cell]) -> list[Cell]:
        """Enter cells; returns those that were new."""
        new = []
        for cell in cells:
            if cell.key in self._cells:
                continue
            new.append(cell)
            self._cells[cell.key] = cell
            if cell.candidate not in self._values:
                self._values[cell.candidate] = np.full((len(self._row), len(self.objectives)), np.nan)
            if cell.score is not None:
                start = self.models.index(cell.model) * len(self.dimensions)
                row = [cell.score.values.get(dimension, np.nan) for dimension in self.dimensions]
                self._values[cell.candidate][self._row[cell.example.id], start : start + len(row)] = row
        return new

    def values(self, candidate: str, examples: Sequence[Example]) -> Values:
        """len(examples) × objectives."""
        rows = [self._row[example.id] for example in examples]
        if candidate not in self._values:
            return np.full((len(rows), len(self.objectives)), np.nan)
        return self._values[candidate][rows]

    def cells(self, candidate: str, examples: Sequence[Example]) -> list[Cell]:
        """The known ones, example by example, model by model."""
        keys = ((candidate, example.id, model) for example in examples for model in self.models)
        return [self._cells[key] for key in keys if key in self._cells]

    def knows(self, candidate: str, example: Example) -> bool:
        """Whether the candidate has met the example with every model, however that ended."""
        return all((candidate, example.id, model) in self._cells for model in self.models)

    def counts(self) -> tuple[int, Counter[str]]:
        """How many cells there are, and how many of them failed, by error kind."""
        return len(self._cells), Counter(cell.failed for cell in self._cells.values() if cell.failed is not None)


def means(values: Values) -> Values:
    """The mean of each objective over the examples that have it; NaN where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's way of saying "none has"
        mean: Values = np.nanmean(values, axis=0) if len(values) else np.full(values.shape[1], np.nan)
    return mean
