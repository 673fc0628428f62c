"""Rewrites: what proposals have made of each component's text, and whether it is a sum of lines that can be put together anew."""

from collections.abc import Set
from statistics import fmean

from adapters.candidate import DEMONSTRATIONS, Candidate
from optimizer.units import Unit, units

FEWEST = 2.0
"""Lines of a rewritten text, in the mean, below which there is nothing to put together."""
KEPT = 0.5
"""The share of lines that a rewrite keeps word for word, below which what is learned of a line is of no use to the next text."""
TELLING = 3
"""Lines that a text needs for its rewrite to tell how many are kept."""


class Rewrites:
    def __init__(self) -> None:
        self._sizes: dict[str, list[int]] = {}
        self._kept: dict[str, list[float]] = {}

    def add(self, parent: Candidate, child: Candidate) -> None:
        for name, text in child.components.items():
            if text != parent.components[name] and name != DEMONSTRATIONS:
                before, after = (_lines(each, name) for each in (parent, child))
                self._sizes.setdefault(name, []).append(len(after))
                if len(before) >= TELLING:
                    self._kept.setdefault(name, []).append(len(before & after) / len(before))

    def whole(self, silent: Set[str]) -> set[str]:
        """The components whose texts are better taken whole. `silent`: those whose lines do not speak of the examples."""
        return {name for name in self._sizes if not self._apart(name) or name in silent}

    def _apart(self, name: str) -> bool:
        return fmean(self._sizes[name]) >= FEWEST and fmean(self._kept.get(name, [1.0])) >= KEPT


def _lines(candidate: Candidate, component: str) -> set[Unit]:
    return {unit for unit in units(candidate) if unit.component == component}
