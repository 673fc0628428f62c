"""The shape of the belief: its coefficients, which of them have a part in which candidate, and what is taken for likely beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adapters.candidate import Candidate
from optimizer.effects import PER
from optimizer.factors import Indexes
from optimizer.policy import Array, Objectives
from optimizer.units import Unit

WORTH, TASTE, FORCE, OWN, BEND, HELP = 0.03, 0.02, 0.3, 0.05, 0.1, 0.3
"""Standard deviations of the effects, for scores that are 0 or 1 half and half, whose deviation is 0.5; for others they are scaled."""
HELPS = 0.2
"""The mean of `help`, in the same scale."""
IDLE = -0.03
"""What a line that speaks of nothing in any example is taken to add, until it shows: a prompt is better short. Not so where lines do not
speak of the examples at all."""
SPEAKING = 0.25
"""The share of a component's lines that speak of some example, below which lines do not act by themselves as far as anybody can see."""


@dataclass(frozen=True, eq=False)
class Known:
    """A candidate: the indexes of its lines, rising, and their shares (lines × examples)."""

    candidate: Candidate
    lines: Indexes
    shares: Array


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
