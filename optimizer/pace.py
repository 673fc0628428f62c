"""How long a run's calls take, by the seconds that single ones took: its jobs are gone through as the loop draws and commits them."""

import random
from bisect import insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from optimizer.order import CYCLE, PROPOSE, Order, aim_of
from optimizer.schedule import BLOCK

GOOD_WIDTHS = (1, 2, 3, 4)
"""Jobs in flight that cost the search little or nothing (docs/search.md, "Jobs in flight")."""
LEAST_SAVING = 0.1
"""The part of the time that a greater width has to save."""

FAR = 1_000
"""Blocks that are gone through. Those beyond are taken to go on as the second half of these."""


@dataclass(frozen=True)
class Work:
    """A run's cells: the seed's first ones, the blocks of the search, the report's. `proposing`: whether it makes proposals too."""

    seed: int
    blocks: int
    report: int
    proposing: bool

    @property
    def beyond(self) -> int:
        """Blocks that are not gone through."""
        return max(0, self.blocks - FAR)

    def proposals(self, in_flight: int) -> int:
        each = CYCLE.count(PROPOSE)
        near = sum(replace(self, blocks=self.blocks - self.beyond).jobs(in_flight).values())
        return near + self.proposing * self.beyond * each // (len(CYCLE) - each)

    def jobs(self, in_flight: int) -> dict[int, bool]:
        """The search's jobs by their indexes, in order: whether each is a proposal. Those that nothing could follow from are not made."""
        found, runs = dict[int, bool](), 0
        while runs < self.blocks:
            index = len(found) + 1
            found[index] = self.proposing and aim_of(index) == PROPOSE
            runs += not found[index]
        return {index: proposal for index, proposal in found.items() if not proposal or Order(in_flight).heir(index) <= len(found)}


@dataclass(frozen=True)
class Pace:
    """`cells`, `proposals`: seconds that single ones took; `width`: calls in flight at most."""

    cells: Sequence[float]
    proposals: Sequence[float]
    width: int

    def seconds(self, work: Work, in_flight: int) -> float:
        """From the first call to the last answer. What the run itself computes comes on top."""
        if work.beyond:
            half, whole = (self.seconds(replace(work, blocks=blocks), in_flight) for blocks in (FAR // 2, FAR))
            return whole + (whole - half) * work.beyond / (FAR - FAR // 2)
        rng, drawn, ordered = random.Random(0), deque(work.jobs(in_flight).items()), Order(in_flight)
        now = self._wave(work.seed, 1, rng)
        order: list[tuple[tuple[int, int], float]] = []  # the places of those under way, and when they end
        while drawn or order:
            while drawn and (not order or ordered.known_to(drawn[0][0]) < order[0][0][0]):
                index, proposal = drawn.popleft()
                took = rng.choice(self.proposals) if proposal else self._wave(BLOCK, ordered.width(index), rng)
                insort(order, (ordered.place(index, proposal), now + took))
            now = max(now, order.pop(0)[1])
        return now + self._wave(work.report, 1, rng)

    def busy(self, work: Work, in_flight: int) -> float:
        """Seconds of all calls together."""
        cells = work.seed + BLOCK * work.blocks + work.report
        proposals = work.proposals(in_flight)
        return cells * fmean(self.cells) + (proposals * fmean(self.proposals) if proposals else 0.0)

    def advised(self, work: Work) -> int:
        """The least number of jobs in flight to which more of the good widths would add little."""
        seconds = {width: self.seconds(work, width) for width in GOOD_WIDTHS}
        return next(width for width in GOOD_WIDTHS if seconds[width] * (1 - LEAST_SAVING) <= min(seconds.values()))

    def _wave(self, n: int, beside: int, rng: random.Random) -> float:
        """Seconds of `n` cells that start together, beside others like them: as long as the slowest, or as they wait for one another."""
        if n == 0:
            return 0.0
        return max(*rng.choices(self.cells, k=n), n * beside * fmean(self.cells) / self.width)
