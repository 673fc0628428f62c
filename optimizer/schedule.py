"""The schedule: what each job is about, fixed when it is drawn, by what is known then and by streams of its own."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from adapters.candidate import Candidate
from adapters.digest import digest
from adapters.example import Example
from adapters.split import SearchData
from optimizer.budget import Claim
from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell, CellKey, Spot
from optimizer.minibatch import block, lessons, lost, told
from optimizer.noise import probes
from optimizer.order import OPENING, PROPOSE, Order, aim_of
from optimizer.pool import Pool
from optimizer.propose.demos import Shown, unshown
from optimizer.propose.proposer import NO_PROPOSAL, Other, Proposal, Proposer
from optimizer.table import Table

SEED_JOB = 0
FREE = Claim()
FIRST = 20
"""Train examples that the seed meets before anything else, and half as many of val."""
ANEW_EVERY = 3
"""One in so many proposals of the opening is written as if there were no text yet: rewrites keep the seed's frame, and its faults."""
BLOCK = 12
"""Cells of one job."""
PATIENCE = 12
"""Jobs in a row that could do nothing, after which the search ends."""


@dataclass(frozen=True)
class Rules:
    """What of the config decides the search. `priced`: tokens or money are limited; `report_share`: the report's cells relative to the
    seed's first ones; `repeats`: model → how often its cells may be filled where they are noisy; once for those that are not named."""

    order: Order
    random_seed: int
    max_failed_share: float
    priced: bool
    report_share: float
    repeats: Mapping[str, int] = field(default_factory=dict)

    def rng(self, what: str, index: int) -> np.random.Generator:
        return np.random.default_rng(int(digest(self.random_seed, what, index), 16))

    def stream(self, what: str, index: int) -> random.Random:
        return random.Random(f"{self.random_seed}/{what}/{index}")


@dataclass(frozen=True)
class Job:
    """One piece of work, as far as it got: a candidate's cells in some spots, or a proposal from a candidate's known `lessons`.

    The first fields are fixed when it is drawn, by what is known then, and `claim`, the most that it can use, when somebody has to pay;
    `cells` and `proposal` are what came of it.
    """

    index: int
    place: tuple[int, int]
    aim: str
    candidate: Candidate
    spots: Sequence[Spot] = ()
    proposer: Proposer | None = None
    lessons: Sequence[Cell] = ()
    known: frozenset[str] = frozenset()
    others: Sequence[Other] = ()
    anew: bool = False
    claim: Claim = FREE
    cells: Sequence[Cell] = ()
    proposal: Proposal = NO_PROPOSAL

    @property
    def examples(self) -> list[Example]:
        """Where it runs its candidate, or what its proposer reads."""
        met = [spot.example for spot in self.spots] or [cell.example for cell in self.lessons]
        return list({example.id: example for example in met}.values())


