"""The score table: what is known of every candidate on every example, for every objective."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from adapters.example import Example
from optimizer.evaluate import Cell
from optimizer.policy import Objectives

Values = NDArray[np.float64]


class Table:
    """Cells by candidate, example and model, and their scores as arrays examples × objectives.

    A score that is not there is NaN: the cell failed, was never filled, or its scorer left the dimension out. Scores are oriented:
    higher is better.
    """

    def __init__(self, examples: Sequence[Example], objectives: Objectives) -> None:
        """`objectives` may be set anew as long as no cell is entered."""
        self._row = {example.id: index for index, example in enumerate(examples)}
        self.objectives = objectives
        self._values: dict[str, Values] = {}
        self._cells: dict[tuple[str, str, str], Cell] = {}

    def add(self, cells: Iterable[Cell]) -> list[Cell]:
        """Enter cells; returns those that were new."""
        new = []
        for cell in cells:
            if cell.key in self._cells:
                continue
            new.append(cell)
            self._cells[cell.key] = cell
            if cell.candidate not in self._values:
                self._values[cell.candidate] = np.full((len(self._row), len(self.objectives.names)), np.nan)
            if cell.score is not None:
                row = np.array([cell.score.values.get(dimension, np.nan) for dimension in self.objectives.dimensions])
                part = self.objectives.columns(cell.model)
                self._values[cell.candidate][self._row[cell.example.id], part] = self.objectives.orient(row, part)
        return new

    def values(self, candidate: str, examples: Sequence[Example]) -> Values:
        """len(examples) × objectives."""
        rows = [self._row[example.id] for example in examples]
        if candidate not in self._values:
            return np.full((len(rows), len(self.objectives.names)), np.nan)
        return self._values[candidate][rows]

    def cells(self, candidate: str, examples: Sequence[Example]) -> list[Cell]:
        """The known ones, example by example, model by model."""
        keys = ((candidate, example.id, model) for example in examples for model in self.objectives.models)
        return [self._cells[key] for key in keys if key in self._cells]

    def knows(self, candidate: str, example: Example) -> bool:
        """Whether the candidate has met the example with every model, however that ended."""
        return all((candidate, example.id, model) in self._cells for model in self.objectives.models)

    def all(self) -> list[Cell]:
        """Every cell, as they were entered."""
        return list(self._cells.values())

    def counts(self) -> tuple[int, Counter[str]]:
        """How many cells there are, and how many of them failed, by error kind."""
        return len(self._cells), Counter(cell.failed for cell in self._cells.values() if cell.failed is not None)


def means(values: Values) -> Values:
    """The mean of each objective over the examples that have it; NaN where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's way of saying "none has"
        mean: Values = np.nanmean(values, axis=0) if len(values) else np.full(values.shape[1], np.nan)
    return mean
