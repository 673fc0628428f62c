"""A run's result as Python sees it: the words of `result.json`, typed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from optimizer.errors import JournalError
from optimizer.events import Spent
from optimizer.noise import Noise
from scoring.agreement import Agreement
from scoring.improvement import Difference


class Part(BaseModel):
    """What a later promptfront says beside these words is kept, as attributes of the same name."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Prompt(Part):
    """A candidate: its id, and component name → text."""

    id: str
    components: Mapping[str, str]


class FrontierPrompt(Prompt):
    """`objectives`: `model:dimension` → the level that it is believed to have, 0..1, in the units of its scorer."""

    objectives: Mapping[str, float]


class UnprovenPrompt(Prompt):
    """Looked better than the seed by `gain` (0..1), and not surely so."""

    gain: float | None


class RefutedPrompt(Prompt):
    """Was chosen by the search, and the report kept the seed. `against`: `overall`, and objectives whose floor it broke."""

    against: list[str]


class OwnPrompt(Prompt):
    """One model's own best. `val` and `val_of_best`: what it, and the best of all, are believed to be worth there, 0..1."""

    val: float | None
    val_of_best: float | None


class ConstraintMet(Part):
    """`constraint`: as the config spells it. `seed`, `best`: whether their means meet it; None where there is none."""

    constraint: str
    seed: bool | None
    best: bool | None


class Floor(Part):
    """`floor`: how much worse than the seed the best may be, 0..1. `state`: of the best: `broken`, `held`, `not shown` or `not known`."""

    floor: float
    state: str


class Overlap(Part):
    """The share of the best prompt's words, 0..1, that stand in runs of eight or more which a few examples of the split have: for `train`
    outside of its demonstrations, for `val` in all."""

    train: float
    val: float


class RunResult(Part):
    """What a run came to. Frozen; the same words as in `result.json`, which docs/api.md explains.

    Levels and differences are shares from 0 to 1, not points of 100. `overall`, and each of `objectives` (by `model:dimension`) and
    `models`, compare the best with the seed on the same examples of `split`: see scoring.Difference. `spent` is the whole run's, over all
    sittings. `out`: the run directory.
    """

    verdict: Literal["improved", "not distinguishable", "worse"]
    split: Literal["test", "val"]
    look: int | None
    correction: str | None
    stopped_by: str
    seed: Prompt
    best: Prompt
    refuted: RefutedPrompt | None
    best_by: Literal["mean", "worst_model", "per_model"]
    unproven: UnprovenPrompt | None
    overall: Difference
    objectives: Mapping[str, Difference]
    models: Mapping[str, Difference]
    lower_is_better: list[str]
    constraints: Mapping[str, ConstraintMet]
    floors: Mapping[str, Floor]
    best_per_model: Mapping[str, OwnPrompt]
    frontier: list[FrontierPrompt]
    spent: Spent
    failed_cells: Mapping[str, int]
    overlap: Overlap
    judge_agreement: Mapping[str, Agreement] | None = None
    noise: Mapping[str, Noise] | None = None
    out: Path


def run_result(content: Mapping[str, Any], out: Path) -> RunResult:
    """`content`: what `result.json` holds. Raises JournalError where it is no result of this promptfront."""
    try:
        return RunResult.model_validate({**content, "out": out})
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise JournalError(
            f"the result in {out} is not one that this promptfront writes ({wrong}); all that was paid for is kept"
        ) from None
