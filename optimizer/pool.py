"""The pool: the candidates that have met all of val, and how they stand there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.propose.proposer import Attempt
from optimizer.select import choose
from optimizer.table import Table, Values, means
from scoring.pareto import non_dominated


@dataclass
class Member:
    """`attempts`: its children that did not make it."""

    candidate: Candidate
    attempts: list[Attempt] = field(default_factory=list)


class Pool:
    """Members are compared through the seed, in pairs: a member's level is the seed's mean plus its mean difference to the seed over
    the cells that both have. So a member that failed on the hard examples gains nothing by it. Without failed cells a level is the
    plain mean."""

    def __init__(self, seed: Candidate, table: Table, val: Sequence[Example]) -> None:
        self._table, self._val = table, val
        self.members = [Member(seed)]

    def add(self, candidate: Candidate) -> None:
        self.members.append(Member(candidate))

    def level(self, candidate: Candidate) -> Values:
        """By objective, in 0..1; NaN where the candidate and the seed have no cell in common."""
        return means(self._values(self.members[0].candidate)) + means(self._difference(candidate))

    def overall(self, candidate: Candidate) -> float:
        """The mean of its levels; NaN where it has none."""
        known = [level for level in self.level(candidate).tolist() if not math.isnan(level)]
        return math.fsum(known) / len(known) if known else math.nan

    def objectives(self, candidate: Candidate) -> dict[str, float]:
        """Objective → level, where there is one."""
        levels = zip(self._table.objectives, self.level(candidate).tolist(), strict=True)
        return {name: level for name, level in levels if not math.isnan(level)}

    def best(self) -> Candidate:
        """The first of the members with the highest overall level: of equals, the older one."""
        return max((member.candidate for member in self.members), key=self.overall)

    def frontier(self) -> list[Candidate]:
        """The members that no other dominates."""
        levels = np.array([self.level(member.candidate) for member in self.members])
        return [member.candidate for member, free in zip(self.members, non_dominated(levels), strict=True) if free]

    def parent(self, rng: np.random.Generator) -> Member:
        return self.members[choose([self._difference(member.candidate) for member in self.members], rng)]

    def _values(self, candidate: Candidate) -> Values:
        return self._table.values(candidate.id, self._val)

    def _difference(self, candidate: Candidate) -> Values:
        return self._values(candidate) - self._values(self.members[0].candidate)
