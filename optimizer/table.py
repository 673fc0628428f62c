"""The score table: what is known of every candidate on every example, for every objective."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from adapters.example import Example
from optimizer.errors import ProviderError
from optimizer.evaluate import Cell, CellKey
from optimizer.policy import Objectives

Values = NDArray[np.float64]


class Table:
    """Cells by candidate, example and model, and their scores as arrays examples × objectives. Cells are added, never changed.

    A score that is not there is NaN: the cell failed, was never filled, or its scorer left the dimension out. Scores are oriented:
    higher is better. Where an example was repeated its score is the mean over the repeats that have one.
    """

    def __init__(self, examples: Sequence[Example], objectives: Objectives) -> None:
        """`objectives` may be set anew as long as no cell is entered."""
        self._row = {example.id: index for index, example in enumerate(examples)}
        self.objectives = objectives
        self._values: dict[str, Values] = {}
        self._places: dict[tuple[str, str, str], list[Cell]] = {}
        self._known: set[CellKey] = set()
        self._cells: list[Cell] = []
        self._failed: Counter[str] = Counter()
        self._versions: Counter[str] = Counter()

    def add(self, cells: Iterable[Cell]) -> list[Cell]:
        """Enter cells; returns those that were new."""
        new = [cell for cell in cells if self._enter(cell)]
        self._cells += new
        self._failed.update(cell.failed for cell in new if cell.failed is not None)
        self._versions.update(cell.candidate for cell in new)
        rows: dict[tuple[str, str], dict[int, list[float]]] = {}
        for cell in new:
            scores = rows.setdefault((cell.candidate, cell.model), {})
            if cell.score is not None:
                scores[self._row[cell.example.id]] = self._scores(cell, cell.score.values)
        for (candidate, model), scores in rows.items():
            if candidate not in self._values:
                self._values[candidate] = np.full((len(self._row), len(self.objectives.names)), np.nan)
            if scores:
                part = self.objectives.columns(model)
                self._values[candidate][list(scores), part] = self.objectives.orient(np.array(list(scores.values())), part)
        return new

    def values(self, candidate: str, examples: Sequence[Example]) -> Values:
        """len(examples) × objectives."""
        rows = [self._row[example.id] for example in examples]
        if candidate not in self._values:
            return np.full((len(rows), len(self.objectives.names)), np.nan)
        return self._values[candidate][rows]

    def cells(self, candidate: str, examples: Sequence[Example]) -> list[Cell]:
        """The known ones, example by example, model by model, in the order of the repeats."""
        places = ((candidate, example.id, model) for example in examples for model in self.objectives.models)
        return [cell for place in places for cell in self._places.get(place, ())]

    @property
    def known(self) -> Set[CellKey]:
        """The keys of all cells."""
        return self._known

    def met(self, candidate: str, examples: Sequence[Example]) -> int:
        """On how many of the examples it was run, with every model counted, and no repeat."""
        return sum((candidate, example.id, model) in self._places for example in examples for model in self.objectives.models)

    def version(self, candidate: str) -> int:
        """How many cells the candidate has: as long as that is the same, so are its values."""
        return self._versions[candidate]

    def all(self) -> list[Cell]:
        """Every cell, as they were entered."""
        return list(self._cells)

    def counts(self) -> tuple[int, Counter[str]]:
        """How many cells there are, and how many of them failed, by error kind."""
        return len(self._cells), self._failed.copy()

    def _enter(self, cell: Cell) -> bool:
        """Whether it was new. Raises KeyError for an example that the table does not have."""
        if cell.example.id not in self._row:
            raise KeyError(cell.example.id)
        if cell.key in self._known:
            return False
        self._known.add(cell.key)
        repeats = self._places.setdefault((cell.candidate, cell.example.id, cell.model), [])
        repeats.append(cell)
        if len(repeats) > 1:
            repeats.sort(key=_repeat)  # so that a mean is the same in whatever order they came
        return True

    def _scores(self, cell: Cell, values: Mapping[str, float]) -> list[float]:
        """By dimension, not oriented; `values`: the cell's own."""
        repeats = self._places[cell.candidate, cell.example.id, cell.model]
        if len(repeats) == 1:
            return [values.get(dimension, np.nan) for dimension in self.objectives.dimensions]
        known = [each.score.values for each in repeats if each.score is not None]
        mean: list[float] = means(np.array([[v.get(d, np.nan) for d in self.objectives.dimensions] for v in known])).tolist()
        return mean


def means(values: Values) -> Values:
    """The mean of each objective over the examples that have it; NaN where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy's way of saying "none has"
        mean: Values = np.nanmean(values, axis=0) if len(values) else np.full(values.shape[1], np.nan)
    return mean


def _repeat(cell: Cell) -> int:
    return cell.repeat


def check_failures(table: Table, most: float) -> None:
    """`most`: the share of the table's cells that may have failed, 0..1. Raises ProviderError beyond it."""
    cells, failed = table.counts()
    if failed.total() > most * cells:
        kinds = ", ".join(f"{n} with {kind}" for kind, n in failed.most_common())
        problem = next((f". One of them: {cell.problem}" for cell in table.all() if cell.problem), "")
        raise ProviderError(
            f"{failed.total()} of {cells} cells failed ({kinds}), more than failures.max_share allows{problem}. What is paid for is kept: "
            "when their cause is mended, run the same command to go on."
        )
