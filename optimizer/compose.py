"""Composing: the candidate that the lines of all candidates make up best, under what is believed of each line. Calls no model."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adapters.candidate import DEMONSTRATIONS
from optimizer.effects import Effects
from optimizer.policy import Array, steady
from optimizer.units import Unit

LEAST_GAIN = 1e-8
"""More than rounding makes."""

Mask = NDArray[np.bool_]


class Composer:
    """`placeholders`: the inputs that a text names; `most`: demonstrations at most."""

    def __init__(self, placeholders: Callable[[str], frozenset[str]], most: int) -> None:
        self._placeholders, self._most = placeholders, most

    def climb(
        self, units: Sequence[Unit], start: Sequence[int], effects: Effects, longest: Mapping[str, int], whole: Set[str] = frozenset()
    ) -> tuple[int, ...]:
        """The indexes of the lines that add up best, rising: one is taken in or left out at a time, or the least of a component exchanged
        for a better one, as long as that helps.

        Lines that name inputs stay as they are at the start, and so do those of the components that are taken `whole`. Every component
        keeps a line, but for the demonstrations. Where it has as many as `longest` says, or demonstrations `most`, none is taken in until
        another has gone."""
        names = sorted({unit.component for unit in units})
        shown = [name == DEMONSTRATIONS for name in names]
        owner = np.array([names.index(unit.component) for unit in units], dtype=np.intp)
        named = [unit.component != DEMONSTRATIONS and bool(self._placeholders(unit.text)) for unit in units]
        fixed = [names_input or unit.component in whole for names_input, unit in zip(named, units, strict=True)]
        limits = [self._most if name == DEMONSTRATIONS else longest.get(name, 1) for name in names]
        rules = Rules(owner, np.array(fixed, dtype=bool), np.where(shown, 0, 1), np.array(limits, dtype=np.intp))
        chosen = np.zeros(len(units), dtype=bool)
        chosen[list(start)] = True
        best: float | None = None if all(fixed) else effects.total(chosen)
        while best is not None:
            best = _step(chosen, effects, rules, best + LEAST_GAIN)
        return tuple(np.flatnonzero(chosen).tolist())


@dataclass(frozen=True, eq=False)
class Rules:
    """`owner`, `fixed`: by line, its component and whether it has to stay as it is; `least`, `limits`: by component, how many lines it
    keeps and how many it may have."""

    owner: NDArray[np.intp]
    fixed: Mask
    least: NDArray[np.intp]
    limits: NDArray[np.intp]

    def allow(self, chosen: Mask) -> Mask:
        """Which lines may be flipped."""
        counts = np.bincount(self.owner[chosen], minlength=len(self.least))[self.owner]
        found: Mask = ~self.fixed & np.where(chosen, counts > self.least[self.owner], counts < self.limits[self.owner])
        return found


def _step(chosen: Mask, effects: Effects, rules: Rules, beat: float) -> float | None:
    """Changes `chosen` into what adds up to more than `beat`, and returns how much that is; None where there is nothing."""
    flips = effects.flips(chosen)
    flip, value = _best(flips, rules.allow(chosen))
    if value > beat:
        chosen[flip] = not chosen[flip]
        return value
    for component in range(len(rules.least)):
        own = rules.owner == component
        least, found = _best(flips, own & chosen & ~rules.fixed)
        if found > -np.inf:
            chosen[least] = False
            flip, value = _best(effects.flips(chosen), own & ~chosen & rules.allow(chosen))
            if value > beat:
                chosen[flip] = True
                return value
            chosen[least] = True
    return None


def _best(values: Array, allowed: Mask) -> tuple[int, float]:
    """Where the highest is, and what it is: minus infinity where none is allowed."""
    some = np.where(allowed, steady(values), -np.inf)
    return int(np.argmax(some)), float(some.max())
