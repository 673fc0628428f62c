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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adapters.candidate import Candidate
from adapters.example import Example
from adapters.template import spell
from optimizer.design import Design, design
from optimizer.effects import PER, Effects
from optimizer.evaluate import Cell
from optimizer.factors import NOISE, Indexes, Patch
from optimizer.noise import averaged
from optimizer.policy import Array, Objectives
from optimizer.units import Unit, units
from optimizer.words import Words

WORTH, TASTE, FORCE, OWN, BEND, HELP = 0.03, 0.02, 0.3, 0.05, 0.1, 0.3
"""Standard deviations of the effects, for scores that are 0 or 1 half and half, whose deviation is 0.5; for others they are scaled."""
HELPS = 0.2
"""The mean of `help`, in the same scale."""
IDLE = -0.03
"""What a line that speaks of nothing in any example is taken to add, until it shows: a prompt is better short. Not so where lines do not
speak of the examples at all."""
SPEAKING = 0.25
"""The share of a component's lines that speak of some example, below which lines do not act by themselves as far as anybody can see."""
LEAST = 0.02
"""Scores that vary less than this are taken to vary so much."""
SAMPLE = 500
"""Examples, at least, that lines are weighed by where there are so many."""
AT_ONCE = 2 * 10**6
"""Numbers that are worked on together, at most, where a candidate takes as many as there are coefficients."""


Part = tuple[Indexes, Array]
"""The coefficients that have a part in a candidate's level, and their factors there, in the mean over all examples (models × these)."""


@dataclass(frozen=True, eq=False)
class Known:
    """A candidate: the indexes of its lines, rising, and their shares (lines × examples)."""

    candidate: Candidate
    lines: Indexes
    shares: Array


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

    def posterior(self, cells: Sequence[Cell], objectives: Objectives) -> "Posterior":
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
                designs[seen.tobytes()] = _design(shape, who[seen], where[seen], model[seen])
            fitted.append(_fit(shape, designs[seen.tobytes()], values[seen]))
        return Posterior(shape, fitted)


def shares(relevance: Array) -> Array:
    """Of one candidate's lines: lines × examples, both."""
    found: Array = relevance / np.maximum(relevance.sum(axis=0), 1.0)
    return found


def silent(units: Sequence[Unit], relevance: Array) -> set[str]:
    """The components of whose lines too few are relevant (lines × examples) for any example."""
    speaks: dict[str, list[bool]] = {}
    for unit, row in zip(units, relevance, strict=True):
        speaks.setdefault(unit.component, []).append(bool(row.any()))
    return {name for name, each in speaks.items() if sum(each) < SPEAKING * len(each)}


@dataclass(frozen=True, eq=False)
class Shape:
    """Which coefficient is where: [level; per component: n, then n squared; help; worth by line; force by line; where there are several
    models: taste by line and model; own by candidate]."""

    known: Sequence[Known]
    units: Sequence[Unit]
    relevance: Array
    objectives: Objectives

    @cached_property
    def components(self) -> list[str]:
        return sorted({unit.component for unit in self.units})

    @cached_property
    def owners(self) -> Array:
        """Lines × components."""
        found = np.array([[unit.component == name for name in self.components] for unit in self.units], dtype=np.float64)
        return found.reshape(len(self.units), len(self.components))

    @cached_property
    def help(self) -> int:
        return 1 + 2 * len(self.components)

    @cached_property
    def models(self) -> int:
        """How many there are to tell apart."""
        return len(self.objectives.models) if len(self.objectives.models) > 1 else 0

    @cached_property
    def own(self) -> int:
        """Where the first of these is."""
        return self.help + 1 + (2 + self.models) * len(self.units)

    @cached_property
    def size(self) -> int:
        return self.own + len(self.known)

    def worth(self, lines: Indexes | slice = slice(None)) -> Indexes:
        return np.arange(self.help + 1, self.help + 1 + len(self.units))[lines]

    def force(self, lines: Indexes | slice = slice(None)) -> Indexes:
        return self.worth(lines) + len(self.units)

    def taste(self, lines: Indexes) -> Indexes:
        """Line by line, model by model."""
        first = self.help + 1 + 2 * len(self.units)
        return (first + lines[:, None] * self.models + np.arange(self.models)).ravel()

    def columns(self, lines: Indexes, number: int | None) -> Indexes:
        """Of the coefficients that have a part in a candidate with these lines; `number`: the candidate's own one too."""
        own = np.array([] if number is None else [self.own + number], dtype=np.intp)
        return np.concatenate([np.arange(self.help + 1), self.worth(lines), self.force(lines), self.taste(lines), own])

    def factors(self, lines: Indexes, share: Array, model: Indexes, *, own: bool) -> Array:
        """Rows × columns. `share`: rows × lines; `model`: the row's; `own`: whether the candidate's own coefficient has a part."""
        counts = self.owners[lines].sum(axis=0) / PER
        rows = np.ones((len(share), 1))
        asked = np.tile(model[:, None] == np.arange(self.models), (1, len(lines))).astype(np.float64)
        found = [rows, rows * counts, rows * counts**2, share.sum(axis=1, keepdims=True), rows * np.ones(len(lines)), share, asked]
        return np.hstack([*found, rows] if own else found)

    @cached_property
    def prior(self) -> tuple[Array, Array]:
        """Means and standard deviations."""
        mean, deviation = np.zeros(self.size), np.full(self.size, OWN)
        mute = silent(self.units, self.relevance)
        idle = [unit.component not in mute and not row.any() for unit, row in zip(self.units, self.relevance, strict=True)]
        mean[self.help], mean[self.worth()] = HELPS, np.where(idle, IDLE, 0.0)
        deviation[0], deviation[1 : self.help], deviation[self.help] = 1.0, BEND, HELP
        deviation[self.worth()], deviation[self.force()] = WORTH, FORCE
        deviation[self.taste(np.arange(len(self.units)))] = TASTE
        return mean, deviation


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


def _design(shape: Shape, who: Indexes, where: Indexes, model: Indexes) -> Design:
    models = len(shape.objectives.models)
    patches = list(_patches(shape, who, where, model))
    return design(patches, shape.prior[1], where * models + model, shape.relevance.shape[1] * models)


def _fit(shape: Shape, design: Design, values: Array) -> Fitted:
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
