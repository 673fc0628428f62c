"""Limits: claimed before the work, settled after it (invariant I3).

A claim is the most that a piece of work can use. It is made at a point of the run that does not depend on timing (a job's
start, or its commit), so whether the budget allows a job is the same at any concurrency.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adapters.answer import Usage
from optimizer.config import BudgetConfig
from optimizer.events import Spent

MARGIN = 2.0
"""Room for the best candidate's longer prompts, in what is set aside for the report's tokens and money."""


@dataclass(frozen=True)
class Claim:
    """Upper bounds. `usd` is in dollars; it is only asked for where a money limit is set."""

    rollouts: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Claim") -> "Claim":
        return Claim(self.rollouts + other.rollouts, self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd)

    def times(self, n: float) -> "Claim":
        """Rounded up to whole rollouts, calls and tokens."""
        rollouts, calls, tokens = (math.ceil(round(part * n, 6)) for part in (self.rollouts, self.calls, self.tokens))
        return Claim(rollouts, calls, tokens, self.usd * n)


@dataclass(frozen=True)
class Used:
    """What a finished piece of work has really used: its cells, and each of its calls by key."""

    cells: int
    calls: Mapping[str, Usage]
    uses: int
    """How often it used a call, counting those that others had made."""


NO_USE = Used(0, {}, 0)


class Ledger:
    """Who may spend what. Rollouts are counted once per cell and calls once per key, whoever asks for them again."""

    def __init__(self, limits: BudgetConfig, before: Used = NO_USE) -> None:
        """`before`: what is spent already. Who uses a call of these again does not pay again."""
        self._limits, self._before = limits, before
        self._rollouts, self._uses = before.cells, 0
        self._calls: dict[str, Usage] = {}
        self._held: dict[int, Claim] = {}
        self._unpriced_usd: list[float] = []
        """What work with calls of unknown price may have cost at most."""
        self._next = 0

    def refusal(self, claim: Claim) -> str | None:
        """The name of the limit that leaves no room for the claim beside what is spent and held, or None."""
        want = self.wanted(claim)
        for name in ("rollouts", "calls", "tokens", "usd"):
            limit = getattr(self._limits, name)
            # A billionth of a dollar of slack, so that ten claims of a tenth fill a limit of one.
            if limit is not None and getattr(want, name) > limit + 1e-9:
                return name
        return None

    def wanted(self, claim: Claim) -> Claim:
        """What is spent and held, and the claim beside it."""
        return sum(self._held.values(), self._settled() + claim)

    def part(self, claim: Claim) -> float:
        """The largest part of a limit that it takes; 0 where nothing that it takes is limited."""
        limits = {name: getattr(self._limits, name) for name in ("rollouts", "calls", "tokens", "usd")}
        return max((getattr(claim, name) / limit for name, limit in limits.items() if limit is not None), default=0.0)

    def hold(self, claim: Claim) -> int:
        """Set a claim aside; returns the ticket to settle it by. Ask `refusal` first."""
        self._next += 1
        self._held[self._next] = claim
        return self._next

    def settle(self, ticket: int, used: Iterable[Used]) -> None:
        """Give a claim back and book what the work has used instead; where a call's price is unknown, all the money claimed."""
        claim, calls = self._held.pop(ticket), dict[str, Usage]()
        for each in used:
            self._rollouts += each.cells
            self._uses += each.uses
            calls.update(each.calls)
        if len(_prices(calls.values())) < len(calls):
            self._unpriced_usd.append(claim.usd)
        self._calls.update(calls)

    def spent(self, seconds: float = 0.0) -> Spent:
        usages = list(self._paid().values())
        prices = _prices(usages)
        return Spent(
            rollouts=self._rollouts,
            calls=len(usages),
            cached=self._uses - len(self._calls),
            input_tokens=sum(u.input_tokens for u in usages),
            output_tokens=sum(u.output_tokens for u in usages),
            usd=math.fsum(prices) if len(prices) == len(usages) else None,  # fsum: the same in any order
            seconds=seconds,
        )

    def _paid(self) -> Mapping[str, Usage]:
        return {**self._before.calls, **self._calls}

    def _settled(self) -> Claim:
        spent = self.spent()
        usd = math.fsum([*_prices(self._paid().values()), *self._unpriced_usd])
        return Claim(spent.rollouts, spent.calls, spent.input_tokens + spent.output_tokens, usd)


def _prices(usages: Iterable[Usage]) -> list[float]:
    return [usage.usd for usage in usages if usage.usd is not None]


def shown(claim: Claim, used: Sequence[Used]) -> Claim:
    """What the seed's cells have shown that as many cells take, in place of the most that they could take."""
    calls = {key: usage for each in used for key, usage in each.calls.items()}
    total = sum(calls.values(), Usage())
    tokens = min(claim.tokens, round((total.input_tokens + total.output_tokens) * MARGIN))
    usd = claim.usd if total.usd is None else min(claim.usd, total.usd * MARGIN)
    return Claim(claim.rollouts, claim.calls, tokens, usd)
