"""One run from its directory to its result; `run` and `replay` are the same program (invariant I1)."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from adapters.answer import Usage
from adapters.candidate import Candidate
from optimizer.budget import Ledger, Used
from optimizer.build import Prepared
from optimizer.configfile import resolved
from optimizer.desk import Desk
from optimizer.errors import JournalError
from optimizer.evaluate import Cell, CellKey, Evaluator, TaskModel
from optimizer.events import CellFilled, Diverged, Event, Observer, Spent, Warned
from optimizer.journal import Journal
from optimizer.loop import Search
from optimizer.order import Order
from optimizer.outlook import Lookout
from optimizer.plan import repeats
from optimizer.report.result import Report
from optimizer.resume import check_room, former_budget, lasting_end, report_left, with_budget
from optimizer.rundir import (
    MANIFEST,
    RESULT,
    different,
    holds_another_run,
    locked,
    manifest,
    read_manifest,
    read_result,
    write_best,
    write_json,
    write_manifest,
)
from optimizer.schedule import Rules, first_cells

GRACE = 10.0
"""Seconds that an interrupted run waits for the calls under way, since they are paid for."""


async def run(prepared: Prepared, out: Path, observer: Observer, *, allow_changes: bool = False) -> dict[str, Any]:
    """Begin a run, or go on with the one in `out`; returns what it writes to `result.json`."""
    with locked(out):
        config = resolved(prepared.config)
        new = manifest(config, prepared.folder, prepared.hashes)
        with closing(Journal.write(out)) as journal:  # one of another version is told as such, and not as another config
            if holds_another_run(out, new, allow_changes=allow_changes):
                journal.forget_derived()  # before the new manifest: a kill between the two must not leave decisions of another run
            elif (out / MANIFEST).exists() and (former := former_budget(out)) != config["budget"]:
                ended_by = lasting_end(out, former, prepared)
                if ended_by is None:
                    with journal.together():
                        journal.write_off_end()
                        check_room(prepared, journal)
                else:
                    observer(Warned(f"this run has ended ({ended_by}), and its budget now is no reason to go on: it stays as it is"))
                    prepared = with_budget(prepared, former)
                    new = manifest(resolved(prepared.config), prepared.folder, prepared.hashes)
            write_manifest(out, new)
            journal.sit_down()
            result = await _derive(prepared, journal, observer, replay=False)
        write_best(out, result["best"]["components"], _own_best(result))
        if (recorded := _recorded(out)) is not None and _timeless(recorded) == _timeless(result):
            return recorded  # derived again with nothing changed: the time that it took then is what the run took
        write_json(out / RESULT, result)
        return result


def _recorded(out: Path) -> dict[str, Any] | None:
    """What the directory holds as its result; None where it holds none that can be read, so that it is written anew."""
    try:
        return read_result(out)
    except JournalError:
        return None


def _timeless(result: Mapping[str, Any]) -> dict[str, Any]:
    return {**result, "spent": {**result["spent"], "seconds": None}}


def _own_best(result: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """Model → the components chosen for it, where the policy is to choose for each model."""
    each = result["best_by"] == "per_model" and result["refuted"] is None
    return {model: own["components"] for model, own in result["best_per_model"].items() if each}


async def replay(prepared: Prepared, out: Path) -> list[str]:
    """Derive a finished run again from its journal, with calling forbidden; returns where it came out differently.

    ReplayError when the journal lacks a call that the run needs, JournalError when data or scorers are no longer the same.

    Works on a copy: the run directory stays as it is.
    """
    prepared = with_budget(prepared, former_budget(out))
    recorded, made = read_result(out), manifest(resolved(prepared.config), prepared.folder, prepared.hashes)
    differ = different(read_manifest(out), made)
    if differ:
        raise JournalError(f"what {out} was made from has changed since ({', '.join(differ[:5])}), so it cannot be derived again.")
    told: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Diverged):
            told.append(event.message)

    with tempfile.TemporaryDirectory() as folder:
        with closing(Journal.read(out)) as journal:
            journal.copy_to(Path(folder))
        with closing(Journal.write(Path(folder))) as journal:
            result = await _derive(prepared, journal, listen, replay=True)
    result, recorded = _timeless(result), _timeless(recorded)
    return told + [f"{RESULT}: {name} differs" for name in recorded if recorded[name] != result.get(name)]


async def _derive(prepared: Prepared, journal: Journal, observer: Observer, *, replay: bool) -> dict[str, Any]:
    """The run as a function of its config, data and journal; what the journal lacks is called for and recorded."""
    config = prepared.config
    meter, before = Meter(journal.seconds()), journal.written_off()
    ledger, desk = (
        Ledger(config.budget, Used(before.rollouts, before.calls, 0)),
        Desk(journal, meter.used, prepared.clients.shut, replay=replay),
    )

    lookout = Lookout(prepared, observer)

    def filled(cell: Cell) -> None:
        lookout.filled(cell)
        observer(CellFilled(meter.filled(cell), cell.failed))

    minutes = config.budget.minutes  # by itself: the config may hold the data's rows, and the search is to reach none of the test split

    def time_is_up() -> bool:
        # Derived again without calling, a run ends where it had ended, whatever the clock says.
        return minutes is not None and (replay or journal.seconds() >= 60 * minutes)

    journal.forget_failures()
    evaluator = evaluator_of(prepared, desk, journal, filled, observer)
    rules = rules_of(prepared, report_left(prepared, before.cells))
    search = Search(
        prepared.seed,
        prepared.data,
        rules=rules,
        evaluator=evaluator,
        proposers=prepared.proposers,
        guards=prepared.guards,
        composing=prepared.composing,
        desk=desk,
        ledger=ledger,
        journal=journal,
        observer=lookout,
        objectives=config.objectives,
        dimensions=prepared.suite.dimensions,
        time_is_up=time_is_up,
        paid=before.jobs,
    )
    try:
        found = await search.run()
        report = Report(rules, evaluator, ledger, journal, observer)
        result = await report.make(found, prepared.test, prepared.data.val, met=before.cells)
        result["overlap"] = prepared.guards.overlap.shares(Candidate(result["best"]["components"]))
        result["spent"]["seconds"] = round(journal.seconds(), 1)
        return result
    finally:
        await hang_up(prepared, desk, journal)


def evaluator_of(
    prepared: Prepared, desk: Desk, journal: Journal, filled: Callable[[Cell], None], observer: Observer, models: Sequence[TaskModel] = ()
) -> Evaluator:
    """`models`: some of the prepared ones; all, where none is named."""

    def warn(message: str) -> None:
        observer(Warned(message))

    config, models = prepared.config, models or prepared.models
    return Evaluator(prepared.adapter, models, prepared.suite, desk, journal, config.random_seed, filled, config.scoring.on_error, warn)


def rules_of(prepared: Prepared, report: int) -> Rules:
    """`report`: the rollouts to be set aside for it."""
    config = prepared.config
    return Rules(
        order=Order(config.in_flight),
        random_seed=config.random_seed,
        max_failed_share=config.failures.max_share,
        priced=config.budget.priced,
        report_share=report / first_cells(prepared.seed, prepared.data),
        repeats=repeats(prepared),
    )


async def hang_up(prepared: Prepared, desk: Desk, journal: Journal) -> None:
    """The end of all calling, however it came: what is under way may arrive, since it is paid for."""
    prepared.clients.shut(asyncio.CancelledError())  # calls that still queue are not paid for, and are not made after the end
    try:
        journal.seconds()  # noted, however this ends
        await desk.close(GRACE)
    finally:
        await prepared.clients.close()


class Meter:
    """What the run has used up to this moment, for those who watch; the budget's ledger only knows what has been committed."""

    def __init__(self, seconds: float) -> None:
        self._cells: set[CellKey] = set()
        self._calls: set[str] = set()
        self._uses = 0
        self._usage = Usage()
        self._start = time.monotonic() - seconds

    def used(self, key: str, usage: Usage) -> None:
        """A call was answered, by its model or from the journal."""
        self._uses += 1
        if key not in self._calls:
            self._calls.add(key)
            self._usage += usage

    def filled(self, cell: Cell) -> Spent:
        self._cells.add(cell.key)
        return Spent(
            rollouts=len(self._cells),
            calls=len(self._calls),
            cached=self._uses - len(self._calls),
            input_tokens=self._usage.input_tokens,
            output_tokens=self._usage.output_tokens,
            usd=self._usage.usd,
            seconds=time.monotonic() - self._start,
        )
