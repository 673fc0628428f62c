"""The report: the seed and the best candidate meet the sealed test split, and what came of it becomes `result.json`."""

import math
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import asdict
from typing import Any

from adapters.candidate import Candidate
from adapters.digest import digest
from adapters.example import Example
from adapters.split import SealedTest
from optimizer.budget import Ledger
from optimizer.evaluate import Cell, CellKey, Evaluator
from optimizer.events import Observer, StageStarted, Warned
from optimizer.flight import CLOCK
from optimizer.journal import COMMIT, REPORT_JOB, REPORTED, UNSEALED, Journal
from optimizer.looks import looks, note_opening, opened_for
from optimizer.loop import Found
from optimizer.meeting import Meeting, Runs
from optimizer.report.agreement import judge_agreement
from optimizer.report.decision import against, floors, judged
from optimizer.report.ground import ground
from optimizer.report.noise import noise
from optimizer.report.pairing import Pairing
from optimizer.schedule import Rules
from optimizer.table import Table, check_failures


class Report:
    """Opens the test split once, after the search, and says so in the journal."""

    def __init__(self, rules: Rules, evaluator: Evaluator, ledger: Ledger, journal: Journal, observer: Observer) -> None:
        self._rules, self._evaluator = rules, evaluator
        self._ledger, self._journal, self._observer = ledger, journal, observer

    async def make(self, found: Found, test: SealedTest, val: Sequence[Example], *, met: Set[CellKey]) -> dict[str, Any]:
        """The result, but for the seconds. Without a test split it is made on val, where the best was selected.

        `met`: cells of former reports, booked already.

        Raises ProviderError when too many of its cells failed; they are tried again when the run goes on."""
        runs, split = _runs(found), "test" if len(test) else "val"
        chosen = found.best.id if len(runs) < 3 else digest([each.id for each in found.chosen.values()])
        note = {"best": chosen, "seed": found.seed.id}
        if self._journal.decision(REPORT_JOB, COMMIT) != note:
            self._journal.withdraw(REPORT_JOB, COMMIT)  # of another report: this one's failures do not rest on it
        look = correction = None
        if split == "test":
            look = self._note_opening(chosen, found.seed.id, test.marks)
            examples: Sequence[Example] = test.open(f"the report on {chosen}")
            table = Table(examples, found.table.objectives)
        else:
            examples, correction = ground(found.table, runs, val)
            known = [cell for who in runs for cell in found.table.cells(who.id, examples)]
            table = Table(examples, found.table.objectives)
            table.add(known)
            met = met | {cell.key for cell in known}
        rounds = _rounds(runs, found)
        self._observer(StageStarted("report", sum(len(models) for each in rounds for models in each.values()) * len(examples)))
        enter, noted = self._entering(table, split), self._noting(table, split)
        meeting = Meeting(self._evaluator, self._ledger, enter, job=REPORT_JOB, priced=self._rules.priced, note=noted)
        for repeat, each in enumerate(rounds):
            done = await meeting.round(each, examples, repeat, met=met)
            if done < len(examples):
                if repeat == 0:
                    self._observer(Warned(f"the budget ended the report after {done} of {len(examples)} {split} examples"))
                break
        check_failures(table, self._rules.max_failed_share)
        self._journal.decide(REPORT_JOB, COMMIT, note)
        return self._result(found, split, examples, table) | {"look": look, "correction": correction if len(runs) > 1 else None}

    def _note_opening(self, chosen: str, seed: str, marks: Set[str]) -> int:
        """How many candidates but the seed the test split was opened for by now, this one included; at least 1."""
        note_opening(self._journal, chosen, marks)
        look = looks(opened_for(self._journal, marks), seed)
        if look > 1 and chosen != seed:
            self._observer(Warned(f"the test split was opened before, for another candidate: this is look {look}, and a flattering one"))
        return look

    def _entering(self, table: Table, split: str) -> Callable[[Sequence[Cell]], Sequence[Cell]]:
        def enter(cells: Sequence[Cell]) -> Sequence[Cell]:
            new = table.add(cells)
            with self._journal.together():
                self._journal.add_cells([cell.row(_noted_under(split)) for cell in new])
            return new

        return enter

    def _noting(self, table: Table, split: str) -> Callable[[Cell], None]:
        """A report that is broken off has used what it has filled: where the run goes on with another budget, that stays spent."""

        def note(cell: Cell) -> None:
            if cell.key not in table.known:
                self._journal.add_cells([cell.row(_noted_under(split))])

        return note

    def _result(self, found: Found, split: str, examples: Sequence[Example], table: Table) -> dict[str, Any]:
        chosen = {model: who.id for model, who in found.chosen.items()}
        told = Pairing(found.seed.id, chosen, examples, table, self._rules.random_seed)
        cells = {cell.key: cell for cell in [*found.table.all(), *table.all()]}
        failed = Counter(cell.failed for cell in cells.values() if cell.failed is not None)
        overall, objectives, wanted = told.overall(), told.objectives(), table.objectives
        held, constraints = floors(wanted, objectives), told.constraints()
        against_it = against(overall, held, constraints, split) if len(_runs(found)) > 1 else []
        return {
            "verdict": judged(overall, held),
            "split": split,
            "stopped_by": found.stopped_by,
            "seed": _spelled(found.seed),
            "best": _spelled(found.seed if against_it else found.best),
            "refuted": {**_spelled(found.best), "against": against_it} if against_it else None,
            "best_by": wanted.config.best,
            "unproven": None if found.unproven is None else {**_spelled(found.unproven[0]), "gain": _number(found.unproven[1])},
            "overall": asdict(overall),
            "objectives": {name: asdict(difference) for name, difference in objectives.items()},
            "models": {model: asdict(difference) for model, difference in told.models().items()},
            "lower_is_better": [name for name, lower in zip(wanted.names, wanted.lower_is_better, strict=True) if lower],
            "constraints": constraints,
            "floors": held,
            "best_per_model": {
                model: {**_spelled(candidate), "val": _number(own), "val_of_best": _number(shared)}
                for model, (candidate, own, shared) in found.specialists.items()
            },
            "frontier": [{**_spelled(c), "objectives": dict(objectives)} for c, objectives in found.frontier],
            "spent": asdict(self._ledger.spent()),
            "failed_cells": dict(sorted(failed.items())),
            **judge_agreement(dict.fromkeys((found.table, table))),
            **noise(cells.values(), wanted),
        }


def _noted_under(split: str) -> str:
    return REPORTED if split == "test" else UNSEALED


def _rounds(runs: Runs, found: Found) -> list[Runs]:
    """The runs by repeat. More than one has who is to be compared, with models that are noisy, unless time is up."""
    most = 1 if found.stopped_by == CLOCK or len(runs) == 1 else max(found.repeats.values())
    return [{who: [model for model in models if found.repeats[model] > n] for who, models in runs.items()} for n in range(most)]


def _runs(found: Found) -> Runs:
    """Who meets the test split with which models: the seed with all, and with each what was chosen for it."""
    runs: dict[Candidate, list[str]] = {found.seed: list(found.chosen)}
    for model, candidate in found.chosen.items():
        if candidate != found.seed:
            runs.setdefault(candidate, []).append(model)
    return runs


def _spelled(candidate: Candidate) -> dict[str, Any]:
    return {"id": candidate.id, "components": dict(candidate.components)}


def _number(level: float) -> float | None:
    return None if math.isnan(level) else level
