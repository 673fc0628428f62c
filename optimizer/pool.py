"""The pool: the candidates that have met all of val, and how they stand there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.policy import Objectives
from optimizer.propose.proposer import Attempt, Other
from optimizer.select import choose
from optimizer.table import Table, Values, means


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
        """The weighted mean of its levels; NaN where it has none."""
        return self._table.objectives.overall(self.level(candidate))

    def objectives(self, candidate: Candidate) -> dict[str, float]:
        """Objective → level as its scorer gives it, where there is one."""
        return self._table.objectives.raw(self.level(candidate))

    def best(self) -> Candidate:
        """The first of the members with the highest rank: of equals, the older one."""
        return self._best(self._table.objectives)

    def specialists(self) -> dict[str, tuple[Candidate, float, float]]:
        """Model → the best where only this model counts, its worth there, and what the best of all is worth there."""
        return {model: self._specialist(model) for model in self._table.objectives.models}

    def _specialist(self, model: str) -> tuple[Candidate, float, float]:
        alone, part = self._table.objectives.of(model), self._table.objectives.columns(model)
        best = self._best(alone, part)
        return best, alone.worth(self.level(best)[part]), alone.worth(self.level(self.best())[part])

    def chosen(self) -> dict[str, Candidate]:
        """Model → the candidate to run it with: the same for all, unless the policy is to choose for each model."""
        objectives = self._table.objectives
        if objectives.config.best == "per_model":
            return {model: candidate for model, (candidate, _, _) in self.specialists().items()}
        return dict.fromkeys(objectives.models, self.best())

    def reached(self) -> Values:
        """The levels of what is chosen."""
        columns = self._table.objectives.columns
        return np.concatenate([self.level(candidate)[columns(model)] for model, candidate in self.chosen().items()])

    def _best(self, objectives: Objectives, part: slice = slice(None)) -> Candidate:
        return max((member.candidate for member in self.members), key=lambda each: objectives.rank(self.level(each)[part]))

    def frontier(self) -> list[Candidate]:
        """The members that no other dominates, among those that meet the constraints; among all, where none does."""
        free = self._table.objectives.frontier(np.array([self.level(member.candidate) for member in self.members]))
        return [self.members[index].candidate for index in np.flatnonzero(free)]

    def parent(self, rng: np.random.Generator) -> Member:
        differences = [self._difference(member.candidate) for member in self.members]
        return self.members[choose(self._values(self.members[0].candidate), differences, self._table.objectives, rng)]

    def others(self, member: Member, batch: Sequence[Example]) -> list[Other]:
        """What the other members are known to have done on the batch; without those that have met none of it."""
        known = [Other(each.candidate, self._table.cells(each.candidate.id, batch)) for each in self.members if each is not member]
        return [other for other in known if other.cells]

    def _values(self, candidate: Candidate) -> Values:
        return self._table.values(candidate.id, self._val)

    def _difference(self, candidate: Candidate) -> Values:
        return self._values(candidate) - self._values(self.members[0].candidate)
