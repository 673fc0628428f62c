"""What a run can cost, before it costs anything."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

from adapters.answer import Usage
from optimizer.build import Prepared
from optimizer.noise import most_probes, repeatable
from optimizer.schedule import BLOCK, first_cells

UNSEALED_PART = 10
"""A tenth of the rollouts at most is set aside for a report on val."""


@dataclass(frozen=True)
class Plan:
    """`examples`: by split; `limits`: the budget's, by name; `seed` and `report`: rollouts that come before and after the search;
    `least`: those without which nothing can be compared.

    `rollout`: the most that one rollout of the seed can use, its `usd` None where a price is unknown; proposals may be longer.
    """

    examples: Mapping[str, int]
    limits: Mapping[str, float]
    seed: int
    report: int
    least: int
    rollout: Usage

    @property
    def usd(self) -> float | None:
        """The most that the run can cost in dollars: only a limit on money bounds it."""
        return self.limits.get("usd")

    @property
    def short(self) -> dict[str, float]:
        """Limit on tokens or money that may end the run before its first comparison → what is claimed for that, were all rollouts like the
        seed's longest."""
        each = {"tokens": self.rollout.input_tokens + self.rollout.output_tokens, "usd": self.rollout.usd or 0.0}
        return {name: self.least * one for name, one in each.items() if self.limits.get(name, math.inf) < self.least * one}

    @property
    def rollouts(self) -> int | None:
        """How many there may be; None where no limit says so."""
        most = self.limits.get("rollouts", self.limits.get("calls"))
        return None if most is None else int(most)

    @property
    def rollouts_usd(self) -> float | None:
        """The most that as many rollouts as there may be would cost in dollars, were all of them like the seed's. Longer candidates,
        reflection and judges come on top. None where a price is unknown, or no limit says how many there may be."""
        return None if self.rollouts is None or self.rollout.usd is None else self.rollouts * self.rollout.usd


def report_cells(prepared: Prepared) -> int:
    """What the report may take at most. Without a test split it is made on val, on as many examples as a part of the budget pays for."""
    models, rollouts = len(prepared.models), prepared.config.budget.rollouts
    if len(prepared.test):
        return 2 * len(prepared.test) * models
    everything = 2 * len(prepared.data.val) * models
    return everything if rollouts is None else min(everything, rollouts // UNSEALED_PART)


def repeats(prepared: Prepared) -> dict[str, int]:
    """Model → how often its cells may be filled, where they turn out to be noisy."""
    return repeatable(prepared.config.repeats, prepared.models, prepared.suite, prepared.data.train)


def plan(prepared: Prepared) -> Plan:
    """Calls nothing."""
    data = prepared.data
    examples = {"train": len(data.train), "val": len(data.val), "test": len(prepared.test)}
    limits = {name: limit for name, limit in prepared.config.budget if limit is not None}
    cells = [
        reduce(add, (model.client.ceiling(request) for request in prepared.adapter.requests(prepared.seed, example)), Usage())
        for model in prepared.models
        for example in data.val
    ]
    unpriced = any(cell.usd is None for cell in cells)
    dearest = Usage(
        max(cell.input_tokens for cell in cells),
        max(cell.output_tokens for cell in cells),
        None if unpriced else max(cell.usd or 0.0 for cell in cells),
    )
    first, report = first_cells(prepared.seed, data), report_cells(prepared)
    seed = first + most_probes(first, repeats(prepared))
    return Plan(examples, limits, seed, report, seed + min(BLOCK, first) + report, dearest)
