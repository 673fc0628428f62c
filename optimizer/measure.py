"""Candidates that somebody names, run on one split, outside of any search: with the parts and the limits of a run, and a journal."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from adapters.candidate import Candidate
from adapters.example import Example
from adapters.split import Part
from optimizer.budget import Ledger
from optimizer.build import Prepared
from optimizer.configfile import resolved
from optimizer.desk import Desk
from optimizer.errors import BudgetError, ConfigError, PlacedError
from optimizer.evaluate import Cell, Evaluator, emitted
from optimizer.events import CellFilled, Observer, Spent, StageStarted, Warned
from optimizer.journal import FILE, CandidateRow, Journal
from optimizer.looks import looks, note_opening, opened_for
from optimizer.meeting import Meeting
from optimizer.policy import Objectives
from optimizer.run import Meter, evaluator_of, hang_up
from optimizer.rundir import EVALUATION, holds_another_run, locked, manifest, write_manifest
from optimizer.table import Table, check_failures

JOB = 0
"""The job that all calls belong to. It never commits, so failed ones are tried again whenever the same is asked for."""

_LOOKED = (
    "this is a look at the sealed test split by hand (look {}): what is changed after it, this split cannot judge any more. The report of "
    "a run does not know of it, so `look` in its result.json counts fewer"
)


@dataclass(frozen=True)
class Order:
    """What to measure. `models`: their ids; `repeats`: how often each is run on each example."""

    split: Part
    models: Sequence[str]
    repeats: int


@dataclass(frozen=True)
class Measured:
    """`table` holds the cells on the `examples`, the first ones of the split: all `of` them where the budget allowed that. `look`: for how
    many candidates but the seed the test split was opened by now, as far as is known; None for another split. `spent`: what these cells
    took, whenever they were paid for; `made`: the calls that were answered just now."""

    table: Table
    examples: Sequence[Example]
    of: int
    look: int | None
    spent: Spent
    made: int
    failed: Mapping[str, int]


async def measure(
    prepared: Prepared, out: Path, candidates: Sequence[Candidate], order: Order, observer: Observer, beside: Path | None = None
) -> Measured:
    """`out`: the directory of the evaluations; `beside`: that of the config's run, whose looks at the test split count too.

    Raises ConfigError where the split has no examples, AdapterError where a candidate cannot be run, JournalError where `out` is none for
    evaluations, BudgetError where the budget does not allow a single example, ProviderError where too many cells failed."""
    examples = _examples(prepared, order.split, candidates)
    for candidate in candidates:
        for warning in prepared.adapter.check(candidate, examples) if candidate != prepared.seed else ():  # the seed's are told already
            observer(Warned(warning))
    with locked(out):
        new = manifest(resolved(prepared.config), prepared.folder, {**prepared.hashes, **EVALUATION})
        another = holds_another_run(out, new, allow_changes=True)
        with closing(Journal.write(out)) as journal:
            if another:
                journal.forget_derived()  # what was paid for stays, and is used as far as it fits
            write_manifest(out, new)
            journal.sit_down()
            look = None
            if order.split == "test":
                look = _look(prepared, journal, candidates, beside)
                observer(Warned(_LOOKED.format(look)))
            return await _Work(prepared, journal, candidates, order, examples, observer).done(look)


def _examples(prepared: Prepared, split: Part, candidates: Sequence[Candidate]) -> Sequence[Example]:
    if split != "test":
        return prepared.data.train if split == "train" else prepared.data.val
    if not len(prepared.test):
        raise ConfigError("--split test: the data has no test split; use val, or give the data one (data.split, or a column `split`)")
    return prepared.test.open(f"an evaluation of {', '.join(each.id for each in candidates)}")


def _look(prepared: Prepared, journal: Journal, candidates: Sequence[Candidate], beside: Path | None) -> int:
    marks = prepared.test.marks
    for candidate in candidates:
        note_opening(journal, candidate.id, marks)
    opened = opened_for(journal, marks)
    if beside is not None and (beside / FILE).exists():
        with closing(Journal.read(beside)) as run:
            opened |= opened_for(run, marks)
    return looks(opened, prepared.seed.id)


@dataclass(frozen=True)
class _Work:
    """One evaluation under way."""

    prepared: Prepared
    journal: Journal
    candidates: Sequence[Candidate]
    order: Order
    examples: Sequence[Example]
    observer: Observer

    async def done(self, look: int | None) -> Measured:
        prepared, journal, start, before = self.prepared, self.journal, time.monotonic(), len(self.journal.answered())
        meter, ledger, cells = Meter(0.0), Ledger(prepared.config.budget), list[Cell]()
        desk = Desk(journal, meter.used, prepared.clients.shut)

        def enter(new: Sequence[Cell]) -> Sequence[Cell]:
            cells.extend(new)
            with journal.together():
                journal.add_cells([cell.row(self.order.split) for cell in new])
            return new

        journal.forget_failures()
        for who in self.candidates:
            journal.add_candidate(CandidateRow(who.id, who.components, [], "hand", JOB, "given"))
        priced = prepared.config.budget.priced
        try:
            met = await self._meet(Meeting(self._evaluator(desk, meter), ledger, enter, job=JOB, priced=priced), start)
        finally:
            await hang_up(prepared, desk, journal)
        table = self._table(cells)
        check_failures(table, prepared.config.failures.max_share)
        return Measured(
            table,
            self.examples[:met],
            len(self.examples),
            look,
            ledger.spent(round(time.monotonic() - start, 1)),
            len(journal.answered()) - before,
            dict(sorted(table.counts()[1].items())),
        )

    def _evaluator(self, desk: Desk, meter: Meter) -> Evaluator:
        models = [model for model in self.prepared.models if model.id in self.order.models]

        def filled(cell: Cell) -> None:
            self.observer(CellFilled(meter.filled(cell), cell.failed))

        return evaluator_of(self.prepared, desk, self.journal, filled, self.observer, models)

    async def _meet(self, meeting: Meeting, start: float) -> int:
        """How many examples all candidates have met. First every example once, then again, as long as the budget lasts."""
        minutes, step = self.prepared.config.budget.minutes, None
        if minutes is not None:
            step = self.prepared.config.concurrency  # between steps the clock is looked at

        def time_is_up() -> bool:
            return minutes is not None and time.monotonic() - start >= 60 * minutes

        runs = dict.fromkeys(self.candidates, self.order.models)
        self.observer(StageStarted("evaluation", self._cells))
        met = 0
        for repeat in range(self.order.repeats):
            done = await meeting.round(runs, self.examples, repeat, step=step, time_is_up=time_is_up)
            met = max(met, done)
            if done < len(self.examples):
                limit = "minutes" if meeting.refused is None else meeting.refused
                if met == 0:
                    raise BudgetError(f"the limit on {limit} has no room for a single example. Raise budget.{limit}.")
                part = f"repeat {repeat + 1} of {self.order.repeats}, " if self.order.repeats > 1 else ""
                self._warn(f"the limit on {limit} ended the evaluation after {part}{done} of {len(self.examples)} examples")
                break
        return met

    @property
    def _cells(self) -> int:
        return len(self.candidates) * len(self.order.models) * len(self.examples) * self.order.repeats

    def _table(self, cells: Sequence[Cell]) -> Table:
        config, models = self.prepared.config, [model.id for model in self.prepared.models if model.id in self.order.models]
        found = list(emitted(cells))
        if not found and any(cell.score for cell in cells):
            raise PlacedError("scoring.scorers", "no scorer gave a value on any example, so nothing is known")
        table = Table(self.examples, Objectives.wanted(models, config.objectives, self.prepared.suite.dimensions, found))
        table.add(cells)
        return table

    def _warn(self, message: str) -> None:
        self.observer(Warned(message))
