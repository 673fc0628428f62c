"""How long a run's calls take, by the seconds that single ones took: its jobs are gone through as the loop draws and commits them."""

import random
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from optimizer.schedule import BLOCK, PROPOSE, aim_of, place_of

GOOD_WIDTHS = (1, 2, 3, 4)
"""Jobs in flight that cost the search no quality (docs/search.md, "Jobs in flight")."""
WORTHWHILE = 0.1
"""The part of the time that a greater width has to save."""


@dataclass(frozen=True)
class Work:
    """A run's cells: the seed's first ones, the blocks of the search, the report's. `proposing`: whether it makes proposals too."""

    seed: int
    blocks: int
    report: int
    proposing: bool

    def jobs(self) -> list[bool]:
        """The search's jobs in their order: whether each is a proposal."""
        found: list[bool] = []
        while found.count(False) < self.blocks:
            found.append(self.proposing and aim_of(len(found) + 1) == PROPOSE)
        return found


@dataclass(frozen=True)
class Pace:
    """`cells`, `proposals`: seconds that single ones took; `width`: calls in flight at most."""

    cells: Sequence[float]
    proposals: Sequence[float]
    width: int

    def seconds(self, work: Work, in_flight: int) -> float:
        """From the first call to the last answer. What the run itself computes comes on top."""
        rng, jobs = random.Random(0), work.jobs()
        now, drawn = self._wave(work.seed, 1, rng), 0
        order: list[tuple[tuple[int, int], float]] = []  # the places of those under way, and when they end
        while drawn < len(jobs) or order:
            while drawn < len(jobs) and (not order or drawn + 1 - in_flight < order[0][0][0]):
                took = rng.choice(self.proposals) if jobs[drawn] else self._wave(BLOCK, in_flight, rng)
                insort(order, (place_of(drawn + 1, jobs[drawn]), now + took))
                drawn += 1
            now = max(now, order.pop(0)[1])
        return now + self._wave(work.report, 1, rng)

    def busy(self, work: Work) -> float:
        """Seconds of all calls together."""
        jobs = work.jobs()
        cells = work.seed + BLOCK * work.blocks + work.report
        return cells * fmean(self.cells) + (jobs.count(True) * fmean(self.proposals) if work.proposing else 0.0)

    def advised(self, work: Work) -> int:
        """The least number of jobs in flight to which more, within what costs no quality, would add little."""
        seconds = {width: self.seconds(work, width) for width in GOOD_WIDTHS}
        return next(width for width in GOOD_WIDTHS if seconds[width] * (1 - WORTHWHILE) <= min(seconds.values()))

    def _wave(self, n: int, beside: int, rng: random.Random) -> float:
        """Seconds of `n` cells that start together, beside others like them: as long as the slowest, or as they wait for one another."""
        if n == 0:
            return 0.0
        return max(*rng.choices(self.cells, k=n), n * beside * fmean(self.cells) / self.width)
