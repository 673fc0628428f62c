"""The pool: all candidates that are known, what is believed of them, and who is next."""

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.belief import Belief
from optimizer.compose import Composer
from optimizer.policy import ROUNDING, Array, Objectives, steady
from optimizer.propose.proposer import Other
from optimizer.rewrites import Rewrites
from optimizer.shape import OWN
from optimizer.table import Table, means
from optimizer.units import Unit, assemble, units

HEAT = 0.5
"""How far draws for exploring spread, relative to the posterior: less than 1 spends more on what looks good."""
LONGER = 2
"""Lines that a new text may have more than any that was run."""
SURE = 2.5
"""Standard deviations that the best has to be better than the seed by; `tests/benchmarks/search_worlds.py sure` measures how often chance
gets there."""
SETTLED = 10
"""Val cells that a candidate needs before it can be the best (all of val, where that is less)."""


@dataclass(frozen=True)
class Composing:
    """What candidates may be composed of beside the lines of known ones. `problem`: what is wrong with a candidate, or None."""

    offers: Sequence[Unit]
    composer: Composer
    problem: Callable[[Candidate, Candidate], str | None]


class Pool:
    def __init__(self, seed: Candidate, table: Table, examples: Sequence[Example], val: Sequence[Example], composing: Composing) -> None:
        self._table, self._val, self._composing = table, val, composing
        self._belief = Belief(examples)
        self.members, self._index = [seed], {seed.id: 0}
        self._belief.meet(seed)
        for unit in composing.offers:
            self._belief.offer(unit)
        self._rewrites = Rewrites()
        self._seen: dict[str, tuple[int, int]] = {}
        """Member → how many cells it has, and in how many places it was run on val."""
        self.learn()

    def __contains__(self, candidate: Candidate) -> bool:
        return candidate.id in self._index

    def add(self, candidate: Candidate, rewrite_of: Candidate | None = None) -> None:
        """`rewrite_of`: what a proposer has made it from."""
        if rewrite_of is not None:
            self._rewrites.add(rewrite_of, candidate)
        if candidate.id not in self._index:
            self._index[candidate.id] = len(self.members)
            self.members.append(candidate)
            self._belief.meet(candidate)

    def learn(self) -> None:
        """Take in what the table holds now."""
        self._now = self._belief.posterior(self._table.all(), self._table.objectives)
        self._levels = steady(self._now.levels(self._now.means))
        self._wanted = self._table.objectives.beside(self._levels[0])
        for member in self.members:
            version = self._table.version(member.id)
            if self._seen.get(member.id, (-1,))[0] != version:
                self._seen[member.id] = (version, self._table.met(member.id, self._val))

    # --- who is next ----------------------------------------------------------------------------------------------

    def draw(self, rng: np.random.Generator, done: Set[str]) -> Candidate:
        """The candidate that is best under a draw from what is believed: a known one or a new one, made of known lines. `done`: ids of
        those that need not be run any more; they are only drawn where there is no other."""
        drawn = self._now.draw(rng, HEAT)
        objectives = self._wanted
        weights = objectives.weights * rng.standard_exponential(len(objectives.names)) if len(objectives.names) > 1 else objectives.weights
        return self._best_under(drawn, weights, HEAT * rng.standard_normal(), done)

    def favourite(self) -> Candidate:
        """The candidate that is best under what is believed, drawn from nothing: a known one or a new one."""
        return self._best_under(self._now.means, self._wanted.weights, 0.0, frozenset())

    def confirmed(self, cells: int) -> Candidate:
        """Who is to meet so many cells of val: the favourite, or the seed, where that says more of whether the leader is surely better."""
        seed, weights = self.members[0], self._wanted.weights
        number = self._index[self._leader(self._wanted).id]
        doubted = 0 < self._now.sureness(number, weights) < SURE and self._met(seed) < len(self._val) * len(self._wanted.models)
        return seed if doubted and self._now.seed_tells_more(number, weights, cells) else self.favourite()

    def parent(self, rng: np.random.Generator, able: Sequence[Candidate]) -> Candidate:
        """One of those that are able to be one, by a draw."""
        objectives = self._wanted
        levels = steady(self._now.levels(self._now.draw(rng, HEAT)))
        return max(able, key=lambda each: objectives.merit(levels[self._index[each.id]]))

    def _best_under(self, drawn: Sequence[Array], weights: Array, luck: float, done: Set[str]) -> Candidate:
        objectives = self._wanted
        levels = steady(self._now.levels(drawn))
        merits = np.nan_to_num(np.array([objectives.merit(row, weights) for row in levels]), nan=-np.inf)
        merits[[self._index[each.id] for each in self.members if each.id in done]] = -np.inf
        known = self.members[int(np.argmax(merits))]
        lines = self._compose(known, drawn, weights)
        same = next((each for each in self.members if self._belief.lines(each) == lines), None)
        if same is not None:
            return max(known, same, key=lambda each: merits[self._index[each.id]])
        # Worth what its lines add up to; what it is worth beyond that, nobody knows yet.
        worth = objectives.merit(steady(self._now.imagined(lines, drawn)), weights) + luck * OWN
        chosen = [self._belief.units[index] for index in lines]
        made = assemble(self.members[0].components, chosen)
        # Behind others a text's first line, if it is indented, would belong to the one before: that would be another candidate.
        whole = set(units(made)) == set(chosen)
        return made if whole and worth > merits.max() and self._composing.problem(known, made) is None else known

    def _compose(self, start: Candidate, drawn: Sequence[Array], weights: Array) -> tuple[int, ...]:
        effects = self._now.effects(drawn, weights)
        whole = self._rewrites.whole(self._belief.silent())
        return self._composing.composer.climb(self._belief.units, self._belief.lines(start), effects, self._longest(), whole)

    def _longest(self) -> dict[str, int]:
        """Component → how many lines a new text may have: a few more than any that was run. How it would go on beyond, nobody knows."""
        run = [each for each in self.members if each is self.members[0] or self._seen[each.id][0]]
        counts = [Counter(unit.component for unit in units(each)) for each in run]
        return {name: max(count[name] for count in counts) + LONGER for name in self.members[0].components}

    # --- how they stand -------------------------------------------------------------------------------------------

    def level(self, candidate: Candidate) -> Array:
        """By objective, as it is believed to be over all examples of the search."""
        level: Array = self._levels[self._index[candidate.id]]
        return level

    def overall(self, candidate: Candidate) -> float:
        return self._wanted.overall(self.level(candidate))

    def objectives(self, candidate: Candidate) -> dict[str, float]:
        """Objective → level as its scorer gives it."""
        return self._wanted.raw(self.level(candidate))

    def deviations(self, candidates: Sequence[Candidate]) -> Array:
        """How surely their levels are known, and, last, their overall means: standard deviations, candidates × (objectives and 1)."""
        weights = self._table.objectives.weights
        rows = np.vstack([np.eye(len(weights)), weights / (weights.sum() or 1.0)])
        return steady(self._now.deviations([self._index[each.id] for each in candidates], rows))

    def settled(self) -> list[Candidate]:
        """Those that have met enough of val to be the best; the seed is always among them."""
        enough = min(SETTLED, len(self._val))
        return [each for each in self.members if each is self.members[0] or self._met(each) >= enough]

    def best(self) -> Candidate:
        return self._best(self._wanted)

    def unproven(self) -> tuple[Candidate, float] | None:
        """Where the seed is the best: who looks better and is not surely so, and by how much, in what the policy looks at. None where
        nobody looks better."""
        objectives, seed = self._wanted, self.members[0]
        leader = self._leader(objectives)
        if leader == seed or self.best() != seed:
            return None
        return leader, objectives.worth(self.level(leader)) - objectives.worth(self.level(seed))

    def specialists(self) -> dict[str, tuple[Candidate, float, float]]:
        """Model → the best where only this model counts, its worth there, and what the best of all is worth there."""
        return {model: self._specialist(model) for model in self._wanted.models}

    def _specialist(self, model: str) -> tuple[Candidate, float, float]:
        alone, part = self._wanted.of(model), self._wanted.columns(model)
        shared = self.best()
        # The shared one first: of equals it is the one, and so it is where nobody is surely better than the seed for this model.
        best = max((shared, self._best(alone, part)), key=lambda each: alone.rank(self.level(each)[part]))
        return best, alone.worth(self.level(best)[part]), alone.worth(self.level(shared)[part])

    def chosen(self) -> dict[str, Candidate]:
        """Model → the candidate to run it with: the same for all, unless the policy is to choose for each model."""
        objectives = self._wanted
        if objectives.config.best == "per_model":
            return {model: candidate for model, (candidate, _, _) in self.specialists().items()}
        return dict.fromkeys(objectives.models, self.best())

    def reached(self) -> Array:
        """The levels of what is chosen."""
        columns = self._wanted.columns
        return np.concatenate([self.level(candidate)[columns(model)] for model, candidate in self.chosen().items()])

    def _leader(self, objectives: Objectives, part: slice = slice(None)) -> Candidate:
        """The settled candidate with the highest rank."""
        return max(self.settled(), key=lambda each: objectives.rank(self.level(each)[part]))

    def _best(self, objectives: Objectives, part: slice = slice(None)) -> Candidate:
        """The leader, if it is surely better than the seed; else the seed. One of many that are no better
        always looks better: what chance alone makes of them has to be beaten, not zero. Meeting constraints that the seed does not is
        better in any case."""
        weights = np.zeros(len(self._wanted.names))
        weights[part] = objectives.weights
        seed = self.members[0]
        best = self._leader(objectives, part)
        nearer = objectives.shortfall(self.level(best)[part]) < objectives.shortfall(self.level(seed)[part])
        return best if nearer or self._now.sureness(self._index[best.id], weights) >= SURE else seed

    def frontier(self) -> list[Candidate]:
        """The settled ones that no other dominates, among those that meet the constraints; among all, where none does."""
        settled = self.settled()
        free = self._wanted.frontier(np.array([self.level(each) for each in settled]))
        return [settled[index] for index in np.flatnonzero(free)]

    def perfect(self) -> bool:
        """Whether the best has met all of val, and was right everywhere. Where another was, and is not surely better than the seed, there
        is something left to find out."""
        objectives, best = self._wanted, self.best()
        values = means(self._table.values(best.id, self._val))
        whole = self._met(best) >= len(self._val) * len(objectives.models)
        return whole and objectives.overall(values) >= 1 - ROUNDING and not objectives.shortfall(values)

    def nearest(self, candidate: Candidate) -> Candidate:
        """The member that shares the most lines with it; of equals, the younger one."""
        lines = set(units(candidate))
        return max(reversed(self.members), key=lambda each: len(lines & set(units(each))))

    def others(self, parent: Candidate, batch: Sequence[Example]) -> list[Other]:
        """What the other members are known to have done on the batch; without those that have met none of it."""
        known = [Other(each, self._table.cells(each.id, batch)) for each in self.members if each != parent]
        return [other for other in known if other.cells]

    def _met(self, candidate: Candidate) -> int:
        return self._seen[candidate.id][1]
