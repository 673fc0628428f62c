"""What is believed once cells are known: of each coefficient, and by them of every candidate, also of one that there is not yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optimizer.design import Design, design
from optimizer.effects import Effects
from optimizer.factors import NOISE, Indexes, Patch
from optimizer.policy import Array
from optimizer.shape import Shape, shares

LEAST = 0.02
"""Scores that vary less than this are taken to vary so much."""
SAMPLE = 500
"""Examples, at least, that lines are weighed by where there are so many."""
AT_ONCE = 2 * 10**6
"""Numbers that are worked on together, at most, where a candidate takes as many as there are coefficients."""

Part = tuple[Indexes, Array]
"""The coefficients that have a part in a candidate's level, and their factors there, in the mean over all examples (models × these)."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """One dimension's posterior: its mean, its design, the scores' scale, the prior deviations in that scale, and by model the mean effect
    of the examples."""

    mean: Array
    design: Design
    scale: float
    deviation: Array
    hard: Array

    def draw(self, rng: np.random.Generator, heat: float) -> Array:
        """Coefficients, spread `heat` times as wide as the posterior."""
        active, luck = self.design.factors.active, rng.standard_normal(len(self.mean))
        luck[active] = self.design.spread(np.append(luck[active], rng.standard_normal(self.design.more)))
        drawn: Array = self.mean + heat * self.deviation * luck
        return drawn

    def variance(self, factors: Array) -> float:
        """Of the sum of the coefficients times these factors."""
        return float(self.variances(factors[None, :], np.zeros((1, self.design.factors.groups)))[0])

    def variances(self, factors: Array, hard: Array) -> Array:
        """By row, of the sum of the coefficients times these factors and of the examples' effects times `hard` (rows × groups)."""
        active, parts = self.design.factors.active, factors * self.deviation
        known = self.design.variances(parts[:, active], self.scale * hard)
        parts[:, active] = 0.0
        found: Array = (parts**2).sum(axis=1) + known
        return found


