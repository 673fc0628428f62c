"""The report: the seed and the best candidate meet the sealed test split, and what came of it becomes `result.json`."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import asdict, replace
from typing import Any

from adapters.candidate import Candidate
from adapters.example import Example
from adapters.split import SealedTest
from optimizer.budget import Claim, Ledger
from optimizer.concurrent import together
from optimizer.evaluate import Evaluator
from optimizer.events import Observer, StageStarted, Warned
from optimizer.journal import OPENED, REPORT_JOB, Journal
from optimizer.loop import Found, check_failures
from optimizer.table import Table
from scoring.improvement import Difference, overall_difference, paired_difference, verdict

CHUNK = 8
"""Test examples at a time, where a limit on tokens or money may end the report early: both sides meet the same examples."""


class Report:
    """Opens the test split once, after the search, and says so in the journal."""

    def __init__(
        self, evaluator: Evaluator, ledger: Ledger, journal: Journal, observer: Observer, *, random_seed: int, max_failed_share: float
    ) -> None:
        self._evaluator, self._ledger, self._journal, self._observer = evaluator, ledger, journal, observer
        self._random_seed, self._max_failed_share = random_seed, max_failed_share

    async def make(
        self, found: Found, test: SealedTest, val: Sequence[Example], *, data: str, met: Set[tuple[str, str, str]], priced: bool
    ) -> dict[str, Any]:
        """The result, but for the seconds. Without a test split it is made on val, where the best was selected.

        `data`: the hash of all examples, by which looks at the same test split are known. `met`: cells of former reports, booked already.

        Raises ProviderError when too many of its cells failed; they are tried again when the run goes on."""
        if len(test) == 0:
            return self._result(found, "val", val, found.table)
        note = {"best": found.best.id, "seed": found.seed.id}
        opened = {kind for job, kind, body in self._journal.decisions() if job == REPORT_JOB and body.get("data") == data}
        others = opened - {OPENED + found.best.id, "commit"}
        with self._journal.together():
            self._journal.decide(REPORT_JOB, OPENED + found.best.id, {"data": data})
            if self._journal.decision(REPORT_JOB, "commit") != note:
                self._journal.withdraw(REPORT_JOB, "commit")  # of another report: this one's failures do not rest on it
        if others:
            self._observer(Warned("the test split was opened before, for another candidate: this is a second look, and a flattering one"))
        examples = test.open(f"the report on {found.best.id}")
        table = Table(examples, found.table.models, found.table.dimensions)
        candidates = list(dict.fromkeys((found.seed, found.best)))
        self._observer(StageStarted("report", len(candidates) * len(examples) * len(found.table.models)))
        done, step = 0, CHUNK if priced else len(examples)
        while done < len(examples) and step > 0:
            if await self._meet(candidates, examples[done : done + step], table, met, priced=priced):
                done += step
            else:
                step //= 2
        if done < len(examples):
            self._observer(Warned(f"the budget ended the report after {done} of {len(examples)} test examples"))
        check_failures(table, self._max_failed_share)
        self._journal.decide(REPORT_JOB, "commit", note)
        return self._result(found, "test", examples, table)

    async def _meet(
        self, candidates: Sequence[Candidate], examples: Sequence[Example], table: Table, met: Set[tuple[str, str, str]], *, priced: bool
    ) -> bool:
        """Whether the budget allowed it."""
        claim = sum((self._evaluator.claim(candidate, self._unmet(candidate, examples, met), priced) for candidate in candidates), Claim())
        if self._ledger.refusal(claim) is not None:
            return False
        ticket = self._ledger.hold(claim)
        cells = [cell for row in await together(self._evaluator.fill(c, examples, REPORT_JOB) for c in candidates) for cell in row]
        booked = [replace(cell.used, cells=0, uses=0) if cell.key in met else cell.used for cell in table.add(cells)]
        self._ledger.settle(ticket, booked)
        with self._journal.together():
            self._journal.add_cells([cell.row("test") for cell in cells])
        return True

    def _unmet(self, candidate: Candidate, examples: Sequence[Example], met: Set[tuple[str, str, str]]) -> list[Example]:
        models = [model.id for model in self._evaluator.models]
        return [example for example in examples if any((candidate.id, example.id, model) not in met for model in models)]

    def _result(self, found: Found, split: str, examples: Sequence[Example], table: Table) -> dict[str, Any]:
        seed, best = table.values(found.seed.id, examples), table.values(found.best.id, examples)
        groups = [example.group for example in examples]
        overall = overall_difference(seed, best, groups, rng_seed=self._random_seed)
        objectives = {
            name: _fields(paired_difference(seed[:, k], best[:, k], groups, rng_seed=self._random_seed))
            for k, name in enumerate(table.objectives)
        }
        failed = sum((each.counts()[1] for each in {id(t): t for t in (found.table, table)}.values()), Counter[str]())
        return {
            "verdict": verdict(overall),
            "split": split,
            "stopped_by": found.stopped_by,
            "seed": _spelled(found.seed),
            "best": _spelled(found.best),
            "overall": _fields(overall),
            "objectives": objectives,
            "frontier": [{**_spelled(c), "objectives": dict(objectives)} for c, objectives in found.frontier],
            "spent": asdict(self._ledger.spent()),
            "failed_cells": dict(sorted(failed.items())),
        }


def _spelled(candidate: Candidate) -> dict[str, Any]:
    return {"id": candidate.id, "components": dict(candidate.components)}


def _fields(difference: Difference) -> dict[str, Any]:
    return asdict(difference)
