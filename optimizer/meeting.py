"""Candidates meet examples side by side, as far as the budget goes: whoever is compared meets the same ones."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.budget import Claim, Ledger
from optimizer.concurrent import together
from optimizer.evaluate import Cell, CellKey, Evaluator, Spot, everywhere

Runs = Mapping[Candidate, Sequence[str]]
"""Candidate → the models that it is run with."""

NONE_MET: Set[CellKey] = frozenset()


class Meeting:
    """`refused`: the limit that left no room for the last step that was asked for; None where none did."""

    def __init__(
        self,
        evaluator: Evaluator,
        ledger: Ledger,
        enter: Callable[[Sequence[Cell]], Sequence[Cell]],
        *,
        job: int,
        priced: bool,
        note: Callable[[Cell], object] = lambda _: None,
    ) -> None:
        """`enter` is given the cells of every step and returns those that were new to it; `note`, each as soon as it is filled; `job`: the
        work belongs to it; `priced`: whether claims have to tell tokens and money."""
        self._evaluator, self._ledger, self._enter, self._note = evaluator, ledger, enter, note
        self._job, self._priced = job, priced
        self.refused: str | None = None

    async def round(
        self,
        runs: Runs,
        examples: Sequence[Example],
        repeat: int,
        *,
        met: Set[CellKey] = NONE_MET,
        step: int | None = None,
        time_is_up: Callable[[], bool] = lambda: False,
    ) -> int:
        """All examples once; returns how many the budget allowed, the first of them. All at the same time (or `step` at a time), or as many
        as it allows: every candidate meets the same ones. `met`: cells that are booked already."""
        done, step = 0, step or len(examples)
        while done < len(examples) and step > 0 and not time_is_up():
            where = {who: everywhere(examples[done : done + step], models, repeat) for who, models in runs.items()}
            if await self._meet(where, met):
                done = min(done + step, len(examples))
            else:
                step //= 2
        return done

    async def _meet(self, where: Mapping[Candidate, Sequence[Spot]], met: Set[CellKey]) -> bool:
        """Whether the budget allowed it."""
        claims = (
            self._evaluator.claim(who, [spot for spot in spots if (who.id, spot.example.id, *spot[1:]) not in met], self._priced)
            for who, spots in where.items()
        )
        claim = sum(claims, Claim())
        self.refused = self._ledger.refusal(claim)
        if self.refused is not None:
            return False
        ticket = self._ledger.hold(claim)
        rows = await together(self._evaluator.fill(who, spots, self._job, self._note) for who, spots in where.items())
        new = self._enter([cell for row in rows for cell in row])
        self._ledger.settle(ticket, [replace(cell.used, cells=0) if cell.key in met else cell.used for cell in new])
        return True