@dataclass(frozen=True, eq=False)
class Posterior:
    """`dimensions`: one for each of the objectives' dimensions."""

    shape: Shape
    dimensions: Sequence[Fitted]

    def draw(self, rng: np.random.Generator, heat: float) -> list[Array]:
        """Coefficients of each dimension."""
        return [fitted.draw(rng, heat) for fitted in self.dimensions]

    @property
    def means(self) -> list[Array]:
        return [fitted.mean for fitted in self.dimensions]

    def levels(self, drawn: Sequence[Array]) -> Array:
        """Candidates × objectives, over all examples, under these coefficients."""
        return np.array([self._level(part, drawn) for part in self._parts])

    def imagined(self, lines: Sequence[int], drawn: Sequence[Array]) -> Array:
        """By objective: what the lines of a candidate that is not known add up to."""
        chosen = np.array(lines, dtype=np.intp)
        return self._level(self._part(chosen, shares(self.shape.relevance[chosen]), None), drawn)

    def sureness(self, number: int, weights: Array) -> float:
        """How much better than the first candidate this one is in the weighted mean of the objectives, in standard deviations of that
        difference; 0 for the first, and where all weights are 0."""
        by_model = self._by_model(weights)
        contrasts = self._rows(number, by_model.T) - self._rows(0, by_model.T)
        mean = sum(float(each @ fitted.mean) for each, fitted in zip(contrasts, self.dimensions, strict=True))
        variance = sum(fitted.variance(each) for each, fitted in zip(contrasts, self.dimensions, strict=True))
        return mean / variance**0.5 if variance else 0.0

    def seed_tells_more(self, number: int, weights: Array, cells: int) -> bool:
        """Whether, of how much better than the first candidate this one is, so many cells of the first would tell more than as many of
        this one: which of the two leaves the smaller variance."""
        by_model = self._by_model(weights)
        first, this = self._rows(0, by_model.T), self._rows(number, by_model.T)
        pairs = list(zip(self.dimensions, by_model.sum(axis=0), first, this, strict=True))
        before, after = (sum(fitted.variance(sides[k]) for fitted, _, *sides in pairs) for k in range(2))
        between = sum(fitted.variance(b - a) for fitted, _, a, b in pairs)
        noise = sum((weight * NOISE * fitted.scale) ** 2 for fitted, weight, *_ in pairs) / cells
        return bool((between + before - after) ** 2 * (after + noise) > (between + after - before) ** 2 * (before + noise))

    def deviations(self, numbers: Sequence[int], weights: Array) -> Array:
        """Candidates × rows: the standard deviations of their levels, weighed (rows × objectives)."""
        examples, step = self.shape.relevance.shape[1], max(1, AT_ONCE // (self.shape.size * len(weights)))
        variances = np.zeros((len(numbers), len(weights)))
        for d, fitted in enumerate(self.dimensions):
            by_model = weights.reshape(len(weights), self._models, -1)[:, :, d]
            some = by_model.any(axis=1)
            for first in range(0, len(numbers), step):
                few = numbers[first : first + step]
                hard = np.tile(by_model[some] / examples, (len(few), examples))
                found = fitted.variances(np.vstack([self._rows(number, by_model[some]) for number in few]), hard)
                variances[first : first + step, some] += found.reshape(len(few), -1)
        return np.sqrt(variances)

    def effects(self, drawn: Sequence[Array], weights: Array) -> Effects:
        """What lines do to the weighted mean of the objectives. Of many examples only some count, spread evenly, for a climb reads
        them all at every step."""
        shape = self.shape
        by_model = self._by_model(weights)
        mixed = sum((weight * each for weight, each in zip(by_model.sum(axis=0), drawn, strict=True)), np.zeros(shape.size))
        slopes, curves = mixed[1 : shape.help].reshape(2, -1)
        tastes = [each[shape.taste(np.arange(len(shape.units)))].reshape(len(shape.units), shape.models) for each in drawn]
        own = sum((taste @ by_model[: shape.models, d] for d, taste in enumerate(tastes)), np.zeros(len(shape.units)))
        worth, force = mixed[shape.worth()] + own, mixed[shape.help] + mixed[shape.force()]
        some = shape.relevance[:, :: max(1, shape.relevance.shape[1] // SAMPLE)]
        return Effects(worth, force, some, shape.owners, slopes, curves)

    def _level(self, part: Part, drawn: Sequence[Array]) -> Array:
        """By objective."""
        columns, factors = part
        by_dimension = [factors @ each[columns] + fitted.hard for each, fitted in zip(drawn, self.dimensions, strict=True)]
        return np.array(by_dimension, dtype=np.float64).T.ravel()

    def _by_model(self, weights: Array) -> Array:
        """Models × dimensions: the objectives' weights as shares; 0 where all are."""
        found: Array = weights.reshape(self._models, -1) / (weights.sum() or 1.0)
        return found

    def _rows(self, number: int, by_model: Array) -> Array:
        """Rows × all coefficients: their factors in a candidate's level, the models weighed (rows × models)."""
        columns, factors = self._parts[number]
        found = np.zeros((len(by_model), self.shape.size))
        found[:, columns] = by_model @ factors
        return found

    @cached_property
    def _parts(self) -> list[Part]:
        return [self._part(known.lines, known.shares, number) for number, known in enumerate(self.shape.known)]

    def _part(self, lines: Indexes, said: Array, number: int | None) -> Part:
        """`said`: their shares, lines × examples; `number`: a known candidate's."""
        usual = np.tile(said.mean(axis=1), (self._models, 1))
        factors = self.shape.factors(lines, usual, np.arange(self._models), own=number is not None)
        return self.shape.columns(lines, number), factors

    @property
    def _models(self) -> int:
        return len(self.shape.objectives.models)


def design_of(shape: Shape, who: Indexes, where: Indexes, model: Indexes) -> Design:
    models = len(shape.objectives.models)
    patches = list(_patches(shape, who, where, model))
    return design(patches, shape.prior[1], where * models + model, shape.relevance.shape[1] * models)


def fit(shape: Shape, design: Design, values: Array) -> Fitted:
    """`values`: the design's cells'."""
    scale = max(LEAST, float(np.std(values)) if len(values) else 0.0) / 0.5
    mean, deviation = shape.prior
    mean = mean * scale
    mean[0] = 0.5
    factors = design.factors
    left = values - factors.values((mean / deviation)[factors.active])
    change = design.solve(left)
    mean[factors.active] += change * deviation[factors.active]
    models = len(shape.objectives.models)
    hard = factors.hard(left - factors.values(change)).reshape(-1, models).mean(axis=0)
    return Fitted(mean, design, scale, deviation * scale, hard)


def _patches(shape: Shape, who: Indexes, where: Indexes, model: Indexes) -> Iterator[Patch]:
    for number in np.unique(who).tolist():
        rows = np.flatnonzero(who == number)
        known = shape.known[number]
        yield rows, shape.columns(known.lines, number), shape.factors(known.lines, known.shares.T[where[rows]], model[rows], own=True)
