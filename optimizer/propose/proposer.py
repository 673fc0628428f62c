"""The proposer protocol, and what it is given and gives back."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from adapters.candidate import Candidate
from adapters.clients.client import ModelClient
from optimizer.budget import NO_USE, Claim, Used
from optimizer.desk import Caller
from optimizer.evaluate import Cell


@dataclass(frozen=True)
class Other:
    """Another member of the pool, and its known cells on the examples of a task."""

    candidate: Candidate
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Task:
    """What one job asks of a proposer: a child of `parent`. `cells` are the parent's on some train examples, `others` what the pool's other
    members, the oldest first, were known to do there when the job was drawn; `problem` is what is wrong with a child before it costs
    anything (the guards), or None. `rng` is the job's own random stream. `anew`: the child is to owe the parent's text nothing."""

    parent: Candidate
    cells: Sequence[Cell]
    others: Sequence[Other]
    problem: Callable[[Candidate], str | None]
    caller: Callable[[ModelClient], Caller]
    rng: random.Random
    anew: bool = False


@dataclass(frozen=True)
class Proposal:
    """A child, or None and the reason why there is none."""

    child: Candidate | None
    reason: str
    used: Used = NO_USE


NO_PROPOSAL = Proposal(None, "")


class Proposer(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def minibatch(self) -> int:
        """How many train examples it reads."""
        ...

    def claim(self, parent: Candidate, priced: bool) -> Claim:
        """The most that one proposal can use. `priced`: also in tokens and money, which takes asking its model's price."""
        ...

    async def propose(self, task: Task) -> Proposal:
        """Raises ModelError where its model could not be asked."""
        ...