class Schedule:
    """Draws one job after another. It spends nothing and accepts nothing."""

    def __init__(
        self,
        seed: Candidate,
        data: SearchData,
        rules: Rules,
        models: Sequence[str],
        proposers: Sequence[Proposer],
        table: Table,
        pool: Pool,
        wanted: ObjectivesConfig,
    ) -> None:
        self._seed, self._data, self._rules, self._proposers = seed, data, rules, proposers
        self._table, self._pool, self._wanted = table, pool, wanted
        self._examples = [*data.train, *data.val]
        self._train = {example.id for example in data.train}
        self._shown = Shown(self._examples)
        self.repeats: Mapping[str, int] = dict.fromkeys(models, 1)
        """Model → how often a candidate may meet an example with it; more than once where noise has been found."""
        self.next = SEED_JOB + 1
        """The index of the job that is drawn next."""
        self._planned: dict[int, set[CellKey]] = {}
        """Job → the cells that it is to fill, as long as it has not committed."""

    def first(self) -> list[Spot]:
        """Where the seed is run before anything else."""
        spots = first_spots(self._seed, self._data, self._rules, list(self.repeats))
        self._plan(SEED_JOB, self._seed, spots)
        return spots

    def draw(self) -> Job:
        index = self.next
        self.next += 1
        job = self._proposing(index) if aim_of(index) == PROPOSE else None
        job = job or self._running(index)
        self._plan(index, job.candidate, job.spots)
        return job

    def forget(self, job: int) -> None:
        """It has committed: what it has filled is in the table."""
        del self._planned[job]

    def _plan(self, job: int, candidate: Candidate, spots: Sequence[Spot]) -> None:
        self._planned[job] = {(candidate.id, spot.example.id, spot.model, spot.repeat) for spot in spots}

    def _running(self, index: int) -> Job:
        """A block of a candidate that may be the best, or on val of one that decides who is."""
        stream, aim = self._rules.stream("block", index), aim_of(index)
        spots: list[Spot] = []
        if aim == "confirm":
            candidate = self._pool.confirmed(BLOCK)
            spots = self._block(candidate, self._data.val, BLOCK, stream)
        if not spots:
            aim, candidate = "explore", self._pool.draw(self._rules.rng("draw", index), self._done())
            spots = self._block(candidate, self._examples, BLOCK, stream)
        return Job(index, self._rules.order.place(index, False), aim, candidate, spots=spots)

    def _proposing(self, index: int) -> Job | None:
        """A proposal from what a candidate has shown on train; None where there is nothing to learn from."""
        teachers = self._teachers()
        if not self._proposers or not teachers:
            return None
        proposer = self._proposers[index % len(self._proposers)]
        opening = index <= OPENING and self._seed in teachers
        parent = self._seed if opening else self._pool.parent(self._rules.rng("parent", index), teachers)
        learnt = self._table.cells(parent.id, self._data.train)
        batch = lessons(learnt, self._wanted, proposer.minibatch, self._rules.stream("lessons", index))
        cells = told(self._table.cells(parent.id, batch), self._wanted)
        known = frozenset(each.id for each in self._pool.members)
        anew = opening and index % ANEW_EVERY == ANEW_EVERY - 1
        place = self._rules.order.place(index, True)
        others = self._pool.others(parent, batch)
        return Job(index, place, PROPOSE, parent, proposer=proposer, lessons=cells, known=known, others=others, anew=anew)

    def _teachers(self) -> list[Candidate]:
        """Those that lost points on train."""
        train = (cell for cell in self._table.all() if cell.example.id in self._train)
        found = {cell.candidate for cell in train if lost(cell, self._wanted)}
        return [each for each in self._pool.members if each.id in found]

    def _block(self, candidate: Candidate, examples: Sequence[Example], size: int, stream: random.Random) -> list[Spot]:
        """Never on an example that it shows with its answer."""
        met = set(self._table.known).union(*self._planned.values())
        shown = self._shown.by(candidate)
        return block(candidate.id, [each for each in examples if each.id not in shown], self.repeats, met, size, stream)

    def _done(self) -> set[str]:
        """Those that have met everything as often as they may, or will have when what is under way is done."""
        planned = Counter(who for who, *_ in set[CellKey]().union(*self._planned.values()) - self._table.known)
        most = sum(self.repeats.values())
        return {
            each.id
            for each in self._pool.members
            if self._table.version(each.id) + planned[each.id] >= most * (len(self._examples) - len(self._shown.by(each)))
        }


def first_spots(seed: Candidate, data: SearchData, rules: Rules, models: Sequence[str]) -> list[Spot]:
    """Where the seed is run before anything else; in some spots twice, to measure noise."""
    stream, once = rules.stream("block", SEED_JOB), dict.fromkeys(models, 1)
    splits = ((data.train, FIRST), (data.val, FIRST // 2))
    spots = [spot for split, size in splits for spot in block(seed.id, unshown(seed, split), once, set(), size, stream)]
    return spots + probes(spots, rules.repeats)


def first_cells(seed: Candidate, data: SearchData) -> int:
    """How many cells the seed's first ones are."""
    return min(FIRST, len(unshown(seed, data.train))) + min(FIRST // 2, len(unshown(seed, data.val)))
