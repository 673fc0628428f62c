"""What a set of lines adds up to, under some coefficients of the belief: what composing climbs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optimizer.policy import Array

PER = 10.0
"""Lines are counted in tens, so that their number has effects of the size of the others."""


@dataclass(frozen=True, eq=False)
class Effects:
    """What lines do under some coefficients: `worth` by itself, `force` where they speak of the example (`relevance`: lines × examples),
    and the slope and the curve of the number of lines (in tens) of each component (`owners`: lines × components)."""

    worth: Array
    force: Array
    relevance: Array
    owners: Array
    slopes: Array
    curves: Array

    def total(self, chosen: NDArray[np.bool_]) -> float:
        """What the chosen ones add up to."""
        said, acts, counts = chosen @ self.relevance, chosen @ self._acts, chosen @ self.owners / PER
        return float((acts / np.maximum(said, 1.0)).mean() + chosen @ self.worth + counts @ self.slopes + counts**2 @ self.curves)

    def flips(self, chosen: NDArray[np.bool_]) -> Array:
        """By line: what the total would be if it were taken in, or left out where it is chosen."""
        sign = np.where(chosen, -1.0, 1.0)[:, None]
        said, acts = sign * self.relevance, sign * self._acts  # large, and changed in place: making them takes longer than all the rest
        said += chosen @ self.relevance
        acts += chosen @ self._acts
        acts /= np.maximum(said, 1.0, out=said)
        counts = (chosen @ self.owners + sign * self.owners) / PER
        bent = counts @ self.slopes + counts**2 @ self.curves
        total: Array = acts.mean(axis=1) + chosen @ self.worth + sign[:, 0] * self.worth + bent
        return total

    @cached_property
    def _acts(self) -> Array:
        return self.force[:, None] * self.relevance
