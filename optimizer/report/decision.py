"""What the report makes of the search's choice: whether its floors hold, and whether it stands."""

import math
from collections.abc import Mapping

from optimizer.policy import ROUNDING, Objectives
from scoring.improvement import Difference, verdict

BROKEN, HELD, NOT_SHOWN, NOT_KNOWN = "broken", "held", "not shown", "not known"
OVERALL = "overall"

Floors = Mapping[str, Mapping[str, object]]
"""Objective → its `floor`, and its `state`."""
Constraints = Mapping[str, Mapping[str, object]]
"""Objective → whether the `seed` and the `best` meet its constraint; None where that is not known."""


def floors(wanted: Objectives, differences: Mapping[str, Difference]) -> Floors:
    """`differences`: by objective, in the units of their scorers. A floor is `broken` where the best is estimated to be worse than the seed
    by more, `held` where the interval excludes that, else `not shown`; `not known` where there is no pair."""
    names = zip(wanted.names, wanted.floors.tolist(), wanted.lower_is_better.tolist(), strict=True)
    return {
        name: {"floor": floor, "state": _state(differences[name], floor, lower)} for name, floor, lower in names if not math.isnan(floor)
    }


def judged(overall: Difference, floors: Floors) -> str:
    """The verdict on the whole: `worse` also where a floor is broken, whatever was gained elsewhere."""
    return "worse" if _broken(floors) else verdict(overall)


def against(overall: Difference, floors: Floors, constraints: Constraints, split: str) -> list[str]:
    """What speaks against the best, so that the seed is kept: `overall`, and objectives with a broken floor.

    On a test split it is enough that no gain is seen. On val the loss has to be sure, for the search itself has seen more of val than the
    report is made on. Who meets a constraint that the seed does not need not gain anything else."""
    seen = overall.difference is not None and split == "test" and overall.difference <= ROUNDING
    lost = (seen or verdict(overall) == "worse") and not gained(constraints)
    return ([OVERALL] if lost else []) + _broken(floors)


def gained(constraints: Constraints) -> list[str]:
    """The constraints that the best meets and the seed does not; none where it is the other way round with another."""
    if any(told["seed"] is True and told["best"] is False for told in constraints.values()):
        return []
    return [name for name, told in constraints.items() if told["seed"] is False and told["best"] is True]


def _broken(floors: Floors) -> list[str]:
    return [name for name, told in floors.items() if told["state"] == BROKEN]


def _state(found: Difference, floor: float, lower: bool) -> str:
    if found.difference is None or found.low is None or found.high is None:
        return NOT_KNOWN
    loss, most = (found.difference, found.high) if lower else (-found.difference, -found.low)
    if loss > floor + ROUNDING:
        return BROKEN
    return HELD if most <= floor + ROUNDING else NOT_SHOWN
