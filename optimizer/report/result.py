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
from optimizer.loop import Found, Rules, check_failures
from optimizer.table import Table
from scoring.improvement import overall_difference, paired_difference, verdict

CHUNK = 8
"""Test examples at a time, where a limit on tokens or money may end the report early: both sides meet the same examples."""


class Report:
    """Opens the test split once, after the search, and says so in the journal."""

    def __init__(self, rules: Rules, evaluator: Evaluator, ledger: Ledger, journal: Journal, observer: Observer) -> None:
        self._rules, self._evaluator = rules, evaluator
        self._ledger, self._journal, self._observer = ledger, journal, observer

    async def make(
        self, found: Found, test: SealedTest, val: Sequence[Example], *, data: str, met: Set[tuple[str, str, str]]
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
        done, step = 0, CHUNK if self._rules.priced else len(examples)
        while done < len(examples) and step > 0:
            if await self._meet(candidates, examples[done : done + step], table, met):
                done += step
            else:
                step //= 2
        if done < len(examples):
            self._observer(Warned(f"the budget ended the report after {done} of {len(examples)} test examples"))
        check_failures(table, self._rules.max_failed_share)
        self._journal.decide(REPORT_JOB, "commit", note)
        return self._result(found, "test", examples, table)

    async def _meet(
        self, candidates: Sequence[Candidate], examples: Sequence[Example], table: Table, met: Set[tuple[str, str, str]]
    ) -> bool:
        """Whether the budget allowed it."""
        claims = (self._evaluator.claim(each, self._unmet(each, examples, met), self._rules.priced) for each in candidates)
        claim = sum(claims, Claim())
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
        overall = overall_difference(seed, best, groups, rng_seed=self._rules.random_seed)
        objectives = {
            name: asdict(paired_difference(seed[:, k], best[:, k], groups, rng_seed=self._rules.random_seed))
            for k, name in enumerate(table.objectives)
        }
        failed = sum((each.counts()[1] for each in {found.table, table}), Counter[str]())
        return {
            "verdict": verdict(overall),
            "split": split,
            "stopped_by": found.stopped_by,
            "seed": _spelled(found.seed),
            "best": _spelled(found.best),
            "overall": asdict(overall),
            "objectives": objectives,
            "frontier": [{**_spelled(c), "objectives": dict(objectives)} for c, objectives in found.frontier],
            "spent": asdict(self._ledger.spent()),
            "failed_cells": dict(sorted(failed.items())),
        }


def _spelled(candidate: Candidate) -> dict[str, Any]:
    return {"id": candidate.id, "components": dict(candidate.components)}
