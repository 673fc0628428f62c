"""The order of commits: what a job knows when it is drawn, and where what came of it takes its place (invariant I2)."""

from dataclasses import dataclass
from itertools import count

OPENING = 8
"""Proposals that are made from what the seed has shown, all at the same time, before anything else."""
GRADUAL = 16
"""The most jobs in flight of which a quarter as many as have committed are under way; where more are wanted, so much more of them."""
BEGUN, FULL = 8, 64
"""As many jobs count as committed when the opening has; with so many, GRADUAL may be in flight, or as many as are wanted above that."""
LAG = 2
"""How much further behind its turn than the flight is wide a proposal commits: a reflection takes long, and what follows it need not wait
so long for it."""
PROPOSE = "propose"
CYCLE = ("explore", "explore", "confirm", PROPOSE)
"""What jobs do, in turn: run a candidate that may be the best; run the one that is believed to be, or the seed, on val; propose."""


def aim_of(index: int) -> str:
    """What a job is for, the first one having the index 1."""
    return PROPOSE if index <= OPENING else CYCLE[index % len(CYCLE)]


@dataclass(frozen=True)
class Order:
    """`in_flight`: jobs under way at most, proposals behind their turn not counted."""

    in_flight: int

    def width(self, index: int) -> int:
        """Jobs under way at a time. It grows with what is known, since what is not known yet costs little as long as it is a small part
        of that (Perchet, Rigollet, Chassang and Snowberg 2016, "Batched bandit problems", Annals of Statistics 44(2))."""
        grown = max(self.in_flight, GRADUAL) * (BEGUN + index - OPENING) // FULL
        return max(1, min(self.in_flight, grown))

    def place(self, index: int, proposing: bool) -> tuple[int, int]:
        """Where a job stands in the order: a run by its index, a proposal behind it; those of the opening at its end."""
        if not proposing:
            return index, index
        return OPENING if index <= OPENING else index + self.width(index) + LAG, index

    def known_to(self, index: int) -> int:
        """The place up to which all have committed when a job is drawn. After the opening, all of it has."""
        known = index - self.width(index)
        return known if index <= OPENING else max(OPENING, known)

    def heir(self, index: int) -> int:
        """The first run that is drawn when the proposal of this index has committed."""
        place, _ = self.place(index, True)
        return next(later for later in count(index) if self.known_to(later) >= place and aim_of(later) != PROPOSE)

    def runs_before_heir(self, index: int) -> int:
        """How many runs stand between a proposal and its heir."""
        return sum(aim_of(each) != PROPOSE for each in range(index + 1, self.heir(index)))
