"""What the cells tell of every candidate: a Bayesian linear model of the scores, so that candidates can be compared that have met
different examples, and lines can be judged that have never stood together.

The score of a candidate c on an example e with a model m, in one dimension:

    score = level + hard(e, m) + bends(number of lines of each component) + own(c) + noise
            + sum over lines u of c: worth(u) + taste(u, m) + share(u, c, e) * (help + force(u))

`share` is the line's part in what the candidate says of the example: the rare words that line and example have in common, relative to the
words that they could have in common, and divided by the sum over the candidate's lines where that is more than 1. So a line mostly acts
where it speaks of what is asked, and saying it twice adds little. `own` is what a candidate is worth beyond the sum of its lines: for
texts that do not fall into lines that act by themselves, it is all there is. `taste` is what one model makes of a line beyond that. Every
effect has a normal prior around 0 (the level around 0.5, help around HELPS, what an idle line is worth around IDLE), every example an
effect of its own, which is integrated out; the posterior is exact.

A mixed model for comparisons over incomplete rows, as for example in Pinheiro and Bates 2000, chapter 2; choosing by draws from it is
Thompson sampling (Thompson 1933, Biometrika 25), here for a linear bandit.
"""

from collections.abc import Sequence

import numpy as np

from adapters.candidate import Candidate
from adapters.example import Example
from adapters.template import spell
from optimizer.design import Design
from optimizer.evaluate import Cell
from optimizer.noise import averaged
from optimizer.policy import Array, Objectives
from optimizer.posterior import Posterior, design_of, fit
from optimizer.shape import Known, Shape, shares, silent
from optimizer.units import Unit, units
from optimizer.words import Words


class Belief:
    """Takes up candidates and lines; a posterior is about those that were taken up when it was made."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._column = {example.id: index for index, example in enumerate(examples)}
        self._words = Words(["\n".join(map(spell, example.inputs.values())) for example in examples])
        self.units: list[Unit] = []
        self._index: dict[Unit, int] = {}
        self._relevance: list[Array] = []
        self._known: list[Known] = []
        self._number: dict[str, int] = {}

    def meet(self, candidate: Candidate) -> None:
        """Take up a candidate with its lines; it need not have any cell."""
        if candidate.id not in self._number:
            self._number[candidate.id] = len(self._known)
            for unit in units(candidate):
                self.offer(unit)
            lines = np.array(self.lines(candidate), dtype=np.intp)
            self._known.append(Known(candidate, lines, shares(self._rows([self._relevance[k] for k in lines]))))

    def offer(self, unit: Unit) -> None:
        """Take up a line that no candidate has yet."""
        if unit not in self._index:
            self._index[unit] = len(self.units)
            self.units.append(unit)
            self._relevance.append(self._words.relevance(unit.text))

    def lines(self, candidate: Candidate) -> tuple[int, ...]:
        """The indexes of its lines, rising."""
        return tuple(sorted(self._index[unit] for unit in units(candidate)))

    def silent(self) -> set[str]:
        """The components whose lines do not speak of the examples."""
        return silent(self.units, self.relevance)

    @property
    def relevance(self) -> Array:
        """Lines × examples."""
        return self._rows(self._relevance)

    def _rows(self, lines: Sequence[Array]) -> Array:
        return np.array(lines, dtype=np.float64).reshape(len(lines), len(self._column))

    def posterior(self, cells: Sequence[Cell], objectives: Objectives) -> Posterior:
        """From cells of candidates that were taken up. Those that failed say nothing. The mean of repeats counts as much as one cell: a
        candidate's luck with an example is in all of them."""
        scored = averaged(cells)
        who = np.array([self._number[cell.candidate] for cell, _ in scored], dtype=np.intp)
        where = np.array([self._column[cell.example.id] for cell, _ in scored], dtype=np.intp)
        model = np.array([list(objectives.models).index(cell.model) for cell, _ in scored], dtype=np.intp)
        raw = np.array([[values.get(d, np.nan) for d in objectives.dimensions] for _, values in scored], dtype=np.float64)
        raw = raw.reshape(len(scored), len(objectives.dimensions))
        shape = Shape(tuple(self._known), tuple(self.units), self.relevance, objectives)
        turned = np.where(objectives.lower_is_better[: raw.shape[1]], 1 - raw, raw)
        designs: dict[bytes, Design] = {}
        fitted = []
        for values in turned.T:
            seen = ~np.isnan(values)
            if seen.tobytes() not in designs:  # dimensions are mostly missing together, and the design is the work
                designs[seen.tobytes()] = design_of(shape, who[seen], where[seen], model[seen])
            fitted.append(fit(shape, designs[seen.tobytes()], values[seen]))
        return Posterior(shape, fitted)
