"""What another budget makes of a run that has begun: whether it goes on, and the room that takes."""

from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from optimizer.build import Prepared
from optimizer.configfile import config_from_manifest, resolved
from optimizer.errors import BudgetError
from optimizer.evaluate import CellKey
from optimizer.journal import REPORTED, UNSEALED, Journal
from optimizer.plan import report_cells
from optimizer.rundir import RESULT, read_manifest, read_result


def former_budget(out: Path) -> Mapping[str, Any]:
    """Limit → what it was in the sitting before; None where there was none."""
    budget: Mapping[str, Any] = read_manifest(out)["config"].get("budget", {})
    return budget


def lasting_end(out: Path, former: Mapping[str, Any], prepared: Prepared) -> str | None:
    """What has ended the run, where the other budget does not take that away: its search would come to the same end, with less room for
    what it has paid for. None where the run goes on, or nobody knows."""
    if not (out / RESULT).is_file():
        return None
    ended_by: str = read_result(out)["stopped_by"]
    if ended_by not in former:
        return ended_by
    was, limit = former[ended_by], getattr(prepared.config.budget, ended_by)
    return None if limit is None or was is None or limit > was else ended_by


def with_budget(prepared: Prepared, budget: Mapping[str, Any]) -> Prepared:
    return replace(prepared, config=config_from_manifest({**resolved(prepared.config), "budget": budget}))


def report_left(prepared: Prepared, met: Set[CellKey]) -> int:
    """The cells that the report may take; without those of the seed that a former one has filled."""
    return report_cells(prepared) - sum(who == prepared.seed.id and repeat == 0 for who, _, _, repeat in met)


def check_room(prepared: Prepared, journal: Journal) -> None:
    """The limits on rollouts and calls have to hold all that is spent, and a report on another best candidate. BudgetError where one does
    not."""
    before = journal.written_off()
    searched = [row for each in journal.candidates() for row in journal.cells(each.id) if row.split not in (REPORTED, UNSEALED)]
    report = report_left(prepared, before.cells)
    spent = {"rollouts": len(searched) + before.rollouts, "calls": len(before.calls)}
    for name, more in (("rollouts", report), ("calls", report * _calls(prepared))):
        limit = getattr(prepared.config.budget, name)
        if limit is not None and limit < spent[name] + more:
            raise BudgetError(
                f"budget.{name}: {limit} leaves no room to go on: {spent[name]} are spent, and a report on another prompt may take {more}. "
                f"Raise it to {spent[name] + more} at least, or leave the budget as it was."
            )


def _calls(prepared: Prepared) -> int:
    """The most that one cell of the seed takes."""
    adapter, suite, examples = prepared.adapter, prepared.suite, (*prepared.data.train, *prepared.data.val)
    return max(len(list(adapter.requests(prepared.seed, each))) + len(list(suite.requests(each))) for each in examples)
