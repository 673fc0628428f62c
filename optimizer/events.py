"""What a run tells those who watch it. Observers only look: nothing that they do reaches the search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Spent:
    """What the run has used so far. `usd` is None once a call's price was unknown; `cached`: answers used more than once."""

    rollouts: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class StageStarted:
    """`total`: the rollouts that the stage may take at most; None where it ends by its own rules."""

    stage: Literal["seed", "search", "report", "evaluation"]
    total: int | None


@dataclass(frozen=True)
class CellFilled:
    """One cell was filled, from a call or (after a restart) from the journal. `failed`: the error kind, or None."""

    spent: Spent
    failed: str | None


Outcome = Literal["run", "proposed", "refused"]
"""`run`: a candidate met some examples; `proposed`: a new candidate is known, and not run yet; `refused`: there was nothing to do, or what
was proposed cannot be used."""


@dataclass(frozen=True)
class JobCommitted:
    """A job has ended. `objectives` are the best candidate's levels. Levels and means are estimates; `seed_deviation` and `best_deviation`:
    the standard deviations of the means, None where each model has a best of its own."""

    index: int
    proposer: str
    outcome: Outcome
    reason: str
    candidate: str | None
    pool: int
    frontier: int
    seed_overall: float
    best_overall: float
    seed_deviation: float
    best_deviation: float | None
    objectives: Mapping[str, float]
    spent: Spent


@dataclass(frozen=True)
class Warned:
    message: str


@dataclass(frozen=True)
class Diverged(Warned):
    """The run came to another decision than its journal holds from before."""


Event = StageStarted | CellFilled | JobCommitted | Warned
Observer = Callable[[Event], None]
